/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Positions of calls, and events in their turn.
 *
 * Owns nothing; state.c has the state. Called by the wrappers (points.c, results.c, words.c) and,
 * for handlers, by the library. Calls: log.c; the library's poll and gexx_gate_release. The turn of
 * an event has come when its position is that of the call in progress, or before it. Handlers of a
 * call run at the latest before it ends, those between two calls before the second one begins. So a
 * loop that polls memory may make fewer or more calls than in the recording, and the order of
 * events is the same. A message that comes to another thread has the position of the ordered one at
 * that time. Invariants: no wait is inside a handler; position and log change under the lock.
 */
#define _GNU_SOURCE
#include "replay/runtime/rpl.h"

#include <tombolo/check_hook.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SPINS     200u  /* polls before a wait yields */
#define YIELDS    2000u /* and before it sleeps */
#define SLEEP_NS  50000L
#define NOTICE_S  5                    /* a wait that lasts so long is reported */
#define LATE_NS   UINT64_C(2000000000) /* for which a message waits for its loop, at most */
#define EXIT_CODE 67                   /* of a replay that has left the order; see tools/replay */

static uint32_t *kept; /* [ranks][2] messages that the library keeps */
static uint32_t *hold; /* [ranks][2] polls for which chaos still holds them back */
/* Pass a kept message to the gate again: by its event, or without one. */
static _Thread_local bool releasing;
static _Thread_local const struct rpl_event *released_by;
static _Thread_local bool draining; /* in release_due or release_all */
static uint32_t running;            /* handlers that have begun and not ended, of one thread */
static _Thread_local uint32_t own_running;
static uint64_t late; /* number, from 1, of an event whose loop is over: it comes in any one */

static uint32_t *kept_of(uint32_t from, bool reply) {
  if (!kept) kept = calloc((size_t)rpl.ranks * 4, sizeof *kept);
  if (!kept) abort();
  hold = kept + (size_t)rpl.ranks * 2;
  return &kept[from * 2 + reply];
}

/* ---- text of events, for messages */

static void describe(const struct rpl_event *e, char *text, size_t bytes) {
  switch (rpl_kind_of(e)) {
  case RPL_REQUEST:
  case RPL_REPLY:
    snprintf(text, bytes, "handler %u of a %s from rank %u", e->detail,
             rpl_kind_of(e) == RPL_REPLY ? "reply" : "request", e->arg);
    break;
  case RPL_RESULT: snprintf(text, bytes, "returned %d", (int)e->arg); break;
  case RPL_INDEX: snprintf(text, bytes, "found index %u", e->arg); break;
  case RPL_VALUE: snprintf(text, bytes, "read the value %u", e->arg); break;
  case RPL_TICKET: snprintf(text, bytes, "operation %u on its word", e->arg); break;
  case RPL_LOSS: snprintf(text, bytes, "the loss of rank %u", e->arg); break;
  default: snprintf(text, bytes, "unknown event"); break;
  }
}

void rpl_deviate(const char *found) {
  const struct rpl_event *const e = rpl_log_next();
  struct rpl_deviation *const d = &rpl.area->rank[rpl.rank].deviation;
  d->event = rpl_log_number();
  if (e) {
    rpl_log_place(e->site, &d->expected);
    describe(e, d->expected.detail, sizeof d->expected.detail);
  }
  rpl_here(&d->found);
  snprintf(d->found.detail, sizeof d->found.detail, "%s", found);
  __atomic_store_n(&d->set, 1, __ATOMIC_RELEASE);
  rpl.mode = RPL_OFF;
  gexx_Job_SetFailurePolicy(GEXX_FAILURE_ABORT); /* also where ranks go on without this one */
  rpl_real.gasnet_exit(EXIT_CODE);
  abort(); /* not reached */
}

/* ---- turns */

static int compare(uint32_t run, uint32_t repeat) {
  if (run != rpl.run) return (int32_t)(run - rpl.run) < 0 ? -1 : 1;
  return repeat < rpl.repeat ? -1 : repeat > rpl.repeat;
}

/* Whether a handler that ran in a step may run in this one. */
static bool same_loop(const struct rpl_event *e) {
  struct rpl_place there, here;
  rpl_log_place(e->site, &there);
  if (strcmp(there.call, rpl_call_name(RPL_CALL_gexx_wait_step)) != 0) return true;
  rpl_here(&here);
  return there.offset == here.offset;
}

/* Whether the next event and the one before it, which has happened, are of the same step: a loop
 * that the first one has ended is over when the second one comes. */
static bool follows(const struct rpl_event *e) {
  if (!rpl_log_number()) return false;
  const struct rpl_event *const before = e - 1;
  return before->run == e->run && before->repeat == e->repeat && before->site == e->site;
}

static bool turn_of(const struct rpl_event *e) {
  const int order = compare(e->run, e->repeat);
  if (rpl.stepping && late == rpl_log_number() + 1) return true;
  if (order == 0 && (e->kind & RPL_BETWEEN))
    return rpl.left && (!rpl.stepping || same_loop(e) || follows(e));
  return order <= 0;
}

/* Whether an event comes to this rank in any call: a handler, or the report of a loss. */
static bool is_handler(const struct rpl_event *e) {
  const enum rpl_kind kind = rpl_kind_of(e);
  return kind == RPL_REQUEST || kind == RPL_REPLY || kind == RPL_LOSS;
}

/* Pass the oldest kept message of a sender to the gate. in e: its event, which is taken, NULL:
 * none. */
static bool release(uint32_t from, bool reply, const struct rpl_event *e) {
  rpl_lock();
  uint32_t *const waiting = kept_of(from, reply);
  /* else another thread was faster, or runs a handler */
  const bool mine = *waiting && (!e || rpl_log_next() == e) && running == own_running;
  if (mine) running++, own_running++;
  if (mine) --*waiting;
  if (mine && e) rpl_log_step();
  rpl_unlock();
  if (!mine) return false;
  releasing = true;
  released_by = e;
  while (!gexx_gate_release(from, reply))
    (void)sched_yield(); /* another thread keeps it just now */
  releasing = false;
  return true;
}

/* Report a loss that has come before its turn. */
static bool release_loss(uint32_t rank) {
  const int state = rpl.loss.early ? rpl.loss.early[rank] : 0;
  if (!state || !rpl.loss.fn) return false;
  rpl.loss.early[rank] = 0;
  if (rpl_log_next()) rpl_log_step();
  rpl.loss.fn(rank, state, rpl.loss.cdata);
  return true;
}

/* Let an event happen that has come before its turn. Returns whether it has come. */
static bool release_event(const struct rpl_event *e) {
  const enum rpl_kind kind = rpl_kind_of(e);
  return kind == RPL_LOSS ? release_loss(e->arg) : release(e->arg, kind == RPL_REPLY, e);
}

/* The next event, if it is one of these and its turn has come, else NULL. */
static const struct rpl_event *due_handler(void) {
  rpl_lock();
  const struct rpl_event *e = rpl_log_next();
  if (e && (!is_handler(e) || !turn_of(e))) e = NULL;
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

/* Let all come that are held back: behind the end of the log, or in no order. */
static void release_all(void) {
  if (draining) return;
  draining = true;
  for (uint32_t r = 0; kept && r < 2 * rpl.ranks; r++)
    while (release(r / 2, r % 2, NULL)) continue;
  draining = false;
}

/* A step of a loop: the next event happened in another loop since the same call, or in a later poll
 * of the loop of polls before this one. It is held back, because that loop may come. But memory may
 * have ended it sooner than in the recording: then nothing else happens in the job. */
static void look_for_late(void) {
  static uint64_t number, since;
  const struct rpl_event *const e = rpl_log_next();
  if (!e || e->run != rpl.run || !is_handler(e) || turn_of(e)) return;
  if (number != rpl_log_number() + 1) since = rpl_now_ns();
  number = rpl_log_number() + 1;
  if (!rpl_still() && (rpl.area->only || rpl_now_ns() - since < LATE_NS)) return;
  late = number;
  release_due();
}

void rpl_note_between(enum rpl_kind kind, uint32_t from, uint8_t handler) {
  const struct rpl_event e = {.run = rpl.run,
                              .repeat = rpl.repeat,
                              .arg = from,
                              .site = rpl_log_site(),
                              .kind = (uint8_t)(kind | (rpl.left ? RPL_BETWEEN : 0)),
                              .detail = handler};
  rpl_log_append(&e);
}

/* Calls in which chaos may hold messages back: the caller makes another one. */
static bool is_poll(enum rpl_call call) {
  return call == RPL_CALL_gasnet_AMPoll || call == RPL_CALL_gasnetc_AMPoll ||
         call == RPL_CALL_gexx_wait_step;
}

/* A recording, or chaos: returns whether the message is held back. Other threads than the ordered
 * one hold it back only behind others of its sender. */
static int gate_free(enum rpl_kind kind, uint32_t from, const struct gexx_am_msg *msg) {
  uint32_t *const waiting = kept_of(from, kind == RPL_REPLY);
  const bool released = releasing;
  releasing = false; /* for what the handler delivers */
  if (!released && (running != own_running || (!rpl_ordered && *waiting))) return ++*waiting != 0;
  if (rpl_ordered && !released && (!rpl.left || rpl.stepping) && is_poll(rpl.call)) {
    const uint32_t polls = rpl_chaos_hold();
    hold[from * 2 + (kind == RPL_REPLY)] += polls;
    *waiting += *waiting || polls;
    if (*waiting) return 1;
  }
  while (!released && *waiting) {
    rpl_unlock(); /* the handler may wait for a lock of a thread that waits for this one */
    (void)release(from, kind == RPL_REPLY, NULL);
    rpl_lock();
  }
  if (rpl.mode == RPL_RECORDS) rpl_note_between(kind, from, msg->handler);
  return 0;
}

/* A replay: returns whether the message is held back. */
static int gate_replay(enum rpl_kind kind, uint32_t from, const struct gexx_am_msg *msg) {
  const struct rpl_event *const e = releasing ? released_by : rpl_log_next();
  uint32_t *const waiting = kept_of(from, kind == RPL_REPLY);
  const bool next = !e || (turn_of(e) && rpl_kind_of(e) == kind && e->arg == from);
  if (!releasing && (!next || *waiting || running != own_running)) {
    ++*waiting;
    return 1;
  }
  if (e && e->detail != msg->handler) {
    char text[64];
    snprintf(text, sizeof text, "a %s from rank %u to handler %u",
             kind == RPL_REPLY ? "reply" : "request", from, msg->handler);
    rpl_deviate(text);
  }
  if (e && !releasing) rpl_log_step();
  releasing = false; /* for what the handler delivers */
  return 0;
}

/* A handler of this thread has ended: what was held back meanwhile may come. */
static void has_run(void) {
  rpl_lock();
  if (own_running) running--, own_running--;
  rpl_unlock();
  if (rpl.mode == RPL_REPLAYS) release_due();
  if (rpl.mode == RPL_REPLAYS ? !rpl_log_next() : !rpl_chaos_on() || !rpl_ordered) release_all();
}

int rpl_gate(gex_Rank_t from, int reply, const struct gexx_am_msg *msg) {
  if (rpl.mode == RPL_OFF || (rpl.mode == RPL_CHAOS && !rpl_ordered)) return 0;
  if (!msg) {
    has_run();
    return 0;
  }
  const enum rpl_kind kind = reply ? RPL_REPLY : RPL_REQUEST;
  rpl_lock();
  const bool counted = releasing; /* by release */
  const int held =
      rpl.mode == RPL_REPLAYS ? gate_replay(kind, from, msg) : gate_free(kind, from, msg);
  if (!held && !counted) running++, own_running++;
  rpl_unlock();
  return held;
}

/* A wait lasts long: name the event. */
static void notice(const char *what) {
  struct rpl_place at;
  const struct rpl_event *const e = rpl_log_next();
  char text[96] = "the end of the recording";
  rpl_here(&at);
  if (e) describe(e, text, sizeof text);
  fprintf(stderr, "tombolo: rank %u: replay: event %llu (%s) has not come for %d s; in %s, %s\n",
          rpl.rank, (unsigned long long)rpl_log_number(), text, NOTICE_S, at.call, what);
}

void rpl_wait_step(uint64_t *steps, const char *what) {
  static struct timespec start;
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

/* Run the handlers whose turn has come. */
static void run_handlers(void) {
  const struct rpl_event *e;
  uint64_t steps = 0;
  while ((e = due_handler())) {
    const uint64_t number = rpl_log_number();
    if (!release_event(e))
      rpl_wait_step(&steps,
                    rpl_kind_of(e) == RPL_LOSS ? "waiting for a loss" : "waiting for a message");
    if (rpl_log_number() != number) steps = 0;
  }
  if (rpl_log_next()) return;
  release_all();
  for (uint32_t r = 0; rpl.loss.early && r < rpl.ranks; r++) (void)release_loss(r);
}

/* Chaos: messages that were held back come now, or still later. */
static void chaos(void) {
  rpl_chaos_delay();
  for (uint32_t r = 0; kept && r < 2 * rpl.ranks; r++) {
    if (hold[r] && is_poll(rpl.call) && --hold[r]) continue;
    hold[r] = 0;
    while (release(r / 2, r % 2, NULL)) continue;
  }
}

void rpl_flush(void) {
  if (rpl.mode != RPL_REPLAYS && rpl_on()) release_all();
}

/* Replay: the events before a call happen. */
static void end_before(enum rpl_call call, const void *pc) {
  run_handlers();
  const struct rpl_event *const e = rpl_log_next();
  if (!e || !turn_of(e)) return;
  rpl.call = call;
  rpl.pc = pc;
  rpl_deviate("called");
}

static bool prepares(enum rpl_call call) {
  return call == RPL_CALL_gex_AM_PrepareRequestMedium || call == RPL_CALL_gex_AM_PrepareRequestLong;
}

/* Replay: the call at the position has begun. */
static void has_begun(void) {
  if (rpl.repeat && is_poll(rpl.call))
    rpl_stepped();
  else
    rpl_moved();
  if (prepares(rpl.call))
    run_handlers(); /* none runs behind it: this thread's descriptor is in use until the commit */
  else
    release_due(); /* the call may wait for one of these */
  const struct rpl_event *const e = rpl_log_next();
  if (!e || e->run != rpl.run || !e->site || (e->kind & RPL_BETWEEN)) return;
  struct rpl_place place;
  rpl_log_place(e->site, &place);
  if (strcmp(place.call, rpl_call_name(rpl.call)) != 0) rpl_deviate("called");
}

/* A poll of another thread than the ordered one delivers messages that came too early. */
static bool enter_other(enum rpl_call call) {
  if (rpl.mode != RPL_REPLAYS || rpl_ordered || !is_poll(call)) return false;
  release_due();
  if (!rpl_log_next()) release_all();
  return false;
}

bool rpl_enter(enum rpl_call call, const void *pc) {
  if (!rpl_on()) return enter_other(call);
  if (rpl.inside) return false;
  rpl.inside = true;
  rpl_is_inside(true);
  if (rpl.mode == RPL_REPLAYS) end_before(call, pc);
  rpl_lock();
  if (call != rpl.call) {
    rpl.run++;
    rpl.repeat = 0;
  } else if (rpl.repeat != UINT32_MAX) {
    rpl.repeat++;
  }
  rpl.call = call;
  rpl.pc = pc;
  rpl.left = false;
  rpl_unlock();
  if (rpl_chaos_on()) chaos();
  if (rpl.mode == RPL_REPLAYS) has_begun();
  return true;
}

static struct { /* the call of the position, during a step */
  enum rpl_call call;
  const void *pc;
} before;

bool rpl_step_begin(const void *pc) {
  if (!rpl_on()) return enter_other(RPL_CALL_gexx_wait_step);
  if (rpl.inside) return false;
  rpl_lock();
  before.call = rpl.call;
  before.pc = rpl.pc;
  rpl.call = RPL_CALL_gexx_wait_step;
  rpl.pc = pc;
  rpl.inside = rpl.stepping = true;
  rpl_unlock();
  rpl_is_inside(true);
  rpl_stepped();
  if (rpl.mode == RPL_REPLAYS) release_due();
  if (rpl.mode == RPL_REPLAYS) look_for_late();
  if (rpl_chaos_on()) chaos();
  return true;
}

void rpl_step_end(void) {
  rpl_is_inside(false);
  rpl_lock();
  rpl.inside = rpl.stepping = false;
  rpl.call = before.call;
  rpl.pc = before.pc;
  rpl_unlock();
}

void rpl_leave(bool outer) {
  if (!outer) return;
  if (rpl.mode == RPL_REPLAYS) run_handlers();
  rpl_lock();
  rpl.left = true;
  rpl_unlock();
  rpl.inside = false;
  rpl_is_inside(false);
}

/* ---- other events */

void rpl_note(enum rpl_kind kind, uint32_t arg) {
  rpl_lock();
  const struct rpl_event e = {.run = rpl.run,
                              .repeat = rpl.repeat,
                              .arg = arg,
                              .site = rpl_log_site(),
                              .kind = (uint8_t)kind};
  rpl_log_append(&e);
  rpl_unlock();
}

void rpl_note_value(uint64_t value) {
  rpl_lock(); /* no other event is between */
  rpl_note(RPL_VALUE, (uint32_t)value);
  if (value >> 32) rpl_note(RPL_HIGH, (uint32_t)(value >> 32));
  rpl_unlock();
}

const struct rpl_event *rpl_due(enum rpl_kind kind) {
  run_handlers();
  const struct rpl_event *const e = rpl_log_next();
  if (!e || !turn_of(e)) return NULL;
  if (e->kind != kind) return NULL;
  return e;
}

bool rpl_comes(enum rpl_kind kind, uint32_t from) {
  const struct rpl_event *const e = rpl_log_next();
  if (!e) return true;
  if (!turn_of(e) || rpl_kind_of(e) != kind || e->arg != from) return false;
  rpl_log_step();
  return true;
}

void rpl_take(void) {
  rpl_log_step();
}

bool rpl_take_more(enum rpl_kind kind, uint32_t *arg) {
  const struct rpl_event *const e = rpl_log_next();
  if (!e || e->kind != kind) return false;
  *arg = e->arg;
  rpl_log_step();
  return true;
}

uint64_t rpl_take_value(void) {
  uint64_t value = rpl_log_next()->arg;
  uint32_t high;
  rpl_log_step();
  if (rpl_take_more(RPL_HIGH, &high)) value |= (uint64_t)high << 32;
  return value;
}
