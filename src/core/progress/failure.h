/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Peers that are lost while this process goes on.
 *
 * Owns: declarations of failure.c (noticing, reporting). Called by progress, by conduits that give
 * a peer up, and by failure_calls.c. Calls: boot, peer.h. Invariant: the state ENDED of a peer
 * (lost.h) is entered and left by one thread at a time.
 */
#ifndef TMB_CORE_FAILURE_H
#define TMB_CORE_FAILURE_H

#include "boot/boot.h"
#include "core/job.h"
#include "core/op/lost.h"

#include <gasnetex_ext.h>

/* The conduit has given a process up, maybe this one: nothing can be sent to it or received from
 * it. in why: one clause. Ends the job, unless failures are reported: then the process counts as
 * failed. Any thread. */
void tmb_failure_cut(uint32_t jobrank, const char *why);

/* State of a process, as its launcher or the conduit knows: TMB_FATE of boot.h. */
uint32_t tmb_failure_fate(uint32_t jobrank);

/* GEXX_PEER_* of a fate. */
static inline int tmb_failure_state(uint32_t fate) {
  switch (TMB_FATE_KIND(fate)) {
  case TMB_FATE_ALIVE: return GEXX_PEER_ALIVE;
  case TMB_FATE_SUSPENDED: return GEXX_PEER_SUSPENDED;
  case TMB_FATE_FAILED: return GEXX_PEER_FAILED;
  default: return GEXX_PEER_STOPPED;
  }
}

/* Handle changes of peers' states since the last call; while tmb_job.special has TMB_SPECIAL_LOSS.
 * Returns TMB_FOUND_ bits. */
int tmb_failure_progress(int serve);

/* Have failures reported from now on: allocates tmb_job.lost. out doors: doorbells for the
 * supervisor; fields as in boot.h. Once. */
struct tmb_boot_doors;
void tmb_failure_begin(struct tmb_boot_doors *doors);

#endif
