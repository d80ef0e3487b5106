/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The job of the programs that ofi_test.py and ofi_rails_test.py start: ranks 0 and 1 use each
 * other's segment.
 *
 * Owns: team, endpoint and addresses. Included by ofi_signals.c and ofi_stripes.c. Calls: the
 * public API only, because the scripts count the calls of the network that the program causes.
 */
#ifndef TMB_TEST_OFI_PAIR_H
#define TMB_TEST_OFI_PAIR_H

#include <gasnetex_ext.h>

#include <stdlib.h>
#include <string.h>

static gex_EP_t ep;
static gex_TM_t tm;
static char *mine, *owner; /* own segment; that of the other rank, as the other rank sees it */

/* Starts the job. Returns the first argument as a number, 1 without it. */
static uint64_t pair_start(const char *name, int *argc, char ***argv) {
  gex_Client_t client;
  gex_Client_Init(&client, &ep, &tm, name, argc, argv, 0);
  return *argc > 1 ? strtoull((*argv)[1], NULL, 10) : 1;
}

/* Attaches whole pages for `bytes`, clears the first `clear` of them, and finds the other segment.
 */
static void pair_attach(size_t bytes, size_t clear, gex_Rank_t other) {
  gex_Segment_t segment;
  void *address = NULL;
  const size_t pages = (bytes + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE;
  if (gex_Segment_Attach(&segment, tm, pages * GASNET_PAGESIZE) != GASNET_OK) gasnet_exit(1);
  mine = gex_Segment_QueryAddr(segment);
  memset(mine, 0, clear);
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, other, &address, NULL, NULL, 0));
  owner = address;
}

#endif
