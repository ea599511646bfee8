/* Mechanisms for categories (docs/bundle-format.md): what each kind asks for, and the proof of its ratio. */
#include <stdlib.h>
#include <string.h>

#include "categories.h"
#include "proving.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define MOST_CATEGORIES ((size_t)1 << 20)
#define MOST_NAMED ((size_t)1 << 27) /* categories times the characters of the longest */
#define MOST_CHOSEN (1 << 19)
#define WHOLE ((int64_t)OPTLDP_WHOLE)

static int by_label(const void *one, const void *other) {
    return strcmp(((const category *)one)->label, ((const category *)other)->label);
}

const char *read_labels(const json *list, optldp_categories *made) {
    size_t longest = 0;
    NEED(list->type == JSON_LIST, "categories must be a list");
    NEED(list->size >= 2 && list->size <= MOST_CATEGORIES, "categories must be 2 to 1048576");
    made->size = (uint32_t)list->size;
    NEED((made->sorted = arena_take(&made->memory, list->size, sizeof *made->sorted)) != NULL, TOO_LITTLE_MEMORY);
    for (uint32_t code = 0; code < made->size; code++) {
        const json *each = &list->element[code];
        size_t characters = 0;
        char *label;
        NEED(each->type == JSON_TEXT, "every category must be text");
        NEED(each->size > 0 && memchr(each->text, '\0', each->size) == NULL, "categories must be neither empty nor hold NUL");
        for (size_t i = 0; i < each->size; i++) characters += (each->text[i] & 0xc0) != 0x80;
        if (characters > longest) longest = characters;
        NEED((label = arena_take(&made->memory, each->size + 1, 1)) != NULL, TOO_LITTLE_MEMORY);
        memcpy(label, each->text, each->size);
        made->sorted[code] = (category){label, code};
    }
    NEED(made->size * longest <= MOST_NAMED, "categories must be fewer or have shorter names");
    qsort(made->sorted, made->size, sizeof *made->sorted, by_label);
    for (size_t i = 1; i < made->size; i++) {
        NEED(by_label(&made->sorted[i - 1], &made->sorted[i]) != 0, "categories must differ, got one twice");
    }
    return NULL;
}

const char *prove_ratio(const whole *above, const whole *below, double epsilon) {
    whole left = *above, limit, right;
    whole_shift(&left, 128);
    exponential_below(epsilon, &limit);
    whole_product(&right, below, &limit);
    NEED(below->used > 0 && whole_sizes(&left, &right) <= 0, "every ratio must be proved at most e^epsilon");
    return NULL;
}

/* Whether (a b) / (c d) is proved at most e^epsilon: a b 2^128 <= p c d. */
static const char *need_ratio(int64_t a, int64_t b, int64_t c, int64_t d, double epsilon) {
    whole above, below;
    whole_set(&above, a);
    whole_times(&above, (uint64_t)b);
    whole_set(&below, c);
    whole_times(&below, (uint64_t)d);
    return prove_ratio(&above, &below, epsilon);
}

const char *take_whole(const json *value, int64_t least, int64_t most, int64_t *to) {
    NEED(value->type == JSON_NUMBER && value->whole, "shares and counts must be whole numbers");
    NEED(value->integer >= least && value->integer <= most, "every whole number must be in the range of its format");
    *to = value->integer;
    return NULL;
}

static const char *read_table(const json *document, optldp_categories *made) {
    const json *rows = json_member(document, "numerators");
    int64_t denominator;
    TRY(take_whole(json_member(document, "denominator"), WHOLE, WHOLE, &denominator));
    NEED(rows->type == JSON_LIST && rows->size > 0 && rows->element[0].type == JSON_LIST, "numerators must be a list of lists");
    NEED(rows->element[0].size > 0, "a table must have outputs");
    made->outputs = (uint32_t)rows->element[0].size;
    return read_sums(&made->memory, rows, made->size, made->outputs, made->epsilon, &made->sums);
}

static const char *read_unary(const json *document, optldp_categories *made) {
    int64_t own, other;
    TRY(take_whole(json_member(document, "own_one"), 1, WHOLE - 1, &own));
    TRY(take_whole(json_member(document, "other_one"), 1, WHOLE - 1, &other));
    NEED(other < own, "other_one must be below own_one");
    made->own = (uint64_t)own;
    made->other = (uint64_t)other;
    return need_ratio(own, WHOLE - other, other, WHOLE - own, made->epsilon);
}

static const char *read_subset(const json *document, optldp_categories *made) {
    int64_t own, many, size = made->size;
    whole mine, even;
    TRY(take_whole(json_member(document, "n_chosen"), 1, size - 1 < MOST_CHOSEN ? size - 1 : MOST_CHOSEN, &many));
    TRY(take_whole(json_member(document, "own_chosen"), 1, WHOLE - 1, &own));
    whole_set(&mine, own);
    whole_times(&mine, (uint64_t)size);
    whole_set(&even, WHOLE);
    whole_times(&even, (uint64_t)many);
    NEED(whole_sizes(&mine, &even) > 0, "own_chosen must be more than the share of n_chosen of all categories");
    made->own = (uint64_t)own;
    made->chosen = (uint32_t)many;
    return need_ratio(own, size - many, WHOLE - own, many, made->epsilon);
}

typedef struct polynomial { /* of a power of a prime that is no prime: the coefficients below the highest */
    uint32_t size, degree, tail[OPTLDP_DEGREE];
} polynomial;

static const polynomial POLYNOMIALS[] = {
    {4, 2, {1, 1}}, {8, 3, {1, 0, 1}}, {16, 4, {1, 0, 0, 1}}, {32, 5, {1, 0, 0, 1, 0}}, {64, 6, {1, 0, 0, 0, 0, 1}},
    {128, 7, {1, 0, 0, 0, 0, 0, 1}}, {256, 8, {1, 0, 0, 0, 1, 1, 0, 1}}, {9, 2, {1, 0}}, {27, 3, {1, 0, 2}},
    {81, 4, {1, 0, 1, 1}}, {243, 5, {1, 0, 0, 0, 2}}, {25, 2, {1, 1}}, {125, 3, {1, 0, 1}}, {49, 2, {1, 0}},
    {121, 2, {1, 0}}, {169, 2, {1, 3}},
};

static const char *read_field(uint32_t g, optldp_categories *made) {
    made->prime = 2;
    while (g % made->prime != 0) made->prime++;
    made->degree = 1; /* of a prime the polynomial is t */
    for (size_t i = 0; i < COUNT(POLYNOMIALS); i++) {
        if (POLYNOMIALS[i].size != g) continue;
        made->degree = POLYNOMIALS[i].degree;
        memcpy(made->tail, POLYNOMIALS[i].tail, sizeof made->tail);
    }
    NEED(made->degree > 1 || made->prime == g, "n_values and order must be powers of a prime");
    return NULL;
}

static const char *read_hash(const json *document, optldp_categories *made) {
    int64_t g, own, other;
    TRY(take_whole(json_member(document, "n_values"), 2, 256, &g));
    TRY(take_whole(json_member(document, "own_value"), 1, WHOLE - 1, &own));
    TRY(read_field((uint32_t)g, made));
    other = (WHOLE - own) / (g - 1);
    NEED(other * (g - 1) == WHOLE - own && other < own, "own_value must leave smaller equal shares of 2^53");
    made->own = (uint64_t)own;
    made->other = (uint64_t)other;
    made->digits = 1;
    for (int64_t reach = g; reach < made->size; reach *= g) made->digits++;
    return need_ratio(own, 1, other, 1, made->epsilon);
}

static const char *read_geometry(const json *document, optldp_categories *made) {
    int64_t q, own, n, m;
    whole mine, even;
    TRY(take_whole(json_member(document, "order"), 2, 256, &q));
    TRY(take_whole(json_member(document, "own_supported"), 1, WHOLE - 1, &own));
    TRY(read_field((uint32_t)q, made));
    made->digits = 2;
    while (optldp_points(made, made->digits) < made->size) made->digits++;
    n = (int64_t)optldp_points(made, made->digits);
    m = (int64_t)optldp_points(made, made->digits - 1);
    whole_set(&mine, own);
    whole_times(&mine, (uint64_t)n);
    whole_set(&even, WHOLE);
    whole_times(&even, (uint64_t)m);
    NEED(whole_sizes(&mine, &even) > 0, "own_supported must be more than the share of points that support a category");
    made->own = (uint64_t)own;
    return need_ratio(own, n - m, WHOLE - own, m, made->epsilon);
}

typedef struct kind {
    const char *name, *one, *two; /* the members that it has beside those of all */
    oracle_kind oracle;
    const char *(*read)(const json *document, optldp_categories *made);
} kind;

static const kind KINDS[] = {
    {"categorical-table", "denominator", "numerators", ORACLE_TABLE, read_table},
    {"unary-encoding", "own_one", "other_one", ORACLE_UNARY, read_unary},
    {"subset-selection", "n_chosen", "own_chosen", ORACLE_SUBSET, read_subset},
    {"local-hashing", "n_values", "own_value", ORACLE_HASH, read_hash},
    {"projective-geometry", "order", "own_supported", ORACLE_GEOMETRY, read_geometry},
};

static const char *read_oracle(const json *document, const kind *of, int inside, optldp_categories *made) {
    const char *const keys[] = {"format", "kind", "categories", "epsilon", "provenance", of->one, of->two, "checksum"};
    int unbiased;
    TRY(need_keys(document, keys, COUNT(keys) - (size_t)inside));
    if (!inside) TRY(need_checksum(document, made->identifier));
    TRY(need_epsilon(json_member(document, "epsilon"), &made->epsilon));
    TRY(need_provenance(json_member(document, "provenance"), &unbiased));
    TRY(read_labels(json_member(document, "categories"), made));
    made->kind = of->oracle;
    return of->read(document, made);
}

const char *read_categories(const json *document, int inside, optldp_categories *made) {
    for (size_t i = 0; json_is(json_member(document, "format"), "optldp-bundle/1") && i < COUNT(KINDS); i++) {
        if (json_is(json_member(document, "kind"), KINDS[i].name)) return read_oracle(document, &KINDS[i], inside, made);
    }
    return "a file must be a bundle of a kind for categories that this client draws";
}

static const char *read_document(arena *memory, const char *text, size_t size, optldp_categories *made) {
    json document;
    TRY(parse_document(memory, text, size, &document));
    return read_categories(&document, 0, made);
}

const char *optldp_read_categories(const char *text, size_t size, optldp_categories **categories) {
    arena memory = {NULL};
    optldp_categories *made = calloc(1, sizeof *made);
    const char *fault = made == NULL ? TOO_LITTLE_MEMORY : read_document(&memory, text, size, made);
    arena_free(&memory);
    if (fault != NULL) {
        optldp_free_categories(made);
        made = NULL;
    }
    *categories = made;
    return fault;
}

void optldp_free_categories(optldp_categories *categories) {
    if (categories == NULL) return;
    arena_free(&categories->memory);
    free(categories);
}
