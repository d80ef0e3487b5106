/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 1 2 */
/* timeout: 120 */
/*
 * API 00.9: as many live threads as the limit allows (256 with the main one), created and destroyed
 * several times over, each entering the library, injecting, and leaving; then a long row of
 * short-lived threads: slots are reclaimed.
 */
#include "job.h"
#include "threads.h"

enum { WAVES = 3, MOST = 1024, ROWS = 100, PER_ROW = 8 };

static gex_AM_Index_t hit_index, back_index;
static uint64_t hits, backs[MOST];

static void on_hit(gex_Token_t token, gex_AM_Arg_t id) {
  __atomic_fetch_add(&hits, 1, __ATOMIC_SEQ_CST);
  CHECK_EQ(gex_AM_ReplyShort1(token, back_index, 0, id), 0);
}

static void on_back(gex_Token_t token, gex_AM_Arg_t id) {
  (void)token;
  REQUIRE(id >= 0 && id < MOST);
  __atomic_fetch_add(&backs[id], 1, __ATOMIC_SEQ_CST);
}

/* All kinds of per-thread state are used; nothing is left unsynced. */
static void body(int id) {
  const gex_Rank_t to = (job.rank + 1) % job.size;
  char *const mine = job.peer[to] + 8 * id;
  const uint64_t before = __atomic_load_n(&backs[id], __ATOMIC_SEQ_CST);
  CHECK_EQ(gex_AM_RequestShort1(job.tm, to, hit_index, 0, id), 0);
  CHECK_EQ(gex_RMA_PutNBIVal(job.tm, to, mine, mix64((unsigned)id), 8, 0), 0);
  gex_NBI_Wait(GEX_EC_ALL, 0);
  gex_NBI_BeginAccessRegion(0);
  uint64_t got = 0;
  CHECK_EQ(gex_RMA_GetNBI(job.tm, &got, to, mine, 8, 0), 0);
  gex_Event_Wait(gex_NBI_EndAccessRegion(0));
  CHECK_EQ(got, mix64((unsigned)id));
  threads_meet(); /* all are alive and known to the library here */
  GASNET_BLOCKUNTIL(__atomic_load_n(&backs[id], __ATOMIC_SEQ_CST) == before + 1);
}

int main(int argc, char **argv) {
  gex_AM_Entry_t table[] = {
      {0, (gex_AM_Fn_t)on_hit, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, "hit"},
      {0, (gex_AM_Fn_t)on_back, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 1, NULL, "back"}};
  job_start(&argc, &argv, 8 * MOST, table, 2);
  hit_index = table[0].gex_index;
  back_index = table[1].gex_index;
  const uint64_t limit = gex_System_QueryMaxThreads();
  CHECK_CMP(limit, >=, 256);
  const int wave = (int)(limit < MOST ? limit : MOST) - 1; /* and the main thread */
  job_barrier();
  for (int i = 0; i < WAVES; i++) {
    run_threads(wave, body);
    job_barrier();
    CHECK_EQ(hits, (uint64_t)wave * (unsigned)(i + 1));
    job_barrier();
  }
  for (int i = 0; i < ROWS; i++) run_threads(PER_ROW, body);
  job_barrier();
  CHECK_EQ(hits, (uint64_t)wave * WAVES + ROWS * PER_ROW);
  for (int t = 0; t < wave; t++) CHECK_EQ(backs[t], WAVES + (t < PER_ROW ? ROWS : 0));
  return job_finish();
}
