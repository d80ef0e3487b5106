/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways of UPC to hand over data from one thread to another, for study/compare/upc_ways.py.
 *
 * strict: upc_memput, then a strict flag. fence: upc_memput, upc_fence, then a relaxed flag.
 * semaphore: upc_memput, then a post. signal: bupc_memput_signal. The other thread waits for the
 * flag or the semaphore and answers the same way: half of a round trip is printed. A line
 * "WAY_latency BYTES MEDIAN LEAST MOST", in microseconds, of SAMPLES samples. Two threads. Compiled
 * by upc_ways.py with `tombolo upcc`. Invariant: flags count up, so that none is lost or seen twice.
 */
#include <bupc_extensions.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <upc_relaxed.h>

#define BYTES_MAX (1 << 20)
#define SAMPLES   9

enum { STRICT, FENCE, SEMAPHORE, SIGNAL, WAYS };
static const char *const names[WAYS] = {"strict", "fence", "semaphore", "signal"};

static shared char *data; /* BYTES_MAX bytes of each thread; element t begins those of thread t */
static strict shared [8] long strict_flag[8 * THREADS];
static relaxed shared [8] long relaxed_flag[8 * THREADS];
static bupc_sem_t *shared sems[THREADS];
static bupc_sem_t *mine, *theirs;
static char *source;
static int peer;
static long turn;

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static void tell(int way, size_t bytes) {
  shared void *const to = data + peer;
  if (way == SIGNAL) {
    bupc_memput_signal(to, source, bytes, theirs, 1);
    return;
  }
  upc_memput(to, source, bytes);
  if (way == STRICT) {
    strict_flag[8 * peer] = turn;
  } else if (way == FENCE) {
    upc_fence;
    relaxed_flag[8 * peer] = turn;
  } else {
    bupc_sem_post(theirs);
  }
}

static void hear(int way) {
  if (way == STRICT) {
    while (strict_flag[8 * MYTHREAD] != turn) bupc_poll();
  } else if (way == FENCE) {
    while (relaxed_flag[8 * MYTHREAD] != turn) bupc_poll();
    upc_fence;
  } else {
    bupc_sem_wait(mine);
  }
}

static double sample(int way, size_t bytes, int n) {
  upc_barrier;
  const double begin = now_us();
  for (int i = 0; i < n; i++) {
    turn++;
    if (MYTHREAD == 0) tell(way, bytes);
    hear(way);
    if (MYTHREAD == 1) tell(way, bytes);
  }
  return (now_us() - begin) / n / 2;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void row(int way, size_t bytes, int scale) {
  double value[SAMPLES];
  const int n = (bytes <= 4096 ? 500 : bytes <= 65536 ? 100 : 16) / scale + 1;
  (void)sample(way, bytes, n); /* warms up */
  for (int i = 0; i < SAMPLES; i++) value[i] = sample(way, bytes, n);
  qsort(value, SAMPLES, sizeof *value, compare);
  if (MYTHREAD == 0)
    printf("%s_latency %zu %.5f %.5f %.5f\n", names[way], bytes, value[SAMPLES / 2], value[0],
           value[SAMPLES - 1]);
  fflush(stdout);
}

int main(int argc, char **argv) {
  const int scale = argc > 1 && strcmp(argv[1], "few") == 0 ? 10 : 1;
  if (THREADS != 2) return 2;
  peer = 1 - MYTHREAD;
  data = upc_all_alloc(THREADS, BYTES_MAX);
  source = calloc(1, BYTES_MAX);
  sems[MYTHREAD] = bupc_sem_alloc(BUPC_SEM_INTEGER | BUPC_SEM_SPRODUCER | BUPC_SEM_SCONSUMER);
  upc_barrier;
  mine = sems[MYTHREAD];
  theirs = sems[peer];
  for (int way = 0; way < WAYS; way++)
    for (size_t bytes = 8; bytes <= BYTES_MAX; bytes *= bytes < 65536 ? 8 : 4)
      row(way, bytes, scale);
  upc_barrier;
  return 0;
}
