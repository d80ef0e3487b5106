/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of a job on several hosts, to be compared with simulated ones by sim.py.
 *
 * Owns: nothing. Compiled by sim.py; not part of the build. Calls: the public API. Each row is the
 * mean of some collectives one after the other, each with the next root, as `tombolo sim collective
 * --times` does them: from a barrier to the last rank's end.
 */
#define GASNET_SEQ 1
#include <gasnetex.h>

#include <gasnet_coll.h>
#include <tombolo/ext_coll.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TIMES = 8, BLOCK_MAX = 65536 };

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

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  if (gex_Client_Init(&client, &ep, &tm, "SIM", &argc, &argv, 0)) return 1;
  rank = gex_TM_QueryRank(tm);
  size = gex_TM_QuerySize(tm);
  src = calloc(size, BLOCK_MAX);
  dst = calloc(size, BLOCK_MAX);
  if (!src || !dst) {
    fprintf(stderr, "sim_check: no memory for %u blocks of %d bytes\n", size, BLOCK_MAX);
    gasnet_exit(1);
  }
  measure("broadcast", 8, broadcast);
  measure("broadcast", 8192, broadcast);
  measure("broadcast", 65536, broadcast);
  measure("allreduce", 8, allreduce);
  measure("allreduce", 32768, allreduce);
  measure("exchange", 512, exchange);
  measure("exchange", 16384, exchange);
  barrier();
  gasnet_exit(0);
}
