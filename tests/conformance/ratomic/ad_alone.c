/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 7 */
/* timeout: 20 */
/* again: TOMBOLO_TEST_SHM=0 */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/* again: TOMBOLO_STATS=1 */
/*
 * API 05.3: without debug checks, gex_AD_Create waits for nobody, and operations reach ranks that
 * have not called it yet; ranks that make the domain later work together with those.
 */
#include <gasnet_ratomic.h>

#include "job.h"

enum { DOMAINS = 50 };

static gex_AD_t domain[DOMAINS];
static volatile int released;

static void on_release(gex_Token_t token) {
  (void)token;
  released++;
}

static void make_domains(void) {
  for (int i = 0; i < DOMAINS; i++)
    gex_AD_Create(&domain[i], job.tm, GEX_DT_U64, GEX_OP_ADD | GEX_OP_FADD | GEX_OP_GET, 0);
}

static void add_everywhere(void) {
  for (gex_Rank_t r = 0; r < job.size; r++)
    for (int i = 0; i < DOMAINS; i++)
      CHECK_EQ(gex_AD_OpNBI_U64(domain[i], NULL, r, job.peer[r] + 8 * i, GEX_OP_ADD, 1, 0, 0), 0);
  gex_NBI_Wait(GEX_EC_ALL, 0);
}

/* One rank after the other, each while the others still wait for their turn or have had it. */
static void in_turn(gex_AM_Index_t release) {
  GASNET_BLOCKUNTIL(job.rank == 0 || released);
  make_domains();
  add_everywhere();
  uint64_t sum = 0;
  gex_Event_Wait(gex_AD_OpNB_U64(domain[0], &sum, 0, job.peer[0], GEX_OP_GET, 0, 0, 0));
  CHECK_EQ(sum, job.rank + 1);
  if (job.rank + 1 < job.size) gex_AM_RequestShort0(job.tm, job.rank + 1, release, 0);
}

int main(int argc, char **argv) {
  gex_AM_Entry_t table[] = {
      {0, (gex_AM_Fn_t)on_release, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "release"}};
  job_start(&argc, &argv, DOMAINS * 8, table, 1);
  memset(job.base, 0, DOMAINS * 8);
  job_barrier();
  in_turn(table[0].gex_index);
  job_barrier();
  for (int i = 0; i < DOMAINS; i++) {
    uint64_t sum;
    memcpy(&sum, job.base + 8 * i, sizeof sum);
    CHECK_EQ(sum, job.size);
    gex_AD_Destroy(domain[i]);
  }
  return job_finish();
}
