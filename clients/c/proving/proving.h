/* What both forms of a table have in common, read and proved. Every function returns NULL, or a line that says a fault. */
#ifndef OPTLDP_PROVING_H
#define OPTLDP_PROVING_H

#include "categories.h"
#include "json.h"
#include "table.h"
#include "whole.h"

#define NEED(holds, line) do { if (!(holds)) return (line); } while (0)
#define TRY(call) do { const char *fault_ = (call); if (fault_ != NULL) return fault_; } while (0)

#define MOST_SIDE 32768
extern const char *const TOO_LITTLE_MEMORY;

/* The keys that a document must have, and no others. */
const char *need_keys(const json *object, const char *const *keys, size_t many);
const char *take_numbers(arena *memory, const json *list, double **to, size_t *many);
const char *take_whole(const json *value, int64_t least, int64_t most, int64_t *to);
const char *take_wholes(arena *memory, const json *list, int64_t least, int64_t most, int64_t **to, size_t *many);

/* The file's text, within the limits of the format. */
const char *parse_document(arena *memory, const char *text, size_t size, json *document);
/* That the checksum fits; the file's name beside reports, from it. */
const char *need_checksum(const json *document, char identifier[14]);
const char *need_epsilon(const json *value, double *epsilon);
/* How a mechanism came about; whether its reports claim to be unbiased. */
const char *need_provenance(const json *origin, int *unbiased);
/* n rows of m numerators, into their running sums, with the proof of every ratio. */
const char *read_sums(arena *memory, const json *list, size_t n, size_t m, double epsilon, uint64_t **sums);
/* Categories, or keys, into their order. */
const char *read_labels(const json *list, optldp_categories *made);
/* That a ratio of whole numbers, none below 0, is at most e^epsilon. */
const char *prove_ratio(const whole *above, const whole *below, double epsilon);
/* Epsilon, knots, units, provenance and prior; whether reports claim to be unbiased. */
const char *read_around(const json *document, optldp_table *table, int *unbiased);
/* Sorted outputs that do not overlap: `low` and `high` of the table. */
const char *need_outputs(const optldp_table *table);

/* p with p / 2^128 <= e^epsilon. */
void exponential_below(double epsilon, whole *p);
/* Whether a mean is near enough to its knot: all in the same unit, `total` and `limit` being those over 2^53. */
int is_unbiased(const whole *off, const whole *width, const whole *farthest);

/* `inside`: the document stands in another one, and so has no checksum. */
const char *read_exact_table(const json *document, int inside, optldp_table *table);
const char *read_categories(const json *document, int inside, optldp_categories *made);
const char *read_floor_form(const json *document, optldp_table *table);

#endif
