/* JSON, strictly: keys of an object differ, numbers fit in doubles, and whole ones are kept exactly. */
#ifndef OPTLDP_JSON_H
#define OPTLDP_JSON_H

#include <stdint.h>

#include "arena.h"

typedef enum { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_TEXT, JSON_LIST, JSON_OBJECT } json_type;

typedef struct json {
    json_type type;
    int whole;            /* of a number: written without point or exponent, and in the range of int64_t */
    int64_t integer;      /* of such a one */
    double number;        /* finite, and not -0 */
    const char *text;     /* in UTF-8; may hold NUL */
    size_t size;          /* bytes of a text, elements of a list, members of an object */
    struct json *element; /* of a list; of an object keys and values in turn, in the order of the keys' bytes */
} json;

/* Parses a text. NULL, or a line that says what is wrong. */
const char *json_parse(arena *memory, const char *text, size_t size, json *document);
/* The value of a key; NULL where there is none. */
const json *json_member(const json *object, const char *key);
/* Whether a value is this text. */
int json_is(const json *value, const char *text);

#endif
