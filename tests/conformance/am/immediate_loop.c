/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 */
/* env: TOMBOLO_TEST_RING_SLOTS=64 */
/* again: TOMBOLO_TEST_SHM=0 */
/* again: TOMBOLO_PLACES=cyclic:3+TOMBOLO_CONDUIT=udp */
/* timeout: 60 */
/*
 * Clients that repeat an immediate call until it succeeds, and poll nowhere, go on although all
 * ranks do so at the same time (API 02.4): the call that is refused polls.
 */
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex_ext.h>

#include "job.h"

enum {
  TIMES = 600,
  BYTES = 520,
  AREA = 1 << 16,
  PLACE = 4096,
  KINDS = 10,
  NOW = GEX_FLAG_IMMEDIATE
};

static volatile unsigned came;
static gex_AM_Index_t short_index, data_index;
static gex_Event_t events[TIMES];
static gex_AD_t ad;
static char from[AREA];

static void on_short(gex_Token_t token) {
  (void)token;
  came++;
}

static void on_data(gex_Token_t token, void *buf, size_t nbytes) {
  (void)token;
  CHECK_BYTES(buf, nbytes, 5);
  came++;
}

/* Begins and ends a message with a buffer of the library; not 0: refused. */
static int prepared(gex_Rank_t to) {
  const gex_AM_SrcDesc_t sd =
      gex_AM_PrepareRequestMedium(job.tm, to, NULL, BYTES, BYTES, NULL, NOW, 0);
  if (sd == GEX_AM_SRCDESC_NO_OP) return 1;
  pattern_fill(gex_AM_SrcDescAddr(sd), BYTES, 5);
  gex_AM_CommitRequestMedium0(sd, data_index, BYTES);
  return 0;
}

/* One try of a kind of operation; not 0: refused. */
static int try_one(int what, gex_Rank_t to, int i) {
  char *const there = job.peer[to] + 64 + what * PLACE; /* kinds do not race with each other */
  const ptrdiff_t near_step = 16, far_step = 32;
  const size_t count = 100;
  switch (what) {
  case 0: return gex_AM_RequestShort0(job.tm, to, short_index, NOW);
  case 1: return gex_AM_RequestMedium0(job.tm, to, data_index, from, BYTES, GEX_EVENT_NOW, NOW);
  case 2:
    return gex_AM_RequestLong0(job.tm, to, data_index, from, BYTES, there, GEX_EVENT_NOW, NOW);
  case 3: return prepared(to);
  case 4: return gex_RMA_PutNBI(job.tm, to, there, from, BYTES, GEX_EVENT_DEFER, NOW);
  case 5: return gex_RMA_GetNBI(job.tm, from, to, there, BYTES, NOW);
  case 6:
    events[i] = gex_RMA_PutNB(job.tm, to, there, from, BYTES, GEX_EVENT_DEFER, NOW);
    return events[i] == GEX_EVENT_NO_OP;
  case 7: return gex_AD_OpNBI_U64(ad, NULL, to, job.peer[to], GEX_OP_ADD, 1, 0, NOW);
  case 8:
    return gex_VIS_StridedPutNBI(job.tm, to, there, &far_step, from, &near_step, 8, &count, 1, NOW);
  default:
    return gexx_RMA_PutSignalNBI(job.tm, to, there, from, BYTES, GEX_EVENT_DEFER,
                                 (uint64_t *)(void *)job.peer[to], GEXX_SIG_ADD, 1, NOW);
  }
}

static void repeat(int what) {
  const gex_Rank_t to = (job.rank + 1) % job.size;
  for (int i = 0; i < TIMES; i++) {
    while (try_one(what, to, i)) {}
  }
  if (what < 4) GASNET_BLOCKUNTIL(came >= (what + 1u) * TIMES);
  if (what == 6) gex_Event_WaitAll(events, TIMES, 0);
  gex_NBI_Wait(GEX_EC_ALL, 0);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, AREA, NULL, 0);
  memset(job.base, 0, AREA);
  pattern_fill(from, sizeof from, 5);
  short_index = job_handler((gex_AM_Fn_t)on_short, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0);
  data_index = job_handler((gex_AM_Fn_t)on_data, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 0);
  gex_AD_Create(&ad, job.tm, GEX_DT_U64, GEX_OP_ADD, 0);
  job_barrier();
  for (int what = 0; what < KINDS; what++) repeat(what);
  job_barrier();
  CHECK_EQ(gex_RMA_GetBlockingVal(job.tm, job.rank, job.base, 8, 0), 2 * TIMES);
  gex_AD_Destroy(ad);
  return job_finish();
}
