/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 1 2 4 */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 */
/* timeout: 120 */
/*
 * API 05.4, 00.9: one domain used by many threads of every rank: counters, exact floating-point
 * sums, compare-and-swap increments, implicit operations of each thread.
 */
#include "ad_model.h"
#include "threads.h"

enum { THREADS = 8, EACH = 150 };

static gex_AD_t ints, reals;

static void *word(gex_Rank_t rank, int i) {
  return job.peer[rank] + i * 64;
}

static void body(int id) {
  const gex_Rank_t other = (gex_Rank_t)((job.rank + (unsigned)id) % job.size);
  uint64_t last = 0;
  for (int k = 0; k < EACH; k++) {
    const uint64_t got = ad_do(ints, 0, word(0, 0), GEX_OP_FINC, 0, 0, 0);
    CHECK(k == 0 || got > last);
    last = got;
    CHECK_EQ(gex_AD_OpNBI_I64(ints, NULL, other, word(other, 1), GEX_OP_ADD, 3, 0, 0), 0);
    CHECK_EQ(gex_AD_OpNBI_DBL(reals, NULL, 0, word(0, 2), GEX_OP_ADD, 0.5, 0, 0), 0);
    uint64_t seen = ad_do(ints, 0, word(0, 3), GEX_OP_GET, 0, 0, 0);
    for (;;) {
      const uint64_t found = ad_do(ints, 0, word(0, 3), GEX_OP_FCAS, seen, seen + 1, 0);
      if (found == seen) break;
      seen = found;
    }
  }
  gex_NBI_Wait(GEX_EC_RMW, 0);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 65536, NULL, 0);
  gex_AD_Create(&ints, job.tm, GEX_DT_I64, ad_ops_of(GEX_DT_I64), 0);
  gex_AD_Create(&reals, job.tm, GEX_DT_DBL, ad_ops_of(GEX_DT_DBL), 0);
  run_threads(THREADS, body);
  job_barrier();
  const uint64_t all = (uint64_t)job.size * THREADS * EACH;
  CHECK_EQ(ad_do(ints, 0, word(0, 0), GEX_OP_GET, 0, 0, 0), all);
  CHECK_EQ(ad_do(ints, 0, word(0, 3), GEX_OP_GET, 0, 0, 0), all);
  const double sum = ad_value_DBL(ad_do(reals, 0, word(0, 2), GEX_OP_GET, 0, 0, 0));
  CHECK_EQ((uint64_t)(sum * 2), all);
  uint64_t threes = 0;
  for (gex_Rank_t r = 0; r < job.size; r++)
    threes += ad_do(ints, r, word(r, 1), GEX_OP_GET, 0, 0, 0);
  CHECK_EQ(threes, all * 3);
  job_barrier();
  gex_AD_Destroy(ints);
  gex_AD_Destroy(reals);
  return job_finish();
}
