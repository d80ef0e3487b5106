/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recording events, see record.h.
 *
 * Owns: the table of names, the counts of messages by peer, and of each thread the waits that it is
 * inside of. Called as record.h says. Calls: boot, the tick counter. The messages of a pair of
 * ranks are numbered on both sides in the order in which they are sent and handled, so that a
 * reader finds the handler of a message also when older events are overwritten. Most waits have no
 * end of their own in the code: a wait is recorded when its first step begins, each step sets its
 * end, and it is over when another one begins outside of its steps. A wait for a word that a peer
 * stores also ends when the store is seen, for no step needs to come between. Invariants: a record
 * is one cache line, written by one thread; its `seq` is cleared before and set after. The texts of
 * names are only added to.
 */
#include "core/op/record.h"

#include "base/config.h"
#include "base/container/hash.h"
#include "base/error.h"
#include "base/log.h"
#include "boot/boot.h"
#include "core/op/thread.h"
#include "net/message.h"
#include "os/os.h"
#include "os/process/code.h"
#include "os/sync/lock.h"

#include <gasnetex_ext.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* AHEAD and COPY_BYTES are measured by tombolo-bench-trace; the others are chosen to bound
 * memory. */
#define NAMES_MAX  2048u
#define WAITS      4      /* nested waits of a thread that are distinguished */
#define REGIONS    32     /* nested regions of a thread that are recorded */
#define AHEAD      8u     /* slots that are fetched before they are written */
#define COPY_BYTES 64u    /* a copy of at most so many bytes takes less than the clock shows */
#define TOUCHED    65536u /* events whose memory is taken at start */
#define PLACES     256u   /* places in the program that are remembered, a power of two */

static struct tmb_lock names_lock;
static struct tmb_hash names TMB_GUARDED_BY(names_lock); /* of texts, a pointer each */

/* Names of places in the program by address of the code, and of constant texts. */
static struct {
  const char *call; /* the statement, or NULL; a constant text */
  const void *code; /* NULL: a constant text */
  uint32_t name;
} place[PLACES] TMB_GUARDED_BY(names_lock);

static const struct gexx_waitinfo *followed; /* atomic */

/* [2] requests and replies, [size] by peer. */
static struct { uint32_t *sent[2], *handled[2]; } messages;

/* A wait that the thread is inside of. */
struct waiting {
  const struct gexx_wait *wait;
  uint64_t begun;
  bool steps;               /* the thread is inside of a step of it */
  uint64_t summed;          /* up to here its time is on the status page; 0: it was not counted */
  struct tmb_record record; /* number 0: not recorded yet */
};

/* Open records of a thread, nested. It is made at the thread's first record and freed at its end:
 * thread-local variables of this size would not fit where a program loads the library late (Python,
 * dlopen). */
struct inside {
  struct {
    uint32_t depth;
    struct waiting at[WAITS];
    uint64_t last_begun, last_end; /* of the last wait that is inside of no other */
  } waits;
  struct {
    uint32_t depth; /* may be above REGIONS */
    struct tmb_record at[REGIONS];
  } regions;
  struct tmb_record statement;
  struct tmb_record handlers[2]; /* of a request, and of a reply inside of it */
};

static _Thread_local struct inside *inside_of_thread;
static pthread_key_t inside_key;
static pthread_once_t inside_once = PTHREAD_ONCE_INIT;

static void end_inside(void *arg) {
  inside_of_thread = NULL;
  free(arg);
}

static void make_inside_key(void) {
  if (pthread_key_create(&inside_key, end_inside))
    tmb_fatal("no thread-specific key is left in this process");
}

static struct inside *make_inside(void) {
  pthread_once(&inside_once, make_inside_key);
  inside_of_thread = calloc(1, sizeof *inside_of_thread);
  if (!inside_of_thread) tmb_fatal("out of memory for the trace of a thread");
  pthread_setspecific(inside_key, inside_of_thread);
  return inside_of_thread;
}

static struct inside *inside(void) {
  return inside_of_thread ? inside_of_thread : make_inside();
}

/* Have the kernel give the pages of the ring now, up to the default's size: each costs as much as
 * twenty records. */
static void touch(struct tmb_trace_area *area) {
  const uint64_t events = TMB_MIN(area->capacity, (uint64_t)TOUCHED);
  for (uint64_t i = 0; i < events; i += 4096 / sizeof area->event[0])
    tmb_store_rlx(&area->event[i].seq, 0u);
}

int tmb_record_init(void) {
  struct tmb_trace_area *area = tmb_boot_trace(&tmb_job.boot);
  struct tmb_status_stats *page = &tmb_job.status->stats;
  page->tick0 = tmb_os_ticks_now();
  page->ns0 = tmb_os_now_ns();
  page->on = tmb_cfg_bool(TMB_CFG_STATS);
  if (page->on) tmb_job.counted = tmb_job.recorded = true;
  if (!area) return 0;
  for (int i = 0; i < 2; i++) {
    messages.sent[i] = calloc(tmb_job.size, sizeof(uint32_t));
    messages.handled[i] = calloc(tmb_job.size, sizeof(uint32_t));
    if (messages.sent[i] && messages.handled[i]) continue;
    tmb_print("out of memory for the trace of %u ranks", tmb_job.size);
    return TMB_E_NOMEM;
  }
  touch(area);
  tmb_job.counted = tmb_job.recorded = true;
  tmb_job.special |= TMB_SPECIAL_COUNT;
  tmb_job.trace = area;
  return 0;
}

void tmb_record_end(void) {
  if (tmb_job.trace && !tmb_job.boot.ctl) tmb_trace_write_alone(tmb_job.trace);
  tmb_job.trace = NULL;
}

/* ---- times */

/* An operation is over: times of the waits inside of it count as waits. */
static void sum_operation(uint64_t begun, uint64_t end) {
  if (!tmb_job.status->stats.on) return;
  uint64_t ticks = end - begun;
  if (inside()->waits.last_begun >= begun)
    ticks -= TMB_MIN(ticks, inside()->waits.last_end - inside()->waits.last_begun);
  tmb_lock_count(&tmb_job.status->stats.op_ticks, ticks);
}

/* A step of a wait is over. */
static void sum_wait(struct waiting *w, uint64_t now) {
  struct tmb_status_stats *page = &tmb_job.status->stats;
  if (w != &inside()->waits.at[0]) return;
  if (!w->summed) tmb_lock_count(&page->waits, 1);
  tmb_lock_count(&page->wait_ticks, now - (w->summed ? w->summed : w->begun));
  w->summed = inside()->waits.last_end = now;
  inside()->waits.last_begun = w->begun;
}

/* ---- names */

static uint64_t hash_name(const void *entry) {
  return tmb_hash_text(TMB_HASH_START, *(const char *const *)entry);
}

static bool same_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b) == 0;
}

/* The place of a text in the names of the trace, which it is added to. 0: there is no room. */
TMB_REQUIRES(names_lock) static uint32_t find_name(const char *text) {
  static const struct tmb_hash_kind kind = {sizeof(char *), hash_name, same_name};
  struct tmb_trace_area *area = tmb_job.trace;
  const char **known = tmb_hash_find(&names, &kind, &text);
  if (known) return (uint32_t)(*known - area->names);
  const size_t bytes = strlen(text) + 1;
  if (names.used >= NAMES_MAX || bytes >= TMB_TRACE_NAMES_BYTES - area->names_used) return 0;
  const char *const copy = memcpy(area->names + area->names_used, text, bytes);
  if (!tmb_hash_add(&names, &kind, &copy)) return 0;
  area->names_used += (uint32_t)bytes;
  return (uint32_t)(copy - area->names);
}

uint32_t tmb_record_name(const char *text) {
  if (!text || !text[0]) return 0;
  tmb_lock_acquire(&names_lock);
  const uint32_t name = find_name(text);
  tmb_lock_release(&names_lock);
  return name;
}

/* Place of a pair in the table of places. */
static uint32_t place_slot(const char *call, const void *code) {
  const uint64_t key = (uintptr_t)code ^ (uint64_t)(uintptr_t)call << 20;
  return (uint32_t)tmb_hash_word(key) % PLACES;
}

/* The name of a text that stays as it is: found by its address. */
static uint32_t constant_name(const char *text) {
  if (!text || !text[0]) return 0;
  tmb_lock_acquire(&names_lock);
  const uint32_t i = place_slot(text, NULL);
  if (place[i].call != text || place[i].code) {
    place[i].call = text;
    place[i].code = NULL;
    place[i].name = find_name(text);
  }
  const uint32_t name = place[i].name;
  tmb_lock_release(&names_lock);
  return name;
}

/* The name of a place in the program: file and address in that, behind the statement, if there is
 * one, and a tabulator. */
static uint32_t place_name(const char *call, const void *code) {
  if (!code) return 0;
  tmb_lock_acquire(&names_lock);
  const uint32_t i = place_slot(call, code);
  if (place[i].code != code || place[i].call != call) {
    char text[TMB_OS_CODE_BYTES + 32];
    const int used = call ? snprintf(text, 32, "%.30s\t", call) : 0;
    place[i].code = code;
    place[i].call = call;
    place[i].name =
        tmb_os_code_place(code, text + used, sizeof text - (size_t)used) ? find_name(text) : 0;
  }
  const uint32_t name = place[i].name;
  tmb_lock_release(&names_lock);
  return name;
}

/* ---- events */

/* Packets are also sent by threads of conduits, which are no client threads: 0. */
static uint16_t thread_of(uint8_t kind) {
  if (kind == TMB_TRACE_PACKET && !tmb_thread_self) return 0;
  return (uint16_t)tmb_thread()->id;
}

/* The statement that runs, in the upper half of the name. */
static inline uint32_t statement_of(uint8_t kind) {
  const struct gexx_waitinfo *s = tmb_load_rlx(&followed);
  if (TMB_LIKELY(!s) || kind == TMB_TRACE_STATEMENT || kind == TMB_TRACE_HANDLER) return 0;
  return place_name(s->call, s->caller) << 16;
}

static uint64_t next_number(struct tmb_trace_area *area) {
  if (tmb_lock_threads) return tmb_fetch_add_rlx(&area->next, 1);
  const uint64_t n = tmb_load_rlx(&area->next);
  tmb_store_rlx(&area->next, n + 1);
  return n;
}

/* Write an event into the next slot. Returns its number, from 1. Inline: callers make the event
 * from values in registers. */
static TMB_ALWAYS_INLINE uint64_t put_event(const struct tmb_trace_event *event) {
  struct tmb_trace_area *area = tmb_job.trace;
  const uint64_t n = next_number(area);
  struct tmb_trace_event *slot = &area->event[n & (area->capacity - 1)];
  __builtin_prefetch(&area->event[(n + AHEAD) & (area->capacity - 1)], 1);
  tmb_store_rlx(&slot->seq, 0u);
  tmb_fence_rel(); /* who sees a field of this event does not see the number of the one before */
  slot->begin = event->begin;
  slot->end = event->end;
  slot->object = event->object;
  slot->bytes = event->bytes;
  slot->number = event->number;
  slot->value = event->value;
  slot->peer = event->peer;
  slot->name = event->name | statement_of(event->kind);
  slot->thread = thread_of(event->kind);
  slot->kind = event->kind;
  slot->what = event->what;
  tmb_store_rel(&slot->seq, (uint32_t)(n + 1));
  return n + 1;
}

static TMB_NOINLINE uint64_t write_event(const struct tmb_trace_event *event) {
  return put_event(event);
}

/* Records the beginning of a slice. in,out record: its event has the kind and all fields that are
 * not zero. */
static void begin_slice(struct tmb_record *record) {
  if (!record->event.begin) record->event.begin = tmb_os_ticks_now();
  record->number = write_event(&record->event);
}

/* Set the end of a slice that is in the ring, or is to be again. */
static void set_end(struct tmb_record *record, uint64_t now) {
  struct tmb_trace_area *area = tmb_job.trace;
  struct tmb_trace_event *slot = &area->event[(record->number - 1) & (area->capacity - 1)];
  record->event.end = now;
  if (tmb_load_rlx(&area->next) - (record->number - 1) <= area->capacity)
    tmb_store_rlx(&slot->end, now);
  else
    record->number = write_event(&record->event);
}

void tmb_record_close(struct tmb_record *record) {
  if (record->number && tmb_job.trace) set_end(record, tmb_os_ticks_now());
}

void tmb_record_event(const struct tmb_trace_event *event) {
  struct tmb_trace_event e = *event;
  e.end = tmb_os_ticks_now();
  if (!e.begin) e.begin = e.end;
  (void)write_event(&e);
}

/* End of a copy that began at `begun`. */
static uint64_t end_of_copy(uint64_t begun, size_t bytes) {
  return bytes <= COPY_BYTES && !tmb_job.status->stats.on ? begun : tmb_os_ticks_now();
}

static TMB_ALWAYS_INLINE void put_operation(uint64_t begun, uint64_t end, uint32_t what,
                                            uint32_t peer, size_t bytes,
                                            const struct tmb_trace_event *like) {
  sum_operation(begun, end);
  if (!tmb_job.trace) return;
  (void)put_event(&(struct tmb_trace_event){.begin = begun,
                                            .end = end,
                                            .kind = TMB_TRACE_OPERATION,
                                            .what = (uint8_t)what,
                                            .peer = peer,
                                            .bytes = bytes,
                                            .object = like->object,
                                            .number = like->number});
}

void tmb_record_operation(uint64_t begun, uint32_t what, uint32_t peer, size_t bytes,
                          const void *object, const void *op) {
  if (!begun) return;
  put_operation(begun, tmb_os_ticks_now(), what, peer, bytes,
                &(struct tmb_trace_event){.object = (uintptr_t)object, .number = (uintptr_t)op});
}

void tmb_record_copy(uint64_t begun, uint32_t what, uint32_t peer, size_t bytes,
                     const void *object) {
  if (!begun) return;
  const uint64_t end = what == TMB_WHAT_PUT ? end_of_copy(begun, bytes) : tmb_os_ticks_now();
  put_operation(begun, end, what, peer, bytes,
                &(struct tmb_trace_event){.object = (uintptr_t)object});
}

void tmb_record_signal(uint64_t begun, const struct tmb_trace_event *like, const void *op,
                       bool copied) {
  if (!begun) return;
  const uint64_t end = copied ? end_of_copy(begun, like->bytes) : tmb_os_ticks_now();
  sum_operation(begun, end);
  if (!tmb_job.trace) return;
  (void)put_event(&(struct tmb_trace_event){.begin = begun,
                                            .end = end,
                                            .kind = TMB_TRACE_OPERATION,
                                            .what = like->what,
                                            .peer = like->peer,
                                            .bytes = like->bytes,
                                            .object = like->object,
                                            .value = like->value,
                                            .number = (uintptr_t)op});
}

/* ---- messages */

void tmb_record_sent(uint64_t begun, const struct tmb_am_out *out) {
  if (!begun) return;
  const uint64_t end = tmb_os_ticks_now();
  sum_operation(begun, end);
  if (!tmb_job.trace || out->handler < TMB_HANDLER_FIRST) return;
  const uint32_t number = tmb_fetch_add_rlx(&messages.sent[out->is_reply][out->peer], 1u) + 1;
  (void)write_event(
      &(struct tmb_trace_event){.begin = begun,
                                .end = end,
                                .kind = TMB_TRACE_MESSAGE,
                                .what = (uint8_t)(out->category + 4 * out->is_reply),
                                .peer = out->peer,
                                .bytes = out->category == TMB_AM_SHORT ? 0 : out->nbytes,
                                .number = number,
                                .value = out->handler});
}

void tmb_record_handler(const struct tmb_am_in *in, const char *name) {
  struct tmb_record *record = &inside()->handlers[in->is_reply];
  const uint32_t number = tmb_fetch_add_rlx(&messages.handled[in->is_reply][in->src], 1u) + 1;
  record->event = (struct tmb_trace_event){.kind = TMB_TRACE_HANDLER,
                                           .what = (uint8_t)(in->category + 4 * in->is_reply),
                                           .peer = in->src,
                                           .bytes = in->category == TMB_AM_SHORT ? 0 : in->nbytes,
                                           .number = number,
                                           .value = in->handler,
                                           .name = constant_name(name)};
  begin_slice(record);
}

void tmb_record_handled(const struct tmb_am_in *in) {
  tmb_record_close(&inside()->handlers[in->is_reply]);
}

void tmb_record_call(struct tmb_record *record, uint64_t begun, const struct tmb_record_call *c) {
  record->number = 0;
  if (!begun) return;
  sum_operation(begun, tmb_os_ticks_now());
  if (!tmb_job.trace) return;
  const uint64_t team = c->team == &tmb_job.team ? 0 : c->team->uid;
  record->event = (struct tmb_trace_event){
      .begin = begun,
      .kind = TMB_TRACE_CALL,
      .what = (uint8_t)c->what,
      .peer = c->root,
      .bytes = c->bytes,
      .object = team,
      .number = (uint32_t)c->number | (uint64_t)tmb_record_name(c->team->calls->name) << 32,
      .value = (uintptr_t)c->op,
      .name = constant_name(c->algorithm)};
  begin_slice(record);
}

/* ---- waits */

/* Fields of a wait's event. */
static void describe(struct tmb_trace_event *e, struct tmb_why why) {
  struct tmb_status_wait w = {.peer = TMB_STATUS_NOBODY, .team = TMB_STATUS_NO_TEAM};
  if (why.describe) why.describe(why.object, &w);
  const bool is_op =
      w.kind == TMB_WAIT_OPERATION || w.kind == TMB_WAIT_BARRIER || w.kind == TMB_WAIT_COLLECTIVE;
  e->kind = TMB_TRACE_WAIT;
  e->what = w.kind;
  e->peer = w.peer;
  e->object = w.addr;
  e->value = w.value;
  e->bytes = w.count;
  e->name = w.what | (uint32_t)w.cmp << 8;
  if (is_op) e->number = (uintptr_t)why.object;
  if (w.kind == TMB_WAIT_NAMED) e->number = w.number << 1 | 1;
}

void tmb_record_wait(const struct gexx_wait *wait) {
  struct inside *in = inside();
  while (in->waits.depth && !in->waits.at[in->waits.depth - 1].steps) in->waits.depth--; /* over */
  if (in->waits.depth == WAITS) return;
  struct waiting *w = &in->waits.at[in->waits.depth++];
  w->wait = wait;
  w->begun = tmb_os_ticks_now();
  w->steps = false;
  w->summed = 0;
  w->record.number = 0;
}

/* The entry of a wait, or NULL. */
static struct waiting *entry_of(const struct gexx_wait *wait) {
  struct inside *in = inside();
  for (uint32_t i = in->waits.depth; i > 0; i--)
    if (in->waits.at[i - 1].wait == wait) return &in->waits.at[i - 1];
  return NULL;
}

void tmb_record_steps(const struct gexx_wait *wait, struct tmb_why why) {
  struct waiting *w = entry_of(wait);
  if (!w) return;
  w->steps = true;
  if (w->record.number || !tmb_job.trace) return;
  w->record.event = (struct tmb_trace_event){.begin = w->begun};
  describe(&w->record.event, why);
  begin_slice(&w->record);
}

void tmb_record_waited(const struct gexx_wait *wait) {
  struct waiting *w = entry_of(wait);
  if (!w) return;
  const uint64_t now = tmb_os_ticks_now();
  w->steps = false;
  if (tmb_job.status->stats.on) sum_wait(w, now);
  if (w->record.number && tmb_job.trace) set_end(&w->record, now);
}

void tmb_record_wait_over(const struct gexx_wait *wait) {
  const struct waiting *w = entry_of(wait);
  if (w && (w->summed || w->record.number)) tmb_record_waited(wait);
}

/* ---- layers above the library */

void tmb_record_statement(const struct gexx_waitinfo *info) {
  if (inside()->statement.number) tmb_record_close(&inside()->statement);
  inside()->statement.number = 0;
  if (!info) return;
  inside()->statement.event = (struct tmb_trace_event){.kind = TMB_TRACE_STATEMENT,
                                                       .name = tmb_record_name(info->call),
                                                       .object = tmb_record_name(info->object),
                                                       .value = place_name(NULL, info->caller),
                                                       .peer = info->peer};
  begin_slice(&inside()->statement);
}

void tmb_record_follow(const struct gexx_waitinfo *info) {
  tmb_store_rlx(&followed, info);
}

void tmb_record_region(const char *name) {
  const uint32_t depth = inside()->regions.depth++;
  if (depth >= REGIONS) return;
  inside()->regions.at[depth].event =
      (struct tmb_trace_event){.kind = TMB_TRACE_REGION, .name = tmb_record_name(name)};
  begin_slice(&inside()->regions.at[depth]);
}

void tmb_record_region_end(void) {
  struct inside *in = inside();
  if (in->regions.depth == 0) return;
  if (--in->regions.depth < REGIONS) tmb_record_close(&in->regions.at[in->regions.depth]);
}

void tmb_record_mark(const char *name) {
  tmb_record_event(
      &(struct tmb_trace_event){.kind = TMB_TRACE_MARK, .name = tmb_record_name(name)});
}
