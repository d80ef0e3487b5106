/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives by hand: puts with signal from rank to rank, as a program without collectives writes
 * them.
 *
 * Owns: the job, its segment and words. Included by forms_gex.c and levels_gex.c, which define
 * HAND_RANKS_MAX and HAND_SLOT, the bytes of a slot. Calls: the public API. Slot s of a segment is
 * for rank s; words come first. Invariant: word w of rank r counts what rank w has put to r.
 */
#ifndef TMB_COMPARE_HAND_GEX_H
#define TMB_COMPARE_HAND_GEX_H

#include <gasnetex_ext.h>

#include <string.h>

static gex_TM_t tm;
static int rank, size;
static char *base[HAND_RANKS_MAX]; /* segment of each rank, in its own addresses */
static uint64_t sent[HAND_RANKS_MAX], had[HAND_RANKS_MAX];

static uint64_t *word(char *segment, int from) {
  return (uint64_t *)(void *)(segment + (size_t)from * 64);
}

static char *slot(char *segment, int from) {
  return segment + (size_t)HAND_RANKS_MAX * 64 + (size_t)from * HAND_SLOT;
}

/* Puts to byte `at` of this rank's slot at `to`. */
static void tell(int to, size_t at, const void *data, size_t bytes) {
  gexx_RMA_PutSignalBlocking(tm, (gex_Rank_t)to, slot(base[to], rank) + at, data, bytes,
                             GEX_EVENT_NOW, word(base[to], rank), GEXX_SIG_SET, ++sent[to], 0);
}

/* Waits for the next put of a rank. Returns its slot. */
static char *hear(int from) {
  (void)gexx_Signal_Wait(word(base[rank], from), GEXX_SIG_GE, ++had[from]);
  return slot(base[rank], from);
}

/* Starts the job and clears this rank's words and slots. */
static void hand_start(const char *name, int *argc, char ***argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  gex_Client_Init(&client, &ep, &tm, name, argc, argv, 0);
  rank = (int)gex_TM_QueryRank(tm);
  size = (int)gex_TM_QuerySize(tm);
  const size_t all = (size_t)HAND_RANKS_MAX * 64 + (size_t)size * HAND_SLOT;
  if (size > HAND_RANKS_MAX || gex_Segment_Attach(&segment, tm, all) != GASNET_OK) gasnet_exit(1);
  for (int r = 0; r < size; r++) {
    void *owner = NULL;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, (gex_Rank_t)r, &owner, NULL, NULL, 0));
    base[r] = owner;
  }
  memset(base[rank], 0, all);
}

#endif
