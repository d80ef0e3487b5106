/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 3 4 7 */
/* again: GASNET_SUPERNODE_MAXSIZE=2 */
/*
 * Where ranks outnumber processors, the barrier that ends a destroyed team, for which nobody waits,
 * does not say how this rank waits for something else: neither while other members have not come to
 * it nor when it is complete. And no rank of a team with groups spins in a barrier because it is
 * the last one of its group there: its leader, or another group, may need the processor.
 */
#define _GNU_SOURCE
#include "check.h"
#include "core/job.h"
#include "processors.h"

#include <gasnet_coll.h>
#include <gasnetex.h>

#include <time.h>

/* A barrier that this rank has begun, and that needs others, does not say that it may spin. */
static void groups(gex_TM_t world) {
  for (int round = 0; round < 50; round++) {
    const gex_Event_t event = gex_Coll_BarrierNB(world, 0);
    if (event != GEX_EVENT_INVALID && tmb_job.team.group) CHECK(!tmb_load_rlx(&tmb_job.last_here));
    gex_Event_Wait(event);
  }
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t world, part;
  const struct timespec nap = {0, 20000000};
  restrict_to(1);
  gex_Client_Init(&client, &ep, &world, "TEAMCROWD", &argc, &argv, 0);
  const gex_Rank_t me = gex_TM_QueryRank(world);
  CHECK(tmb_job.wait.crowded);
  for (int round = 0; round < 5; round++) {
    (void)gex_TM_Split(&part, world, 0, (int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    gex_Coll_BarrierBlocking(part, 0); /* a barrier that is waited for counts, and ends */
    CHECK_EQ(tmb_job.crowd_waits, 0);
    if (me != 0) nanosleep(&nap, NULL);
    tmb_store_rlx(&tmb_job.last_here, true);
    gex_TM_Destroy(part, NULL, 0);
    CHECK_EQ(tmb_job.crowd_waits, 0);
    CHECK(tmb_load_rlx(&tmb_job.last_here));
    gex_Coll_BarrierBlocking(world, 0);
    CHECK_EQ(tmb_job.crowd_waits, 0);
  }
  groups(world);
  gasnet_exit(check_done());
}
