/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The serving thread: runs accessors for other images while the program computes.
 *
 * Owns: the thread. Called by the start of a program with accessors. Calls: inside.c, polls, and
 * remote.c by caf.answer. Invariants: the thread is inside this library only while the program is
 * not, and while this library is the only client of the process: calls of other clients are not
 * marked. Its puts in progress are a list of their own, because implicit handles belong to threads.
 */
/* An accessor is code of the program, so neither a handler nor a progress thread of the layer below
 * may run it. An image that computes without coarray statements does not. The serving thread tries
 * to take the place of the program every IDLE_US. After it has served it tries every BUSY_US for
 * BUSY_TRIES, since more requests are likely. A program that waits serves by itself. While this
 * thread polls often, a progress thread of the network leaves the messages to it. */
#include "inside.h"

#include "data/accessor.h"
#include "data/pending.h"

#include <gasnet_tools.h>
#include <sys/resource.h>

enum { IDLE_US = 50000, BUSY_US = 50, BUSY_TRIES = 200 };
#define STACK_LEAST ((size_t)8 << 20) /* bytes: accessors have arrays on the stack */
#define STACK_MOST  ((size_t)256 << 20)

/* Receives messages and serves, unless the program is inside. Returns whether it has served. */
static bool serve(void) {
  bool any = false;
  if (gexx_Client_Count() != 1 || !caf_take_inside()) return false;
  const uint32_t bits = caf_pending_hide();
  do any = caf_answer() || any;
  while (gexx_Poll(0) || caf.asked);
  caf_pending_show(bits);
  caf_give_inside();
  return any;
}

static void *run(void *arg) {
  uint32_t tries = 0;
  caf_is_server = true;
  for (;;) {
    tries = serve() ? BUSY_TRIES : tries ? tries - 1 : 0;
    gasnett_nsleep(1000 * (uint64_t)(tries ? BUSY_US : IDLE_US));
  }
  return arg;
}

static size_t stack_bytes(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur > STACK_MOST) return STACK_MOST;
  return limit.rlim_cur < STACK_LEAST ? STACK_LEAST : (size_t)limit.rlim_cur;
}

/* Without a thread, the next coarray statement of the program serves. */
void caf_serve_start(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  sigset_t all, before;
  if (caf.serves || !caf.began || caf.size < 2 || !caf_accessors_any()) return;
  if (gasnett_getenv_int_withdefault("TOMBOLO_PROGRESS_SHARE", 100, 0) == 0) return;
  if (pthread_attr_init(&attributes) != 0) return;
  caf_inside_start();
  (void)pthread_attr_setstacksize(&attributes, stack_bytes());
  (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the program's */
  caf.serves = pthread_create(&thread, &attributes, run, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
}
