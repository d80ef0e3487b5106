/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts with a signal that need not be sent before the call returns, see deferred_put.h.
 *
 * Owns: the queue of puts that found no room. Called by semaphores, and by progress while puts
 * wait. Calls: peer.h with `resume`, which may be called under the lock of the
 * queue because in that form it neither waits nor runs progress. Each pass tries the puts from the
 * oldest to the youngest; after one that found no room at its target, later ones to that target are
 * not tried in this pass, so a slow target holds up no other. An attempt without success may have
 * copied a piece of the data in vain, so attempts become rarer while they fail. A bare signal that
 * found no room is tried again for a short time before the call returns, since a producer may call
 * nothing of this library for long after its post; not for ever, since the target may be busy, and
 * not one that was added to another, whose caller has done so. Invariants:
 * tmb_job.work[TMB_WORK_PUTS] is the length of the queue; entries are at most TMB_DEFERRED_PUTS_MAX
 * and are reused; signals without data that wait for one word are added up in one entry.
 */
#include "notify/deferred_put.h"

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/container/list.h"
#include "base/log.h"
#include "core/progress/peer.h"
#include "core/progress/progress.h"
#include "core/progress/wait.h"
#include "notify/notify.h"
#include "os/sync/lock.h"

#include <stdlib.h>

/* Bounds of the work in one call, chosen, not measured: puts sent in a call of progress;
 * the longest pause after one that found no room, and the calls that a post without room runs, both
 * in calls of progress. */
#define SENDS_PER_PASS 8
#define SKIP_MAX       32u
#define CALLS_PER_POST 64

struct deferred {
  struct deferred *next;
  struct tmb_rma rma;
  struct tmb_signal signal;
  struct tmb_resume resume;
};

static struct tmb_lock queue_lock;
static struct {
  uint32_t skip, skipped; /* length of the present pause, and how much of it has passed, in calls of
                             progress */
  struct deferred *head, **tail, *spare;
  uint64_t pass;
  uint64_t *stuck; /* [job size] number of the last pass in which the rank had no room */
} queue TMB_GUARDED_BY(queue_lock);

static int attempt(struct deferred *l) {
  l->rma.resume = &l->resume;
  return tmb_peer_put_signal(&l->rma, &l->signal);
}

/* One pass. Returns how many puts were sent, whole or in part; under the lock. */
TMB_REQUIRES(queue_lock) static int pass(void) {
  int sent = 0;
  queue.pass++;
  for (struct deferred **p = &queue.head; *p && sent < SENDS_PER_PASS;) {
    struct deferred *const l = *p;
    const uint64_t before = l->resume.at;
    if (queue.stuck[l->rma.peer] == queue.pass) {
      p = &l->next;
      continue;
    }
    if (attempt(l)) {
      queue.stuck[l->rma.peer] = queue.pass;
      sent += l->resume.at != before;
      p = &l->next;
      continue;
    }
    (void)TMB_LIST_POP(p);
    if (!*p) queue.tail = p;
    TMB_LIST_PUSH(&queue.spare, l);
    tmb_fetch_sub_rel(&tmb_job.work[TMB_WORK_PUTS], 1);
    sent++;
  }
  return sent;
}

static int advance(int serve) {
  if (serve != TMB_SERVE_ALL) return TMB_FOUND_NOTHING;
  if (!tmb_lock_try(&queue_lock)) return TMB_FOUND_BUSY;
  int sent = 0;
  if (queue.skipped++ >= queue.skip) {
    sent = pass();
    queue.skip = sent ? 0 : TMB_MIN(queue.skip * 2 + 1, SKIP_MAX);
    queue.skipped = 0;
  }
  tmb_lock_release(&queue_lock);
  return sent ? TMB_FOUND_WORK : TMB_FOUND_BUSY; /* nobody rings for room */
}

const struct tmb_layer tmb_deferred_layer = {
    .name = "deferred", .work = TMB_WORK_PUTS, .progress = advance};

/* Tables, at first use; under the lock. */
TMB_REQUIRES(queue_lock) static void set_up(void) {
  if (queue.stuck) return;
  queue.stuck = calloc(tmb_job.size, sizeof *queue.stuck);
  if (!queue.stuck) tmb_fatal("out of memory for puts to %u ranks", tmb_job.size);
  queue.tail = &queue.head;
}

/* Add a bare signal to one that waits; under the lock. */
TMB_REQUIRES(queue_lock) static bool merge(const struct deferred *l) {
  if (l->rma.nbytes) return false;
  for (struct deferred *o = queue.head; o; o = o->next) {
    if (o->rma.nbytes || o->rma.peer != l->rma.peer || o->signal.addr != l->signal.addr ||
        o->signal.op != l->signal.op)
      continue;
    o->signal.value =
        l->signal.op == TMB_SIGNAL_ADD ? o->signal.value + l->signal.value : l->signal.value;
    return true;
  }
  return false;
}

/* Queue a put. in merged: set when it was added to one that waits. Returns false when there is no
 * room in the queue. */
static bool enqueue(const struct deferred *l, bool *merged) {
  bool done = true;
  tmb_lock_acquire(&queue_lock);
  set_up();
  *merged = merge(l);
  if (!*merged) {
    done = tmb_load_rlx(&tmb_job.work[TMB_WORK_PUTS]) < TMB_DEFERRED_PUTS_MAX;
    struct deferred *n = done ? TMB_LIST_POP(&queue.spare) : NULL;
    if (done && !n) n = malloc(sizeof *n);
    if (done && !n) tmb_fatal("out of memory for a put with a signal");
    if (done) {
      *n = *l;
      TMB_LIST_EXTEND(&queue.tail, n);
      tmb_fetch_add_rel(&tmb_job.work[TMB_WORK_PUTS], 1);
    }
  }
  tmb_lock_release(&queue_lock);
  return done;
}

/* Give the puts that wait a chance to leave, of which one was queued just now. */
static void hurry(void) {
  for (int i = 0; i < CALLS_PER_POST && tmb_load_rlx(&tmb_job.work[TMB_WORK_PUTS]); i++)
    (void)tmb_progress(TMB_SERVE_ALL);
}

static void describe(const void *object, struct tmb_status_wait *out) {
  const struct deferred *l = object;
  out->kind = TMB_WAIT_SEND;
  out->what = TMB_WHAT_PUT_SIGNAL;
  out->peer = l->rma.peer;
}

void tmb_deferred_put(const struct tmb_rma *rma, const struct tmb_signal *signal) {
  struct deferred l = {.rma = *rma, .signal = *signal};
  /* Do not overtake puts that wait: many small ones would for ever take the room that a large
   * one needs. */
  if (!tmb_load_rlx(&tmb_job.work[TMB_WORK_PUTS]) && !attempt(&l)) return;
  bool merged;
  if (enqueue(&l, &merged)) {
    if (!l.rma.nbytes && !merged) hurry();
    return;
  }
  struct gexx_wait wait;
  tmb_wait_begin(&wait);
  do tmb_wait_retry(&wait, TMB_SERVE_ALL, (struct tmb_why){describe, &l});
  while (!enqueue(&l, &merged));
}
