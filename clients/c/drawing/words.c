#include "words.h"

int take_word(word_source *from, uint64_t *word) {
    if (from->next == from->many) {
        from->many = from->expected > OPTLDP_POOL ? OPTLDP_POOL : from->expected > 0 ? from->expected : 1;
        from->expected -= from->many < from->expected ? from->many : from->expected;
        from->next = 0;
        if (optldp_random(from->pool, from->many * sizeof from->pool[0]) != 0) return -1;
    }
    *word = from->pool[from->next++];
    return 0;
}

int take_below(word_source *from, uint64_t bound, uint64_t *to) {
    uint64_t rest = (0 - bound) % bound; /* 2^64 modulo the bound */
    do {
        if (take_word(from, to) != 0) return -1;
    } while (rest != 0 && *to >= 0 - rest);
    *to %= bound;
    return 0;
}
