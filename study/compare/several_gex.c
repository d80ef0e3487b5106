/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations of rank 0 to one other rank, and to three in turn, for study/compare/cells.py.
 *
 * Owns: the counter of its handlers. Compiled by cells.py; not part of the build. Calls: the public
 * API, spent.h. A line "KIND BYTES PEERS MEDIAN" has the processor time that rank 0 takes for one
 * operation, in microseconds: ranks that wait take processor time, too, so that of all ranks would
 * tell how many wait. The samples of one and of three peers take turns. Invariant: a sample ends
 * when all its operations are complete, or have come.
 */
#define GASNET_SEQ  1
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include <gasnetex_ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "spent.h"

enum { H_COME = 200, H_DATA, SAMPLES = 7, PEERS = 3, BYTES_MAX = 1 << 20 };
enum { PUT, SHORT, LONG };

static gex_TM_t tm;
static gex_Rank_t rank;
static char source[BYTES_MAX];
static void *place[PEERS + 1]; /* of each rank */
static volatile long come;
static long wanted;

static void on_come(gex_Token_t token) {
  (void)token;
  come++;
}
static void on_data(gex_Token_t token, void *data, size_t bytes) {
  (void)data, (void)bytes;
  on_come(token);
}

static void barrier(void) {
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

static void start(int kind, gex_Rank_t peer, size_t bytes) {
  if (kind == PUT)
    gex_RMA_PutNBI(tm, peer, place[peer], source, bytes, GEX_EVENT_DEFER, 0);
  else if (kind == SHORT)
    gex_AM_RequestShort0(tm, peer, H_COME, 0);
  else
    gex_AM_RequestLong0(tm, peer, H_DATA, source, bytes, place[peer], GEX_EVENT_NOW, 0);
}

/* n operations, to `peers` ranks in turn. Returns the processor time of one in us. */
static double sample(int kind, size_t bytes, gex_Rank_t peers, int n) {
  barrier();
  if (kind != PUT && rank && rank <= peers) wanted += n / (int)peers;
  const double begun = spent_so_far().seconds;
  for (int i = 0; rank == 0 && i < n; i++) start(kind, 1 + (gex_Rank_t)i % peers, bytes);
  gex_NBI_Wait(GEX_EC_ALL, 0);
  GASNET_BLOCKUNTIL(come == wanted);
  const double spent = spent_so_far().seconds - begun;
  barrier();
  return 1e6 * spent / n;
}

static void row(const char *name, int kind, size_t bytes, int n) {
  double us[2][SAMPLES];
  (void)sample(kind, bytes, PEERS, n);
  for (int i = 0; i < SAMPLES; i++)
    for (int k = 0; k < 2; k++) us[k][i] = sample(kind, bytes, k ? PEERS : 1, n);
  for (int k = 0; rank == 0 && k < 2; k++) {
    qsort(us[k], SAMPLES, sizeof **us, by_value);
    printf("%s %zu %d %.4f\n", name, bytes, k ? PEERS : 1, us[k][SAMPLES / 2]);
  }
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  gex_AM_Entry_t entry[] = {
      {H_COME, (gex_AM_Fn_t)on_come, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0, NULL, NULL},
      {H_DATA, (gex_AM_Fn_t)on_data, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 0, NULL, NULL}};
  gex_Client_Init(&client, &ep, &tm, "COMPARE", &argc, &argv, 0);
  gex_EP_RegisterHandlers(ep, entry, 2);
  rank = gex_TM_QueryRank(tm);
  gex_Segment_Attach(&segment, tm, BYTES_MAX);
  for (gex_Rank_t r = 0; r <= PEERS; r++)
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, r, &place[r], NULL, NULL, 0));
  memset(source, 1, sizeof source); /* its pages are there */
  memset(place[rank], 1, BYTES_MAX);
  row("put", PUT, 8, 30000);
  row("message", SHORT, 0, 30000);
  row("put", PUT, 65536, 900);
  row("long", LONG, BYTES_MAX, 60);
  barrier();
  gasnet_exit(0);
}
