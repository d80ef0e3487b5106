/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 1 2 3 */
/* again: TOMBOLO_TEST_SHM=0 TMB_DEVICE=cuda TMB_DEVICE=cuda+TOMBOLO_TEST_MK_PEER=0 */
/* timeout: 60 */
/*
 * API 07.3: device memory used by many threads of every rank at once.
 */
#include "job.h"
#include "mk_dev.h"
#include "threads.h"

enum { THREADS = 6, ROUNDS = 25, BYTES = 70000 };

static gex_TM_t to_device, from_device;
static char **base;
static char *out, *in;

static void body(int id) {
  char *const src = out + (size_t)id * BYTES, *const dst = in + (size_t)id * BYTES;
  for (int k = 0; k < ROUNDS; k++) {
    const gex_Rank_t r = (gex_Rank_t)((job.rank + (unsigned)(id + k)) % job.size);
    const uint64_t seed = mix64((unsigned)(id * 1000 + k) + job.rank * 65536);
    const size_t n = 1 + (size_t)(seed % BYTES);
    char *const slot = base[r] + ((size_t)job.rank * THREADS + (size_t)id) * BYTES;
    pattern_fill(src, n, seed);
    CHECK_EQ(gex_RMA_PutNBI(to_device, r, slot, src, n, GEX_EVENT_DEFER, 0), 0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
    /* Inside the device world: from that slot to a slot here, then out again. */
    char *const mine = base[job.rank] + ((size_t)job.size * THREADS + (size_t)id) * BYTES;
    CHECK_EQ(gex_RMA_GetBlocking(from_device, mine, r, slot, n, 0), 0);
    gex_Event_Wait(gex_RMA_GetNB(to_device, dst, job.rank, mine, n, 0));
    CHECK_BYTES(dst, n, seed);
  }
}

int main(int argc, char **argv) {
  gex_EP_t ep = GEX_EP_INVALID;
  gex_Segment_t seg = GEX_SEGMENT_INVALID;
  dev_select();
  job_start(&argc, &argv, 65536, NULL, 0);
  REQUIRE(gex_EP_Create(&ep, job.client, GEX_EP_CAPABILITY_RMA, 0) == GASNET_OK);
  REQUIRE(gex_Segment_Create(&seg, job.client, NULL, (uintptr_t)(job.size + 1) * THREADS * BYTES,
                             dev_kind(job.client, 0), 0) == GASNET_OK);
  REQUIRE(gex_EP_BindSegment(ep, seg, 0) == GASNET_OK);
  REQUIRE(gex_EP_PublishBoundSegment(job.tm, &ep, 1, 0) == GASNET_OK);
  to_device = gex_TM_Pair(job.ep, gex_EP_QueryIndex(ep));
  from_device = gex_TM_Pair(ep, gex_EP_QueryIndex(ep));
  base = (char **)calloc(job.size, sizeof *base);
  out = (char *)calloc(THREADS, BYTES);
  in = (char *)calloc(THREADS, BYTES);
  if (!base || !out || !in) check_abandon();
  for (gex_Rank_t r = 0; r < job.size; r++) {
    void *owner = NULL;
    REQUIRE(gex_Segment_QueryBound(to_device, r, &owner, NULL, NULL) == 0);
    base[r] = (char *)owner;
  }
  run_threads(THREADS, body);
  return job_finish();
}
