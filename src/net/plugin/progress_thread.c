/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread that tends a network while the client computes, see progress_thread.h.
 *
 * Owns the thread and its event descriptor. Called by conduits. It sleeps REST_NS between checks,
 * WATCH_NS while long transfers are in progress. When the client has not called between two checks
 * it waits for the network instead, until the client calls. If it has a share of a processor, it
 * then sleeps after each check until its processor time is no more than that share of the time that
 * has passed. Invariant: `resting` is set only while a kick shortens its sleep.
 */
#define _GNU_SOURCE /* ppoll */

#include "net/plugin/progress_thread.h"

#include "base/atomic.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* Times in ns between two checks: without long transfers, and with them; and the time over which
 * the share of the processor is kept. Chosen; `tombolo bench silent` measures the loss of a
 * computing rank. */
#define REST_NS  10000000u
#define WATCH_NS 500000u
#define SHARE_NS 100000000u
#define NS_PER_S 1000000000u

struct tmb_progress_thread {
  struct tmb_progress_work on;
  pthread_t thread;
  int event; /* ready: a kick, or it is to end */
  uint32_t stop, resting;
};

/* Sleep until a descriptor is ready, a kick comes or the time is over. */
static void rest(const struct tmb_progress_thread *t, struct pollfd *fds, uint32_t count,
                 uint64_t ns) {
  const struct timespec limit = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
  fds[count] = (struct pollfd){.fd = t->event, .events = POLLIN};
  if (!ns || ppoll(fds, count + 1, &limit, NULL) <= 0 || !fds[count].revents) return;
  uint64_t kicks;
  if (read(t->event, &kicks, sizeof kicks) < 0) return; /* taken already */
}

static uint64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Since when the share is measured, and the processor time of the thread then. */
struct measured {
  uint64_t from_ns, used_ns;
};

/* Sleep as long as the share asks for. */
static void keep_share(const struct tmb_progress_thread *t, struct measured *since) {
  struct pollfd event[1];
  if (t->on.share >= 100) return;
  const uint64_t now = clock_ns(CLOCK_MONOTONIC), used = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  if (!since->from_ns || now - since->from_ns > SHARE_NS) {
    *since = (struct measured){now, used};
    return;
  }
  const uint64_t until = since->from_ns + (used - since->used_ns) * 100 / t->on.share;
  if (until > now) rest(t, event, 0, until - now);
}

/* The name tells `tombolo why` that this thread is none of the client's (boot/explain/stacks.c). */
static void *tmb_progress_thread_run(void *arg) {
  struct tmb_progress_thread *t = arg;
  struct pollfd fds[TMB_PROGRESS_FDS + 1];
  struct measured since = {0, 0};
  uint64_t seen = tmb_load_rlx(t->on.tick);
  while (!tmb_load_acq(&t->stop)) {
    const bool busy = t->on.busy && t->on.busy(t->on.net);
    tmb_store_rlx(&t->resting, !busy);
    rest(t, fds, 0, busy ? WATCH_NS : REST_NS);
    tmb_store_rlx(&t->resting, 0);
    for (uint64_t now = tmb_load_rlx(t->on.tick); now == seen && !tmb_load_acq(&t->stop);
         now = tmb_load_rlx(t->on.tick)) {
      uint64_t ns = REST_NS;
      uint32_t count = 0;
      if (!t->on.tend(t->on.net, seen, fds, &count, &ns)) break;
      rest(t, fds, count, ns);
      keep_share(t, &since);
    }
    seen = tmb_load_rlx(t->on.tick);
  }
  return NULL;
}

struct tmb_progress_thread *tmb_progress_thread_start(const struct tmb_progress_work *tended) {
  struct tmb_progress_thread *t = calloc(1, sizeof *t);
  if (!t) return NULL;
  t->on = *tended;
  t->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the client's */
  const int rc =
      t->event < 0 ? errno : pthread_create(&t->thread, NULL, tmb_progress_thread_run, t);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!rc) return t;
  if (t->event >= 0) close(t->event);
  free(t);
  errno = rc;
  return NULL;
}

/* Where the descriptor cannot be written the thread checks after REST_NS. */
static void wake(struct tmb_progress_thread *t) {
  const uint64_t one = 1;
  if (write(t->event, &one, sizeof one) < 0) return; /* it is awake */
}

void tmb_progress_thread_kick(struct tmb_progress_thread *thread) {
  if (!thread || !tmb_load_rlx(&thread->resting)) return;
  tmb_store_rlx(&thread->resting, 0);
  wake(thread);
}

void tmb_progress_thread_stop(struct tmb_progress_thread *thread) {
  if (!thread) return;
  tmb_store_rel(&thread->stop, 1);
  wake(thread);
  pthread_join(thread->thread, NULL);
  close(thread->event);
  free(thread);
}
