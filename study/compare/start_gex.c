/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program whose start `start.py` measures: initialises, attaches 1 MiB, passes a barrier, ends.
 *
 * Owns: nothing. Calls: the public API. Modes (the first argument): none: as said. phases: each
 * rank also prints when it was where, "at RANK MAIN INITIALISED ATTACHED PASSED" in nanoseconds of
 * the monotonic clock, which is one for all hosts of a lab. memory: each rank prints what it needs,
 * "memory KIB", while all are there. nothing: ends as soon as main runs.
 */
#include "lib/memory.h"

#include <gasnetex.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

#define SEGMENT_BYTES (1 << 20)

static unsigned long long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (unsigned long long)t.tv_sec * 1000000000 + (unsigned long long)t.tv_nsec;
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  unsigned long long at[4] = {now_ns()};
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Segment_t segment;
  if (strcmp(mode, "nothing") == 0) return 0;
  if (gex_Client_Init(&client, &ep, &tm, "start", &argc, &argv, 0) != GASNET_OK) return 1;
  at[1] = now_ns();
  if (gex_Segment_Attach(&segment, tm, SEGMENT_BYTES) != GASNET_OK) gasnet_exit(1);
  at[2] = now_ns();
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  at[3] = now_ns();
  if (strcmp(mode, "phases") == 0)
    printf("at %u %llu %llu %llu %llu\n", (unsigned)gex_TM_QueryRank(tm), at[0], at[1], at[2],
           at[3]);
  if (strcmp(mode, "memory") == 0) {
    printf("memory %lu\n", memory_pss_kib());
    gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  }
  gasnet_exit(0);
}
