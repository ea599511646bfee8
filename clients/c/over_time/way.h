/* A way of reporting over time as the parts of the client know it, and what a device keeps of it. */
#ifndef OPTLDP_WAY_H
#define OPTLDP_WAY_H

#include "combined.h"

#define MOST_SIGNS 32

typedef enum { NO_LIFE, ROWS, TREE } whole_life;

typedef struct branch { /* users who send a sign whenever so many periods end, by signs that are drawn together */
    uint32_t step, many;
    uint64_t weights[MOST_SIGNS + 1]; /* of 0, 1, ... plus signs, all orders together */
} branch;

struct optldp_way {
    arena memory; /* of shares, weights and branches */
    optldp_mechanism *mechanism;
    uint32_t periods;
    double epsilon;
    char identifier[14];
    int remembers;  /* draws of each different value; else a user reports in some of the periods */
    uint32_t most;  /* different values that are remembered, or reports of a user */
    uint32_t span;  /* within which these reports stand; all periods, where there is none */
    int has_salt;   /* else each device draws its turns */
    unsigned char salt[16];
    int64_t *shares; /* of each period, row or branch; NULL: all periods alike */
    size_t places;   /* of these */
    whole_life life; /* reports of one budget for a whole history */
    double *weights; /* of periods, row by row */
    branch *branches;
};

typedef struct kept_text { /* of a period, or of the place of a value */
    uint64_t key;
    const char *text;
} kept_text;

typedef struct kept_texts {
    kept_text *all;
    size_t many;
} kept_texts;

#define NONE UINT64_MAX /* no offset, no place */

/* A state. Numbers of periods are from 1 on, 0 for none. */
typedef struct kept {
    arena memory;
    uint64_t number;    /* how often it was written */
    uint64_t latest;    /* the last period that was asked for */
    uint64_t lost;      /* until this period another copy may have sent reports that this one does not hold */
    int has_turns;      /* whether the device has drawn them */
    uint64_t *turns;
    size_t turns_many;
    uint64_t offset;    /* of rounding to knots, over 2^53 */
    uint64_t last;      /* the place that was sent last */
    kept_texts reports; /* what was sent, by period */
    kept_texts draws;   /* of values that are remembered: each one's report by its place; of rows the values by period */
    char signs[MOST_SIGNS + 2]; /* of a branch: its own when the last block ended, and those that are not used; or none */
} kept;

/* The text of a key; NULL where there is none. */
const char *kept_find(const kept_texts *from, uint64_t key);
/* Adds a copy of a text; 0, or -1 where there is too little memory. */
int kept_add(kept *state, kept_texts *to, uint64_t key, const char *text);

/* What a state of an owner says, or nothing yet; what a copy that was further may have sent counts as spent. `marked`: whether
   there is a mark. Free the memory of `to` in every case. */
optldp_status kept_read(const optldp_place *state, const optldp_place *mark, const char *owner, kept *to, int *marked);
optldp_status kept_write(const kept *from, const char *owner, const optldp_place *state);
optldp_status kept_write_mark(const kept *from, const optldp_place *mark);

/* Whether a user of a place is to report in a period. */
int life_turn(const optldp_way *way, size_t place, uint32_t period);
/* Keeps what a later report needs of a period, in turn or not: of a row the first value of each period until its report is
   drawn, of a branch its signs, unless another copy of the state may have drawn them. */
optldp_status life_note(const optldp_way *way, size_t place, uint32_t period, const optldp_value *value, kept *state);
/* Draws a report; "" where another copy may have sent it. */
optldp_status life_draw(const optldp_way *way, size_t place, const optldp_value *value, kept *state, char *report);

#endif
