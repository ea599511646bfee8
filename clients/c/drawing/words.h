/* Random words one by one, for draws that do not know how many they take; and what takes them. */
#ifndef OPTLDP_WORDS_H
#define OPTLDP_WORDS_H

#include "categories.h"
#include "table.h"

#define OPTLDP_POOL 32 /* words that are asked for at once */

/* Words in their order; `expected` are those that the draw is known to take beyond the pool. Clear it after use. */
typedef struct word_source {
    uint64_t pool[OPTLDP_POOL];
    size_t next, many, expected;
} word_source;

/* The next word; 0, or -1 where the generator fails. So all that take words. */
int take_word(word_source *from, uint64_t *word);
/* A whole number below a bound; words that would favour some are drawn again. */
int take_below(word_source *from, uint64_t bound, uint64_t *to);

/* Of a value that the table has. */
int optldp_take_index(const optldp_table *table, double value, word_source *from, uint32_t *index);
int optldp_take_report(const optldp_table *table, double value, word_source *from, double *report);
/* Of a category's number. */
optldp_status optldp_take_category(const optldp_categories *from, uint32_t code, word_source *words, char *report);

#endif
