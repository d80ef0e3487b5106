/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of a job on several hosts, to be compared with simulated ones by sim.py.
 *
 * Owns: nothing. Compiled by sim.py; not part of the build. Calls: the public API. Arguments: a
 * collective and its bytes. Prints the mean of some of them one after the other, each with the next
 * root, after one that is not counted, as `tombolo sim collective --warm 1 --times 8` does them:
 * from a barrier to the last rank's end. A job does one kind, so that windows of congestion control
 * are what that kind has made them. `resting`: broadcasts to ranks that sleep, one at a time, by
 * the clock that all ranks of a machine share.
 */
#define GASNET_SEQ 1
#include <gasnetex.h>

#include <gasnet_coll.h>
#include <tombolo/ext/ext_coll.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TIMES = 8, REST_US = 20000 };

static gex_TM_t tm;
static gex_Rank_t rank, size;
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

static void measure(const char *name, size_t bytes, void (*one)(size_t, int)) {
  one(bytes, 0); /* schedules are made, connections are warm */
  barrier();
  const double from = now_s();
  for (int i = 0; i < TIMES; i++) one(bytes, i);
  double took = now_s() - from, longest = 0;
  gex_Event_Wait(
      gex_Coll_ReduceToAllNB(tm, &longest, &took, GEX_DT_DBL, 8, 1, GEX_OP_MAX, NULL, NULL, 0));
  if (rank == 0) printf("ROW %s %zu %.9f\n", name, bytes, longest / TIMES);
  fflush(stdout);
}

/* Seconds from the root's start to the last rank's end of broadcasts, the mean of some: before each
 * the root rests, and all others wait, so that they sleep. */
static void measure_resting(size_t bytes, long rest_us) {
  double start[TIMES] = {0}, end[TIMES], first[TIMES], last[TIMES];
  broadcast(bytes, 0);
  for (int i = 0; i < TIMES; i++) {
    barrier();
    if ((gex_Rank_t)i % size == rank) {
      nanosleep(&(struct timespec){rest_us / 1000000, rest_us % 1000000 * 1000}, NULL);
      start[i] = now_s();
    }
    broadcast(bytes, i);
    end[i] = now_s();
  }
  gex_Event_Wait(
      gex_Coll_ReduceToAllNB(tm, first, start, GEX_DT_DBL, 8, TIMES, GEX_OP_MAX, NULL, NULL, 0));
  gex_Event_Wait(
      gex_Coll_ReduceToAllNB(tm, last, end, GEX_DT_DBL, 8, TIMES, GEX_OP_MAX, NULL, NULL, 0));
  double sum = 0;
  for (int i = 0; i < TIMES; i++) sum += last[i] - first[i];
  if (rank == 0) printf("ROW resting %zu %.9f\n", bytes, sum / TIMES);
  fflush(stdout);
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
  if (bytes && !strcmp(argv[1], "resting")) {
    src = calloc(1, bytes);
    dst = calloc(1, bytes);
    if (!src || !dst) gasnet_exit(1);
    measure_resting(bytes, REST_US);
    gasnet_exit(0);
  }
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (!bytes || strcmp(argv[1], kinds[i].name)) continue;
    src = calloc(kinds[i].all ? size : 1, bytes);
    dst = calloc(kinds[i].all ? size : 1, bytes);
    if (!src || !dst) {
      fprintf(stderr, "sim_check: no memory for blocks of %zu bytes\n", bytes);
      gasnet_exit(1);
    }
    measure(argv[1], bytes, kinds[i].one);
    gasnet_exit(0);
  }
  fprintf(stderr, "usage: sim_check broadcast|allreduce|exchange|resting BYTES\n");
  gasnet_exit(2);
}
