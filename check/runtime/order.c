/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clocks of the threads of this rank.
 *
 * Owns: the threads, and what was given to objects that order them. Called by sync.c, thread.c and
 * the wrappers, under chk.lock, which it takes for them. Calls: the C library's mutexes. A rank has
 * one vector clock for other ranks (clock.c). Beside it each thread has a clock of the threads of
 * the rank, which decides whether one access of the rank is before another one. What a thread has
 * heard of other ranks is its own, too, until it orders another thread, and it gives no more than
 * that to other ranks. Each thread has a column, as each rank has: its ticks go from rank to rank
 * beside the clocks of ranks, and come back to other threads of its rank. Invariants: a thread's
 * own clock goes on when it has given; it has a column before it gives. Threads without a clock are
 * before and behind all; for those that found no column, the number of the rank's clock stands.
 * Objects whose addresses have one hash are one. So an order that is not there may be assumed, and
 * no race is reported falsely.
 */
#define _GNU_SOURCE
#include "check/libc.h"
#include "check/runtime/chk.h"

#define OBJECTS (1u << 16) /* power of two */

typedef uint32_t clocks[CHK_THREADS];

static struct chk_thread threads[CHK_THREADS] = {
    {.clock = {1}, .name = 1, .number = 1, .words = &chk_words, .state = CHK_RUNS}};
static struct chk_thread unknown; /* all that have no clock */
static uint32_t used = 1, made = 1;

_Thread_local CHK_FAST struct chk_thread *chk_me = &unknown;
_Thread_local CHK_FAST uintptr_t chk_take_next;
_Thread_local CHK_FAST struct chk_mine chk_mine;
_Thread_local CHK_FAST bool chk_locked;

static clocks *objects;   /* [OBJECTS] */
static clocks given;      /* by the rank so far, once a thread has no column */
static uint32_t columned; /* threads that have a column, or found none */
static bool crowded;      /* one has found none */

/* Clocks that a thread, all threads, or an object has heard of: [...][ranks], and ticks. NULL: the
 * job has not started, or there is no address space. */
#define HEARD_BY_ALL     CHK_THREADS
#define HEARD_TO_GIVE    (CHK_THREADS + 1)
#define HEARD_BY_OBJECTS (CHK_THREADS + 2)
static uint64_t *heard;
static uint32_t (*heard_ticks)[CHK_COLUMNS];

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

static struct chk_clocks heard_at(size_t index) {
  return (struct chk_clocks){heard + index * chk.ranks, heard_ticks[index]};
}

/* What the acting thread has heard; one without a clock has heard all. */
static struct chk_clocks heard_by_self(void) {
  return chk.thread ? heard_at(chk.thread - 1u) : (struct chk_clocks){chk.clock, chk.ticks};
}

static bool has_heard(void) {
  if (heard || !chk.area) return heard != NULL;
  const size_t count = HEARD_BY_OBJECTS + OBJECTS;
  if (!heard_ticks) heard_ticks = chk_reserve(count * sizeof *heard_ticks);
  if (heard_ticks) heard = chk_reserve(count * chk.ranks * sizeof *heard);
  if (heard) chk_join_clocks(heard_at(HEARD_BY_ALL), (struct chk_clocks){chk.clock, chk.ticks});
  return heard != NULL;
}

uint64_t chk_thread_heard(uint32_t rank) {
  if (!chk.thread || !heard) return chk.clock[rank];
  const uint64_t all = heard_at(HEARD_BY_ALL).rank[rank], own = heard_by_self().rank[rank];
  return all > own ? all : own;
}

/* ---- columns */

/* Gives each thread of this rank a column, if there is room. */
static void take_columns(void) {
  for (; columned < used; columned++) {
    const uint64_t column = __atomic_fetch_add(&chk.area->columns, 1, __ATOMIC_ACQ_REL);
    const bool full = column >= CHK_COLUMNS;
    crowded = crowded || full;
    __atomic_store_n(chk_column_at(chk.area, chk.rank, columned),
                     full ? CHK_NO_COLUMN : (uint16_t)(column + 1), __ATOMIC_RELEASE);
  }
}

static uint32_t column_of(uint32_t rank, uint32_t thread) {
  return __atomic_load_n(chk_column_at(chk.area, rank, thread), __ATOMIC_ACQUIRE);
}

/* Whether the acting thread has heard of a tick of a thread of another rank. in number: of that
 * rank's clock, for a thread without a column. */
static bool has_heard_tick(uint32_t rank, uint8_t thread, uint32_t tick, uint64_t number) {
  const uint32_t column = thread ? column_of(rank, thread - 1u) : CHK_NO_COLUMN;
  if (column == CHK_NO_COLUMN) return chk_thread_heard(rank) >= number;
  if (!column) return false; /* it has not given */
  if (heard && chk.thread && heard_at(HEARD_BY_ALL).tick[column - 1] >= tick) return true;
  return (heard ? heard_by_self().tick : chk.ticks)[column - 1] >= tick;
}

struct chk_clocks chk_thread_clocks(void) {
  take_columns();
  if (!has_heard()) return (struct chk_clocks){chk.clock, chk.ticks};
  const struct chk_clocks to_give = heard_at(HEARD_TO_GIVE);
  memcpy(to_give.rank, heard_at(HEARD_BY_ALL).rank, chk.ranks * sizeof *to_give.rank);
  memcpy(to_give.tick, heard_at(HEARD_BY_ALL).tick, chk_columns() * sizeof *to_give.tick);
  chk_join_clocks(to_give, heard_by_self());
  to_give.rank[chk.rank] = chk.clock[chk.rank];
  for (uint32_t i = 0; i < used; i++) {
    const uint32_t column = column_of(chk.rank, i);
    const uint32_t tick = chk.thread ? chk.self->clock[i] : threads[i].clock[i];
    if (column != CHK_NO_COLUMN) to_give.tick[column - 1] = tick;
  }
  return to_give;
}

/* ---- objects */

static uint32_t object_of(uintptr_t addr) {
  return addr * UINT64_C(0x9e3779b97f4a7c15) >> 48 & (OBJECTS - 1);
}

void chk_object_gets(uintptr_t addr) {
  const uint32_t object = object_of(addr);
  add_self(objects[object]);
  if (has_heard()) chk_join_clocks(heard_at(HEARD_BY_OBJECTS + object), heard_by_self());
  tick();
}

void chk_object_tells(uintptr_t addr) {
  const uint32_t object = object_of(addr);
  hear(objects[object]);
  if (chk.thread && has_heard())
    chk_join_clocks(heard_by_self(), heard_at(HEARD_BY_OBJECTS + object));
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
  if (!objects) return false;
  static const uint64_t none[256];
  chk.each_thread = true;
  chk.plain = none;
  chk.gives = CHK_GIVES_ANEW;
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
  if (has_heard()) {
    memset(heard_at(index).rank, 0, chk.ranks * sizeof *heard);
    memset(heard_at(index).tick, 0, sizeof *heard_ticks);
    chk_join_clocks(heard_at(index), heard_by_self());
  }
  t->name = (uint8_t)(index + 1);
  t->number = ++made;
  t->id = 0;
  return t;
}

void chk_thread_joined(const struct chk_thread *t) {
  hear(t->clock);
  if (chk.thread && has_heard()) chk_join_clocks(heard_by_self(), heard_at(t->name - 1u));
}

/* ---- other ranks */

void chk_thread_tells(void) {
  if (chk.area) take_columns();
  if (crowded) add_self(given);
}

bool chk_thread_heard_of(const struct chk_access *a) {
  return has_heard_tick(a->rank, a->thread, a->tick, a->done);
}

bool chk_thread_accepted(const struct chk_access *a) {
  const uint32_t rank = a->accept_rank;
  const uint8_t thread = a->accept_thread;
  if (!a->accept) return true;
  if (rank == chk.rank)
    return !thread || !chk.thread || chk.self->clock[thread - 1] >= a->accept_tick;
  return has_heard_tick(rank, thread, a->accept_tick, a->accept);
}

void chk_thread_gives(void) {
  tick();
}

void chk_thread_hears(const struct chk_clocks *clocks) {
  if (has_heard()) chk_join_clocks(chk.thread ? heard_by_self() : heard_at(HEARD_BY_ALL), *clocks);
  if (!chk.thread) return;
  for (uint32_t i = 0; i < columned; i++) {
    const uint32_t column = column_of(chk.rank, i);
    const uint32_t tick = column == CHK_NO_COLUMN ? given[i] : clocks->tick[column - 1];
    if (chk.self->clock[i] < tick) chk.self->clock[i] = tick;
  }
}

bool chk_thread_ordered(const struct chk_access *a) {
  return !a->thread || chk.self->clock[a->thread - 1] >= a->tick;
}
