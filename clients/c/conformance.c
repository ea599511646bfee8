/* Answers the vectors of clients/conformance, a line of JSON each: `python -m clients.conformance c`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "combined.h"
#include "json.h"

static const json *words; /* of the draw that is asked for; in place of random.c */
static size_t used;

int optldp_random(void *bytes, size_t size) {
    unsigned char *to = bytes;
    if (words->size == 0) return -1;
    for (size_t i = 0; i < size; i += 8, used++) { /* beyond those given all are 0 */
        uint64_t word = used < words->size ? strtoull(words->element[used].text, NULL, 16) : 0;
        memcpy(to + i, &word, 8);
    }
    return 0;
}

typedef struct mechanism { /* one of the three */
    optldp_table *table;
    optldp_categories *categories;
    optldp_mechanism *combined;
} mechanism;

static int is_combined(const json *kind) {
    static const char *const KINDS[] = {"key-value-unary", "key-value-response", "attributes", "personalised",
                                        "personalised-pairs", "personalised-attributes"};
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++) {
        if (json_is(kind, KINDS[i])) return 1;
    }
    return 0;
}

/* Bundles but the floor form and those of several parts are categories'. */
static const char *read_one(const char *text, size_t size, mechanism *made) {
    arena memory = {NULL};
    json document;
    int bundle = json_parse(&memory, text, size, &document) == NULL && document.type == JSON_OBJECT &&
                 json_is(json_member(&document, "format"), "optldp-bundle/1") &&
                 !json_is(json_member(&document, "kind"), "floor");
    int combined = bundle && is_combined(json_member(&document, "kind"));
    arena_free(&memory);
    *made = (mechanism){NULL, NULL, NULL};
    if (combined) return optldp_read_mechanism(text, size, &made->combined);
    return bundle ? optldp_read_categories(text, size, &made->categories) : optldp_read(text, size, &made->table);
}

#define MOST_PAIRS 256

/* The parts of a value of several, and maybe its level; 0 where there are too many. */
static int take_parts(const json *list, double *numbers, optldp_pair *pairs, optldp_value *value) {
    if (list->size > MOST_PAIRS) return 0;
    value->numbers = numbers;
    value->pairs = pairs;
    value->many = list->size;
    for (size_t i = 0; i < list->size; i++) {
        const json *each = &list->element[i];
        numbers[i] = each->number;
        if (each->type == JSON_LIST) pairs[i] = (optldp_pair){each->element[0].text, each->element[1].number};
    }
    return 1;
}

static optldp_status put_line(const optldp_mechanism *from, const json *given, const char *before) {
    double numbers[MOST_PAIRS];
    optldp_pair pairs[MOST_PAIRS];
    optldp_value value = {0};
    optldp_status status;
    char *line = malloc(optldp_line_size(from));
    if (line == NULL) return OPTLDP_NO_MEMORY;
    if (from->sort == OF_LEVELS) {
        value.level = (uint32_t)given->element[1].integer;
        given = &given->element[0];
    }
    value.number = given->number;
    value.name = given->text;
    status = given->type != JSON_LIST || take_parts(given, numbers, pairs, &value) ? optldp_line(from, &value, line)
                                                                                  : OPTLDP_NO_MEMORY;
    if (status == OPTLDP_OK) printf("%s\"%s\"", before, line);
    free(line);
    return status;
}

static optldp_status put_report(const mechanism *from, const json *value, const char *before) {
    optldp_status status;
    if (from->combined != NULL) return put_line(from->combined, value, before);
    if (from->categories != NULL) {
        char *report = malloc(optldp_category_report_size(from->categories));
        if (report == NULL) return OPTLDP_NO_MEMORY;
        status = optldp_category_report(from->categories, value->text, report);
        if (status == OPTLDP_OK) printf("%s\"%s\"", before, report);
        free(report);
    } else {
        double report;
        status = optldp_report(from->table, value->number, &report);
        if (status == OPTLDP_OK) printf("%s%.17g", before, report);
    }
    return status;
}

static void answer_draws(const mechanism *from, const json *draws) {
    for (size_t i = 0; i < draws->size; i++) {
        words = json_member(&draws->element[i], "words");
        used = 0;
        switch (put_report(from, json_member(&draws->element[i], "value"), i == 0 ? "{\"reports\": [" : ", ")) {
        case OPTLDP_OK: break;
        case OPTLDP_NO_RANDOMNESS: puts("{\"stopped\": true}"); return;
        default: puts("{\"skipped\": \"a value that this client does not take\"}"); return;
        }
    }
    puts("]}");
}

static void answer(const char *line, size_t size) {
    arena memory = {NULL};
    json asked;
    mechanism made;
    const char *fault = json_parse(&memory, line, size, &asked);
    const json *document = fault == NULL ? json_member(&asked, "document") : NULL;
    if (document == NULL) {
        puts("{\"skipped\": \"a line that this client cannot read\"}");
    } else if ((fault = read_one(document->text, document->size, &made)) != NULL) {
        printf("{\"accepted\": false, \"reason\": \"");
        for (; *fault != '\0'; fault++) printf(*fault == '"' ? "\\%c" : "%c", *fault);
        puts("\"}");
    } else if (json_is(json_member(&asked, "do"), "read")) {
        puts("{\"accepted\": true}");
    } else if (json_is(json_member(&asked, "do"), "draw")) {
        answer_draws(&made, json_member(&asked, "draws"));
    } else {
        puts("{\"skipped\": \"a task unknown to this client\"}");
    }
    if (document != NULL) {
        optldp_free(made.table);
        optldp_free_categories(made.categories);
        optldp_free_mechanism(made.combined);
    }
    arena_free(&memory);
}

int main(void) {
    size_t room = 1 << 16, size = 0;
    char *line = malloc(room);
    for (int each; line != NULL && (each = getchar()) != EOF;) {
        if (each == '\n') {
            answer(line, size);
            size = 0;
            continue;
        }
        if (size == room) {
            char *larger = realloc(line, room *= 2);
            if (larger == NULL) free(line);
            line = larger;
            if (line == NULL) break;
        }
        line[size++] = (char)each;
    }
    if (line == NULL) return 1;
    free(line);
    return 0;
}
