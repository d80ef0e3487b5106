/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The index of signals, see index.h.
 *
 * Owns: the area that each process shares with the other ranks of its host (a region of the on-node
 * engine): up to INDICES entries, each saying which range of signals has an index, and for each
 * entry the marks that producers set. Called by some.c and gexx_signal_changed. Calls: the
 * engine. Producer: whoever changes a signal; owner: the process
 * whose signal it is. A mark names a group of 2^shift consecutive signals. A producer changes the
 * signal, then sets a mark: in one of a few slots in one cache line, or, when those are full, in a
 * shared tree of bits. The owner collects marks into a private tree of three levels of 64-bit
 * words, in which it finds the next one in a few loads; a mark whose group is all zero is dropped
 * when it is met, so that each costs one visit. Invariants: a signal that is not zero is marked, or
 * its producer is about to mark it, or it was changed otherwise; a mark is a hint only, so stale
 * and foreign ones do no harm. In the shared tree a producer sets the bit in the leaf word and then
 * reads the words above it, and the owner clears the words above and then reads the leaf word, all
 * sequentially consistent, so at least one of them sees the other's change. A new entry is followed
 * by tmb_near_index_begin and then one pass over all signals of the range, which finds changes of
 * producers that did not see the entry yet.
 */
#include "notify/index.h"

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/log.h"
#include "core/job.h"
#include "near/near.h"
#include "os/sync/lock.h"

#include <stdlib.h>
#include <string.h>

#define INDICES      8
#define SLOTS        8
#define FANOUT       64
#define GROUPS       ((size_t)FANOUT * FANOUT * FANOUT)
#define NONE         SIZE_MAX
#define IDLE_LOOKUPS 4096 /* after which an index may be given to another range */

/* One range with an index, written by the owner, read by producers. version: 0: never used; odd
 * while the owner writes the entry. */
struct entry {
  uint64_t version TMB_ALIGNED(TMB_CACHE_LINE);
  uint64_t base, bytes, stride;
  uint64_t shift; /* log2 of the signals in a group */
};

/* The marks as bits, in three levels: a bit of `top` or `middle` is set when the word below it
 * is not 0. */
struct tree {
  uint64_t top TMB_ALIGNED(TMB_CACHE_LINE);
  uint64_t middle[FANOUT] TMB_ALIGNED(TMB_CACHE_LINE);
  uint64_t leaf[FANOUT * FANOUT];
};

/* The marks that producers have set in one entry. slot: number of a group plus one; 0: free. */
struct box {
  uint64_t slot[SLOTS] TMB_ALIGNED(TMB_CACHE_LINE);
  struct tree tree;
};

struct area {
  struct entry entry[INDICES];
  struct box box[INDICES];
};

struct tmb_signal_index {
  struct tmb_range range; /* count 0: free */
  struct box *box;
  struct tree *tree; /* private */
  uint32_t shift;
  uint32_t users;  /* searches in progress */
  size_t cursor;   /* where the next sweep begins */
  uint64_t lookup; /* number of the last one */
};

/* Guarded by the lock (with threads), except `area`. */
static struct tmb_lock index_lock;
static struct {
  struct area *area; /* of this process, made at first use; atomic */
  struct tmb_signal_index index[INDICES] TMB_GUARDED_BY(index_lock);
  uint64_t lookups TMB_GUARDED_BY(index_lock);
} local;

static const uint64_t *signal_at(const struct tmb_range *r, size_t i) {
  return (const uint64_t *)(const void *)(r->sigs + i * r->stride);
}

size_t tmb_range_scan(const struct tmb_range *r, size_t from, size_t to, uint64_t *value) {
  size_t i = from;
  if (r->stride == sizeof(uint64_t)) {
    for (; i + 8 <= to; i += 8) {
      const uint64_t *s = signal_at(r, i);
      uint64_t any = 0;
      for (int k = 0; k < 8; k++) any |= tmb_load_rlx(&s[k]);
      if (any) break;
    }
  }
  for (; i < to; i++)
    if ((*value = tmb_load_acq(signal_at(r, i))) != 0) return i;
  return to;
}

static uint64_t bit(size_t i) {
  return UINT64_C(1) << i % FANOUT;
}

/* ---- producers: set a mark */

static void set_above(uint64_t *word, size_t i) {
  if (!(tmb_load_seq(word) & bit(i))) tmb_fetch_or_seq(word, bit(i));
}

static void add_mark(struct box *box, size_t group) {
  const size_t word = group / FANOUT;
  tmb_prefetch_write(box->slot); /* while the line of the signal comes, and not to be read first */
  for (size_t k = 0; k < SLOTS; k++) {
    uint64_t *const slot = &box->slot[(k + tmb_job.rank) % SLOTS];
    uint64_t found = tmb_load_rlx(slot);
    if (!found && tmb_cas_acq_rel(slot, &found, (uint64_t)group + 1)) return;
  }
  tmb_fetch_or_seq(&box->tree.leaf[word], bit(group));
  set_above(&box->tree.middle[word / FANOUT], word);
  set_above(&box->tree.top, word / FANOUT);
}

/* ---- the owner's tree; under the lock */

static void set(struct tree *t, size_t group) {
  const size_t word = group / FANOUT;
  t->leaf[word] |= bit(group);
  t->middle[word / FANOUT] |= bit(word);
  t->top |= bit(word / FANOUT);
}

static void clear(struct tree *t, size_t group) {
  const size_t word = group / FANOUT;
  if (t->leaf[word] &= ~bit(group)) return;
  if (t->middle[word / FANOUT] &= ~bit(word)) return;
  t->top &= ~bit(word / FANOUT);
}

/* The word without its bits below bit i. */
static uint64_t from_bit(uint64_t word, size_t i) {
  return i < FANOUT ? word & ~UINT64_C(0) << i : 0;
}

static size_t lowest(uint64_t bits) {
  return (size_t)__builtin_ctzll(bits);
}

/* The first group, `group` or beyond, that is marked. */
static size_t next_group(const struct tree *t, size_t group) {
  size_t word = group / FANOUT, m = word / FANOUT;
  if (m >= FANOUT) return NONE;
  uint64_t bits = from_bit(t->leaf[word], group % FANOUT);
  if (bits) return word * FANOUT + lowest(bits);
  bits = from_bit(t->middle[m], word % FANOUT + 1);
  if (!bits) {
    bits = from_bit(t->top, m + 1);
    if (!bits) return NONE;
    m = lowest(bits);
    bits = t->middle[m];
  }
  word = m * FANOUT + lowest(bits);
  return word * FANOUT + lowest(t->leaf[word]);
}

static bool any_left(const struct box *box) {
  uint64_t any = tmb_load_rlx(&box->tree.top);
  for (size_t k = 0; k < SLOTS; k++) any |= tmb_load_rlx(&box->slot[k]);
  return any != 0;
}

/* Take over the marks of a leaf word of the shared tree. */
static void collect_word(struct tmb_signal_index *w, size_t word) {
  uint64_t bits = tmb_xchg_seq(&w->box->tree.leaf[word], 0);
  for (; bits; bits &= bits - 1) set(w->tree, word * FANOUT + lowest(bits));
}

/* Begin to fetch the first signals of a group while its mark is taken. The caller resets them. */
static void expect_group(const struct tmb_signal_index *w, size_t group) {
  if (group << w->shift < w->range.count)
    tmb_prefetch_write(signal_at(&w->range, group << w->shift));
}

static void collect(struct tmb_signal_index *w) {
  struct box *const box = w->box;
  for (size_t k = 0; k < SLOTS; k++) {
    uint64_t left = tmb_load_rlx(&box->slot[k]);
    if (!left) continue;
    expect_group(w, left - 1);
    left = tmb_xchg_acq_rel(&box->slot[k], 0);
    if (left && left <= GROUPS) set(w->tree, left - 1);
  }
  if (TMB_LIKELY(!tmb_load_acq(&box->tree.top))) return;
  uint64_t top = tmb_xchg_seq(&box->tree.top, 0);
  for (; top; top &= top - 1) {
    const size_t m = lowest(top);
    uint64_t middle = tmb_xchg_seq(&box->tree.middle[m], 0);
    for (; middle; middle &= middle - 1) collect_word(w, m * FANOUT + lowest(middle));
  }
}

/* Index of the first signal in [from, to) that is marked and not zero; `to` when there is none.
 * Clears the marks of groups in which all signals are zero. */
static size_t find(struct tmb_signal_index *w, size_t from, size_t to, uint64_t *value) {
  size_t group = from >> w->shift;
  while ((group = next_group(w->tree, group)) != NONE) {
    const size_t first = group << w->shift, end = (group + 1) << w->shift;
    if (first >= to) return to;
    const size_t all = TMB_MIN(end, w->range.count);
    const size_t i = tmb_range_scan(&w->range, TMB_MAX(first, from), TMB_MIN(all, to), value);
    if (i < TMB_MIN(all, to)) return i;
    uint64_t other;
    const bool whole = first >= from && all <= to;
    if (whole || tmb_range_scan(&w->range, first, all, &other) == all) clear(w->tree, group);
    group++;
  }
  return to;
}

bool tmb_index_find(struct tmb_signal_index *w, size_t *at, uint64_t *value) {
  const bool left = any_left(w->box);
  /* Without threads, no mark anywhere means that no signal is set. With threads another one may
   * hold marks that it is moving from the box to the tree, so ask under the lock. */
  if (!tmb_lock_threads && !left && !w->tree->top) return false;
  tmb_lock_acquire(&index_lock);
  if (left) collect(w);
  size_t end = w->range.count, i = find(w, *at, end, value);
  if (i == end) {
    end = *at;
    i = find(w, 0, end, value);
  }
  if (i < end) *at = i;
  tmb_lock_release(&index_lock);
  return i < end;
}

void tmb_index_sweep(struct tmb_signal_index *w, size_t count) {
  uint64_t value;
  tmb_lock_acquire(&index_lock);
  const size_t end = TMB_MIN(w->cursor + count, w->range.count);
  const size_t i = tmb_range_scan(&w->range, w->cursor, end, &value);
  if (i < end) set(w->tree, i >> w->shift);
  w->cursor = i + 1 < w->range.count ? TMB_MIN(i + 1, end) : 0;
  tmb_lock_release(&index_lock);
}

/* ---- ranges */

static void mark_local(const void *addr) {
  tmb_index_mark(tmb_job.rank, addr);
}

static uint32_t region; /* of the on-node engine */

static void ask(void) {
  region = tmb_near_region(&tmb_job.near, "index of signals", sizeof(struct area));
}

const struct tmb_layer tmb_index_layer = {.name = "index", .ask = ask, .signal = mark_local};

/* The area of this process, in use from the first range on. */
TMB_REQUIRES(index_lock) static struct area *local_area(void) {
  if (local.area) return local.area;
  struct area *a = tmb_near_at(&tmb_job.near, region, tmb_near_of(tmb_job.rank));
  tmb_store_rel(&local.area, a);
  tmb_store_rel(&tmb_job.signals_indexed, true);
  return a;
}

/* Write an entry; producers that read it meanwhile pass it over. */
static void write_entry(struct entry *e, const struct tmb_range *r, uint64_t shift) {
  const uint64_t version = tmb_load_rlx(&e->version);
  tmb_store_rlx(&e->version, version + 1);
  tmb_fence_seq();
  tmb_store_rlx(&e->base, (uint64_t)(uintptr_t)r->sigs);
  tmb_store_rlx(&e->bytes, (uint64_t)r->count * r->stride);
  tmb_store_rlx(&e->stride, r->stride);
  tmb_store_rlx(&e->shift, shift);
  tmb_store_rel(&e->version, version + 2);
}

/* Give index k to a range. Returns false without memory. Marks of the range before are stale. */
TMB_REQUIRES(index_lock) static bool assign(size_t k, const struct tmb_range *r) {
  struct area *a = local_area();
  struct tree *tree =
      local.index[k].tree ? local.index[k].tree : aligned_alloc(TMB_CACHE_LINE, sizeof *tree);
  if (!tree) return false;
  memset(tree, 0, sizeof *tree);
  uint32_t shift = 0;
  while ((r->count - 1) >> shift >= GROUPS) shift++;
  local.index[k] =
      (struct tmb_signal_index){.range = *r, .box = &a->box[k], .tree = tree, .shift = shift};
  write_entry(&a->entry[k], r, shift);
  tmb_fence_seq();
  tmb_near_index_begin(&tmb_job.near);
  uint64_t value;
  for (size_t i = 0; (i = tmb_range_scan(r, i, r->count, &value)) < r->count; i++)
    set(tree, i >> shift);
  return true;
}

/* An index that may be given to a new range: a free one, else the one that was not used for the
 * longest time; NONE when all were used within the last IDLE_LOOKUPS searches. */
TMB_REQUIRES(index_lock) static size_t replaceable(void) {
  size_t oldest = NONE;
  uint64_t before = local.lookups - TMB_MIN(local.lookups, (uint64_t)IDLE_LOOKUPS);
  for (size_t k = 0; k < INDICES; k++) {
    const struct tmb_signal_index *w = &local.index[k];
    if (!w->range.count) return k;
    if (w->users || w->lookup >= before) continue;
    before = w->lookup;
    oldest = k;
  }
  return oldest;
}

static bool is_of(const struct tmb_signal_index *w, const struct tmb_range *r) {
  return w->range.sigs == r->sigs && w->range.count == r->count && w->range.stride == r->stride;
}

struct tmb_signal_index *tmb_index_of(const struct tmb_range *r) {
  tmb_lock_acquire(&index_lock);
  size_t k = 0;
  local.lookups++;
  while (k < INDICES && !is_of(&local.index[k], r)) k++;
  if (k == INDICES && (k = replaceable()) != NONE && !assign(k, r)) k = NONE;
  if (k != NONE) {
    local.index[k].lookup = local.lookups;
    local.index[k].users++;
  }
  tmb_lock_release(&index_lock);
  return k == NONE ? NULL : &local.index[k];
}

void tmb_index_release(struct tmb_signal_index *w) {
  tmb_lock_acquire(&index_lock);
  w->users--;
  tmb_lock_release(&index_lock);
}

/* ---- producers */

void tmb_index_mark(uint32_t jobrank, const void *addr) {
  struct area *a = jobrank == tmb_job.rank
                       ? tmb_load_acq(&local.area)
                       : tmb_near_at(&tmb_job.near, region, tmb_near_of(jobrank));
  if (!a) return;
  for (size_t k = 0; k < INDICES; k++) {
    const struct entry *e = &a->entry[k];
    const uint64_t version = tmb_load_acq(&e->version);
    if (!version) return; /* entries are used in order, so the rest are free too */
    const uint64_t offset = (uint64_t)(uintptr_t)addr - tmb_load_rlx(&e->base);
    const uint64_t bytes = tmb_load_rlx(&e->bytes), stride = tmb_load_rlx(&e->stride);
    const uint64_t shift = tmb_load_rlx(&e->shift);
    tmb_fence_acq();
    /* Pass over an entry that the owner is writing: it goes through all signals afterwards, and
     * so finds this one without a mark. */
    if (version % 2 || tmb_load_rlx(&e->version) != version || offset >= bytes) continue;
    const uint64_t i = stride == sizeof(uint64_t) ? offset / sizeof(uint64_t) : offset / stride;
    if (i * stride == offset) add_mark(&a->box[k], i >> shift);
  }
}
