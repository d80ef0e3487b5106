/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 16 */
/* again: TOMBOLO_TEST_SHM=0 */
/* again: GASNET_SUPERNODE_MAXSIZE=2 */
/* timeout: 60 */
/*
 * API 06.5: the collectives of GASNet-1, blocking and started, under every pair of synchronisation
 * flags, on the primordial team and a split one; ALLSYNC; synchronisation of several handles; team
 * barriers; the autotuner's remains.
 */
#include "job.h"

#include <gasnet_coll.h>

enum { BLOCK = 40, MANY = 9 };

static gasnet_team_handle_t team;
static gex_Rank_t rank, size;
static char *src, *dst;

static void fill(uint64_t seed) {
  for (gex_Rank_t r = 0; r < size; r++)
    pattern_fill(src + (size_t)r * BLOCK, BLOCK, seed + rank * 100 + r);
  memset(dst, 0, (size_t)size * BLOCK);
}

static void check_block(gex_Rank_t at, uint64_t seed, gex_Rank_t from, gex_Rank_t block) {
  CHECK_BYTES(dst + (size_t)at * BLOCK, BLOCK, seed + from * 100 + block);
}

static void check_exchange(uint64_t seed) {
  for (gex_Rank_t r = 0; r < size; r++) check_block(r, seed, r, rank);
}

static void check_gathered(uint64_t seed) {
  for (gex_Rank_t r = 0; r < size; r++) check_block(r, seed, r, 0);
}

static void blocking(int flags, uint64_t seed) {
  const gasnet_image_t root = (gasnet_image_t)(seed % size);
  fill(seed);
  gasnet_coll_broadcast(team, dst, root, src, BLOCK, flags);
  check_block(0, seed, root, 0);
  fill(seed);
  gasnet_coll_scatter(team, dst, root, src, BLOCK, flags);
  check_block(0, seed, root, rank);
  fill(seed);
  gasnet_coll_gather(team, root, dst, src, BLOCK, flags);
  if (rank == root) check_gathered(seed);
  fill(seed);
  gasnet_coll_gather_all(team, dst, src, BLOCK, flags);
  check_gathered(seed);
  fill(seed);
  gasnet_coll_exchange(team, dst, src, BLOCK, flags);
  check_exchange(seed);
}

static void started(int flags, uint64_t seed) {
  const gasnet_image_t root = (gasnet_image_t)(seed % size);
  gasnet_coll_handle_t h[2];
  fill(seed);
  h[0] = gasnet_coll_broadcast_nb(team, dst, root, src, BLOCK, flags);
  while (gasnet_coll_try_sync(h[0]) != GASNET_OK) continue;
  check_block(0, seed, root, 0);
  fill(seed);
  gasnet_coll_wait_sync(gasnet_coll_scatter_nb(team, dst, root, src, BLOCK, flags));
  check_block(0, seed, root, rank);
  fill(seed);
  h[0] = gasnet_coll_gather_nb(team, root, dst, src, BLOCK, flags);
  h[1] = GASNET_COLL_INVALID_HANDLE;
  gasnet_coll_wait_sync_some(h, 2);
  CHECK(h[0] == GASNET_COLL_INVALID_HANDLE);
  if (rank == root) check_gathered(seed);
  fill(seed);
  h[0] = gasnet_coll_gather_all_nb(team, dst, src, BLOCK, flags);
  while (gasnet_coll_try_sync_all(h, 2) != GASNET_OK) continue;
  check_gathered(seed);
  fill(seed);
  h[0] = gasnet_coll_exchange_nb(team, dst, src, BLOCK, flags);
  while (gasnet_coll_try_sync_some(h, 2) != GASNET_OK) continue;
  check_exchange(seed);
}

static void many(void) {
  static char in[MANY][8], out[MANY][8];
  gasnet_coll_handle_t h[MANY];
  for (unsigned i = 0; i < MANY; i++) {
    pattern_fill(in[i], 8, rank + i);
    h[i] = gasnet_coll_broadcast_nb(team, out[i], i % size, in[i], 8,
                                    GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_ALLSYNC);
  }
  gasnet_coll_wait_sync_all(h, MANY);
  for (unsigned i = 0; i < MANY; i++) CHECK_BYTES(out[i], 8, i % size + i);
}

/* Complete only when the last rank has entered. */
static void all_sync(void) {
  static const int flags[] = {GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_NOSYNC,
                              GASNET_COLL_IN_NOSYNC | GASNET_COLL_OUT_ALLSYNC};
  for (gex_Rank_t late = 0; late < size && size > 1; late++) {
    job_barrier();
    if (rank == late) {
      CHECK_EQ(oob_wait(60000) > 0, 1);
      for (gex_Rank_t r = 2; r < size; r++) CHECK(oob_wait(60000) > 0);
    }
    gasnet_coll_handle_t h =
        gasnet_coll_broadcast_nb(team, dst, (late + 1) % size, src, BLOCK, flags[late % 2]);
    if (rank != late) {
      for (int i = 0; i < 200; i++) CHECK_EQ(gasnet_coll_try_sync(h), GASNET_ERR_NOT_READY);
      oob_send(late, 1);
    }
    gasnet_coll_wait_sync(h);
  }
}

static void barriers(void) {
  for (int id = 1; id < 20; id++) {
    int got = 0;
    gasnet_coll_barrier_notify(team, id, 0);
    CHECK_EQ(gasnet_coll_barrier_wait(team, id, 0), GASNET_OK);
    CHECK_EQ(gasnet_coll_barrier_result(team, &got), 0);
    CHECK_EQ(got, id);
    gasnet_coll_barrier_notify(team, rank == 0 ? id : 0,
                               rank == 0 ? 0 : GASNET_BARRIERFLAG_ANONYMOUS);
    int rc;
    do
      rc = gasnet_coll_barrier_try(team, rank == 0 ? id : 0,
                                   rank == 0 ? 0 : GASNET_BARRIERFLAG_ANONYMOUS);
    while (rc == GASNET_ERR_NOT_READY);
    CHECK_EQ(rc, GASNET_OK);
    CHECK_EQ(gasnet_coll_barrier(team, (int)rank, 0),
             size == 1 ? GASNET_OK : GASNET_ERR_BARRIER_MISMATCH);
    CHECK_EQ(gasnet_coll_barrier(team, 1, rank == size - 1 ? GASNET_BARRIERFLAG_MISMATCH : 0),
             GASNET_ERR_BARRIER_MISMATCH);
    CHECK_EQ(gasnet_coll_barrier(team, 0, GASNET_BARRIERFLAG_ANONYMOUS), GASNET_OK);
    CHECK_EQ(gasnet_coll_barrier_result(team, &got), 1);
  }
}

static void tuner(void) {
  char name[] = "none";
  gasnet_coll_loadTuningState(name, team);
  gasnet_coll_dumpTuningState(name, team);
  gasnet_coll_dumpProfile(name, team);
  gasnet_coll_set_tree_kind(team, 0, 2, GASNET_COLL_BROADCAST_OP);
  gasnet_coll_set_dissem_limit(team, 100, GASNET_COLL_EXCHANGE_OP);
  CHECK_CMP(gasnet_coll_get_num_tree_classes(team, GASNET_COLL_GATHER_OP), >=, 0);
}

static void on_team(gasnet_team_handle_t tm) {
  static const int in[] = {GASNET_COLL_IN_NOSYNC, GASNET_COLL_IN_MYSYNC, GASNET_COLL_IN_ALLSYNC};
  static const int out[] = {GASNET_COLL_OUT_NOSYNC, GASNET_COLL_OUT_MYSYNC,
                            GASNET_COLL_OUT_ALLSYNC};
  team = tm;
  rank = gex_TM_QueryRank(tm);
  size = gex_TM_QuerySize(tm);
  for (unsigned i = 0; i < 9; i++) {
    blocking(in[i / 3] | out[i % 3] | GASNET_COLL_LOCAL, i * 1000 + 1);
    started(in[i / 3] | out[i % 3] | GASNET_COLL_SRC_IN_SEGMENT, i * 1000 + 500);
  }
  many();
  barriers();
  tuner();
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, GASNET_PAGESIZE, NULL, 0);
  oob_open();
  src = malloc((size_t)job.size * BLOCK);
  dst = malloc((size_t)job.size * BLOCK);
  REQUIRE(src && dst);
  gex_TM_t half;
  gex_TM_Split(&half, job.tm, (int)(job.rank % 2), 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  on_team(half);
  gex_TM_Destroy(half, NULL, 0);
  CHECK_PTR(GASNET_TEAM_ALL, job.tm);
  on_team(GASNET_TEAM_ALL);
  all_sync();
  return job_finish();
}
