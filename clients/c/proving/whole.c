#include "whole.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void trim(whole *to) {
    while (to->used > 0 && to->limb[to->used - 1] == 0) to->used--;
    if (to->used == 0) to->negative = 0;
}

/* The formats bound all numbers, so that a limb too many is a fault of this client: stop rather than prove wrongly. */
static void push(whole *to, uint32_t limb) {
    if (to->used == WHOLE_LIMBS) abort();
    to->limb[to->used++] = limb;
}

void whole_set(whole *to, int64_t value) {
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    to->negative = value < 0;
    to->used = 0;
    push(to, (uint32_t)size);
    push(to, (uint32_t)(size >> 32));
    trim(to);
}

int whole_unit(double value) {
    int exponent = 0;
    frexp(value, &exponent);
    return exponent - 53;
}

void whole_of(whole *to, double value, int unit) {
    int exponent = 0;
    double share = frexp(value, &exponent);
    whole_set(to, (int64_t)ldexp(share, 53));
    if (to->used > 0) whole_shift(to, exponent - 53 - unit);
}

int whole_sizes(const whole *one, const whole *other) {
    if (one->used != other->used) return one->used < other->used ? -1 : 1;
    for (int i = one->used; i-- > 0;) {
        if (one->limb[i] != other->limb[i]) return one->limb[i] < other->limb[i] ? -1 : 1;
    }
    return 0;
}

/* Adds the sizes, or takes the smaller from the larger one. */
static void combine(whole *to, const whole *other, int negative) {
    if (to->negative == negative || other->used == 0 || to->used == 0) {
        uint64_t carry = 0;
        if (to->used == 0) to->negative = negative;
        while (to->used < other->used) push(to, 0);
        for (int i = 0; i < to->used; i++) {
            carry += (uint64_t)to->limb[i] + (i < other->used ? other->limb[i] : 0);
            to->limb[i] = (uint32_t)carry;
            carry >>= 32;
        }
        if (carry > 0) push(to, (uint32_t)carry);
    } else {
        int larger = whole_sizes(to, other) >= 0;
        int64_t borrow = 0;
        while (to->used < other->used) push(to, 0);
        for (int i = 0; i < to->used; i++) {
            int64_t mine = to->limb[i], theirs = i < other->used ? other->limb[i] : 0;
            int64_t left = (larger ? mine - theirs : theirs - mine) - borrow;
            borrow = left < 0;
            to->limb[i] = (uint32_t)(left + (borrow << 32));
        }
        if (!larger) to->negative = negative;
    }
    trim(to);
}

void whole_add(whole *to, const whole *other) { combine(to, other, other->negative); }

void whole_subtract(whole *to, const whole *other) { combine(to, other, !other->negative); }

void whole_times(whole *to, uint64_t factor) {
    whole upper = *to;
    uint32_t parts[2] = {(uint32_t)factor, (uint32_t)(factor >> 32)};
    whole *numbers[2] = {to, &upper};
    for (int k = 0; k < 2; k++) {
        uint64_t carry = 0;
        for (int i = 0; i < numbers[k]->used; i++) {
            carry += (uint64_t)numbers[k]->limb[i] * parts[k];
            numbers[k]->limb[i] = (uint32_t)carry;
            carry >>= 32;
        }
        if (carry > 0) push(numbers[k], (uint32_t)carry);
        trim(numbers[k]);
    }
    if (upper.used > 0) {
        whole_shift(&upper, 32);
        if (to->used == 0) to->negative = upper.negative;
        whole_add(to, &upper);
    }
}

void whole_shift(whole *to, int bits) {
    int limbs = abs(bits) / 32, rest = abs(bits) % 32, used = to->used;
    if (used == 0 || bits == 0) return;
    if (bits > 0) {
        for (int i = 0; i <= limbs; i++) push(to, 0);
        for (int i = to->used - 1; i >= 0; i--) {
            uint64_t high = i - limbs >= 0 && i - limbs < used ? to->limb[i - limbs] : 0;
            uint64_t low = i - limbs - 1 >= 0 && i - limbs - 1 < used ? to->limb[i - limbs - 1] : 0;
            to->limb[i] = (uint32_t)((high << 32 | low) << rest >> 32);
        }
    } else {
        for (int i = 0; i < used; i++) {
            uint64_t low = i + limbs < used ? to->limb[i + limbs] : 0;
            uint64_t high = i + limbs + 1 < used ? to->limb[i + limbs + 1] : 0;
            to->limb[i] = (uint32_t)((high << 32 | low) >> rest);
        }
    }
    trim(to);
}

void whole_product(whole *to, const whole *one, const whole *other) {
    whole part;
    int negative = one->negative != other->negative;
    whole_set(to, 0);
    for (int i = other->used; i-- > 0;) {
        part = *one;
        part.negative = 0;
        whole_times(&part, other->limb[i]);
        whole_shift(to, 32);
        whole_add(to, &part);
    }
    to->negative = negative && to->used > 0;
}

void whole_over(whole *to, uint32_t divisor) {
    uint64_t rest = 0;
    for (int i = to->used; i-- > 0;) {
        rest = rest << 32 | to->limb[i];
        to->limb[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
    trim(to);
}

int64_t whole_value(const whole *from) {
    uint64_t size = (from->used > 0 ? from->limb[0] : 0) | (uint64_t)(from->used > 1 ? from->limb[1] : 0) << 32;
    return from->negative || from->used > 2 || size > INT64_MAX ? -1 : (int64_t)size;
}
