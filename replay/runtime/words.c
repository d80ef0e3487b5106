/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words of memory that several ranks read and change: atomic operations and short gets.
 *
 * Owns: the last value that this rank has read of each word. Atomic operations on one word have an
 * order in the job: each takes a ticket of the word's bucket, does the operation to its end, and
 * lets the next one go. A replay gives the tickets in the recorded order. So locks that programs
 * and run-time libraries make of atomic operations are won in that order, too. A get of at most 8
 * bytes is a value that was read. Invariants: a bucket depends on the lower bits of an address, so
 * it is the same in both runs, wherever the segment is; a lock of a rank that has died is broken
 * after LOCK_NS.
 */
#define _GNU_SOURCE
#include "replay/runtime/rpl.h"

#include <string.h>
#include <time.h>

#define SEEN      4096u /* words whose last value is known; power of two */
#define LOCK_NS   1000000000u
#define SETTLE_NS 10000000u /* after so long a word that has changed will not have the value */
#define LAST_NS   UINT64_C(10000000000) /* nor one that is as it was */

static struct {
  const void *addr;
  uint32_t rank;
  bool used;
  uint64_t value;
} seen_[SEEN];
static uint32_t seen_count;

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The last value of a word, NULL: there is no room. out known: whether it was read before. */
static uint64_t *last_of(uint32_t rank, const void *addr, bool *known) {
  uint64_t h = ((uintptr_t)addr ^ (uint64_t)rank << 48) * UINT64_C(0x9e3779b97f4a7c15);
  uint32_t at = (uint32_t)(h >> 40) & (SEEN - 1);
  while (seen_[at].used && (seen_[at].addr != addr || seen_[at].rank != rank))
    at = (at + 1) & (SEEN - 1);
  *known = seen_[at].used;
  if (!*known && seen_count == SEEN / 2) return NULL;
  if (!*known) {
    seen_count++;
    seen_[at].used = true;
    seen_[at].addr = addr;
    seen_[at].rank = rank;
  }
  return &seen_[at].value;
}

/* Replay: wait until a word has the recorded value, or has passed it: then it is neither that nor
 * what it was at the last read. in last: that value, NULL: not known. */
static void await(const uint64_t *last, uint64_t value, uint64_t (*read)(void *arg), void *arg) {
  const uint64_t start = now_ns();
  uint64_t steps = 0, now;
  while ((now = read(arg)) != value) {
    if (now_ns() - start > (last && *last == now ? LAST_NS : SETTLE_NS)) return;
    rpl_wait_step(&steps, "waiting for a value");
  }
}

uint64_t rpl_see(uint32_t rank, const void *addr, uint64_t (*read)(void *arg), void *arg) {
  bool known;
  uint64_t *const last = last_of(rank, addr, &known);
  uint64_t value;
  if (rpl.mode == RPL_REPLAYS && rpl_log_next()) {
    if (!rpl_due(RPL_VALUE)) return last && known ? *last : read(arg);
    value = rpl_take_value();
    await(known ? last : NULL, value, read, arg);
  } else {
    value = read(arg);
    if (rpl.mode == RPL_RECORDS && (!last || !known || *last != value)) rpl_note_value(value);
  }
  if (last) *last = value;
  return value;
}

/* ---- short gets */

struct get {
  gex_TM_t tm;
  gex_Rank_t rank;
  void *src;
  size_t nbytes;
  gex_Flags_t flags;
  int rc;
};

static uint64_t read_get(void *arg) {
  struct get *const g = arg;
  uint64_t value = 0;
  g->rc = rpl_real.gexx_rma_get(g->tm, &value, g->rank, g->src, g->nbytes, g->flags);
  return value;
}

int gexx_rma_get(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes,
                 gex_Flags_t flags) {
  RPL_ENTER(gexx_rma_get);
  if (!outer || nbytes > 8 || flags)
    return rpl_real.gexx_rma_get(tm, dest, rank, src, nbytes, flags);
  struct get g = {tm, rank, src, nbytes, flags, 0};
  const uint64_t value = rpl_see(rank, src, read_get, &g);
  memcpy(dest, &value, nbytes);
  return g.rc;
}

static uint64_t read_val(void *arg) {
  const struct get *const g = arg;
  return rpl_real.gexx_rma_get_val(g->tm, g->rank, g->src, g->nbytes, g->flags);
}

gex_RMA_Value_t gexx_rma_get_val(gex_TM_t tm, gex_Rank_t rank, void *src, size_t nbytes,
                                 gex_Flags_t flags) {
  RPL_ENTER(gexx_rma_get_val);
  if (!outer) return rpl_real.gexx_rma_get_val(tm, rank, src, nbytes, flags);
  struct get g = {tm, rank, src, nbytes, flags, 0};
  return rpl_see(rank, src, read_val, &g);
}

/* ---- atomic operations */

static struct rpl_bucket *bucket_of(gex_AD_t ad, const struct gexx_ad_op *op) {
  const bool job = (op->flags & GEX_FLAG_RANK_IS_JOBRANK) != 0;
  const uint32_t peer =
      job ? op->rank : gex_TM_TranslateRankToJobrank(gex_AD_QueryTM(ad), op->rank);
  const uint32_t word = (uint32_t)((uintptr_t)op->addr >> 3) & 511; /* within its page */
  return &rpl.area->bucket[(peer * 512 + word) & (RPL_BUCKETS - 1)];
}

static void lock(struct rpl_bucket *b) {
  const uint64_t start = now_ns();
  uint64_t steps = 0;
  while (__atomic_exchange_n(&b->lock, 1, __ATOMIC_ACQUIRE) && now_ns() - start < LOCK_NS)
    rpl_wait_step(&steps, "waiting for an atomic operation");
}

/* Do the operation to its end. */
static void operate(gex_AD_t ad, const struct gexx_ad_op *op) {
  struct gexx_ad_op own = *op;
  own.flags &= ~(gex_Flags_t)GEX_FLAG_IMMEDIATE;
  const gex_Event_t event = rpl_real.gexx_ad_op_nb(ad, &own);
  if (event != GEX_EVENT_INVALID) rpl_real.gexx_event_wait(event);
}

static void in_turn(gex_AD_t ad, const struct gexx_ad_op *op) {
  struct rpl_bucket *const b = bucket_of(ad, op);
  const struct rpl_event *const e = rpl.mode == RPL_REPLAYS ? rpl_due(RPL_TICKET) : NULL;
  if (e) {
    uint64_t steps = 0;
    while (__atomic_load_n(&b->count, __ATOMIC_ACQUIRE) != e->arg)
      rpl_wait_step(&steps, "waiting for an atomic operation of another rank");
    rpl_take();
  } else if (rpl.mode == RPL_REPLAYS && rpl_log_next()) {
    rpl_deviate("an atomic operation more");
  }
  lock(b);
  operate(ad, op);
  if (rpl.mode == RPL_RECORDS) rpl_note(RPL_TICKET, b->count);
  __atomic_store_n(&b->count, b->count + 1, __ATOMIC_RELEASE);
  __atomic_store_n(&b->lock, 0, __ATOMIC_RELEASE);
}

gex_Event_t gexx_ad_op_nb(gex_AD_t ad, const struct gexx_ad_op *op) {
  RPL_ENTER(gexx_ad_op_nb);
  if (!outer) return rpl_real.gexx_ad_op_nb(ad, op);
  in_turn(ad, op);
  return GEX_EVENT_INVALID;
}

int gexx_ad_op_nbi(gex_AD_t ad, const struct gexx_ad_op *op) {
  RPL_ENTER(gexx_ad_op_nbi);
  if (!outer) return rpl_real.gexx_ad_op_nbi(ad, op);
  in_turn(ad, op);
  return 0;
}
