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
    OPTLDP_NO_MEMORY      /* the device had too little memory to draw a set: nothing was drawn */
} optldp_status;

/* Reads a file's UTF-8 text. NULL, and the table in *table; or a line that says why it is refused, and NULL in *table. */
const char *optldp_read(const char *text, size_t size, optldp_table **table);

/* Frees a table; NULL is allowed. */
void optldp_free(optldp_table *table);

/* Draws the number of an output, from 0. Each draw of a value spends the table's epsilon again. */
optldp_status optldp_index(const optldp_table *table, double value, uint32_t *index);

/* Draws a report, in the units of the table. */
optldp_status optldp_report(const optldp_table *table, double value, double *report);

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

#ifdef __cplusplus
}
#endif
#endif
