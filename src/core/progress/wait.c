/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting, see wait.h.
 *
 * Owns: how long a wait spins, yields and sleeps. Called by every blocking operation. Calls:
 * progress.h, place.h, net_sleep.h, the engine's sleep. Invariants: a wait samples progress_count
 * before its condition is evaluated, and sleeps only if the count is unchanged at the last check;
 * so a condition that a handler made true, on any thread, is never slept over.
 */
/* How waiting works.
 *
 * A thread waits for a condition: a word that a peer changes, an event, a handler's effect. Peers
 * change memory without telling anybody, so the thread must poll; but a thread that polls for ever
 * takes a processor from the ranks that it waits for. So a wait has three phases.
 *
 * 1. Spin. The answer often comes within one transfer of a cache line, and a system call takes
 *    longer than that. Where ranks outnumber processors the phase is short: spinning takes the
 *    processor of a rank that has work. Where all ranks have one processor there is none; nor is
 *    there one once yields show that this rank shares the only processor it may use.
 * 2. Yield. The kernel runs other ranks of this processor. Yields that only give time to processes
 *    that compute are skipped for a while (place.c).
 * 3. Sleep, on a futex or in poll. A sleeping thread must be woken, and the race is: the peer
 *    changes the word between the last check and the sleep. The thread therefore marks that it
 *    sleeps, then runs a fence on all processors, then polls once more. A peer that stores its word
 *    afterwards reads the mark and rings the doorbell; a store before the fence is seen by that
 *    poll. The peer's path needs no fence: the sleeper, which has time, pays for both.
 *
 * With several threads, another one may hold a lock that the last poll needed, or may run the
 * handler that makes the condition true. In the first case the sleep is bounded. In the second
 * progress_count has changed since the wait read it, before it evaluated the condition, and the
 * thread does not sleep. */

#include "core/progress/wait.h"

#include "base/config.h"
#include "base/log.h"
#include "core/job.h"
#include "core/op/record.h"
#include "core/op/status.h"
#include "core/progress/net_sleep.h"
#include "core/progress/place.h"
#include "core/progress/progress.h"
#include "core/progress/spin.h"
#include "near/near.h"
#include "os/os.h"

/* Chosen, not measured one by one. `tombolo bench oversubscribed` shows
 * their effect, for WATCH_STEPS and WATCH_NS tombolo-bench-threads does. */
#define LAST_NS        2000u      /* for each rank of this host: a turn on another processor */
#define LAST_NS_MAX    50000u     /* of LAST_NS times ranks, at most */
#define CLOCK_EVERY    8          /* idle steps between reads of the clock */
#define PHASE_HELD     UINT32_MAX /* wait->phase: the last step made progress */
#define PHASE_WATCHES  (UINT32_MAX - 1) /* only other threads of this process made progress */
/* Sleeps without a promised wake-up: length of the first one in ns; each further one is twice as
 * long, BLIND_DOUBLED times, up to a limit, BUSY_NS_MAX by default. */
#define BUSY_NS_MIN    20000u
#define BUSY_NS_MAX    1280000u
#define BLIND_DOUBLED  20u
/* Where clients have threads, these may need the processor on which a thread or a peer waits. Then
 * waits spin shorter, for room or on a shared processor shorter still, and yield more often before
 * they sleep. Measured by tombolo-bench-threads. */
#define SHORT_NS       2000u
#define THREADS_NS     20000u
#define THREADS_YIELDS 128u
#define NET_NS         100000000u /* longest sleep with a conduit, whatever it says */
#define SHOW_EVERY     0x10000u   /* idle steps of a wait that never sleeps, between its reports */
#define WATCH_STEPS    128u    /* checks of words of other threads, before a wait yields to them */
#define WATCH_NS       200000u /* a rest while they make progress */
/* Attempts to send a reply, in a handler: between yields; and after how many it sleeps instead, for
 * so long, because a yield gives the processor to processes of its own group only, and launchers
 * put each rank into a group of its own. Measured with mpiexec.hydra, 2 loaded
 * processors. */
#define RETRY_YIELDS   64
#define RETRY_SLEEPS   1024
#define RETRY_NS       50000u

int tmb_wait_policy_init(void) {
  struct tmb_wait_policy *w = &tmb_job.wait;
  const int rc = tmb_place_init();
  if (rc) return rc;
  tmb_spin_init(w);
  static const int modes[] = {GASNET_WAIT_SPIN, GASNET_WAIT_BLOCK, GASNET_WAIT_SPINBLOCK};
  w->spin_ns = w->outnumber ? 1000 : tmb_job.threads ? THREADS_NS : 100000;
  if (w->one_cpu) w->spin_ns = 0; /* nobody can end the wait while this rank spins */
  w->last_ns = TMB_MIN((uint64_t)LAST_NS * tmb_job.boot.here, (uint64_t)LAST_NS_MAX);
  w->yield_count = w->outnumber ? 4 : tmb_job.threads ? THREADS_YIELDS : 16;
  w->mode = modes[tmb_cfg_enum(TMB_CFG_WAIT)]; /* spin|block|spinblock */
  return 0;
}

TMB_HOT void tmb_wait_begin(struct gexx_wait *wait) {
  wait->seen = tmb_load_acq(&tmb_job.progress_count); /* before the condition is read */
  wait->since = 0;
  wait->steps = 0;
  wait->phase = 0;
  if (tmb_recording_waits()) tmb_record_wait(wait);
}

/* The answer to a request that has just been sent takes a hand-off and back. A poll before that
 * would take the line of its slot from the peer, which is fetching it to write. */
TMB_HOT void tmb_wait_begin_client(struct gexx_wait *wait) {
  tmb_wait_begin(wait);
  if (tmb_near_expects_answer(&tmb_job.near)) wait->phase = PHASE_HELD;
}

/* Kinds of sleep of a wait. */
struct sleep_rule {
  const struct gexx_wait *wait;
  bool (*ready)(void *arg); /* NULL: only progress counts */
  void *arg;
  uint64_t limit_ns;   /* UINT64_MAX: the event is announced */
  uint64_t timeout_ns; /* of the whole wait; 0: none */
  uint64_t end_ns;     /* when the wait ends; 0: the clock was not read yet */
  uint64_t blind_ns;   /* of wait_on: longest sleep because nobody may wake; UINT64_MAX: none */
  bool worked;         /* the last check has made progress */
  bool room;           /* a resource is waited for, which the peer or another thread gives back */
  bool counted;        /* this thread is counted in cond->sleepers */
  const gexx_WaitCond_t *cond; /* of the client, with `sleepers`; NULL: none */
  struct tmb_why why;
};

/* Count this thread among those that may sleep. Peers that did not see the count have stored before
 * the fence that follows when the sleep is announced: a mark that an earlier sleep has left is
 * withdrawn, because with it there would be no fence. */
static void count_sleeper(struct sleep_rule *rule) {
  rule->counted = true;
  tmb_near_doze_end(&tmb_job.near, false);
  tmb_fetch_add_acq_rel(rule->cond->sleepers, 1);
  if (rule->cond->counted) rule->cond->counted(rule->cond->arg);
}

static void uncount_sleeper(const gexx_WaitCond_t *cond) {
  tmb_fetch_sub_acq_rel(cond->sleepers, 1);
  if (cond->counted) cond->counted(cond->arg);
}

/* Length of a sleep without a promised wake-up, by the number of steps that have found nothing. */
static uint64_t blind_ns(const struct gexx_wait *wait, uint64_t most_ns) {
  const uint32_t before = tmb_job.wait.yield_count + 2; /* phases before the second sleep */
  const uint32_t slept = wait->phase > before ? wait->phase - before : 0;
  return TMB_MIN((uint64_t)BUSY_NS_MIN << TMB_MIN(slept, BLIND_DOUBLED), most_ns);
}

static uint64_t busy_ns(const struct gexx_wait *wait) {
  return blind_ns(wait, BUSY_NS_MAX);
}

/* The rest of a time limit; 0: nothing. in limit: UINT64_MAX: none. */
static uint64_t left_of(uint64_t limit) {
  if (limit == UINT64_MAX) return UINT64_MAX;
  const uint64_t now = tmb_os_now_ns();
  return now >= limit ? 0 : limit - now;
}

static uint64_t limit_of(uint64_t timeout_ns) {
  const uint64_t now = tmb_os_now_ns();
  return timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
}

/* The rest of the time of a wait, which the first question starts. To read the clock at the begin
 * takes a tenth of a barrier of ranks that share a processor: in each turn its code and data are
 * cold. */
static uint64_t rest_of(struct sleep_rule *rule) {
  if (!rule->timeout_ns) return UINT64_MAX;
  if (!rule->end_ns) rule->end_ns = limit_of(rule->timeout_ns);
  return left_of(rule->end_ns);
}

/* Asked by the engine once the intention to sleep is visible: for how long, 0: not at all. */
static uint64_t last_check(void *arg) {
  struct sleep_rule *rule = arg;
  if (rule->ready && rule->ready(rule->arg)) return 0;
  const int found = tmb_progress(TMB_SERVE_ALL);
  rule->worked = found & TMB_FOUND_WORK;
  if ((found & TMB_FOUND_WORK) || tmb_load_acq(&tmb_job.progress_count) != rule->wait->seen)
    return 0;
  const uint64_t shown_ns = TMB_MIN(rule->limit_ns, tmb_status_detail_ns());
  const uint64_t most_ns = TMB_MIN(shown_ns, rest_of(rule));
  const uint64_t limit_ns = tmb_job.net ? TMB_MIN(most_ns, NET_NS) : most_ns;
  return found & TMB_FOUND_BUSY ? TMB_MIN(limit_ns, busy_ns(rule->wait)) : limit_ns;
}

/* For how long a wait spins at first; 0: not at all. Where this processor has other ranks that come
 * to this barrier or collective, they need it; where all of them wait, nobody does. Threads that
 * wait for room take the processor from those that would make it. */
static uint64_t spins_ns(const struct tmb_wait_policy *policy, bool room) {
  if (policy->mode != GASNET_WAIT_SPINBLOCK || TMB_UNLIKELY(tmb_place_confined())) return 0;
  if ((room && tmb_job.threads) || TMB_UNLIKELY(tmb_place_is_busy()))
    return TMB_MIN(policy->spin_ns, (uint64_t)SHORT_NS);
  if (TMB_LIKELY(!tmb_load_rlx(&tmb_job.crowd_waits))) return policy->spin_ns;
  return tmb_load_rlx(&tmb_job.last_here) ? policy->last_ns : 0;
}

/* Whether a wait has spun long enough. A thread that shares its processor takes it from those that
 * send. */
static bool has_spun(const struct gexx_wait *wait, uint64_t spin_ns) {
  const bool shared = tmb_job.threads && tmb_place_shared();
  return tmb_os_now_ns() - wait->since >= (shared ? TMB_MIN(spin_ns, (uint64_t)SHORT_NS) : spin_ns);
}

/* A wait that found nothing: go on spinning. in room: as in struct sleep_rule. Returns false where
 * it has to yield or sleep. */
static inline bool spin(struct gexx_wait *wait, bool room) {
  const struct tmb_wait_policy *policy = &tmb_job.wait;
  const uint64_t spin_ns = wait->phase == 0 ? spins_ns(policy, room) : 0;
  if (!spin_ns) return false;
  wait->steps++;
  if (wait->steps > policy->eager_steps && wait->steps % CLOCK_EVERY == 0) {
    if (!wait->since)
      wait->since = tmb_os_now_ns();
    else if (has_spun(wait, spin_ns))
      wait->phase = 1;
  }
  tmb_spin_pause(wait->steps);
  return true;
}

/* A wait that found nothing: spin, yield or sleep. Returns whether it slept and was woken. */
TMB_HOT static bool idle(struct gexx_wait *wait, struct sleep_rule *rule) {
  const struct tmb_wait_policy *policy = &tmb_job.wait;
  if (spin(wait, rule->room)) return false;
  wait->steps++;
  if (policy->mode == GASNET_WAIT_SPIN) {
    if (TMB_UNLIKELY(wait->steps % SHOW_EVERY == 0))
      tmb_status_polls(rule->why, wait->steps == SHOW_EVERY);
    tmb_spin_pause(wait->steps);
    return false;
  }
  tmb_store_rlx(&tmb_job.last_here, false);
  if (wait->phase < PHASE_WATCHES - 1) wait->phase++;
  if (wait->phase <= policy->yield_count + 1) {
    if (tmb_place_yield()) return false;
    wait->phase = policy->yield_count + 2;
  }
  rule->wait = wait;
  if (rule->cond && !rule->counted) count_sleeper(rule);
  tmb_place_turn();
  tmb_status_sleeps(rule->why, wait->phase == policy->yield_count + 2);
  const bool woken = TMB_UNLIKELY(tmb_job.net != NULL)
                         ? tmb_net_sleep(last_check, rule, busy_ns(wait))
                         : tmb_near_sleep(&tmb_job.near, last_check, rule);
  tmb_status_awake();
  return woken;
}

/*
 * Other threads of this process have made progress that did not end this wait. They serve the
 * messages: leave the processor to them. Where yields run processes that compute or spin for a
 * whole turn, rest instead. Each of their steps may end the wait, so the rest is short, and nobody
 * has to wake this thread from it for each message.
 */
static void watch_others(struct gexx_wait *wait) {
  if (++wait->steps < WATCH_STEPS || tmb_job.wait.mode == GASNET_WAIT_SPIN) {
    wait->phase = 0;
    tmb_spin_pause(wait->steps);
    return;
  }
  wait->phase = 1; /* where nobody makes progress any more, it has spun already */
  if (!tmb_place_yield()) (void)tmb_os_nsleep(WATCH_NS);
}

/* The first half of a step. Returns whether it made progress, in this thread or another one. */
static inline bool look(struct gexx_wait *wait, bool *worked) {
  if (wait->phase == PHASE_HELD) {
    tmb_spin_hold();
    wait->phase = 0;
  } else if (wait->phase == PHASE_WATCHES) {
    watch_others(wait);
  }
  *worked = tmb_progress(TMB_SERVE_ALL) & TMB_FOUND_WORK;
  return *worked || tmb_load_acq(&tmb_job.progress_count) != wait->seen;
}

/* The second half. in phase: before the first; in worked: this thread made progress, also while
 * idle prepared to sleep: else the next step would sleep again. */
static inline void conclude(struct gexx_wait *wait, uint32_t phase, bool worked) {
  const uint64_t seen = tmb_load_acq(&tmb_job.progress_count);
  if (seen != wait->seen && tmb_job.threads && !worked) {
    wait->since = 0;
    wait->phase = PHASE_WATCHES;
  } else if (seen != wait->seen) {
    wait->steps = 0;
    wait->since = 0;
    wait->phase = PHASE_HELD;
    const bool yielded = phase > 1 && phase < PHASE_WATCHES;
    if (TMB_UNLIKELY(yielded || tmb_job.wait.crowded)) tmb_place_learn(yielded);
  }
  wait->seen = seen;
  if (tmb_recording_waits()) tmb_record_waited(wait);
}

/* Returns whether this step slept and was woken. */
TMB_HOT static bool step(struct gexx_wait *wait, struct sleep_rule *rule) {
  const uint32_t phase = wait->phase;
  bool woken = false;
  if (tmb_recording_waits()) tmb_record_steps(wait, rule->why);
  if (!look(wait, &rule->worked)) woken = idle(wait, rule);
  conclude(wait, phase, rule->worked);
  return woken;
}

void tmb_wait_step(struct gexx_wait *wait, struct tmb_why why) {
  struct sleep_rule rule = {.limit_ns = UINT64_MAX, .why = why};
  (void)step(wait, &rule);
}

static void describe_client(const void *object, struct tmb_status_wait *out) {
  (void)object;
  out->kind = TMB_WAIT_CONDITION;
}

/* Nobody rings when a plain store makes a client's condition true, so the sleep is short at first:
 * were it long, the rank that waits for this one would fall asleep, too, and so on in turn. Returns
 * whether there was progress. */
static TMB_NOINLINE bool idle_client(struct gexx_wait *wait) {
  struct sleep_rule rule = {.limit_ns = busy_ns(wait), .why = {describe_client, NULL}};
  (void)idle(wait, &rule);
  return rule.worked;
}

/* A step that makes progress or spins needs no rule. */
TMB_HOT void tmb_wait_step_client(struct gexx_wait *wait) {
  const uint32_t phase = wait->phase;
  bool worked;
  if (tmb_recording_waits()) tmb_record_steps(wait, (struct tmb_why){describe_client, NULL});
  if (!look(wait, &worked) && !spin(wait, false)) worked = idle_client(wait);
  conclude(wait, phase, worked);
}

/* Whether the time of a wait has passed. One that spins or yields asks now and then. */
TMB_HOT static bool is_late(const struct gexx_wait *wait, struct sleep_rule *rule) {
  const bool asks =
      wait->phase > tmb_job.wait.yield_count + 1 || wait->steps % CLOCK_EVERY == CLOCK_EVERY - 1;
  return asks && !rest_of(rule);
}

/* Waits until rule->ready holds. */
TMB_HOT static bool wait_on(struct sleep_rule *rule, uint64_t timeout_ns) {
  if (rule->ready(rule->arg)) return true;
  if (timeout_ns == 0) return false;
  struct gexx_wait wait;
  rule->limit_ns = UINT64_MAX;
  rule->timeout_ns = timeout_ns == UINT64_MAX ? 0 : timeout_ns;
  rule->end_ns = 0;
  tmb_wait_begin(&wait);
  while (!rule->ready(rule->arg)) {
    if (is_late(&wait, rule)) return false;
    if (rule->blind_ns != UINT64_MAX) rule->limit_ns = blind_ns(&wait, rule->blind_ns);
    (void)step(&wait, rule);
  }
  if (TMB_UNLIKELY(rule->counted)) uncount_sleeper(rule->cond);
  if (TMB_UNLIKELY(wait.phase > 1 && wait.phase < PHASE_WATCHES)) tmb_place_learn(true);
  if (tmb_recording_waits()) tmb_record_wait_over(&wait);
  return true;
}

TMB_HOT bool tmb_wait_until(bool (*ready)(void *arg), void *arg, uint64_t timeout_ns,
                            void (*describe)(const void *arg, struct tmb_status_wait *out)) {
  struct sleep_rule rule = {
      .ready = ready, .arg = arg, .blind_ns = UINT64_MAX, .why = {describe, arg}};
  return wait_on(&rule, timeout_ns);
}

bool tmb_wait_until_stored(bool (*ready)(void *arg), void *arg, uint64_t timeout_ns,
                           void (*describe)(const void *arg, struct tmb_status_wait *out)) {
  struct sleep_rule rule = {
      .ready = ready, .arg = arg, .blind_ns = BUSY_NS_MAX, .why = {describe, arg}};
  return wait_on(&rule, timeout_ns);
}

static bool client_ready(void *arg) {
  const gexx_WaitCond_t *cond = arg;
  return cond->ready(cond->arg) != 0;
}

/* Where wakers need a fence, the peer's read of `sleepers` has none: sleeps are bounded. */
void tmb_wait_client(const gexx_WaitCond_t *cond) {
  const bool unsafe = cond->sleepers && tmb_job.near.sender_fences;
  struct sleep_rule rule = {.ready = client_ready,
                            .arg = (void *)(uintptr_t)cond,
                            .blind_ns = unsafe ? TMB_MIN(cond->blind_ns, (uint64_t)BUSY_NS_MAX)
                                               : cond->blind_ns,
                            .cond = cond->sleepers ? cond : NULL,
                            .why = {describe_client, NULL}};
  (void)wait_on(&rule, UINT64_MAX);
  tmb_fence_acq();
}

static void describe_poll(const void *object, struct tmb_status_wait *out) {
  (void)object;
  out->kind = TMB_WAIT_POLL;
}

bool tmb_wait_event(uint64_t timeout_ns) {
  struct gexx_wait wait;
  struct sleep_rule rule = {.why = {describe_poll, NULL}};
  const uint64_t limit = limit_of(timeout_ns);
  tmb_wait_begin(&wait);
  const uint64_t seen = wait.seen;
  while ((rule.limit_ns = left_of(limit)) != 0) {
    if (step(&wait, &rule) || wait.seen != seen) return true;
  }
  tmb_status_lasts();
  return false;
}

void tmb_wait_retry(struct gexx_wait *wait, int serve, struct tmb_why why) {
  if (tmb_recording_waits()) tmb_record_steps(wait, why);
  if (tmb_progress(serve) & TMB_FOUND_WORK) {
    wait->steps = wait->phase = 0;
    wait->since = 0;
  } else if (serve == TMB_SERVE_ALL) {
    struct sleep_rule rule = {.limit_ns = busy_ns(wait), .room = true, .why = why};
    (void)idle(wait, &rule);
  } else {
    wait->steps++;
    if (wait->steps % SHOW_EVERY == 0) tmb_status_polls(why, wait->steps == SHOW_EVERY);
    if (wait->steps % RETRY_YIELDS)
      tmb_cpu_pause();
    else if (wait->steps < RETRY_SLEEPS || tmb_job.wait.mode == GASNET_WAIT_SPIN)
      tmb_os_yield();
    else
      (void)tmb_os_nsleep(RETRY_NS);
  }
  if (tmb_recording_waits()) tmb_record_waited(wait);
  wait->seen = tmb_load_acq(&tmb_job.progress_count);
}
