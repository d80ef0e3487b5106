/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of a job on several hosts, to be compared with simulated ones by sim.py.
 *
 * Owns: nothing. Compiled by sim.py; not part of the build. Calls: the public API. Arguments: a
 * collective, its bytes and how many. Prints the mean of so many one after the other, each with the
 * next root, after one that is not counted, as `tombolo sim collective --warm 1` does them: from a
 * time at which all ranks begin, by the clock that all ranks of a machine share, to the last rank's
 * end. A barrier cannot begin it: its first rank leaves milliseconds before its last one. Prints
 * also the processor time of all ranks. A job does one kind, so that windows of congestion control
 * are what that kind has made them. `resting`: broadcasts to ranks that sleep, one at a time.
 */
#define _GNU_SOURCE /* clock_nanosleep */
#define GASNET_SEQ  1
#include <gasnetex.h>

#include <gasnet_coll.h>
#include <tombolo/ext/ext_coll.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "spent.h"
#include "written.h"

enum { TIMES = 8, TIMES_MAX = 1000, REST_US = 20000, READY_US = 100000 };

static gex_TM_t tm;
static gex_Rank_t rank, size;
static int times = TIMES;
static char *src, *dst;

static double now_s(void) {
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void barrier(void) {
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

static void broadcast(size_t bytes, int i) {
  gex_Event_Wait(gex_Coll_BroadcastNB(tm, (gex_Rank_t)i % size, dst, src, bytes, 0));
}

static void allreduce(size_t bytes, int i) {
  (void)i;
  gex_Event_Wait(
      gex_Coll_ReduceToAllNB(tm, dst, src, GEX_DT_U64, 8, bytes / 8, GEX_OP_ADD, NULL, NULL, 0));
}

static void exchange(size_t bytes, int i) {
  (void)i;
  gex_Event_Wait(gexx_Coll_ExchangeNB(tm, dst, src, bytes, 0));
}

static void reduce(double *all, const double *mine, size_t count, gex_OP_t op) {
  gex_Event_Wait(gex_Coll_ReduceToAllNB(tm, all, mine, GEX_DT_DBL, 8, count, op, NULL, NULL, 0));
}

static void spent_since(struct spent *sum, struct spent before) {
  const struct spent now = spent_so_far();
  sum->seconds += now.seconds - before.seconds;
  sum->sleeps += now.sleeps - before.sleeps;
}

/* Rest until a time on which all ranks agree. Returns it. */
static double begin_together(void) {
  double mine = now_s() + READY_US * 1e-6, all = 0;
  reduce(&all, &mine, 1, GEX_OP_MAX);
  struct timespec at = {.tv_sec = (time_t)all};
  at.tv_nsec = (long)((all - (double)at.tv_sec) * 1e9);
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
  return all;
}

static void report(const char *name, size_t bytes, double seconds, struct spent spent) {
  const double mine[] = {spent.seconds, spent.sleeps};
  double all[2] = {0};
  reduce(all, mine, 2, GEX_OP_ADD);
  if (rank == 0)
    printf("ROW %s %zu %.9f %.9f %.2f\n", name, bytes, seconds / times, all[0] / times,
           all[1] / times);
  fflush(stdout);
}

static void measure(const char *name, size_t bytes, void (*one)(size_t, int)) {
  one(bytes, 0); /* schedules are made, connections are warm */
  barrier();
  const double from = begin_together();
  const struct spent before = spent_so_far();
  for (int i = 0; i < times; i++) one(bytes, i);
  double end = now_s(), last = 0;
  struct spent spent = {0};
  spent_since(&spent, before);
  reduce(&last, &end, 1, GEX_OP_MAX);
  report(name, bytes, last - from, spent);
}

/* Seconds from the root's start to the last rank's end of broadcasts, the mean of some: before each
 * the root rests, and all others wait, so that they sleep. */
static void measure_resting(size_t bytes, long rest_us) {
  static double start[TIMES_MAX], end[TIMES_MAX], first[TIMES_MAX], last[TIMES_MAX];
  struct spent spent = {0};
  broadcast(bytes, 0);
  for (int i = 0; i < times; i++) {
    barrier();
    if ((gex_Rank_t)i % size == rank) {
      nanosleep(&(struct timespec){rest_us / 1000000, rest_us % 1000000 * 1000}, NULL);
      start[i] = now_s();
    }
    const struct spent before = spent_so_far();
    broadcast(bytes, i);
    end[i] = now_s();
    spent_since(&spent, before);
  }
  reduce(first, start, (size_t)times, GEX_OP_MAX);
  reduce(last, end, (size_t)times, GEX_OP_MAX);
  double sum = 0;
  for (int i = 0; i < times; i++) sum += last[i] - first[i];
  report("resting", bytes, sum, spent);
}

static void read_times(const char *text) {
  times = atoi(text);
  if (times >= 1 && times <= TIMES_MAX) return;
  fprintf(stderr, "sim_check: TIMES %s: give 1 to %d\n", text, TIMES_MAX);
  gasnet_exit(2);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*one)(size_t, int);
    int all; /* a block for each rank */
  } kinds[] = {{"broadcast", broadcast, 0}, {"allreduce", allreduce, 0}, {"exchange", exchange, 1}};
  gex_Client_t client;
  gex_EP_t ep;
  if (gex_Client_Init(&client, &ep, &tm, "SIM", &argc, &argv, 0)) return 1;
  rank = gex_TM_QueryRank(tm);
  size = gex_TM_QuerySize(tm);
  const size_t bytes = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
  if (argc > 3) read_times(argv[3]);
  if (bytes && !strcmp(argv[1], "resting")) {
    src = written(bytes);
    dst = written(bytes);
    if (!src || !dst) gasnet_exit(1);
    measure_resting(bytes, REST_US);
    gasnet_exit(0);
  }
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (!bytes || strcmp(argv[1], kinds[i].name)) continue;
    src = written((kinds[i].all ? size : 1) * bytes);
    dst = written((kinds[i].all ? size : 1) * bytes);
    if (!src || !dst) {
      fprintf(stderr, "sim_check: no memory for blocks of %zu bytes\n", bytes);
      gasnet_exit(1);
    }
    measure(argv[1], bytes, kinds[i].one);
    gasnet_exit(0);
  }
  fprintf(stderr, "usage: sim_check broadcast|allreduce|exchange|resting BYTES [TIMES]\n");
  gasnet_exit(2);
}
