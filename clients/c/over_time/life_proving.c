/* From a file to rows or a tree: a table that is proved private, weights of signs, and shares of users. */
#include "combined_proving.h"
#include "way_proving.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define MOST_ROWS 10000

static const char *read_table(const json *inner, const json *document, optldp_way *made) {
    TRY(read_mechanism(inner, document, made));
    NEED(made->mechanism->sort == OF_NUMBERS, "the mechanism must be a table of numbers");
    made->most = 1;
    return need_budget(made);
}

static const char *read_users(const json *document, size_t places, optldp_way *made) {
    const json *salt = json_member(document, "salt");
    NEED(salt->type != JSON_NULL, "there must be a salt");
    TRY(read_salt(salt, made));
    return read_shares(json_member(document, "shares"), places, made);
}

static const char *read_row(const json *row, double *weights, uint32_t periods, int *tells) {
    int weighs = 0;
    double sum = 0.0;
    for (uint32_t i = 0; i < periods; i++) {
        NEED(row->element[i].type == JSON_NUMBER, "weights must be numbers");
        weights[i] = row->element[i].number;
        weighs = weighs || weights[i] != 0.0;
        sum += weights[i];
    }
    NEED(weighs, "rows must not have weights of zero alone");
    *tells = *tells || sum != 0.0;
    return NULL;
}

const char *read_rows(const json *document, optldp_way *made) {
    static const char *const KEYS[] = {"format",    "kind", "mechanism", "rows",    "shares",
                                       "variances", "salt", "stays",     "epsilon", "checksum"};
    const json *rows = json_member(document, "rows"), *stays = json_member(document, "stays");
    double *variances;
    size_t many;
    int tells = 0;
    TRY(need_keys(document, KEYS, COUNT(KEYS)));
    TRY(read_table(json_member(document, "mechanism"), document, made));
    NEED(rows->type == JSON_LIST && rows->size >= 1 && rows->size <= MOST_ROWS, "rows must be 1 to 10000");
    NEED(rows->element[0].type == JSON_LIST, "rows must be lists");
    NEED(rows->element[0].size >= 2 && rows->element[0].size <= MOST_PERIODS, "rows must have 2 to 100000 weights");
    for (size_t i = 1; i < rows->size; i++) { /* before memory is asked for */
        NEED(rows->element[i].type == JSON_LIST && rows->element[i].size == rows->element[0].size,
             "rows must have as many weights each");
    }
    made->life = ROWS;
    made->periods = made->span = (uint32_t)rows->element[0].size;
    made->weights = arena_take(&made->memory, rows->size, made->periods * sizeof *made->weights);
    NEED(made->weights != NULL, TOO_LITTLE_MEMORY);
    for (size_t i = 0; i < rows->size; i++) {
        TRY(read_row(&rows->element[i], &made->weights[i * made->periods], made->periods, &tells));
    }
    TRY(take_numbers(&made->memory, json_member(document, "variances"), &variances, &many));
    NEED(many == rows->size, "there must be a variance for each row");
    for (size_t i = 0; i < many; i++) NEED(variances[i] > 0.0, "variances must be positive");
    NEED(stays->type == JSON_FALSE || (stays->type == JSON_TRUE && tells),
         "stays must be true or false, and true of rows that tell a value that stays");
    return read_users(document, rows->size, made);
}

/* The weights of 0, 1, ... plus signs, all orders together. */
static const char *read_weights(uint64_t least, uint64_t high, uint64_t low, branch *to) {
    uint64_t orders = 1;
    whole sum, limit, weight;
    whole_set(&sum, 0);
    whole_set(&limit, (int64_t)OPTLDP_WHOLE);
    for (uint32_t plus = 0; plus <= to->many; plus++) {
        whole_set(&weight, (int64_t)(plus >= least ? high : low));
        whole_times(&weight, orders);
        whole_add(&sum, &weight);
        NEED(whole_sizes(&sum, &limit) <= 0, "weights of signs must sum to at most 2^53");
        to->weights[plus] = (uint64_t)whole_value(&weight);
        orders = orders * (to->many - plus) / (plus + 1);
    }
    return NULL;
}

static const char *read_branch(const json *value, uint32_t periods, double epsilon, arena *memory, branch *to) {
    int64_t *number;
    size_t many;
    whole above, below;
    TRY(take_wholes(memory, value, 1, (int64_t)OPTLDP_WHOLE, &number, &many));
    NEED(many == 5, "a branch must be five whole numbers");
    NEED(number[0] < periods && number[2] <= number[1] && number[1] <= MOST_SIGNS && number[4] <= number[3],
         "a branch must have numbers in their ranges");
    to->step = (uint32_t)number[0];
    to->many = (uint32_t)number[1];
    whole_set(&above, number[3]);
    whole_set(&below, number[4]);
    TRY(prove_ratio(&above, &below, epsilon));
    return read_weights((uint64_t)number[2], (uint64_t)number[3], (uint64_t)number[4], to);
}

const char *read_tree(const json *document, optldp_way *made) {
    static const char *const KEYS[] = {"format",   "kind",     "table", "periods", "shares",
                                       "branches", "variance", "salt",  "epsilon", "checksum"};
    const json *branches = json_member(document, "branches"), *variance = json_member(document, "variance");
    int64_t periods;
    char *steps; /* that some branch has */
    TRY(need_keys(document, KEYS, COUNT(KEYS)));
    TRY(read_table(json_member(document, "table"), document, made));
    TRY(take_whole(json_member(document, "periods"), 2, MOST_PERIODS, &periods));
    made->life = TREE;
    made->periods = made->span = (uint32_t)periods;
    NEED(branches->type == JSON_LIST && branches->size < MOST_PERIODS, "branches must be a list, of different steps");
    made->branches = arena_take(&made->memory, branches->size, sizeof *made->branches);
    steps = arena_take(&made->memory, made->periods, 1);
    NEED(made->branches != NULL && steps != NULL, TOO_LITTLE_MEMORY);
    for (size_t i = 0; i < branches->size; i++) {
        TRY(read_branch(&branches->element[i], made->periods, made->epsilon, &made->memory, &made->branches[i]));
        NEED(!steps[made->branches[i].step], "branches must have different steps");
        steps[made->branches[i].step] = 1;
    }
    NEED(variance->type == JSON_NUMBER && variance->number > 0.0, "variance must be positive");
    return read_users(document, made->periods + branches->size, made);
}
