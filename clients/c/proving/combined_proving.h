/* What has several parts, read and proved. Every function returns NULL, or a line that says a fault. */
#ifndef OPTLDP_COMBINED_PROVING_H
#define OPTLDP_COMBINED_PROVING_H

#include "combined.h"
#include "proving.h"

#define MOST_COUNTED ((size_t)1 << 25)

const char *read_pairs(const json *document, int inside, optldp_mechanism *made);
/* A table that stands in another document. */
const char *read_inner_table(const json *document, optldp_table *made);
/* How often, in 2^53, an output stands at places that are not the user's. */
uint64_t fake_of(const optldp_mechanism *pairs, size_t j);
/* A mechanism of any sort; `inside`: it stands in another document. */
const char *read_any(const json *document, int inside, optldp_mechanism *made);
/* Frees what a mechanism holds, not itself. */
void empty_mechanism(optldp_mechanism *mechanism);

#endif
