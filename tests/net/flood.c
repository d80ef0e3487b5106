/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 puts to rank 1 for so many seconds: `flood SECONDS`. It says when it begins and ends. */
#include <gasnetex.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PUT_BYTES = 1 << 20, AT_ONCE = 8 };

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
  static char src[PUT_BYTES];
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Segment_t segment;
  gex_Client_Init(&client, &ep, &tm, "flood", &argc, &argv, 0);
  gex_Segment_Attach(&segment, tm, PUT_BYTES);
  const double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
  void *to = NULL;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, 1, &to, NULL, NULL, 0));
  if (gex_TM_QueryRank(tm) == 0) {
    const double until = now_s() + seconds;
    puts("begins");
    fflush(stdout);
    while (now_s() < until) {
      for (int i = 0; i < AT_ONCE; i++)
        gex_RMA_PutNBI(tm, 1, to, src, sizeof src, GEX_EVENT_DEFER, 0);
      gex_NBI_Wait(GEX_EC_PUT, 0);
    }
    puts("ends");
    fflush(stdout);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  gasnet_exit(0);
  return 0;
}
