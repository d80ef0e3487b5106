/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The progress loop and waiting.
 *
 * Owns: how long a wait spins, yields and sleeps. Called by AMPoll, every wait, and sends that lack
 * resources. Calls: the conduit's progress and sleep, barrier.h. Invariants: a wait samples
 * progress_count before its condition is evaluated, and sleeps only if the count is unchanged after
 * the intention to sleep is visible; so a condition that a handler made true, on any thread, is
 * never slept over.
 */
#include "core/progress.h"

#include "base/config.h"
#include "base/error.h"
#include "core/barrier.h"
#include "core/check.h"
#include "core/job.h"
#include "core/thread.h"
#include "os/os.h"

#include <stdlib.h>

#define CLOCK_EVERY        8 /* idle steps between looks at the clock */
/*
 * After progress, a waiting loop leaves the ring alone for a moment (about a third of a hand-off):
 * a sender in full flow keeps its cache lines and a batch gathers, while a sender that waits for
 * our answer cannot be back sooner.
 */
#define HOLD_PAUSES        6
#define PHASE_HELD         UINT32_MAX /* wait->phase: the last step made progress */
#define POLLS_BEFORE_YIELD 100
/*
 * With more ranks than processors, two ranks that talk may share one while others idle: the kernel
 * sees both as running and lets them be. Where yields end waits this often, they do share it.
 */
#define MOVE_AFTER         8u       /* yields that paid */
#define MOVE_EVERY_NS      2000000u /* at most one move in this time */
#define HOME_AFTER         2u /* with a processor for each rank: they spin long before they yield */
#define SWITCH_NS          2000u /* a yield that takes longer has let somebody else run */
#define RETRY_NS_MIN       20000u
#define RETRY_NS_MAX       5000000u
#define LATER_NS           200000u /* longest sleep while puts wait for room: nobody rings then */

void tmb_progress_made(void) {
  if (tmb_job.threads) {
    tmb_fetch_add_acq_rel(&tmb_job.progress_count, 1);
    tmb_job.ops->wake_self(tmb_job.conduit);
  } else {
    tmb_job.progress_count++;
  }
}

int tmb_progress(int serve) {
  int done = tmb_job.ops->progress(tmb_job.conduit, serve);
  /* Not inside request handlers: where control words are messages, a barrier may wait for room. */
  if (TMB_UNLIKELY(tmb_load_rlx(&tmb_job.barriers_active)) && serve == TMB_SERVE_ALL)
    done += tmb_barrier_advance();
  if (TMB_UNLIKELY(tmb_load_rlx(&tmb_job.colls_runnable))) done += tmb_job.colls_advance();
  if (TMB_UNLIKELY(tmb_load_acq(&tmb_job.later_waiting)) && serve == TMB_SERVE_ALL)
    done += tmb_job.later_advance();
  if (done) tmb_progress_made();
  return done;
}

/*
 * Whether ranks outnumber the processors that they may use together: a bound rank sees only its
 * own. Collective.
 */
static bool ranks_crowded(void) {
  uint8_t mine[TMB_BOOT_GATHER_BYTES_MAX];
  uint32_t cpus = 0;
  uint8_t *all = calloc(tmb_job.size, sizeof mine);
  if (!all) tmb_fatal("out of memory for %u ranks", tmb_job.size);
  tmb_os_cpu_bits(mine, sizeof mine);
  tmb_boot_allgather(&tmb_job.boot, mine, sizeof mine, all);
  for (uint32_t r = 0; r < tmb_job.size; r++)
    for (size_t i = 0; i < sizeof mine; i++) mine[i] |= all[r * sizeof mine + i];
  free(all);
  for (size_t i = 0; i < sizeof mine; i++) cpus += (uint32_t)__builtin_popcount(mine[i]);
  const double quota = tmb_os_cpu_quota();
  return cpus < tmb_job.size || (quota > 0 && quota < tmb_job.size);
}

void tmb_wait_policy_init(void) {
  struct tmb_wait_policy *w = &tmb_job.wait;
  w->crowded = ranks_crowded();
  const int64_t spin = tmb_cfg_int(TMB_CFG_SPIN_NS);
  const int64_t yields = tmb_cfg_int(TMB_CFG_YIELD_COUNT);
  const char *mode = tmb_cfg_str(TMB_CFG_WAIT);
  w->spin_ns = spin >= 0 ? (uint64_t)spin : w->crowded ? 1000 : 100000;
  w->yield_count = yields >= 0 ? (uint32_t)yields : w->crowded ? 4 : 16;
  w->mode = mode[0] == 'b' ? GASNET_WAIT_BLOCK
            : mode[4] == 0 ? GASNET_WAIT_SPIN
                           : GASNET_WAIT_SPINBLOCK;
}

void tmb_poll(void) {
  static _Thread_local uint32_t empty __attribute__((tls_model("initial-exec")));
  if (tmb_progress(TMB_SERVE_ALL) || !tmb_job.wait.crowded) {
    empty = 0;
    return;
  }
  if (++empty > POLLS_BEFORE_YIELD) tmb_os_yield();
}

void tmb_wait_begin(struct gexx_wait *wait) {
  wait->seen = tmb_load_rlx(&tmb_job.progress_count);
  wait->since = 0;
  wait->steps = 0;
  wait->phase = 0;
}

/* What a sleeper looks at once more when its intention is visible. */
struct last_look {
  const struct gexx_wait *wait;
  bool (*ready)(void *arg); /* NULL: only progress counts */
  void *arg;
};

/* Asked by the conduit: nothing has happened and nothing is there. */
static bool still_idle(void *arg) {
  const struct last_look *look = arg;
  return !(look->ready && look->ready(look->arg)) && tmb_progress(TMB_SERVE_ALL) == 0 &&
         tmb_load_acq(&tmb_job.progress_count) == look->wait->seen;
}

uint64_t tmb_sleep_bound(uint64_t timeout_ns) {
  return tmb_load_rlx(&tmb_job.later_waiting) ? TMB_MIN(timeout_ns, (uint64_t)LATER_NS)
                                              : timeout_ns;
}

/* Give the processor away; with a processor for each rank, note for how long. */
static void yield(void) {
  if (tmb_job.wait.crowded) {
    tmb_os_yield();
    return;
  }
  const uint64_t start = tmb_os_now_ns();
  tmb_os_yield();
  tmb_thread()->yield_ns = tmb_os_now_ns() - start;
}

/* A wait that found nothing: spin, yield or sleep. in timeout_ns: bound of a sleep. */
static void idle(struct gexx_wait *wait, struct last_look *look, uint64_t timeout_ns) {
  const struct tmb_wait_policy *policy = &tmb_job.wait;
  wait->steps++;
  if (policy->mode == GASNET_WAIT_SPIN) {
    tmb_cpu_pause();
    return;
  }
  if (wait->phase == 0 && policy->mode == GASNET_WAIT_SPINBLOCK &&
      !tmb_load_rlx(&tmb_job.crowd_waits)) {
    if (wait->steps % CLOCK_EVERY == 0) {
      const uint64_t now = tmb_os_now_ns();
      if (!wait->since)
        wait->since = now;
      else if (now - wait->since >= policy->spin_ns)
        wait->phase = 1;
    }
    tmb_cpu_pause();
    return;
  }
  if (wait->phase <= policy->yield_count) {
    wait->phase++;
    yield();
    return;
  }
  look->wait = wait;
  timeout_ns = tmb_sleep_bound(timeout_ns);
  tmb_job.ops->sleep(tmb_job.conduit, still_idle, look, timeout_ns);
}

/* A wait made progress. in yielded: its last step was a yield. The higher rank of a pair moves. */
static void consider_move(bool yielded) {
  struct tmb_thread *t = tmb_thread();
  const uint32_t src = t->src_last;
  t->src_last = tmb_job.rank;
  if (src == tmb_job.rank) return; /* no message from a peer */
  if (!yielded) {
    if (t->yields_paid) t->yields_paid--;
    return;
  }
  if (++t->yields_paid < MOVE_AFTER || tmb_job.rank < src) return;
  const uint64_t now = tmb_os_now_ns();
  if (now - t->moved_ns < MOVE_EVERY_NS) return;
  t->moved_ns = now;
  t->yields_paid = 0;
  (void)tmb_os_cpu_leave();
}

/*
 * There are processors for all ranks, and yet a yield ended a wait, and let somebody else run: this
 * rank and the one that it waits for share one, as happens beside foreign load. Each rank has a
 * home of its own; who is away goes there.
 */
static void consider_home(void) {
  struct tmb_thread *t = tmb_thread();
  if (tmb_job.threads || t->yield_ns < SWITCH_NS || ++t->yields_paid < HOME_AFTER) return;
  const uint64_t now = tmb_os_now_ns();
  if (now - t->moved_ns < MOVE_EVERY_NS) return;
  t->moved_ns = now;
  t->yields_paid = 0;
  (void)tmb_os_cpu_visit((int)tmb_job.rank);
}

/* A wait is over or has made progress. in phase: before its last step. */
static void learn(uint32_t phase) {
  const bool yielded = phase > 1 && phase != PHASE_HELD;
  if (tmb_job.wait.crowded)
    consider_move(yielded);
  else if (TMB_UNLIKELY(yielded))
    consider_home();
}

static void step(struct gexx_wait *wait, struct last_look *look, uint64_t timeout_ns) {
  const uint32_t phase = wait->phase;
  if (wait->phase == PHASE_HELD) {
    for (int i = 0; i < HOLD_PAUSES; i++) tmb_cpu_pause();
    wait->phase = 0;
  }
  if (tmb_progress(TMB_SERVE_ALL) == 0 && tmb_load_acq(&tmb_job.progress_count) == wait->seen)
    idle(wait, look, timeout_ns);
  /* Progress made while idle prepared to sleep counts too: else the next step would sleep again. */
  const uint64_t seen = tmb_load_acq(&tmb_job.progress_count);
  if (seen != wait->seen) {
    wait->steps = 0;
    wait->since = 0;
    wait->phase = PHASE_HELD;
    learn(phase);
  }
  wait->seen = seen;
}

void tmb_wait_step(struct gexx_wait *wait) {
  struct last_look look = {0};
  step(wait, &look, UINT64_MAX);
}

bool tmb_wait_until(bool (*ready)(void *arg), void *arg, uint64_t timeout_ns) {
  if (ready(arg)) return true;
  struct gexx_wait wait;
  struct last_look look = {.ready = ready, .arg = arg};
  const uint64_t limit = timeout_ns == UINT64_MAX ? UINT64_MAX : tmb_os_now_ns() + timeout_ns;
  tmb_wait_begin(&wait);
  while (!ready(arg)) {
    uint64_t left = UINT64_MAX;
    if (limit != UINT64_MAX) {
      const uint64_t now = tmb_os_now_ns();
      if (now >= limit) return false;
      left = limit - now;
    }
    step(&wait, &look, left);
  }
  if (TMB_UNLIKELY(wait.phase > 1 && wait.phase != PHASE_HELD)) learn(wait.phase);
  return true;
}

void tmb_wait_retry(struct gexx_wait *wait, int serve) {
  if (tmb_progress(serve)) {
    wait->steps = wait->phase = 0;
    wait->since = 0;
  } else if (serve == TMB_SERVE_ALL) {
    /* Nobody rings when a ring drains, so the sleep is bounded and grows. */
    const uint32_t yields = tmb_job.wait.yield_count;
    const uint32_t shift = wait->phase > yields ? TMB_MIN(wait->phase - yields, 8u) : 0;
    struct last_look look = {0};
    idle(wait, &look, TMB_MIN((uint64_t)RETRY_NS_MIN << shift, (uint64_t)RETRY_NS_MAX));
    if (wait->phase > yields) wait->phase++;
  } else {
    wait->steps++;
    if (wait->steps % 64 == 0)
      tmb_os_yield();
    else
      tmb_cpu_pause();
  }
  wait->seen = tmb_load_acq(&tmb_job.progress_count);
}
