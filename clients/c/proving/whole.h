/* Whole numbers of up to 2048 bits, as many as the proofs of all doubles that a file may hold take. */
#ifndef OPTLDP_WHOLE_H
#define OPTLDP_WHOLE_H

#include <stdint.h>

#define WHOLE_LIMBS 64

typedef struct whole {
    int negative;
    int used; /* limbs that count, the lowest first; none of 0 */
    uint32_t limb[WHOLE_LIMBS];
} whole;

void whole_set(whole *to, int64_t value);
/* A finite double in units of 2^unit, of which it must be a multiple. */
void whole_of(whole *to, double value, int unit);
/* The largest unit, or more than that by none, of which a double is a multiple: 2^unit. */
int whole_unit(double value);
void whole_add(whole *to, const whole *other);
void whole_subtract(whole *to, const whole *other);
void whole_times(whole *to, uint64_t factor);
void whole_product(whole *to, const whole *one, const whole *other);
/* Times 2^bits, or without its last -bits. */
void whole_shift(whole *to, int bits);
void whole_over(whole *to, uint32_t divisor);
/* -1, 0 or 1 as the size of one, without its sign, is less than, equal to or above that of the other. */
int whole_sizes(const whole *one, const whole *other);
/* The number, where it is from 0 to INT64_MAX, else -1. */
int64_t whole_value(const whole *from);

#endif
