/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Peers that owe the completion of operations.
 *
 * Owns: tmb_job.track, a table of (op, category, peer) -> parts outstanding. Called for each part
 * that a message of a peer completes, once the client wants failures reported, and when a peer is
 * lost. Calls: libc. Open addressing with linear probing; deletion moves followers back (D. E.
 * Knuth, The Art of Computer Programming 3, 6.4, algorithm R), so there are no tombstones.
 * Invariants: guarded by one lock; at most half full; an entry's count is above 0 and part of its
 * op's pending counter; no entry names a lost peer.
 */
#include "core/op/lost.h"

#include "base/log.h"

#include <stdlib.h>

/* Entries of the first table of open operations. Chosen 2026-11-22, not measured. */
#define CAPACITY_MIN 256u

struct tmb_track_part {
  struct tmb_op *op; /* NULL: free */
  uint32_t peer, category, count;
};

/* Checked by clang: only under the lock. */
TMB_REQUIRES(tmb_job.track.lock) static inline struct tmb_track *table(void) {
  return &tmb_job.track;
}

TMB_REQUIRES(tmb_job.track.lock) static size_t hash_slot(const struct tmb_track_part *p) {
  const uint64_t key =
      ((uintptr_t)p->op >> 6) ^ ((uint64_t)p->peer << 40) ^ ((uint64_t)p->category << 60);
  return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (table()->capacity - 1);
}

static bool same(const struct tmb_track_part *a, const struct tmb_track_part *b) {
  return a->op == b->op && a->peer == b->peer && a->category == b->category;
}

/* Where an entry is, or the free place where it belongs. */
TMB_REQUIRES(tmb_job.track.lock)
static struct tmb_track_part *find(const struct tmb_track_part *like) {
  size_t i = hash_slot(like);
  while (table()->part[i].op && !same(&table()->part[i], like))
    i = (i + 1) & (table()->capacity - 1);
  return &table()->part[i];
}

TMB_REQUIRES(tmb_job.track.lock) static void grow(void) {
  struct tmb_track_part *const old = table()->part;
  const size_t count = table()->capacity;
  table()->capacity = count ? 2 * count : CAPACITY_MIN;
  table()->part = calloc(table()->capacity, sizeof *table()->part);
  if (!table()->part) tmb_fatal("out of memory for %zu outstanding operations", table()->capacity);
  for (size_t i = 0; i < count; i++)
    if (old[i].op) *find(&old[i]) = old[i];
  free(old);
}

/* Free the place i and close the gap. */
TMB_REQUIRES(tmb_job.track.lock) static void erase(size_t i) {
  const size_t mask = table()->capacity - 1;
  table()->used--;
  for (size_t next = (i + 1) & mask; table()->part[next].op; next = (next + 1) & mask) {
    const size_t wanted = hash_slot(&table()->part[next]);
    if (((next - wanted) & mask) < ((next - i) & mask)) continue; /* it would not be found at i */
    table()->part[i] = table()->part[next];
    i = next;
  }
  table()->part[i].op = NULL;
}

bool tmb_track_more(struct tmb_op *op, uint32_t category, uint32_t peer) {
  const struct tmb_track_part like = {op, peer, category, 1};
  tmb_lock_acquire(&tmb_job.track.lock);
  const bool lost = tmb_peer_lost(peer);
  if (!lost) {
    if (2 * (table()->used + 1) > table()->capacity) grow();
    struct tmb_track_part *p = find(&like);
    if (p->op) {
      p->count++;
    } else {
      *p = like;
      table()->used++;
    }
  }
  tmb_lock_release(&tmb_job.track.lock);
  if (lost) tmb_op_lose(op, category, peer);
  return !lost;
}

bool tmb_track_done(struct tmb_op *op, uint32_t category, uint32_t peer) {
  const struct tmb_track_part like = {op, peer, category, 1};
  tmb_lock_acquire(&tmb_job.track.lock);
  bool counts = !tmb_peer_lost(peer); /* when the peer was lost the part was completed then */
  if (counts && table()->capacity) {
    struct tmb_track_part *p = find(&like);
    if (p->op && --p->count == 0) erase((size_t)(p - table()->part));
  }
  tmb_lock_release(&tmb_job.track.lock);
  return counts;
}

void tmb_track_lose(uint32_t peer) {
  tmb_lock_acquire(&tmb_job.track.lock);
  for (size_t i = 0; i < table()->capacity; i++)
    while (table()->part[i].op && table()->part[i].peer == peer) {
      const struct tmb_track_part p = table()->part[i];
      erase(i);
      tmb_op_lose(p.op, p.category, peer);
      tmb_fetch_sub_rel(&p.op->pending[p.category], p.count);
    }
  tmb_lock_release(&tmb_job.track.lock);
}

size_t tmb_track_count(void) {
  tmb_lock_acquire(&tmb_job.track.lock);
  size_t count = 0;
  for (size_t i = 0; i < table()->capacity; i++)
    if (table()->part[i].op) count += table()->part[i].count;
  tmb_lock_release(&tmb_job.track.lock);
  return count;
}

const struct tmb_layer tmb_track_layer = {.name = "operations", .peer_lost = tmb_track_lose};
