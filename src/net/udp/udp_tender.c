/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread that tends the network while the client computes, see udp_tender.h.
 *
 * Owns the thread and its event descriptor. Called by udp.c and, to wake it, by udp_rma.c. Calls
 * udp_tend. It sleeps REST_NS between looks, WATCH_NS while long transfers are under way. When the
 * client has not called between two looks it waits on the socket instead, until the client calls.
 * Invariant: `resting` is set only while a kick shortens its sleep.
 */
#define _GNU_SOURCE /* ppoll */

#include "net/udp/udp_tender.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define REST_NS  10000000u
#define WATCH_NS 500000u
#define NS_PER_S 1000000000u

struct udp_tender {
  struct tmb_net *e;
  pthread_t thread;
  int event;
  uint32_t stop, resting;
};

/* Sleep until a descriptor is ready, a kick comes or the time is over. */
static void rest(const struct udp_tender *t, struct pollfd *fds, uint32_t count, uint64_t ns) {
  const struct timespec limit = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
  fds[count] = (struct pollfd){.fd = t->event, .events = POLLIN};
  if (ppoll(fds, count + 1, &limit, NULL) <= 0 || !fds[count].revents) return;
  uint64_t kicks;
  if (read(t->event, &kicks, sizeof kicks) < 0) return; /* taken already */
}

static void *run(void *arg) {
  struct udp_tender *t = arg;
  struct pollfd fds[UDP_FDS_MAX + 1];
  uint64_t seen = tmb_load_rlx(&t->e->tick);
  while (!tmb_load_acq(&t->stop)) {
    uint64_t ns = udp_busy_transfers(t->e) ? WATCH_NS : REST_NS;
    tmb_store_rlx(&t->resting, ns == REST_NS);
    rest(t, fds, 0, ns);
    tmb_store_rlx(&t->resting, 0);
    for (uint64_t now = tmb_load_rlx(&t->e->tick); now == seen && !tmb_load_acq(&t->stop);
         now = tmb_load_rlx(&t->e->tick)) {
      ns = REST_NS;
      if (!udp_tend(t->e, seen, &ns)) break;
      rest(t, fds, t->e->io.ops->fds(t->e->io.state, fds, UDP_FDS_MAX), ns);
    }
    seen = tmb_load_rlx(&t->e->tick);
  }
  return NULL;
}

struct udp_tender *udp_tender_start(struct tmb_net *e) {
  struct udp_tender *t = calloc(1, sizeof *t);
  if (!t) return NULL;
  t->e = e;
  t->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the client's */
  const int rc = t->event < 0 ? -1 : pthread_create(&t->thread, NULL, run, t);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!rc) return t;
  if (t->event >= 0) close(t->event);
  free(t);
  return NULL;
}

void udp_tender_kick(struct udp_tender *tender) {
  const uint64_t one = 1;
  if (!tender || !tmb_load_rlx(&tender->resting)) return;
  tmb_store_rlx(&tender->resting, 0);
  if (write(tender->event, &one, sizeof one) < 0) return; /* it is awake */
}

void udp_tender_stop(struct udp_tender *tender) {
  if (!tender) return;
  const uint64_t one = 1;
  tmb_store_rel(&tender->stop, 1);
  if (write(tender->event, &one, sizeof one) < 0) tmb_store_rel(&tender->stop, 1);
  pthread_join(tender->thread, NULL);
  close(tender->event);
  free(tender);
}
