/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seeded races of OpenSHMEM with contexts, collectives, signals and waits for several words: one
 * case each, for tests/check/findings.py, compiled with `oshcc --check`. Lines that race end with a
 * comment `race: CASE`, those of correct cases have none. Run with 3 PEs; the argument is the case.
 */
#include <shmem.h>

#include "../lib/cases.h"

static long data[64], flag, flags[3], lock, word, to[16], from[16];
static uint64_t sig, sigs[3];
static long v[64];
static int me;
static volatile long sink;

static shmem_ctx_t context(long options) {
  shmem_ctx_t ctx;
  if (shmem_ctx_create(options, &ctx)) abort();
  return ctx;
}
static void await(long *at) {
  shmem_long_wait_until(at, SHMEM_CMP_NE, 0);
}

CASE(quiet_of_other_context) {
  const shmem_ctx_t ctx = context(0);
  if (me == 1) {
    shmem_ctx_long_put_nbi(ctx, data, v, 8, 0); /* race: quiet_of_other_context */
    shmem_quiet();
    shmem_long_p(&flag, 1, 0);
  }
  if (me == 0) await(&flag);
  if (me == 0) sink = data[3]; /* race: quiet_of_other_context */
  shmem_ctx_destroy(ctx);
}
CASE(context_at_barrier) {
  const shmem_ctx_t ctx = context(0);
  if (me == 1) shmem_ctx_long_put_nbi(ctx, data, v, 8, 2); /* race: context_at_barrier */
  shmem_barrier_all();
  if (me == 2) sink = data[3]; /* race: context_at_barrier */
  shmem_ctx_destroy(ctx);
}
CASE(behind_signal) {
  if (me == 1) {
    shmem_long_put_signal(data, v, 8, &sig, 1, SHMEM_SIGNAL_SET, 0);
    shmem_long_put(data + 8, v, 8, 0); /* race: behind_signal */
  }
  if (me == 0) {
    shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 1);
    sink = data[0];
    sink = data[9]; /* race: behind_signal */
  }
}
CASE(some_of_others) {
  const int status[3] = {1, 0, 1};
  size_t found[3];
  if (me) {
    shmem_long_put(data + 8 * me, v, 4, 0); /* race: some_of_others */
    shmem_fence();
    shmem_long_p(&flags[me], 1, 0);
  } else {
    if (shmem_long_wait_until_some(flags, 3, found, status, SHMEM_CMP_EQ, 1) != 1) abort();
    sink = data[8];
    sink = data[17]; /* race: some_of_others */
  }
}
CASE(alltoall_without_quiet) {
  if (me == 1) shmem_long_put_nbi(data, v, 8, 2); /* race: alltoall_without_quiet */
  shmem_long_alltoall(SHMEM_TEAM_WORLD, to, from, 1);
  if (me == 2) sink = data[0]; /* race: alltoall_without_quiet */
  shmem_quiet();
}
CASE(broadcast_of_other) {
  if (me == 1) {
    shmem_long_p(data, 1, 2); /* race: broadcast_of_other */
    shmem_quiet();
  }
  shmem_long_broadcast(SHMEM_TEAM_WORLD, to, from, 1, 0);
  if (me == 2) sink = data[0]; /* race: broadcast_of_other */
}
CASE(sync_without_quiet) {
  if (me == 1) shmem_long_put_nbi(data, v, 8, 2); /* race: sync_without_quiet */
  shmem_team_sync(SHMEM_TEAM_WORLD);
  if (me == 2) sink = data[0]; /* race: sync_without_quiet */
  shmem_quiet();
}
CASE(sync_of_other_team) {
  shmem_team_t pair;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &pair);
  if (me == 1) {
    shmem_long_p(data, 1, 2); /* race: sync_of_other_team */
    shmem_quiet();
  }
  if (pair != SHMEM_TEAM_INVALID) shmem_team_sync(pair);
  if (me == 2) sink = data[0]; /* race: sync_of_other_team */
  if (pair != SHMEM_TEAM_INVALID) shmem_team_destroy(pair);
}
CASE(behind_lock) {
  if (!me) return;
  shmem_set_lock(&lock);
  shmem_long_p(data, me, 0);
  shmem_clear_lock(&lock);
  if (me == 1) shmem_long_p(data + 1, 1, 0); /* race: behind_lock */
  if (me == 2) shmem_long_p(data + 1, 1, 0); /* race: behind_lock */
}
CASE(fetched_early) {
  static long old;
  if (me != 1) return;
  shmem_long_atomic_fetch_add_nbi(&old, &word, 1, 0); /* race: fetched_early */
  sink = old;                                         /* race: fetched_early */
  shmem_quiet();
}
CASE(strides) {
  if (me == 1) shmem_long_iput(data, v, 2, 1, 4, 0);     /* race: strides */
  if (me == 2) shmem_long_iput(data + 1, v, 3, 1, 3, 0); /* race: strides */
}
CASE(test_of_other) {
  if (me == 1) {
    shmem_long_p(data, 1, 0); /* race: test_of_other */
    shmem_quiet();
    shmem_long_p(&flags[1], 1, 0);
  }
  if (me == 0) {
    (void)shmem_long_test(&flags[2], SHMEM_CMP_EQ, 0);
    sink = data[0]; /* race: test_of_other */
  }
}
/* ---- correct */

CASE(ok_contexts) {
  const shmem_ctx_t ctx = context(SHMEM_CTX_PRIVATE), more = context(SHMEM_CTX_SERIALIZED);
  for (int i = 0; i < 5; i++) {
    const int next = (me + 1) % 3;
    shmem_ctx_long_put_nbi(ctx, data, v, 8, next);
    shmem_ctx_long_put(more, data + 8, v, 8, next);
    shmem_ctx_quiet(ctx);
    shmem_ctx_quiet(more);
    shmem_barrier_all();
    data[0] += data[8];
    shmem_barrier_all();
    shmem_ctx_long_get_nbi(more, v, data, 8, next);
    shmem_ctx_quiet(more);
    sink = v[1];
    shmem_barrier_all();
  }
  shmem_ctx_destroy(ctx);
  shmem_ctx_destroy(more);
}
CASE(ok_context_signals) {
  const shmem_ctx_t ctx = context(0);
  for (uint64_t i = 1; i <= 10; i++) {
    if (me) {
      shmem_ctx_long_put_signal_nbi(ctx, data + 8 * me, v, 8, &sigs[me], i, SHMEM_SIGNAL_SET, 0);
      shmem_ctx_quiet(ctx);
      shmem_signal_wait_until(&sigs[0], SHMEM_CMP_GE, i);
      continue;
    }
    while (shmem_signal_fetch(&sigs[1]) != i) continue;
    shmem_signal_wait_until(&sigs[2], SHMEM_CMP_EQ, i);
    data[8] += data[16]++;
    for (int pe = 1; pe < 3; pe++)
      shmem_long_put_signal(data + 32, v, 1, &sigs[0], i, SHMEM_SIGNAL_SET, pe);
  }
  shmem_ctx_destroy(ctx);
}
CASE(ok_some) {
  int status[3] = {1, 0, 0};
  size_t found[3];
  if (me) {
    shmem_long_put(data + 8 * me, v, 4, 0);
    shmem_fence();
    shmem_long_p(&flags[me], 1, 0);
  }
  for (int left = 2; !me && left > 0;) {
    const size_t n = shmem_long_test_some(flags, 3, found, status, SHMEM_CMP_EQ, 1);
    for (size_t i = 0; i < n; i++) {
      data[8 * found[i]]++;
      status[found[i]] = 1;
    }
    left -= (int)n;
  }
}
CASE(ok_alltoalls) {
  for (int i = 0; i < 5; i++) {
    shmem_long_p(data, i, (me + 1) % 3);
    shmem_quiet();
    shmem_long_alltoalls(SHMEM_TEAM_WORLD, to, from, 2, 1, 2);
    data[0]++;
    shmem_long_fcollect(SHMEM_TEAM_WORLD, to, from, 2);
  }
}
CASE(ok_teams) {
  shmem_team_t pair;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, 2, NULL, 0, &pair);
  for (int i = 0; i < 5 && pair != SHMEM_TEAM_INVALID; i++) {
    shmem_long_p(data, i, 3 - me);
    shmem_quiet();
    shmem_team_sync(pair);
    data[0]++;
    shmem_long_broadcast(pair, to, from, 1, i % 2);
    shmem_team_sync(pair);
  }
  if (pair != SHMEM_TEAM_INVALID) shmem_team_destroy(pair);
}
CASE(ok_tried_lock) {
  for (int i = 0; i < 10; i++) {
    while (shmem_test_lock(&lock)) continue;
    const long now = shmem_long_g(data, 2);
    shmem_long_p(data, now + 1, 2);
    shmem_clear_lock(&lock);
  }
}
CASE(ok_strides) {
  shmem_long_iput(data + me, v, 3, 1, 10, 0);
  shmem_barrier_all();
  shmem_long_iget(v, data, 1, 2, 10, 0);
}
CASE(ok_fetched) {
  static long old;
  for (int i = 0; i < 10; i++) {
    shmem_long_atomic_fetch_inc_nbi(&old, &word, 0);
    shmem_quiet();
    shmem_long_p(data + old, 1, 1);
  }
}
CASE(ok_chain) {
  if (me == 0) {
    shmem_long_p(data, 1, 2);
    shmem_quiet();
    shmem_long_atomic_set(&word, 1, 1);
  }
  if (me == 1) {
    await(&word);
    shmem_long_atomic_add(&word, 1, 2);
  }
  if (me == 2) {
    await(&word);
    data[0]++;
  }
}

int main(int argc, char **argv) {
  shmem_init();
  me = shmem_my_pe();
  shmem_barrier_all();
  case_run(argc, argv);
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
