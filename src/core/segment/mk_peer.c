/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Device memory of other processes of this machine, reached by this process's own devices.
 *
 * Owns: the list of kinds of this process, and for each published device segment of a peer its name
 * and the address where it was attached. Called by mk.c (kinds come and go), segment_table.c
 * (publication) and mk_rma.c. Calls: the plug-ins' share, attach, detach. Memory is attached at its
 * first use, by the kind of the local endpoint or else by any kind of its class; where that fails,
 * copies travel as messages until a further kind is made. Invariants: everything is written under
 * the lock; `state` is released last, so that READY may be read without it; a kind that ends
 * detaches its memory.
 */
#include "core/segment/mk_peer.h"

#include "base/config.h"
#include "base/container/list.h"
#include "base/log.h"
#include "core/segment/mk.h"
#include "core/segment/segment_table.h"
#include "os/sync/lock.h"

#include <stdlib.h>
#include <string.h>
#include <tombolo/mk_plugin.h>

enum { NEW, READY, REFUSED };

struct tmb_far_segment {
  uint32_t state;    /* atomic */
  uint32_t class_id; /* gex_MK_Class_t */
  struct gexx_mk_s *kind;
  char *addr; /* of the segment, for the copies of kind */
  unsigned char handle[GEXX_MK_HANDLE_BYTES];
};

/* Checked by clang: only under the lock. */
TMB_REQUIRES(tmb_job.far_segments.lock) static inline struct tmb_far_segments *known(void) {
  return &tmb_job.far_segments;
}

static void detach(struct tmb_far_segment *f) {
  if (f->state == READY) f->kind->plugin->detach(f->kind->device, f->handle, f->addr);
  tmb_store_rel(&f->state, NEW);
}

/* ---- kinds */

/* Call `act` for every known device segment of a peer. */
TMB_REQUIRES(tmb_job.far_segments.lock)
static void each(void (*act)(struct tmb_far_segment *f, const struct gexx_mk_s *kind),
                 const struct gexx_mk_s *kind) {
  for (gex_EP_Index_t e = 0; e < GASNET_MAXEPS; e++)
    for (uint32_t r = 0; known()->far[e] && r < tmb_job.size; r++)
      if (known()->far[e][r]) act(known()->far[e][r], kind);
}

static void retry(struct tmb_far_segment *f, const struct gexx_mk_s *kind) {
  (void)kind;
  if (f->state == REFUSED) tmb_store_rel(&f->state, NEW);
}

static void drop(struct tmb_far_segment *f, const struct gexx_mk_s *kind) {
  if (f->state == READY && f->kind == kind) detach(f);
}

void tmb_mk_peer_enlist(struct gexx_mk_s *kind) {
  tmb_lock_acquire(&tmb_job.far_segments.lock);
  TMB_LIST_PUSH(&known()->kinds, kind);
  each(retry, kind);
  tmb_lock_release(&tmb_job.far_segments.lock);
}

void tmb_mk_peer_delist(struct gexx_mk_s *kind) {
  tmb_lock_acquire(&tmb_job.far_segments.lock);
  (void)TMB_LIST_REMOVE(&known()->kinds, kind);
  if (tmb_job.debug) TMB_LIST_PUSH(&known()->dead, kind);
  each(drop, kind);
  tmb_lock_release(&tmb_job.far_segments.lock);
}

/* ---- publication */

bool tmb_mk_peer_share(const struct gexx_segment_s *s, void *handle) {
  const struct gexx_mk_s *kind = tmb_mk_device(s);
  if (tmb_job.nbrhd.size < 2 || !kind->plugin->share || !tmb_cfg_bool(TMB_CFG_MK_PEER) ||
      !tmb_cfg_bool(TMB_CFG_SHM_MAP))
    return false;
  const int rc = kind->plugin->share(kind->device, s->base, s->size, handle);
  if (rc != GASNET_OK)
    tmb_info("device memory at %p is reached by messages: %s", s->base,
             tmb_mk_reason(kind->plugin));
  return rc == GASNET_OK;
}

void tmb_mk_peer_set(uint32_t jobrank, gex_EP_Index_t ep, uint32_t class_id, const void *handle) {
  if (jobrank == tmb_job.rank || tmb_nbrhd_of(jobrank) != tmb_nbrhd_of(tmb_job.rank)) return;
  tmb_lock_acquire(&tmb_job.far_segments.lock);
  if (!known()->far[ep]) known()->far[ep] = calloc(tmb_job.size, sizeof(struct tmb_far_segment *));
  struct tmb_far_segment *f = known()->far[ep] ? known()->far[ep][jobrank] : NULL;
  if (!f) f = calloc(1, sizeof *f);
  if (!f || !known()->far[ep]) tmb_fatal("out of memory for device memory of rank %u", jobrank);
  if (memcmp(f->handle, handle, sizeof f->handle) != 0) detach(f);
  memcpy(f->handle, handle, sizeof f->handle);
  f->class_id = class_id;
  known()->far[ep][jobrank] = f;
  tmb_lock_release(&tmb_job.far_segments.lock);
}

/* ---- access */

static bool attach(struct tmb_far_segment *f, struct gexx_mk_s *kind) {
  void *addr = NULL;
  if (kind->class_id != f->class_id || !kind->plugin->attach ||
      kind->plugin->attach(kind->device, f->handle, &addr) != GASNET_OK)
    return false;
  f->kind = kind;
  f->addr = addr;
  tmb_store_rel(&f->state, READY);
  return true;
}

/* At the first use of a peer's segment: find a kind that can attach it. in first: the kind to
 * try first, or NULL. */
static bool find_path(struct tmb_far_segment *f, struct gexx_mk_s *first) {
  tmb_lock_acquire(&tmb_job.far_segments.lock);
  bool found = f->state == READY || (f->state == NEW && first && attach(f, first));
  for (struct gexx_mk_s *k = known()->kinds; !found && f->state == NEW && k; k = k->next)
    found = k != first && attach(f, k);
  if (!found && f->state == NEW) {
    tmb_store_rel(&f->state, REFUSED);
    if (known()->kinds)
      tmb_info("device memory of a peer is reached by messages: %s",
               tmb_mk_reason(known()->kinds->plugin));
  }
  tmb_lock_release(&tmb_job.far_segments.lock);
  return found;
}

static struct tmb_far_segment *find(gex_EP_Index_t ep, uint32_t jobrank) {
  tmb_lock_acquire(&tmb_job.far_segments.lock);
  struct tmb_far_segment *const f = known()->far[ep] ? known()->far[ep][jobrank] : NULL;
  tmb_lock_release(&tmb_job.far_segments.lock);
  return f;
}

bool tmb_mk_peer_map(const struct tmb_mk_far *at, struct gexx_mk_s **kind, void **addr) {
  struct tmb_far_segment *f = find(at->ep, at->jobrank);
  const struct tmb_peer_segment *s = tmb_segtab_of(at->jobrank, at->ep);
  if (!f || !s) return false;
  const uint32_t state = tmb_load_acq(&f->state);
  if (state == REFUSED || (state == NEW && !find_path(f, at->near))) return false;
  *kind = f->kind;
  *addr = f->addr + ((uintptr_t)at->addr - s->base);
  return true;
}
