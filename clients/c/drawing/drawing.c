/* Drawing: from a value and random words of 64 bits to an output and its report (docs/table-format.md). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "table.h"
#include "words.h"

#if FLT_EVAL_METHOD != 0 || defined(__FAST_MATH__)
#error "reports must be computed in doubles, step by step: build without -ffast-math, on 32-bit x86 with -mfpmath=sse"
#endif

void optldp_clear(void *bytes, size_t size) {
    volatile unsigned char *each = bytes; /* so that no compiler leaves it out */
    while (size-- > 0) *each++ = 0;
}

/* The last knot at or below a value, but at most the last but one; and the value's share of the way to the next one. */
static size_t below(const optldp_table *table, double value, double *share) {
    size_t k = 0, left = table->knots_many - 1;
    while (left > 1) { /* the knot is among k .. k + left - 1 */
        size_t half = left / 2;
        if (table->knots[k + half] <= value) k += half;
        left -= half;
    }
    *share = (value - table->knots[k]) / (table->knots[k + 1] - table->knots[k]);
    return k;
}

/* The same, and the weight of the next one in 2^53. */
static size_t placed(const optldp_table *table, double value, uint64_t *weight) {
    double share;
    size_t k = below(table, value, &share);
    *weight = (uint64_t)nearbyint(share * (double)OPTLDP_WHOLE); /* ties to even, in the rounding mode of all C */
    return k;
}

size_t optldp_rounded(const optldp_table *table, double value, double offset) {
    double share;
    size_t k = below(table, value, &share);
    return share > offset ? k + 1 : k;
}

/* The sum of a row up to and with an output. */
static uint64_t sum_until(const optldp_table *table, size_t row, size_t j) {
    if (table->sums != NULL) return table->sums[row * table->outputs_many + j];
    uint64_t start = table->starts[row], edge = table->edges[j];
    uint64_t common = edge > start ? edge - start : 0;
    return table->floors[j] + (common < table->width ? common : table->width);
}

static uint32_t output_of(const optldp_table *table, size_t k, uint64_t weight, const uint64_t words[2]) {
    size_t row = k + ((words[0] >> 11) < weight), first = 0, left = table->outputs_many;
    while (left > 1) { /* the first output whose sum is above the word is among first .. first + left - 1 */
        size_t half = left / 2;
        if (sum_until(table, row, first + half - 1) <= words[1] >> 11) first += half;
        left -= half;
    }
    return (uint32_t)first;
}

int optldp_has(const optldp_table *table, double value) {
    return value >= table->knots[0] && value <= table->knots[table->knots_many - 1]; /* not so of NaN */
}

optldp_status optldp_index(const optldp_table *table, double value, uint32_t *index) {
    uint64_t words[2], weight;
    size_t k;
    if (!optldp_has(table, value)) return OPTLDP_NOT_IN_DOMAIN;
    if (optldp_random(words, sizeof words) != 0) return OPTLDP_NO_RANDOMNESS;
    k = placed(table, value, &weight);
    *index = output_of(table, k, weight, words);
    optldp_clear(words, sizeof words);
    optldp_clear(&weight, sizeof weight);
    return OPTLDP_OK;
}

/* Where a report of a cell goes: where it stands, or past the points that it would be taken for. */
static double past_points(const optldp_table *table, double report) {
    size_t first = 0, left = table->refuges_many;
    while (left > 1) {
        size_t half = left / 2;
        if (table->hidden[first + half] <= report) first += half;
        left -= half;
    }
    return left == 1 && table->hidden[first] == report ? table->refuges[first] : report;
}

static double report_of(const optldp_table *table, size_t j, const uint64_t *words) {
    double low = table->low[j], high = table->high[j], steps = 0.0;
    if (low == high) return low;
    if (table->odds_many == 0) {
        double place = (double)(2 * (words[0] >> 12) + 1) / (double)OPTLDP_WHOLE;
        double inside = (high - low) * place;
        double report = low + inside;
        return past_points(table, report < table->top[j] ? report : table->top[j]);
    }
    for (size_t i = 0; i < table->odds_many; i++) {
        if ((words[i] >> 11) < table->odds[i]) steps += ldexp(1.0, (int)i);
    }
    double beyond = steps * table->step;
    return isinf(low) ? high - beyond : low + beyond;
}

optldp_status optldp_report(const optldp_table *table, double value, double *report) {
    uint64_t words[2 + OPTLDP_DIGITS], weight;
    size_t k, size = (2 + (table->odds_many > 0 ? table->odds_many : 1)) * sizeof words[0];
    if (!optldp_has(table, value)) return OPTLDP_NOT_IN_DOMAIN;
    if (optldp_random(words, size) != 0) return OPTLDP_NO_RANDOMNESS;
    k = placed(table, value, &weight);
    *report = report_of(table, output_of(table, k, weight, words), words + 2);
    optldp_clear(words, sizeof words);
    optldp_clear(&weight, sizeof weight);
    return OPTLDP_OK;
}

int optldp_take_index(const optldp_table *table, double value, word_source *from, uint32_t *index) {
    uint64_t words[2], weight;
    if (take_word(from, &words[0]) != 0 || take_word(from, &words[1]) != 0) return -1;
    size_t k = placed(table, value, &weight);
    *index = output_of(table, k, weight, words);
    optldp_clear(words, sizeof words);
    optldp_clear(&weight, sizeof weight);
    return 0;
}

int optldp_take_report(const optldp_table *table, double value, word_source *from, double *report) {
    uint64_t words[OPTLDP_DIGITS];
    uint32_t j;
    size_t many = table->cells;
    int failed = 0;
    if (optldp_take_index(table, value, from, &j) != 0) return -1;
    if (table->odds_many > 0) many = table->low[j] < table->high[j] ? table->odds_many : 0;
    for (size_t i = 0; i < many && !failed; i++) failed = take_word(from, &words[i]);
    if (!failed) *report = report_of(table, j, words);
    optldp_clear(words, sizeof words);
    return failed;
}

double optldp_epsilon(const optldp_table *table) { return table->epsilon; }

void optldp_domain(const optldp_table *table, double *first, double *last) {
    *first = table->knots[0];
    *last = table->knots[table->knots_many - 1];
}

uint32_t optldp_outputs(const optldp_table *table) { return (uint32_t)table->outputs_many; }

const char *optldp_identifier(const optldp_table *table) { return table->identifier; }
