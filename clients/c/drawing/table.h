/* A table as the parts of the client know it. */
#ifndef OPTLDP_TABLE_H
#define OPTLDP_TABLE_H

#include "arena.h"
#include "optldp.h"

#define OPTLDP_WHOLE ((uint64_t)1 << 53) /* the denominator of all probabilities */
#define OPTLDP_DIGITS 64                 /* of a geometric number: those of probability 2^-54 and more are fewer */

struct optldp_table {
    arena memory; /* of all that is pointed at */
    double epsilon;
    char identifier[14];
    char *units; /* in UTF-8; may hold NUL */
    size_t units_size, knots_many, outputs_many, refuges_many, odds_many;
    double *knots;
    double *low, *high, *top;   /* of each output; top: its largest report */
    double *hidden, *refuges;   /* points inside cells, rising, and where a report of a cell that equals one goes */
    uint64_t *sums;             /* of a table, row by row: numerators up to and with each output; NULL of a floor form */
    uint64_t *floors, *edges;   /* of a floor form: sums of floors and of extras up to and with each output */
    uint64_t *starts, width;    /* where the window of each row begins, and how wide it is */
    size_t cells;               /* 1 where some output is no point, else 0 */
    double step;                /* of geometric tails */
    uint64_t odds[OPTLDP_DIGITS]; /* how often, in 2^53, each binary digit of a number of steps is one */
};

/* Whether a value is a number from the first knot to the last. */
int optldp_has(const optldp_table *table, double value);

/* The number of the knot that a value it has is rounded to, by an offset from 0 to 1. */
size_t optldp_rounded(const optldp_table *table, double value, double offset);

/* Clears what could undo the noise of a report. */
void optldp_clear(void *bytes, size_t size);

/* Fills bytes from the platform's secure generator; 0, or -1 where it fails or gives too little. */
int optldp_random(void *bytes, size_t size);

#endif
