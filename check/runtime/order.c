/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clocks of the threads of this rank.
 *
 * Owns: the threads, and what was given to objects that order them. Called by sync.c, thread.c and
 * the wrappers, under chk.lock, which it takes for them. Calls: the C library's mutexes. A rank has
 * one vector clock for other ranks (clock.c). Beside it each thread has a clock of the threads of
 * the rank, which decides whether one access of the rank is before another one. An order that goes
 * through other ranks is found by the numbers of the rank's clock: with each of them stands what
 * its threads had given by then. What a thread has heard of other ranks is its own, too, until it
 * orders another thread, and it gives no more than that to other ranks. Which ticks of its threads
 * a rank has given, and when, others read in the area. Invariants: a thread's own clock goes on
 * when it has given; the area has a tick before anybody can hear of the number with which it was
 * given. Threads without a clock are before and behind all. Objects whose addresses have one hash
 * are one, so that an order that is not there may be assumed, and no race is reported falsely.
 */
#define _GNU_SOURCE
#include "check/libc.h"
#include "check/runtime/chk.h"

#define OBJECTS (1u << 16) /* power of two */
#define GIVEN   1024u      /* numbers of the rank's clock; power of two */

typedef uint32_t clocks[CHK_THREADS];

static struct chk_thread threads[CHK_THREADS] = {
    {.clock = {1}, .name = 1, .number = 1, .words = &chk_words, .state = CHK_RUNS}};
static struct chk_thread unknown; /* all that have no clock */
static uint32_t used = 1, made = 1;

_Thread_local CHK_FAST struct chk_thread *chk_me = &unknown;
_Thread_local CHK_FAST uintptr_t chk_take_next;
_Thread_local CHK_FAST struct chk_mine chk_mine;
_Thread_local CHK_FAST bool chk_locked;

static clocks *objects; /* [OBJECTS] */
static clocks *given;   /* [GIVEN] by the rank, with a number of its clock and before; and so far */

/* Clocks of ranks that a thread, all threads, or an object has heard of: [...][ranks]. NULL: the
 * job has not started, or there is no address space. */
#define HEARD_BY_ALL     CHK_THREADS
#define HEARD_TO_GIVE    (CHK_THREADS + 1)
#define HEARD_BY_OBJECTS (CHK_THREADS + 2)
static uint64_t *heard;

__attribute__((constructor)) static void first(void) {
  chk_me = &threads[0];
}

static void join(clocks into, const clocks from) {
  for (uint32_t i = 0; i < used; i++)
    if (into[i] < from[i]) into[i] = from[i];
}

/* Adds what the acting thread has done and heard of. */
static void add_self(clocks into) {
  if (chk.thread) {
    join(into, chk.self->clock);
    return;
  }
  for (uint32_t i = 0; i < used; i++)
    if (into[i] < threads[i].clock[i]) into[i] = threads[i].clock[i];
}

/* The acting thread hears of it. */
static void hear(const clocks from) {
  if (chk.thread) join(chk.self->clock, from);
}

/* The acting thread has given its clock. */
static void tick(void) {
  if (chk.thread && chk.tick < UINT32_MAX) chk.tick = ++chk.self->clock[chk.thread - 1];
}

/* ---- what threads have heard of other ranks */

static uint64_t *heard_at(size_t index) {
  return heard + index * chk.ranks;
}

/* What the acting thread has heard; one without a clock has heard all. */
static uint64_t *heard_by_self(void) {
  return chk.thread ? heard_at(chk.thread - 1u) : chk.clock;
}

static bool has_heard(void) {
  if (heard || !chk.area) return heard != NULL;
  heard = chk_reserve((HEARD_BY_OBJECTS + OBJECTS) * chk.ranks * sizeof *heard);
  if (heard) memcpy(heard_at(HEARD_BY_ALL), chk.clock, chk.ranks * sizeof *heard);
  return heard != NULL;
}

static void join_heard(uint64_t *into, const uint64_t *from) {
  for (uint32_t r = 0; r < chk.ranks; r++)
    if (into[r] < from[r]) into[r] = from[r];
}

uint64_t chk_thread_heard(uint32_t rank) {
  if (!chk.thread || !heard) return chk.clock[rank];
  const uint64_t all = heard_at(HEARD_BY_ALL)[rank], own = heard_by_self()[rank];
  return all > own ? all : own;
}

const uint64_t *chk_thread_clocks(void) {
  if (!chk.thread || !has_heard()) return chk.clock;
  uint64_t *const to_give = heard_at(HEARD_TO_GIVE);
  for (uint32_t r = 0; r < chk.ranks; r++) to_give[r] = chk_thread_heard(r);
  to_give[chk.rank] = chk.clock[chk.rank];
  return to_give;
}

/* ---- objects */

static uint32_t object_of(uintptr_t addr) {
  return addr * UINT64_C(0x9e3779b97f4a7c15) >> 48 & (OBJECTS - 1);
}

void chk_object_gets(uintptr_t addr) {
  const uint32_t object = object_of(addr);
  add_self(objects[object]);
  if (has_heard()) join_heard(heard_at(HEARD_BY_OBJECTS + object), heard_by_self());
  tick();
}

void chk_object_tells(uintptr_t addr) {
  const uint32_t object = object_of(addr);
  hear(objects[object]);
  if (chk.thread && has_heard()) join_heard(heard_by_self(), heard_at(HEARD_BY_OBJECTS + object));
}

/* ---- the lock, and who acts */

struct chk_thread *chk_act_for(struct chk_thread *thread) {
  struct chk_thread *const was = chk.self;
  chk.self = thread;
  chk.thread = thread->name;
  chk.tick = thread->name ? thread->clock[thread->name - 1] : 0;
  return was;
}

void chk_guard_all(void) {
  LIBC_REAL(pthread_mutex_lock)
  (void)real(&chk.lock);
  chk_locked = true;
  if (!chk.each_thread) return;
  (void)chk_act_for(chk_me);
  if (!chk_take_next) return;
  chk_object_tells(chk_take_next);
  chk_take_next = 0;
}

void chk_unguard_all(void) {
  LIBC_REAL(pthread_mutex_unlock)
  chk_locked = false;
  (void)real(&chk.lock);
}

/* ---- threads */

struct chk_thread *chk_thread_at(uint32_t index) {
  if (index < used) return &threads[index];
  return index == used ? &unknown : NULL;
}

uint32_t chk_thread_number(uint16_t name) {
  return name ? threads[name - 1].number : 0;
}

struct chk_thread *chk_thread_find(pthread_t id, int state) {
  for (uint32_t i = 0; i < used; i++)
    if (threads[i].state == state && threads[i].id == id) return &threads[i];
  return NULL;
}

bool chk_clocks_begin(void) {
  if (!objects) objects = chk_reserve(OBJECTS * sizeof *objects);
  if (!given) given = chk_reserve((GIVEN + 1) * sizeof *given);
  if (!objects || !given) return false;
  chk.each_thread = true;
  (void)chk_act_for(chk_me);
  return true;
}

struct chk_thread *chk_thread_new(void) {
  uint32_t index = used;
  if (used < CHK_THREADS)
    used++;
  else
    for (index = 0; index < CHK_THREADS && threads[index].state != CHK_FREE;) index++;
  if (index == CHK_THREADS) return NULL;
  struct chk_thread *const t = &threads[index];
  const uint32_t before = t->clock[index];
  memset(t->clock, 0, sizeof t->clock);
  add_self(t->clock);
  tick();
  t->clock[index] = before + 1;
  if (has_heard()) memcpy(heard_at(index), heard_by_self(), chk.ranks * sizeof *heard);
  t->name = (uint8_t)(index + 1);
  t->number = ++made;
  t->id = 0;
  return t;
}

void chk_thread_joined(const struct chk_thread *t) {
  hear(t->clock);
  if (chk.thread && has_heard()) join_heard(heard_by_self(), heard_at(t->name - 1u));
}

/* ---- other ranks */

static struct chk_ticks *ticks_of(uint32_t rank, uint32_t index) {
  return (struct chk_ticks *)chk_at(chk.area, chk.area->where_ticks) + rank * CHK_THREADS + index;
}

/* The ticks of a thread until a new one are given with the present number of the rank's clock. */
static void give_ticks(uint32_t index, uint32_t until) {
  struct chk_ticks *const t = ticks_of(chk.rank, index);
  const uint64_t number = chk.clock[chk.rank];
  if (t->newest >= until) return;
  uint64_t tick = t->newest + CHK_TICKS < until ? until - CHK_TICKS : t->newest;
  while (tick++ < until)
    __atomic_store_n(&t->when[tick % CHK_TICKS], tick << CHK_TICK_SHIFT | number, __ATOMIC_RELAXED);
  __atomic_store_n(&t->newest, until, __ATOMIC_RELEASE);
}

void chk_thread_tells(void) {
  if (!chk.area || chk.clock[chk.rank] >> CHK_TICK_SHIFT) return;
  add_self(given[GIVEN]);
  for (uint32_t i = 0; i < used; i++) give_ticks(i, given[GIVEN][i]);
}

/* The number of a rank's clock with which a tick of a thread was given, at least `least`. CHK_OPEN:
 * not yet. */
static uint64_t gave(uint32_t rank, uint8_t thread, uint32_t tick, uint64_t least) {
  const struct chk_ticks *const t = ticks_of(rank, thread - 1u);
  if (tick > __atomic_load_n(&t->newest, __ATOMIC_ACQUIRE)) return CHK_OPEN;
  const uint64_t when = __atomic_load_n(&t->when[tick % CHK_TICKS], __ATOMIC_RELAXED);
  const uint64_t number = when & ((UINT64_C(1) << CHK_TICK_SHIFT) - 1);
  const bool is_it = (when ^ (uint64_t)tick << CHK_TICK_SHIFT) >> CHK_TICK_SHIFT == 0;
  return is_it && number > least ? number : least;
}

uint64_t chk_thread_gave(const struct chk_access *a) {
  return gave(a->rank, a->thread, a->tick, a->done);
}

bool chk_thread_accepted(const struct chk_access *a) {
  const uint32_t rank = a->accept_rank;
  const uint8_t thread = a->accept_thread;
  if (!a->accept) return true;
  if (rank == chk.rank)
    return !thread || !chk.thread || chk.self->clock[thread - 1] >= a->accept_tick;
  return chk_thread_heard(rank) >=
         (thread ? gave(rank, thread, a->accept_tick, a->accept) : a->accept);
}

void chk_thread_gives(void) {
  add_self(given[GIVEN]);
  memcpy(given[chk.clock[chk.rank] % GIVEN], given[GIVEN], sizeof given[GIVEN]);
  tick();
}

void chk_thread_hears(const uint64_t *clocks_of) {
  const uint64_t now = chk.clock[chk.rank], clock = clocks_of[chk.rank];
  if (has_heard()) join_heard(chk.thread ? heard_by_self() : heard_at(HEARD_BY_ALL), clocks_of);
  if (clock) hear(clock < now && now - clock < GIVEN ? given[clock % GIVEN] : given[GIVEN]);
}

bool chk_thread_ordered(const struct chk_access *a) {
  return !a->thread || chk.self->clock[a->thread - 1] >= a->tick;
}
