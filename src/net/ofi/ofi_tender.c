/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread that tends the network while the client computes, see ofi_tender.h.
 *
 * Owns the thread and its event descriptor. Called by ofi.c. Calls ofi_tend. It sleeps REST_NS
 * between looks. When the client has not called between two of them it waits for the completion
 * queue instead, until the client calls.
 */
#define _GNU_SOURCE /* ppoll */

#include "net/ofi/ofi_tender.h"

#include "base/atomic.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define REST_NS  UINT64_C(10000000)
#define NS_PER_S UINT64_C(1000000000)

struct ofi_tender {
  struct tmb_net *net;
  pthread_t thread;
  int event; /* ready: it is to end */
  uint32_t stop;
};

/* Sleep until a descriptor is ready, the end is asked for or the time is over. */
static void rest(const struct ofi_tender *t, struct pollfd *fds, uint32_t count, uint64_t ns) {
  const struct timespec limit = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
  fds[count] = (struct pollfd){.fd = t->event, .events = POLLIN};
  (void)ppoll(fds, count + 1, &limit, NULL);
}

static void *run(void *arg) {
  struct ofi_tender *t = arg;
  struct pollfd fds[2];
  uint64_t seen = tmb_load_rlx(&t->net->tick);
  while (!tmb_load_acq(&t->stop)) {
    rest(t, fds, 0, REST_NS);
    for (uint64_t now = tmb_load_rlx(&t->net->tick); now == seen && !tmb_load_acq(&t->stop);
         now = tmb_load_rlx(&t->net->tick)) {
      uint64_t ns = REST_NS;
      uint32_t count = 0;
      if (!ofi_tend(t->net, seen, fds, &count, &ns)) break;
      if (ns) rest(t, fds, count, ns);
    }
    seen = tmb_load_rlx(&t->net->tick);
  }
  return NULL;
}

struct ofi_tender *ofi_tender_start(struct tmb_net *net) {
  struct ofi_tender *t = calloc(1, sizeof *t);
  if (!t) return NULL;
  t->net = net;
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

void ofi_tender_stop(struct ofi_tender *tender) {
  if (!tender) return;
  const uint64_t one = 1;
  tmb_store_rel(&tender->stop, 1);
  /* Where the descriptor cannot be written the thread looks after REST_NS. */
  const ssize_t written = write(tender->event, &one, sizeof one);
  (void)written;
  pthread_join(tender->thread, NULL);
  close(tender->event);
  free(tender);
}
