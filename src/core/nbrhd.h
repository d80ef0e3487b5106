/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hosts and neighbourhoods: which ranks are near, and which of them map each other's memory.
 *
 * Owns: struct tmb_nbrhds; declarations of nbrhd.c. Called by client.c at start, read through
 * tmb_is_near, tmb_near_of and tmb_nbrhd_of (job.h). Calls: the places of boot. A neighbourhood is
 * a host, or a part of one if the user limits its size: the ranks of a host, in order, in groups of
 * `most`. Invariants: neighbourhoods are numbered in the order of hosts and then of groups, equally
 * on all ranks.
 */
#ifndef TMB_CORE_NBRHD_H
#define TMB_CORE_NBRHD_H

#include <stdint.h>

struct tmb_nbrhds {
  uint32_t most;           /* ranks of the largest one possible */
  uint32_t count;          /* in the job */
  uint32_t size;           /* ranks of this process's */
  const uint32_t *members; /* [size] their jobranks, ascending */
  uint32_t *first;         /* [hosts] number of each host's first one */
};

/* Fill tmb_job.near_of and tmb_job.nbrhd; once places and settings are known. Returns 0, or
 * TMB_E_NOMEM after a message. */
int tmb_nbrhd_init(void);

#endif
