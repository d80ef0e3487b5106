/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 2 4 7 */
/* timeout: 120 */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_WAIT=block */
/*
 * API 06.4, 02.8: two threads of each process with a team each. One reduces with slow operators of
 * the client, or rests outside the library; the other one waits on the team that the first never
 * touches. Work that comes for the one while the other is at work in the library is never slept
 * over. (A lost wake-up ends this program by its time limit.)
 */
#include "job.h"
#include "threads.h"

#include <gasnet_coll.h>

enum { SLOW = 12, QUICK_MIN = 200 };

static gex_TM_t team[2];
static int slow_over;

static void slow_sum(const void *a, void *b, size_t count, const void *cdata) {
  (void)cdata;
  sleep_ms(10);
  for (size_t i = 0; i < count; i++) ((uint64_t *)b)[i] += ((const uint64_t *)a)[i];
}

/* Rests between reductions, so that the other thread is alone inside now and then. */
static void reduce_slowly(void) {
  for (int i = 0; i < SLOW; i++) {
    uint64_t in[4] = {1, 2, 3, (uint64_t)i}, out[4] = {0};
    gex_Event_Wait(gex_Coll_ReduceToAllNB(team[0], out, in, GEX_DT_USER, sizeof in[0], 4,
                                          GEX_OP_USER, slow_sum, NULL, 0));
    CHECK_EQ(out[0], job.size);
    CHECK_EQ(out[3], (uint64_t)i * job.size);
    if (i % 4 == 3) sleep_ms(30);
  }
  __atomic_store_n(&slow_over, 1, __ATOMIC_RELEASE);
}

static void reduce_quickly(void) {
  uint64_t left = 1;
  for (uint64_t n = 0; left; n++) {
    uint64_t in = n, out = 0;
    gex_Event_Wait(gex_Coll_ReduceToAllNB(team[1], &out, &in, GEX_DT_U64, sizeof in, 1, GEX_OP_ADD,
                                          NULL, NULL, 0));
    CHECK_EQ(out, n * job.size);
    if (n % 7 == 0) gex_Event_Wait(gex_Coll_BarrierNB(team[1], 0));
    in = n < QUICK_MIN || !__atomic_load_n(&slow_over, __ATOMIC_ACQUIRE);
    gex_Event_Wait(gex_Coll_ReduceToAllNB(team[1], &left, &in, GEX_DT_U64, sizeof in, 1, GEX_OP_ADD,
                                          NULL, NULL, 0));
  }
}

static void body(int id) {
  if (id)
    reduce_quickly();
  else
    reduce_slowly();
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 65536, NULL, 0);
  for (int i = 0; i < 2; i++) (void)gex_TM_Dup(&team[i], job.tm, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  run_threads(2, body);
  job_barrier();
  return job_finish();
}
