/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 2 3 */
/* timeout: 60 */
/*
 * API 01.4, 01.8: a thread makes endpoints, binds segments and publishes them, while another puts
 * to and gets from segments that were there before, through the job's team and a smaller one.
 */
#include "job.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "threads.h"

enum { EPS = 8, BYTES = 1 << 16 };

static gex_TM_t reversed, publishers;
static atomic_bool over;

static void access_all(gex_TM_t tm, uint64_t value) {
  for (gex_Rank_t r = 0; r < job.size; r++) {
    char *const there = job.peer[gex_TM_TranslateRankToJobrank(tm, r)] + 8 * (job.rank + 1);
    uint64_t back = 0;
    CHECK_EQ(gex_RMA_PutBlocking(tm, r, there, &value, sizeof value, 0), 0);
    CHECK_EQ(gex_RMA_GetBlocking(tm, &back, r, there, sizeof back, 0), 0);
    CHECK_EQ(back, value);
  }
}

static void publish(void) {
  for (int i = 0; i < EPS; i++) {
    gex_EP_t ep = NULL;
    gex_Segment_t seg = GEX_SEGMENT_INVALID;
    REQUIRE(gex_EP_Create(&ep, job.client, GEX_EP_CAPABILITY_RMA, 0) == GASNET_OK);
    REQUIRE(gex_Segment_Create(&seg, job.client, NULL, BYTES, GEX_MK_HOST, 0) == GASNET_OK);
    REQUIRE(gex_EP_BindSegment(ep, seg, 0) == GASNET_OK);
    REQUIRE(gex_EP_PublishBoundSegment(publishers, &ep, 1, 0) == GASNET_OK);
  }
}

static void body(int id) {
  if (id == 0) {
    publish();
    over = true;
    return;
  }
  for (uint64_t value = 1; !over; value++) {
    access_all(job.tm, value);
    access_all(reversed, value);
  }
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, BYTES, NULL, 0);
  const int key = (int)(job.size - job.rank);
  (void)gex_TM_Split(&reversed, job.tm, 0, key, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  (void)gex_TM_Split(&publishers, job.tm, 0, (int)job.rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  run_threads(2, body);
  return job_finish();
}
