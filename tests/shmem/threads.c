/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* again: TOMBOLO_CONDUIT=udp+TOMBOLO_PLACES=cyclic:2 SHMEM_DEBUG=1 */
/* Threads: each with a context of its own, all on the default context, waiting for words of its
 * own, a quiet of one thread for the puts of another, and all with one lock. */
#include "check.h"

#include <pthread.h>
#include <shmem.h>
#include <stdint.h>

enum { THREADS = 4, ROUNDS = 60, LOCKED = 20 };
static long lock, guarded, slot[THREADS][ROUNDS], total, ping[THREADS];
static int me, n, right, left;
static pthread_barrier_t meet;

static void use_own_context(long t) {
  shmem_ctx_t ctx;
  CHECK_EQ(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0);
  for (int k = 0; k < ROUNDS; k++) {
    shmem_p(ctx, &slot[t][k], t * 1000 + k + me, right);
    shmem_atomic_inc(ctx, &total, 0);
    if (k % 10 == 9) shmem_ctx_fence(ctx);
  }
  shmem_ctx_quiet(ctx);
  for (int k = 0; k < ROUNDS; k++) CHECK_EQ(shmem_g(ctx, &slot[t][k], right), t * 1000 + k + me);
  shmem_ctx_destroy(ctx);
}

static void use_default(long t) {
  for (int k = 0; k < ROUNDS; k++) {
    (void)shmem_atomic_fetch_inc(&total, 0);
    shmem_put_nbi(&slot[t][k], &slot[t][k], 1, me);
    shmem_quiet();
  }
}

/* Thread t of each PE plays with thread t of its neighbours. */
static void play(long t) {
  for (long k = 1; k <= ROUNDS; k++) {
    shmem_atomic_set(&ping[t], k, right);
    shmem_wait_until(&ping[t], SHMEM_CMP_GE, k);
  }
}

/* All threads of all PEs use one lock. */
static void share_lock(void) {
  for (int k = 0; k < LOCKED; k++) {
    if (k % 3 == 2)
      while (shmem_test_lock(&lock)) continue;
    else
      shmem_set_lock(&lock);
    shmem_p(&guarded, shmem_g(&guarded, 0) + 1, 0);
    shmem_clear_lock(&lock);
  }
}

static void *work(void *arg) {
  const long t = (long)(intptr_t)arg;
  use_own_context(t);
  pthread_barrier_wait(&meet);
  if (t == 0) {
    shmem_barrier_all();
    CHECK_EQ(shmem_g(&total, 0), (long)THREADS * ROUNDS * n);
    shmem_barrier_all();
  }
  pthread_barrier_wait(&meet);
  use_default(t);
  play(t);
  share_lock();
  return NULL;
}

int main(void) {
  int provided = -1, level = -1;
  CHECK_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
  shmem_query_thread(&level);
  CHECK_EQ(provided, SHMEM_THREAD_MULTIPLE);
  CHECK_EQ(level, SHMEM_THREAD_MULTIPLE);
  me = shmem_my_pe(), n = shmem_n_pes();
  check_set_rank((unsigned)me);
  right = (me + 1) % n, left = (me + n - 1) % n;
  pthread_barrier_init(&meet, NULL, THREADS);
  shmem_barrier_all();
  pthread_t thread[THREADS];
  for (intptr_t t = 0; t < THREADS; t++) pthread_create(&thread[t], NULL, work, (void *)t);
  for (int t = 0; t < THREADS; t++) pthread_join(thread[t], NULL);
  shmem_barrier_all();
  CHECK_EQ(shmem_g(&total, 0), 2L * THREADS * ROUNDS * n);
  CHECK_EQ(shmem_g(&guarded, 0), (long)THREADS * LOCKED * n);
  CHECK_EQ(lock, 0);
  shmem_finalize();
  return check_done();
}
