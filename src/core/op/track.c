/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which peers owe the completion of which operations.
 *
 * Owns: a table of (op, category, peer) -> parts outstanding. Called for each part that a message
 * of a peer completes, once the client wants failures reported, and when a peer is lost. Calls:
 * libc. Open addressing with linear probing; deletion moves followers back (D. E. Knuth, The Art of
 * Computer Programming 3, 6.4, algorithm R), so there are no tombstones. Invariants: guarded by one
 * lock; at most half full; an entry's count is above 0 and part of its op's pending counter; no
 * entry names a lost peer.
 */
#include "core/op/lost.h"

#include "base/log.h"
#include "os/sync/lock.h"

#include <stdlib.h>

/* Entries of the first table of open operations. Chosen 2026-11-22, not measured. */
#define CAPACITY_MIN 256u

struct part {
  struct tmb_op *op; /* NULL: free */
  uint32_t peer, category, count;
};

static struct tmb_lock track_lock;
static struct {
  size_t used, capacity; /* power of two */
  struct part *part;
} track TMB_GUARDED_BY(track_lock);

TMB_REQUIRES(track_lock) static size_t hash_slot(const struct part *p) {
  const uint64_t key =
      ((uintptr_t)p->op >> 6) ^ ((uint64_t)p->peer << 40) ^ ((uint64_t)p->category << 60);
  return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (track.capacity - 1);
}

static bool same(const struct part *a, const struct part *b) {
  return a->op == b->op && a->peer == b->peer && a->category == b->category;
}

/* Where an entry is, or the free place where it belongs. */
TMB_REQUIRES(track_lock) static struct part *find(const struct part *like) {
  size_t i = hash_slot(like);
  while (track.part[i].op && !same(&track.part[i], like)) i = (i + 1) & (track.capacity - 1);
  return &track.part[i];
}

TMB_REQUIRES(track_lock) static void grow(void) {
  struct part *const old = track.part;
  const size_t count = track.capacity;
  track.capacity = count ? 2 * count : CAPACITY_MIN;
  track.part = calloc(track.capacity, sizeof *track.part);
  if (!track.part) tmb_fatal("out of memory for %zu outstanding operations", track.capacity);
  for (size_t i = 0; i < count; i++)
    if (old[i].op) *find(&old[i]) = old[i];
  free(old);
}

/* Free the place i and close the gap. */
TMB_REQUIRES(track_lock) static void erase(size_t i) {
  const size_t mask = track.capacity - 1;
  track.used--;
  for (size_t next = (i + 1) & mask; track.part[next].op; next = (next + 1) & mask) {
    const size_t wanted = hash_slot(&track.part[next]);
    if (((next - wanted) & mask) < ((next - i) & mask)) continue; /* it would not be found at i */
    track.part[i] = track.part[next];
    i = next;
  }
  track.part[i].op = NULL;
}

bool tmb_track_more(struct tmb_op *op, uint32_t category, uint32_t peer) {
  const struct part like = {op, peer, category, 1};
  tmb_lock_acquire(&track_lock);
  const bool lost = tmb_peer_lost(peer);
  if (!lost) {
    if (2 * (track.used + 1) > track.capacity) grow();
    struct part *p = find(&like);
    if (p->op) {
      p->count++;
    } else {
      *p = like;
      track.used++;
    }
  }
  tmb_lock_release(&track_lock);
  if (lost) tmb_op_lose(op, category, peer);
  return !lost;
}

bool tmb_track_done(struct tmb_op *op, uint32_t category, uint32_t peer) {
  const struct part like = {op, peer, category, 1};
  tmb_lock_acquire(&track_lock);
  bool counts = !tmb_peer_lost(peer); /* when the peer was lost the part was completed then */
  if (counts && track.capacity) {
    struct part *p = find(&like);
    if (p->op && --p->count == 0) erase((size_t)(p - track.part));
  }
  tmb_lock_release(&track_lock);
  return counts;
}

void tmb_track_lose(uint32_t peer) {
  tmb_lock_acquire(&track_lock);
  for (size_t i = 0; i < track.capacity; i++)
    while (track.part[i].op && track.part[i].peer == peer) {
      const struct part p = track.part[i];
      erase(i);
      tmb_op_lose(p.op, p.category, peer);
      tmb_fetch_sub_rel(&p.op->pending[p.category], p.count);
    }
  tmb_lock_release(&track_lock);
}

size_t tmb_track_count(void) {
  tmb_lock_acquire(&track_lock);
  size_t count = 0;
  for (size_t i = 0; i < track.capacity; i++)
    if (track.part[i].op) count += track.part[i].count;
  tmb_lock_release(&track_lock);
  return count;
}

const struct tmb_layer tmb_track_layer = {.name = "operations", .peer_lost = tmb_track_lose};
