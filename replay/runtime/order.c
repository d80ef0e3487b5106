/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Positions of calls, and handlers in their turn.
 *
 * Owns nothing; state.c has the state. Called by the wrappers (points.c, results.c, words.c) and,
 * for handlers, by the library. Calls: position.c, log.c; the library's poll and gexx_gate_run.
 * Handlers of a call run at the latest before it ends, those between two calls before the second
 * one begins. So a loop that polls memory may make fewer or more calls than in the recording, and
 * the order of events is the same. A handler that runs in another thread than the first one is in
 * the logs of both; a replay runs it in that thread, once both are at its positions. Invariants: no
 * wait is inside a handler; positions and logs change under the lock.
 */
#define _GNU_SOURCE
#include "replay/runtime/rpl.h"

#include <tombolo/check_hook.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SPINS    200u  /* polls before a wait yields */
#define YIELDS   2000u /* and before it sleeps */
#define SLEEP_NS 50000L
#define NOTICE_S 5                    /* a wait that lasts so long is reported */
#define LATE_NS  UINT64_C(2000000000) /* for which a message waits for its loop, at most */
#define ALONE_S  10                   /* for which the first thread waits for another one */

/* Requests of a sender, or its replies. */
struct series {
  uint32_t kept;  /* messages that the library keeps */
  uint32_t polls; /* for which chaos still holds them back */
  uint32_t last;  /* number of the message that ran last */
  uint32_t come;  /* messages that have come */
};
static struct series *senders; /* [ranks][2], NULL: none has come */
/* Pass a kept message to the gate again: by its event, or without one. */
static _Thread_local bool releasing;
static _Thread_local const struct rpl_event *released_by;
static _Thread_local bool draining; /* in release_due or release_all */
static uint32_t running;            /* handlers that have begun and not ended, of one thread */
static _Thread_local uint32_t own_running;
static _Thread_local bool ran; /* a handler, since the last poll */
/* The handler that runs is that of a reply which the library delivers just now. */
static _Thread_local bool in_delivery;
/* Number, from 1, of a handler whose thread does not come: any thread runs it. */
static uint64_t alone;

static struct series *series_of(uint32_t from, bool reply) {
  if (!senders) senders = calloc((size_t)rpl.ranks * 2, sizeof *senders);
  if (!senders) abort();
  return &senders[from * 2 + reply];
}

/* A message as the gate gets it. */
struct arrival {
  enum rpl_kind kind;
  uint32_t from;
  uint8_t handler;
  uint32_t number;
  uint32_t index; /* among those of its sender that have come, from 0; of a released one: 0 */
};

/* The number of the message behind the last one of a sender that ran; 0: none has a number. */
static uint32_t next_number(const struct series *s) {
  return s->last ? s->last + 1 : 0;
}

/* The event of the handler that a thread is to run next, in its own log. Handlers that others have
 * run for it are left out. Under the lock. */
static const struct rpl_event *next_ran(struct rpl_thread *t) {
  const struct rpl_event *e;
  while ((e = rpl_log_next_of(t)) && rpl_kind_of(e) == RPL_RAN &&
         (!rpl_log_next_of(&rpl_first) || (int32_t)(rpl_log_number_of(&rpl_first) - e->arg) > 0))
    rpl_log_step_of(t);
  return e && rpl_kind_of(e) == RPL_RAN ? e : NULL;
}

/* Whether the calling thread may run the next handler, as far as threads matter. in e: its event.
 * Under the lock. */
static bool is_mine(const struct rpl_event *e) {
  const uint64_t number = rpl_log_number_of(&rpl_first);
  const bool last = number + 1 == rpl_first.log.count;
  if (last || e[1].kind != RPL_THREAD) return rpl_own == &rpl_first;
  if (e[1].arg == RPL_ID_HANDLERS || alone == number + 1) return true;
  struct rpl_thread *const t = rpl_thread_of(e[1].arg);
  if (!t || t->ended) return t && rpl_own == &rpl_first;
  const struct rpl_event *const mark = rpl_own == t ? next_ran(t) : NULL;
  return mark && mark->arg == (uint32_t)number && rpl_turn_of(t, mark);
}

/* What follows the event of a handler. */
struct more {
  uint32_t events; /* so many */
  uint32_t number; /* of its message, 0: any one of the sender */
};

static struct more more_of(const struct rpl_event *e) {
  const struct rpl_event *const end = rpl_first.log.events + rpl_first.log.count;
  const struct rpl_event *at = e + 1;
  if (at < end && at->kind == RPL_THREAD) at++;
  const bool has = at < end && at->kind == RPL_NUMBER;
  const struct series *const s = series_of(e->arg, rpl_kind_of(e) == RPL_REPLY);
  return (struct more){(uint32_t)(at - e - 1) + has, has ? at->arg : next_number(s)};
}

/* The next handler has begun. in e: its event. */
static void step_over(const struct rpl_event *e) {
  const struct more more = more_of(e);
  series_of(e->arg, rpl_kind_of(e) == RPL_REPLY)->last = more.number;
  for (uint32_t i = 0; i <= more.events; i++) rpl_log_step_of(&rpl_first);
  if (rpl_own && rpl_own != &rpl_first) (void)next_ran(rpl_own);
}

/* Pass a kept message of a sender to the gate: that of the event e, which is taken, or the oldest
 * one, if e is NULL. */
static bool release(uint32_t from, bool reply, const struct rpl_event *e) {
  rpl_lock();
  struct series *const s = series_of(from, reply);
  /* else another thread was faster, or runs a handler */
  const bool mine =
      s->kept && running == own_running && (!e || (rpl_log_next_of(&rpl_first) == e && is_mine(e)));
  void *const message = mine ? gexx_gate_take(from, reply, e ? more_of(e).number : 0) : NULL;
  if (message) running++, own_running++, s->kept--;
  if (message && e) step_over(e);
  rpl_unlock();
  if (!message) return false;
  releasing = true;
  released_by = e;
  gexx_gate_run(message);
  releasing = false;
  return true;
}

/* Report a loss that has come before its turn. */
static bool release_loss(uint32_t rank) {
  const int state = rpl.loss.early ? rpl.loss.early[rank] : 0;
  if (!state || !rpl.loss.fn) return false;
  rpl.loss.early[rank] = 0;
  if (rpl_log_next_of(&rpl_first)) rpl_log_step_of(&rpl_first);
  rpl.loss.fn(rank, state, rpl.loss.cdata);
  return true;
}

/* Let an event happen that has come before its turn. Returns whether it has come. */
static bool release_event(const struct rpl_event *e) {
  const enum rpl_kind kind = rpl_kind_of(e);
  return kind == RPL_LOSS ? release_loss(e->arg) : release(e->arg, kind == RPL_REPLY, e);
}

/* The next handler or loss of the rank, if its turn has come and the calling thread may run it,
 * else NULL. */
static const struct rpl_event *due_handler(void) {
  rpl_lock();
  const struct rpl_event *e = rpl_log_next_of(&rpl_first);
  if (e && (!rpl_is_handler(e) || !rpl_turn_of(&rpl_first, e) || !is_mine(e))) e = NULL;
  rpl_unlock();
  return e;
}

/* The next event of the calling thread, if it is a handler and its turn has come, else NULL. */
static const struct rpl_event *own_handler(void) {
  rpl_lock();
  if (rpl_own != &rpl_first) (void)next_ran(rpl_own);
  const struct rpl_event *e = rpl_log_next();
  if (e && (!rpl_is_handler(e) || !rpl_turn_of(rpl_own, e))) e = NULL;
  rpl_unlock();
  return e;
}

/* Replay: run the events that have arrived and are next in order. The end of a handler leads here
 * again, so calls do not nest. */
static void release_due(void) {
  const struct rpl_event *e;
  if (draining) return;
  draining = true;
  while ((e = due_handler()) && release_event(e)) continue;
  draining = false;
}

/* Let all come that are held back: behind the end of the log, or in no order. in chaos: but for
 * those that chaos holds back. */
static void release_all(bool chaos) {
  if (draining) return;
  draining = true;
  for (uint32_t r = 0; senders && r < 2 * rpl.ranks; r++)
    while (!(chaos && __atomic_load_n(&senders[r].polls, __ATOMIC_RELAXED)) &&
           release(r / 2, r % 2, NULL))
      continue;
  draining = false;
}

/* A step of a loop: the next event happened in another loop since the same call, or in a later poll
 * of the loop of polls before this one. It is held back, because that loop may come. But memory may
 * have ended it sooner than in the recording: then nothing else happens in the job. */
static void look_for_late(void) {
  struct rpl_thread *const t = rpl_own;
  const struct rpl_event *const e = rpl_log_next();
  if (!e || e->run != t->run || !rpl_is_handler(e) || rpl_turn_of(t, e)) return;
  const uint64_t number = rpl_log_number() + 1;
  if (t->late.looked != number) t->late.since_ns = rpl_now_ns();
  t->late.looked = number;
  if (!rpl_still() && (rpl.area->only || rpl_now_ns() - t->late.since_ns < LATE_NS)) return;
  rpl_lock();
  t->late.number = number;
  rpl_unlock();
  release_due();
}

/* Append an event at the position of a thread. */
static void append_between(struct rpl_thread *t, uint8_t kind, uint32_t arg, uint8_t detail) {
  const struct rpl_event e = {.run = t->run,
                              .repeat = t->repeat,
                              .arg = arg,
                              .site = rpl_log_site(t),
                              .kind = (uint8_t)(kind | (t->left ? RPL_BETWEEN : 0)),
                              .detail = detail};
  rpl_log_append(t, &e);
}

void rpl_note_between(enum rpl_kind kind, uint32_t from, uint8_t detail) {
  const uint32_t number = (uint32_t)rpl_first.log.count;
  append_between(&rpl_first, (uint8_t)kind, from, detail);
  if (rpl_own == &rpl_first || rpl.mode != RPL_RECORDS) return;
  rpl_log_append(&rpl_first, &(struct rpl_event){.run = rpl_first.run,
                                                 .repeat = rpl_first.repeat,
                                                 .arg = rpl_own ? rpl_own->id : RPL_ID_HANDLERS,
                                                 .kind = RPL_THREAD});
  if (rpl_own) append_between(rpl_own, RPL_RAN, number, detail);
}

/* Calls in which chaos may hold messages back: the caller makes another one. */
static bool is_poll(enum rpl_call call) {
  return call == RPL_CALL_gasnet_AMPoll || call == RPL_CALL_gasnetc_AMPoll ||
         call == RPL_CALL_gexx_wait_step;
}

/* A recording: note the handler of a message. */
static void note_handler(const struct arrival *a) {
  struct series *const s = series_of(a->from, a->kind == RPL_REPLY);
  rpl_note_between(a->kind, a->from, a->handler);
  if (a->number != next_number(s))
    rpl_log_append(&rpl_first, &(struct rpl_event){.run = rpl_first.run,
                                                   .repeat = rpl_first.repeat,
                                                   .arg = a->number,
                                                   .kind = RPL_NUMBER});
  s->last = a->number;
}

/* Let messages of a sender come before the next one of it. Returns false if another thread has
 * begun a handler meanwhile: then the next one waits, too. Under the lock. */
static bool release_before(struct series *s, uint32_t from, bool reply) {
  while (s->kept) {
    rpl_unlock(); /* the handler may wait for a lock of a thread that waits for this one */
    if (!release(from, reply, NULL)) (void)sched_yield();
    rpl_lock();
    if (running != own_running) return ++s->kept == 0;
  }
  return true;
}

/* A recording, or chaos: returns whether the message is held back. Other threads than the first one
 * hold it back only behind others of its sender. */
static int gate_free(const struct arrival *a) {
  struct series *const s = series_of(a->from, a->kind == RPL_REPLY);
  const bool released = releasing;
  releasing = false; /* for what the handler delivers */
  if (!released && (running != own_running || (rpl_own != &rpl_first && s->kept)))
    return ++s->kept != 0;
  if (rpl_own == &rpl_first && !released && (!rpl_own->left || rpl_own->stepping) &&
      is_poll(rpl_own->call)) {
    const uint32_t polls = rpl_chaos_hold((uint32_t)(s - senders), a->index);
    s->polls += polls;
    s->kept += s->kept || polls;
    if (s->kept) return 1;
  }
  if (!released && !release_before(s, a->from, a->kind == RPL_REPLY)) return 1;
  if (rpl.mode == RPL_RECORDS) note_handler(a);
  return 0;
}

/* Replay: whether a message that has just come is the next one, and for the calling thread. in e:
 * the next event, NULL: all come. */
static bool is_next(const struct rpl_event *e, const struct arrival *a) {
  if (!e) return true;
  if (!rpl_turn_of(&rpl_first, e) || rpl_kind_of(e) != a->kind || e->arg != a->from || !is_mine(e))
    return false;
  const uint32_t number = more_of(e).number;
  return !number || !a->number || number == a->number;
}

/* A replay: returns whether the message is held back. One without a number waits behind others. */
static int gate_replay(const struct arrival *a) {
  const struct rpl_event *const e = releasing ? released_by : rpl_log_next_of(&rpl_first);
  struct series *const s = series_of(a->from, a->kind == RPL_REPLY);
  const bool released = releasing, behind = s->kept && (!e || !a->number);
  releasing = false; /* for what the handler delivers */
  if (!released && (running != own_running || behind || !is_next(e, a))) return ++s->kept != 0;
  if (e && e->detail != a->handler) {
    char text[64];
    snprintf(text, sizeof text, "a %s from rank %u to handler %u",
             a->kind == RPL_REPLY ? "reply" : "request", a->from, a->handler);
    rpl_deviate_from(&rpl_first, e, text);
  }
  if (e && !released) step_over(e);
  return 0;
}

/* Messages that were held back may come, because a handler has ended, or a call polls. */
static void let_come(void) {
  if (rpl.mode == RPL_REPLAYS) release_due();
  if (rpl.mode != RPL_REPLAYS || !rpl_log_next_of(&rpl_first)) release_all(rpl_chaos_on());
}

/* A handler of this thread has ended. Behind one of a reply nothing comes: a request's handler may
 * wait for room for its own reply just now, and so would that of the next one, while no replies are
 * delivered. */
static void has_run(void) {
  const bool of_reply = in_delivery;
  rpl_lock();
  if (own_running) running--, own_running--;
  rpl_unlock();
  ran = true;
  in_delivery = false;
  if (!of_reply) let_come();
}

bool rpl_in_handler(void) {
  return own_running != 0;
}

/* A poll. Returns whether a handler has run: the library wakes threads that sleep. */
static int in_poll(void) {
  rpl_cut_poll();
  let_come();
  const bool had = ran;
  ran = false;
  return had;
}

int rpl_gate(gex_Rank_t from, int reply, const struct gexx_am_msg *msg, uint32_t number) {
  if (rpl.mode == RPL_OFF) return 0;
  if (!msg && reply == GEXX_GATE_POLLS) return in_poll();
  if (!msg) {
    has_run();
    return 0;
  }
  struct arrival a = {reply ? RPL_REPLY : RPL_REQUEST, from, msg->handler, number, 0};
  rpl_lock();
  const bool counted = releasing; /* by release */
  if (!counted) a.index = series_of(from, reply)->come++;
  const int held = rpl.mode == RPL_REPLAYS ? gate_replay(&a) : gate_free(&a);
  if (!held && !counted) running++, own_running++;
  if (!held) in_delivery = reply && !counted;
  rpl_unlock();
  return held;
}

/* A wait lasts long: name the event. */
static void notice(const char *what) {
  struct rpl_place at;
  const struct rpl_event *const e = rpl_log_next();
  char text[96] = "the end of the recording";
  rpl_here(rpl_own, &at);
  if (e) rpl_describe(e, text, sizeof text);
  fprintf(stderr, "tombolo: rank %u: replay: event %llu (%s) has not come for %d s; in %s, %s\n",
          rpl.rank, (unsigned long long)rpl_log_number(), text, NOTICE_S, at.call, what);
}

void rpl_wait_step(uint64_t *steps, const char *what) {
  static _Thread_local struct timespec start;
  struct timespec now;
  if (!*steps) clock_gettime(CLOCK_MONOTONIC, &start);
  if (rpl.mode == RPL_REPLAYS) release_due();
  (void)rpl_real.gasnet_AMPoll();
  ++*steps;
  if (*steps < SPINS) return;
  if (*steps < YIELDS) {
    (void)sched_yield();
    return;
  }
  (void)nanosleep(&(struct timespec){0, SLEEP_NS}, NULL);
  if (*steps % 1024) return;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (now.tv_sec - start.tv_sec < NOTICE_S || start.tv_nsec < 0) return;
  start.tv_nsec = -1; /* once */
  notice(what);
}

/* The thread of the next handler does not come: after a time another one runs it. */
static void look_for_alone(const struct rpl_event *e) {
  static uint64_t number, since;
  const uint64_t now = rpl_now_ns(), next = rpl_log_number_of(&rpl_first) + 1;
  if (rpl_own != &rpl_first || rpl.area->only) return;
  if (number != next) since = now;
  number = next;
  if (now - since < ALONE_S * UINT64_C(1000000000) || alone == next) return;
  rpl_lock();
  if (rpl_log_next_of(&rpl_first) == e && series_of(e->arg, rpl_kind_of(e) == RPL_REPLY)->kept)
    alone = next;
  rpl_unlock();
}

void rpl_run_handlers(void) {
  const struct rpl_event *e;
  uint64_t steps = 0;
  while ((e = own_handler())) {
    const uint64_t number = rpl_log_number();
    release_due();
    if (rpl_log_number() == number) {
      rpl_wait_step(&steps,
                    rpl_kind_of(e) == RPL_LOSS ? "waiting for a loss" : "waiting for a message");
      if (steps % 1024 == 0 && rpl_is_handler(e)) look_for_alone(e);
    }
    if (rpl_log_number() != number) steps = 0;
  }
  if (rpl_log_next_of(&rpl_first)) return;
  release_all(false);
  for (uint32_t r = 0; rpl.loss.early && r < rpl.ranks; r++) (void)release_loss(r);
}

/* Chaos: messages that were held back come now, or still later. */
static void chaos(void) {
  rpl_chaos_delay();
  for (uint32_t r = 0; senders && r < 2 * rpl.ranks; r++) {
    if (senders[r].polls && is_poll(rpl_own->call) && --senders[r].polls) continue;
    senders[r].polls = 0;
    while (release(r / 2, r % 2, NULL)) continue;
  }
}

void rpl_flush(void) {
  if (rpl.mode != RPL_REPLAYS && rpl_on()) release_all(false);
}

/* Replay: the events before a call happen. */
static void end_before(enum rpl_call call, const void *pc) {
  rpl_run_handlers();
  if (rpl_cut_pass()) rpl_run_handlers();
  const struct rpl_event *const e = rpl_log_next();
  if (!e || !rpl_turn_of(rpl_own, e)) return;
  rpl_own->call = call;
  rpl_own->pc = pc;
  rpl_deviate("called");
}

/* An atomic operation of the program, which runs no handlers. */
static bool is_atomic(enum rpl_call call) {
  return call == RPL_CALL_tombolo_replay_atomic;
}

static bool prepares(enum rpl_call call) {
  return call == RPL_CALL_gex_AM_PrepareRequestMedium || call == RPL_CALL_gex_AM_PrepareRequestLong;
}

/* Replay: the call at the position has begun. */
static void has_begun(struct rpl_thread *t) {
  if (t->repeat && (is_poll(t->call) || is_atomic(t->call)))
    rpl_stepped();
  else
    rpl_moved();
  if (prepares(t->call))
    rpl_run_handlers(); /* none runs behind it: this thread's descriptor is in use until the commit
                         */
  else if (t->call != RPL_CALL_gexx_am_commit) /* whose wait runs them */
    release_due();                             /* the call may wait for one of these */
  const struct rpl_event *const e = rpl_log_next();
  if (!e || e->run != t->run || !e->site || (e->kind & RPL_BETWEEN)) return;
  struct rpl_place place;
  rpl_log_place(e->site, &place);
  if (strcmp(place.call, rpl_call_name(t->call)) != 0) rpl_deviate("called");
}

static void set_inside(struct rpl_thread *t, bool inside) {
  t->inside = inside;
  if (t == &rpl_first) rpl_is_inside(inside);
}

/* Handlers that have run here may end a wait of another thread, which sleeps. */
static void tell_threads(void) {
  if (ran && rpl_own->call != RPL_CALL_gexx_am_commit && !is_atomic(rpl_own->call) &&
      rpl_threads_made())
    (void)rpl_real.gasnet_AMPoll();
}

bool rpl_enter(enum rpl_call call, const void *pc) {
  struct rpl_thread *const t = rpl_own;
  if (!rpl_on() || t->inside || rpl_in_handler()) return false;
  set_inside(t, true);
  if (rpl.mode == RPL_REPLAYS) end_before(call, pc);
  rpl_lock();
  if (call != t->call) {
    t->run++;
    t->repeat = 0;
  } else if (t->repeat != UINT32_MAX) {
    t->repeat++;
  }
  t->call = call;
  t->pc = pc;
  t->left = t->locked = false;
  if (rpl.mode == RPL_RECORDS) rpl_log_reach(t);
  rpl_threads_call(t);
  rpl_unlock();
  if (rpl_chaos_on() && t == &rpl_first && !is_atomic(call)) chaos();
  if (rpl.mode == RPL_REPLAYS) has_begun(t);
  tell_threads();
  return true;
}

bool rpl_step_begin(const void *pc) {
  struct rpl_thread *const t = rpl_own;
  if (!rpl_on() || t->inside || rpl_in_handler()) return false;
  rpl_lock();
  t->before.call = t->call;
  t->before.pc = t->pc;
  t->call = RPL_CALL_gexx_wait_step;
  t->pc = pc;
  t->stepping = true;
  rpl_unlock();
  set_inside(t, true);
  if (t == &rpl_first) rpl_stepped();
  if (rpl.mode == RPL_REPLAYS) release_due();
  if (rpl.mode == RPL_REPLAYS) look_for_late();
  if (rpl_chaos_on() && t == &rpl_first) chaos();
  tell_threads();
  return true;
}

void rpl_step_end(void) {
  struct rpl_thread *const t = rpl_own;
  if (rpl.mode == RPL_REPLAYS && t->locked) rpl_run_handlers();
  rpl_lock();
  t->stepping = false;
  t->call = t->before.call;
  t->pc = t->before.pc;
  rpl_unlock();
  set_inside(t, false);
}

void rpl_has_locked(void) {
  if (rpl_own->inside || rpl_in_handler()) return;
  rpl_lock();
  rpl_own->locked = true;
  if (rpl_own->repeat != UINT32_MAX) rpl_own->repeat++;
  if (rpl.mode == RPL_RECORDS) rpl_log_reach(rpl_own);
  rpl_unlock();
}

void rpl_leave(bool outer) {
  if (!outer) return;
  if (rpl.mode == RPL_REPLAYS) rpl_run_handlers();
  rpl_lock();
  rpl_own->left = true;
  rpl_unlock();
  set_inside(rpl_own, false);
}
