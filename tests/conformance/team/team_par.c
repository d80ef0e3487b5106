/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 1 2 3 4 */
/* again: TOMBOLO_TEST_SHM_MAP=0 GASNET_SUPERNODE_MAXSIZE=2 */
/* debug: both */
/* timeout: 120 */
/*
 * API 01.7, 06.2 with threads: each thread splits, uses and destroys teams of its own parent while
 * the others do the same; threads that each serve one of several members that a process has in a
 * team, splitting it across process boundaries.
 */
#include "job.h"
#include "threads.h"

enum { THREADS = 4, CYCLES = 200, BYTES = 4096 * THREADS };

static gex_TM_t parent[THREADS]; /* one per thread, all ranks */
static gex_TM_t member[THREADS]; /* endpoint of each thread in one common team */
static uint64_t heard[THREADS];
static gex_AM_Index_t hello;

static void on_hello(gex_Token_t token, gex_AM_Arg_t id, gex_AM_Arg_t value) {
  (void)token;
  __atomic_fetch_add(&heard[id], (uint64_t)value, __ATOMIC_RELEASE);
}

/* Members exchange a word by put and one by message; `id` chooses place and counter. */
static void use(gex_TM_t tm, int id, uint64_t *expected) {
  const gex_Rank_t me = gex_TM_QueryRank(tm), size = gex_TM_QuerySize(tm), next = (me + 1) % size;
  const gex_Rank_t left = (me + size - 1) % size;
  const gex_Rank_t to = gex_TM_TranslateRankToJobrank(tm, next);
  const gex_TM_t pair = gex_TM_Pair(job.ep, 0);
  gex_Coll_BarrierBlocking(tm, 0);
  CHECK_EQ(gex_RMA_PutBlockingVal(pair, to, job.peer[to] + 4096 * id, me + 1000, 8, 0), 0);
  CHECK_EQ(gex_AM_RequestShort2(pair, to, hello, 0, id, (gex_AM_Arg_t)(me + 1)), 0);
  *expected += left + 1;
  GASNET_BLOCKUNTIL(__atomic_load_n(&heard[id], __ATOMIC_ACQUIRE) >= *expected);
  gex_Coll_BarrierBlocking(tm, 0);
  uint64_t got;
  memcpy(&got, job.base + 4096 * id, 8);
  CHECK_EQ(got, left + 1000);
  gex_Coll_BarrierBlocking(tm, 0);
}

/* Each thread on teams of its own. */
static void alone(int id) {
  uint64_t expected = 0;
  for (int i = 0; i < CYCLES; i++) {
    gex_TM_t tm = GEX_TM_INVALID;
    (void)gex_TM_Split(&tm, parent[id], (int)job.rank % (1 + i % 2), (int)job.rank * (i % 3 - 1),
                       NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    REQUIRE(tm != GEX_TM_INVALID);
    if (i % 10 == 0) use(tm, id, &expected);
    if (i % 3 == 0) gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
    CHECK_EQ(gex_TM_Destroy(tm, NULL, 0), 0);
  }
}

/* Each thread serves one member; odd and even members of all processes split. */
static void together(int id) {
  const gex_TM_t tm = member[id];
  for (int i = 0; i < CYCLES / 4; i++) {
    gex_TM_t part = GEX_TM_INVALID;
    (void)gex_TM_Split(&part, tm, id % 2, -id, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    REQUIRE(part != GEX_TM_INVALID);
    CHECK_EQ(gex_TM_QuerySize(part), job.size * (THREADS / 2));
    CHECK_PTR(gex_TM_QueryEP(part), gex_TM_QueryEP(tm));
    gex_Coll_BarrierBlocking(part, 0);
    CHECK_EQ(gex_TM_Destroy(part, NULL, 0), 0);
  }
  gex_Coll_BarrierBlocking(tm, 0);
  CHECK_EQ(gex_TM_Destroy(tm, NULL, 0), 0);
}

static void make_member_team(void) {
  gex_EP_Location_t args[64];
  gex_EP_t ep;
  size_t count = 0;
  for (int i = 1; i < THREADS; i++)
    REQUIRE(gex_EP_Create(&ep, job.client, GEX_EP_CAPABILITY_ALL, 0) == GASNET_OK);
  for (gex_Rank_t r = 0; r < job.size; r++)
    for (int i = 0; i < THREADS; i++) {
      args[count].gex_rank = r;
      args[count++].gex_ep_index = (gex_EP_Index_t)i;
    }
  (void)gex_TM_Create(member, THREADS, job.tm, args, count, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, BYTES, NULL, 0);
  hello = job_handler((gex_AM_Fn_t)on_hello, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 2);
  job_barrier();
  for (int i = 0; i < THREADS; i++)
    (void)gex_TM_Dup(&parent[i], job.tm, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  make_member_team();
  job_barrier();
  run_threads(THREADS, alone);
  job_barrier();
  run_threads(THREADS, together);
  job_barrier();
  for (int i = 0; i < THREADS; i++) CHECK_EQ(gex_TM_Destroy(parent[i], NULL, 0), 0);
  job_barrier();
  return job_finish();
}
