/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse that is fatal in every build, here in a client without GASNET_DEBUG: barrier phases out of
 * order (API 08.7), a message for a handler that is not registered (02.1), a wrong count in a
 * GASNet-1 message (08.4), calls before initialisation; and that unchecked legal use stays legal.
 */
/* ranks: 1 */
#include "dbg_case.h"

static char buf[64];

static void start(void) {
  dbg_setup(dbg_argc, dbg_argv);
}

static void wait_only(void) {
  start();
  (void)gasnet_barrier_wait(17, 0);
}
static void try_only(void) {
  start();
  (void)gasnet_barrier_try(18, 0);
}
static void notify_twice(void) {
  start();
  gasnet_barrier_notify(1, 0);
  gasnet_barrier_notify(19, 0);
}
static void barrier_inside(void) {
  start();
  gasnet_barrier_notify(1, 0);
  (void)gasnet_barrier(20, 0);
}
static void unregistered(void) {
  start();
  gex_AM_RequestShort0(dbg.tm, 0, 200, 0);
  for (int i = 0; i < 1000; i++) gasnet_AMPoll();
}
static void unregistered_peer(void) {
  start();
  if (dbg.rank == 0) gex_AM_RequestMedium0(dbg.tm, 1, 201, buf, 8, GEX_EVENT_NOW, 0);
  for (;;) gasnet_AMPoll();
}
static void wrong_count(void) {
  start();
  gasnet_AMRequestShort(0, 200, 3, 1, 2);
}
static void poll_early(void) {
  gasnet_AMPoll();
}
static void request_early(void) {
  gex_AM_RequestShort0(GEX_TM_INVALID, 0, 128, 0);
}
static void barrier_early(void) {
  gasnet_barrier_notify(1, 0);
}
static void size_early(void) {
  (void)gasnet_getMaxLocalSegmentSize();
}

/* Without debug checks the misuse below goes unseen; it must not cost or break anything. */
static void unchecked(void) {
  start();
  gasnet_hold_interrupts();
  gasnet_put(0, dbg.base, buf, 4);
  gasnet_hold_interrupts();
  gasnet_resume_interrupts();
  gex_Event_Wait(GEX_EVENT_INVALID);
  gex_Coll_BarrierBlocking(dbg.tm, 0);
}

#define ROW(fn, ...) \
 { #fn, fn, {__VA_ARGS__ }, 0, NULL }

static const struct dbg_case cases[] = {
    ROW(wait_only, "gasnet_barrier_wait", "17", "gasnet_barrier_notify"),
    ROW(try_only, "gasnet_barrier_try", "18", "gasnet_barrier_notify"),
    ROW(notify_twice, "gasnet_barrier_notify", "19"),
    ROW(barrier_inside, "gasnet_barrier", "20"),
    ROW(unregistered, "rank 0", "handler 200", "register"),
    {"unregistered_peer", unregistered_peer, {"rank 0", "handler 201", "register"}, 2, NULL},
    ROW(wrong_count, "gasnet_AMRequestShort", "numargs", "3", "2 arguments"),
    ROW(poll_early, "gasnet_AMPoll", "not initialised"),
    ROW(request_early, "gex_AM_RequestShort", "not initialised"),
    ROW(barrier_early, "gasnet_barrier_notify", "not initialised"),
    ROW(size_early, "gasnet_getMaxLocalSegmentSize", "not initialised"),
    ROW(unchecked, NULL),
};

int main(int argc, char **argv) {
  return dbg_main(argc, argv, dbg_setup_none, cases, sizeof cases / sizeof *cases);
}
