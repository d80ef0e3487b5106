/* SPDX-License-Identifier: BSD-3-Clause */
/* Semaphores of each kind, signalling puts, locks, atomics. */
/* again: TOMBOLO_TEST_SHM=0+TOMBOLO_STATS=1 */
#define BUPC_USE_UPC_NAMESPACE 1
#include <unistd.h>
#include <upc_atomic.h>
#include <upc_relaxed.h>
#include "check.h"

#define ROUNDS 50

shared [8] int box[8 * THREADS];
bupc_sem_t *shared sems[THREADS];
bupc_sem_t *shared back[THREADS];

static void kind(int flags) {
  const int next = (MYTHREAD + 1) % THREADS, before = (MYTHREAD + THREADS - 1) % THREADS;
  sems[MYTHREAD] = bupc_sem_alloc(flags);
  back[MYTHREAD] = upc_sem_alloc(flags);
  upc_barrier;
  bupc_sem_t *to = sems[next], *mine = sems[MYTHREAD];
  for (int i = 0; i < ROUNDS; i++) {
    int data[8];
    for (int k = 0; k < 8; k++) data[k] = MYTHREAD * 1000 + i + k;
    if (i % 2) bupc_memput_signal(&box[8 * next], data, sizeof data, to, 1);
    else {
      upc_memput(&box[8 * next], data, sizeof data);
      bupc_sem_post(to);
    }
    if (i % 3) bupc_sem_wait(mine);
    else
      while (!bupc_sem_try(mine)) {
      }
    for (int k = 0; k < 8; k++) CHECK_EQ(box[8 * MYTHREAD + k], before * 1000 + i + k);
    upc_sem_post(back[before]);
    bupc_sem_wait(back[MYTHREAD]);
  }
  CHECK(!bupc_sem_try(mine));
  upc_barrier;
  if (!(flags & BUPC_SEM_BOOLEAN)) {
    bupc_sem_postN(to, 5);
    bupc_sem_waitN(mine, 3);
    CHECK(bupc_sem_tryN(mine, 2));
    CHECK(!bupc_sem_tryN(mine, 1));
  }
  upc_barrier;
  bupc_sem_free(mine);
  bupc_sem_free(back[(MYTHREAD + 1) % THREADS]); /* by any thread */
  upc_barrier;
}

shared int counter;
shared long long_counter;
shared double real;
shared int *shared pointer;
upc_lock_t *shared locks[THREADS];

static void locking(void) {
  upc_lock_t *all = upc_all_lock_alloc();
  locks[MYTHREAD] = upc_global_lock_alloc();
  counter = 0;
  upc_barrier;
  for (int i = 0; i < ROUNDS; i++) {
    upc_lock(all);
    counter++;
    upc_unlock(all);
    upc_lock_t *other = locks[(MYTHREAD + i) % THREADS];
    while (!upc_lock_attempt(other)) upc_poll();
    upc_unlock(other);
  }
  upc_barrier;
  CHECK_EQ(counter, ROUNDS * THREADS);
  upc_barrier;
  upc_lock_free(locks[MYTHREAD]);
  upc_all_lock_free(all);
  for (int i = 0; i < 100; i++) { /* one thread frees at once */
    upc_lock_t *l = upc_all_lock_alloc();
    if (MYTHREAD == i % THREADS) {
      upc_lock(l);
      upc_lock_free(l);
    }
  }
}

/* Thread 0 takes its own lock again and again and makes no other call: the others come in between,
 * also where their requests cross a network. */
static void fair_locks(void) {
  enum { ROUNDS_MAX = 12, ROUND_US = 100000 };
  if (MYTHREAD == 0) locks[0] = upc_global_lock_alloc();
  upc_barrier;
  upc_lock_t *lock = locks[0];
  int i = 0;
  if (MYTHREAD == 0) upc_lock(lock);
  upc_barrier;
  if (MYTHREAD == 0) {
    for (; counter < THREADS - 1 && i < ROUNDS_MAX; i++) {
      usleep(ROUND_US);
      upc_unlock(lock);
      upc_lock(lock);
    }
    CHECK_EQ(counter, THREADS - 1);
  } else {
    upc_lock(lock);
    counter++;
  }
  upc_unlock(lock);
  upc_barrier;
  if (MYTHREAD == 0) upc_lock_free(lock);
}

static void atomics(void) {
  upc_atomicdomain_t *ints = upc_all_atomicdomain_alloc(
      UPC_INT, UPC_ADD | UPC_GET | UPC_SET | UPC_CSWAP | UPC_INC | UPC_MAX | UPC_AND, 0);
  upc_atomicdomain_t *reals = upc_all_atomicdomain_alloc(UPC_DOUBLE, UPC_ADD | UPC_MIN, 0);
  upc_atomicdomain_t *pointers = upc_all_atomicdomain_alloc(UPC_PTS, UPC_CSWAP | UPC_GET, 0);
  const int one = 1;
  const double half = 0.5;
  int old;
  if (MYTHREAD == 0) {
    counter = 0;
    real = 0;
    pointer = NULL;
  }
  upc_barrier;
  for (int i = 0; i < ROUNDS; i++) {
    upc_atomic_relaxed(ints, &old, UPC_ADD, &counter, &one, NULL);
    CHECK(old >= 0 && old < ROUNDS * THREADS);
    upc_atomic_strict(reals, NULL, UPC_ADD, &real, &half, NULL);
    bupc_atomicL_fetchadd_relaxed(&long_counter, 2);
  }
  upc_barrier;
  upc_atomic_relaxed(ints, &old, UPC_GET, &counter, NULL, NULL);
  CHECK_EQ(old, ROUNDS * THREADS);
  CHECK(real == 0.5 * ROUNDS * THREADS);
  CHECK_EQ(bupc_atomicL_read_strict(&long_counter), 2L * ROUNDS * THREADS);
  upc_barrier;
  shared int *none = NULL, *mine = &counter, *seen;
  upc_atomic_strict(pointers, &seen, UPC_CSWAP, &pointer, &none, &mine);
  CHECK(seen == NULL || seen == &counter);
  upc_barrier;
  CHECK(pointer == &counter);
  upc_barrier;
  if (MYTHREAD == 0) {
    CHECK_EQ(bupc_atomicI_mswap_strict(&counter, 0xff, 0x12), ROUNDS * THREADS);
    CHECK_EQ(counter, (ROUNDS * THREADS & ~0xff) | 0x12);
    bupc_atomicI_set_relaxed(&counter, 6);
    CHECK_EQ(bupc_atomicI_fetchnot_relaxed(&counter), 6);
    CHECK_EQ(counter, ~6);
    CHECK_EQ(bupc_atomicI_cswap_strict(&counter, ~6, 9), ~6);
    CHECK_EQ(bupc_atomicI_fetchxor_private((int *)&counter, 1), 9);
    CHECK_EQ(counter, 8);
  }
  CHECK(upc_atomic_isfast(UPC_INT, UPC_ADD, &counter) >= 0);
  upc_all_atomicdomain_free(ints);
  upc_all_atomicdomain_free(reals);
  upc_all_atomicdomain_free(pointers);
}

int gexx_Stats_Query(int kind, unsigned jobrank, uint64_t *count, uint64_t *bytes);
enum { GETS = 4 };

/* Gets that this thread has made; 0 where nobody counts. */
static uint64_t gets(void) {
  uint64_t count = 0;
  (void)gexx_Stats_Query(GETS, ~0u, &count, NULL);
  return count;
}

/* A thread asks once where the semaphore of another one is. */
static void known(void) {
  sems[MYTHREAD] = bupc_sem_alloc(0);
  upc_barrier;
  bupc_sem_t *to = sems[(MYTHREAD + 1) % THREADS];
  const uint64_t before = gets();
  for (int i = 0; i < ROUNDS; i++) bupc_sem_post(to);
  CHECK(gets() - before <= 1);
  bupc_sem_waitN(sems[MYTHREAD], ROUNDS);
  upc_barrier;
  bupc_sem_free(sems[MYTHREAD]);
}

/* Semaphores that come and go, freed by the owner or by the thread before: each is empty at first,
 * and posts of a far thread that knows the place from before reach the new one. */
static void reused(void) {
  const int next = (MYTHREAD + 1) % THREADS, before = (MYTHREAD + THREADS - 1) % THREADS;
  for (int i = 0; i < ROUNDS; i++) {
    sems[MYTHREAD] = bupc_sem_alloc(i % 3 ? 0 : BUPC_SEM_BOOLEAN);
    back[MYTHREAD] = bupc_sem_alloc(0);
    CHECK(!bupc_sem_try(sems[MYTHREAD]));
    CHECK(!bupc_sem_try(back[MYTHREAD]));
    upc_barrier;
    int data[8] = {i};
    bupc_memput_signal(&box[8 * next], data, sizeof data, sems[next], 1);
    bupc_sem_postN(back[before], 1 + i % 2); /* one is left in every other round */
    bupc_sem_wait(sems[MYTHREAD]);
    bupc_sem_wait(back[MYTHREAD]);
    CHECK_EQ(box[8 * MYTHREAD], i);
    upc_barrier;
    bupc_sem_free(sems[MYTHREAD]);
    bupc_sem_free(back[i % 2 ? next : MYTHREAD]);
    upc_barrier;
  }
}

int main(void) {
  fair_locks(); /* first: a thread that has made few calls has not polled by itself */
  kind(0);
  kind(BUPC_SEM_INTEGER | BUPC_SEM_SPRODUCER | BUPC_SEM_SCONSUMER);
  kind(BUPC_SEM_BOOLEAN | BUPC_SEM_SPRODUCER | BUPC_SEM_MCONSUMER);
  known();
  reused();
  locking();
  atomics();
  return 0;
}
