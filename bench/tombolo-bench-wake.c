/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures waking: how soon a rank that sleeps in GASNET_BLOCKUNTIL answers, and the cost of
 * sleeping.
 *
 * Owns: the wake rows. Called by: `tombolo bench wake`. Calls: bench/lib, the public API.
 * Rank 0 rests for FLOOR_REST_NS, so that rank 1 sleeps in the kernel, then sends a request and
 * waits for the reply. The floor is a program of bare futexes. CPU time of the sleeping rank is
 * read by rank 0 from rank 1's process clock over one second that begins 20 ms after rank 1 began
 * to wait.
 */
#include "lib/bench.h"
#include "lib/echo.h"
#include "lib/floors.h"

#include <time.h>
#include <unistd.h>

static void ask_and_wait(struct bench *b) {
  const uint64_t next = answered + 1;
  gex_AM_RequestShort(b->tm, b->peer, H_ASK, 0);
  GASNET_BLOCKUNTIL(answered == next);
}

static void serve_one(void) {
  static uint64_t expected;
  expected++;
  GASNET_BLOCKUNTIL(asked == expected);
}

static double wake_rtt(struct bench *b, size_t n, size_t bytes) {
  (void)n, (void)bytes;
  if (b->rank == 1) {
    serve_one();
    return 0;
  }
  floor_rest();
  const uint64_t start = bench_now_ns();
  ask_and_wait(b);
  return (double)(bench_now_ns() - start);
}

/* Nanoseconds of CPU time that a process has used; negative if it cannot be read. */
static double cpu_ns(pid_t pid) {
  clockid_t id;
  struct timespec ts;
  if (clock_getcpuclockid(pid, &id) != 0 || clock_gettime(id, &ts) != 0) return -1;
  return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* CPU microseconds that rank 1 uses in `seconds`, scaled to one second, while it waits. */
static double blocked_cpu(struct bench *b, double seconds) {
  const struct timespec settle = {0, 20000000};
  struct timespec span = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  const pid_t pid = (pid_t)b->shared->result[0].value;
  nanosleep(&settle, NULL);
  const double before = cpu_ns(pid);
  nanosleep(&span, NULL);
  const double after = cpu_ns(pid);
  if (before < 0 || after < 0)
    bench_fail(b, "the CPU clock of process %d cannot be read", (int)pid);
  ask_and_wait(b);
  return (after - before) / 1000 / seconds;
}

static void measure_blocked(struct bench *b) {
  const int runs = b->opts.quick ? 1 : 3;
  const struct bench_row row = {
      .group = "wake",
      .name = "blocked_cpu_per_s",
      .target = 20000}; /* 2 %: it wakes every 1.5 ms, for changes that any store may have made */
  double used[3] = {0};
  if (b->rank == 1) b->shared->result[0].value = (uint64_t)getpid();
  bench_barrier(b);
  for (int i = 0; i < runs; i++) {
    bench_barrier(b);
    if (b->rank == 0) used[i] = blocked_cpu(b, b->opts.quick ? 0.2 : 1);
    if (b->rank == 1) serve_one();
  }
  bench_report(b, &row, "us", used, NULL, runs);
}

int main(int argc, char **argv) {
  static struct bench b;
  gex_AM_Entry_t handlers[] = {
      ECHO_ENTRIES,
  };
  const struct bench_row row = {.group = "wake",
                                .name = "wake_rtt",
                                .floor_name = "futex_rtt",
                                .figure = wake_rtt,
                                .floor = floor_futex,
                                .target = 3,
                                .count = 1};
  bench_start(&b, "wake", &argc, &argv);
  bench_attach(&b, handlers, 2, 4096);
  bench_measure(&b, &row);
  measure_blocked(&b);
  bench_finish(&b);
}
