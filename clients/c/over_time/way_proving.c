/* From a file to a way of reporting over time whose mechanism is proved private, and whose budgets add up. */
#include <stdlib.h>
#include <string.h>

#include "combined_proving.h"
#include "way_proving.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define MOST_TOTAL INT32_MAX /* of shares */
#define BUDGET_UNIT (-80)    /* all budgets are whole numbers of 2^-80 */

const char *need_budget(const optldp_way *way) {
    whole spent, limit;
    whole_of(&spent, way->mechanism->epsilon, BUDGET_UNIT);
    whole_times(&spent, way->most);
    whole_of(&limit, way->epsilon, BUDGET_UNIT);
    NEED(whole_sizes(&spent, &limit) <= 0, "all reports of a user must spend at most epsilon");
    return NULL;
}

const char *read_mechanism(const json *inner, const json *document, optldp_way *made) {
    NEED((made->mechanism = calloc(1, sizeof *made->mechanism)) != NULL, TOO_LITTLE_MEMORY);
    TRY(read_any(inner, 1, made->mechanism));
    NEED(made->mechanism->sort == OF_NUMBERS || made->mechanism->sort == OF_NAMES,
         "a way must be of a table or of a mechanism for categories");
    return need_epsilon(json_member(document, "epsilon"), &made->epsilon);
}

static const char *read_shared(const json *document, optldp_way *made) {
    int64_t periods;
    TRY(read_mechanism(json_member(document, "mechanism"), document, made));
    TRY(take_whole(json_member(document, "periods"), 2, MOST_PERIODS, &periods));
    made->periods = made->span = (uint32_t)periods;
    return NULL;
}

static const char *read_memoised(const json *document, optldp_way *made) {
    static const char *const KEYS[] = {"format", "kind", "mechanism", "periods", "epsilon", "values", "checksum"};
    int64_t values;
    TRY(need_keys(document, KEYS, COUNT(KEYS)));
    TRY(read_shared(document, made));
    TRY(take_whole(json_member(document, "values"), 1, made->periods, &values));
    made->remembers = 1;
    made->most = (uint32_t)values;
    return need_budget(made);
}

const char *read_salt(const json *value, optldp_way *made) {
    if (value->type == JSON_NULL) return NULL;
    NEED(value->type == JSON_TEXT && value->size == 32, "the salt must be 32 hexadecimal digits");
    for (size_t i = 0; i < 32; i++) {
        static const char DIGITS[] = "0123456789abcdef";
        const char *digit = memchr(DIGITS, value->text[i], 16);
        NEED(digit != NULL, "the salt must be 32 hexadecimal digits");
        made->salt[i / 2] = (unsigned char)(made->salt[i / 2] << 4 | (digit - DIGITS));
    }
    made->has_salt = 1;
    return NULL;
}

const char *read_shares(const json *value, size_t places, optldp_way *made) {
    int64_t total = 0;
    size_t many;
    TRY(take_wholes(&made->memory, value, 0, MOST_TOTAL, &made->shares, &many));
    for (size_t i = 0; i < many; i++) total += made->shares[i]; /* of at most 2^25 shares */
    NEED(many == places, "there must be a share for each period, row or branch");
    NEED(total >= 1 && total <= MOST_TOTAL, "shares must have a sum from 1 to 2^31 - 1");
    made->places = many;
    return NULL;
}

static const char *read_panel(const json *document, optldp_way *made) {
    static const char *const KEYS[] = {"format", "kind",   "mechanism", "periods", "epsilon",
                                       "reports", "salt", "shares",    "span",    "checksum"};
    const json *span = json_member(document, "span"), *shares = json_member(document, "shares");
    int64_t within, reports;
    TRY(need_keys(document, KEYS, COUNT(KEYS)));
    TRY(read_shared(document, made));
    within = made->periods;
    if (span->type != JSON_NULL) TRY(take_whole(span, 1, made->periods, &within));
    TRY(take_whole(json_member(document, "reports"), 1, within, &reports));
    made->span = (uint32_t)within;
    made->most = (uint32_t)reports;
    TRY(need_budget(made));
    TRY(read_salt(json_member(document, "salt"), made));
    if (shares->type == JSON_NULL) return NULL;
    NEED(span->type == JSON_NULL && made->most == 1, "shares must be of one report of a user, without a span");
    return read_shares(shares, made->periods, made);
}

static const char *read_document(arena *memory, const char *text, size_t size, optldp_way *made) {
    json document;
    TRY(parse_document(memory, text, size, &document));
    TRY(need_checksum(&document, made->identifier));
    NEED(json_is(json_member(&document, "format"), "optldp-bundle/1"), "a file must be a bundle of a way over time");
    if (json_is(json_member(&document, "kind"), "memoised")) return read_memoised(&document, made);
    if (json_is(json_member(&document, "kind"), "rows")) return read_rows(&document, made);
    if (json_is(json_member(&document, "kind"), "tree")) return read_tree(&document, made);
    NEED(json_is(json_member(&document, "kind"), "panel"), "a file must be a bundle of kind panel, memoised, rows or tree");
    return read_panel(&document, made);
}

const char *optldp_read_way(const char *text, size_t size, optldp_way **way) {
    arena memory = {NULL};
    optldp_way *made = calloc(1, sizeof *made);
    const char *fault = made == NULL ? TOO_LITTLE_MEMORY : read_document(&memory, text, size, made);
    arena_free(&memory);
    if (fault != NULL) {
        optldp_free_way(made);
        made = NULL;
    }
    *way = made;
    return fault;
}

void optldp_free_way(optldp_way *way) {
    if (way == NULL) return;
    optldp_free_mechanism(way->mechanism);
    arena_free(&way->memory);
    free(way);
}
