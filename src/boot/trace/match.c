/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Causes and effects in a trace.
 *
 * Owns: no process state. Called by set.c and align.c. Calls: libc. A handler's cause is the
 * message with equal pair of ranks, direction and number. A wait for a signal is ended by the last
 * operation that had begun to change that word before the wait ended. A call of all members of a
 * team is ended by the member that came last. A wait for an operation or a call refers to it by the
 * address of its event, which is looked for among the earlier items of the rank. A condition of the
 * program becomes true by the last handler that ran during the wait. Invariants: a cause begins no
 * later than its effect ends; a cause that does not is dropped and counted.
 */
#define _GNU_SOURCE
#include "boot/trace/set.h"

#include "base/container/hash.h"
#include "base/error.h"

#include <stdlib.h>

#define DOUBT_NS_MAX 1e9 /* an agent that waits longer for an answer gives up, see far_trace.c */

/* Items by number, as they are sorted. */
struct list {
  uint32_t *at;
  size_t count;
};

typedef int compare_fn(const void *a, const void *b, void *set);

static bool is_signal(const struct tmb_trace_event *e) {
  return e->kind == TMB_TRACE_OPERATION &&
         (e->what >= TMB_WHAT_PUT_SIGNAL && e->what <= TMB_WHAT_GET_NOTIFY);
}

static bool is_message(const struct tmb_trace_event *e) {
  return e->kind == TMB_TRACE_MESSAGE;
}

static bool is_handler(const struct tmb_trace_event *e) {
  return e->kind == TMB_TRACE_HANDLER;
}

static bool is_call(const struct tmb_trace_event *e) {
  return e->kind == TMB_TRACE_CALL;
}

/* The items of a sort, in an order. Returns false without memory. */
static bool collect(struct tmb_trace_set *set, bool (*wanted)(const struct tmb_trace_event *e),
                    compare_fn *order, struct list *list) {
  list->count = 0;
  for (uint32_t i = 0; i < set->items; i++) list->count += wanted(set->item[i].event);
  list->at = malloc((list->count + 1) * sizeof *list->at);
  if (!list->at) return false;
  size_t n = 0;
  for (uint32_t i = 0; i < set->items; i++)
    if (wanted(set->item[i].event)) list->at[n++] = i;
  qsort_r(list->at, list->count, sizeof *list->at, order, set);
  return true;
}

static int order_of(uint64_t a, uint64_t b) {
  return a < b ? -1 : a > b;
}

int64_t tmb_trace_doubt_ns(const struct tmb_trace_set *set, uint32_t host, uint32_t other) {
  const double error = set->offset[host].error_ns + set->offset[other].error_ns;
  return (int64_t)TMB_MAX(0, TMB_MIN(error, DOUBT_NS_MAX));
}

/* Largest time by which a cause may lie behind its effect in this pass. */
static int64_t behind_ns(const struct tmb_trace_set *set, const struct tmb_trace_item *effect,
                         const struct tmb_trace_item *cause) {
  const uint32_t from = set->rank[cause->rank].host, to = set->rank[effect->rank].host;
  return set->doubt && from != to ? tmb_trace_doubt_ns(set, from, to) : 0;
}

static void set_cause(struct tmb_trace_set *set, uint32_t effect, uint32_t cause) {
  struct tmb_trace_item *e = &set->item[effect];
  const struct tmb_trace_item *c = &set->item[cause];
  if (c->begin_ns - e->end_ns > behind_ns(set, e, c)) {
    set->arrows_dropped++;
    return;
  }
  e->cause = cause;
}

/* ---- messages */

/* Sender, receiver, direction and number: of a message, or of its handler. */
static int order_message(const void *a, const void *b, void *arg) {
  const struct tmb_trace_set *set = arg;
  const struct tmb_trace_item *x = &set->item[*(const uint32_t *)a],
                              *y = &set->item[*(const uint32_t *)b];
  const bool from = x->event->kind == TMB_TRACE_MESSAGE, also = y->event->kind == TMB_TRACE_MESSAGE;
  int order = order_of(from ? x->rank : x->event->peer, also ? y->rank : y->event->peer);
  if (!order) order = order_of(from ? x->event->peer : x->rank, also ? y->event->peer : y->rank);
  if (!order) order = order_of(x->event->what / 4, y->event->what / 4);
  return order ? order : order_of(x->event->number, y->event->number);
}

static bool match_messages(struct tmb_trace_set *set) {
  struct list sent = {0}, handled = {0};
  const bool good = collect(set, is_message, order_message, &sent) &&
                    collect(set, is_handler, order_message, &handled);
  for (size_t i = 0, k = 0; good && i < handled.count && k < sent.count;) {
    const int order = order_message(&sent.at[k], &handled.at[i], set);
    if (order == 0) set_cause(set, handled.at[i], sent.at[k]);
    k += order <= 0;
    i += order >= 0;
  }
  free(sent.at);
  free(handled.at);
  return good;
}

/* ---- signals */

/* Key by which a wait knows a change: the address of the signal; the tag of a notification, which
 * is odd as no address is. */
static uint64_t key_of(const struct tmb_trace_event *e) {
  const bool tagged =
      e->kind == TMB_TRACE_WAIT ? e->what == TMB_WAIT_NOTIFICATION : e->what >= TMB_WHAT_PUT_NOTIFY;
  return tagged ? e->value << 1 | 1 : e->object;
}

/* Owner, address and time of a change of a signal. */
static int order_signal(const void *a, const void *b, void *arg) {
  const struct tmb_trace_set *set = arg;
  const struct tmb_trace_item *x = &set->item[*(const uint32_t *)a],
                              *y = &set->item[*(const uint32_t *)b];
  int order = order_of(x->event->peer, y->event->peer);
  if (!order) order = order_of(key_of(x->event), key_of(y->event));
  return order ? order : (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Index in the list of the first change that is not before (rank, address, time). */
static size_t first_after(const struct tmb_trace_set *set, const struct list *l, uint32_t rank,
                          uint64_t addr, int64_t ns) {
  size_t low = 0, high = l->count;
  while (low < high) {
    const size_t mid = (low + high) / 2;
    const struct tmb_trace_item *c = &set->item[l->at[mid]];
    int order = order_of(c->event->peer, rank);
    if (!order) order = order_of(key_of(c->event), addr);
    if (!order) order = c->begin_ns <= ns ? -1 : 1;
    if (order < 0)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

/* A change of this word of this rank. */
static bool is_change(const struct tmb_trace_item *c, uint32_t rank, uint64_t addr) {
  return c->event->peer == rank && key_of(c->event) == addr;
}

/* The last change of a word before the wait ended. In doubt of the clocks, if there is none: the
 * first one behind, for something has ended the wait. */
static uint32_t change_of(const struct tmb_trace_set *set, const struct list *changes,
                          const struct tmb_trace_item *wait, uint64_t addr) {
  const size_t at = first_after(set, changes, wait->rank, addr, wait->end_ns);
  if (at > 0 && is_change(&set->item[changes->at[at - 1]], wait->rank, addr))
    return changes->at[at - 1];
  if (at == changes->count) return TMB_TRACE_NO_ITEM;
  const struct tmb_trace_item *c = &set->item[changes->at[at]];
  const bool near = c->begin_ns - wait->end_ns <= behind_ns(set, wait, c);
  return near && is_change(c, wait->rank, addr) ? changes->at[at] : TMB_TRACE_NO_ITEM;
}

/* The last change of one of the words that a wait is for. */
static void match_wait(struct tmb_trace_set *set, const struct list *changes, uint32_t wait) {
  const struct tmb_trace_item *w = &set->item[wait];
  const bool some = w->event->what == TMB_WAIT_SIGNALS;
  const uint64_t words = some ? TMB_MIN(w->event->bytes, UINT64_C(4096)) : 1;
  uint32_t best = TMB_TRACE_NO_ITEM;
  for (uint64_t k = 0; k < words; k++) {
    const uint64_t addr = key_of(w->event) + k * w->event->value;
    const uint32_t last = change_of(set, changes, w, addr);
    if (last == TMB_TRACE_NO_ITEM) continue;
    const struct tmb_trace_item *c = &set->item[last];
    if (best == TMB_TRACE_NO_ITEM || c->begin_ns > set->item[best].begin_ns) best = last;
  }
  if (best != TMB_TRACE_NO_ITEM) set_cause(set, wait, best);
}

static bool match_signals(struct tmb_trace_set *set) {
  struct list changes;
  if (!collect(set, is_signal, order_signal, &changes)) return false;
  for (uint32_t i = 0; i < set->items; i++) {
    const struct tmb_trace_event *e = set->item[i].event;
    if (e->kind == TMB_TRACE_WAIT && e->what >= TMB_WAIT_SIGNAL && e->what <= TMB_WAIT_NOTIFICATION)
      match_wait(set, &changes, i);
  }
  free(changes.at);
  return true;
}

/* ---- calls of all members of a team */

/* Barriers, named barriers and collectives of a team are numbered each by themselves. */
static uint32_t class_of(const struct tmb_trace_event *e) {
  if (e->what == TMB_WHAT_BARRIER && (e->value & 1)) return 0; /* the phase of a named one */
  return TMB_MIN((uint32_t)e->what, (uint32_t)TMB_WHAT_COLLECTIVE);
}

static int order_call(const void *a, const void *b, void *arg) {
  const struct tmb_trace_set *set = arg;
  const struct tmb_trace_item *x = &set->item[*(const uint32_t *)a],
                              *y = &set->item[*(const uint32_t *)b];
  int order = order_of(x->event->object, y->event->object);
  if (!order) order = order_of(class_of(x->event), class_of(y->event));
  if (!order) order = order_of((uint32_t)x->event->number, (uint32_t)y->event->number);
  return order ? order : (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static bool same_call(const struct tmb_trace_set *set, uint32_t a, uint32_t b) {
  const struct tmb_trace_event *x = set->item[a].event, *y = set->item[b].event;
  return x->object == y->object && class_of(x) == class_of(y) &&
         (uint32_t)x->number == (uint32_t)y->number;
}

/* last: [items] for a call the one that came last to it, for others itself. */
static bool match_calls(struct tmb_trace_set *set, uint32_t *last) {
  struct list calls;
  for (uint32_t i = 0; i < set->items; i++) last[i] = i;
  if (!collect(set, is_call, order_call, &calls)) return false;
  for (size_t i = 0, end; i < calls.count; i = end) {
    for (end = i + 1; end < calls.count && same_call(set, calls.at[i], calls.at[end]);) end++;
    for (size_t k = i; k + 1 < end; k++) {
      const uint32_t call = calls.at[k];
      last[call] = calls.at[end - 1];
      if (set->item[call].end_ns >= set->item[last[call]].begin_ns)
        set_cause(set, call, last[call]);
    }
  }
  free(calls.at);
  return true;
}

/* ---- waits that a handler ends */

static bool is_condition(const struct tmb_trace_event *e) {
  return e->kind == TMB_TRACE_WAIT &&
         (e->what == TMB_WAIT_CONDITION || e->what == TMB_WAIT_POLL || e->what == TMB_WAIT_UNKNOWN);
}

/* A condition of the program becomes true by the last handler that ran during the wait. */
static void match_conditions(struct tmb_trace_set *set, const struct tmb_trace_rank *rank) {
  const uint32_t end = rank->first + rank->count;
  for (uint32_t i = rank->first; i < end; i++) {
    struct tmb_trace_item *w = &set->item[i];
    if (!is_condition(w->event)) continue;
    for (uint32_t k = i + 1; k < end && set->item[k].begin_ns <= w->end_ns; k++) {
      const struct tmb_trace_item *h = &set->item[k];
      if (is_handler(h->event) && h->event->thread == w->event->thread &&
          h->cause != TMB_TRACE_NO_ITEM)
        w->cause = h->cause;
    }
  }
}

/* ---- waits for operations that this rank has begun */

/* The last item of each op, by its address. */
struct seen {
  uint64_t op; /* not 0 */
  uint32_t item;
};

static uint64_t hash_seen(const void *entry) {
  return tmb_hash_word(((const struct seen *)entry)->op);
}

static bool same_op(const void *a, const void *b) {
  return ((const struct seen *)a)->op == ((const struct seen *)b)->op;
}

/* Key by which a later wait may name the item; 0: nothing. */
static uint64_t op_of(const struct tmb_trace_event *e) {
  if (e->kind == TMB_TRACE_OPERATION) return e->number;
  return e->kind == TMB_TRACE_CALL ? e->value : 0;
}

static bool match_own(struct tmb_trace_set *set, const struct tmb_trace_rank *rank,
                      const uint32_t *last) {
  static const struct tmb_hash_kind kind = {sizeof(struct seen), hash_seen, same_op};
  struct tmb_hash table = {0};
  bool good = true;
  for (uint32_t i = rank->first; good && i < rank->first + rank->count; i++) {
    const struct tmb_trace_event *e = set->item[i].event;
    const struct seen begun = {op_of(e), i}, of_wait = {e->number, 0};
    struct seen *s = begun.op ? tmb_hash_add(&table, &kind, &begun) : NULL;
    if (s) s->item = i;
    good = !begun.op || s;
    if (e->kind != TMB_TRACE_WAIT || !e->number || set->item[i].cause != TMB_TRACE_NO_ITEM)
      continue;
    s = tmb_hash_find(&table, &kind, &of_wait);
    if (s && last[s->item] != i) set_cause(set, i, last[s->item]);
  }
  tmb_hash_free(&table);
  return good;
}

int tmb_trace_match(struct tmb_trace_set *set, bool doubt) {
  set->doubt = doubt;
  set->arrows_dropped = 0;
  for (uint32_t i = 0; i < set->items; i++) set->item[i].cause = TMB_TRACE_NO_ITEM;
  uint32_t *last = malloc((set->items + 1u) * sizeof *last);
  bool good = last && match_messages(set) && match_signals(set) && match_calls(set, last);
  for (uint32_t r = 0; good && r < set->size; r++) {
    match_conditions(set, &set->rank[r]);
    good = match_own(set, &set->rank[r], last);
  }
  free(last);
  return good ? TMB_OK : TMB_E_NOMEM;
}
