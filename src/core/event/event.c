/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events and implicit operations: test, wait, leaves, access regions.
 *
 * Owns nothing beyond the ops of op.h. Called by clients from normal context, any thread. Calls:
 * progress for the waits. Invariants: a successful synchronisation of a root frees it, with its
 * leaves; leaves are never freed by themselves; in array calls leaves and root of one op may come
 * in any order, because roots are freed after the whole array was seen.
 */
#include "core/check.h"
#include "core/op/check_context.h"
#include "core/op/lost.h"
#include "core/op/op.h"
#include "core/op/record.h"
#include "core/op/status.h"
#include "core/op/thread.h"
#include "core/progress/wait.h"

static struct tmb_op *op_of(gex_Event_t event) {
  return tmb_op_of_event(event);
}

/* 0 for a root, else 1 + category. */
static uint32_t tag_of(gex_Event_t event) {
  return (uint32_t)((uintptr_t)event & TMB_EVENT_TAG);
}

static void check_event(const char *call, gex_Event_t event) {
  if (event == GEX_EVENT_INVALID) return;
  if (event == GEX_EVENT_NO_OP)
    tmb_fatal_nopos(
        "%s: argument event is GEX_EVENT_NO_OP: the immediate call started nothing, there "
        "is nothing to synchronise",
        call);
  if ((uintptr_t)event < 4096 || tag_of(event) > TMB_CAT_COUNT)
    tmb_fatal_nopos("%s: argument event is %p, which is not an event", call, (void *)event);
  const struct tmb_op *op = op_of(event);
  const uint32_t kind = tmb_load_acq(&op->kind);
  if (kind != TMB_OP_SINGLE && kind != TMB_OP_REGION)
    tmb_fatal_nopos(
        "%s: argument event (%p) was synchronised before; an event is synchronised exactly "
        "once",
        call, (void *)event);
}

/* Before a wait for an incomplete op: runs the functions of the client that the op
 * needs, see coll/engine/apply.h. */
static void want(struct tmb_op *op) {
  if (!tmb_job.threads) return;
  const uint32_t id = tmb_thread()->id;
  if (tmb_load_rlx(&op->thread) != id) tmb_store_rlx(&op->thread, id);
}

/* The categories that an event stands for. */
static uint32_t mask_of(gex_Event_t event) {
  const uint32_t tag = tag_of(event);
  return tag ? 1u << (tag - 1) : GEX_EC_ALL;
}

static bool complete(gex_Event_t event) {
  if (TMB_LIKELY(tmb_op_done(op_of(event), mask_of(event)))) return true;
  want(op_of(event));
  return false;
}

static void retire(gex_Event_t event) {
  if (tag_of(event) != 0) return;
  (void)tmb_op_sync(op_of(event), GEX_EC_ALL);
  tmb_op_free(op_of(event));
}

int gexx_event_test(gex_Event_t event) {
  if (TMB_UNLIKELY(tmb_job.debug)) {
    tmb_check_context_mild("gex_Event_Test");
    check_event("gex_Event_Test", event);
  }
  if (event == GEX_EVENT_INVALID) return GASNET_OK;
  if (!complete(event)) return GASNET_ERR_NOT_READY;
  retire(event);
  return GASNET_OK;
}

/* A collective of ranks of this host may end between the last step of a wait and the look that sees
 * it: the trace says that the wait ends at the look. */
static void is_over(const struct gexx_wait *wait) {
  if (tmb_recording_waits()) tmb_record_wait_over(wait);
}

void gexx_event_wait(gex_Event_t event) {
  if (TMB_UNLIKELY(tmb_job.debug)) {
    tmb_check_context_at("gex_Event_Wait");
    check_event("gex_Event_Wait", event);
  }
  if (event == GEX_EVENT_INVALID) return;
  if (!complete(event)) {
    struct gexx_wait wait;
    tmb_wait_begin(&wait);
    while (!complete(event)) tmb_wait_step(&wait, tmb_why_op(op_of(event)));
    is_over(&wait);
  }
  retire(event);
}

gex_Event_t gexx_check_event(void) {
  return tmb_op_event(tmb_op_new(TMB_OP_SINGLE, 0));
}

/* A wait of gexx_Event_WaitUntil. */
struct either {
  gex_Event_t event;
  int (*until)(void *arg);
  void *arg;
};

static bool either_is(void *arg) {
  const struct either *e = arg;
  return (e->event != GEX_EVENT_NO_OP && complete(e->event)) || (e->until && e->until(e->arg));
}

static void describe_either(const void *arg, struct tmb_status_wait *out) {
  const struct either *e = arg;
  if (e->event == GEX_EVENT_NO_OP)
    out->kind = TMB_WAIT_CONDITION;
  else
    tmb_status_of_op(op_of(e->event), out);
}

int gexx_Event_WaitUntil(gex_Event_t event, int (*until)(void *arg), void *arg,
                         uint64_t timeout_us) {
  if (TMB_UNLIKELY(tmb_job.debug)) {
    tmb_check_context_at("gexx_Event_WaitUntil");
    if (event != GEX_EVENT_NO_OP) check_event("gexx_Event_WaitUntil", event);
  }
  if (event == GEX_EVENT_INVALID) return GASNET_OK;
  struct either e = {event, until, arg};
  const uint64_t ns = timeout_us > UINT64_MAX / 1000 ? UINT64_MAX : timeout_us * 1000;
  if (event == GEX_EVENT_NO_OP && until)
    (void)tmb_wait_until_stored(either_is, &e, ns, describe_either);
  else
    (void)tmb_wait_until(either_is, &e, ns, describe_either);
  if (event == GEX_EVENT_NO_OP || !complete(event)) return GASNET_ERR_NOT_READY;
  retire(event);
  return GASNET_OK;
}

static void check_array(const char *call, const gex_Event_t *events, size_t count,
                        gex_Flags_t flags) {
  tmb_check_context_at(call);
  tmb_check_flags(call, flags, 0);
  if (count && !events)
    tmb_fatal_nopos("%s: argument pevent is NULL with numevents %zu", call, count);
  for (size_t i = 0; i < count; i++) {
    if (events[i] == GEX_EVENT_INVALID) continue;
    check_event(call, events[i]);
    for (size_t k = 0; count <= 64 && k < i; k++)
      if (events[k] == events[i])
        tmb_fatal_nopos("%s: entries %zu and %zu of argument pevent are the same event %p", call, k,
                        i, (void *)events[i]);
  }
}

/* An array of events, for `tombolo why`. */
struct events {
  const gex_Event_t *event;
  size_t count;
};

static void describe_events(const void *object, struct tmb_status_wait *out) {
  const struct events *all = object;
  uint32_t live = 0;
  for (size_t i = 0; i < all->count; i++) {
    const gex_Event_t event = all->event[i];
    if (event == GEX_EVENT_INVALID || tmb_op_done(op_of(event), mask_of(event))) continue;
    if (live++ == 0) tmb_status_of_op(op_of(event), out);
  }
  if (live < 2) return;
  out->kind = TMB_WAIT_EVENTS;
  out->count = live;
}

/* Retire the complete leaves, or the complete roots, of an array. Returns how many; *live counts
 * the others. */
static size_t sweep_kind(gex_Event_t *events, size_t count, bool leaves, size_t *live) {
  size_t done = 0;
  for (size_t i = 0; i < count; i++) {
    const gex_Event_t event = events[i];
    if (event == GEX_EVENT_INVALID || (tag_of(event) != 0) != leaves) continue;
    if (!complete(event)) {
      ++*live;
      continue;
    }
    events[i] = GEX_EVENT_INVALID;
    retire(event);
    done++;
  }
  return done;
}

/* A root has been retired: set to INVALID the leaves of its op that are still in the array.
 * Returns how many there were. */
static size_t sweep_leaves_of(const struct tmb_op *op, gex_Event_t *events, size_t count) {
  size_t done = 0;
  for (size_t i = 0; i < count; i++)
    if (events[i] != GEX_EVENT_INVALID && tag_of(events[i]) && op_of(events[i]) == op) {
      events[i] = GEX_EVENT_INVALID;
      done++;
    }
  return done;
}

/*
 * Retire the complete entries. out live: entries that were and are not complete. Returns how many
 * completed. Leaves go first, because retiring a root ends its leaves.
 */
static size_t sweep(gex_Event_t *events, size_t count, size_t *live) {
  size_t live_leaves = 0;
  *live = 0;
  size_t done = sweep_kind(events, count, true, &live_leaves);
  if (live_leaves == 0) return done + sweep_kind(events, count, false, live);
  for (size_t i = 0; i < count; i++) {
    const gex_Event_t event = events[i];
    if (event == GEX_EVENT_INVALID || tag_of(event)) continue;
    if (!complete(event)) {
      ++*live;
      continue;
    }
    if (op_of(event)->leaves) {
      const size_t late = sweep_leaves_of(op_of(event), events, count);
      live_leaves -= late;
      done += late;
    }
    events[i] = GEX_EVENT_INVALID;
    retire(event);
    done++;
  }
  *live += live_leaves;
  return done;
}

int gex_Event_TestSome(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags) {
  if (TMB_UNLIKELY(tmb_job.debug)) check_array("gex_Event_TestSome", pevent, numevents, flags);
  size_t live;
  const size_t done = sweep(pevent, numevents, &live);
  return done || !live ? GASNET_OK : GASNET_ERR_NOT_READY;
}

void gex_Event_WaitSome(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags) {
  if (TMB_UNLIKELY(tmb_job.debug)) check_array("gex_Event_WaitSome", pevent, numevents, flags);
  size_t live;
  if (sweep(pevent, numevents, &live) || !live) return;
  const struct events all = {pevent, numevents};
  struct gexx_wait wait;
  tmb_wait_begin(&wait);
  while (!sweep(pevent, numevents, &live))
    tmb_wait_step(&wait, (struct tmb_why){describe_events, &all});
  is_over(&wait);
}

int gex_Event_TestAll(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags) {
  if (TMB_UNLIKELY(tmb_job.debug)) check_array("gex_Event_TestAll", pevent, numevents, flags);
  size_t live;
  (void)sweep(pevent, numevents, &live);
  return live ? GASNET_ERR_NOT_READY : GASNET_OK;
}

void gex_Event_WaitAll(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags) {
  if (TMB_UNLIKELY(tmb_job.debug)) check_array("gex_Event_WaitAll", pevent, numevents, flags);
  size_t live;
  (void)sweep(pevent, numevents, &live);
  if (!live) return;
  const struct events all = {pevent, numevents};
  struct gexx_wait wait;
  tmb_wait_begin(&wait);
  /* One after another: to look at all after each poll takes the square of their number. */
  for (size_t i = 0; i < numevents; i++)
    while (pevent[i] != GEX_EVENT_INVALID && !complete(pevent[i]))
      tmb_wait_step(&wait, (struct tmb_why){describe_events, &all});
  is_over(&wait);
  (void)sweep(pevent, numevents, &live);
}

gex_Event_t gex_Event_QueryLeaf(gex_Event_t root, gex_EC_t event_category) {
  const char *call = "gex_Event_QueryLeaf";
  TMB_CHECK_MILD(call);
  if (TMB_UNLIKELY(tmb_job.debug) &&
      (__builtin_popcount(event_category) != 1 || (event_category & ~GEX_EC_ALL)))
    tmb_fatal_nopos("%s: argument event_category is 0x%x; exactly one GEX_EC_ category is needed",
                    call, event_category);
  if (root == GEX_EVENT_INVALID) return root;
  if (TMB_UNLIKELY(tmb_job.debug)) {
    check_event(call, root);
    if (tag_of(root)) tmb_fatal_nopos("%s: argument root (%p) is a leaf event", call, (void *)root);
    if (!(op_of(root)->leaves & event_category))
      tmb_fatal_nopos("%s: argument event_category is 0x%x, but event %p has leaves for 0x%x only",
                      call, event_category, (void *)root, op_of(root)->leaves);
  }
  return (gex_Event_t)((uintptr_t)root + 1 + (uintptr_t)__builtin_ctz(event_category));
}

/* ---- implicit operations */

static struct tmb_thread *nbi_thread(const char *call, gex_EC_t mask, gex_Flags_t flags) {
  struct tmb_thread *t = tmb_thread();
  if (TMB_UNLIKELY(tmb_job.debug)) {
    tmb_check_context_at(call);
    tmb_check_flags(call, flags, 0);
    if (!mask || (mask & ~GEX_EC_ALL))
      tmb_advise(TMB_ADVICE_FLAGS, "%s: argument event_mask is 0x%x; known categories are 0x%x",
                 call, mask, GEX_EC_ALL);
    if (t->region)
      tmb_fatal_nopos(
          "%s: called inside an access region; end it with gex_NBI_EndAccessRegion first", call);
  }
  return t;
}

/* Categories to check: completion of puts includes their sources. */
static uint32_t nbi_mask(gex_EC_t mask) {
  return (mask & GEX_EC_PUT ? mask | GEX_EC_LC : mask) & GEX_EC_ALL;
}

int gex_NBI_Test(gex_EC_t event_mask, gex_Flags_t flags) {
  struct tmb_thread *t = nbi_thread("gex_NBI_Test", event_mask, flags);
  const uint32_t mask = nbi_mask(event_mask);
  if (!tmb_op_done(&t->nbi, mask)) return GASNET_ERR_NOT_READY;
  (void)tmb_op_sync(&t->nbi, mask);
  return GASNET_OK;
}

void gex_NBI_Wait(gex_EC_t event_mask, gex_Flags_t flags) {
  struct tmb_thread *t = nbi_thread("gex_NBI_Wait", event_mask, flags);
  const uint32_t mask = nbi_mask(event_mask);
  if (!tmb_op_done(&t->nbi, mask)) {
    struct gexx_wait wait;
    tmb_wait_begin(&wait);
    while (!tmb_op_done(&t->nbi, mask)) tmb_wait_step(&wait, tmb_why_op(&t->nbi));
    is_over(&wait);
  }
  (void)tmb_op_sync(&t->nbi, mask);
}

/* The thread of a call that begins or ends an access region. */
static struct tmb_thread *region_thread(const char *call, gex_Flags_t flags, bool begins) {
  struct tmb_thread *t = tmb_thread();
  if (TMB_LIKELY(!tmb_job.debug)) return t;
  tmb_check_context_at(call);
  tmb_check_flags(call, flags, 0);
  if (begins && t->region)
    tmb_fatal_nopos("%s: an access region is already open on this thread; regions do not nest",
                    call);
  if (!begins && !t->region)
    tmb_fatal_nopos("%s: no access region is open on this thread; begin one with "
                    "gex_NBI_BeginAccessRegion",
                    call);
  return t;
}

void gex_NBI_BeginAccessRegion(gex_Flags_t flags) {
  struct tmb_thread *t = region_thread("gex_NBI_BeginAccessRegion", flags, true);
  if (!t->region) t->region = tmb_op_new(TMB_OP_REGION, GEX_EC_ALL);
}

gex_Event_t gex_NBI_EndAccessRegion(gex_Flags_t flags) {
  struct tmb_thread *t = region_thread("gex_NBI_EndAccessRegion", flags, false);
  struct tmb_op *op = t->region;
  t->region = NULL;
  if (!op) return GEX_EVENT_INVALID;
  /* A debug client, and a checked one, gets a live event in any case, so that a second
   * synchronisation is found. */
  const bool wanted = tmb_job.live_events && op->joined;
  if (!wanted && tmb_op_done(op, GEX_EC_ALL) && !op->lost_mask) {
    tmb_op_free(op);
    return GEX_EVENT_INVALID;
  }
  return tmb_op_event(op);
}

int gexx_Event_Status(gex_Event_t event) {
  TMB_CHECK_MILD("gexx_Event_Status");
  if (TMB_UNLIKELY(tmb_job.debug)) check_event("gexx_Event_Status", event);
  if (event == GEX_EVENT_INVALID) return GASNET_OK;
  if (!complete(event)) return GASNET_ERR_NOT_READY;
  const uint32_t tag = tag_of(event);
  const uint32_t mask = tag ? 1u << (tag - 1) : GEX_EC_ALL;
  return tmb_load_acq(&op_of(event)->lost_mask) & mask ? GEXX_ERR_LOST : GASNET_OK;
}
