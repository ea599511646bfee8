/* Drawing: from a category and random words of 64 bits to a report as a file holds it (docs/bundle-format.md). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "categories.h"
#include "table.h"
#include "words.h"

#define LONGEST 21     /* a report of a whole number, with its NUL */
#define MOST_DIGITS 21 /* of the number of a category or of its point, in base 2: 2^20 categories at most */

/* Bits as hexadecimal digits, the first the highest of the first digit. */
static void set_bit(char *report, uint32_t k) {
    static const char digits[] = "0123456789abcdef";
    char *digit = &report[k / 4];
    int value = *digit <= '9' ? *digit - '0' : *digit - 'a' + 10;
    *digit = digits[value | 8 >> k % 4];
}

static int draw_output(const optldp_categories *from, uint32_t code, word_source *words, char *report) {
    const uint64_t *sums = from->sums + (size_t)code * from->outputs;
    uint32_t first = 0, left = from->outputs;
    uint64_t word;
    if (take_word(words, &word) != 0) return -1;
    while (left > 1) { /* the first output whose sum is above the word is among first .. first + left - 1 */
        uint32_t half = left / 2;
        if (sums[first + half - 1] <= word >> 11) first += half;
        left -= half;
    }
    snprintf(report, LONGEST, "%" PRIu32, first);
    return 0;
}

static int draw_bits(const optldp_categories *from, uint32_t code, word_source *words, char *report) {
    for (uint32_t k = 0; k < from->size; k++) {
        uint64_t word;
        if (take_word(words, &word) != 0) return -1;
        if (word >> 11 < (k == code ? from->own : from->other)) set_bit(report, k);
    }
    return 0;
}

/* The first steps of a Fisher-Yates shuffle of the others, counted on from the one after the own. */
static int draw_set(const optldp_categories *from, uint32_t code, word_source *words, uint32_t *order, char *report) {
    uint64_t word;
    int held;
    if (take_word(words, &word) != 0) return -1;
    held = word >> 11 < from->own;
    for (uint32_t i = 0; i < from->size - 1; i++) order[i] = i;
    for (uint32_t i = 0; i < from->chosen; i++) {
        uint32_t other;
        if (take_below(words, from->size - 1 - i, &word) != 0) return -1;
        other = order[i + word];
        order[i + word] = order[i];
        if (held && i == from->chosen - 1) other = from->size - 1;
        set_bit(report, (uint32_t)(((uint64_t)code + 1 + other) % from->size));
    }
    return 0;
}

uint64_t optldp_power(uint64_t base, uint32_t exponent) {
    uint64_t made = 1;
    while (exponent-- > 0) made *= base;
    return made;
}

uint64_t optldp_elements(const optldp_categories *from) { return optldp_power(from->prime, from->degree); }

uint64_t optldp_points(const optldp_categories *from, uint32_t digits) {
    return (optldp_power(optldp_elements(from), digits) - 1) / (optldp_elements(from) - 1);
}

/* Adds factor times element, both of the field, to the coefficients `total`. */
static void add_product(const optldp_categories *from, uint64_t factor, uint64_t element, uint32_t *total) {
    uint32_t power[OPTLDP_DEGREE], prime = from->prime, last = from->degree - 1;
    for (uint32_t i = 0; i <= last; i++, element /= prime) power[i] = (uint32_t)(element % prime);
    for (; factor > 0; factor /= prime) {
        uint32_t top = power[last]; /* what leaves at the top comes back as the polynomial has it */
        for (uint32_t i = 0; i <= last; i++) total[i] = (total[i] + (uint32_t)(factor % prime) * power[i]) % prime;
        for (uint32_t i = last; i > 0; i--) power[i] = (power[i - 1] + top * (prime - from->tail[i])) % prime;
        power[0] = top * (prime - from->tail[0]) % prime;
    }
}

static uint64_t whole_of_parts(const optldp_categories *from, const uint32_t *parts) {
    uint64_t made = 0;
    for (uint32_t i = from->degree; i-- > 0;) made = made * from->prime + parts[i];
    return made;
}

/* The vector of a point's number: zeros, its one, and entries that are free. */
static void point_of(const optldp_categories *from, uint64_t number, uint32_t digits, uint64_t *point) {
    uint64_t g = optldp_elements(from);
    uint32_t free = 0;
    while (free + 1 < digits && number >= optldp_power(g, free)) number -= optldp_power(g, free++);
    for (uint32_t i = 0; i < digits; i++) point[i] = 0;
    point[digits - 1 - free] = 1;
    for (uint32_t i = 0; i < free; i++, number /= g) point[digits - 1 - i] = number % g;
}

static uint64_t product_of(const optldp_categories *from, uint64_t a, uint64_t b) {
    uint32_t total[OPTLDP_DEGREE] = {0};
    add_product(from, a, b, total);
    return whole_of_parts(from, total);
}

/* The inner product of two vectors and one more element, added up. */
static uint64_t inner(const optldp_categories *from, const uint64_t *a, const uint64_t *b, uint64_t more) {
    uint32_t total[OPTLDP_DEGREE] = {0};
    for (uint32_t i = 0; i < from->digits; i++) add_product(from, a[i], b[i], total);
    add_product(from, 1, more, total);
    return whole_of_parts(from, total);
}

static int draw_hash(const optldp_categories *from, uint32_t code, word_source *words, char *report) {
    uint64_t g = optldp_elements(from), seed, word, value, point[MOST_DIGITS], number[MOST_DIGITS];
    if (take_word(words, &seed) != 0 || take_word(words, &word) != 0) return -1;
    seed %= optldp_points(from, from->digits);
    point_of(from, seed, from->digits, point);
    for (uint32_t i = 0; i < from->digits; i++) number[i] = code / optldp_power(g, i) % g;
    value = inner(from, point, number, 0);
    word >>= 11;
    if (word >= from->own) value += 1 + (word - from->own) / from->other;
    snprintf(report, LONGEST, "%" PRIu64, seed * g + value % g);
    return 0;
}

/* The number of the point on the line of a vector, which is not zero. */
static uint64_t number_of(const optldp_categories *from, const uint64_t *vector) {
    uint64_t inverse = 1, number = 0;
    uint32_t first = 0;
    while (vector[first] == 0) first++;
    while (product_of(from, inverse, vector[first]) != 1) inverse++;
    for (uint32_t i = first + 1; i < from->digits; i++) {
        number = number * optldp_elements(from) + product_of(from, inverse, vector[i]);
    }
    return optldp_points(from, from->digits - 1 - first) + number;
}

static int draw_point(const optldp_categories *from, uint32_t code, word_source *words, char *report) {
    uint64_t own[MOST_DIGITS], vector[MOST_DIGITS], rest[MOST_DIGITS], word, on, off, entry = 0;
    uint64_t supporting = optldp_points(from, from->digits - 1), wanted;
    uint32_t first = 0;
    if (take_word(words, &word) != 0 || take_below(words, supporting, &on) != 0) return -1;
    if (take_below(words, optldp_points(from, from->digits) - supporting, &off) != 0) return -1;
    wanted = word >> 11 < from->own ? 0 : 1;
    point_of(from, on, from->digits - 1, rest);
    for (uint32_t i = from->digits - 1; wanted == 1 && i-- > 0; off /= optldp_elements(from)) {
        rest[i] = off % optldp_elements(from);
    }
    point_of(from, code, from->digits, own);
    while (own[first] == 0) first++;
    for (uint32_t i = 0; i < from->digits; i++) vector[i] = i < first ? rest[i] : i == first ? 0 : rest[i - 1];
    while (inner(from, own, vector, entry) != wanted) entry++;
    vector[first] = entry;
    snprintf(report, LONGEST, "%" PRIu64, number_of(from, vector));
    return 0;
}

static size_t words_of(const optldp_categories *from) {
    switch (from->kind) {
    case ORACLE_TABLE: return 1;
    case ORACLE_UNARY: return from->size;
    case ORACLE_SUBSET: return 1 + (size_t)from->chosen;
    case ORACLE_HASH: return 2;
    default: return 3;
    }
}

const category *optldp_found(const optldp_categories *from, const char *label) {
    size_t first = 0, left = from->size;
    while (left > 1) {
        size_t half = left / 2;
        if (strcmp(from->sorted[first + half].label, label) <= 0) first += half;
        left -= half;
    }
    return strcmp(from->sorted[first].label, label) == 0 ? &from->sorted[first] : NULL;
}

size_t optldp_category_report_size(const optldp_categories *from) {
    int bits = from->kind == ORACLE_UNARY || from->kind == ORACLE_SUBSET;
    return bits ? 2 * (((size_t)from->size + 7) / 8) + 1 : LONGEST;
}

optldp_status optldp_take_category(const optldp_categories *from, uint32_t code, word_source *words, char *report) {
    size_t size = optldp_category_report_size(from), others = from->size * sizeof(uint32_t);
    uint32_t *order = NULL;
    int failed;
    memset(report, '\0', size);
    if (from->kind == ORACLE_SUBSET && (order = malloc(others)) == NULL) return OPTLDP_NO_MEMORY;
    if (from->kind == ORACLE_UNARY || from->kind == ORACLE_SUBSET) memset(report, '0', size - 1);
    switch (from->kind) {
    case ORACLE_TABLE: failed = draw_output(from, code, words, report); break;
    case ORACLE_UNARY: failed = draw_bits(from, code, words, report); break;
    case ORACLE_SUBSET: failed = draw_set(from, code, words, order, report); break;
    case ORACLE_HASH: failed = draw_hash(from, code, words, report); break;
    default: failed = draw_point(from, code, words, report); break;
    }
    if (order != NULL) optldp_clear(order, others);
    free(order);
    if (failed) optldp_clear(report, size); /* nothing of a draw that was stopped may leave */
    return failed ? OPTLDP_NO_RANDOMNESS : OPTLDP_OK;
}

optldp_status optldp_category_report(const optldp_categories *from, const char *value, char *report) {
    const category *own = optldp_found(from, value);
    word_source words = {{0}, 0, 0, words_of(from)};
    optldp_status status;
    memset(report, '\0', optldp_category_report_size(from));
    if (own == NULL) return OPTLDP_NOT_IN_DOMAIN;
    status = optldp_take_category(from, own->code, &words, report);
    optldp_clear(&words, sizeof words);
    return status;
}

double optldp_categories_epsilon(const optldp_categories *from) { return from->epsilon; }

const char *optldp_categories_identifier(const optldp_categories *from) { return from->identifier; }
