/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress, see progress.h.
 *
 * Owns: the count of progress made. Called by polls, waits, and sends that lack resources. Calls:
 * engine and conduit, failure.h, and the layers that have work. Invariants: the count grows after a
 * change is visible, and then threads of this process that sleep are woken; so a condition that a
 * handler made true, on any thread, is never slept over (wait.c). Where one thread calls, a thread
 * of the conduit may add concurrently: one of the two additions may be lost, but the count differs
 * from the one that a wait had read.
 */
#include "core/progress/progress.h"

#include "core/op/status.h"
#include "core/op/thread.h"
#include "core/progress/failure.h"
#include "core/progress/peer.h"
#include "core/progress/place.h"
#include "os/os.h"

#include <stdlib.h>

/* Loops of polls. Chosen; `tombolo bench oversubscribed` shows
 * the effect of the spins. */
#define SHOW_POLLS    1024u /* empty polls in a row before the status page is written again */
#define LATER_BATCH   32    /* handlers that a thread has left, of one poll; chosen */
#define POLL_BATCH    32u   /* empty polls between reads of the clock */
#define POLL_PAUSE_NS 300u  /* of other work beside a poll: more, and it is no waiting */
#define SPIN_NS_MIN   1000u /* polling before a yield, while yields end waits */
#define SPIN_NS_FIRST 10000u
#define SPIN_NS_MAX                                                            \
 100000u /* polling before a yield, while yields do not: times 4 for each vain \
          * yield */

void tmb_progress_by_thread(void) {
  tmb_fetch_add_acq_rel(&tmb_job.progress_count, 1);
}

static inline void progress_made(void) {
  if (TMB_UNLIKELY(tmb_job.threads)) {
    tmb_fetch_add_acq_rel(&tmb_job.progress_count, 1);
    tmb_wake_self();
  } else {
    tmb_store_rlx(&tmb_job.progress_count, tmb_load_rlx(&tmb_job.progress_count) + 1);
  }
}

void tmb_progress_made(void) {
  progress_made();
}

/* Written out: compilers leave a loop of four as a loop, at three times the instructions. */
static inline bool any_work(void) {
  _Static_assert(TMB_WORK_KINDS == 4, "one term for each kind");
  const uint32_t *const work = tmb_job.work;
  return (tmb_load_rlx(&work[0]) | tmb_load_rlx(&work[1]) | tmb_load_rlx(&work[2]) |
          tmb_load_rlx(&work[3])) != 0;
}

/* Run handlers of messages that a thread of the conduit has left to the client. */
static int run_later(int serve) {
  int found = TMB_FOUND_NOTHING;
  struct tmb_am_in *in;
  for (int i = 0; i < LATER_BATCH && (in = tmb_later_take(serve)) != NULL; i++) {
    tmb_up_am(in);
    free(in);
    found = TMB_FOUND_WORK;
  }
  return found;
}

/* A poll where there are other hosts, where failures are reported, or messages are held back. */
static TMB_NOINLINE int poll_special(int serve) {
  int found = TMB_FOUND_NOTHING;
  if (tmb_job.net) found |= tmb_peer_progress(serve);
  if (TMB_UNLIKELY(tmb_load_acq(&tmb_job.later.count) != 0)) found |= run_later(serve);
  if (tmb_job.lost) found |= tmb_failure_progress(serve);
  if (TMB_UNLIKELY(tmb_job.gate) && serve == TMB_SERVE_ALL &&
      tmb_job.gate(0, GEXX_GATE_POLLS, NULL, 0))
    found |= TMB_FOUND_WORK;
  return found;
}

TMB_HOT int tmb_progress(int serve) {
  int found = tmb_near_progress(&tmb_job.near, serve);
  if (TMB_UNLIKELY(tmb_job.special & TMB_SPECIAL_POLLS)) found |= poll_special(serve);
  if (TMB_UNLIKELY(any_work())) found |= tmb_layers_progress(serve);
  if (found & TMB_FOUND_WORK) progress_made();
  return found;
}

/* Of SHOW_POLLS polls each: most between questions whether a thread shares its only processor.
 * Chosen. */
#define ASK_MOST 64u

/* Polls of one thread in a row that found nothing. The members behind `asks` are of ranks that
 * outnumber processors; mark_ns is of confined threads, too. */
struct empty_polls {
  uint32_t idle;  /* in a row, since the status page was written */
  bool confined;  /* it may use one processor, which other ranks need */
  uint32_t shown; /* times that it was written since the last question whether that is so */
  uint32_t asks;  /* after how many of them the next one comes */
  uint32_t count;
  bool yielded;     /* since work was found last */
  uint64_t mark_ns; /* when the last batch of polls ended */
  uint64_t last_ns; /* when the last poll of this batch began: a poll of a conduit may take long */
  uint64_t run_ns;  /* of polling without pause, since the last yield */
  uint64_t spin_ns; /* how long before the next yield; 0: not polled yet */
};

/* The poll found work. If that was soon after a yield, the yield has paid: the answer comes from a
 * rank that waits for this processor. So yield sooner from now on. */
static void empty_end(struct empty_polls *e) {
  if (e->yielded && e->count < POLL_BATCH && !e->run_ns) e->spin_ns = SPIN_NS_MIN;
  e->count = 0;
  e->run_ns = 0;
  e->yielded = false;
}

/* Note a batch of polls without work. */
static void empty_batch(struct empty_polls *e) {
  const uint64_t now = tmb_os_now_ns(), took = now - e->mark_ns, poll_ns = now - e->last_ns;
  e->mark_ns = now;
  e->count = 0;
  e->confined = tmb_job.wait.one_cpu;
  if (took > POLL_BATCH * (POLL_PAUSE_NS + poll_ns)) { /* the client works between its polls */
    e->run_ns = 0;
    return;
  }
  e->run_ns += took;
  if (!e->spin_ns) e->spin_ns = SPIN_NS_FIRST;
  if (e->run_ns < e->spin_ns) return;
  if (e->yielded) e->spin_ns = TMB_MIN(4 * e->spin_ns, (uint64_t)SPIN_NS_MAX);
  e->yielded = true;
  e->run_ns = 0;
  tmb_os_yield();
  e->mark_ns = tmb_os_now_ns();
}

static void describe_polls(const void *object, struct tmb_status_wait *out) {
  (void)object;
  out->kind = TMB_WAIT_PROGRAM;
}

/* Many polls of a thread in a row have found nothing, which `tombolo why` shows. A yield finds out
 * whether ranks were bound to one processor after the start. Each yield that finds nothing makes
 * the next one come later. */
static TMB_NOINLINE void show_polls(struct empty_polls *e) {
  e->idle = 0;
  tmb_status_looks((struct tmb_why){describe_polls, NULL});
  if (tmb_job.wait.crowded || tmb_job.boot.here < 2 || ++e->shown < e->asks) return;
  e->shown = 0;
  e->confined = tmb_place_ask();
  if (e->confined) tmb_store_rlx(&tmb_job.wait.polls_yield, true);
  e->asks = e->confined ? 1 : TMB_MIN(2 * e->asks + 1, ASK_MOST);
}

/* A poll without work where other ranks need this processor: give it to them, unless the client
 * works between its polls. */
static TMB_NOINLINE void poll_confined(struct empty_polls *e) {
  if (tmb_os_now_ns() - e->mark_ns < POLL_PAUSE_NS) {
    (void)tmb_place_yield();
    e->confined = tmb_job.wait.one_cpu || tmb_place_confined();
  }
  e->mark_ns = tmb_os_now_ns();
}

void tmb_poll(void) {
  static _Thread_local struct empty_polls empty __attribute__((tls_model("initial-exec")));
  if (TMB_UNLIKELY(empty.count == POLL_BATCH - 1)) empty.last_ns = tmb_os_now_ns();
  const bool work = tmb_progress(TMB_SERVE_ALL) & TMB_FOUND_WORK;
  if (work) {
    empty.idle = 0;
  } else if (TMB_UNLIKELY(++empty.idle == SHOW_POLLS)) {
    show_polls(&empty);
    return;
  }
  if (TMB_LIKELY(!tmb_load_rlx(&tmb_job.wait.polls_yield))) return;
  if (empty.confined) {
    if (!work) poll_confined(&empty);
  } else if (!tmb_job.wait.crowded) {
    return;
  } else if (work) {
    empty_end(&empty);
  } else if (++empty.count == POLL_BATCH) {
    empty_batch(&empty);
  }
}

int tmb_poll_refused(int rc) {
  const struct tmb_thread *t = tmb_thread();
  if (!t->context) tmb_poll();
  return rc;
}
