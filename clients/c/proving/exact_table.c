/* The exact table (docs/table-format.md): its law, its rows, and the proof of every ratio. */
#include <math.h>
#include <string.h>

#include "proving.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define MOST_ENTRIES ((size_t)1 << 25)

static const char *take_ends(arena *memory, const json *list, double **to, size_t *many) {
    NEED(list->type == JSON_LIST, "low and high must be lists");
    NEED((*to = arena_take(memory, list->size, sizeof **to)) != NULL, TOO_LITTLE_MEMORY);
    for (size_t i = 0; i < list->size; i++) {
        const json *end = &list->element[i];
        int infinite = json_is(end, "-inf") || json_is(end, "inf");
        NEED(infinite || end->type == JSON_NUMBER, "every end must be a number, \"-inf\" or \"inf\"");
        (*to)[i] = infinite ? (json_is(end, "inf") ? HUGE_VAL : -HUGE_VAL) : end->number;
    }
    *many = list->size;
    return NULL;
}

static const char *read_tails(const json *within, optldp_table *table) {
    const json *step = json_member(within, "step"), *ratio = json_member(within, "ratio");
    const double *low = table->low, *high = table->high;
    double left = isinf(low[0]) ? high[0] : -HUGE_VAL, right = HUGE_VAL, q;
    NEED(step->type == JSON_NUMBER && step->number > 0 && step->number <= 1e120, "within.step must be in (0, 1e120]");
    NEED(ratio->type == JSON_NUMBER && ratio->number > 0 && ratio->number < 1, "within.ratio must be between 0 and 1");
    for (size_t j = 0; j < table->outputs_many; j++) {
        if (isinf(high[j])) right = low[j];
    }
    for (size_t j = 0; j < table->outputs_many; j++) {
        NEED(low[j] == high[j] || !isinf(low[j]) != !isinf(high[j]), "beside geometric tails there must be only points");
        NEED(low[j] < high[j] || (left < low[j] && low[j] < right), "points must lie between the geometric tails");
    }
    NEED(left != right, "two geometric tails must have ends of their own");
    table->step = step->number;
    for (q = ratio->number; ; q *= q) {
        uint64_t odds = (uint64_t)nearbyint(q / (1 + q) * (double)OPTLDP_WHOLE);
        if (odds == 0) return NULL;
        NEED(table->odds_many < OPTLDP_DIGITS, "within.ratio must be between 0 and 1"); /* no double has so many digits */
        table->odds[table->odds_many++] = odds;
    }
}

/* Where a report of a cell goes that equals a point inside it: to the next double that is none, else to the one before. */
static const char *find_refuges(optldp_table *table) {
    const double *low = table->low, *high = table->high;
    size_t m = table->outputs_many, points = 0, next = 0;
    double *point = arena_take(&table->memory, m, sizeof *point), *up = arena_take(&table->memory, m, sizeof *up);
    double *down = arena_take(&table->memory, m, sizeof *down);
    table->hidden = arena_take(&table->memory, m, sizeof *table->hidden);
    table->refuges = arena_take(&table->memory, m, sizeof *table->refuges);
    NEED(point && up && down && table->hidden && table->refuges, TOO_LITTLE_MEMORY);
    for (size_t j = 0; j < m; j++) {
        if (low[j] == high[j]) point[points++] = low[j];
    }
    for (size_t i = 0; i < points; i++) {
        double before = nextafter(point[i], -HUGE_VAL);
        down[i] = i > 0 && point[i - 1] == before ? down[i - 1] : before;
    }
    for (size_t i = points; i-- > 0;) {
        double after = nextafter(point[i], HUGE_VAL);
        up[i] = i + 1 < points && point[i + 1] == after ? up[i + 1] : after;
    }
    for (size_t j = 0; j < m; j++) {
        if (low[j] == high[j]) continue;
        while (next < points && point[next] < low[j]) next++;
        for (; next < points && point[next] < high[j]; next++) {
            NEED(up[next] < high[j] || down[next] >= low[j], "a cell must hold a double that is no point");
            table->hidden[table->refuges_many] = point[next];
            table->refuges[table->refuges_many++] = up[next] < high[j] ? up[next] : down[next];
        }
    }
    return NULL;
}

static const char *read_law(const json *within, optldp_table *table) {
    static const char *const UNIFORM[] = {"kind"}, *const TAILS[] = {"kind", "step", "ratio"};
    if (json_is(json_member(within, "kind"), "geometric-tails")) {
        TRY(need_keys(within, TAILS, COUNT(TAILS)));
        return read_tails(within, table);
    }
    TRY(need_keys(within, UNIFORM, COUNT(UNIFORM)));
    NEED(json_is(json_member(within, "kind"), "uniform"), "the law within outputs must be the same for all rows");
    for (size_t j = 0; j < table->outputs_many; j++) {
        NEED(isfinite(table->low[j]) && isfinite(table->high[j]), "a uniform law needs finite ends");
    }
    return find_refuges(table);
}

const char *read_sums(arena *memory, const json *list, size_t n, size_t m, double epsilon, uint64_t **sums) {
    int64_t *smallest = arena_take(memory, m, sizeof *smallest);
    int64_t *largest = arena_take(memory, m, sizeof *largest);
    whole limit;
    NEED(list->type == JSON_LIST && list->size == n, "numerators must have a row for each knot or category");
    NEED(n * m <= MOST_ENTRIES, "rows times outputs must be at most 2^25");
    NEED((*sums = arena_take(memory, n * m, sizeof **sums)) && smallest && largest, TOO_LITTLE_MEMORY);
    for (size_t i = 0; i < n; i++) {
        arena row_memory = {NULL};
        int64_t *row;
        uint64_t sum = 0;
        size_t many;
        const char *fault = take_wholes(&row_memory, &list->element[i], 0, (int64_t)OPTLDP_WHOLE, &row, &many);
        if (fault == NULL && many != m) fault = "every row must have a number for each output";
        for (size_t j = 0; fault == NULL && j < m; j++) {
            sum += (uint64_t)row[j]; /* no overflow that could hide, for it is looked at each time */
            if (sum > OPTLDP_WHOLE) fault = "every row must sum to 2^53 exactly, got more";
            (*sums)[i * m + j] = sum;
            if (i == 0 || row[j] < smallest[j]) smallest[j] = row[j];
            if (i == 0 || row[j] > largest[j]) largest[j] = row[j];
        }
        arena_free(&row_memory);
        TRY(fault);
        NEED(sum == OPTLDP_WHOLE, "every row must sum to 2^53 exactly, got less");
    }
    exponential_below(epsilon, &limit);
    for (size_t j = 0; j < m; j++) {
        whole most, allowed = limit;
        whole_set(&most, largest[j]);
        whole_shift(&most, 128);
        whole_times(&allowed, (uint64_t)smallest[j]);
        NEED(whole_sizes(&most, &allowed) <= 0, "every ratio must be proved at most e^epsilon");
    }
    return NULL;
}

/* The mean report of an output, in units of 2^(unit - 54). */
static void mean_of(const optldp_table *table, size_t j, int unit, whole *mean) {
    double low = table->low[j], high = table->high[j];
    whole other;
    if (isfinite(low) && isfinite(high)) {
        whole_of(mean, low, unit);
        whole_of(&other, high, unit);
        whole_add(mean, &other);
        whole_shift(mean, 53);
        return;
    }
    whole_of(mean, isinf(low) ? high : low, unit);
    whole_shift(mean, 54);
    for (size_t i = 0; i < table->odds_many; i++) { /* 2^54 times the sum of 2^i odds / 2^53, in steps */
        whole_of(&other, table->step, unit);
        whole_times(&other, table->odds[i]);
        whole_shift(&other, (int)i + 1);
        if (isinf(low)) whole_subtract(mean, &other);
        else whole_add(mean, &other);
    }
}

static int smaller_unit(int unit, double value) {
    return value != 0 && isfinite(value) && whole_unit(value) < unit ? whole_unit(value) : unit;
}

static const char *prove_unbiased(optldp_table *table) {
    size_t n = table->knots_many, m = table->outputs_many;
    whole *means = arena_take(&table->memory, m, sizeof *means), width, largest, wanted;
    int unit = 1024;
    NEED(means != NULL, TOO_LITTLE_MEMORY);
    for (size_t i = 0; i < n; i++) unit = smaller_unit(unit, table->knots[i]);
    for (size_t j = 0; j < m; j++) unit = smaller_unit(smaller_unit(unit, table->low[j]), table->high[j]);
    unit = smaller_unit(unit, table->step);
    whole_set(&largest, 0);
    for (size_t j = 0; j < m; j++) {
        mean_of(table, j, unit, &means[j]);
        if (whole_sizes(&means[j], &largest) > 0) largest = means[j];
    }
    whole_of(&width, table->knots[n - 1], unit);
    whole_of(&wanted, table->knots[0], unit);
    whole_subtract(&width, &wanted);
    whole_shift(&width, 107); /* 54 of the means and 53 of the numerators */
    for (size_t i = 0; i < n; i++) {
        const uint64_t *sums = table->sums + i * m;
        whole off;
        whole_set(&off, 0);
        for (size_t j = 0; j < m; j++) {
            whole part = means[j];
            whole_times(&part, sums[j] - (j > 0 ? sums[j - 1] : 0));
            whole_add(&off, &part);
        }
        whole_of(&wanted, table->knots[i], unit);
        whole_shift(&wanted, 107);
        whole_subtract(&off, &wanted);
        NEED(is_unbiased(&off, &width, &largest), "a table that claims to be unbiased must be so to 1e-12 of its domain");
    }
    return NULL;
}

const char *read_exact_table(const json *document, int inside, optldp_table *table) {
    static const char *const KEYS[] = {"format", "units", "epsilon", "knots", "low", "high", "denominator", "numerators",
                                       "within", "provenance", "prior", "checksum"};
    const json *denominator = json_member(document, "denominator");
    size_t many;
    int unbiased;
    NEED(json_member(document, "promise") == NULL, "a table must promise pure epsilon-LDP, got another promise");
    TRY(need_keys(document, KEYS, COUNT(KEYS) - (size_t)inside));
    if (!inside) TRY(need_checksum(document, table->identifier));
    NEED(denominator->type == JSON_NUMBER && denominator->whole && denominator->integer == (int64_t)OPTLDP_WHOLE,
         "denominator must be 9007199254740992");
    TRY(read_around(document, table, &unbiased));
    TRY(take_ends(&table->memory, json_member(document, "low"), &table->low, &table->outputs_many));
    TRY(take_ends(&table->memory, json_member(document, "high"), &table->high, &many));
    NEED(many == table->outputs_many, "outputs must have as many low as high ends");
    TRY(need_outputs(table));
    TRY(read_law(json_member(document, "within"), table));
    TRY(read_sums(&table->memory, json_member(document, "numerators"), table->knots_many, many, table->epsilon,
                  &table->sums));
    NEED((table->top = arena_take(&table->memory, many, sizeof *table->top)) != NULL, TOO_LITTLE_MEMORY);
    for (size_t j = 0; j < many; j++) {
        if (table->low[j] < table->high[j]) table->cells = 1;
        table->top[j] = table->low[j] < table->high[j] ? nextafter(table->high[j], -HUGE_VAL) : table->high[j];
    }
    return unbiased ? prove_unbiased(table) : NULL;
}
