/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two threads of rank 0, for the cases of threads.c, threads_ordered.c and heard.c.
 *
 * Owns: pipes that the checker does not see, by which a case puts its threads in an order that does
 * not count. Calls: three_ranks.h.
 */
#ifndef TMBTEST_TWO_THREADS_H
#define TMBTEST_TWO_THREADS_H

#include "three_ranks.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile long sink;

#define PUT(to, word, n) gex_RMA_PutBlocking(tm, to, base[to] + (word), v, n, 0)

/* Runs a function in another thread of rank 0. */
static pthread_t begin(void *(*run)(void *)) {
  pthread_t t;
  if (pthread_create(&t, NULL, run, NULL) != 0) abort();
  return t;
}

/* A case: what the other thread does, and then what the first one does meanwhile. */
#define OTHER(name)                   \
 static void other_##name(void);      \
 static void *run_##name(void *arg) { \
  other_##name();                     \
  return arg;                         \
 }                                    \
 static void other_##name(void)
#define FIRST(name)                \
 static void first_##name(void);   \
 CASE(name) {                      \
  if (me) return;                  \
  pthread_t t = begin(run_##name); \
  first_##name();                  \
  pthread_join(t, NULL);           \
 }                                 \
 static void first_##name(void)

/* Pipes that only the kernel sees. */
static int hidden[2][2];
static inline void hidden_give(int to) {
  if (syscall(SYS_write, hidden[to][1], "x", 1) != 1) abort();
}
static inline void hidden_take(int from) {
  char c;
  if (syscall(SYS_read, hidden[from][0], &c, 1) != 1) abort();
}

static inline void hidden_start(void) {
  if (pipe(hidden[0]) != 0 || pipe(hidden[1]) != 0) abort();
}

#endif
