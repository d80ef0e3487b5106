/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading in a peer's memory, see pull.h.
 *
 * Owns nothing. Called by the engine under the lock of collectives. Calls: core/bound.h,
 * os/peer_copy.h, base/config. Invariants: a peer's memory is read only between its offer and our
 * answer.
 */
#include "coll/pull.h"

#include "base/config.h"
#include "base/log.h"
#include "core/bound.h"
#include "core/job.h"
#include "os/peer_copy.h"

#include <string.h>

bool tmb_pull_works(void) {
  if (tmb_job.lost)
    return false; /* when failures are reported, a sender may give up and use its memory for
                     something else */
  return tmb_job.peer_copy && tmb_cfg_bool(TMB_CFG_SHM) && tmb_cfg_bool(TMB_CFG_COLL_DIRECT);
}

char *tmb_pull_mapped(uint32_t jobrank, uint64_t address, size_t bytes) {
  const void *there = (const void *)(uintptr_t)address;
  const intptr_t delta = tmb_job.delta[jobrank];
  if (delta == GEXX_UNMAPPED || !tmb_bound_attached(jobrank, there, bytes)) return NULL;
  return (char *)(uintptr_t)(address + (uint64_t)delta);
}

void tmb_pull_read(uint32_t jobrank, int32_t pid, uint64_t address, void *to, size_t bytes) {
  const char *mapped = tmb_pull_mapped(jobrank, address, bytes);
  if (mapped)
    memcpy(to, mapped, bytes);
  else if (!tmb_os_peer_read(pid, to, address, bytes))
    tmb_fatal("reading the memory of rank %u (process %d) failed during a collective; set "
              "TOMBOLO_COLL_DIRECT=0",
              jobrank, pid);
}
