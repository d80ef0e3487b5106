/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks (UPC 1.3 library section 7.2.4).
 *
 * Called by UPC programs. Calls: remote atomics. Invariants: a lock is one word: the next ticket in
 * the upper half, the ticket that holds the lock in the lower; a thread adds 1 to the upper half
 * and waits until its ticket is the lower one, so that threads get the lock in the order in which
 * their requests reach its home, which polls in each call; it is one operation where the lock is
 * free. The lower half is written by the holder alone. Where the lock is mapped here, the
 * processor's operations are used, which are those that the library uses for words of this host;
 * a waiting thread reads the word. Before it sleeps it writes its number beside the word, and the
 * holder before it wakes it.
 * Algorithm: ticket lock (D. Reed, R. Kanodia, doi 10.1145/359060.359076).
 */
#include "rt.h"

#include <stdio.h>
#include <string.h>

typedef upcr_pts_t lock_t;

#define TICKET ((uint64_t)1 << 32)
enum { PLACE_BYTES = 300 };
/* NEXT: tickets behind the one that holds a lock whose threads are woken. Those further behind find
 * their turn by themselves. */
enum { NEXT = 8, LOOK_NS = 1000000 };
enum { LOW_HALF = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };

RT_EXPORT lock_t upc_global_lock_alloc(void);
RT_EXPORT lock_t upc_all_lock_alloc(void);
RT_EXPORT void upc_lock(lock_t lock);
RT_EXPORT int upc_lock_attempt(lock_t lock);
RT_EXPORT void upc_unlock(lock_t lock);
RT_EXPORT void upc_lock_free(lock_t lock);
RT_EXPORT void upc_all_lock_free(lock_t lock);
RT_EXPORT void bupc_all_lock_free(lock_t lock);
RT_EXPORT void upc_lock_init(lock_t lock);

extern upcr_pts_t upc_alloc(size_t nbytes);
extern void upc_free(upcr_pts_t p);

/* A lock. Behind the word, how many threads may sleep that wait for it; then of the next tickets,
 * at [ticket % NEXT], 1 + the number of the thread that sleeps with it; 0, or another thread's: not
 * known. */
struct lock {
  uint64_t word;
  uint32_t sleepers;
  uint32_t waits[NEXT];
};

static void check(lock_t lock, const char *what) {
  if (__builtin_expect(upcr_addrfield(lock) < RT_GUARD, 0))
    rt_fatal("%s: null lock [TMB-2126]", what);
}

/* The lock, where it is mapped here and this processor may operate on it. */
static struct lock *mapped(lock_t lock) {
  return rt.ordered ? NULL : (struct lock *)(void *)rt_mapped(lock);
}

/* The word, where it is mapped here. */
static uint64_t *word_of(lock_t lock) {
  struct lock *here = mapped(lock);
  return here ? &here->word : NULL;
}

/* The checker does not see the processor's operations. in how: GEXX_CHECK_GIVE, _TAKE. */
static inline void note_order(lock_t lock, int how) {
  if (__builtin_expect(rt.traced, 0))
    gexx_check_word((gex_Rank_t)upcr_threadof(lock), rt_owner_addr(lock), how);
}

static uint64_t operate(lock_t lock, gex_OP_t op, uint64_t a, uint64_t b) {
  uint64_t old = 0;
  gex_Event_Wait(gex_AD_OpNB_U64(rt.ad64, &old, (gex_Rank_t)upcr_threadof(lock),
                                 rt_owner_addr(lock), op, a, b, 0));
  return old;
}

/* The first ticket of a new lock, unlike that of any other lock. So a thread's record of a lock
 * that was freed while held does not match a new lock at the same address. */
static uint64_t first_ticket(void) {
  static uint32_t made;
  const uint32_t ticket = (++made * (uint32_t)upcr_threads + (uint32_t)upcr_mythread) * 0x9E3779B1u;
  return (uint64_t)ticket << 32 | ticket;
}

lock_t upc_global_lock_alloc(void) {
  const lock_t lock = upc_alloc(sizeof(struct lock));
  if (!lock)
    rt_fatal(
        "upc_global_lock_alloc: no shared memory is left; raise GASNET_MAX_SEGSIZE [TMB-2125]");
  memset(rt_mapped(lock), 0, sizeof(struct lock));
  upcr_put8(lock, first_ticket());
  return lock;
}

lock_t upc_all_lock_alloc(void) {
  static int next; /* homes go round, so that no thread serves all locks */
  lock_t lock = 0;
  const int home = next++ % upcr_threads;
  if (upcr_mythread == home) lock = upc_global_lock_alloc();
  gex_Event_Wait(gex_Coll_BroadcastNB(rt.tm, (gex_Rank_t)home, &lock, &lock, sizeof lock, 0));
  return lock;
}

/* Requests of other hosts wait until the lock's home polls. The home does so before it takes a
 * ticket, so that earlier ones come first, and after an unlock, which the next one waits to see. */
static inline void serve_others(lock_t lock) {
  if (__builtin_expect(!rt.all_mapped, 0) && upcr_threadof(lock) == upcr_mythread) gasnet_AMPoll();
}

static uint64_t read_word(lock_t lock) {
  const uint64_t *here = word_of(lock);
  return here ? __atomic_load_n(here, __ATOMIC_ACQUIRE) : operate(lock, GEX_OP_GET, 0, 0);
}

/* The number of a lock for `tombolo why`: not 0, equal on all threads. */
static uint64_t id_of(lock_t lock) {
  return (uint64_t)upcr_threadof(lock) << 48 ^ (uint64_t)upcr_addrfield(lock);
}

/* Locks that this thread holds, beside rt.held. */
static struct {
  uint32_t ticket;
  const void *from; /* where the program has got it: the address of return */
} holds[GEXX_WAIT_HELD_COUNT];

/* The thread holds a lock. Where it holds more than there is room for, the rest is not known. */
static inline void note_held(lock_t lock, uint32_t ticket, const void *from) {
  if (__builtin_expect(rt.traced, 0))
    gexx_check_made((gex_Rank_t)upcr_threadof(lock), rt_owner_addr(lock),
                    "lock that was never unlocked");
  for (int i = 0; i < GEXX_WAIT_HELD_COUNT; i++) {
    if (rt.held[i]) continue;
    holds[i].ticket = ticket;
    holds[i].from = from;
    __atomic_store_n(&rt.held[i], id_of(lock), __ATOMIC_RELAXED);
    return;
  }
}

static inline void note_freed(lock_t lock) {
  if (__builtin_expect(rt.traced, 0))
    gexx_check_ended((gex_Rank_t)upcr_threadof(lock), rt_owner_addr(lock));
  for (int i = 0; i < GEXX_WAIT_HELD_COUNT; i++) {
    if (rt.held[i] != id_of(lock)) continue;
    __atomic_store_n(&rt.held[i], 0, __ATOMIC_RELAXED);
    return;
  }
}

/* The thread that would wait has the lock: it would wait for ever. in ticket: which holds the lock;
 * from: the address of return of this call. */
static void check_not_mine(lock_t lock, uint32_t ticket, const void *from) {
  char here[PLACE_BYTES], there[PLACE_BYTES];
  for (int i = 0; i < GEXX_WAIT_HELD_COUNT; i++) {
    if (rt.held[i] != id_of(lock) || holds[i].ticket != ticket) continue;
    rt_name_place(from, here, sizeof here);
    rt_name_place(holds[i].from, there, sizeof there);
    rt_fatal("upc_lock%s: this thread holds this lock already and would wait for itself for ever; "
             "it got the lock%s; call upc_unlock first (the lock is of thread %ld, offset %#llx) "
             "[TMB-2142]",
             here, there, (long)upcr_threadof(lock), (unsigned long long)upcr_addrfield(lock));
  }
}

/* Where the lock is, for a message: the pointer has no name. */
static void describe(gexx_WaitInfo_t *info) {
  static char text[40];
  snprintf(text, sizeof text, "the lock at offset 0x%llx",
           (unsigned long long)(info->object_id & (((uint64_t)1 << 48) - 1)));
  info->object = text;
}

/* A ticket of a lock that is mapped here. far: it was too far behind to be woken. */
struct turn {
  struct lock *lock;
  uint32_t ticket;
  bool far;
};

/* Tickets that come before this one. */
static uint32_t before(const struct turn *t) {
  return t->ticket - (uint32_t)__atomic_load_n(&t->lock->word, __ATOMIC_ACQUIRE);
}

/* The turn has come, or this thread can be woken from now on. */
static int is_over(void *arg) {
  const struct turn *t = arg;
  const uint32_t count = before(t);
  return count == 0 || (t->far && count <= NEXT);
}

/* This thread may sleep from now on. */
static void show_sleeper(void *arg) {
  struct turn *t = arg;
  t->far = before(t) > NEXT;
  if (!t->far)
    __atomic_store_n(&t->lock->waits[t->ticket % NEXT], (uint32_t)upcr_mythread + 1,
                     __ATOMIC_RELEASE);
}

/* Waits for a turn. A turn that a thread of another host gives is not announced. */
static void await(struct turn *t, unsigned tries) {
  t->far = false;
  if (t->lock)
    gexx_Wait_Until(&(gexx_WaitCond_t){is_over, t, &t->lock->sleepers, LOOK_NS, show_sleeper});
  else
    rt_pause(tries);
}

/* Wakes the thread whose ticket holds a lock now, where it may sleep. The sleeper has the fence. */
static inline void wake_next(struct lock *here, uint32_t ticket) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST); /* the ticket is stored before the count is read */
  if (!__atomic_load_n(&here->sleepers, __ATOMIC_ACQUIRE)) return;
  const uint32_t waits = __atomic_load_n(&here->waits[ticket % NEXT], __ATOMIC_RELAXED);
  if (waits && waits <= (uint32_t)upcr_threads) gexx_signal_wake(rt.tm, waits - 1);
}

/* in info: of the call in the program. */
static void wait_turn(lock_t lock, uint32_t ticket, gexx_WaitInfo_t *info) {
  struct turn turn = {mapped(lock), ticket, false};
  unsigned tries;
  info->polls = 1;
  info->home = (gex_Rank_t)upcr_threadof(lock);
  info->object_id = id_of(lock);
  info->detail = describe;
  for (tries = 0; (uint32_t)read_word(lock) != ticket; tries++) {
    if (tries == 0) gexx_WaitInfo_Begin(info);
    await(&turn, tries);
  }
  if (tries) gexx_WaitInfo_End();
}

void upc_lock(lock_t lock) {
  check(lock, "upc_lock");
  upcr_serve();
  upcr_complete();
  serve_others(lock);
  uint64_t *here = word_of(lock);
  const uint64_t word = here ? __atomic_fetch_add(here, TICKET, __ATOMIC_SEQ_CST)
                             : operate(lock, GEX_OP_FADD, TICKET, 0);
  if ((uint32_t)word != (uint32_t)(word >> 32)) {
    gexx_WaitInfo_t info = RT_WAIT("upc_lock", GEXX_WAIT_HOLDER);
    check_not_mine(lock, (uint32_t)word, info.caller);
    wait_turn(lock, (uint32_t)(word >> 32), &info);
    upcr_fence();
  }
  note_order(lock, GEXX_CHECK_TAKE);
  note_held(lock, (uint32_t)(word >> 32), __builtin_return_address(0));
}

int upc_lock_attempt(lock_t lock) {
  check(lock, "upc_lock_attempt");
  upcr_serve();
  serve_others(lock);
  const uint64_t word = read_word(lock);
  if ((uint32_t)word != (uint32_t)(word >> 32) ||
      operate(lock, GEX_OP_FCAS, word, word + TICKET) != word) {
    gasnet_AMPoll();
    return 0;
  }
  upcr_fence();
  note_held(lock, (uint32_t)word, __builtin_return_address(0));
  return 1;
}

static void check_held(uint64_t word) {
  if (__builtin_expect((uint32_t)word == (uint32_t)(word >> 32), 0))
    rt_fatal("upc_unlock: no thread holds this lock; was it unlocked twice? [TMB-2124]");
}

void upc_unlock(lock_t lock) {
  check(lock, "upc_unlock");
  upcr_complete();
  note_freed(lock);
  struct lock *here = mapped(lock);
  if (here) {
    const uint64_t word = __atomic_load_n(&here->word, __ATOMIC_RELAXED);
    const uint32_t next = (uint32_t)word + 1;
    check_held(word);
    note_order(lock, GEXX_CHECK_GIVE);
    /* Other threads change the upper half meanwhile, so no carry may reach it. */
    __atomic_store_n((uint32_t *)(void *)&here->word + LOW_HALF, next, __ATOMIC_RELEASE);
    if ((uint32_t)(word >> 32) != next) wake_next(here, next);
    serve_others(lock);
    return;
  }
  upcr_fence();
  const uint64_t word = operate(lock, GEX_OP_GET, 0, 0);
  check_held(word);
  operate(lock, GEX_OP_FADD, (uint32_t)word == UINT32_MAX ? 1 - TICKET : 1, 0);
}

/* A lock may be freed by the thread that holds it. */
void upc_lock_free(lock_t lock) {
  if (lock) note_freed(lock);
  upc_free(lock);
}

void upc_all_lock_free(lock_t lock) {
  if (lock) note_freed(lock);
  gex_Event_Wait(gex_Coll_BarrierNB(rt.tm, 0));
  if (upcr_mythread == 0) upc_lock_free(lock);
}

void bupc_all_lock_free(lock_t lock) {
  upc_all_lock_free(lock);
}

void upc_lock_init(lock_t lock) {
  (void)lock;
}
