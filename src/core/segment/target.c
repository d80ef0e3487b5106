/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether memory of this process that a message names may be read and written.
 *
 * Owns: tmb_job.targets, places that are open for a while. Called by net/defaults, by conduits
 * (struct tmb_net_up), by handlers of internal messages and by collectives. Calls: the list of
 * segments, the on-node engine's regions, os. Memory that a rank may name: the segments of this
 * process in host memory, this rank's part of regions, places that are open, and, because of
 * GEX_FLAG_PEER_SEG_UNKNOWN, other memory that can be written. Invariant: a range that is refused
 * has not been touched.
 */
#include "base/atomic.h"
#include "base/log.h"
#include "core/job.h"
#include "core/segment/segment.h"
#include "near/near.h"
#include "net/up.h"
#include "os/os.h"

static bool within(const void *base, size_t bytes, uintptr_t at, size_t nbytes) {
  const uintptr_t offset = at - (uintptr_t)base;
  return offset <= bytes && nbytes <= bytes - offset;
}

/* Whether a range lies in this rank's part of a region of the on-node engine. */
static bool in_region(uintptr_t at, size_t nbytes) {
  const struct tmb_near *near = &tmb_job.near;
  for (uint32_t i = 0; i < near->regions; i++)
    if (within(tmb_near_at(near, i, near->env.index), near->region[i].bytes, at, nbytes))
      return true;
  return false;
}

bool tmb_target_open(const void *owner, void *base, size_t nbytes) {
  struct tmb_targets *t = &tmb_job.targets;
  for (uint32_t i = 0; i < TMB_TARGETS_MAX; i++) {
    if (tmb_load_rlx(&t->place[i].owner)) continue;
    tmb_store_rlx(&t->place[i].base, (uintptr_t)base);
    tmb_store_rlx(&t->place[i].bytes, nbytes);
    tmb_store_rel(&t->place[i].owner, owner);
    tmb_store_rel(&t->count, t->count + 1);
    return true;
  }
  return false;
}

void tmb_target_close(const void *owner) {
  struct tmb_targets *t = &tmb_job.targets;
  for (uint32_t i = 0; i < TMB_TARGETS_MAX; i++) {
    if (tmb_load_rlx(&t->place[i].owner) != owner) continue;
    tmb_store_rel(&t->place[i].owner, NULL);
    tmb_store_rel(&t->count, t->count - 1);
  }
}

/* Whether a range lies in a place that is open. Without a lock: one that is closed meanwhile may
 * count as open, and one that a peer knows stays open until its data have come. */
static bool is_open(uintptr_t at, size_t nbytes) {
  const struct tmb_targets *t = &tmb_job.targets;
  for (uint32_t i = 0; tmb_load_acq(&t->count) && i < TMB_TARGETS_MAX; i++)
    if (tmb_load_acq(&t->place[i].owner) && within((const void *)tmb_load_rlx(&t->place[i].base),
                                                   tmb_load_rlx(&t->place[i].bytes), at, nbytes))
      return true;
  return false;
}

void *tmb_up_target(uint32_t src, uint64_t addr, uint64_t nbytes) {
  const uintptr_t at = (uintptr_t)addr;
  void *p = (void *)at;
  if (src >= tmb_job.size || at != addr || nbytes > UINTPTR_MAX - at) return NULL;
  const size_t bytes = (size_t)nbytes;
  if (TMB_LIKELY(within(tmb_job.segment.base, tmb_job.segment.size, at, bytes))) return p;
  if (in_region(at, bytes)) return p;
  if (tmb_load_rlx(&tmb_job.device_segments) && tmb_segment_device_at(p, bytes)) return NULL;
  if (is_open(at, bytes)) return p;
  return tmb_segment_holds(p, bytes) || tmb_os_mem_writable(p, bytes) ? p : NULL;
}

void *tmb_up_memory(uint32_t src, uint64_t addr, uint64_t nbytes) {
  void *p = tmb_up_target(src, addr, nbytes);
  if (TMB_UNLIKELY(!p))
    tmb_fatal_nopos("rank %u names %llu bytes at 0x%llx of this process, which are neither in a "
                    "segment nor in other memory that it may write; check the remote address of "
                    "its put, get or signal",
                    src, (unsigned long long)nbytes, (unsigned long long)addr);
  return p;
}
