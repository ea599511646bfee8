/* What tables and floor forms share: the checksum, the budget, the knots, the words around them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "proving.h"
#include "sha256.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

const char *const TOO_LITTLE_MEMORY = "the device must have memory for the table, got too little";

const char *need_keys(const json *object, const char *const *keys, size_t many) {
    NEED(object != NULL && object->type == JSON_OBJECT, "the document must have objects where the format has them");
    NEED(object->size == many, "an object must have the keys of its format, and no others");
    for (size_t i = 0; i < many; i++) {
        NEED(json_member(object, keys[i]) != NULL, "an object must have the keys of its format, and no others");
    }
    return NULL;
}

const char *take_numbers(arena *memory, const json *list, double **to, size_t *many) {
    NEED(list->type == JSON_LIST, "knots, weights and ends must be lists");
    NEED((*to = arena_take(memory, list->size, sizeof **to)) != NULL, TOO_LITTLE_MEMORY);
    for (size_t i = 0; i < list->size; i++) {
        NEED(list->element[i].type == JSON_NUMBER, "knots, weights and ends must be numbers");
        (*to)[i] = list->element[i].number;
    }
    *many = list->size;
    return NULL;
}

const char *take_wholes(arena *memory, const json *list, int64_t least, int64_t most, int64_t **to, size_t *many) {
    NEED(list->type == JSON_LIST, "numerators, places, floors and starts must be lists");
    NEED((*to = arena_take(memory, list->size, sizeof **to)) != NULL, TOO_LITTLE_MEMORY);
    for (size_t i = 0; i < list->size; i++) {
        const json *each = &list->element[i];
        NEED(each->type == JSON_NUMBER && each->whole, "numerators, places, floors and starts must be whole numbers");
        NEED(each->integer >= least && each->integer <= most, "every whole number must be in the range of its format");
        (*to)[i] = each->integer;
    }
    *many = list->size;
    return NULL;
}

static void add_tagged(sha256 *hash, char tag, uint64_t bits) {
    unsigned char bytes[9] = {(unsigned char)tag};
    for (int i = 0; i < 8; i++) bytes[1 + i] = (unsigned char)(bits >> 8 * i);
    sha256_add(hash, bytes, sizeof bytes);
}

/* The bytes of a value that the checksum is taken of, without a member `left_out`. */
static void add_value(sha256 *hash, const json *value, const char *left_out) {
    uint64_t bits;
    switch (value->type) {
    case JSON_NULL: sha256_add(hash, "z", 1); break;
    case JSON_TRUE: sha256_add(hash, "t", 1); break;
    case JSON_FALSE: sha256_add(hash, "f", 1); break;
    case JSON_NUMBER:
        memcpy(&bits, &value->number, sizeof bits);
        add_tagged(hash, 'n', bits);
        break;
    case JSON_TEXT:
        add_tagged(hash, 's', value->size);
        sha256_add(hash, value->text, value->size);
        break;
    case JSON_LIST:
        add_tagged(hash, 'a', value->size);
        for (size_t i = 0; i < value->size; i++) add_value(hash, &value->element[i], NULL);
        break;
    case JSON_OBJECT:
        add_tagged(hash, 'o', value->size - (left_out != NULL));
        for (size_t i = 0; i < value->size; i++) {
            if (left_out != NULL && json_is(&value->element[2 * i], left_out)) continue;
            add_value(hash, &value->element[2 * i], NULL);
            add_value(hash, &value->element[2 * i + 1], NULL);
        }
        break;
    }
}

const char *need_checksum(const json *document, char identifier[14]) {
    unsigned char digest[32];
    char text[7 + 64 + 1] = "sha256:";
    sha256 hash;
    sha256_begin(&hash);
    add_value(&hash, document, "checksum");
    sha256_end(&hash, digest);
    for (int i = 0; i < 32; i++) snprintf(text + 7 + 2 * i, 3, "%02x", digest[i]);
    NEED(json_is(json_member(document, "checksum"), text), "the checksum must fit: the file was altered");
    snprintf(identifier, 14, "t%.12s", text + 7);
    return NULL;
}

/* An object of plain values, or of lists of them. */
static const char *need_record(const json *record) {
    NEED(record->type == JSON_OBJECT, "parameters and certificate must be objects");
    for (size_t i = 0; i < record->size; i++) {
        const json *value = &record->element[2 * i + 1];
        NEED(value->type != JSON_OBJECT, "parameters and certificate must hold plain values or lists of them");
        for (size_t k = 0; value->type == JSON_LIST && k < value->size; k++) {
            NEED(value->element[k].type < JSON_LIST, "parameters and certificate must hold plain values or lists of them");
        }
    }
    return NULL;
}

const char *need_provenance(const json *origin, int *unbiased) {
    static const char *const KEYS[] = {"method", "parameters", "version", "certificate"};
    const json *certificate, *claim;
    TRY(need_keys(origin, KEYS, COUNT(KEYS)));
    NEED(json_member(origin, "method")->type == JSON_TEXT, "provenance.method must be text");
    NEED(json_member(origin, "version")->type == JSON_TEXT, "provenance.version must be text");
    TRY(need_record(json_member(origin, "parameters")));
    certificate = json_member(origin, "certificate");
    if (certificate->type != JSON_NULL) TRY(need_record(certificate));
    claim = json_member(json_member(origin, "parameters"), "unbiased");
    *unbiased = claim != NULL && claim->type == JSON_TRUE;
    return NULL;
}

static const char *need_prior(arena *memory, const json *prior, size_t knots) {
    static const char *const KEYS[] = {"weights", "rounding", "source"};
    const json *source;
    double *weights, *rounding, sum = 0.0;
    size_t many, between;
    if (prior->type == JSON_NULL) return NULL;
    TRY(need_keys(prior, KEYS, COUNT(KEYS)));
    TRY(take_numbers(memory, json_member(prior, "weights"), &weights, &many));
    TRY(take_numbers(memory, json_member(prior, "rounding"), &rounding, &between));
    NEED(many == knots && between + 1 == knots, "a prior must have a weight for each knot, a rounding for each interval");
    for (size_t i = 0; i < many; i++) {
        NEED(weights[i] >= 0 && (i == between || rounding[i] >= 0), "a prior must have no negative numbers");
        sum += weights[i];
    }
    NEED(fabs(sum - 1) <= 1e-9, "the weights of a prior must sum to 1");
    source = json_member(prior, "source");
    NEED(json_is(source, "public") || json_is(source, "private-report") || json_is(source, "sensitive"),
         "prior.source must be public, private-report or sensitive");
    return NULL;
}

const char *need_epsilon(const json *value, double *epsilon) {
    NEED(value->type == JSON_NUMBER && value->number >= 1e-6 && value->number <= 16, "epsilon must be in [1e-6, 16]");
    *epsilon = value->number;
    return NULL;
}

const char *read_around(const json *document, optldp_table *table, int *unbiased) {
    double width;
    const json *units = json_member(document, "units");
    TRY(need_epsilon(json_member(document, "epsilon"), &table->epsilon));
    TRY(take_numbers(&table->memory, json_member(document, "knots"), &table->knots, &table->knots_many));
    NEED(table->knots_many >= 2, "knots must be at least 2");
    NEED(table->knots_many <= MOST_SIDE, "knots must be at most 32768");
    for (size_t i = 1; i < table->knots_many; i++) {
        NEED(table->knots[i - 1] < table->knots[i], "knots must be strictly increasing");
    }
    width = table->knots[table->knots_many - 1] - table->knots[0];
    NEED(width > 1e-100 && width < 1e100, "knots must span 1e-100 to 1e100");
    NEED(units->type == JSON_TEXT, "units must be text");
    NEED((table->units = arena_take(&table->memory, units->size + 1, 1)) != NULL, TOO_LITTLE_MEMORY);
    memcpy(table->units, units->text, units->size);
    table->units_size = units->size;
    TRY(need_provenance(json_member(document, "provenance"), unbiased));
    return need_prior(&table->memory, json_member(document, "prior"), table->knots_many);
}

const char *need_outputs(const optldp_table *table) {
    const double *low = table->low, *high = table->high;
    double reach = -HUGE_VAL;
    NEED(table->outputs_many >= 1, "there must be at least one output");
    NEED(table->outputs_many <= MOST_SIDE, "outputs must be at most 32768");
    for (size_t j = 0; j < table->outputs_many; j++) {
        NEED(low[j] < high[j] || (low[j] == high[j] && isfinite(low[j])), "every output must have low <= high");
        NEED((fabs(low[j]) <= 1e120 || isinf(low[j])) && (fabs(high[j]) <= 1e120 || isinf(high[j])),
             "finite ends must be within 1e120");
        NEED(j == 0 || low[j] > low[j - 1] || (low[j] == low[j - 1] && high[j] > high[j - 1]),
             "outputs must be sorted by low end, then by high end, without repeats");
        NEED(low[j] == high[j] || low[j] >= reach, "cells must not overlap the cell before them");
        if (low[j] < high[j]) reach = high[j];
    }
    return NULL;
}

void exponential_below(double epsilon, whole *p) {
    whole term;
    int exponent;
    uint64_t mantissa = (uint64_t)ldexp(frexp(epsilon, &exponent), 53); /* epsilon = mantissa 2^(exponent - 53) */
    whole_set(p, 0);
    whole_set(&term, 1);
    whole_shift(&term, 128);
    for (uint32_t k = 1; term.used > 0; k++) {
        whole_add(p, &term);
        whole_times(&term, mantissa);
        whole_shift(&term, exponent - 53);
        whole_over(&term, k); /* a floor of a floor is that of the whole fraction */
    }
}

int is_unbiased(const whole *off, const whole *width, const whole *farthest) {
    whole scaled = *off, limit = *farthest;
    whole_shift(&limit, 3); /* 2^53 / 2^50 */
    if (whole_sizes(off, &limit) <= 0) return 1;
    whole_times(&scaled, 1000000000000u);
    return whole_sizes(&scaled, width) <= 0;
}
