/* A mechanism for categories as the parts of the client know it. */
#ifndef OPTLDP_CATEGORIES_H
#define OPTLDP_CATEGORIES_H

#include "arena.h"
#include "optldp.h"

#define OPTLDP_DEGREE 8 /* of the largest power of a prime that is a field's size: 2^8 */

typedef enum { ORACLE_TABLE, ORACLE_UNARY, ORACLE_SUBSET, ORACLE_HASH, ORACLE_GEOMETRY } oracle_kind;

typedef struct category {
    const char *label;
    uint32_t code;
} category;

struct optldp_categories {
    arena memory; /* of all that is pointed at */
    double epsilon;
    char identifier[14];
    uint32_t size;
    category *sorted; /* by the bytes of their labels */
    oracle_kind kind;
    uint64_t own, other; /* over 2^53: of bits, of sets that hold the own one, of hashes, of points that support it */
    uint32_t outputs;    /* of a table */
    uint64_t *sums;      /* of a table, row by row: numerators up to and with each output */
    uint32_t chosen;     /* of a set */
    uint32_t digits;     /* of a category's number in the field of prime^degree elements, or entries of its point */
    uint32_t prime, degree, tail[OPTLDP_DEGREE]; /* tail: the coefficients below the highest of its polynomial */
};

uint64_t optldp_power(uint64_t base, uint32_t exponent);
/* The elements of the field, and the points of so many entries over it: vectors whose first that is not zero is one. */
uint64_t optldp_elements(const optldp_categories *from);
uint64_t optldp_points(const optldp_categories *from, uint32_t digits);

/* The category of a name; NULL where there is none. */
const category *optldp_found(const optldp_categories *from, const char *label);

#endif
