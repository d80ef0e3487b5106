/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 puts with a signal to rank 1: `ofi_signals COUNT BYTES [blocking]`. What that takes at the
 * network is counted by who starts it (ofi_test.py). A rank learns the key of a peer's segment by
 * its first access, in messages. So it gets a word before, and the second of two barriers behind
 * that cannot end before the key has come. */
#include <gasnetex_ext.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 64 /* bytes before the data: the signal */, BYTES_MAX = 1 << 20 };

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Segment_t segment;
  gex_Client_Init(&client, &ep, &tm, "SIGNALS", &argc, &argv, 0);
  const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  const bool blocking = argc > 3 && strcmp(argv[3], "blocking") == 0;
  const size_t bytes = argc > 2 ? strtoull(argv[2], NULL, 10) : 8;
  if (bytes < 1 || bytes > BYTES_MAX) gasnet_exit(2);
  const size_t pages = (HEAD + bytes + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE;
  if (gex_Segment_Attach(&segment, tm, pages * GASNET_PAGESIZE) != GASNET_OK) gasnet_exit(1);
  char *const mine = gex_Segment_QueryAddr(segment);
  memset(mine, 0, HEAD + bytes);
  void *owner = NULL;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, 1, &owner, NULL, NULL, 0));
  if (gex_TM_QueryRank(tm) == 0) (void)gex_RMA_GetBlockingVal(tm, 1, owner, 8, 0);
  for (int i = 0; i < 2; i++) gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  if (gex_TM_QueryRank(tm) == 0) {
    static char src[BYTES_MAX];
    char *const to = owner;
    for (uint64_t i = 1; i <= count; i++) {
      memset(src, (int)(i & 0xff), bytes);
      uint64_t *const signal = (uint64_t *)(void *)to;
      if (blocking)
        (void)gexx_RMA_PutSignalBlocking(tm, 1, to + HEAD, src, bytes, GEX_EVENT_NOW, signal,
                                         GEXX_SIG_SET, i, 0);
      else
        gex_Event_Wait(gexx_RMA_PutSignalNB(tm, 1, to + HEAD, src, bytes, GEX_EVENT_DEFER, signal,
                                            GEXX_SIG_SET, i, 0));
    }
  } else if (gex_TM_QueryRank(tm) == 1) {
    (void)gexx_Signal_Wait((uint64_t *)(void *)mine, GEXX_SIG_GE, count);
    if ((unsigned char)mine[HEAD] != (count & 0xff) ||
        (unsigned char)mine[HEAD + bytes - 1] != (count & 0xff)) {
      fputs("the data are not there\n", stderr);
      gasnet_exit(1);
    }
  }
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  gasnet_exit(0);
  return 0;
}
