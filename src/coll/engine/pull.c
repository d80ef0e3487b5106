/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading in a peer's memory, see pull.h.
 *
 * Owns: which peers can no longer be read (state.h). Called by the engine under the lock of
 * collectives. Calls: core/segment/segment_table.h, os/memory/peer_copy.h, base/config. Invariants:
 * a peer's memory is read only between its offer and our answer.
 */
#include "coll/engine/pull.h"
#include "coll/engine/state.h"

#include "base/config.h"
#include "base/log.h"
#include "core/job.h"
#include "core/progress/place.h"
#include "core/segment/segment_table.h"
#include "os/memory/peer_copy.h"
#include "os/os.h"

#include <stdlib.h>
#include <string.h>

#define PAST_BYTES_MIN (1u << 20) /* below, the size of the cache is not read; chosen */

bool tmb_pull_works(void) {
  if (tmb_job.lost)
    return false; /* when failures are reported, a sender may give up and use its memory for
                     something else */
  return tmb_job.peer_copy && tmb_cfg_bool(TMB_CFG_SHM) && tmb_cfg_bool(TMB_CFG_COLL_DIRECT);
}

char *tmb_pull_mapped(uint32_t jobrank, uint64_t address, size_t bytes) {
  const void *there = (const void *)(uintptr_t)address;
  const intptr_t delta = tmb_load_rlx(&tmb_job.delta[jobrank]);
  if (delta == GEXX_UNMAPPED || !tmb_segtab_attached(jobrank, there, bytes)) return NULL;
  return (char *)(uintptr_t)(address + (uint64_t)delta);
}

bool tmb_pull_saves(uint32_t jobrank, const void *data, size_t bytes) {
  if (tmb_job.lost || !tmb_is_near(jobrank) || !tmb_cfg_bool(TMB_CFG_COLL_DIRECT)) return false;
  return tmb_load_rlx(&tmb_job.delta[jobrank]) != GEXX_UNMAPPED &&
         tmb_pull_mapped(tmb_job.rank, (uint64_t)(uintptr_t)data, bytes);
}

/* The kernel has refused to read a peer's memory, which it allowed at start-up. */
TMB_COLD static bool refused(uint32_t jobrank, int32_t pid) {
  if (!tmb_colls.refuses) tmb_colls.refuses = calloc(tmb_job.size, sizeof *tmb_colls.refuses);
  if (!tmb_colls.refuses) tmb_fatal("out of memory for %u ranks", tmb_job.size);
  tmb_colls.refuses[jobrank] = 1;
  tmb_info(
      "collectives: the memory of rank %u (process %d) may no longer be read: its data come as "
      "messages",
      jobrank, pid);
  return false;
}

/* Blocks of an exchange pass the caches where what one side of the ranks beside each other has
 * fills the cache that they share: then none of it would be there when it is read. */
static uint64_t past_bytes(void) {
  uint32_t sharers;
  const uint64_t cache = tmb_os_last_cache(&sharers);
  if (!cache) return UINT64_MAX;
  const uint32_t beside = tmb_place_beside(tmb_job.boot.here, tmb_job.wait.cpus, sharers);
  return TMB_MAX(cache / beside, (uint64_t)PAST_BYTES_MIN);
}

bool tmb_pull_past(const struct tmb_coll_shape *shape) {
  const uint64_t all = shape->bytes * shape->size;
  if (shape->kind != TMB_COLL_EXCHANGE || all < PAST_BYTES_MIN) return false;
  if (!tmb_colls.past_bytes) tmb_colls.past_bytes = past_bytes();
  return all >= tmb_colls.past_bytes;
}

void tmb_pull_copy(void *to, const void *from, size_t bytes, bool past) {
  if (TMB_UNLIKELY(past))
    tmb_os_copy_past(to, from, bytes);
  else
    memcpy(to, from, bytes);
}

bool tmb_pull_read(uint32_t jobrank, int32_t pid, uint64_t address, void *to, size_t bytes,
                   bool past) {
  const char *mapped = tmb_pull_mapped(jobrank, address, bytes);
  if (mapped) {
    tmb_pull_copy(to, mapped, bytes, past);
    return true;
  }
  if (tmb_colls.refuses && tmb_colls.refuses[jobrank]) return false;
  return TMB_LIKELY(tmb_os_peer_read(pid, to, address, bytes)) || refused(jobrank, pid);
}
