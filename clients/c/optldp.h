/* Draws private reports by mechanisms that optldp designed: numbers by exact tables and floor forms (docs/table-format.md),
   categories by tables, unary encodings, sets, local hashing and projective geometry (docs/bundle-format.md). C99. */
#ifndef OPTLDP_H
#define OPTLDP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A table that is proved private. It is read only: threads may share one. */
typedef struct optldp_table optldp_table;

typedef enum {
    OPTLDP_OK = 0,
    OPTLDP_NOT_IN_DOMAIN, /* the value is no number from the first knot to the last, or none of the categories */
    OPTLDP_NO_RANDOMNESS, /* the platform's secure generator failed or gave too little: nothing was drawn */
    OPTLDP_NO_MEMORY,     /* the device had too little memory: nothing was drawn */
    OPTLDP_NO_USER,       /* the user is no text of 1 to 1024 characters */
    OPTLDP_NO_PERIOD,     /* the period is none from 1 to the last */
    OPTLDP_NO_STATE,      /* the state or its mark is another way's or user's, or was altered */
    OPTLDP_NO_PLACE       /* the state or its mark cannot be read or written: nothing may be sent */
} optldp_status;

/* Reads a file's UTF-8 text. NULL, and the table in *table; or a line that says why it is refused, and NULL in *table. */
const char *optldp_read(const char *text, size_t size, optldp_table **table);

/* Frees a table; NULL is allowed. */
void optldp_free(optldp_table *table);

/* Draws the number of an output, from 0. Each draw of a value spends the table's epsilon again. */
optldp_status optldp_index(const optldp_table *table, double value, uint32_t *index);

/* Draws a report, in the units of the table. */
optldp_status optldp_report(const optldp_table *table, double value, double *report);

#define OPTLDP_ROW_SIZE 128 /* bytes of a row, its NUL included */

/* Draws an output as a row to send, in JSON: the table's name, the output, the day in UTC, and fresh randomness that says
   nothing of user or value (docs/report-format.md). One that is sent again must be the same row. `now` is time(NULL), in seconds
   since 1970. */
optldp_status optldp_row(const optldp_table *table, double value, int64_t now, char row[OPTLDP_ROW_SIZE]);

/* What the table says: its budget, the ends of its domain, the number of its outputs, its name in files of reports. */
double optldp_epsilon(const optldp_table *table);
void optldp_domain(const optldp_table *table, double *first, double *last);
uint32_t optldp_outputs(const optldp_table *table);
const char *optldp_identifier(const optldp_table *table);

/* A mechanism for categories that is proved private. It is read only: threads may share one. */
typedef struct optldp_categories optldp_categories;

/* Reads and frees one, as the functions of tables do. */
const char *optldp_read_categories(const char *text, size_t size, optldp_categories **categories);
void optldp_free_categories(optldp_categories *categories);

/* Bytes that a report takes, its NUL included. */
size_t optldp_category_report_size(const optldp_categories *categories);

/* Draws a report of a category, by its name in UTF-8, as a file holds it. Each draw spends epsilon again. */
optldp_status optldp_category_report(const optldp_categories *categories, const char *value, char *report);

double optldp_categories_epsilon(const optldp_categories *categories);
const char *optldp_categories_identifier(const optldp_categories *categories);

/* Any mechanism that is proved private: of the two above, of sets of pairs of a key and a number, of several numbers, or of
   any of these at levels of privacy that users choose. It is read only: threads may share one. */
typedef struct optldp_mechanism optldp_mechanism;

typedef struct optldp_pair {
    const char *key; /* in UTF-8 */
    double value;
} optldp_pair;

/* A value. Which members count follows from the mechanism; put 0 and NULL in all others. */
typedef struct optldp_value {
    double number;            /* of a table */
    const char *name;         /* of categories, in UTF-8 */
    const double *numbers;    /* of several attributes, `many` of them: one for each */
    const optldp_pair *pairs; /* `many` of them, each key once */
    size_t many;
    uint32_t level; /* by which the value is reported, of mechanisms at levels: 0 is the most private */
} optldp_value;

/* Reads and frees one, as the functions of tables do. */
const char *optldp_read_mechanism(const char *text, size_t size, optldp_mechanism **mechanism);
void optldp_free_mechanism(optldp_mechanism *mechanism);

/* Bytes that a line takes, its NUL included. */
size_t optldp_line_size(const optldp_mechanism *mechanism);

/* Draws a report as a line of docs/report-format.md, its cells with commas between; a level's cell has its number. Each draw
   of a value spends epsilon again. No word is asked for before the whole value is known to be right. */
optldp_status optldp_line(const optldp_mechanism *mechanism, const optldp_value *value, char *line);

/* The budget, of levels the largest; the name in files of reports. */
double optldp_mechanism_epsilon(const optldp_mechanism *mechanism);
const char *optldp_mechanism_identifier(const optldp_mechanism *mechanism);

/* A way of reporting over time that is proved private: a panel, draws that are remembered, rows or a tree. */
typedef struct optldp_way optldp_way;

/* Where a device keeps a text. Both functions return 0, or -1 where they fail. */
typedef struct optldp_place {
    void *context; /* handed to both */
    /* The text, in memory of malloc that the client frees; NULL where nothing was written yet. */
    int (*read)(void *context, char **text, size_t *size);
    /* Puts a text in its place, whole or not at all, and on disk when this returns. */
    int (*write)(void *context, const char *text, size_t size);
} optldp_place;

/* The file of a path, its owner's alone (POSIX; compile file_place.c). The path must live as long as the place. */
optldp_place optldp_file_place(char *path);

/* Reads and frees one, as the functions of tables do. */
const char *optldp_read_way(const char *text, size_t size, optldp_way **way);
void optldp_free_way(optldp_way *way);

/* Bytes that a report takes, its NUL included. */
size_t optldp_way_report_size(const optldp_way *way);

/* The report of a user, by the name in UTF-8, in a period from 1 on, as a file holds it; "" where nothing is to be sent.
   It is in the state before this returns. The same period has the same report again, whatever the value is, and after a later
   period was asked for an earlier one has no new one. A state that is missing or behind its mark counts as spent until there:
   keep the mark where it is not restored or lost together with the state. One thread at a time may ask. */
optldp_status optldp_way_report(const optldp_way *way, const char *user, uint32_t period, const optldp_value *value,
                                const optldp_place *state, const optldp_place *mark, char *report);

/* The last period; the budget of a user's reports, of remembered draws what docs/bundle-format.md says and nothing else; the
   name in files of reports. */
uint32_t optldp_way_periods(const optldp_way *way);
double optldp_way_epsilon(const optldp_way *way);
const char *optldp_way_identifier(const optldp_way *way);

#ifdef __cplusplus
}
#endif
#endif
