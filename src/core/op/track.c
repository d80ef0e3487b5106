/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Peers that owe the completion of operations.
 *
 * Owns: tmb_job.track, a table of (op, category, peer) -> parts outstanding. Called for each part
 * that a message of a peer completes, once the client wants failures reported, and when a peer is
 * lost. Calls: base/container/hash.h. Invariants: guarded by one lock; an entry's count is above 0
 * and part of its op's pending counter, and 0 in a free place; no entry names a lost peer.
 */
#include "core/op/lost.h"

#include "base/log.h"

struct part {
  struct tmb_op *op;
  uint32_t peer, category, count;
};

/* Checked by clang: only under the lock. */
TMB_REQUIRES(tmb_job.track.lock) static inline struct tmb_hash *table(void) {
  return &tmb_job.track.parts;
}

static uint64_t hash_part(const void *entry) {
  const struct part *p = entry;
  return tmb_hash_word(((uintptr_t)p->op >> 6) ^ ((uint64_t)p->peer << 40) ^
                       ((uint64_t)p->category << 60));
}

static bool same(const void *left, const void *right) {
  const struct part *a = left, *b = right;
  return a->op == b->op && a->peer == b->peer && a->category == b->category;
}

static const struct tmb_hash_kind parts = {sizeof(struct part), hash_part, same};

bool tmb_track_more(struct tmb_op *op, uint32_t category, uint32_t peer) {
  const struct part like = {op, peer, category, 0};
  tmb_lock_acquire(&tmb_job.track.lock);
  const bool lost = tmb_peer_lost(peer);
  if (!lost) {
    struct part *p = tmb_hash_add(table(), &parts, &like);
    if (!p) tmb_fatal("out of memory for %zu outstanding operations", 2 * table()->capacity);
    p->count++;
  }
  tmb_lock_release(&tmb_job.track.lock);
  if (lost) tmb_op_lose(op, category, peer);
  return !lost;
}

bool tmb_track_done(struct tmb_op *op, uint32_t category, uint32_t peer) {
  const struct part like = {op, peer, category, 0};
  tmb_lock_acquire(&tmb_job.track.lock);
  bool counts = !tmb_peer_lost(peer); /* when the peer was lost the part was completed then */
  struct part *p = counts ? tmb_hash_find(table(), &parts, &like) : NULL;
  if (p && --p->count == 0) tmb_hash_erase(table(), &parts, p);
  tmb_lock_release(&tmb_job.track.lock);
  return counts;
}

/* tmb_job.lost says LOST. */
static void complete_lost(uint32_t peer) {
  tmb_lock_acquire(&tmb_job.track.lock);
  for (size_t i = 0; i < table()->capacity; i++) {
    struct part *const at = tmb_hash_at(table(), &parts, i);
    while (at->op && at->peer == peer) {
      const struct part p = *at;
      tmb_hash_erase(table(), &parts, at);
      tmb_op_lose(p.op, p.category, peer);
      tmb_fetch_sub_rel(&p.op->pending[p.category], p.count);
    }
  }
  tmb_lock_release(&tmb_job.track.lock);
}

size_t tmb_track_count(void) {
  tmb_lock_acquire(&tmb_job.track.lock);
  size_t count = 0;
  for (size_t i = 0; i < table()->capacity; i++)
    count += ((struct part *)tmb_hash_at(table(), &parts, i))->count;
  tmb_lock_release(&tmb_job.track.lock);
  return count;
}

const struct tmb_layer tmb_track_layer = {.name = "operations", .peer_lost = complete_lost};
