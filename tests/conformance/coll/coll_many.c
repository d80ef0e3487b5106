/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 3 4 */
/* far: no */
/*
 * A hundred thousand collectives in flight: their time grows with their number, not with its
 * square, which took minutes. Barriers, sums, and broadcasts to ranks that show nothing; waited for
 * together, and one by one from the last.
 */
#include "check.h"

#include <gasnet_coll.h>
#include <gasnetex.h>

enum { OPS = 100000 };

static gex_TM_t world;
static uint64_t me, size;
static gex_Event_t event[OPS];
static uint64_t in[OPS], out[OPS];

static void barriers(void) {
  for (size_t i = 0; i < OPS; i++) event[i] = gex_Coll_BarrierNB(world, 0);
  gex_Event_WaitAll(event, OPS, 0);
  for (size_t i = 0; i < OPS; i++) CHECK_EQ(event[i] == GEX_EVENT_INVALID, 1);
}

static void sums(void) {
  for (size_t i = 0; i < OPS; i++) {
    in[i] = i + me;
    event[i] =
        gex_Coll_ReduceToAllNB(world, &out[i], &in[i], GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0);
  }
  for (size_t i = OPS; i-- > 0;) gex_Event_Wait(event[i]);
  for (size_t i = 0; i < OPS; i++) CHECK_EQ(out[i], size * i + size * (size - 1) / 2);
}

static void broadcasts(void) {
  for (size_t i = 0; i < OPS; i++) {
    in[i] = 7 * i;
    event[i] = gex_Coll_BroadcastNB(world, 1, &out[i], &in[i], 8, 0);
  }
  gex_Event_WaitAll(event, OPS, 0);
  for (size_t i = 0; i < OPS; i++) CHECK_EQ(out[i], 7 * i);
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Client_Init(&client, &ep, &world, "MANY", &argc, &argv, 0);
  me = gex_TM_QueryRank(world);
  size = gex_TM_QuerySize(world);
  barriers();
  sums();
  broadcasts();
  gex_Coll_BarrierBlocking(world, 0);
  gasnet_exit(check_done());
}
