/* What has several parts (docs/bundle-format.md): attributes and levels are proved part by part. */
#include <stdlib.h>
#include <string.h>

#include "combined_proving.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define MOST_PARTS 256 /* attributes, and levels */
#define MOST_LEVEL_REPORTS 4096
#define BUDGET_UNIT (-80) /* all budgets are whole numbers of 2^-80 */

static int is_bundle(const json *document, const char *kind) {
    return json_is(json_member(document, "format"), "optldp-bundle/1") && json_is(json_member(document, "kind"), kind);
}

static int is_table(const json *document) { return json_is(json_member(document, "format"), "optldp-table/2"); }

static int is_pairs(const json *document) {
    return is_bundle(document, "key-value-unary") || is_bundle(document, "key-value-response");
}

static int is_levels(const json *document) {
    return is_bundle(document, "personalised") || is_bundle(document, "personalised-pairs") ||
           is_bundle(document, "personalised-attributes");
}

const char *read_inner_table(const json *document, optldp_table *made) {
    NEED(is_table(document), "a table inside a file must have the format \"optldp-table/2\"");
    return read_exact_table(document, 1, made);
}

static const char *take_parts(optldp_mechanism *made, const json *list, size_t least) {
    NEED(list->type == JSON_LIST && list->size >= least && list->size <= MOST_PARTS,
         "attributes must be 1 to 256, and levels 2 to 256");
    NEED((made->parts = arena_take(&made->memory, list->size, sizeof *made->parts)) != NULL, TOO_LITTLE_MEMORY);
    made->many = list->size;
    return NULL;
}

static const char *read_names(const json *list, optldp_mechanism *made) {
    NEED(list->type == JSON_LIST && list->size == made->many, "every attribute needs a name and one table");
    made->labels = arena_take(&made->memory, made->many, sizeof *made->labels);
    made->sizes = arena_take(&made->memory, made->many, sizeof *made->sizes);
    NEED(made->labels && made->sizes, TOO_LITTLE_MEMORY);
    for (size_t i = 0; i < made->many; i++) {
        const json *name = &list->element[i];
        char *label;
        NEED(name->type == JSON_TEXT && name->size > 0, "attributes must have names");
        NEED((label = arena_take(&made->memory, name->size + 1, 1)) != NULL, TOO_LITTLE_MEMORY);
        memcpy(label, name->text, name->size);
        made->labels[i] = label;
        made->sizes[i] = name->size;
        for (size_t k = 0; k < i; k++) {
            NEED(made->sizes[k] != name->size || memcmp(made->labels[k], label, name->size) != 0,
                 "attributes must have names that differ");
        }
    }
    return NULL;
}

static int by_falling(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a < b) - (a > b);
}

static const char *read_attributes(const json *document, int inside, optldp_mechanism *made) {
    static const char *const KEYS[] = {"format", "kind", "attributes", "mechanisms", "sampled", "epsilon", "checksum"};
    const json *tables = json_member(document, "mechanisms");
    double spent[MOST_PARTS];
    whole sum, limit;
    int64_t sampled;
    made->sort = OF_ATTRIBUTES;
    TRY(need_keys(document, KEYS, COUNT(KEYS) - (size_t)inside));
    TRY(take_parts(made, tables, 1));
    TRY(read_names(json_member(document, "attributes"), made));
    for (size_t i = 0; i < made->many; i++) {
        NEED((made->parts[i].table = calloc(1, sizeof *made->parts[i].table)) != NULL, TOO_LITTLE_MEMORY);
        TRY(read_inner_table(&tables->element[i], made->parts[i].table));
        spent[i] = made->parts[i].epsilon = made->parts[i].table->epsilon;
    }
    TRY(need_epsilon(json_member(document, "epsilon"), &made->epsilon));
    TRY(take_whole(json_member(document, "sampled"), 1, (int64_t)made->many, &sampled));
    made->sampled = (size_t)sampled;
    qsort(spent, made->many, sizeof spent[0], by_falling);
    whole_set(&sum, 0);
    for (size_t i = 0; i < made->sampled; i++) {
        whole each;
        whole_of(&each, spent[i], BUDGET_UNIT);
        whole_add(&sum, &each);
    }
    whole_of(&limit, made->epsilon, BUDGET_UNIT);
    NEED(whole_sizes(&sum, &limit) <= 0, "the epsilons of any attributes that are sampled must sum to at most epsilon");
    return NULL;
}

static int are_alike_tables(const optldp_table *one, const optldp_table *two) {
    return one->knots[0] == two->knots[0] && one->knots[one->knots_many - 1] == two->knots[two->knots_many - 1] &&
           one->units_size == two->units_size && memcmp(one->units, two->units, one->units_size) == 0;
}

static int are_same_labels(const optldp_categories *one, const optldp_categories *two) {
    if (one->size != two->size) return 0;
    for (uint32_t i = 0; i < one->size; i++) {
        if (one->sorted[i].code != two->sorted[i].code || strcmp(one->sorted[i].label, two->sorted[i].label) != 0) return 0;
    }
    return 1;
}

static int are_alike_names(const optldp_categories *one, const optldp_categories *two) {
    int field = one->kind == ORACLE_HASH || one->kind == ORACLE_GEOMETRY;
    return one->kind == two->kind && are_same_labels(one, two) && one->outputs == two->outputs &&
           one->chosen == two->chosen && (!field || optldp_elements(one) == optldp_elements(two));
}

static int are_alike_pairs(const optldp_mechanism *one, const optldp_mechanism *two) {
    const optldp_table *a = one->table, *b = two->table;
    if (one->apart != two->apart || one->padding != two->padding || !are_same_labels(one->names, two->names)) return 0;
    if (!are_alike_tables(a, b) || a->knots_many != b->knots_many || a->outputs_many != b->outputs_many) return 0;
    for (size_t i = 0; i < a->knots_many; i++) {
        if (a->knots[i] != b->knots[i]) return 0;
    }
    for (size_t j = 0; j < a->outputs_many; j++) {
        if ((fake_of(one, j) > 0) != (fake_of(two, j) > 0)) return 0;
    }
    return 1;
}

static int are_alike(const optldp_mechanism *one, const optldp_mechanism *two) {
    if (one->sort != two->sort) return 0;
    if (one->sort == OF_NUMBERS) return are_alike_tables(one->table, two->table);
    if (one->sort == OF_NAMES) return are_alike_names(one->names, two->names);
    if (one->sort == OF_PAIRS) return are_alike_pairs(one, two);
    if (one->many != two->many || one->sampled != two->sampled) return 0;
    for (size_t i = 0; i < one->many; i++) {
        if (one->sizes[i] != two->sizes[i] || memcmp(one->labels[i], two->labels[i], one->sizes[i]) != 0) return 0;
        if (!are_alike_tables(one->parts[i].table, two->parts[i].table)) return 0;
    }
    return 1;
}

/* Whether budgets rise from one level to the next: the whole one and, of attributes, each one's. */
static int rises(const optldp_mechanism *before, const optldp_mechanism *now) {
    int holds = before->epsilon < now->epsilon;
    for (size_t i = 0; i < now->many; i++) holds = holds && before->parts[i].epsilon < now->parts[i].epsilon;
    return holds;
}

/* What is counted of values: categories, outputs, those of keys. */
static size_t counted(const optldp_mechanism *level) {
    size_t sum = 0;
    if (level->sort == OF_NUMBERS) return level->table->outputs_many;
    if (level->sort == OF_NAMES) return level->names->size;
    if (level->sort == OF_PAIRS) return level->names->size * (1 + level->table->outputs_many);
    for (size_t i = 0; i < level->many; i++) sum += level->parts[i].table->outputs_many;
    return sum;
}

/* How many reports there are; of very many, some number above 2^32. */
static uint64_t reports_of(const optldp_categories *protocol) {
    switch (protocol->kind) {
    case ORACLE_TABLE: return protocol->outputs;
    case ORACLE_UNARY: return (uint64_t)1 << (protocol->size < 33 ? protocol->size : 33);
    case ORACLE_SUBSET: return optldp_sets(protocol->size, protocol->chosen);
    case ORACLE_HASH: return optldp_points(protocol, protocol->digits) * optldp_elements(protocol);
    default: return optldp_points(protocol, protocol->digits);
    }
}

/* Randomised response among so many levels. */
static const char *read_response(double epsilon, size_t many, optldp_categories *made) {
    uint64_t below = 0, other = OPTLDP_WHOLE, others = many - 1; /* the other share is the least that fills, rounded up */
    whole divisor, least, own, all;
    exponential_below(epsilon, &divisor);
    whole_set(&all, (int64_t)others);
    whole_shift(&all, 128);
    whole_add(&divisor, &all);
    whole_set(&least, 1);
    whole_shift(&least, 128 + 53);
    while (other - below > 1) {
        uint64_t middle = below + (other - below) / 2;
        whole filled = divisor;
        whole_times(&filled, middle);
        if (whole_sizes(&filled, &least) >= 0) other = middle;
        else below = middle;
    }
    made->epsilon = epsilon;
    made->size = made->outputs = (uint32_t)many;
    made->kind = ORACLE_TABLE;
    NEED((made->sums = arena_take(&made->memory, many * many, sizeof *made->sums)) != NULL, TOO_LITTLE_MEMORY);
    for (size_t i = 0; i < many * many; i++) {
        size_t row = i / many, j = i % many;
        made->sums[i] = (j + 1) * other + (row <= j ? OPTLDP_WHOLE - many * other : 0);
    }
    whole_set(&own, (int64_t)(OPTLDP_WHOLE - others * other));
    whole_set(&all, (int64_t)other);
    return prove_ratio(&own, &all, epsilon);
}

static const char *read_protocol(const json *protocol, const json *epsilon, optldp_mechanism *made) {
    if (protocol == NULL && epsilon->type == JSON_NULL) return NULL;
    NEED((made->names = calloc(1, sizeof *made->names)) != NULL, TOO_LITTLE_MEMORY);
    if (protocol == NULL) {
        double budget;
        TRY(need_epsilon(epsilon, &budget));
        return read_response(budget, made->many, made->names);
    }
    TRY(read_categories(protocol, 1, made->names));
    NEED(epsilon->type == JSON_NUMBER && epsilon->number == made->names->epsilon && made->names->size == made->many,
         "level_mechanism must have a category for each level and the budget level_epsilon");
    NEED(reports_of(made->names) <= MOST_LEVEL_REPORTS, "there must be at most 4096 reports of a level");
    return NULL;
}

static const char *read_level(const json *document, const json *level, optldp_mechanism *made) {
    int simple = !is_levels(level) && !is_pairs(level) && !is_bundle(level, "attributes");
    int fits = is_bundle(document, "personalised-pairs")        ? is_pairs(level)
               : is_bundle(document, "personalised-attributes") ? is_bundle(level, "attributes")
                                                                : simple;
    NEED(level->type == JSON_OBJECT && fits, "levels must be of the sort that their kind has");
    TRY(read_any(level, 1, made));
    for (size_t i = 0; made->sort == OF_ATTRIBUTES && i < made->many; i++) {
        NEED(made->sizes[i] != 5 || memcmp(made->labels[i], "level", 5) != 0, "an attribute must not be named \"level\"");
    }
    return NULL;
}

static const char *read_levels(const json *document, int inside, optldp_mechanism *made) {
    const char *keys[] = {"format", "kind", "levels", "level_epsilon", "checksum", "level_mechanism"};
    const json *levels = json_member(document, "levels"), *protocol = json_member(document, "level_mechanism");
    size_t places = 0, reports;
    made->sort = OF_LEVELS;
    NEED(!inside, "levels must stand in no other file");
    TRY(need_keys(document, keys, COUNT(keys) - (protocol == NULL)));
    TRY(take_parts(made, levels, 2));
    for (size_t i = 0; i < made->many; i++) {
        TRY(read_level(document, &levels->element[i], &made->parts[i]));
        NEED(i == 0 || are_alike(&made->parts[i - 1], &made->parts[i]), "levels must match, got others at one");
        NEED(i == 0 || rises(&made->parts[i - 1], &made->parts[i]), "levels must have rising budgets");
        if (i == 0 || made->parts[0].sort == OF_NUMBERS || made->parts[0].sort == OF_ATTRIBUTES) {
            places += counted(&made->parts[i]);
        }
    }
    made->epsilon = made->parts[made->many - 1].epsilon;
    TRY(read_protocol(protocol, json_member(document, "level_epsilon"), made));
    reports = made->names != NULL ? (size_t)reports_of(made->names) : made->many;
    NEED(reports * places <= MOST_COUNTED, "reports of levels times what is counted beside each must be at most 2^25");
    return NULL;
}

const char *read_any(const json *document, int inside, optldp_mechanism *made) {
    if (is_pairs(document)) return read_pairs(document, inside, made);
    if (is_bundle(document, "attributes")) return read_attributes(document, inside, made);
    if (is_levels(document)) return read_levels(document, inside, made);
    if (is_table(document) || is_bundle(document, "floor")) {
        made->sort = OF_NUMBERS;
        NEED((made->table = calloc(1, sizeof *made->table)) != NULL, TOO_LITTLE_MEMORY);
        NEED(is_table(document) || !inside, "a table inside a file must have the format \"optldp-table/2\"");
        TRY(is_table(document) ? read_exact_table(document, inside, made->table) : read_floor_form(document, made->table));
        made->epsilon = made->table->epsilon;
        return NULL;
    }
    made->sort = OF_NAMES;
    NEED((made->names = calloc(1, sizeof *made->names)) != NULL, TOO_LITTLE_MEMORY);
    TRY(read_categories(document, inside, made->names));
    made->epsilon = made->names->epsilon;
    return NULL;
}

static const char *read_document(arena *memory, const char *text, size_t size, optldp_mechanism *made) {
    json document;
    TRY(parse_document(memory, text, size, &document));
    TRY(need_checksum(&document, made->identifier));
    return read_any(&document, 0, made);
}

const char *optldp_read_mechanism(const char *text, size_t size, optldp_mechanism **mechanism) {
    arena memory = {NULL};
    optldp_mechanism *made = calloc(1, sizeof *made);
    const char *fault = made == NULL ? TOO_LITTLE_MEMORY : read_document(&memory, text, size, made);
    arena_free(&memory);
    if (fault != NULL) {
        optldp_free_mechanism(made);
        made = NULL;
    }
    *mechanism = made;
    return fault;
}

void empty_mechanism(optldp_mechanism *mechanism) {
    for (size_t i = 0; mechanism->parts != NULL && i < mechanism->many; i++) empty_mechanism(&mechanism->parts[i]);
    optldp_free(mechanism->table);
    optldp_free_categories(mechanism->names);
    arena_free(&mechanism->memory);
}

void optldp_free_mechanism(optldp_mechanism *mechanism) {
    if (mechanism == NULL) return;
    empty_mechanism(mechanism);
    free(mechanism);
}
