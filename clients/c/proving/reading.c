/* From a file's text to a table that is proved private. */
#include <stdlib.h>

#include "proving.h"

#define MOST_BYTES ((size_t)1 << 25)
#define MOST_PARSED ((size_t)160 << 20)
#define MOST_DIGITS 4000

/* What the text would take once parsed, by the count of docs/table-format.md, and how long its numbers are. */
static const char *need_modest(const char *text, size_t size) {
    size_t parts = size, digits = 0;
    NEED(size <= MOST_BYTES, "a file must be at most 2^25 bytes");
    for (size_t i = 0; i < size; i++) {
        char each = text[i];
        parts += each == ',' ? 40 : each == '[' ? 500 : each == '{' || each == ':' ? 2000 : 0;
        digits = each >= '0' && each <= '9' ? digits + 1 : 0;
        NEED(digits <= MOST_DIGITS, "a number must have at most 4000 digits in a row");
    }
    NEED(parts <= MOST_PARSED, "a file must have fewer members and elements");
    return NULL;
}

const char *parse_document(arena *memory, const char *text, size_t size, json *document) {
    TRY(need_modest(text, size));
    TRY(json_parse(memory, text, size, document));
    NEED(document->type == JSON_OBJECT, "the file must be an object");
    return NULL;
}

static const char *read_document(arena *memory, const char *text, size_t size, optldp_table *table) {
    json document;
    TRY(parse_document(memory, text, size, &document));
    if (json_is(json_member(&document, "format"), "optldp-table/2")) return read_exact_table(&document, 0, table);
    NEED(json_is(json_member(&document, "format"), "optldp-bundle/1") && json_is(json_member(&document, "kind"), "floor"),
         "a file must be of the format \"optldp-table/2\", or a bundle of kind \"floor\"");
    return read_floor_form(&document, table);
}

const char *optldp_read(const char *text, size_t size, optldp_table **table) {
    arena memory = {NULL};
    optldp_table *made = calloc(1, sizeof *made);
    const char *fault = made == NULL ? TOO_LITTLE_MEMORY : read_document(&memory, text, size, made);
    arena_free(&memory);
    if (fault != NULL) {
        optldp_free(made);
        made = NULL;
    }
    *table = made;
    return fault;
}

void optldp_free(optldp_table *table) {
    if (table == NULL) return;
    arena_free(&table->memory);
    free(table);
}
