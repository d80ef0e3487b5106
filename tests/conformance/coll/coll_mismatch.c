/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 5 */
/* debug: yes */
/* cases: length root kind type operator order longer team ends */
/* again: TOMBOLO_TEST_COLL_BOARD_MAX=0 TOMBOLO_PLACES=2+TOMBOLO_CONDUIT=loop */
/* launch: --timeout 20 */
/* expect: fail */
/* match: all.ranks.must.make.the.same.calls */
/*
 * One rank of a team calls another collective, or passes another argument, than the others: a debug
 * job says so and ends, whether the data would go over shared memory or as messages, also when the
 * ranks are on different hosts.
 */
#include "check.h"

#include <gasnetex_ext.h>

#include <stdbool.h>
#include <string.h>

enum { MANY = 100000 };

static uint64_t in[MANY], out[MANY];

static void reduce(gex_TM_t tm, gex_DT_t dt, gex_OP_t op) {
  gex_Event_Wait(gex_Coll_ReduceToAllNB(tm, out, in, dt, 8, 4, op, NULL, NULL, 0));
}

static void broadcast(gex_TM_t tm, gex_Rank_t root, size_t bytes) {
  gex_Event_Wait(gex_Coll_BroadcastNB(tm, root, out, in, bytes, 0));
}

static void wrong(const char *what, gex_TM_t tm, bool odd) {
  if (!strcmp(what, "length")) broadcast(tm, 0, odd ? 16 : 24);
  if (!strcmp(what, "longer")) broadcast(tm, 0, odd ? 16 : sizeof in);
  if (!strcmp(what, "root")) broadcast(tm, odd, 8);
  if (!strcmp(what, "type")) reduce(tm, odd ? GEX_DT_U64 : GEX_DT_I64, GEX_OP_ADD);
  if (!strcmp(what, "operator")) reduce(tm, GEX_DT_U64, odd ? GEX_OP_MIN : GEX_OP_MAX);
  if (!strcmp(what, "kind")) {
    if (odd)
      broadcast(tm, 0, 32);
    else
      reduce(tm, GEX_DT_U64, GEX_OP_ADD);
  }
  if (!strcmp(what, "order")) {
    broadcast(tm, 0, odd ? 8 : 16);
    broadcast(tm, 0, odd ? 16 : 8);
  }
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm, dup;
  REQUIRE(gex_Client_Init(&client, &ep, &tm, "MISMATCH", &argc, &argv, 0) == GASNET_OK);
  const bool odd = gex_TM_QueryRank(tm) + 1 == gex_TM_QuerySize(tm);
  for (size_t i = 0; i < 50; i++) broadcast(tm, 0, 8 * i);
  if (!strcmp(argv[1], "team")) {
    (void)gex_TM_Dup(&dup, tm, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    wrong("length", dup, odd);
  } else if (!strcmp(argv[1], "ends")) {
    /* Nobody waits: the end of the team does. */
    const gex_Event_t event = gex_Coll_BroadcastNB(tm, 0, out, in, odd ? 8 : 16, 0);
    CHECK(event != GEX_EVENT_NO_OP);
  } else {
    wrong(argv[1], tm, odd);
  }
  gex_Coll_BarrierBlocking(tm, 0);
  gasnet_AMPoll(); /* a barrier may be through without */
  gex_Coll_BarrierBlocking(tm, 0);
  gasnet_exit(0);
}
