/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words of memory that several ranks or threads read and change: atomic operations, short puts and
 * gets.
 *
 * Owns: the last value that each thread has read of each word. Atomic operations on one word have
 * an order in the job: each takes a ticket of the word's bucket, does the operation to its end, and
 * lets the next one go. A replay gives the tickets in the recorded order. So locks that programs
 * and run-time libraries make of atomic operations are won in that order, too. A get of at most 8
 * bytes, or an atomic one, is a value that was read; it is done to its end, also where it is
 * non-blocking. Calls that write a word and are complete when they return, as
 * puts to mapped memory are, are counted in its bucket, and a value has the count with it: a replay
 * waits for so many, so a word may go up and down between them. Invariants: a bucket depends on
 * the lower bits of an address, so it is the same in both runs, wherever the segment is; a lock of
 * a rank that has died is broken after LOCK_NS.
 */
#define _GNU_SOURCE
#include "replay/runtime/rpl.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define SEEN      4096u /* words whose last value is known; power of two */
#define LOCK_NS   1000000000u
#define SETTLE_NS 10000000u /* after so long a word that has changed will not have the value */
#define LAST_NS                                                                   \
 UINT64_C(10000000000) /* nor one that is as it was, or when the job stands still \
                        */
#define SHORT 8u       /* bytes of a put that is counted, at most */

/* A word, or a line with an atomic operation, as a thread has read it last; behind the words one
 * whose value is how many are used. */
struct rpl_seen {
  const void *addr; /* or the return address */
  uint32_t rank;    /* or LINES */
  bool used, known; /* known: it was read before */
  uint32_t writes;  /* of its bucket, then */
  uint32_t noted;   /* those of the last value that an event has with its writes */
  uint64_t value;
};

/* A word of a rank; NULL: there is no room. */
static struct rpl_seen *word_of(uint32_t rank, const void *addr) {
  uint64_t h = ((uintptr_t)addr ^ (uint64_t)rank << 48) * UINT64_C(0x9e3779b97f4a7c15);
  uint32_t at = (uint32_t)(h >> 40) & (SEEN - 1);
  if (!rpl_own->seen) rpl_own->seen = calloc(SEEN + 1, sizeof *rpl_own->seen);
  if (!rpl_own->seen) return NULL;
  struct rpl_seen *const seen_ = rpl_own->seen;
  uint64_t *const seen_count = &seen_[SEEN].value;
  while (seen_[at].used && (seen_[at].addr != addr || seen_[at].rank != rank))
    at = (at + 1) & (SEEN - 1);
  if (!seen_[at].used && *seen_count == SEEN / 2) return NULL;
  if (!seen_[at].used) {
    ++*seen_count;
    seen_[at].used = true;
    seen_[at].addr = addr;
    seen_[at].rank = rank;
  }
  return &seen_[at];
}

/* ---- buckets */

static struct rpl_bucket *bucket_of(uint32_t rank, const void *addr) {
  const uint32_t word = (uint32_t)((uintptr_t)addr >> 3) & 511; /* within its page */
  return &rpl.area->bucket[(rank * 512 + word) & (RPL_BUCKETS - 1)];
}

static void lock(struct rpl_bucket *b) {
  const uint64_t start = rpl_now_ns();
  uint64_t steps = 0;
  while (__atomic_exchange_n(&b->lock, 1, __ATOMIC_ACQUIRE) && rpl_now_ns() - start < LOCK_NS)
    if (rpl_own->call == RPL_CALL_tombolo_replay_atomic)
      (void)sched_yield(); /* it runs no handlers: the program may hold a lock */
    else
      rpl_wait_step(&steps, "waiting for an atomic operation");
}

static void unlock(struct rpl_bucket *b) {
  __atomic_store_n(&b->lock, 0, __ATOMIC_RELEASE);
}

struct rpl_bucket *rpl_write_begin(uint32_t rank, const void *addr) {
  struct rpl_bucket *const b = bucket_of(rank, addr);
  if (rpl.mode == RPL_RECORDS) lock(b);
  return b;
}

void rpl_write_end(struct rpl_bucket *b) {
  __atomic_fetch_add(&b->writes, 1, __ATOMIC_RELEASE);
  if (rpl.mode == RPL_RECORDS) unlock(b);
}

void rpl_written(const void *addr) {
  __atomic_fetch_add(&bucket_of(rpl.rank, addr)->writes, 1, __ATOMIC_RELEASE);
}

/* ---- values */

/* The recorded read of a word. */
struct want {
  uint64_t value;
  const struct rpl_bucket *bucket;
  uint32_t writes;
  bool counted; /* a call has written the value, and `writes` counts it */
};

static int32_t more_writes(const struct want *w) {
  return (int32_t)(__atomic_load_n(&w->bucket->writes, __ATOMIC_ACQUIRE) - w->writes);
}

/* Whether a word that is not as recorded will not be so any more. In last: NULL: not known. */
static bool has_passed(const struct want *w, const struct rpl_seen *last, uint64_t now,
                       uint64_t ns) {
  if (w->counted && more_writes(w) > 0) return true;
  if (last && last->known && last->value == now)
    return rpl_still() || (!rpl.area->only && ns > LAST_NS);
  return ns > SETTLE_NS;
}

/* Replay: wait until a word has the recorded value, or has passed it: by the count of its writes,
 * else where it is neither that nor what it was at the last read. */
static void await(const struct want *w, const struct rpl_seen *last, uint64_t (*read)(void *arg),
                  void *arg) {
  uint64_t steps = 0, now;
  while (w->counted && more_writes(w) < 0) rpl_wait_step(&steps, "waiting for a put");
  const uint64_t start = rpl_now_ns();
  while ((now = read(arg)) != w->value && !has_passed(w, last, now, rpl_now_ns() - start))
    rpl_wait_step(&steps, "waiting for a value");
}

static uint64_t see_again(struct want *w, struct rpl_seen *last, uint64_t (*read)(void *arg),
                          void *arg) {
  uint8_t more;
  w->value = rpl_take_value(&more);
  w->counted = more || rpl_take_more(RPL_VERSION, &w->writes);
  if (more) w->writes = (last ? last->noted : 0) + more - 1;
  if (last && w->counted) last->noted = w->writes;
  await(w, last, read, arg);
  return w->value;
}

/* Note a value, with the writes to its bucket unless they are those of the last read. */
static void note_seen(const struct want *w, struct rpl_seen *last) {
  const bool counted = !last || !last->known || last->writes != w->writes;
  const uint32_t more = w->writes - (last ? last->noted : 0);
  rpl_lock(); /* no other event is between */
  rpl_note_value(w->value, counted && more < UINT8_MAX ? (uint8_t)(more + 1) : 0);
  if (counted && more >= UINT8_MAX) rpl_note(RPL_VERSION, w->writes);
  rpl_unlock();
  if (last && counted) last->noted = w->writes;
}

/* Read a word, and the writes before that. */
static uint64_t see_now(struct want *w, struct rpl_bucket *b, uint64_t (*read)(void *arg),
                        void *arg) {
  const bool records = rpl.mode == RPL_RECORDS;
  if (records) lock(b);
  w->value = read(arg);
  w->writes = b->writes;
  if (records) unlock(b);
  return w->value;
}

static uint64_t see(struct rpl_bucket *b, struct rpl_seen *last, uint64_t (*read)(void *arg),
                    void *arg) {
  struct want w = {.bucket = b};
  uint64_t value;
  if (rpl.mode == RPL_REPLAYS && (rpl_log_next() || rpl_log_has_end())) {
    if (!rpl_due(RPL_VALUE)) return last && last->known ? last->value : read(arg);
    value = see_again(&w, last, read, arg);
  } else {
    value = see_now(&w, b, read, arg);
    const bool same = last && last->known && last->value == value;
    if (rpl.mode == RPL_RECORDS && !same) note_seen(&w, last);
  }
  if (!last) return value;
  last->known = true;
  last->value = value;
  last->writes = w.writes;
  return value;
}

uint64_t rpl_see(uint32_t rank, const void *addr, uint64_t (*read)(void *arg), void *arg) {
  return see(bucket_of(rank, addr), word_of(rank, addr), read, arg);
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

/* Whether a get is a value of a recording. */
static bool is_value(size_t nbytes, gex_Flags_t flags) {
  return nbytes <= 8 && !flags && (rpl.mode == RPL_RECORDS || rpl.mode == RPL_REPLAYS);
}

/* A get that is complete. */
static int get_value(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes) {
  struct get g = {tm, rank, src, nbytes, 0, 0};
  const uint64_t value = rpl_see(rpl_jobrank(tm, rank), src, read_get, &g);
  memcpy(dest, &value, nbytes);
  return g.rc;
}

/* Defines a get. REFUSED: the result of a call that is refused; COMPLETE: that of one that is
 * done. */
#define GET(RESULT, NAME, CATEGORY, REFUSED, COMPLETE)                           \
 RESULT NAME(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes, \
             gex_Flags_t flags) {                                                \
  RPL_ENTER(NAME);                                                               \
  const gex_Flags_t asked = flags;                                               \
  if (outer && rpl_refused(&flags)) return (REFUSED);                            \
  if (outer) rpl_own->nbi |= (CATEGORY);                                         \
  if (outer && is_value(nbytes, asked)) {                                        \
   const int rc = get_value(tm, dest, rank, src, nbytes);                        \
   return (COMPLETE);                                                            \
  }                                                                              \
  const RESULT result = rpl_real.NAME(tm, dest, rank, src, nbytes, flags);       \
  if (outer) rpl_answered(asked, result != (REFUSED));                           \
  return result;                                                                 \
 }

GET(gex_Event_t, gexx_rma_get_nb, 0, GEX_EVENT_NO_OP, ((void)rc, GEX_EVENT_INVALID))
GET(int, gexx_rma_get_nbi, GEX_EC_GET, 1, ((void)rc, 0))
GET(int, gexx_rma_get, 0, 1, rc)

static uint64_t read_val(void *arg) {
  const struct get *const g = arg;
  return rpl_real.gexx_rma_get_val(g->tm, g->rank, g->src, g->nbytes, g->flags);
}

gex_RMA_Value_t gexx_rma_get_val(gex_TM_t tm, gex_Rank_t rank, void *src, size_t nbytes,
                                 gex_Flags_t flags) {
  RPL_ENTER(gexx_rma_get_val);
  if (!outer) return rpl_real.gexx_rma_get_val(tm, rank, src, nbytes, flags);
  struct get g = {tm, rank, src, nbytes, flags, 0};
  return rpl_see(rpl_jobrank(tm, rank), src, read_val, &g);
}

/* ---- short puts */

/* Defines a put, whose parameters have the names of the API. It is complete where the memory is
 * mapped. */
#define PUT(RESULT, NAME, CATEGORY, REFUSED, PARAMS, ARGS)                                    \
 RESULT NAME PARAMS {                                                                         \
  RPL_ENTER(NAME);                                                                            \
  const gex_Flags_t asked = flags;                                                            \
  if (outer && rpl_refused(&flags)) return (REFUSED);                                         \
  if (outer) rpl_own->nbi |= (CATEGORY);                                                      \
  const bool counted = outer && nbytes <= SHORT && !asked;                                    \
  struct rpl_bucket *const b = counted ? rpl_write_begin(rpl_jobrank(tm, rank), dest) : NULL; \
  const RESULT result = rpl_real.NAME ARGS;                                                   \
  if (counted) rpl_write_end(b);                                                              \
  if (outer) rpl_answered(asked, result != (REFUSED));                                        \
  return result;                                                                              \
 }

PUT(int, gexx_rma_put, 0, 1,
    (gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes, gex_Flags_t flags),
    (tm, rank, dest, src, nbytes, flags))
PUT(int, gexx_rma_put_nbi, GEX_EC_PUT, 1,
    (gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes, gex_Event_t *lc_opt,
     gex_Flags_t flags),
    (tm, rank, dest, src, nbytes, lc_opt, flags))
PUT(gex_Event_t, gexx_rma_put_nb, 0, GEX_EVENT_NO_OP,
    (gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes, gex_Event_t *lc_opt,
     gex_Flags_t flags),
    (tm, rank, dest, src, nbytes, lc_opt, flags))

#define VAL_PARAMS \
 (gex_TM_t tm, gex_Rank_t rank, void *dest, gex_RMA_Value_t value, size_t nbytes, gex_Flags_t flags)
#define VAL_ARGS (tm, rank, dest, value, nbytes, flags)
PUT(int, gexx_rma_put_val, 0, 1, VAL_PARAMS, VAL_ARGS)
PUT(int, gexx_rma_put_nbi_val, GEX_EC_PUT, 1, VAL_PARAMS, VAL_ARGS)
PUT(gex_Event_t, gexx_rma_put_nb_val, 0, GEX_EVENT_NO_OP, VAL_PARAMS, VAL_ARGS)

/* ---- atomic operations */

static uint32_t peer_of(gex_AD_t ad, const struct gexx_ad_op *op) {
  const bool job = (op->flags & GEX_FLAG_RANK_IS_JOBRANK) != 0;
  return job ? op->rank : rpl_jobrank(gex_AD_QueryTM(ad), op->rank);
}

/* Do the operation to its end. */
static void operate(gex_AD_t ad, const struct gexx_ad_op *op) {
  struct gexx_ad_op own = *op;
  own.flags &= ~(gex_Flags_t)GEX_FLAG_IMMEDIATE;
  const gex_Event_t event = rpl_real.gexx_ad_op_nb(ad, &own);
  if (event != GEX_EVENT_INVALID) rpl_real.gexx_event_wait(event);
}

/* An atomic get. */
struct atomic_get {
  gex_AD_t ad;
  const struct gexx_ad_op *op;
};

static uint64_t read_atomic(void *arg) {
  const struct atomic_get *const g = arg;
  uint64_t value = 0;
  struct gexx_ad_op own = *g->op;
  own.result = &value;
  operate(g->ad, &own);
  return value;
}

/* An atomic get changes nothing, and other calls than atomic operations may have written the word:
 * it is a value. */
static bool got_value(gex_AD_t ad, const struct gexx_ad_op *op) {
  const gex_Flags_t offsets = (gex_Flags_t)(GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_OFFSET);
  if (op->opcode != GEX_OP_GET || (op->flags & offsets)) return false;
  struct atomic_get g = {ad, op};
  const uint64_t value = rpl_see(peer_of(ad, op), op->addr, read_atomic, &g);
  memcpy(op->result, &value, op->dt & (GEX_DT_I32 | GEX_DT_U32 | GEX_DT_FLT) ? 4 : 8);
  return true;
}

/* Replay: wait for the recorded turn of an operation on a word. Returns whether it has one. */
static bool await_ticket(const struct rpl_bucket *b) {
  const struct rpl_event *const e = rpl_due(RPL_TICKET);
  uint64_t steps = 0;
  if (!e) return false;
  while (__atomic_load_n(&b->count, __ATOMIC_ACQUIRE) != e->arg)
    rpl_wait_step(&steps, "waiting for an atomic operation of another rank or thread");
  rpl_take();
  return true;
}

/* An operation has changed a word. Under the lock of its bucket. */
static void has_changed(struct rpl_bucket *b) {
  if (rpl.mode == RPL_RECORDS) rpl_note(RPL_TICKET, b->count);
  __atomic_fetch_add(&b->writes, 1, __ATOMIC_RELEASE);
  __atomic_fetch_add(&b->count, 1, __ATOMIC_RELEASE);
}

static void in_turn(gex_AD_t ad, const struct gexx_ad_op *op) {
  if (got_value(ad, op)) return;
  struct rpl_bucket *const b = bucket_of(peer_of(ad, op), op->addr);
  if (rpl.mode == RPL_REPLAYS && !await_ticket(b) && !rpl_cut_pass() && rpl_log_next())
    rpl_deviate("an atomic operation more");
  lock(b);
  operate(ad, op);
  has_changed(b);
  unlock(b);
}

/* Atomic operations of the program. The heap gives other addresses in other runs, so all words have
 * one order, and the last value is that of a line. */
static struct rpl_bucket own_words;
#define LINES UINT32_MAX /* in place of a rank */

uint64_t rpl_look(const void *pc, uint64_t (*read)(void *arg), void *arg) {
  return see(&own_words, word_of(LINES, pc), read, arg);
}

uint64_t rpl_change(const void *pc, uint64_t (*change)(void *arg, uint64_t *after), void *arg,
                    uint64_t (*read)(void *arg)) {
  struct rpl_bucket *const b = &own_words;
  struct rpl_seen *const last = word_of(LINES, pc);
  const bool replays = rpl.mode == RPL_REPLAYS && rpl_log_knows();
  if (replays && !await_ticket(b)) return see(b, last, read, arg);
  uint64_t after;
  lock(b);
  const uint64_t value = change(arg, &after);
  const struct want w = {.value = value, .bucket = b, .writes = b->writes};
  const bool same = last && last->known && last->value == value;
  if (after != value || replays)
    has_changed(b);
  else if (rpl.mode == RPL_RECORDS && !same)
    note_seen(&w, last);
  unlock(b);
  if (!last) return value;
  last->known = true;
  last->value = value;
  last->writes = w.writes;
  return value;
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
