/* Answers the vectors of clients/conformance, a line of JSON each: `python -m clients.conformance c`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "table.h"

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

typedef struct mechanism { /* one of the two */
    optldp_table *table;
    optldp_categories *categories;
} mechanism;

/* Bundles but the floor form are categories'. */
static const char *read_either(const char *text, size_t size, mechanism *made) {
    arena memory = {NULL};
    json document;
    int bundle = json_parse(&memory, text, size, &document) == NULL && document.type == JSON_OBJECT &&
                 json_is(json_member(&document, "format"), "optldp-bundle/1") &&
                 !json_is(json_member(&document, "kind"), "floor");
    arena_free(&memory);
    *made = (mechanism){NULL, NULL};
    return bundle ? optldp_read_categories(text, size, &made->categories) : optldp_read(text, size, &made->table);
}

static optldp_status put_report(const mechanism *from, const json *value, const char *before) {
    optldp_status status;
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
    } else if ((fault = read_either(document->text, document->size, &made)) != NULL) {
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
