/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * API 08: the GASNet-1 calls of a client that was initialised with gex_Client_Init and
 * GEX_FLAG_USES_GASNET1: objects before and after the segment, calls of both layers mixed.
 */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/* ranks: 1 2 3 */
#include <gasnet.h>

#include "check.h"

static volatile int got;
static void count_handler(gex_Token_t token, gex_AM_Arg_t amount) {
  gasnet_node_t from = GEX_RANK_INVALID;
  CHECK_EQ(gasnet_AMGetMsgSource(token, &from), GASNET_OK);
  gex_Token_Info_t info;
  CHECK(gex_Token_Info(token, &info, GEX_TI_SRCRANK) & GEX_TI_SRCRANK);
  CHECK_EQ(from, info.gex_srcrank);
  got += amount;
}

int main(int argc, char **argv) {
  gex_Client_t client, client2;
  gex_EP_t ep, ep2;
  gex_TM_t tm, tm2;
  gex_Segment_t segment, segment2;
  REQUIRE(gex_Client_Init(&client, &ep, &tm, "MIXED", &argc, &argv, GEX_FLAG_USES_GASNET1) ==
          GASNET_OK);
  check_set_rank(gasnet_mynode());
  CHECK_EQ(gex_Client_QueryFlags(client), GEX_FLAG_USES_GASNET1);
  segment2 = (gex_Segment_t)(uintptr_t)64;
  gasnet_QueryGexObjects(&client2, &ep2, &tm2, &segment2);
  CHECK(client2 == client && ep2 == ep && tm2 == tm && segment2 == GEX_SEGMENT_INVALID);

  gex_AM_Entry_t table[] = {
      {0, (gex_AM_Fn_t)count_handler, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP, 1, NULL, NULL}};
  REQUIRE(gex_EP_RegisterHandlers(ep, table, 1) == GASNET_OK);
  CHECK_EQ(table[0].gex_index, 255);
  gex_Coll_BarrierBlocking(tm, 0);
  const gasnet_node_t me = gasnet_mynode(), size = gasnet_nodes();
  CHECK_EQ(gasnet_AMRequestShort1((me + 1) % size, 255, 3), GASNET_OK);
  CHECK_EQ(gex_AM_RequestShort1(tm, (me + 1) % size, 255, 0, 4), 0);
  GASNET_BLOCKUNTIL(got >= 7);
  CHECK_EQ(got, 7);

  REQUIRE(gex_Segment_Attach(&segment, tm, 4 * GASNET_PAGESIZE) == GASNET_OK);
  gasnet_QueryGexObjects(NULL, NULL, NULL, &segment2);
  CHECK(segment2 == segment);
  void *there = NULL;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, (me + 1) % size, &there, NULL, NULL, 0));
  uint32_t word = me + 1;
  gasnet_handle_t handle = gasnet_put_nb((me + 1) % size, there, &word, sizeof word);
  gasnet_wait_syncnb(handle);
  gasnet_barrier_notify(3, 0);
  CHECK_EQ(gasnet_barrier_wait(3, 0), GASNET_OK);
  CHECK_EQ(*(uint32_t *)gex_Segment_QueryAddr(segment), (me + size - 1) % size + 1);
  CHECK_EQ(gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0), GASNET_ERR_NOT_INIT);
  if (check_done()) gasnet_exit(1);
  gex_Coll_BarrierBlocking(tm, 0);
  return 0;
}
