/* What the readers of all ways over time share. Every function returns NULL, or a line that says a fault. */
#ifndef OPTLDP_WAY_PROVING_H
#define OPTLDP_WAY_PROVING_H

#include "proving.h"
#include "way.h"

#define MOST_PERIODS 100000

/* The mechanism, proved, and the budget of a document. */
const char *read_mechanism(const json *inner, const json *document, optldp_way *made);
/* That so many reports of a user as `most` says spend at most epsilon. */
const char *need_budget(const optldp_way *way);
/* 32 hexadecimal digits, or null. */
const char *read_salt(const json *value, optldp_way *made);
/* One for each place. */
const char *read_shares(const json *value, size_t places, optldp_way *made);

const char *read_rows(const json *document, optldp_way *made);
const char *read_tree(const json *document, optldp_way *made);

#endif
