/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clocks of the threads of this rank, and the locks.
 *
 * Owns: the declarations of order.c, sync.c, thread.c, lock.c and of what enters a call. Included
 * by chk.h. Calls: seen.c. Invariants: a call of the checker is between chk_enter and chk_exit; see
 * chk.h.
 */
#ifndef TMB_CHK_ORDER_H
#define TMB_CHK_ORDER_H

#include "check/runtime/state.h"

/* ---- order.c: clocks of the threads of this rank */
void chk_guard_all(void);
void chk_unguard_all(void);
extern _Thread_local CHK_FAST bool chk_locked; /* this thread has chk.lock */
/* The calling thread. */
extern _Thread_local CHK_FAST struct chk_thread *chk_me;
/* The object that it hears of when it next takes the lock; 0: none. */
extern _Thread_local CHK_FAST uintptr_t chk_take_next;
/* Where the calling thread looks before it calls, in a process whose threads have clocks; no bytes
 * while an access must come here. */
extern _Thread_local CHK_FAST struct chk_mine chk_mine;
/* Another thread is acted for. Returns who was before. */
struct chk_thread *chk_act_for(struct chk_thread *thread);
/* Threads get clocks. Returns whether there is memory. */
bool chk_clocks_begin(void);
/* A place for a thread that the acting one makes, whose state the caller sets; NULL: there is none.
 * And what the acting one hears of when it has joined it. */
struct chk_thread *chk_thread_new(void);
void chk_thread_joined(const struct chk_thread *t);
/* The thread with an ID that is in a state; NULL: none that has a clock. */
struct chk_thread *chk_thread_find(pthread_t id, int state);
/* Each thread that may have words; NULL: no more. */
struct chk_thread *chk_thread_at(uint32_t index);
/* Number of a thread for users; 0: not known. */
uint32_t chk_thread_number(uint16_t name);
/* The acting thread gives to an object with this address, and hears of what others have given. */
void chk_object_gets(uintptr_t addr);
void chk_object_tells(uintptr_t addr);
/* The acting thread is about to give to other ranks, has given, and hears of what they gave. */
void chk_thread_tells(void);
void chk_thread_gives(void);
void chk_thread_hears(const struct chk_clocks *clocks);
/* Whether a complete access of this rank is before what the acting thread does. */
bool chk_thread_ordered(const struct chk_access *a);
/* The clock of another rank of which the acting thread has heard. */
uint64_t chk_thread_heard(uint32_t rank);
/* Whether it has heard of a complete access of another rank, and that an access was accepted. */
bool chk_thread_heard_of(const struct chk_access *a);
bool chk_thread_accepted(const struct chk_access *a);
/* What the acting thread gives to others: the clocks of which it has heard. */
struct chk_clocks chk_thread_clocks(void);

static inline struct chk_clocks chk_known_clocks(void) {
  if (CHK_UNLIKELY(chk.each_thread)) return chk_thread_clocks();
  return (struct chk_clocks){chk.clock, chk.ticks};
}

/* Ticks that may not be 0. */
static inline uint32_t chk_columns(void) {
  const uint64_t all = __atomic_load_n(&chk.area->columns, __ATOMIC_ACQUIRE);
  return all < CHK_COLUMNS ? (uint32_t)all : CHK_COLUMNS;
}

static inline void chk_join_clocks(struct chk_clocks into, struct chk_clocks from) {
  for (uint32_t r = 0; r < chk.ranks; r++)
    if (into.rank[r] < from.rank[r]) into.rank[r] = from.rank[r];
  for (uint32_t i = 0, end = chk_columns(); i < end; i++)
    if (into.tick[i] < from.tick[i]) into.tick[i] = from.tick[i];
}

/* Whether the acting thread has heard of all of these clocks. */
static inline bool chk_knows_clocks(struct chk_clocks clocks) {
  const struct chk_clocks known = chk_known_clocks();
  for (uint32_t r = 0; r < chk.ranks; r++)
    if (clocks.rank[r] > known.rank[r]) return false;
  for (uint32_t i = 0, end = chk_columns(); i < end; i++)
    if (clocks.tick[i] > known.tick[i]) return false;
  return true;
}

static inline bool chk_accepted(const struct chk_access *a) {
  if (CHK_UNLIKELY(chk.each_thread || a->accept_thread)) return chk_thread_accepted(a);
  return chk.clock[a->accept_rank] >= a->accept;
}

/* ---- sync.c: the calling thread gives to what has this address, or waited for it */
void chk_order_give(uintptr_t addr);
void chk_order_take(uintptr_t addr);
/* Called by the library, also behind a handler. */
int chk_gate(gex_Rank_t from, int reply, const struct gexx_am_msg *msg, uint32_t number);

/* ---- thread.c: whether a call orders threads. in pc: who calls; of_library: also the library. */
bool chk_orders(const void *pc, bool of_library);

/* chk.lock, which a process of one thread does not need. There the newest operation may get a
 * record, see pending.c. */
static inline void chk_guard(void) {
  if (CHK_UNLIKELY(chk.guard != NULL)) chk.guard();
}

static inline void chk_unguard(void) {
  if (CHK_UNLIKELY(chk.threads)) chk_unguard_all();
}

/* ---- seen.c: enter the loads and stores of this epoch, of all threads, or of the acting one.
 * Under chk.lock. */
void chk_enter_any(void);
void chk_enter_own(void);

typedef uint64_t chk_flags8 __attribute__((may_alias));

/* Whether these words are none, as between two operations most often; false also if they may be. */
static inline bool chk_has_none(const struct chk_words *w) {
  const chk_flags8 *const loads = (const chk_flags8 *)(const void *)w->seen[CHK_LOAD]->group;
  const chk_flags8 *const stores = (const chk_flags8 *)(const void *)w->seen[CHK_STORE]->group;
  for (uint32_t i = 0; i < chk.eights; i++)
    if (loads[i] | stores[i]) return false;
  return chk.eights != 0;
}

static inline bool chk_has_seen(void) {
  return chk.runs || chk.each_thread || !chk_has_none(&chk_words);
}

static inline void chk_enter_seen(void) {
  if (chk_has_seen()) chk_enter_any();
}

/* Begin of what a call does here: no other thread does, and all loads and stores of before are
 * entered, with the clock that they were made at. */
static inline void chk_enter(void) {
  chk_guard();
  if (CHK_UNLIKELY(tombolo_check_watch.files)) chk_enter_seen();
}

static inline void chk_exit(void) {
  chk_unguard();
}

/* ---- lock.c: locks of the area, which have the rank of their owner, + 1; 0: free */
void chk_lock_held(uint32_t *lock);
/* This process is that of the rank. */
void chk_owner_begins(void);

static inline void chk_lock(uint32_t *lock) {
  uint32_t none = 0;
  if (CHK_UNLIKELY(!__atomic_compare_exchange_n(lock, &none, chk.rank + 1, false, __ATOMIC_ACQUIRE,
                                                __ATOMIC_RELAXED)))
    chk_lock_held(lock);
}

static inline void chk_unlock(uint32_t *lock) {
  __atomic_store_n(lock, 0u, __ATOMIC_RELEASE);
}

#endif
