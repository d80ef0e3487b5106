/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/*
 * API 03.4, 03.5: leaf events: from lc_opt and from QueryLeaf, synced, ignored, or never asked for;
 * a source changed after its leaf does not change what arrives; many events outstanding.
 */
#include "job.h"

enum { BYTES = 5000, ROUNDS = 300, MANY = 20000 };

static char source[BYTES], back[BYTES];

static gex_Rank_t target(int i) {
  return (gex_Rank_t)((job.rank + (unsigned)i) % job.size);
}

static char *area(gex_Rank_t to) {
  return job.peer[to] + (size_t)job.rank * BYTES;
}

static void poll_until(gex_Event_t ev) {
  int rc;
  while ((rc = gex_Event_Test(ev)) != GASNET_OK) {
    CHECK_EQ(rc, GASNET_ERR_NOT_READY);
    gasnet_AMPoll();
  }
}

static void one(int i) {
  const gex_Rank_t to = target(i);
  const size_t n = 1 + mix64((unsigned)i) % BYTES;
  const uint64_t seed = mix64(job.rank * 1000 + (unsigned)i);
  gex_Event_t leaf = GEX_EVENT_NO_OP;
  pattern_fill(source, n, seed);
  const gex_Event_t root = gex_RMA_PutNB(job.tm, to, area(to), source, n, &leaf, 0);
  CHECK(root != GEX_EVENT_NO_OP && leaf != GEX_EVENT_NO_OP);
  const gex_Event_t asked = gex_Event_QueryLeaf(root, GEX_EC_LC);
  CHECK(asked != GEX_EVENT_NO_OP);
  if (root != GEX_EVENT_INVALID && leaf != GEX_EVENT_INVALID) {
    CHECK_PTR(asked, leaf);
    CHECK_PTR(gex_Event_QueryLeaf(root, GEX_EC_LC), asked);
  }
  switch (i % 5) {
  case 0: gex_Event_Wait(leaf); break;
  case 1: poll_until(leaf); break;
  case 2: gex_Event_Wait(asked); break;
  case 3:
    if (asked == GEX_EVENT_INVALID) poll_until(asked);
    break;
  default: break;
  }
  if (i % 5 < 3) memset(source, 0x99, n); /* known to be ours again */
  if (i % 2)
    gex_Event_Wait(root);
  else
    poll_until(root);
  memset(source, 0x99, n);
  CHECK_EQ(gex_RMA_GetBlocking(job.tm, back, to, area(to), n, 0), 0);
  CHECK_BYTES(back, n, seed);
}

static void of_invalid(void) {
  CHECK_PTR(gex_Event_QueryLeaf(GEX_EVENT_INVALID, GEX_EC_LC), GEX_EVENT_INVALID);
  CHECK_PTR(gex_Event_QueryLeaf(GEX_EVENT_INVALID, GEX_EC_PUT), GEX_EVENT_INVALID);
}

/* Heap-bounded: far more live events than any fixed table would hold, each with a leaf that nobody
 * syncs. */
static void many(void) {
  static gex_Event_t ev[MANY];
  static uint64_t value[MANY];
  char *const dest = job.peer[target(1)] + 2 * BYTES * (job.size + 1) + (size_t)8 * MANY * job.rank;
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < MANY; i++) {
      gex_Event_t leaf;
      value[i] = (uint64_t)i;
      ev[i] = gex_RMA_PutNB(job.tm, target(1), dest + 8 * i, &value[i], 8, &leaf, 0);
      CHECK(ev[i] != GEX_EVENT_NO_OP);
    }
    for (int i = 0; i < MANY; i++) gex_Event_Wait(ev[(i + MANY / 2) % MANY]);
    CHECK_EQ(gex_RMA_GetBlockingVal(job.tm, target(1), dest + 8 * (MANY - 1), 8, 0), MANY - 1);
  }
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  job_attach((uintptr_t)2 * BYTES * (job.size + 1) + (uintptr_t)8 * MANY * job.size);
  of_invalid();
  for (int i = 0; i < ROUNDS; i++) one(i);
  many();
  return job_finish();
}
