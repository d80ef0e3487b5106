/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Positions of calls, and events in their turn.
 *
 * Owns nothing; state.c has the state. Called by the wrappers (points.c, results.c, words.c) and,
 * for handlers, by the library. Calls: log.c; the library's poll and gexx_gate_release. The turn of
 * an event has come when its position is that of the call in progress, or before it. Handlers of a
 * call run at the latest before it ends, those between two calls before the second one begins. So a
 * loop that polls memory may make fewer or more calls than in the recording, and the order of
 * events is the same. Invariants: only the ordered thread comes here; no wait is inside a handler.
 */
#define _GNU_SOURCE
#include "replay/runtime/rpl.h"

#include <tombolo/check_hook.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SPINS      200u        /* polls before a wait yields */
#define YIELDS     2000u       /* and before it sleeps */
#define SLEEP_NS   50000L
#define NOTICE_S   5           /* a wait that lasts so long is reported */
#define EXIT_CODE  67          /* of a replay that has left the order; see tools/replay */

static uint32_t *kept;     /* [ranks][2] messages that the library keeps */
static uint32_t *hold;     /* [ranks][2] polls for which chaos still holds them back */
static bool releasing;     /* one of these is passed to the gate again */

static uint32_t *kept_of(uint32_t from, bool reply) {
  if (!kept) kept = calloc((size_t)rpl.ranks * 4, sizeof *kept);
  if (!kept) abort();
  hold = kept + (size_t)rpl.ranks * 2;
  return &kept[from * 2 + reply];
}

/* ---- text of events, for messages */

static void describe(const struct rpl_event *e, char *text, size_t bytes) {
  switch (e->kind & ~RPL_BETWEEN) {
  case RPL_REQUEST:
  case RPL_REPLY:
    snprintf(text, bytes, "handler %u of a %s from rank %u", e->detail,
             (e->kind & ~RPL_BETWEEN) == RPL_REPLY ? "reply" : "request", e->arg);
    break;
  case RPL_RESULT: snprintf(text, bytes, "returned %d", (int)e->arg); break;
  case RPL_INDEX: snprintf(text, bytes, "found index %u", e->arg); break;
  case RPL_VALUE: snprintf(text, bytes, "read the value %u", e->arg); break;
  case RPL_TICKET: snprintf(text, bytes, "operation %u on its word", e->arg); break;
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

static bool turn_of(const struct rpl_event *e) {
  const int order = compare(e->run, e->repeat);
  if (order == 0 && (e->kind & RPL_BETWEEN)) return rpl.left && (!rpl.stepping || same_loop(e));
  return order <= 0;
}

static bool is_handler(const struct rpl_event *e) {
  const uint8_t kind = e->kind & (uint8_t)~RPL_BETWEEN;
  return kind == RPL_REQUEST || kind == RPL_REPLY;
}

/* Pass the oldest kept message of a sender to the gate. */
static bool release(uint32_t from, bool reply) {
  uint32_t *const waiting = kept_of(from, reply);
  if (!*waiting) return false;
  --*waiting;
  releasing = true;
  (void)gexx_gate_release(from, reply);
  releasing = false;
  return true;
}

static void record_handler(enum rpl_kind kind, uint32_t from, uint8_t handler) {
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

/* A recording, or chaos: returns whether the message is held back. */
static int gate_free(enum rpl_kind kind, uint32_t from, const struct gexx_am_msg *msg) {
  uint32_t *const waiting = kept_of(from, kind == RPL_REPLY);
  if (!releasing && (!rpl.left || rpl.stepping) && is_poll(rpl.call)) {
    const uint32_t polls = rpl_chaos_hold();
    hold[from * 2 + (kind == RPL_REPLY)] += polls;
    *waiting += *waiting || polls;
    if (*waiting) return 1;
  }
  while (!releasing && *waiting) (void)release(from, kind == RPL_REPLY);
  if (rpl.mode == RPL_RECORDS) record_handler(kind, from, msg->handler);
  return 0;
}

/* A replay: returns whether the message is held back. */
static int gate_replay(enum rpl_kind kind, uint32_t from, const struct gexx_am_msg *msg) {
  const struct rpl_event *const e = rpl_log_next();
  uint32_t *const waiting = kept_of(from, kind == RPL_REPLY);
  const bool next = !e || (turn_of(e) && (e->kind & ~RPL_BETWEEN) == kind && e->arg == from);
  if (!next || (*waiting && !releasing)) {
    if (!releasing) ++*waiting;
    return 1;
  }
  if (e && e->detail != msg->handler) {
    char text[64];
    snprintf(text, sizeof text, "a %s from rank %u to handler %u",
             kind == RPL_REPLY ? "reply" : "request", from, msg->handler);
    rpl_deviate(text);
  }
  if (e) rpl_log_step();
  return 0;
}

int rpl_gate(gex_Rank_t from, int reply, const struct gexx_am_msg *msg) {
  if (!rpl_on()) return 0;
  const enum rpl_kind kind = reply ? RPL_REPLY : RPL_REQUEST;
  return rpl.mode == RPL_REPLAYS ? gate_replay(kind, from, msg) : gate_free(kind, from, msg);
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
  while ((e = rpl_log_next()) && is_handler(e) && turn_of(e)) {
    const uint64_t number = rpl_log_number();
    if (!release(e->arg, (e->kind & ~RPL_BETWEEN) == RPL_REPLY))
      rpl_wait_step(&steps, "waiting for a message");
    if (rpl_log_number() != number) steps = 0;
  }
  if (e) return;
  for (uint32_t r = 0; kept && r < 2 * rpl.ranks; r++) /* behind the end all may run */
    while (release(r / 2, r % 2)) continue;
}

/* Chaos: messages that were held back come now, or still later. */
static void chaos(void) {
  rpl_chaos_delay();
  for (uint32_t r = 0; kept && r < 2 * rpl.ranks; r++) {
    if (hold[r] && is_poll(rpl.call) && --hold[r]) continue;
    hold[r] = 0;
    while (release(r / 2, r % 2)) continue;
  }
}

void rpl_flush(void) {
  if (rpl.mode == RPL_REPLAYS || !rpl_on()) return;
  for (uint32_t r = 0; kept && r < 2 * rpl.ranks; r++)
    while (release(r / 2, r % 2)) continue;
}

bool rpl_enter(enum rpl_call call, const void *pc) {
  if (!rpl_on() || rpl.inside) return false;
  rpl.inside = true;
  if (rpl.mode == RPL_REPLAYS) {
    run_handlers();
    const struct rpl_event *const e = rpl_log_next();
    if (e && turn_of(e)) {
      rpl.call = call;
      rpl.pc = pc;
      rpl_deviate("called");
    }
  }
  if (call != rpl.call) {
    rpl.run++;
    rpl.repeat = 0;
  } else if (rpl.repeat != UINT32_MAX) {
    rpl.repeat++;
  }
  rpl.call = call;
  rpl.pc = pc;
  rpl.left = false;
  if (rpl_chaos_on()) chaos();
  if (rpl.mode != RPL_REPLAYS) return true;
  const struct rpl_event *const e = rpl_log_next();
  if (e && e->run == rpl.run && e->site && !(e->kind & RPL_BETWEEN)) {
    struct rpl_place place;
    rpl_log_place(e->site, &place);
    if (strcmp(place.call, rpl_call_name(call)) != 0) rpl_deviate("called");
  }
  return true;
}

static struct { /* the call of the position, during a step */
  enum rpl_call call;
  const void *pc;
} before;

bool rpl_step_begin(const void *pc) {
  const struct rpl_event *e;
  if (!rpl_on() || rpl.inside) return false;
  before.call = rpl.call;
  before.pc = rpl.pc;
  rpl.call = RPL_CALL_gexx_wait_step;
  rpl.pc = pc;
  rpl.inside = rpl.stepping = true;
  while (rpl.mode == RPL_REPLAYS && (e = rpl_log_next()) && is_handler(e) && turn_of(e) &&
         release(e->arg, (e->kind & ~RPL_BETWEEN) == RPL_REPLY))
    continue;
  if (rpl_chaos_on()) chaos();
  return true;
}

void rpl_step_end(void) {
  rpl.inside = rpl.stepping = false;
  rpl.call = before.call;
  rpl.pc = before.pc;
}

void rpl_leave(bool outer) {
  if (!outer) return;
  if (rpl.mode == RPL_REPLAYS) run_handlers();
  rpl.left = true;
  rpl.inside = false;
}

/* ---- other events */

void rpl_note(enum rpl_kind kind, uint32_t arg) {
  const struct rpl_event e = {.run = rpl.run,
                              .repeat = rpl.repeat,
                              .arg = arg,
                              .site = rpl_log_site(),
                              .kind = (uint8_t)kind};
  rpl_log_append(&e);
}

void rpl_note_value(uint64_t value) {
  rpl_note(RPL_VALUE, (uint32_t)value);
  if (value >> 32) rpl_note(RPL_HIGH, (uint32_t)(value >> 32));
}

const struct rpl_event *rpl_due(enum rpl_kind kind) {
  run_handlers();
  const struct rpl_event *const e = rpl_log_next();
  if (!e || !turn_of(e)) return NULL;
  if (e->kind != kind) return NULL;
  return e;
}

void rpl_take(void) {
  rpl_log_step();
}

uint64_t rpl_take_value(void) {
  uint64_t value = rpl_log_next()->arg;
  rpl_log_step();
  const struct rpl_event *const high = rpl_log_next();
  if (!high || high->kind != RPL_HIGH) return value;
  value |= (uint64_t)high->arg << 32;
  rpl_log_step();
  return value;
}
