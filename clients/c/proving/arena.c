#include "arena.h"

#include <stdint.h>
#include <stdlib.h>

typedef union block {
    union block *before;
    double aligned;
} block;

void *arena_take(arena *memory, size_t many, size_t size) {
    block *made;
    if (size != 0 && many > (SIZE_MAX - sizeof(block)) / size) return NULL;
    made = calloc(1, sizeof(block) + many * size);
    if (made == NULL) return NULL;
    made->before = memory->last;
    memory->last = made;
    return made + 1;
}

void arena_free(arena *memory) {
    block *each = memory->last;
    while (each != NULL) {
        block *before = each->before;
        free(each);
        each = before;
    }
    memory->last = NULL;
}
