/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures handler-safe locks (gex_HSL_t) of a client with threads, alone and contended by two
 * threads on processors of their own.
 *
 * Owns: the lock rows. Called by: `tombolo bench lock`, with two ranks, of which rank 0 measures.
 * Calls: bench/lib, the public API. Floor: a mutex of the C library, used in the same way. A figure
 * is the time of one lock and unlock, of the two threads together.
 */
/* mode: PAR */
#define _GNU_SOURCE
#include "lib/bench.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

static gex_HSL_t hsl = GEX_HSL_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t together;
static volatile uint64_t counter; /* under the lock */

struct worker {
  size_t n;
  bool library;
  int processor; /* where it runs; -1: anywhere */
};

static void run(const struct worker *w) {
  for (size_t i = 0; i < w->n; i++) {
    if (w->library) {
      gex_HSL_Lock(&hsl);
      counter++;
      gex_HSL_Unlock(&hsl);
    } else {
      pthread_mutex_lock(&mutex);
      counter++;
      pthread_mutex_unlock(&mutex);
    }
  }
}

static void *second(void *arg) {
  const struct worker *w = arg;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(w->processor, &set);
  if (w->processor >= 0) (void)sched_setaffinity(0, sizeof set, &set);
  pthread_barrier_wait(&together);
  run(w);
  pthread_barrier_wait(&together);
  return NULL;
}

/* A processor of this machine that is not the caller's, -1: there is none. */
static int other_processor(void) {
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 1 ? (sched_getcpu() + 1) % (int)count : -1;
}

static double contend(size_t n, bool library) {
  struct worker w = {n, library, other_processor()};
  pthread_t thread;
  pthread_barrier_init(&together, NULL, 2);
  if (pthread_create(&thread, NULL, second, &w) != 0) return 0;
  pthread_barrier_wait(&together);
  const uint64_t start = bench_now_ns();
  run(&w);
  pthread_barrier_wait(&together);
  const uint64_t ns = bench_now_ns() - start;
  pthread_join(thread, NULL);
  pthread_barrier_destroy(&together);
  return (double)ns / (double)(2 * n);
}

static double alone(size_t n, bool library) {
  const struct worker w = {n, library, -1};
  const uint64_t start = bench_now_ns();
  run(&w);
  return (double)(bench_now_ns() - start) / (double)n;
}

#define FIGURE(NAME, HOW, LIBRARY)                             \
 static double NAME(struct bench *b, size_t n, size_t bytes) { \
  (void)b;                                                     \
  (void)bytes;                                                 \
  return HOW(n, LIBRARY);                                      \
 }
FIGURE(hsl_alone, alone, true)
FIGURE(mutex_alone, alone, false)
FIGURE(hsl_contended, contend, true)
FIGURE(mutex_contended, contend, false)

#define ROW(name_, figure_, floor_)                                                                \
 {                                                                                                 \
  .group = "lock", .name = (name_), .floor_name = "mutex", .figure = (figure_), .floor = (floor_), \
  .target = 1.0, .alone = true, .count = 100000                                                    \
 }

int main(int argc, char **argv) {
  static struct bench b;
  static const struct bench_row rows[] = {
      /* First: from then on the C library's mutex, too, reckons with threads. */
      ROW("hsl_2threads", hsl_contended, mutex_contended),
      ROW("hsl_alone", hsl_alone, mutex_alone),
  };
  bench_start(&b, "lock", &argc, &argv);
  bench_attach(&b, NULL, 0, 4096);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) bench_measure(&b, &rows[i]);
  bench_finish(&b);
}
