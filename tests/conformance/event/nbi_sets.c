/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/*
 * API 03.6: the thread's implicit set: each category after operations of its own and of other
 * kinds, Test and Wait, LC of puts and messages, empty sets, masks, and many operations
 * outstanding.
 */
#include "job.h"

enum { COUNT = 2000, BYTES = 256 };

static char *source, *back;
static gex_AM_Index_t sink_index;
static volatile uint32_t sunk;

static void on_sink(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t i) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  CHECK_EQ(nbytes, BYTES);
  CHECK_BYTES(buf, nbytes, mix64(info.gex_srcrank * 10000 + (uint32_t)i));
  sunk++;
}

static gex_Rank_t target(unsigned i) {
  return (gex_Rank_t)((job.rank + i) % job.size);
}

static char *slot_of(unsigned i) {
  return job.peer[target(i)] + ((size_t)job.rank * COUNT + i) * BYTES;
}

static void finish(gex_EC_t mask, int wait) {
  if (wait) {
    gex_NBI_Wait(mask, 0);
  } else {
    int rc;
    while ((rc = gex_NBI_Test(mask, 0)) != GASNET_OK) {
      CHECK_EQ(rc, GASNET_ERR_NOT_READY);
      gasnet_AMPoll();
    }
  }
  CHECK_EQ(gex_NBI_Test(mask, 0), GASNET_OK);
}

static void empty_sets(void) {
  static const gex_EC_t masks[] = {GEX_EC_ALL,
                                   GEX_EC_GET,
                                   GEX_EC_PUT,
                                   GEX_EC_AM,
                                   GEX_EC_LC,
                                   GEX_EC_RMW,
                                   GEX_EC_GET | GEX_EC_PUT,
                                   GEX_EC_AM | GEX_EC_LC};
  for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
    CHECK_EQ(gex_NBI_Test(masks[i], 0), GASNET_OK);
    gex_NBI_Wait(masks[i], 0);
  }
}

static void fill(unsigned i, int round) {
  pattern_fill(source + i * BYTES, BYTES, mix64(job.rank * 10000 + i) + (unsigned)round);
}

/* lc_opt of put i: in round 0 the source stays, in round 1 it is known to be free after EC_LC, in
 * round 2 at once. */
static void put_all(int round) {
  gex_Event_t *const lc = round == 0   ? GEX_EVENT_DEFER
                          : round == 1 ? GEX_EVENT_GROUP
                                       : GEX_EVENT_NOW;
  for (unsigned i = 0; i < COUNT; i++) {
    fill(i, round);
    CHECK_EQ(gex_RMA_PutNBI(job.tm, target(i), slot_of(i), source + i * BYTES, BYTES, lc, 0), 0);
    if (round == 2) memset(source + i * BYTES, 0x47, BYTES);
  }
  if (round == 1) finish(GEX_EC_LC, 1);
  if (round == 1) memset(source, 0x48, (size_t)COUNT * BYTES);
  finish(round == 0 ? GEX_EC_PUT : GEX_EC_PUT | GEX_EC_LC, round % 2);
  memset(source, 0x49, (size_t)COUNT * BYTES);
}

static void get_all(int round, gex_EC_t mask) {
  memset(back, 0, (size_t)COUNT * BYTES);
  for (unsigned i = 0; i < COUNT; i++)
    CHECK_EQ(gex_RMA_GetNBI(job.tm, back + i * BYTES, target(i), slot_of(i), BYTES, 0), 0);
  finish(mask, round % 2);
  for (unsigned i = 0; i < COUNT; i++)
    CHECK_BYTES(back + i * BYTES, BYTES, mix64(job.rank * 10000 + i) + (unsigned)round);
}

static void messages(void) {
  for (unsigned i = 0; i < COUNT; i++) {
    fill(i, 0);
    CHECK_EQ(gex_AM_RequestMedium1(job.tm, target(i), sink_index, source + i * BYTES, BYTES,
                                   GEX_EVENT_GROUP, 0, i),
             0);
  }
  finish(GEX_EC_AM, 0);
  memset(source, 0x4a, (size_t)COUNT * BYTES);
  GASNET_BLOCKUNTIL(sunk >= COUNT);
  job_barrier();
  CHECK_EQ(sunk, COUNT);
}

/* Everything at once, one wait. */
static void mixture(void) {
  for (unsigned i = 0; i < COUNT; i += 2) {
    fill(i, 5);
    CHECK_EQ(gex_RMA_PutNBI(job.tm, target(i), slot_of(i), source + i * BYTES, BYTES,
                            GEX_EVENT_GROUP, 0),
             0);
    fill(i + 1, 5);
    CHECK_EQ(gex_RMA_PutBlocking(job.tm, target(i + 1), slot_of(i + 1), source + (i + 1) * BYTES,
                                 BYTES, 0),
             0);
    CHECK_EQ(
        gex_RMA_GetNBI(job.tm, back + (i + 1) * BYTES, target(i + 1), slot_of(i + 1), BYTES, 0), 0);
    CHECK_EQ(gex_RMA_PutNBIVal(job.tm, target(i),
                               job.peer[target(i)] + (size_t)COUNT * BYTES * job.size +
                                   8 * ((size_t)COUNT * job.rank + i),
                               i, 8, 0),
             0);
  }
  finish(GEX_EC_ALL, 1);
  for (unsigned i = 1; i < COUNT; i += 2)
    CHECK_BYTES(back + i * BYTES, BYTES, mix64(job.rank * 10000 + i) + 5);
  get_all(5, GEX_EC_ALL);
}

int main(int argc, char **argv) {
  gex_AM_Entry_t entry = {
      0, (gex_AM_Fn_t)on_sink, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1, NULL, "sink"};
  job_start(&argc, &argv, 0, &entry, 1);
  sink_index = entry.gex_index;
  job_attach((uintptr_t)COUNT * (BYTES + 8) * job.size);
  source = (char *)check_room(1, (size_t)COUNT * BYTES);
  back = (char *)check_room(1, (size_t)COUNT * BYTES);
  empty_sets();
  for (int round = 0; round < 3; round++) {
    put_all(round);
    get_all(round, GEX_EC_GET);
  }
  messages();
  mixture();
  empty_sets();
  return job_finish();
}
