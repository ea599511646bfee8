/* Sets of pairs of a key and a number (docs/bundle-format.md): their document, and the proof of its ratios. */
#include <stdlib.h>

#include "combined_proving.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define MOST_OUTPUTS ((1 << 15) - 2) /* of the values */
#define MOST_PADDING (1 << 20)
#define WHOLE ((int64_t)OPTLDP_WHOLE)

typedef struct fraction {
    whole above, below;
} fraction;

static int is_less(const fraction *one, const fraction *than) {
    whole left, right;
    whole_product(&left, &one->above, &than->below);
    whole_product(&right, &than->above, &one->below);
    return whole_sizes(&left, &right) < 0;
}

static const char *prove_fractions(const fraction *most, const fraction *least, double epsilon) {
    whole above, below;
    whole_product(&above, &most->above, &least->below);
    whole_product(&below, &most->below, &least->above);
    return prove_ratio(&above, &below, epsilon);
}

/* number share, as a whole number. */
static void product_of(whole *to, uint64_t number, uint64_t share) {
    whole_set(to, (int64_t)number);
    whole_times(to, share);
}

/* That a pair is what it is so often: `sampled` of 2^53, and else another one's place is shown with a fake output. */
static void mix(fraction *of, uint64_t sampled) {
    whole rest = of->below;
    whole_times(&of->above, sampled);
    whole_times(&rest, OPTLDP_WHOLE - sampled);
    whole_add(&of->above, &rest);
    whole_times(&of->below, OPTLDP_WHOLE);
}

/* The least and the largest numerator of an output of the values. */
static void range_of(const optldp_table *table, size_t j, uint64_t *least, uint64_t *most) {
    *least = UINT64_MAX;
    *most = 0;
    for (size_t i = 0; i < table->knots_many; i++) {
        const uint64_t *sums = table->sums + i * table->outputs_many;
        uint64_t each = sums[j] - (j > 0 ? sums[j - 1] : 0);
        if (each < *least) *least = each;
        if (each > *most) *most = each;
    }
}

static const char *prove_pairs(const optldp_mechanism *pairs) {
    uint64_t held = pairs->padding > 1 ? pairs->padding : 1;
    uint64_t sampled = (OPTLDP_WHOLE + held - 1) / held; /* of 2^53: how likely a pair is sampled at most */
    fraction one, most_of_all, least_of_all;
    whole_set(&one.above, 1);
    whole_set(&one.below, 1);
    most_of_all = one;
    whole_set(&most_of_all.above, 0);
    whole_set(&least_of_all.above, WHOLE - (int64_t)pairs->own); /* where a key is hidden */
    whole_set(&least_of_all.below, WHOLE - (int64_t)pairs->other);
    for (size_t j = 0; j < pairs->table->outputs_many; j++) {
        uint64_t fake = fake_of(pairs, j), smallest, largest;
        fraction most, least;
        range_of(pairs->table, j, &smallest, &largest);
        if (fake == 0) {
            NEED(largest == 0, "an output that the value table has must be among the fake ones");
            continue;
        }
        product_of(&most.above, largest, pairs->own);
        product_of(&most.below, fake, pairs->other);
        product_of(&least.above, smallest, pairs->own);
        least.below = most.below;
        if (pairs->apart) {
            if (is_less(&most_of_all, &most)) most_of_all = most;
            if (is_less(&least, &least_of_all)) least_of_all = least;
            continue;
        }
        mix(&most, sampled);
        mix(&least, sampled);
        TRY(prove_fractions(is_less(&most, &one) ? &one : &most, is_less(&one, &least) ? &one : &least, pairs->epsilon));
    }
    return pairs->apart ? prove_fractions(&most_of_all, &least_of_all, pairs->epsilon) : NULL;
}

uint64_t fake_of(const optldp_mechanism *pairs, size_t j) { return pairs->fakes[j] - (j > 0 ? pairs->fakes[j - 1] : 0); }

const char *read_pairs(const json *document, int inside, optldp_mechanism *made) {
    static const char *const KEYS[] = {"format", "kind", "keys", "epsilon", "provenance", "value", "padding",
                                       "denominator", "fake", "own", "other", "checksum"};
    int64_t denominator, padding, own, other;
    whole shares, rest;
    int unbiased;
    made->sort = OF_PAIRS;
    made->apart = json_is(json_member(document, "kind"), "key-value-unary");
    TRY(need_keys(document, KEYS, COUNT(KEYS) - (size_t)inside));
    NEED((made->names = calloc(1, sizeof *made->names)) && (made->table = calloc(1, sizeof *made->table)), TOO_LITTLE_MEMORY);
    TRY(read_labels(json_member(document, "keys"), made->names));
    TRY(read_inner_table(json_member(document, "value"), made->table));
    TRY(take_whole(json_member(document, "denominator"), WHOLE, WHOLE, &denominator));
    TRY(need_provenance(json_member(document, "provenance"), &unbiased));
    TRY(need_epsilon(json_member(document, "epsilon"), &made->epsilon));
    NEED(made->table->outputs_many <= MOST_OUTPUTS, "the value table must have at most 32766 outputs");
    NEED(made->names->size * made->table->outputs_many <= MOST_COUNTED, "keys times outputs must be at most 2^25");
    TRY(take_whole(json_member(document, "padding"), 0, MOST_PADDING, &padding));
    TRY(read_sums(&made->memory, json_member(document, "fake"), 1, made->table->outputs_many, made->epsilon, &made->fakes));
    TRY(take_whole(json_member(document, "own"), 1, WHOLE - 1, &own));
    TRY(take_whole(json_member(document, "other"), 1, WHOLE - 1, &other));
    NEED(other < own, "other must be below own");
    product_of(&shares, (uint64_t)other, made->names->size + (uint64_t)padding - 1);
    whole_set(&rest, WHOLE - own);
    NEED(made->apart || whole_sizes(&shares, &rest) == 0, "own must leave equal shares of 2^53 to the others");
    made->padding = (size_t)padding;
    made->own = (uint64_t)own;
    made->other = (uint64_t)other;
    return prove_pairs(made);
}
