/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order in which the threads of a rank do something one after the other.
 *
 * Owns nothing. Called by locks.c, sends.c and signals.c, which own a struct rpl_turns each. Calls:
 * log.c. An event names a thread, and how often in a row it was its turn, or that a try failed.
 * Handlers are one thread here, whoever runs them, because their order is known. Invariants: the
 * thread whose turn it is alone changes what is next; before the program has made a thread there is
 * no order.
 */
#define _GNU_SOURCE
#include "replay/runtime/rpl.h"

#include <sched.h>
#include <stdio.h>
#include <time.h>

#define YIELDS      1000u
#define SLEEP_NS    50000L
#define NOTICE_NS   UINT64_C(5000000000)
#define GIVEN_UP_NS UINT64_C(30000000000)

bool rpl_turns_open(struct rpl_turns *o) {
  if (rpl.mode == RPL_RECORDS) return rpl_log_create_at(&o->log, o->file, 0);
  return rpl.mode != RPL_REPLAYS || rpl_log_open_at(&o->log, o->file, 0);
}

void rpl_turns_close(struct rpl_turns *o) {
  rpl_lock();
  rpl_log_close(&o->log);
  rpl_unlock();
}

bool rpl_turns_on(const struct rpl_turns *o) {
  return rpl_on() && o->log.head && !__atomic_load_n(&o->given_up, __ATOMIC_RELAXED) &&
         rpl_threads_made();
}

static uint32_t own_id(void) {
  return rpl_in_handler() ? RPL_ID_HANDLERS : rpl_own->id;
}

void rpl_turn_note(struct rpl_turns *o, int failure) {
  const uint32_t id = own_id();
  rpl_lock();
  const struct rpl_event *const last = o->log.next ? &o->log.events[o->log.next - 1] : NULL;
  if (!failure && last && last->arg == id && !last->repeat)
    rpl_log_repeat(&o->log);
  else
    rpl_log_append_to(
        &o->log,
        &(struct rpl_event){.run = 1, .repeat = (uint32_t)failure, .arg = id, .kind = RPL_TURN});
  rpl_unlock();
}

static const struct rpl_event *next_event(const struct rpl_turns *o) {
  const uint64_t next = __atomic_load_n(&o->next, __ATOMIC_ACQUIRE);
  return next < o->log.count ? &o->log.events[next] : NULL;
}

/* A wait lasts long. */
static void notice(struct rpl_turns *o, uint64_t ns) {
  const bool give_up = ns >= GIVEN_UP_NS && !rpl.area->only;
  if (!give_up && o->said) return;
  o->said = true;
  __atomic_store_n(&o->given_up, give_up, __ATOMIC_RELAXED);
  fprintf(stderr, "tombolo: rank %u: replay: %s %llu has not come for %d s%s\n", rpl.rank, o->what,
          (unsigned long long)__atomic_load_n(&o->next, __ATOMIC_RELAXED), (int)(ns / 1000000000),
          give_up ? "; from here on they have no order" : "");
}

/* Wait for the turn of a thread. Returns its event, NULL: there is no order. */
static const struct rpl_event *await(struct rpl_turns *o, uint32_t id) {
  uint64_t steps = 0, polls = 0, start = 0, seen = 0;
  const struct rpl_event *e;
  while ((e = next_event(o)) && e->arg != id) {
    const uint64_t next = __atomic_load_n(&o->next, __ATOMIC_RELAXED);
    if (!start || seen != next) start = rpl_now_ns();
    seen = next;
    if (__atomic_load_n(&o->given_up, __ATOMIC_RELAXED) || rpl.mode != RPL_REPLAYS) return NULL;
    if (o->polls && rpl_own->call != RPL_CALL_gexx_am_commit) /* its descriptor is in use */
      rpl_wait_step(&polls, "waiting for a message of another thread");
    else if (++steps < YIELDS)
      (void)sched_yield();
    else
      (void)nanosleep(&(struct timespec){0, SLEEP_NS}, NULL);
    const uint64_t ns = rpl_now_ns() - start;
    if (ns > NOTICE_NS) notice(o, ns);
  }
  return e;
}

int rpl_turn(struct rpl_turns *o) {
  const struct rpl_event *const e = await(o, own_id());
  return e ? (int)e->repeat : RPL_NO_TURN;
}

void rpl_turn_taken(struct rpl_turns *o) {
  const struct rpl_event *const e = next_event(o);
  rpl_moved();
  if (e && ++o->taken < e->run) return;
  o->taken = 0;
  __atomic_fetch_add(&o->next, 1, __ATOMIC_RELEASE);
}

int rpl_turn_begin(struct rpl_turns *o, bool outer) {
  if (!outer || !rpl_turns_on(o)) return RPL_NO_TURN;
  if (rpl.mode == RPL_REPLAYS) return rpl_turn(o);
  if (rpl.mode != RPL_RECORDS) return RPL_NO_TURN;
  rpl_word_lock(&o->mutex);
  return 0;
}

int rpl_turn_end(struct rpl_turns *o, int turn, int rc) {
  if (turn == RPL_NO_TURN) return rc;
  if (rpl.mode == RPL_RECORDS && rc == GASNET_OK) rpl_turn_note(o, 0);
  if (rpl.mode == RPL_REPLAYS && rc == GASNET_OK) rpl_turn_taken(o);
  if (rpl.mode != RPL_REPLAYS) rpl_word_unlock(&o->mutex);
  return rc;
}
