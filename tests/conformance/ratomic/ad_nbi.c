/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 */
/* env: TOMBOLO_TEST_SHM=0 */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/* timeout: 60 */
/*
 * API 05.4, 03.6: the category that reports each implicit operation, and immediate operations, seen
 * while the target does not poll.
 */
#include "ad_model.h"

#include <stdlib.h>
#include <string.h>

enum { SPARE = 100000 };

static gex_AD_t ad;

static gex_EC_t category_of(gex_OP_t op) {
  return op == GEX_OP_SET ? GEX_EC_PUT : op == GEX_OP_GET ? GEX_EC_GET : GEX_EC_RMW;
}

/* Rank 1 sleeps outside the library until rank 0 has looked. */
static void check_category(gex_OP_t op) {
  static const gex_EC_t all[] = {GEX_EC_PUT, GEX_EC_GET, GEX_EC_RMW, GEX_EC_AM};
  uint64_t result = 0;
  job_barrier();
  oob_meet();
  if (job.rank == 0) {
    CHECK_EQ(ad_call(ad, &result, 1, job.peer[1], op, 5, 6, 0, NULL), 0);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
      CHECK_EQ(gex_NBI_Test(all[i], 0) == GASNET_OK, all[i] != category_of(op));
    oob_send(1, 1);
    gex_NBI_Wait(category_of(op), 0);
    CHECK_EQ(gex_NBI_Test(GEX_EC_ALL, 0), GASNET_OK);
  } else if (job.rank == 1) {
    CHECK_EQ(oob_wait(20000), 1);
  }
  job_barrier();
}

/* Events of unanswered operations are live, and complete once the target polls. */
static void check_live(void) {
  uint64_t result = 99;
  gex_Event_t event = GEX_EVENT_INVALID;
  job_barrier();
  if (job.rank == 0) (void)ad_do(ad, 1, job.peer[1], GEX_OP_SET, 5, 0, 0);
  job_barrier();
  oob_meet();
  if (job.rank == 0) {
    CHECK_EQ(ad_call(ad, &result, 1, job.peer[1], GEX_OP_FADD, 1, 0, 0, &event), 0);
    CHECK(event != GEX_EVENT_INVALID && event != GEX_EVENT_NO_OP);
    CHECK_CMP(gex_Event_Test(event), !=, GASNET_OK);
    oob_send(1, 1);
    gex_Event_Wait(event);
    CHECK_EQ(result, 5);
  } else if (job.rank == 1) {
    CHECK_EQ(oob_wait(20000), 1);
  }
  job_barrier();
}

/* Immediate operations are refused when the target takes nothing more; what was accepted is done.
 */
static void check_immediate(void) {
  uint64_t taken = 0;
  job_barrier();
  if (job.rank == 0) (void)ad_do(ad, 1, job.peer[1], GEX_OP_SET, 0, 0, 0);
  job_barrier();
  oob_meet();
  if (job.rank == 0) {
    while (taken < SPARE &&
           !ad_call(ad, NULL, 1, job.peer[1], GEX_OP_INC, 0, 0, GEX_FLAG_IMMEDIATE, NULL))
      taken++;
    gex_Event_t event = GEX_EVENT_INVALID;
    CHECK(taken > 0 && taken < SPARE);
    CHECK(ad_call(ad, NULL, 1, job.peer[1], GEX_OP_INC, 0, 0, GEX_FLAG_IMMEDIATE, &event));
    CHECK_PTR(event, GEX_EVENT_NO_OP);
    oob_send(1, 1);
    gex_NBI_Wait(GEX_EC_RMW, 0);
    CHECK_EQ(ad_do(ad, 1, job.peer[1], GEX_OP_GET, 0, 0, 0), taken);
  } else if (job.rank == 1) {
    CHECK_EQ(oob_wait(20000), 1);
  }
  job_barrier();
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 65536, NULL, 0);
  const char *conduit = getenv("TOMBOLO_CONDUIT");
  if (conduit && (!strcmp(conduit, "udp") || !strcmp(conduit, "ofi")))
    gasnet_exit(77); /* they need no poll: computing.c */
  oob_open();
  gex_AD_Create(&ad, job.tm, GEX_DT_U64, ad_ops_of(GEX_DT_U64), 0);
  for (int bit = 0; bit < 29; bit++)
    if (ad_ops_of(GEX_DT_U64) >> bit & 1) check_category(1u << bit);
  check_live();
  check_immediate();
  job_barrier();
  gex_AD_Destroy(ad);
  return job_finish();
}
