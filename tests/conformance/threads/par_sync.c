/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PARSYNC */
/* ranks: 1 2 4 */
/*
 * API 00.9: PARSYNC: several threads use the library in turn under a client lock; handler-safe
 * locks exclude for real.
 */
#include "job.h"
#include "threads.h"

enum { THREADS = 6, COUNT = 500 };

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static gex_HSL_t lock = GEX_HSL_INITIALIZER;
static gex_AM_Index_t bump_index;
static long bumps;

static void on_bump(gex_Token_t token, gex_AM_Arg_t n) {
  (void)token;
  gex_HSL_Lock(&lock);
  bumps += n;
  gex_HSL_Unlock(&lock);
}

static void body(int id) {
  for (int i = 0; i < COUNT; i++) {
    pthread_mutex_lock(&turn);
    const gex_Rank_t to = (job.rank + (gex_Rank_t)i) % job.size;
    CHECK_EQ(gex_AM_RequestShort1(job.tm, to, bump_index, 0, 3), 0);
    char *const slot = job.peer[to] + 8 * (job.rank * THREADS + (gex_Rank_t)id);
    CHECK_EQ(gex_RMA_PutNBIVal(job.tm, to, slot, (unsigned)(id * 1000 + i), 8, 0), 0);
    gex_NBI_Wait(GEX_EC_ALL, 0);
    CHECK_EQ(gex_RMA_GetBlockingVal(job.tm, to, slot, 8, 0), id * 1000 + i);
    pthread_mutex_unlock(&turn);
  }
  threads_meet();
  if (id == 0) gex_HSL_Lock(&lock);
  threads_meet();
  if (id != 0) {
    pthread_mutex_lock(&turn);
    CHECK_EQ(gex_HSL_Trylock(&lock), GASNET_ERR_NOT_READY);
    pthread_mutex_unlock(&turn);
  }
  threads_meet();
  if (id == 0) gex_HSL_Unlock(&lock);
}

int main(int argc, char **argv) {
  gex_AM_Entry_t entry = {
      0, (gex_AM_Fn_t)on_bump, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, "bump"};
  job_start(&argc, &argv, GASNET_PAGESIZE, &entry, 1);
  bump_index = entry.gex_index;
  CHECK_CMP(gex_System_QueryMaxThreads(), >, THREADS);
  job_barrier();
  run_threads(THREADS, body);
  GASNET_BLOCKUNTIL(bumps >= 3L * THREADS * COUNT);
  job_barrier();
  CHECK_EQ(bumps, 3L * THREADS * COUNT);
  return job_finish();
}
