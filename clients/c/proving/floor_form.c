/* The floor form (docs/floor-form.md): rows are a floor, and what a window of a line of extras adds to it. */
#include <math.h>
#include <string.h>

#include "proving.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define MOST_EDGE ((uint64_t)1 << 62)

/* A whole number of at most 49 digits over 2^128: above one, and proved at most e^epsilon; less one. */
static const char *read_ratio(const json *digits, double epsilon, whole *beyond) {
    whole limit, one, digit;
    NEED(digits->type == JSON_TEXT && digits->size >= 1 && digits->size <= 49 && digits->text[0] != '0',
         "ratio must be the digits of a whole number");
    whole_set(beyond, 0);
    for (size_t i = 0; i < digits->size; i++) {
        NEED(digits->text[i] >= '0' && digits->text[i] <= '9', "ratio must be the digits of a whole number");
        whole_set(&digit, digits->text[i] - '0');
        whole_times(beyond, 10);
        whole_add(beyond, &digit);
    }
    exponential_below(epsilon, &limit);
    whole_set(&one, 1);
    whole_shift(&one, 128);
    NEED(whole_sizes(beyond, &one) > 0 && whole_sizes(beyond, &limit) <= 0,
         "the ratio must be proved at most e^epsilon, and above 1");
    whole_subtract(beyond, &one);
    return NULL;
}

static const char *read_windows(optldp_table *table, const int64_t *floor, const whole *beyond) {
    size_t m = table->outputs_many;
    uint64_t sum = 0, edge = 0;
    table->floors = arena_take(&table->memory, m, sizeof *table->floors);
    table->edges = arena_take(&table->memory, m, sizeof *table->edges);
    NEED(table->floors && table->edges, TOO_LITTLE_MEMORY);
    for (size_t j = 0; j < m; j++) {
        whole extra = *beyond;
        int64_t size;
        whole_times(&extra, (uint64_t)floor[j]);
        whole_shift(&extra, -128);
        size = whole_value(&extra);
        NEED(size >= 0 && (uint64_t)size <= MOST_EDGE - edge, "the floor times the ratio must be at most 2^62");
        NEED((uint64_t)floor[j] <= OPTLDP_WHOLE - sum, "floors must sum to at most 2^53");
        table->edges[j] = edge += (uint64_t)size;
        table->floors[j] = sum += (uint64_t)floor[j];
    }
    table->width = OPTLDP_WHOLE - sum;
    NEED(table->width <= edge, "extras must fill a window");
    for (size_t i = 0; i < table->knots_many; i++) {
        uint64_t start = table->starts[i];
        NEED(start <= edge - table->width, "starts must leave room for a window");
        NEED((uint64_t)(double)start == start, "starts must be doubles");
    }
    return NULL;
}

/* The sum of places over the line up to a point of it; `sums` are those up to and with each output. */
static void moment_until(const optldp_table *table, const int64_t *places, const whole *sums, uint64_t point, whole *to) {
    size_t j = 0, left = table->outputs_many;
    uint64_t begin;
    while (left > 1) { /* the last output that begins at or before the point */
        size_t half = left / 2;
        if (table->edges[j + half - 1] <= point) j += half;
        left -= half;
    }
    begin = j > 0 ? table->edges[j - 1] : 0;
    whole_set(to, places[j]);
    whole_times(to, point - begin);
    if (j > 0) whole_add(to, &sums[j - 1]);
}

static const char *prove_unbiased(optldp_table *table, const int64_t *places, const int64_t *floor, double step) {
    size_t n = table->knots_many, m = table->outputs_many;
    whole *sums = arena_take(&table->memory, m, sizeof *sums), base, part, width, farthest;
    int unit = 1024, exponent;
    NEED(sums != NULL, TOO_LITTLE_MEMORY);
    whole_set(&base, 0);
    for (size_t j = 0; j < m; j++) {
        whole_set(&part, places[j]);
        whole_times(&part, (uint64_t)floor[j]);
        whole_add(&base, &part);
        whole_set(&sums[j], places[j]);
        whole_times(&sums[j], table->edges[j] - (j > 0 ? table->edges[j - 1] : 0));
        if (j > 0) whole_add(&sums[j], &sums[j - 1]);
    }
    frexp(step, &exponent);
    if (exponent - 1 < unit) unit = exponent - 1; /* step = 2^(exponent - 1) */
    for (size_t i = 0; i < n; i++) {
        if (table->knots[i] != 0 && whole_unit(table->knots[i]) < unit) unit = whole_unit(table->knots[i]);
    }
    whole_of(&width, table->knots[n - 1], unit);
    whole_of(&part, table->knots[0], unit);
    whole_subtract(&width, &part);
    whole_shift(&width, 53);
    whole_set(&farthest, -places[0] > places[m - 1] ? -places[0] : places[m - 1]);
    whole_shift(&farthest, exponent - 1 - unit);
    for (size_t i = 0; i < n; i++) {
        whole off = base, knot;
        moment_until(table, places, sums, table->starts[i] + table->width, &part);
        whole_add(&off, &part);
        moment_until(table, places, sums, table->starts[i], &part);
        whole_subtract(&off, &part);
        whole_shift(&off, exponent - 1 - unit);
        whole_of(&knot, table->knots[i], unit);
        whole_shift(&knot, 53);
        whole_subtract(&off, &knot);
        NEED(is_unbiased(&off, &width, &farthest), "a table that claims to be unbiased must be so to 1e-12 of its domain");
    }
    return NULL;
}

const char *read_floor_form(const json *document, optldp_table *table) {
    static const char *const KEYS[] = {"format", "kind", "units", "epsilon", "ratio", "knots", "step", "places", "floor",
                                       "starts", "provenance", "prior", "checksum"};
    const json *step = json_member(document, "step");
    arena *memory = &table->memory;
    int64_t *places, *floor, *starts;
    size_t floors_many, starts_many;
    whole beyond;
    int unbiased, exponent;
    TRY(need_keys(document, KEYS, COUNT(KEYS)));
    TRY(need_checksum(document, table->identifier));
    TRY(read_around(document, table, &unbiased));
    TRY(read_ratio(json_member(document, "ratio"), table->epsilon, &beyond));
    NEED(step->type == JSON_NUMBER && frexp(step->number, &exponent) == 0.5 && step->number >= ldexp(1, -1000) &&
         step->number <= ldexp(1, 400), "step must be a power of two from 2^-1000 to 2^400");
    TRY(take_wholes(memory, json_member(document, "places"), -(int64_t)OPTLDP_WHOLE, (int64_t)OPTLDP_WHOLE, &places,
                    &table->outputs_many));
    TRY(take_wholes(memory, json_member(document, "floor"), 1, (int64_t)OPTLDP_WHOLE, &floor, &floors_many));
    TRY(take_wholes(memory, json_member(document, "starts"), 0, (int64_t)MOST_EDGE, &starts, &starts_many));
    NEED(floors_many == table->outputs_many, "outputs must have a floor each");
    NEED(starts_many == table->knots_many, "knots must have a start each");
    table->low = table->high = table->top = arena_take(memory, floors_many, sizeof *table->low);
    table->starts = arena_take(memory, starts_many, sizeof *table->starts);
    NEED(table->low && table->starts, TOO_LITTLE_MEMORY);
    for (size_t j = 0; j < floors_many; j++) table->low[j] = (double)places[j] * step->number + 0.0;
    for (size_t i = 0; i < starts_many; i++) table->starts[i] = (uint64_t)starts[i];
    TRY(need_outputs(table));
    TRY(read_windows(table, floor, &beyond));
    return unbiased ? prove_unbiased(table, places, floor, step->number) : NULL;
}
