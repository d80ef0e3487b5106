/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text that says which algorithm to use: the table of `tombolo tune`, and TOMBOLO_COLL_ALG.
 *
 * Owns: declarations of table.c. Called by tuning.c and tests. Calls: select.h's table of
 * algorithms. Table: one rule a line, "collective ranks_min ranks_max bytes algorithm radix
 * segment"; it holds for teams of ranks_min..ranks_max members and vectors or blocks of at most
 * `bytes` bytes; the first rule that fits is used; # begins a comment. A line "where network hosts
 * ranks_per_host" says for which jobs the rules below it hold: a network is a conduit's name or
 * none, a number N or A-B, and * is any. Invariants: pure functions
 * of the text; a text with an error changes nothing.
 */
#ifndef TMB_COLL_TABLE_H
#define TMB_COLL_TABLE_H

#include "coll/select/select.h"

#include <stddef.h>

/* Number of a kind, TMB_COLL_KINDS when there is none of that name. */
uint32_t tmb_coll_kind_find(const char *name);

/* The fault in a text: the number of the line (0 where there is one only), and the reason. */
struct tmb_coll_table_error {
  uint32_t line;
  char why[256];
};

/* Parse a table. out rules: [*count], to be freed by the caller. Returns false with *error set, and
 * sets nothing else. */
bool tmb_coll_table_parse(const char *text, struct tmb_coll_rule **rules, uint32_t *count,
                          struct tmb_coll_table_error *error);

/* Keep the rules that hold for a job, in their order. inout count: of `rules`. */
void tmb_coll_table_keep(struct tmb_coll_rule *rules, uint32_t *count,
                         const struct tmb_coll_site *job);

/* Parse "kind=algorithm[:radix[:segment]],..."; the kind "all" means all that have the algorithm,
 * and a later word replaces an earlier one. out forced: [TMB_COLL_KINDS]; entries not named stay.
 * Returns as tmb_coll_table_parse. */
bool tmb_coll_forced_parse(const char *text, struct tmb_coll_forced *forced,
                           struct tmb_coll_table_error *error);

#endif
