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

typedef struct memory { /* a text of a device; it may be told to stop when that is written */
    char *text;
    size_t size;
    int begins; /* whether there may be a first text in spite of that, as of a mark of nothing */
    int crashes;
} memory;

static char *copied(const char *text, size_t size) {
    char *copy = text == NULL ? NULL : malloc(size + 1);
    if (copy != NULL) memcpy(copy, text, size);
    return copy;
}

static int read_memory(void *context, char **text, size_t *size) {
    const memory *from = context;
    *text = copied(from->text, from->size);
    *size = from->size;
    return 0;
}

static int write_memory(void *context, const char *text, size_t size) {
    memory *to = context;
    if (to->crashes && !(to->begins && to->text == NULL)) return -1;
    free(to->text);
    to->text = copied(text, size);
    to->size = size;
    return to->text == NULL ? -1 : 0;
}

/* Happens to a state before a step. */
static void befall(const json *first, memory *state, memory *copy) {
    memory *to = json_is(first, "keep") ? copy : state, *from = json_is(first, "keep") ? state : copy;
    if (first == NULL) return;
    free(to->text);
    to->text = json_is(first, "lose") ? NULL : copied(from->text, from->size);
    to->size = from->size;
}

/* Reports in periods, with a state that is kept, put back, lost, or not written. */
static void answer_life(const optldp_way *way, const char *user, const json *steps) {
    memory state = {NULL, 0, 0, 0}, mark = {NULL, 0, 1, 0}, copy = {NULL, 0, 0, 0};
    const optldp_place kept = {&state, read_memory, write_memory}, marked = {&mark, read_memory, write_memory};
    char *report = malloc(optldp_way_report_size(way));
    for (size_t i = 0; report != NULL && i < steps->size; i++) {
        const json *step = &steps->element[i], *value = json_member(step, "value"), *crash = json_member(step, "crash");
        const json *other = json_member(step, "document"), *asks = json_member(step, "user");
        const optldp_value given = {.number = value->number, .name = value->text};
        const char *said = "{\"crashed\": true}";
        optldp_way *asked = NULL; /* another than the state's */
        befall(json_member(step, "first"), &state, &copy);
        state.crashes = json_is(crash, "state");
        mark.crashes = json_is(crash, "mark");
        words = json_member(step, "words");
        used = 0;
        fputs(i == 0 ? "{\"answers\": [" : ", ", stdout);
        if (other != NULL && optldp_read_way(other->text, other->size, &asked) != NULL) break;
        switch (optldp_way_report(asked == NULL ? way : asked, asks == NULL ? user : asks->text,
                                  (uint32_t)json_member(step, "period")->integer, &given, &kept, &marked, report)) {
        case OPTLDP_OK:
            if (!json_is(crash, "report")) said = *report == '\0' ? "{\"sent\": null}" : NULL;
            break;
        case OPTLDP_NO_PLACE: break;
        case OPTLDP_NO_RANDOMNESS: said = "{\"stopped\": true}"; break;
        case OPTLDP_NO_STATE: said = "{\"refused\": true}"; break;
        default: said = "{\"skipped\": true}";
        }
        optldp_free_way(asked);
        if (said != NULL) fputs(said, stdout);
        else printf("{\"sent\": \"%s\"}", report);
    }
    puts("]}");
    free(report);
    free(state.text);
    free(mark.text);
    free(copy.text);
}

typedef struct mechanism { /* one of the four */
    optldp_table *table;
    optldp_categories *categories;
    optldp_mechanism *combined;
    optldp_way *way;
} mechanism;

static int is_over_time(const json *kind) {
    return json_is(kind, "panel") || json_is(kind, "memoised") || json_is(kind, "rows") || json_is(kind, "tree");
}

static int is_combined(const json *kind) {
    static const char *const KINDS[] = {"key-value-unary", "key-value-response", "attributes", "personalised",
                                        "personalised-pairs", "personalised-attributes"};
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++) {
        if (json_is(kind, KINDS[i])) return 1;
    }
    return 0;
}

/* Bundles but the floor form, those of several parts and ways over time are categories'. */
static const char *read_one(const char *text, size_t size, mechanism *made) {
    arena memory = {NULL};
    json document;
    int bundle = json_parse(&memory, text, size, &document) == NULL && document.type == JSON_OBJECT &&
                 json_is(json_member(&document, "format"), "optldp-bundle/1") &&
                 !json_is(json_member(&document, "kind"), "floor");
    const json *kind = bundle ? json_member(&document, "kind") : NULL;
    int way = is_over_time(kind), combined = is_combined(kind);
    arena_free(&memory);
    *made = (mechanism){NULL, NULL, NULL, NULL};
    if (way) return optldp_read_way(text, size, &made->way);
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
    } else if (json_is(json_member(&asked, "do"), "live") && made.way != NULL) {
        answer_life(made.way, json_member(&asked, "user")->text, json_member(&asked, "steps"));
    } else if (json_is(json_member(&asked, "do"), "draw") && made.way == NULL) {
        answer_draws(&made, json_member(&asked, "draws"));
    } else {
        puts("{\"skipped\": \"a task unknown to this client\"}");
    }
    if (document != NULL) {
        optldp_free(made.table);
        optldp_free_categories(made.categories);
        optldp_free_mechanism(made.combined);
        optldp_free_way(made.way);
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
