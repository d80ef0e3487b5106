/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures accesses, semaphores and locks of UPC between two threads, each beside the same through
 * the C interface or its floor, for `tombolo bench upc`.
 *
 * The lines that it prints are described in bench/lib/bench.h. A sample of the floor comes before
 * each of the figure. Thread 0 measures, thread 1 answers.
 */
#include <stdio.h>
#include <string.h>
#include <upc_relaxed.h>

#include "api.h"

#define RUNS_MAX 1001
#define LOCAL 1024

static int runs = 51, figures;
static double figure[RUNS_MAX], beside[RUNS_MAX];

static shared [64] long words[64 * THREADS];
static shared [LOCAL] double local[LOCAL * THREADS];
static shared long cyclic[LOCAL * THREADS];
static bupc_sem_t *shared sems[THREADS];
static bupc_sem_t *mine, *theirs;
static upc_lock_t *lock;
static volatile long sink;
static volatile size_t word_bytes = sizeof(long);

typedef double measure_t(int count);

/* ---- floors */

static double floor_handoff(int count) {
  return api_handoff_ns(MYTHREAD == 0, count);
}

static double floor_put_signal(int count) {
  return api_put_signal_ns(MYTHREAD == 0, count);
}

/* Sum and update of a private array of as many elements. */
static double private_array[LOCAL];

static double c_sum(int count) {
  double sum = 0;
  const double start = api_now_ns();
  for (int k = 0; k < count; k++) {
    for (int i = 0; i < LOCAL; i++) sum += private_array[i];
    __asm__ volatile("" ::: "memory");
  }
  sink = (long)sum;
  return (api_now_ns() - start) / count / LOCAL;
}

static double c_scale(int count) {
  const double start = api_now_ns();
  double *a = (double *)&local[MYTHREAD * LOCAL];
  for (int k = 0; k < count; k++) {
    for (int i = 0; i < LOCAL; i++) a[i] = 3 * a[i] + 1;
    __asm__ volatile("" ::: "memory");
  }
  return (api_now_ns() - start) / count / LOCAL;
}

/* ---- figures */

static double put(int count) {
  shared [] long *to = (shared [] long *)&words[64 * (1 - MYTHREAD)];
  const double start = api_now_ns();
  for (long i = 0; i < count; i++) {
    to[i % 64] = i;
    __asm__ volatile("" ::: "memory");
  }
  return (api_now_ns() - start) / count;
}

static double get(int count) {
  shared [] long *from = (shared [] long *)&words[64 * (1 - MYTHREAD)];
  long sum = 0;
  const double start = api_now_ns();
  for (long i = 0; i < count; i++) {
    sum += from[i % 64];
    __asm__ volatile("" ::: "memory");
  }
  sink = sum;
  return (api_now_ns() - start) / count;
}

/* A size that the compiler does not know. */
static double put_n(int count) {
  shared [] long *to = (shared [] long *)&words[64 * (1 - MYTHREAD)];
  const size_t bytes = word_bytes;
  long value = 3;
  const double start = api_now_ns();
  for (long i = 0; i < count; i++) upc_memput(&to[i % 64], &value, bytes);
  return (api_now_ns() - start) / count;
}

static double get_n(int count) {
  shared [] long *from = (shared [] long *)&words[64 * (1 - MYTHREAD)];
  const size_t bytes = word_bytes;
  long value = 0;
  const double start = api_now_ns();
  for (long i = 0; i < count; i++) upc_memget(&value, &from[i % 64], bytes);
  sink = value;
  return (api_now_ns() - start) / count;
}

static double sum_own(int count) {
  double sum = 0;
  shared [] double *a = (shared [] double *)&local[MYTHREAD * LOCAL];
  const double start = api_now_ns();
  for (int k = 0; k < count; k++) {
    for (int i = 0; i < LOCAL; i++) sum += a[i];
    __asm__ volatile("" ::: "memory");
  }
  sink = (long)sum;
  return (api_now_ns() - start) / count / LOCAL;
}

static double forall(int count) {
  const double start = api_now_ns();
  for (int k = 0; k < count; k++) {
    upc_forall (int i = 0; i < LOCAL * THREADS; i++; &local[i]) local[i] = 3 * local[i] + 1;
    __asm__ volatile("" ::: "memory");
  }
  return (api_now_ns() - start) / count / LOCAL;
}

static double post_wait(int count) {
  const double start = api_now_ns();
  for (int i = 0; i < count; i++) {
    if (MYTHREAD) bupc_sem_wait(mine);
    bupc_sem_post(theirs);
    if (!MYTHREAD) bupc_sem_wait(mine);
  }
  return (api_now_ns() - start) / count / 2;
}

static double put_signal(int count) {
  shared [] long *to = (shared [] long *)&words[64 * (1 - MYTHREAD)];
  const double start = api_now_ns();
  for (long i = 0; i < count; i++) {
    if (MYTHREAD) bupc_sem_wait(mine);
    bupc_memput_signal(to, &i, sizeof i, theirs, 1);
    if (!MYTHREAD) bupc_sem_wait(mine);
  }
  return (api_now_ns() - start) / count / 2;
}

static double lock_unlock(int count) {
  const double start = api_now_ns();
  for (int i = 0; i < count; i++) {
    upc_lock(lock);
    upc_unlock(lock);
  }
  return (api_now_ns() - start) / count;
}

static double barrier(int count) {
  const double start = api_now_ns();
  for (int i = 0; i < count; i++) upc_barrier;
  return (api_now_ns() - start) / count;
}

/* ---- samples */

struct row {
  const char *name, *floor_name;
  measure_t *of, *floor;
  double target;
  int count;
  int together; /* both threads take part */
};

static void sample(const struct row *r, int k) {
  upc_barrier;
  if (r->floor && (r->together || MYTHREAD == 0)) beside[k] = r->floor(r->count);
  upc_barrier;
  if (r->together || MYTHREAD == 0) figure[k] = r->of(r->count);
}

static void report(const struct row *r) {
  figures++;
  printf("figure upc %s bytes=8 unit=ns", r->name);
  if (r->floor) printf(" floor=%s", r->floor_name);
  if (r->target > 0) printf(" target=%.2f", r->target);
  printf(" better=less\nx");
  for (int k = 0; k < runs; k++) printf(" %.6e", figure[k]);
  if (r->floor) {
    printf("\nf");
    for (int k = 0; k < runs; k++) printf(" %.6e", beside[k]);
  }
  printf("\n");
}

static const struct row rows[] = {
    {"put_scalar", "C_inlined", put, api_put_ns, 0, 20000, 0},
    {"get_scalar", "C_inlined", get, api_get_ns, 0, 20000, 0},
    {"put_n", "C_inlined", put_n, api_put_n_ns, 0, 20000, 0},
    {"get_n", "C_inlined", get_n, api_get_n_ns, 0, 20000, 0},
    {"sum_own", "C_loop", sum_own, c_sum, 3, 40, 0},
    {"forall", "C_loop", forall, c_scale, 1.1, 40, 1},
    {"sem_post_wait", "handoff_rtt", post_wait, floor_handoff, 0.8, 500, 1},
    {"put_signal", "C_put_signal", put_signal, floor_put_signal, 1.1, 500, 1},
    {"lock_unlock", "", lock_unlock, NULL, 0, 5000, 0},
    {"barrier", "handoff_rtt", barrier, floor_handoff, 0, 500, 1},
};

int main(int argc, char **argv) {
  if (THREADS != 2) {
    if (MYTHREAD == 0) fprintf(stderr, "tombolo-bench-upc: two threads are needed\n");
    return 1;
  }
  for (int i = 1; i + 1 < argc; i++)
    if (!strcmp(argv[i], "--runs")) runs = atoi(argv[i + 1]);
  if (runs < 3) runs = 3;
  if (runs > RUNS_MAX) runs = RUNS_MAX;
  api_start();
  for (int i = 0; i < LOCAL; i++) private_array[i] = local[MYTHREAD * LOCAL + i] = i;
  sems[MYTHREAD] = bupc_sem_alloc(BUPC_SEM_INTEGER | BUPC_SEM_SPRODUCER | BUPC_SEM_SCONSUMER);
  lock = upc_all_lock_alloc();
  upc_barrier;
  mine = sems[MYTHREAD];
  theirs = sems[1 - MYTHREAD];
  if (MYTHREAD == 0) printf("tombolo-bench 1 upc ranks=2 runs=%d sample_us=100 quick=0\n", runs);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    sample(&rows[i], 0); /* warms up */
    for (int k = 0; k < runs; k++) sample(&rows[i], k);
    if (MYTHREAD == 0) report(&rows[i]);
  }
  if (MYTHREAD == 0) printf("end %d\n", figures);
  fflush(stdout);
  upc_barrier;
  bupc_sem_free(mine);
  return 0;
}
