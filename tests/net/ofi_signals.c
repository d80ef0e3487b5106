/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 puts with a signal to rank 1: `ofi_signals COUNT BYTES [blocking]`. What that takes at the
 * network is counted by who starts it (ofi_test.py). A rank learns the key of a peer's segment by
 * its first access, in messages. So it gets a word before, and the second of two barriers behind
 * that cannot end before the key has come. */
#include "ofi_pair.h"

#include <stdbool.h>
#include <stdio.h>

enum { HEAD = 64 /* bytes before the data: the signal */, BYTES_MAX = 1 << 20 };

int main(int argc, char **argv) {
  const uint64_t count = pair_start("SIGNALS", &argc, &argv);
  const bool blocking = argc > 3 && strcmp(argv[3], "blocking") == 0;
  const size_t bytes = argc > 2 ? strtoull(argv[2], NULL, 10) : 8;
  if (bytes < 1 || bytes > BYTES_MAX) gasnet_exit(2);
  pair_attach(HEAD + bytes, HEAD + bytes, 1);
  if (gex_TM_QueryRank(tm) == 0) (void)gex_RMA_GetBlockingVal(tm, 1, owner, 8, 0);
  for (int i = 0; i < 2; i++) gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  if (gex_TM_QueryRank(tm) == 0) {
    static char src[BYTES_MAX];
    for (uint64_t i = 1; i <= count; i++) {
      memset(src, (int)(i & 0xff), bytes);
      uint64_t *const signal = (uint64_t *)(void *)owner;
      if (blocking)
        (void)gexx_RMA_PutSignalBlocking(tm, 1, owner + HEAD, src, bytes, GEX_EVENT_NOW, signal,
                                         GEXX_SIG_SET, i, 0);
      else
        gex_Event_Wait(gexx_RMA_PutSignalNB(tm, 1, owner + HEAD, src, bytes, GEX_EVENT_DEFER,
                                            signal, GEXX_SIG_SET, i, 0));
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
