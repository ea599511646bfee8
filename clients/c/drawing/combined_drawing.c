/* Drawing of what has several parts: docs/bundle-format.md has the order in which they take their words. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "combined.h"

#define EXPECTED 8        /* words asked for at first; more follow as they are needed */
#define NUMBER 32         /* bytes of a number */
#define SHOWN 24          /* of a key's place, its output and the marks around */
#define MOST_ATTRIBUTES 256

static int has_pairs(const optldp_mechanism *from, const optldp_value *value) {
    if (value->many == 0) return from->padding > 0;
    if (value->pairs == NULL) return 0;
    for (size_t i = 0; i < value->many; i++) {
        const optldp_pair *pair = &value->pairs[i];
        if (pair->key == NULL || optldp_found(from->names, pair->key) == NULL) return 0;
        if (!optldp_has(from->table, pair->value)) return 0;
        for (size_t k = 0; k < i; k++) {
            if (strcmp(value->pairs[k].key, pair->key) == 0) return 0;
        }
    }
    return 1;
}

int optldp_takes(const optldp_mechanism *from, const optldp_value *value) {
    switch (from->sort) {
    case OF_NUMBERS: return optldp_has(from->table, value->number);
    case OF_NAMES: return value->name != NULL && optldp_found(from->names, value->name) != NULL;
    case OF_PAIRS: return has_pairs(from, value);
    case OF_LEVELS: return value->level < from->many && optldp_takes(&from->parts[value->level], value);
    default:
        if (value->many != from->many || value->numbers == NULL) return 0;
        for (size_t i = 0; i < from->many; i++) {
            if (!optldp_has(from->parts[i].table, value->numbers[i])) return 0;
        }
        return 1;
    }
}

/* Adds one to the last of decimal digits with a point among them; 0 where that takes a digit more. */
static int raise_digits(char *digits, size_t many) {
    while (many-- > 0) {
        if (digits[many] < '0' || digits[many] > '9') continue;
        if (digits[many]++ != '9') return 1;
        digits[many] = '0';
    }
    return 0;
}

void optldp_number_text(double number, char *text) {
    char digits[NUMBER];
    int exponent, places = 0, found = 0;
    number = number == 0 ? 0.0 : number; /* not -0 */
    while (!found) { /* 17 digits tell all doubles apart */
        size_t end;
        snprintf(digits, sizeof digits, "%.*e", places, number);
        end = strcspn(digits, "e");
        found = strtod(digits, NULL) == number;
        if (!found && raise_digits(digits, end)) found = strtod(digits, NULL) == number;
        places += !found;
    }
    exponent = atoi(digits + strcspn(digits, "e") + 1);
    if (number == 0 || (exponent >= -4 && exponent < 16)) {
        int behind = places - exponent;
        snprintf(text, NUMBER, "%.*f", behind > 1 ? behind : 1, strtod(digits, NULL));
    } else {
        snprintf(text, NUMBER, "%s", digits); /* exponents have two digits at least, in C as in files */
    }
    optldp_clear(digits, sizeof digits);
}

static optldp_status take_number(const optldp_table *table, double value, word_source *words, char *line) {
    double report;
    if (optldp_take_report(table, value, words, &report) != 0) return OPTLDP_NO_RANDOMNESS;
    optldp_number_text(report, line);
    return OPTLDP_OK;
}

static optldp_status take_attributes(const optldp_mechanism *from, const double *numbers, word_source *words, char *line) {
    uint16_t order[MOST_ATTRIBUTES];
    char chosen[MOST_ATTRIBUTES] = {0};
    for (size_t i = 0; i < from->many; i++) order[i] = (uint16_t)i;
    for (size_t i = 0; i < from->sampled; i++) { /* the first steps of a Fisher-Yates shuffle */
        uint64_t word;
        if (take_below(words, from->many - i, &word) != 0) return OPTLDP_NO_RANDOMNESS;
        chosen[order[i + word]] = 1;
        order[i + word] = order[i];
    }
    for (size_t i = 0; i < from->many; i++) {
        if (i > 0) *line++ = ',';
        *line = '\0';
        if (!chosen[i]) continue;
        optldp_status status = take_number(from->parts[i].table, numbers[i], words, line);
        if (status != OPTLDP_OK) return status;
        line += strlen(line);
    }
    return OPTLDP_OK;
}

/* The number of an output that says nothing. */
static int take_fake(const optldp_mechanism *from, word_source *words, uint32_t *output) {
    uint32_t first = 0, left = (uint32_t)from->table->outputs_many;
    uint64_t word;
    if (take_word(words, &word) != 0) return -1;
    while (left > 1) { /* the first output whose sum is above the word is among first .. first + left - 1 */
        uint32_t half = left / 2;
        if (from->fakes[first + half - 1] <= word >> 11) first += half;
        left -= half;
    }
    *output = first;
    return 0;
}

static int put_pair(char *line, uint32_t place, uint32_t output) {
    return snprintf(line, SHOWN, "%" PRIu32 ":%" PRIu32, place, output);
}

/* Each key by itself: the one at `place` with its own output, each other one with a fake one. */
static optldp_status take_apart(const optldp_mechanism *from, uint64_t place, uint32_t output, word_source *words,
                                char *line) {
    char *start = line;
    for (uint32_t key = 0; key < from->names->size; key++) {
        uint64_t word;
        uint32_t fake;
        if (take_word(words, &word) != 0 || take_fake(from, words, &fake) != 0) return OPTLDP_NO_RANDOMNESS;
        if (word >> 11 >= (key == place ? from->own : from->other)) continue;
        if (line > start) *line++ = ';';
        line += put_pair(line, key, key == place ? output : fake);
    }
    if (line == start) strcpy(line, "-");
    return OPTLDP_OK;
}

static optldp_status take_pairs(const optldp_mechanism *from, const optldp_value *value, word_source *words, char *line) {
    uint64_t keys = from->names->size, held = value->many > from->padding ? value->many : from->padding, word, place;
    uint32_t output, fake, step = 0;
    double number = from->table->knots[0]; /* of a dummy */
    if (take_word(words, &word) != 0) return OPTLDP_NO_RANDOMNESS;
    word = (word >> 11) % (held > 0 ? held : 1);
    place = keys + word;
    if (word < value->many) {
        place = optldp_found(from->names, value->pairs[word].key)->code;
        number = value->pairs[word].value;
    }
    if (optldp_take_index(from->table, number, words, &output) != 0) return OPTLDP_NO_RANDOMNESS;
    if (from->apart) return take_apart(from, place, output, words, line);
    if (take_word(words, &word) != 0 || take_fake(from, words, &fake) != 0) return OPTLDP_NO_RANDOMNESS;
    if (word >> 11 >= from->own) step = 1 + (uint32_t)(((word >> 11) - from->own) / from->other);
    put_pair(line, (uint32_t)((place + step) % (keys + from->padding)), step == 0 && place < keys ? output : fake);
    return OPTLDP_OK;
}

uint64_t optldp_sets(uint64_t size, uint64_t chosen) {
    uint64_t sets = 1;
    if (chosen > size) return 0;
    for (uint64_t i = 1; i <= (chosen < size - chosen ? chosen : size - chosen) && sets <= (uint64_t)1 << 32; i++) {
        sets = sets * (size - i + 1) / i;
    }
    return sets;
}

/* A report's place among all of them: of bits as binary digits, of sets in the order of their members. */
static uint64_t number_of_report(const optldp_categories *protocol, const char *report) {
    uint64_t number = 0, left = protocol->chosen;
    if (protocol->kind != ORACLE_UNARY && protocol->kind != ORACLE_SUBSET) return strtoull(report, NULL, 10);
    for (uint32_t k = 0; k < protocol->size; k++) {
        char digit = report[k / 4];
        int one = (digit <= '9' ? digit - '0' : digit - 'a' + 10) >> (3 - k % 4) & 1;
        if (protocol->kind == ORACLE_UNARY) number = 2 * number + (uint64_t)one;
        else if (one) left--;
        else if (left > 0) number += optldp_sets(protocol->size - k - 1, left - 1); /* those that hold k come before */
    }
    return number;
}

/* The value's report takes its words first, but stands behind its level. */
static optldp_status take_level(const optldp_mechanism *from, const optldp_value *value, word_source *words, char *line) {
    uint64_t told = value->level;
    char *behind = line + NUMBER, level[NUMBER];
    optldp_status status = optldp_take_line(&from->parts[value->level], value, words, behind);
    if (status == OPTLDP_OK && from->names != NULL) {
        char *report = malloc(optldp_category_report_size(from->names));
        if (report == NULL) return OPTLDP_NO_MEMORY;
        status = optldp_take_category(from->names, value->level, words, report);
        if (status == OPTLDP_OK) told = number_of_report(from->names, report);
        free(report);
    }
    if (status != OPTLDP_OK) return status;
    snprintf(level, sizeof level, "%" PRIu64 ",", told);
    memmove(line + strlen(level), behind, strlen(behind) + 1);
    memcpy(line, level, strlen(level));
    return OPTLDP_OK;
}

optldp_status optldp_take_line(const optldp_mechanism *from, const optldp_value *value, word_source *words, char *line) {
    const category *own;
    switch (from->sort) {
    case OF_NUMBERS: return take_number(from->table, value->number, words, line);
    case OF_PAIRS: return take_pairs(from, value, words, line);
    case OF_ATTRIBUTES: return take_attributes(from, value->numbers, words, line);
    case OF_LEVELS: return take_level(from, value, words, line);
    default:
        own = optldp_found(from->names, value->name);
        return own == NULL ? OPTLDP_NOT_IN_DOMAIN : optldp_take_category(from->names, own->code, words, line);
    }
}

size_t optldp_line_size(const optldp_mechanism *from) {
    size_t most = 0;
    switch (from->sort) {
    case OF_NUMBERS: return NUMBER;
    case OF_NAMES: return optldp_category_report_size(from->names);
    case OF_PAIRS: return from->apart ? SHOWN * (size_t)from->names->size + 1 : SHOWN + 1;
    case OF_ATTRIBUTES: return (NUMBER + 1) * from->many;
    default:
        for (size_t i = 0; i < from->many; i++) {
            size_t size = optldp_line_size(&from->parts[i]);
            if (size > most) most = size;
        }
        return NUMBER + most;
    }
}

optldp_status optldp_line(const optldp_mechanism *from, const optldp_value *value, char *line) {
    word_source words = {{0}, 0, 0, EXPECTED};
    optldp_status status = OPTLDP_NOT_IN_DOMAIN;
    memset(line, '\0', optldp_line_size(from));
    if (!optldp_takes(from, value)) return status;
    status = optldp_take_line(from, value, &words, line);
    optldp_clear(&words, sizeof words);
    if (status != OPTLDP_OK) optldp_clear(line, optldp_line_size(from)); /* nothing of a draw that was stopped may leave */
    return status;
}

double optldp_mechanism_epsilon(const optldp_mechanism *from) { return from->epsilon; }

const char *optldp_mechanism_identifier(const optldp_mechanism *from) { return from->identifier; }
