/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/*
 * What the text forbids, released programs do and nothing breaks: tables with functions that are
 * NULL, entries that say too little, unknown flags, negative colours, scratch memory of no size,
 * reductions of nothing, the same bytes as source and destination. Debug clients are warned at
 * most.
 */
#include <gasnet_coll.h>
#include <limits.h>

#include "job.h"

static volatile int heard;

static void on_hello(gex_Token_t token) {
  (void)token;
  heard++;
}
static void on_medium(gex_Token_t token, void *buf, size_t nbytes) {
  (void)token, (void)buf;
  heard += (int)nbytes;
}

/* The first entry is NULL with index 0, and must not lose its place to the next one. */
static gex_AM_Entry_t table[] = {{0, NULL, 0, 0, NULL, NULL},
                                 {0, (gex_AM_Fn_t)on_hello, 0, 0, NULL, NULL},
                                 {0, (gex_AM_Fn_t)on_medium, GEX_FLAG_AM_LONG, 0, NULL, NULL}};

static void handlers(void) {
  REQUIRE(gex_EP_RegisterHandlers(job.ep, table, 3) == GASNET_OK);
  CHECK_EQ(table[0].gex_index, 255);
  CHECK_EQ(table[1].gex_index, 254);
  CHECK_EQ(table[2].gex_index, 253);
  job_barrier();
  const gex_Rank_t to = (job.rank + 1) % job.size;
  gex_AM_RequestShort0(job.tm, to, table[1].gex_index, 0);
  gex_AM_RequestMedium0(job.tm, to, table[2].gex_index, "four", 4, GEX_EVENT_NOW, 0);
  GASNET_BLOCKUNTIL(heard == 5);
}

static void teams(void) {
  static const int colors[] = {-1, INT_MIN, 7};
  gex_TM_t tm = GEX_TM_INVALID;
  for (int i = 0; i < 3; i++) {
    const int color = job.rank % 2 ? colors[i] : colors[(i + 1) % 3];
    CHECK_EQ(gex_TM_Split(&tm, job.tm, color, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH), 1);
    CHECK_EQ(gex_TM_QuerySize(tm), (job.size + !(job.rank % 2)) / 2);
    gex_Coll_BarrierBlocking(tm, 0);
    gex_TM_Destroy(tm, NULL, 0);
  }
  CHECK_EQ(gex_TM_Split(&tm, job.tm, 0, 0, NULL, 0, 0), 1);
  gex_Coll_BarrierBlocking(tm, 0);
  gex_TM_Destroy(tm, NULL, 0);
}

static void data(void) {
  const gex_Flags_t unknown = 1u << 30;
  char *const own = job.base + 64;
  pattern_fill(own, 64, 3);
  CHECK_EQ(gex_RMA_PutBlocking(job.tm, job.rank, own, own, 64, 0), 0);
  CHECK_EQ(gex_RMA_GetBlocking(job.tm, own, job.rank, own, 64, unknown), 0);
  CHECK_BYTES(own, 64, 3);
  gex_NBI_Wait(GEX_EC_ALL | 1u << 20, 0);
  CHECK_EQ(gex_NBI_Test(0, 0), 0);
  int64_t sum = 5;
  gex_Event_Wait(gex_Coll_ReduceToAllNB(job.tm, &sum, &sum, GEX_DT_I64, sizeof sum, 0, GEX_OP_ADD,
                                        NULL, NULL, 0));
  CHECK_EQ(sum, 5);
  gex_Event_Wait(gex_Coll_BarrierNB(job.tm, unknown));
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, GASNET_PAGESIZE, NULL, 0);
  handlers();
  teams();
  data();
  return job_finish();
}
