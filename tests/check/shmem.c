/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seeded races of OpenSHMEM, one case each, for tests/check/findings.py: compiled with `oshcc
 * --check`. Lines that race end with a comment `race: CASE`, those of correct cases have none. Run
 * with 3 PEs; the argument is the case.
 */
#include <shmem.h>

#include "../lib/cases.h"

static long data[64], flag, flags[3], lock, other;
static uint64_t sig;
static long v[64];
static long *heap;
static int me;
static volatile long sink;

CASE(put_load) {
  if (me == 1) shmem_long_put(data, v, 8, 0); /* race: put_load */
  if (me == 0) sink = data[3];                /* race: put_load */
}
CASE(heap_put_store) {
  if (me == 1) shmem_long_p(heap, 3, 0); /* race: heap_put_store */
  if (me == 0) *heap = 4;                /* race: heap_put_store */
}
CASE(store_there) {
  if (me == 1) ((long *)shmem_ptr(data, 0))[2] = 5; /* race: store_there */
  if (me == 0) sink = data[2];                      /* race: store_there */
}
CASE(word_of_other) {
  const int status[3] = {1, 0, 0};
  if (me) {
    shmem_long_put(data + 8 * me, v, 4, 0); /* race: word_of_other */
    shmem_fence();
    shmem_long_p(&flags[me], 1, 0);
    return;
  }
  const size_t found = shmem_long_wait_until_any(flags, 3, status, SHMEM_CMP_EQ, 1);
  sink = data[8 * (3 - found)]; /* race: word_of_other */
}
CASE(put_without_fence) {
  if (me == 1) {
    shmem_long_put(data, v, 8, 0); /* race: put_without_fence */
    shmem_long_p(&flag, 1, 0);
  }
  if (me == 0) {
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    sink = data[0]; /* race: put_without_fence */
  }
}
CASE(put_without_quiet) {
  if (me == 1) shmem_long_put_nbi(data, v, 8, 0); /* race: put_without_quiet */
  shmem_sync_all();
  if (me == 2) shmem_long_get(v, data, 8, 0); /* race: put_without_quiet */
  shmem_quiet();
}
CASE(source_before_quiet) {
  if (me) return;
  shmem_long_put_nbi(data, v, 8, 1); /* race: source_before_quiet */
  v[2] = 5;                          /* race: source_before_quiet */
  shmem_quiet();
}
CASE(source_in_loop) {
  for (int i = 0; i < 2 && me == 0; i++) {
    v[2] = i;                                  /* race: source_in_loop */
    shmem_long_put_nbi(data + 8 * i, v, 8, 1); /* race: source_in_loop */
  }
  shmem_quiet();
}
CASE(result_before_quiet) {
  if (me) return;
  shmem_long_get_nbi(v, data, 8, 1); /* race: result_before_quiet */
  sink = v[2];                       /* race: result_before_quiet */
  shmem_quiet();
}
CASE(before_signal) {
  if (me == 1)
    shmem_long_put_signal(data, v, 8, &sig, 1, SHMEM_SIGNAL_SET, 0); /* race: before_signal */
  if (me == 0) {
    sink = data[0]; /* race: before_signal */
    shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 1);
  }
}
CASE(atomic_put) {
  if (me == 1) shmem_long_atomic_inc(&other, 0); /* race: atomic_put */
  if (me == 2) shmem_long_p(&other, 1, 0);       /* race: atomic_put */
}
CASE(outside_lock) {
  if (me == 1) {
    shmem_set_lock(&lock);
    shmem_long_p(data, 1, 0); /* race: outside_lock */
    shmem_clear_lock(&lock);
  }
  if (me == 2) sink = shmem_long_g(data, 0); /* race: outside_lock */
}

CASE(leak_team) {
  shmem_team_t half;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 3, NULL, 0, &half); /* leak: leak_team */
}
CASE(leak_context) {
  shmem_ctx_t ctx;
  (void)shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx); /* leak: leak_context */
}
CASE(leak_lock) {
  if (me == 1) shmem_set_lock(&lock); /* leak: leak_lock */
}
CASE(leak_tested_lock) {
  if (me == 2) (void)shmem_test_lock(&lock); /* leak: leak_tested_lock */
}
CASE(memory) {
  long *const more = shmem_malloc(64); /* memory: memory */
  shmem_free(shmem_realloc(shmem_align(64, 8), 4096));
  *more = 0;
}

/* ---- correct: nothing may be found */

CASE(ok_memory) {
  shmem_free(shmem_realloc(shmem_malloc(64), 4096));
  shmem_free(shmem_realloc(NULL, 8));
  (void)shmem_realloc(shmem_calloc(8, 8), 0);
}

CASE(ok_leak_implicit) { /* shmem_finalize waits for it */
  shmem_long_put_nbi(data + 8 * me, v, 8, (me + 1) % 3);
}
CASE(ok_leak) {
  shmem_team_t half;
  shmem_ctx_t ctx, of_team;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 3, NULL, 0, &half);
  (void)shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx);
  (void)shmem_team_create_ctx(half, 0, &of_team); /* ends with its team */
  shmem_ctx_long_put_nbi(ctx, data, v, 8, (me + 1) % 3);
  shmem_ctx_destroy(ctx);
  shmem_team_destroy(half);
  shmem_set_lock(&lock);
  shmem_clear_lock(&lock);
  while (shmem_test_lock(&lock)) continue;
  shmem_clear_lock(&lock);
  shmem_long_get_nbi(v, data, 8, (me + 1) % 3); /* ends with the job */
}

CASE(ok_barrier) {
  for (int i = 0; i < 5; i++) {
    data[0] = i;
    shmem_long_p(data + 8, i, (me + 1) % 3);
    shmem_barrier_all();
    sink = data[8] + shmem_long_g(data, (me + 1) % 3);
    shmem_barrier_all();
  }
}
CASE(ok_fence) {
  if (me == 1) {
    shmem_long_put(data, v, 8, 0);
    shmem_fence();
    shmem_long_p(&flag, 1, 0);
  }
  if (me == 0) {
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    sink = data[0];
  }
}
CASE(ok_signal) {
  if (me == 1) shmem_long_put_signal(data, v, 8, &sig, 1, SHMEM_SIGNAL_SET, 0);
  if (me == 0) {
    shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 1);
    sink = data[0];
    data[0] = 2;
  }
}
CASE(ok_any) {
  int status[3] = {1, 0, 0};
  if (me) {
    shmem_long_put(data + 8 * me, v, 4, 0);
    shmem_fence();
    shmem_long_p(&flags[me], 1, 0);
    return;
  }
  for (int i = 0; i < 2; i++) {
    const size_t found = shmem_long_wait_until_any(flags, 3, status, SHMEM_CMP_EQ, 1);
    sink = data[8 * found];
    status[found] = 1;
  }
}
CASE(ok_store_there) {
  if (me == 1) {
    ((long *)shmem_ptr(data, 0))[2] = 5;
    shmem_fence();
    *(volatile long *)shmem_ptr(&flag, 0) = 1;
  }
  if (me == 0) {
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    sink = data[2];
  }
}
CASE(ok_own_atomic) {
  if (me == 0) {
    data[3] = 5;
    __atomic_store_n(&other, 1, __ATOMIC_RELEASE);
  }
  if (me == 1) {
    while (shmem_long_atomic_fetch(&other, 0) != 1) continue;
    sink = shmem_long_g(data + 3, 0);
  }
}
CASE(ok_atomic) {
  if (me == 1) {
    shmem_long_p(data, 1, 0);
    shmem_quiet();
    shmem_long_atomic_inc(&other, 0);
  }
  if (me == 0) {
    shmem_long_wait_until(&other, SHMEM_CMP_GT, 0);
    sink = data[0];
  }
}
CASE(ok_lock) {
  for (int i = 0; i < 10; i++) {
    shmem_set_lock(&lock);
    shmem_long_p(data, shmem_long_g(data, 0) + 1, 0);
    shmem_clear_lock(&lock);
  }
}
CASE(ok_collect) {
  if (me == 2) shmem_long_p(heap, 1, 0);
  shmem_long_sum_reduce(SHMEM_TEAM_WORLD, heap + 1, heap + 2, 1);
  shmem_barrier_all();
  sink = *heap + heap[1];
}

int main(int argc, char **argv) {
  shmem_init();
  me = shmem_my_pe();
  heap = shmem_calloc(64, sizeof *heap);
  shmem_barrier_all();
  case_run(argc, argv);
  shmem_barrier_all();
  shmem_free(heap);
  shmem_finalize();
  return 0;
}
