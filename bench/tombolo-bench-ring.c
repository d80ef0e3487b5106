/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures a token that goes round a ring of all ranks, each of which spins on a get of its left
 * neighbour's word, gives its processor away, and polls; and empty polls of one rank.
 *
 * Owns: the ring rows. Called by: `tombolo bench oversubscribed`, with more ranks than processors.
 * Calls: bench/lib, the public API. Floor: a ring by a load of the mapped word and sched_yield
 * alone. A figure is the time of one turn round the whole ring.
 */
#include "lib/bench.h"

#include <sched.h>
#include <stdio.h>

#define OPS       200
#define OPS_QUICK 20
#define POLLS     20000

static uint64_t *mine;       /* this rank's word */
static void *left_at;        /* the left neighbour's word, as its owner names it */
static const uint64_t *left; /* address as mapped here */
static gex_Rank_t left_rank;
static uint64_t turns; /* so far */

static uint64_t read_left(struct bench *b, bool library) {
  uint64_t value;
  if (!library) return __atomic_load_n(left, __ATOMIC_ACQUIRE);
  gex_RMA_GetBlocking(b->tm, &value, left_rank, left_at, sizeof value, 0);
  return value;
}

static void wait_left(struct bench *b, bool library, uint64_t turn) {
  while (read_left(b, library) != turn) {
    sched_yield();
    if (library) gasnet_AMPoll();
  }
}

static double go_round(struct bench *b, size_t n, bool library) {
  gex_Event_Wait(gex_Coll_BarrierNB(b->tm, 0));
  BENCH_TIMED(n, turns++; if (b->rank > 0) wait_left(b, library, turns);
              __atomic_store_n(mine, turns, __ATOMIC_RELEASE);
              if (b->rank == 0) wait_left(b, library, turns));
}

static void measure_ring(struct bench *b) {
  static double figure[BENCH_RUNS_MAX], floor[BENCH_RUNS_MAX];
  const size_t n = b->opts.quick ? OPS_QUICK : OPS;
  char name[32];
  snprintf(name, sizeof name, "ring_%uranks", (unsigned)b->size);
  (void)go_round(b, n, false);
  (void)go_round(b, n, true);
  for (int i = 0; i < b->opts.runs; i++) {
    floor[i] = go_round(b, n, false);
    figure[i] = go_round(b, n, true);
  }
  const struct bench_row row = {
      .group = "oversubscribed", .name = name, .floor_name = "by-hand", .target = 1.5};
  bench_report(b, &row, "ns", figure, floor, b->opts.runs);
}

/* Empty polls of rank 0, while all others wait in a barrier. */
static void measure_polls(struct bench *b) {
  static double figure[BENCH_RUNS_MAX];
  for (int i = 0; i < b->opts.runs; i++) {
    if (b->rank == 0) {
      const uint64_t start = bench_now_ns();
      for (int k = 0; k < POLLS; k++) gasnet_AMPoll();
      figure[i] = (double)(bench_now_ns() - start) / POLLS;
    }
    gex_Event_Wait(gex_Coll_BarrierNB(b->tm, 0));
  }
  char name[32];
  snprintf(name, sizeof name, "poll_empty_%uranks", (unsigned)b->size);
  const struct bench_row row = {.group = "oversubscribed", .name = name};
  bench_report(b, &row, "ns", figure, NULL, b->opts.runs);
}

int main(int argc, char **argv) {
  static struct bench b;
  bench_start(&b, "ring", &argc, &argv);
  bench_attach(&b, NULL, 0, 4096);
  left_rank = (b.rank + b.size - 1) % b.size;
  void *mapped;
  uintptr_t size;
  void *own;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(b.tm, left_rank, &left_at, &mapped, &size, 0));
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(b.tm, b.rank, &own, NULL, NULL, 0));
  if (!mapped) bench_fail(&b, "the left neighbour's memory is not mapped here");
  /* Behind the control bytes of rank 0's segment; one place in all. */
  mine = (uint64_t *)(void *)((char *)own + BENCH_CONTROL_BYTES);
  left = (const uint64_t *)(const void *)((char *)mapped + BENCH_CONTROL_BYTES);
  left_at = (char *)left_at + BENCH_CONTROL_BYTES;
  measure_ring(&b);
  measure_polls(&b);
  bench_finish(&b);
}
