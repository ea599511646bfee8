/* Memory that is freed together. */
#ifndef OPTLDP_ARENA_H
#define OPTLDP_ARENA_H

#include <stddef.h>

typedef struct arena {
    void *last;
} arena;

/* Zeroed memory for so many elements, or NULL where there is none. */
void *arena_take(arena *memory, size_t many, size_t size);
/* Clears and frees all of it: a state that was read holds reports. */
void arena_free(arena *memory);

#endif
