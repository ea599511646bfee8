/* Reports of which one budget holds for a whole history: one sum of it, or signs of its changes. A user's place, by public
   shares, says which; docs/bundle-format.md has the laws. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "way.h"

/* A value of the domain, moved to [-1, 1]. */
static double scaled(const optldp_table *table, double value) {
    double low = table->knots[0], high = table->knots[table->knots_many - 1];
    return (value - 0.5 * (low + high)) / (0.5 * (high - low));
}

static double clipped(double value, double low, double high) { return value < low ? low : value > high ? high : value; }

static double unscaled(const optldp_table *table, double told) {
    double low = table->knots[0], high = table->knots[table->knots_many - 1];
    return clipped(0.5 * (low + high) + 0.5 * (high - low) * clipped(told, -1.0, 1.0), low, high);
}

static const double *row_of(const optldp_way *way, size_t place) { return &way->weights[place * way->periods]; }

/* The last period with a weight. */
static uint32_t end_of(const optldp_way *way, size_t place) {
    uint32_t end = way->periods;
    while (row_of(way, place)[end - 1] == 0.0) end--;
    return end;
}

/* The branch of a user, or NULL of one who reports a value. */
static const branch *branch_of(const optldp_way *way, size_t place) {
    return way->life == TREE && place >= way->periods ? &way->branches[place - way->periods] : NULL;
}

int life_turn(const optldp_way *way, size_t place, uint32_t period) {
    const branch *own = branch_of(way, place);
    if (way->life == ROWS) return period == end_of(way, place);
    return own != NULL ? period > 1 && period % own->step == 0 : period == place + 1;
}

static optldp_status draw_signs(const branch *from, char *signs) {
    uint64_t total = 0, left, other, plus = 0;
    uint32_t order[MOST_SIGNS];
    word_source words = {.expected = 1}; /* then one by one: none is left over */
    optldp_status status = OPTLDP_OK;
    for (uint32_t i = 0; i <= from->many; i++) total += from->weights[i];
    if (take_below(&words, total, &left) != 0) status = OPTLDP_NO_RANDOMNESS;
    while (status == OPTLDP_OK && left >= from->weights[plus]) left -= from->weights[plus++];
    for (uint32_t i = 0; i < from->many; i++) order[i] = i;
    for (uint32_t i = 0; status == OPTLDP_OK && i < from->many; i++) {
        if (take_below(&words, from->many - i, &other) != 0) status = OPTLDP_NO_RANDOMNESS;
        else signs[i] = order[i + other] < plus ? '+' : '-', order[i + other] = order[i];
    }
    signs[from->many] = '\0';
    optldp_clear(&words, sizeof words);
    optldp_clear(order, sizeof order);
    return status;
}

static char sign_of(const optldp_table *table, double value, uint64_t offset) {
    return scaled(table, value) > 2.0 * ((double)offset / (double)OPTLDP_WHOLE) - 1.0 ? '+' : '-';
}

/* Keeps the first value of a period, as the bits of the double. */
static optldp_status keep_value(kept *state, uint32_t period, double value) {
    uint64_t bits;
    char text[24];
    int failed;
    if (kept_find(&state->draws, period) != NULL) return OPTLDP_OK;
    memcpy(&bits, &value, sizeof bits);
    snprintf(text, sizeof text, "%" PRIu64, bits);
    failed = kept_add(state, &state->draws, period, text);
    optldp_clear(text, sizeof text);
    return failed ? OPTLDP_NO_MEMORY : OPTLDP_OK;
}

optldp_status life_note(const optldp_way *way, size_t place, uint32_t period, const optldp_value *value, kept *state) {
    const branch *own = branch_of(way, place);
    int keeps = way->life == ROWS && period <= end_of(way, place) && state->reports.many == 0;
    int begins = own != NULL && state->signs[0] == '\0' && state->lost == 0;
    optldp_status status;
    uint64_t word;
    if (!keeps && !begins) return OPTLDP_OK;
    if (!optldp_takes(way->mechanism, value)) return OPTLDP_NOT_IN_DOMAIN;
    if (keeps) return keep_value(state, period, value->number);
    if (optldp_random(&word, sizeof word) != 0) return OPTLDP_NO_RANDOMNESS;
    if ((status = draw_signs(own, state->signs + 1)) != OPTLDP_OK) return status;
    state->offset = word >> 11;
    state->signs[0] = sign_of(way->mechanism->table, value->number, state->offset);
    return OPTLDP_OK;
}

/* What is kept of a period; 0 where nothing is, -1 where it was altered. */
static int found(const kept *state, uint32_t period, double *value) {
    const char *text = kept_find(&state->draws, period);
    uint64_t bits;
    if (text == NULL) return 0;
    if (sscanf(text, "%" SCNu64, &bits) != 1) return -1;
    memcpy(value, &bits, sizeof bits);
    return 1;
}

/* The sum of what is kept by a row's weights; a missing value is the one before it, or else the first. */
static int summed(const optldp_way *way, size_t place, const kept *state, double *total) {
    double held = 0.0;
    *total = 0.0;
    for (uint32_t period = way->periods; period >= 1; period--) {
        if (found(state, period, &held) < 0) return -1;
    }
    for (uint32_t period = 1; period <= way->periods; period++) {
        found(state, period, &held);
        *total += row_of(way, place)[period - 1] * scaled(way->mechanism->table, held);
    }
    return 0;
}

/* The report of the sum; then the history is forgotten. */
static optldp_status draw_sum(const optldp_way *way, size_t place, kept *state, char *report) {
    optldp_value told = {0};
    double total;
    optldp_status status;
    if (summed(way, place, state, &total) != 0) return OPTLDP_NO_STATE;
    told.number = unscaled(way->mechanism->table, total);
    status = optldp_line(way->mechanism, &told, report);
    optldp_clear(&told, sizeof told);
    optldp_clear(&total, sizeof total);
    state->draws.many = 0;
    return status == OPTLDP_NOT_IN_DOMAIN ? OPTLDP_NO_STATE : status;
}

optldp_status life_draw(const optldp_way *way, size_t place, const optldp_value *value, kept *state, char *report) {
    uint64_t word;
    char now;
    size_t left;
    if (way->life == ROWS) return draw_sum(way, place, state, report);
    if (branch_of(way, place) == NULL) return optldp_line(way->mechanism, value, report);
    if (state->lost > 0 || state->signs[0] == '\0' || state->offset == NONE) return OPTLDP_OK; /* and nothing is sent */
    if (!optldp_takes(way->mechanism, value)) return OPTLDP_NOT_IN_DOMAIN;
    if (optldp_random(&word, sizeof word) != 0) return OPTLDP_NO_RANDOMNESS; /* by all, for a fair sign */
    now = sign_of(way->mechanism->table, value->number, state->offset);
    left = strlen(state->signs + 1);
    report[0] = word >> 63 ? '+' : '-';
    if (now != state->signs[0] && left > 0) { /* the change, plus if it was upwards, times the next sign */
        report[0] = state->signs[1] == now ? '+' : '-';
        memmove(state->signs + 1, state->signs + 2, left);
    }
    report[1] = '\0';
    state->signs[0] = now;
    optldp_clear(&word, sizeof word);
    return OPTLDP_OK;
}
