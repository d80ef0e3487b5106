/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of hosts as users write them, and which rank goes where.
 *
 * Owns: the texts of a struct host_list. Called by run_hosts.c. Calls: boot/places, libc.
 * Invariants: a name is not empty and does not begin with a dash, so that ssh cannot take it for an
 * option.
 */
#ifndef TMB_TOOL_HOSTS_H
#define TMB_TOOL_HOSTS_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOSTS_WHY_BYTES 256

struct host_entry {
  char *name;     /* as ssh takes it */
  uint32_t ranks; /* that it is to have; 0: not said */
};

struct host_list {
  struct host_entry *entry;
  uint32_t count;
};

/*
 * Add the hosts of a text: NAME[:RANKS], separated by commas, blanks or ends of lines; # begins a
 * comment up to the end of its line. NAME may be USER@NAME, or [ADDRESS] for one with colons; of an
 * address with several colons and no brackets all is the name. out why: [HOSTS_WHY_BYTES], with the
 * number of the line where there are several. Returns 0 or TMB_E_ARG.
 */
int hosts_parse(struct host_list *list, const char *text, char *why);

/*
 * Decide how many ranks there are and where each runs.
 * in most: use the first so many hosts, equally many ranks on each; 0: as the list says.
 * inout ranks: 0: as many as the list says, 1 for a host without a number. out host_of: malloc'd
 * [ranks], indices into `list`, in which hosts without ranks are dropped; hosts are numbered in the
 * order of their lowest rank. Returns 0 or TMB_E_ARG.
 */
int hosts_place(struct host_list *list, uint32_t most, bool cyclic, uint32_t *ranks,
                uint32_t **host_of, char *why);

void hosts_free(struct host_list *list);

#endif
