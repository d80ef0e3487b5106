/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/*
 * API 03.6: access regions: empty, mixed, with explicit events inside and implicit ones outside,
 * leaves by category, several region events outstanding at once and synced in another order.
 */
#include "job.h"

enum { COUNT = 300, BYTES = 128, REGIONS = 8 };

static char *source, *back;
static gex_AM_Index_t sink_index;
static volatile uint32_t sunk;

static void on_sink(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed) {
  (void)token;
  CHECK_EQ(nbytes, BYTES);
  CHECK_BYTES(buf, nbytes, (uint32_t)seed);
  sunk++;
}

static gex_Rank_t target(unsigned i) {
  return (gex_Rank_t)((job.rank + i) % job.size);
}

static size_t place(unsigned region, unsigned i) {
  return ((size_t)region * COUNT + i) * BYTES;
}

static char *slot_of(unsigned region, unsigned i) {
  return job.peer[target(i)] + (size_t)job.rank * REGIONS * COUNT * BYTES + place(region, i);
}

static uint32_t seed_of(unsigned region, unsigned i) {
  return (uint32_t)mix64(job.rank * 100000 + region * COUNT + i);
}

static void empty_region(void) {
  gex_NBI_BeginAccessRegion(0);
  const gex_Event_t ev = gex_NBI_EndAccessRegion(0);
  CHECK_PTR(ev, GEX_EVENT_INVALID);
}

static gex_Event_t put_region(unsigned region, gex_Event_t *lc) {
  gex_NBI_BeginAccessRegion(0);
  for (unsigned i = 0; i < COUNT; i++) {
    char *const src = source + place(region, i);
    pattern_fill(src, BYTES, seed_of(region, i));
    CHECK_EQ(gex_RMA_PutNBI(job.tm, target(i), slot_of(region, i), src, BYTES, lc, 0), 0);
  }
  const gex_Event_t ev = gex_NBI_EndAccessRegion(0);
  CHECK(ev != GEX_EVENT_NO_OP);
  return ev;
}

static gex_Event_t get_region(unsigned region) {
  gex_NBI_BeginAccessRegion(0);
  for (unsigned i = 0; i < COUNT; i++)
    CHECK_EQ(
        gex_RMA_GetNBI(job.tm, back + place(region, i), target(i), slot_of(region, i), BYTES, 0),
        0);
  return gex_NBI_EndAccessRegion(0);
}

static void check_region(unsigned region) {
  for (unsigned i = 0; i < COUNT; i++)
    CHECK_BYTES(back + place(region, i), BYTES, seed_of(region, i));
}

static void several(void) {
  gex_Event_t ev[REGIONS];
  memset(back, 0, (size_t)REGIONS * COUNT * BYTES);
  for (unsigned r = 0; r < REGIONS; r++) ev[r] = put_region(r, GEX_EVENT_DEFER);
  CHECK_EQ(gex_NBI_Test(GEX_EC_ALL, 0), GASNET_OK); /* the thread's own set stayed empty */
  for (unsigned r = REGIONS; r-- > 0;) gex_Event_Wait(ev[r]);
  memset(source, 0x21, (size_t)REGIONS * COUNT * BYTES);
  for (unsigned r = 0; r < REGIONS; r++) ev[r] = get_region(r);
  CHECK_EQ(gex_NBI_Test(GEX_EC_ALL, 0), GASNET_OK);
  gex_Event_WaitAll(ev, REGIONS, 0);
  for (unsigned r = 0; r < REGIONS; r++) check_region(r);
}

static void leaves(void) {
  static const gex_EC_t one[] = {GEX_EC_LC, GEX_EC_PUT, GEX_EC_GET, GEX_EC_RMW, GEX_EC_AM};
  const gex_Event_t root = put_region(0, GEX_EVENT_GROUP);
  const gex_Event_t lc = gex_Event_QueryLeaf(root, GEX_EC_LC);
  CHECK(lc != GEX_EVENT_NO_OP);
  gex_Event_Wait(lc);
  memset(source, 0x22, COUNT * BYTES);
  if (root != GEX_EVENT_INVALID) {
    for (int i = 1; i < 5; i++) gex_Event_Wait(gex_Event_QueryLeaf(root, one[i]));
    CHECK_PTR(gex_Event_QueryLeaf(root, GEX_EC_PUT), gex_Event_QueryLeaf(root, GEX_EC_PUT));
  }
  gex_Event_Wait(root);
  const gex_Event_t got = get_region(0);
  gex_Event_Wait(gex_Event_QueryLeaf(got, GEX_EC_GET));
  check_region(0);
  gex_Event_Wait(got);
}

/* Inside: NB put and message group; outside before and after: NBI puts of the thread's set. */
static void inside_and_outside(void) {
  pattern_fill(source, BYTES, 1);
  CHECK_EQ(gex_RMA_PutNBI(job.tm, target(1), slot_of(1, 1), source, BYTES, GEX_EVENT_DEFER, 0), 0);
  gex_NBI_BeginAccessRegion(0);
  char *const explicit_src = source + BYTES;
  pattern_fill(explicit_src, BYTES, 2);
  const gex_Event_t ev =
      gex_RMA_PutNB(job.tm, target(2), slot_of(1, 2), explicit_src, BYTES, GEX_EVENT_NOW, 0);
  CHECK(ev != GEX_EVENT_NO_OP);
  char *const msg = source + 2 * BYTES;
  pattern_fill(msg, BYTES, 3);
  const gex_Rank_t next = (job.rank + 1) % job.size;
  CHECK_EQ(gex_AM_RequestMedium1(job.tm, next, sink_index, msg, BYTES, GEX_EVENT_GROUP, 0, 3), 0);
  gex_Event_Wait(ev); /* legal inside: explicit */
  CHECK_EQ(gex_RMA_PutNBIVal(job.tm, target(3), slot_of(1, 3), 77, 8, 0), 0);
  const gex_Event_t region = gex_NBI_EndAccessRegion(0);
  gex_Event_Wait(region);
  memset(msg, 0x23, BYTES);
  CHECK_EQ(gex_RMA_GetBlockingVal(job.tm, target(3), slot_of(1, 3), 8, 0), 77);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  CHECK_EQ(gex_RMA_GetBlocking(job.tm, back, target(1), slot_of(1, 1), BYTES, 0), 0);
  CHECK_BYTES(back, BYTES, 1);
  CHECK_EQ(gex_RMA_GetBlocking(job.tm, back, target(2), slot_of(1, 2), BYTES, 0), 0);
  CHECK_BYTES(back, BYTES, 2);
}

int main(int argc, char **argv) {
  gex_AM_Entry_t entry = {
      0, (gex_AM_Fn_t)on_sink, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1, NULL, "sink"};
  job_start(&argc, &argv, 0, &entry, 1);
  sink_index = entry.gex_index;
  const size_t all = (size_t)REGIONS * COUNT * BYTES;
  job_attach(all * job.size);
  source = (char *)check_room(1, all);
  back = (char *)check_room(1, all);
  for (int round = 0; round < 5; round++) {
    empty_region();
    several();
    leaves();
    inside_and_outside();
  }
  GASNET_BLOCKUNTIL(sunk == 5);
  CHECK_EQ(gex_NBI_Test(GEX_EC_ALL, 0), GASNET_OK);
  return job_finish();
}
