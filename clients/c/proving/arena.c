#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef union block {
    struct {
        union block *before;
        size_t size;
    } head;
    double aligned;
} block;

static void *(*const volatile set)(void *, int, size_t) = memset; /* a call that no compiler leaves out */

void *arena_take(arena *memory, size_t many, size_t size) {
    block *made;
    if (size != 0 && many > (SIZE_MAX - sizeof(block)) / size) return NULL;
    made = calloc(1, sizeof(block) + many * size);
    if (made == NULL) return NULL;
    made->head.before = memory->last;
    made->head.size = many * size;
    memory->last = made;
    return made + 1;
}

void arena_free(arena *memory) {
    block *each = memory->last;
    while (each != NULL) {
        block *before = each->head.before;
        set(each + 1, 0, each->head.size);
        free(each);
        each = before;
    }
    memory->last = NULL;
}
