/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping on descriptors, see net_sleep.h.
 *
 * Owns: which thread sleeps, and how. Called by wait.c. Calls: the near engine's doorbells, the
 * conduit's wait_fds, os/poll and futex. The order is that of near_door.c: say "I sleep", fence,
 * ask the conduit for its descriptors, poll once more, sleep. Of the threads of a process one is in
 * poll and watches for all; the others sleep on a word that it changes when it leaves, whatever
 * woke it, and one of them takes its place. So the bell has one reader, and there is one time to
 * compare with when another thread starts a timer of the conduit and goes away. Invariants: while a
 * thread sleeps on the word, another one watches or the word has changed since; `until_ns` is never
 * later than the time at which the watching thread polls again.
 */
#include "core/progress/net_sleep.h"

#include "near/near.h"
#include "net/net.h"
#include "os/os.h"
#include "os/sync/futex.h"
#include "os/sync/lock.h"
#include "os/sync/wait_fd.h"

#include <limits.h>
#include <poll.h>

/* Descriptors of a conduit that a waiting thread polls. Chosen, not measured. */
#define CONDUIT_FDS 15

_Thread_local volatile uint32_t tmb_net_inside;
uint32_t tmb_net_sleepers;
static struct tmb_lock sleep_lock;
static struct {
  int bell;          /* descriptor; -1: none */
  uint32_t handed;   /* futex: grows when the place of the watching thread is free; atomic */
  bool watched;      /* a thread is in poll, or about to be; under the lock, as the next */
  bool settled;      /* it is in poll; before that it takes until_ns itself, and nobody rings */
  uint64_t until_ns; /* when it polls again, as far as is known; UINT64_MAX: never */
} sleepers = {.bell = -1, .until_ns = UINT64_MAX};

void tmb_net_sleep_init(void) {
  if (tmb_job.boot.bell_fd) sleepers.bell = tmb_job.boot.bell_fd[tmb_job.boot.places.near_index];
}

void tmb_net_sleep_timer(void) {
  uint64_t timeout = UINT64_MAX;
  if (!tmb_job.net->wait_fds) return;
  tmb_net_inside++;
  (void)tmb_job.net->wait_fds(tmb_job.net_state, NULL, 0, &timeout);
  tmb_net_inside--;
  if (timeout == UINT64_MAX) return;
  const uint64_t at = tmb_os_now_ns() + timeout;
  tmb_lock_acquire(&sleep_lock);
  const bool earlier = sleepers.watched && at < sleepers.until_ns;
  const bool rings = earlier && sleepers.settled;
  if (earlier) sleepers.until_ns = at; /* reported once */
  tmb_lock_release(&sleep_lock);
  if (rings) tmb_os_fd_ring(sleepers.bell);
}

/* Join the sleeping threads. Returns whether this thread is the one that watches the descriptors.
 */
static bool enter(void) {
  tmb_lock_acquire(&sleep_lock);
  const bool watches = !sleepers.watched;
  if (watches) {
    sleepers.watched = true;
    sleepers.settled = false;
    sleepers.until_ns = UINT64_MAX;
  }
  tmb_fetch_add_acq_rel(&tmb_net_sleepers, 1);
  tmb_lock_release(&sleep_lock);
  return watches;
}

static void leave(bool watches) {
  tmb_lock_acquire(&sleep_lock);
  const bool others = tmb_fetch_sub_acq_rel(&tmb_net_sleepers, 1) > 1;
  if (watches) sleepers.watched = false;
  tmb_lock_release(&sleep_lock);
  if (!watches || !others) return;
  tmb_fetch_add_rel(&sleepers.handed, 1);
  tmb_futex_wake(&sleepers.handed, INT_MAX);
}

/* Collects the descriptors to poll. Returns how many descriptors; inout timeout_ns: for how long at
 * most, at first where the conduit does not say. */
static uint32_t collect(struct pollfd fds[CONDUIT_FDS + 1], uint64_t *timeout_ns) {
  const struct tmb_net_ops *net = tmb_job.net;
  uint32_t count = 1;
  if (net->wait_fds) *timeout_ns = UINT64_MAX;
  fds[0] = (struct pollfd){.fd = sleepers.bell, .events = POLLIN};
  tmb_net_inside++;
  if (net->wait_fds)
    count += net->wait_fds(tmb_job.net_state, fds + count, CONDUIT_FDS, timeout_ns);
  tmb_net_inside--;
  return count;
}

/* Make known until when this thread sleeps: `limit` ns from now, or less if a timer was started
 * since it entered, by itself or others. Returns how long that is. */
static uint64_t settle(uint64_t limit) {
  const uint64_t now = tmb_os_now_ns();
  tmb_lock_acquire(&sleep_lock);
  if (sleepers.until_ns != UINT64_MAX)
    limit = TMB_MIN(limit, sleepers.until_ns > now ? sleepers.until_ns - now : 0);
  if (limit != UINT64_MAX) sleepers.until_ns = now + limit;
  sleepers.settled = true;
  tmb_lock_release(&sleep_lock);
  return limit;
}

/* Sleep in poll, as last_check allows. Returns the result of poll; out slept. */
static int watch(uint64_t (*last_check)(void *), void *arg, uint64_t blind_ns, bool *slept) {
  struct pollfd fds[CONDUIT_FDS + 1];
  uint64_t timeout = blind_ns;
  const uint32_t count = collect(fds, &timeout);
  uint64_t limit = TMB_MIN(last_check(arg), timeout);
  if (limit && tmb_job.threads) limit = settle(limit);
  *slept = limit != 0;
  if (!limit) return 0;
  TMB_PREEMPT_POINT("sleep");
  const int ready = tmb_os_poll(fds, count, limit);
  if (ready > 0 && fds[0].revents) tmb_os_fd_empty(sleepers.bell);
  return ready;
}

/* Sleep until the place of the watching thread is free. */
static bool follow(uint64_t (*last_check)(void *), void *arg, uint32_t handed) {
  const uint64_t limit = last_check(arg);
  TMB_PREEMPT_POINT("sleep");
  return limit && tmb_futex_wait(&sleepers.handed, handed, limit) == 0;
}

bool tmb_net_sleep(uint64_t (*last_check)(void *), void *arg, uint64_t blind_ns) {
  const uint32_t handed = tmb_load_acq(&sleepers.handed);
  const bool watches = enter();
  bool slept = false;
  tmb_near_doze_begin(&tmb_job.near);
  const bool woken =
      watches ? watch(last_check, arg, blind_ns, &slept) > 0 : follow(last_check, arg, handed);
  tmb_near_doze_end(&tmb_job.near, slept && !woken);
  leave(watches);
  return woken;
}
