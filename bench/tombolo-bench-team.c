/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures operations of all ranks of a job together: barriers, and making and destroying teams.
 *
 * Owns: the team rows. Called by: `tombolo bench coll`, with 2 ranks (bound), 4, and 8 a processor.
 * Calls: bench/lib, the public API. The floor of a barrier is a barrier made by hand: every rank
 * counts itself in a shared word, the last one releases all, the others spin, or, where ranks
 * outnumber processors, give the processor away; for two ranks it is the hand-off of a cache line.
 * Where ranks outnumber processors, `switches` counts how often the kernel changed the process in a
 * barrier, over all ranks: each rank has to run once, so ranks less processors is the least. The
 * floor of a split and destroy is the hand-off between ranks 0 and 1, on processors of their own,
 * while the others wait. A switch of processes takes longer than a hand-off: where ranks outnumber
 * processors, compare with the barrier by hand, the switches, and `barrier_turn`: its floor is a
 * turn of all ranks, in which each gives the processor away once and does nothing else.
 * Every rank takes part in every sample; rank 0 reports.
 */
#define _GNU_SOURCE
#include "lib/bench.h"
#include "lib/floors.h"

#include <gasnet_coll.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { OPS_BARRIER = 500, OPS_SPLIT = 100, OPS_QUICK = 50 };

static bool crowded;

static double barrier(struct bench *b, size_t n, size_t bytes) {
  (void)bytes;
  gex_Coll_BarrierBlocking(b->tm, 0);
  BENCH_TIMED(n, gex_Coll_BarrierBlocking(b->tm, 0));
}

static double split_destroy(struct bench *b, size_t n, size_t bytes) {
  (void)bytes;
  gex_Coll_BarrierBlocking(b->tm, 0);
  BENCH_TIMED_THEN(n, gex_TM_t tm;
                   (void)gex_TM_Split(&tm, b->tm, 0, (int)b->rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
                   gex_TM_Destroy(tm, NULL, 0), gex_Coll_BarrierBlocking(b->tm, 0));
}

/* The barrier by hand: arrivals in `sum`, releases in result[0]. */
static double by_hand(struct bench *b, size_t n, size_t bytes) {
  static uint64_t turn;
  uint64_t *arrived = &b->shared->sum.value, *released = &b->shared->result[0].value;
  (void)bytes;
  gex_Coll_BarrierBlocking(b->tm, 0);
  const uint64_t start = bench_now_ns();
  for (size_t i = 0; i < n; i++) {
    turn++;
    if (__atomic_add_fetch(arrived, 1, __ATOMIC_ACQ_REL) == turn * b->size) {
      __atomic_store_n(released, turn, __ATOMIC_RELEASE);
      continue;
    }
    while (__atomic_load_n(released, __ATOMIC_ACQUIRE) < turn)
      if (crowded) sched_yield();
  }
  return (double)(bench_now_ns() - start) / (double)n;
}

/* A turn of all ranks, without anything that they do: each gives the processor away once. */
static double turn_of_all(struct bench *b, size_t n, size_t bytes) {
  (void)bytes;
  gex_Coll_BarrierBlocking(b->tm, 0);
  BENCH_TIMED(n, sched_yield());
}

static uint64_t switches_so_far(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (uint64_t)(used.ru_nvcsw + used.ru_nivcsw);
}

/* Switches of all ranks in one of `n` operations. The word is cleared between two barriers. */
static double switches_in(struct bench *b, size_t n, bench_fn *operation) {
  uint64_t *sum = &b->shared->result[1].value;
  gex_Coll_BarrierBlocking(b->tm, 0);
  if (b->rank == 0) __atomic_store_n(sum, 0, __ATOMIC_RELEASE);
  gex_Coll_BarrierBlocking(b->tm, 0);
  const uint64_t before = switches_so_far();
  (void)operation(b, n, 0);
  __atomic_add_fetch(sum, switches_so_far() - before, __ATOMIC_ACQ_REL);
  gex_Coll_BarrierBlocking(b->tm, 0);
  return (double)__atomic_load_n(sum, __ATOMIC_ACQUIRE) / (double)n;
}

static double barrier_switches(struct bench *b, size_t n, size_t bytes) {
  (void)bytes;
  return switches_in(b, n, barrier);
}

static double by_hand_switches(struct bench *b, size_t n, size_t bytes) {
  (void)bytes;
  return switches_in(b, n, by_hand);
}

static double split_switches(struct bench *b, size_t n, size_t bytes) {
  (void)bytes;
  return switches_in(b, n, split_destroy);
}

/* Everybody takes part in figure and floor. */
static void measure_in(struct bench *b, const struct bench_row *row, size_t n, const char *unit) {
  static double figure[BENCH_RUNS_MAX], floor[BENCH_RUNS_MAX];
  if (b->opts.quick && n > OPS_QUICK) n = OPS_QUICK;
  (void)row->floor(b, n, 0);
  (void)row->figure(b, n, 0);
  for (int i = 0; i < b->opts.runs; i++) {
    floor[i] = row->floor(b, n, 0);
    figure[i] = row->figure(b, n, 0);
  }
  bench_report(b, row, unit, figure, floor, b->opts.runs);
}

static void measure(struct bench *b, const struct bench_row *row, size_t n) {
  measure_in(b, row, n, "ns");
}

static void measure_switches(struct bench *b, const char *name, bench_fn *figure, size_t n) {
  const struct bench_row row = {.group = "team",
                                .name = name,
                                .floor_name = "by-hand",
                                .figure = figure,
                                .floor = by_hand_switches};
  measure_in(b, &row, n, "count");
}

/* Ranks 0 and 1 go to the first two processors that they may use: on one processor each hand-off
 * would take a whole turn of the scheduler. out before: to come back. */
static void go_apart(unsigned rank, cpu_set_t *before) {
  unsigned found = 0;
  cpu_set_t one;
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof *before, before) != 0 || CPU_COUNT(before) < 2) return;
  for (int c = 0; c < CPU_SETSIZE; c++)
    if (CPU_ISSET(c, before) && found++ == rank) CPU_SET(c, &one);
  (void)sched_setaffinity(0, sizeof one, &one);
}

/* Of ranks 0 and 1, which floor_handoff needs both. */
static double handoff(struct bench *b, size_t n, size_t bytes) {
  const bool moves = crowded && b->rank < 2;
  cpu_set_t before;
  CPU_ZERO(&before);
  if (moves) go_apart(b->rank, &before);
  gex_Coll_BarrierBlocking(b->tm, 0);
  const double ns = b->rank < 2 ? floor_handoff(b, n, bytes) : 0;
  gex_Coll_BarrierBlocking(b->tm, 0);
  if (moves && CPU_COUNT(&before)) (void)sched_setaffinity(0, sizeof before, &before);
  return ns;
}

int main(int argc, char **argv) {
  static struct bench b;
  char names[5][32];
  bench_start(&b, "team", &argc, &argv);
  bench_attach(&b, NULL, 0, 4096);
  crowded = b.size > (gex_Rank_t)sysconf(_SC_NPROCESSORS_ONLN);
  snprintf(names[0], sizeof names[0], "barrier_%uranks", (unsigned)b.size);
  snprintf(names[1], sizeof names[1], "split_destroy_%uranks", (unsigned)b.size);
  snprintf(names[4], sizeof names[4], "barrier_turn_%uranks", (unsigned)b.size);
  const bool two = b.size == 2;
  const struct bench_row bar = {.group = "team",
                                .name = names[0],
                                .floor_name = two ? "handoff" : "by-hand",
                                .figure = barrier,
                                .floor = two ? handoff : by_hand,
                                .target = two ? 1.0 : 1.5};
  const struct bench_row turn = {.group = "team",
                                 .name = names[4],
                                 .floor_name = "turn",
                                 .figure = barrier,
                                 .floor = turn_of_all,
                                 .target = 1.5};
  const struct bench_row split = {.group = "team",
                                  .name = names[1],
                                  .floor_name = "handoff",
                                  .figure = split_destroy,
                                  .floor = handoff,
                                  .target = 20};
  measure(&b, &bar, OPS_BARRIER);
  if (crowded) measure(&b, &turn, OPS_BARRIER);
  if (b.size <= 4) measure(&b, &split, OPS_SPLIT);
  if (crowded) {
    snprintf(names[2], sizeof names[2], "switches_barrier_%uranks", (unsigned)b.size);
    snprintf(names[3], sizeof names[3], "switches_split_%uranks", (unsigned)b.size);
    measure_switches(&b, names[2], barrier_switches, OPS_BARRIER);
    measure_switches(&b, names[3], split_switches, OPS_SPLIT);
  }
  bench_finish(&b);
}
