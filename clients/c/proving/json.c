#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST 16

static const char *const NO_JSON = "the file must be whole JSON text, got something else";
static const char *const NO_MEMORY = "the device must have memory for the file, got too little";

typedef struct reader {
    arena *memory;
    const char *next, *end; /* a NUL stands at the end */
} reader;

static int utf8(const unsigned char *at, const unsigned char *end) {
    while (at < end) {
        unsigned char first = *at++;
        int more = first < 0x80 ? 0 : first < 0xc2 ? -1 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : -1;
        if (more < 0 || end - at < more) return 0;
        if (more > 0) {
            unsigned char least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
            unsigned char most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
            if (*at < least || *at > most) return 0;
        }
        while (more-- > 0) {
            if ((*at++ & 0xc0) != 0x80) return 0;
        }
    }
    return 1;
}

static void skip_space(reader *from) {
    while (*from->next == ' ' || *from->next == '\t' || *from->next == '\n' || *from->next == '\r') from->next++;
}

/* The number of four hexadecimal digits; -1 for others. */
static long hexadecimal(const char *digits) {
    long number = 0;
    for (int i = 0; i < 4; i++) {
        const char *all = "0123456789abcdef0123456789ABCDEF", *found = digits[i] ? strchr(all, digits[i]) : NULL;
        if (found == NULL) return -1;
        number = 16 * number + (found - all) % 16;
    }
    return number;
}

static char *put_utf8(char *to, unsigned long point) {
    if (point < 0x80) {
        *to++ = (char)point;
    } else if (point < 0x800) {
        *to++ = (char)(0xc0 | point >> 6);
        *to++ = (char)(0x80 | (point & 0x3f));
    } else if (point < 0x10000) {
        *to++ = (char)(0xe0 | point >> 12);
        *to++ = (char)(0x80 | (point >> 6 & 0x3f));
        *to++ = (char)(0x80 | (point & 0x3f));
    } else {
        *to++ = (char)(0xf0 | point >> 18);
        *to++ = (char)(0x80 | (point >> 12 & 0x3f));
        *to++ = (char)(0x80 | (point >> 6 & 0x3f));
        *to++ = (char)(0x80 | (point & 0x3f));
    }
    return to;
}

/* The character of an escape, behind its backslash. */
static const char *read_escape(reader *from, char **to) {
    static const char NAMES[] = "\"\\/bfnrt", MEANT[] = "\"\\/\b\f\n\r\t";
    char name = *from->next++;
    const char *known = name ? strchr(NAMES, name) : NULL;
    long point, second;
    if (known != NULL) {
        *(*to)++ = MEANT[known - NAMES];
        return NULL;
    }
    if (name != 'u' || (point = hexadecimal(from->next)) < 0) return NO_JSON;
    from->next += 4;
    if (point >= 0xd800 && point < 0xe000) {
        second = from->next[0] == '\\' && from->next[1] == 'u' ? hexadecimal(from->next + 2) : -1;
        if (point >= 0xdc00 || second < 0xdc00 || second >= 0xe000) return "text must be Unicode, got half a surrogate pair";
        from->next += 6;
        point = 0x10000 + (point - 0xd800) * 0x400 + (second - 0xdc00);
    }
    *to = put_utf8(*to, (unsigned long)point);
    return NULL;
}

static const char *read_text(reader *from, json *value) {
    const char *start = ++from->next, *end = start;
    char *to;
    while (*end != '"') { /* a text takes no more bytes than it is written in */
        if ((unsigned char)*end < 0x20) return NO_JSON;
        if (*end++ == '\\' && *end != '\0') end++;
    }
    value->type = JSON_TEXT;
    value->text = to = arena_take(from->memory, (size_t)(end - start) + 1, 1);
    if (to == NULL) return NO_MEMORY;
    while (from->next < end) {
        if (*from->next != '\\') {
            *to++ = *from->next++;
        } else {
            const char *fault;
            from->next++;
            fault = read_escape(from, &to);
            if (fault != NULL) return fault;
        }
    }
    value->size = (size_t)(to - value->text);
    from->next++;
    return NULL;
}

static const char *digits_from(const char *at) {
    while (*at >= '0' && *at <= '9') at++;
    return at;
}

static const char *read_number(reader *from, json *value) {
    const char *start = from->next, *at = start + (*start == '-'), *whole = digits_from(at), *next;
    uint64_t size = 0;
    char *stopped;
    if (whole == at || (*at == '0' && whole > at + 1)) return NO_JSON;
    value->type = JSON_NUMBER;
    value->whole = *whole != '.' && *whole != 'e' && *whole != 'E';
    next = whole;
    if (*next == '.') {
        next = digits_from(whole + 1);
        if (next == whole + 1) return NO_JSON;
    }
    if (*next == 'e' || *next == 'E') {
        const char *power = next + 1 + (next[1] == '+' || next[1] == '-');
        next = digits_from(power);
        if (next == power) return NO_JSON;
    }
    value->number = strtod(start, &stopped) + 0.0;
    if (stopped != next) return "the process must write a point in numbers: call setlocale(LC_NUMERIC, \"C\")";
    if (!isfinite(value->number)) return "numbers must fit in a double, got a larger one";
    if (value->number == 0) value->number = 0.0; /* not -0 */
    for (; value->whole && at < whole; at++) {
        if (size > (INT64_MAX - 9) / 10) value->whole = 0;
        size = 10 * size + (uint64_t)(*at - '0');
    }
    value->integer = value->whole ? (*start == '-' ? -(int64_t)size : (int64_t)size) : 0;
    from->next = next;
    return NULL;
}

static int by_bytes(const void *one, const void *other) {
    const json *a = one, *b = other;
    int order = memcmp(a->text, b->text, a->size < b->size ? a->size : b->size);
    return order != 0 ? order : a->size < b->size ? -1 : a->size > b->size;
}

static const char *read_value(reader *from, json *value, int depth);

/* What stands between brackets: elements, or keys and values in turn. */
static const char *read_elements(reader *from, json *value, int depth, char close, size_t each) {
    size_t room = 0, many = 0;
    const char *fault;
    from->next++;
    skip_space(from);
    while (*from->next != close || many > 0) {
        if (many + each > room) {
            json *larger = arena_take(from->memory, room = 2 * room + 8, sizeof *larger);
            if (larger == NULL) return NO_MEMORY;
            if (many > 0) memcpy(larger, value->element, many * sizeof *larger);
            value->element = larger;
        }
        if (each == 2) {
            if (*from->next != '"') return NO_JSON;
            if ((fault = read_text(from, &value->element[many++])) != NULL) return fault;
            skip_space(from);
            if (*from->next++ != ':') return NO_JSON;
        }
        if ((fault = read_value(from, &value->element[many++], depth + 1)) != NULL) return fault;
        skip_space(from);
        if (*from->next == close) break;
        if (*from->next++ != ',') return NO_JSON;
        skip_space(from);
    }
    from->next++;
    value->size = many / each;
    return NULL;
}

static const char *read_value(reader *from, json *value, int depth) {
    static const struct { const char *word; json_type type; } WORDS[] = {
        {"null", JSON_NULL}, {"true", JSON_TRUE}, {"false", JSON_FALSE}};
    const char *fault;
    if (depth > DEEPEST) return "the document must not be nested deeper than 16";
    skip_space(from);
    if (*from->next == '"') return read_text(from, value);
    if (*from->next == '[') {
        value->type = JSON_LIST;
        return read_elements(from, value, depth, ']', 1);
    }
    if (*from->next == '{') {
        value->type = JSON_OBJECT;
        if ((fault = read_elements(from, value, depth, '}', 2)) != NULL) return fault;
        if (value->size > 0) qsort(value->element, value->size, 2 * sizeof *value->element, by_bytes);
        for (size_t i = 1; i < value->size; i++) {
            if (by_bytes(&value->element[2 * i - 2], &value->element[2 * i]) == 0) return "keys must not repeat, got one twice";
        }
        return NULL;
    }
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        size_t length = strlen(WORDS[i].word);
        if (strncmp(from->next, WORDS[i].word, length) == 0) {
            value->type = WORDS[i].type;
            from->next += length;
            return NULL;
        }
    }
    return read_number(from, value);
}

const char *json_parse(arena *memory, const char *text, size_t size, json *document) {
    char *copy;
    reader from;
    const char *fault;
    if (!utf8((const unsigned char *)text, (const unsigned char *)text + size)) return "the file must be text in UTF-8";
    copy = arena_take(memory, size + 1, 1); /* ends in NUL, which JSON has nowhere */
    if (copy == NULL) return NO_MEMORY;
    memcpy(copy, text, size);
    from.memory = memory;
    from.next = copy;
    from.end = copy + size;
    memset(document, 0, sizeof *document);
    if ((fault = read_value(&from, document, 0)) != NULL) return fault;
    skip_space(&from);
    return from.next == from.end ? NULL : NO_JSON;
}

int json_is(const json *value, const char *text) {
    return value != NULL && value->type == JSON_TEXT && value->size == strlen(text) &&
           memcmp(value->text, text, value->size) == 0;
}

const json *json_member(const json *object, const char *key) {
    if (object->type != JSON_OBJECT) return NULL;
    for (size_t i = 0; i < object->size; i++) {
        if (json_is(&object->element[2 * i], key)) return &object->element[2 * i + 1];
    }
    return NULL;
}
