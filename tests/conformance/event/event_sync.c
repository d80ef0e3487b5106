/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/*
 * API 03.5: Test, Wait and their Some and All forms over arrays with INVALID entries in all places,
 * empty arrays, arrays that mix roots and leaves, and what they leave in the array.
 */
#include "job.h"

enum { COUNT = 40, BYTES = 64 };

static char source[COUNT * BYTES], back[COUNT * BYTES];

static gex_Rank_t target(int i) {
  return (gex_Rank_t)((job.rank + (unsigned)i) % job.size);
}

static char *slot_of(gex_Rank_t to, int i) {
  return job.peer[to] + ((size_t)job.rank * COUNT + (size_t)i) * BYTES;
}

/* Fills `ev` with puts or gets; every `skip`th entry stays INVALID. */
static void start(gex_Event_t *ev, int is_get, int skip) {
  if (is_get) memset(back, 0, sizeof back);
  for (int i = 0; i < COUNT; i++) {
    ev[i] = GEX_EVENT_INVALID;
    if (i % skip == skip - 1) continue;
    if (is_get)
      ev[i] = gex_RMA_GetNB(job.tm, back + i * BYTES, target(i), slot_of(target(i), i), BYTES, 0);
    else
      ev[i] = gex_RMA_PutNB(job.tm, target(i), slot_of(target(i), i), source + i * BYTES, BYTES,
                            GEX_EVENT_DEFER, 0);
    CHECK(ev[i] != GEX_EVENT_NO_OP);
  }
}

static int live(const gex_Event_t *ev) {
  int n = 0;
  for (int i = 0; i < COUNT; i++) n += ev[i] != GEX_EVENT_INVALID;
  return n;
}

static void check_back(int skip) {
  for (int i = 0; i < COUNT; i++)
    if (i % skip != skip - 1) CHECK_BYTES(back + i * BYTES, BYTES, job.rank * 1000 + (unsigned)i);
}

/* Retires all entries by the Some forms: each success makes progress visible in the array. */
static void by_some(gex_Event_t *ev, int wait) {
  for (int left = live(ev); left > 0;) {
    const int before = left;
    if (wait) {
      gex_Event_WaitSome(ev, COUNT, 0);
      left = live(ev);
      CHECK_CMP(left, <, before);
      continue;
    }
    const int rc = gex_Event_TestSome(ev, COUNT, 0);
    left = live(ev);
    if (rc == GASNET_OK)
      CHECK_CMP(left, <, before);
    else
      CHECK(rc == GASNET_ERR_NOT_READY && left == before);
    if (rc) gasnet_AMPoll();
  }
}

static void by_all(gex_Event_t *ev, int wait) {
  if (wait) {
    gex_Event_WaitAll(ev, COUNT, 0);
  } else {
    int rc;
    while ((rc = gex_Event_TestAll(ev, COUNT, 0)) != GASNET_OK) {
      CHECK_EQ(rc, GASNET_ERR_NOT_READY);
      CHECK_CMP(live(ev), >, 0);
      gasnet_AMPoll();
    }
  }
  CHECK_EQ(live(ev), 0);
}

static void by_one(gex_Event_t *ev, int wait) {
  for (int i = COUNT - 1; i >= 0; i--) job_sync(ev[i], wait);
}

static void empty_ones(void) {
  gex_Event_t none[3] = {GEX_EVENT_INVALID, GEX_EVENT_INVALID, GEX_EVENT_INVALID};
  CHECK_EQ(gex_Event_Test(GEX_EVENT_INVALID), GASNET_OK);
  gex_Event_Wait(GEX_EVENT_INVALID);
  for (size_t n = 0; n <= 3; n++) {
    CHECK_EQ(gex_Event_TestSome(none, n, 0), GASNET_OK);
    CHECK_EQ(gex_Event_TestAll(none, n, 0), GASNET_OK);
    gex_Event_WaitSome(none, n, 0);
    gex_Event_WaitAll(none, n, 0);
  }
  CHECK_EQ(gex_Event_TestAll(NULL, 0, 0), GASNET_OK);
  CHECK_EQ(gex_Event_TestSome(NULL, 0, 0), GASNET_OK);
  gex_Event_WaitAll(NULL, 0, 0);
  for (int i = 0; i < 3; i++) CHECK_PTR(none[i], GEX_EVENT_INVALID);
}

/* Root and leaf in one array, either order, sometimes the leaf alone first. */
static void mixed_arrays(void) {
  for (int round = 0; round < 30; round++) {
    gex_Event_t ev[2 * COUNT];
    for (int i = 0; i < COUNT; i++) {
      gex_Event_t leaf = GEX_EVENT_NO_OP;
      const gex_Event_t root = gex_RMA_PutNB(job.tm, target(i), slot_of(target(i), i),
                                             source + i * BYTES, BYTES, &leaf, 0);
      CHECK(root != GEX_EVENT_NO_OP && leaf != GEX_EVENT_NO_OP);
      ev[2 * i + (i + round) % 2] = root;
      ev[2 * i + 1 - (i + round) % 2] = leaf;
    }
    if (round % 3 == 0) {
      gex_Event_WaitAll(ev, 2 * COUNT, 0);
    } else if (round % 3 == 1) {
      while (gex_Event_TestAll(ev, 2 * COUNT, 0) != GASNET_OK) gasnet_AMPoll();
    } else {
      int left = 1;
      while (left) {
        gex_Event_WaitSome(ev, 2 * COUNT, 0);
        left = live(ev) + live(ev + COUNT);
      }
    }
    CHECK_EQ(live(ev) + live(ev + COUNT), 0);
  }
}

int main(int argc, char **argv) {
  static void (*const waits[])(gex_Event_t *, int) = {by_one, by_some, by_all};
  job_start(&argc, &argv, 0, NULL, 0);
  job_attach((uintptr_t)COUNT * BYTES * job.size);
  empty_ones();
  for (int i = 0; i < COUNT; i++)
    pattern_fill(source + i * BYTES, BYTES, job.rank * 1000 + (unsigned)i);
  for (int skip = 2; skip <= COUNT + 1; skip += 13)
    for (int round = 0; round < 6; round++) {
      gex_Event_t ev[COUNT];
      start(ev, 0, skip);
      waits[round / 2](ev, round % 2);
      start(ev, 1, skip);
      waits[(round / 2 + 1) % 3](ev, round % 2);
      check_back(skip);
    }
  mixed_arrays();
  return job_finish();
}
