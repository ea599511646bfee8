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

static void answer_draws(const optldp_table *table, const json *draws) {
    for (size_t i = 0; i < draws->size; i++) {
        double report = NAN;
        optldp_status status;
        words = json_member(&draws->element[i], "words");
        used = 0;
        status = optldp_report(table, json_member(&draws->element[i], "value")->number, &report);
        if (status == OPTLDP_NO_RANDOMNESS) {
            puts("{\"stopped\": true}");
            return;
        }
        printf("%s%.17g", i == 0 ? "{\"reports\": [" : ", ", report);
    }
    puts("]}");
}

static void answer(const char *line, size_t size) {
    arena memory = {NULL};
    json asked;
    optldp_table *table;
    const char *fault = json_parse(&memory, line, size, &asked);
    const json *document = fault == NULL ? json_member(&asked, "document") : NULL;
    if (document == NULL) {
        puts("{\"skipped\": \"a line that this client cannot read\"}");
    } else if ((fault = optldp_read(document->text, document->size, &table)) != NULL) {
        printf("{\"accepted\": false, \"reason\": \"");
        for (; *fault != '\0'; fault++) printf(*fault == '"' ? "\\%c" : "%c", *fault);
        puts("\"}");
    } else if (json_is(json_member(&asked, "do"), "read")) {
        puts("{\"accepted\": true}");
    } else if (json_is(json_member(&asked, "do"), "draw")) {
        answer_draws(table, json_member(&asked, "draws"));
    } else {
        puts("{\"skipped\": \"a task unknown to this client\"}");
    }
    if (document != NULL) optldp_free(table);
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
