/* Any mechanism as the parts of the client know it: one of the others, or several of them together. */
#ifndef OPTLDP_COMBINED_H
#define OPTLDP_COMBINED_H

#include "words.h"

typedef enum { OF_NUMBERS, OF_NAMES, OF_PAIRS, OF_ATTRIBUTES, OF_LEVELS } sort_of_value;

struct optldp_mechanism {
    arena memory; /* of parts, fakes and names; each part has its own besides */
    sort_of_value sort;
    double epsilon;
    char identifier[14];
    optldp_table *table;      /* of numbers, and of the values of pairs */
    optldp_categories *names; /* of categories; of pairs their keys; of levels how a level is told: NULL, in the clear */
    optldp_mechanism *parts;  /* attributes, or levels by rising budgets */
    size_t many;              /* of these */
    const char **labels;      /* of attributes */
    size_t *sizes;            /* bytes of each of these */
    size_t sampled;           /* attributes that are reported */
    size_t padding;           /* pairs that every user holds at least, be they dummies */
    int apart;                /* each key is shown or not by itself, else one place of all is shown */
    uint64_t own, other;      /* how often, in 2^53, the own key's place is shown, and each other one */
    uint64_t *fakes;          /* numerators up to and with each output at places that are not the user's */
};

/* A report of a value as a line of docs/report-format.md, by the next words, where the value is known to be right. */
optldp_status optldp_take_line(const optldp_mechanism *from, const optldp_value *value, word_source *words, char *line);
/* Whether the mechanism takes a value. */
int optldp_takes(const optldp_mechanism *from, const optldp_value *value);
/* A number as files hold it: the shortest decimal number that is the very double. `text` has room for 32 bytes. */
void optldp_number_text(double number, char *text);
/* How many sets of so many there are; of more than 2^32, some number above that. */
uint64_t optldp_sets(uint64_t size, uint64_t chosen);

#endif
