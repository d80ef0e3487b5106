/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places: which rank is on which host.
 *
 * Owns nothing: the table belongs to struct tmb_boot, which fills it when the process joins. Read
 * by core, handed to conduits; made by launchers. Any placement is possible: blocks, cyclic,
 * unequal hosts, one rank a host; ranks of one host need not be consecutive. Invariants: hosts are
 * numbered from 0 in the order of their lowest rank; near_rank is ascending.
 */
#ifndef TMB_BOOT_PLACES_H
#define TMB_BOOT_PLACES_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tmb_places {
  uint32_t size, hosts; /* ranks and hosts of the job */
  uint32_t host;        /* of this rank */
  uint32_t near_count;  /* ranks of this host */
  uint32_t near_index;  /* of this rank among them */
  uint32_t *host_of;    /* [size] */
  uint32_t *near_of;    /* [size] index of a rank among the ranks of its own host */
  uint32_t *near_rank;  /* [near_count] ranks of this host */
};

/* Whether a rank is on this host. */
static inline bool tmb_places_near(const struct tmb_places *places, uint32_t rank) {
  return places->host_of[rank] == places->host;
}

/*
 * Fill the table. out places: owned by the caller, released by tmb_places_close. in host_of:
 * [size], copied; NULL: all on one host. in rank: this rank. Returns 0 or TMB_E_NOMEM.
 */
int tmb_places_open(struct tmb_places *places, uint32_t rank, uint32_t size,
                    const uint32_t *host_of);

/* Release the arrays; `places` is zeroed. */
void tmb_places_close(struct tmb_places *places);

/*
 * Read a placement that a user has written: "H" (H hosts, blocks as equal as possible, the first
 * ones longer), "cyclic:H", or a list of one host for each rank, "0,1,0,2". Hosts are renumbered in
 * the order of their lowest rank.
 * in text: NULL or "": one host. out host_of: [size]. out hosts: how many there are, at most size.
 * out why: [why_bytes] the fault, for a message. Returns 0 or TMB_E_ARG.
 */
int tmb_places_parse(const char *text, uint32_t size, uint32_t *host_of, uint32_t *hosts, char *why,
                     size_t why_bytes);

#endif
