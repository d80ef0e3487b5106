/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The handler that runs when a process ends by exit() or return from main: see os.h.
 *
 * Owns: the handler, one a process. Called by core. Calls: on_exit(3) where the C library has it.
 * Invariants: musl has only atexit(3), which does not pass the code, so that the handler gets 0.
 */
#define _GNU_SOURCE
#include "os/os.h"

#include <stdlib.h>

static void (*leave)(int code);

#ifdef __GLIBC__
static void on_leave(int code, void *arg) {
  (void)arg;
  leave(code);
}

int tmb_os_at_exit(void (*handler)(int code)) {
  leave = handler;
  return on_exit(on_leave, NULL);
}
#else
static void on_leave(void) {
  leave(0);
}

int tmb_os_at_exit(void (*handler)(int code)) {
  leave = handler;
  return atexit(on_leave);
}
#endif
