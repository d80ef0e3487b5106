/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Doorbells: how a rank sleeps until a peer has something for it.
 *
 * Owns: the `door` part of the control block. Called by the send paths (through
 * tmb_near_notify) and core. Calls: os/futex, os/wait_fd. Protocol. Sleeper: b = bell; sleeping =
 * 1; process-wide fence; poll again; sleep while bell == b. Waker: publish; if sleeping: sleeping =
 * 0, bell += 1, wake all. The waker's store-load order is enforced by the sleeper's membarrier (or,
 * on kernels without it, by a fence of the waker). bell is read before sleeping is set, so a waker
 * that clears another thread's mark also changes the value that this one sleeps on: no wake-up is
 * lost with several sleepers. Where the job has a conduit, ranks sleep in poll instead (core's
 * net_sleep.c), and their eventfd wakes them; the marks and fences are those here.
 */
#include "base/error.h"
#include "near/near.h"
#include "os/sync/futex.h"
#include "os/sync/wait_fd.h"

#include <limits.h>

void tmb_near_door_ring(struct tmb_near *near, uint32_t rank) {
  struct tmb_near_ctl *ctl = tmb_near_ctl(near, rank);
  const uint32_t how = tmb_xchg_acq_rel(&ctl->door.sleeping, TMB_NEAR_AWAKE);
  if (how == TMB_NEAR_AWAKE) return;
  if (how == TMB_NEAR_IN_POLL) {
    tmb_os_fd_ring(near->env.bell_fd[rank]);
    return;
  }
  tmb_fetch_add_rel(&ctl->door.bell, 1);
  tmb_futex_wake(&ctl->door.bell, INT_MAX);
}

/* Publish that this rank sleeps, so that wakers which did not see it have published before. A
 * single sleeper whose last sleep has run out is still published, and it costs nothing to sleep on;
 * of several, one may see the mark of another whose fence is still to come. */
static void show_sleeping(const struct tmb_near *near, struct tmb_near_ctl *ctl, uint32_t how) {
  if (!near->env.threads && tmb_load_acq(&ctl->door.sleeping) == how) return;
  tmb_store_rel(&ctl->door.sleeping, how);
  if (near->sender_fences)
    tmb_fence_seq();
  else
    tmb_membarrier();
}

bool tmb_near_sleep(struct tmb_near *near, uint64_t (*last_check)(void *), void *arg) {
  struct tmb_near_ctl *ctl = tmb_near_ctl(near, near->env.index);
  const uint32_t bell = tmb_load_acq(&ctl->door.bell);
  show_sleeping(near, ctl, TMB_NEAR_IN_FUTEX);
  const uint64_t limit_ns = last_check(arg);
  TMB_PREEMPT_POINT("sleep");
  if (limit_ns) {
    const int rc = tmb_futex_wait(&ctl->door.bell, bell, limit_ns);
    if (rc == TMB_E_TIMEOUT) return false;
    if (!near->env.threads) tmb_store_rlx(&ctl->door.sleeping, 0);
    return rc == 0;
  }
  /* Without threads the only sleeper of this process clears its mark itself, which saves wakers
   * a system call; with threads another one may still sleep. */
  if (!near->env.threads) tmb_store_rlx(&ctl->door.sleeping, 0);
  return false;
}

void tmb_near_doze_begin(struct tmb_near *near) {
  show_sleeping(near, tmb_near_ctl(near, near->env.index), TMB_NEAR_IN_POLL);
}

void tmb_near_doze_end(struct tmb_near *near, bool timed_out) {
  if (near->env.threads || timed_out) return;
  tmb_store_rlx(&tmb_near_ctl(near, near->env.index)->door.sleeping, TMB_NEAR_AWAKE);
}

/* Set the mark, then run a fence on all processors, as tmb_near_sleep does: writes of a peer that
 * had not seen the mark are visible here afterwards. */
void tmb_near_index_begin(struct tmb_near *near) {
  tmb_store_rel(&tmb_near_ctl(near, near->env.index)->door.indexed, 1);
  if (near->sender_fences)
    tmb_fence_seq();
  else
    tmb_membarrier();
}
