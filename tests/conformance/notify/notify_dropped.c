/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 */
/* debug: yes */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 */
/* match: tag 5 from rank 0 of team 0x[0-9a-f]+ came for rank 1 after gex_TM_Destroy there */
/*
 * A notification that comes for a team that its target has destroyed is dropped with a warning that
 * names team, rank and tag, and one that nobody awaited is counted; neither keeps its credit.
 */
#include "job.h"

#include <gasnetex_ext.h>

static gexx_Notify_Stats_t stats(void) {
  gexx_Notify_Stats_t s;
  gexx_Notify_QueryStats(&s);
  return s;
}

int main(int argc, char **argv) {
  gex_TM_t tm;
  job_start(&argc, &argv, 4096, NULL, 0);
  oob_open();
  CHECK_EQ(gex_TM_Split(&tm, job.tm, 0, (int)job.rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH), 1);
  if (job.rank == 0) CHECK_EQ(gexx_RMA_PutNotify(tm, 1, NULL, NULL, 0, 4, 0), 0);
  if (job.rank == 1) {
    while (!stats().gexx_kept) gasnet_AMPoll();
    (void)gex_TM_Destroy(tm, NULL, GEX_FLAG_GLOBALLY_QUIESCED); /* which it is not */
    CHECK_EQ(stats().gexx_kept, 0);
    CHECK_EQ(stats().gexx_dropped, 1);
    oob_send(0, 1);
    while (stats().gexx_dropped < 2) gasnet_AMPoll();
    CHECK_EQ(stats().gexx_kept, 0);
  } else {
    CHECK_EQ(oob_wait(20000), 1);
    CHECK_EQ(gexx_RMA_PutNotify(tm, 1, NULL, NULL, 0, 5, 0), 0);
    (void)gex_TM_Destroy(tm, NULL, GEX_FLAG_GLOBALLY_QUIESCED);
  }
  return job_finish();
}
