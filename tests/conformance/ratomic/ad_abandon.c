/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 1 3 */
/* timeout: 60 */
/*
 * A thread makes domains of a team while another gives the team up, by gexx_TM_Abandon: a call
 * gives a domain that works, or none and the mark of a loss.
 */
#include "job.h"

#include <gasnet_ratomic.h>
#include <gasnetex_ext.h>

#include "threads.h"

enum { TEAMS = 40, DOMAINS = 20 };

static gex_TM_t team;
static uint64_t *word;

/* Makes domains until there are no more. */
static void make(void) {
  for (unsigned i = 0; i < DOMAINS; i++) {
    gex_AD_t ad = GEX_AD_INVALID;
    gex_AD_Create(&ad, team, GEX_DT_U64, GEX_OP_ADD | GEX_OP_FADD, 0);
    if (ad == GEX_AD_INVALID) {
      CHECK_EQ(gexx_Lost_Take(NULL), GEXX_ERR_LOST);
      return;
    }
    uint64_t before = 1;
    gex_Event_Wait(gex_AD_OpNB_U64(ad, &before, 0, word, GEX_OP_FADD, 1, 0, 0));
    CHECK_EQ(before, i);
    gex_AD_Destroy(ad);
  }
}

static void body(int id) {
  for (unsigned i = 0; i < TEAMS; i++) {
    if (id == 0) {
      (void)gex_TM_Split(&team, job.tm, (int)job.rank, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
      *word = 0;
    }
    threads_meet();
    if (id == 0)
      CHECK_EQ(gexx_TM_Abandon(team, 0), GASNET_OK);
    else
      make();
    threads_meet();
  }
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 1 << 16, NULL, 0);
  word = (uint64_t *)(void *)job.base;
  CHECK_EQ(gexx_Job_SetFailurePolicy(GEXX_FAILURE_REPORT), GASNET_OK);
  run_threads(2, body);
  return job_finish();
}
