/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of this process: from the first one on that somebody begins, lines have no runs.
 *
 * Owns nothing. Called in place of the C library's functions. Calls: seen.c. A run (check/local.h)
 * is made longer by two instructions, which two threads may not do at once. The thread that begins
 * the first other one is alone while it ends all runs.
 */
#define _GNU_SOURCE
#include "check/runtime/chk.h"

#include <dlfcn.h>
#include <string.h>

#define CHK_SHOWN __attribute__((visibility("default")))

/* As in threads.h, whose thrd_t is a pthread_t. */
int thrd_create(pthread_t *thread, int (*run)(void *), void *arg);

/* The C library's function of a name. */
#define REAL(name)                            \
 __typeof__(&(name)) real;                    \
 void *const found = dlsym(RTLD_NEXT, #name); \
 memcpy(&real, &found, sizeof real) /* no cast between them */

CHK_SHOWN int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                             void *(*run)(void *), void *arg) {
  REAL(pthread_create);
  chk_runs_never();
  return real(thread, attributes, run, arg);
}

CHK_SHOWN int thrd_create(pthread_t *thread, int (*run)(void *), void *arg) {
  REAL(thrd_create);
  chk_runs_never();
  return real(thread, run, arg);
}
