/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping where ranks of other hosts may wake this one: on descriptors instead of a futex.
 *
 * Owns: declarations of net_sleep.c, the count of calls that are inside the conduit. Called by
 * wait.c in place of tmb_near_sleep when there is a conduit, and around each call of the conduit,
 * which may start a timer. Calls: the conduit's wait_fds. Invariant: a thread that sleeps here
 * wakes for ranks of the host (its bell, an eventfd), for descriptors of the conduit, and for the
 * earliest timer of the conduit, also one that another thread of this process has started since.
 */
#ifndef TMB_CORE_NET_SLEEP_H
#define TMB_CORE_NET_SLEEP_H

#include "core/job.h"

/* Threads of this process that sleep, or are about to; atomic. */
extern uint32_t tmb_net_sleepers;

/* Prepare; after the conduit is open. */
void tmb_net_sleep_init(void);

/* Contract of tmb_near_sleep. in blind_ns: longest sleep where the conduit names no descriptors
 * (mpi): messages may come meanwhile, and nobody wakes this rank. */
bool tmb_net_sleep(uint64_t (*last_check)(void *), void *arg, uint64_t blind_ns);

/* See that threads which sleep know of the conduit's timers. */
void tmb_net_sleep_timer(void);

/* The conduit has been called by this thread: it may have a new timer, or keep something to hand
 * up. */
static inline void tmb_net_sleep_notify(void) {
  if (TMB_LIKELY(!tmb_job.threads)) return;
  if (TMB_UNLIKELY(tmb_job.near.sender_fences)) tmb_fence_seq();
  tmb_fence_compiler();
  if (TMB_UNLIKELY(tmb_load_rlx(&tmb_net_sleepers))) tmb_net_sleep_timer();
}

/* Calls of the conduit that this thread is inside of; a handler, which the conduit lets run, is not
 * inside. A signal handler sees in it whether it has interrupted the conduit, whose locks may be
 * this thread's then. */
extern _Thread_local volatile uint32_t tmb_net_inside __attribute__((tls_model("initial-exec")));

/* A call of a slot of the conduit stands between these two. in rc: its result. */
static inline void tmb_net_enter(void) {
  tmb_net_inside++;
}

static inline int tmb_net_back(int rc) {
  tmb_net_sleep_notify();
  tmb_net_inside--;
  return rc;
}

#endif
