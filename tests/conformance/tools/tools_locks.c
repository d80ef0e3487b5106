/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* mode: PAR */
/*
 * Mutexes, condition variables, reader/writer locks and thread keys among threads (API reference
 * 09, sections 5 to 7), in a client without checks.
 */
#include <errno.h>
#include <gasnet_tools.h>

#include "check.h"
#include "threads.h"

enum { THREADS = 4, ROUNDS = 5000, ITEMS = 2000 };

static gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
static gasnett_rwlock_t rwlock = GASNETT_RWLOCK_INITIALIZER;
static long guarded;
static struct { long a, b; } pair;
static gasnett_atomic_t inconsistent = gasnett_atomic_init(0);

static void *contend(void *arg) {
  (void)arg;
  for (int i = 0; i < ROUNDS; i++) {
    gasnett_mutex_lock(&mutex);
    guarded++;
    gasnett_mutex_unlock(&mutex);
    if (i % 4 == 0) {
      gasnett_rwlock_wrlock(&rwlock);
      gasnett_rwlock_assertwrlocked(&rwlock);
      pair.a++;
      pair.b--;
    } else {
      gasnett_rwlock_rdlock(&rwlock);
      if (pair.a != -pair.b) gasnett_atomic_increment(&inconsistent, 0);
    }
    gasnett_rwlock_unlock(&rwlock);
  }
  return NULL;
}

static void test_exclusion(void) {
  pthread_t thread[THREADS];
  for (int i = 0; i < THREADS; i++) REQUIRE(pthread_create(&thread[i], NULL, contend, NULL) == 0);
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  CHECK_EQ(guarded, THREADS * ROUNDS);
  CHECK_EQ(pair.a, THREADS * ROUNDS / 4);
  CHECK_EQ(gasnett_atomic_read(&inconsistent, 0), 0);
}

/* A queue of one place between a producer and two consumers. */
static gasnett_mutex_t queue_lock;
static gasnett_cond_t filled, emptied = GASNETT_COND_INITIALIZER;
static int place;
static long taken_sum;

static void *consume(void *arg) {
  (void)arg;
  for (;;) {
    gasnett_mutex_lock(&queue_lock);
    while (place == 0) gasnett_cond_wait(&filled, &queue_lock);
    const int item = place;
    if (item > 0) place = 0;
    if (item > 0) taken_sum += item;
    gasnett_cond_signal(&emptied);
    gasnett_mutex_unlock(&queue_lock);
    if (item < 0) return NULL;
  }
}

static void put_item(int item) {
  gasnett_mutex_lock(&queue_lock);
  while (place != 0) gasnett_cond_wait(&emptied, &queue_lock);
  place = item;
  if (item < 0)
    gasnett_cond_broadcast(&filled);
  else
    gasnett_cond_signal(&filled);
  gasnett_mutex_unlock(&queue_lock);
}

static void test_cond(void) {
  pthread_t thread[2];
  gasnett_mutex_init(&queue_lock);
  gasnett_cond_init(&filled);
  for (int i = 0; i < 2; i++) REQUIRE(pthread_create(&thread[i], NULL, consume, NULL) == 0);
  for (int i = 1; i <= ITEMS; i++) put_item(i);
  put_item(-1);
  for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
  CHECK_EQ(taken_sum, (long)ITEMS * (ITEMS + 1) / 2);
  gasnett_cond_destroy(&filled);
  gasnett_cond_destroy(&emptied);
  gasnett_mutex_destroy(&queue_lock);
}

/* Results of the try forms on another thread while this one holds the locks. */
static int tried[3];

static void try_all(int id) {
  (void)id;
  tried[0] = gasnett_mutex_trylock(&mutex);
  tried[1] = gasnett_rwlock_tryrdlock(&rwlock);
  if (tried[1] == 0) gasnett_rwlock_unlock(&rwlock);
  tried[2] = gasnett_rwlock_trywrlock(&rwlock);
}

static void test_try(void) {
  CHECK_EQ(gasnett_mutex_trylock(&mutex), 0);
  CHECK_EQ(gasnett_rwlock_trywrlock(&rwlock), 0);
  run_threads(1, try_all);
  CHECK_EQ(tried[0], EBUSY);
  CHECK_EQ(tried[1], EBUSY);
  CHECK_EQ(tried[2], EBUSY);
  gasnett_rwlock_unlock(&rwlock);
  CHECK_EQ(gasnett_rwlock_tryrdlock(&rwlock), 0);
  run_threads(1, try_all);
  CHECK(tried[1] == 0 || tried[1] == EBUSY); /* concurrent readers are optional */
  CHECK_EQ(tried[2], EBUSY);
  gasnett_rwlock_unlock(&rwlock);
  gasnett_mutex_unlock(&mutex);
  CHECK_EQ(gasnett_mutex_destroy_ignoreerr(&mutex), 0);
  gasnett_rwlock_destroy(&rwlock);
  gasnett_rwlock_init(&rwlock);
  gasnett_rwlock_rdlock(&rwlock);
  gasnett_rwlock_assertlocked(&rwlock);
  gasnett_rwlock_assertrdlocked(&rwlock);
  gasnett_rwlock_unlock(&rwlock);
  gasnett_rwlock_assertunlocked(&rwlock);
  gasnett_rwlock_destroy(&rwlock);
}

GASNETT_THREADKEY_DECLARE(slot);
GASNETT_THREADKEY_DEFINE(slot);
GASNETT_THREADKEY_DEFINE(untouched);

static void *use_keys(void *arg) {
  int here = 0;
  gasnett_threadkey_init(slot);
  if (gasnett_threadkey_get(slot) != NULL) return arg;
  gasnett_threadkey_set(slot, &here);
  for (int i = 0; i < 1000; i++) gasnett_sched_yield();
  const int kept = gasnett_threadkey_get_noinit(slot) == &here;
  gasnett_threadkey_set_noinit(slot, NULL);
  const int empty = !gasnett_threadkey_get(slot) && !gasnett_threadkey_get(untouched);
  return kept && empty ? NULL : arg;
}

static void test_threadkeys(void) {
  pthread_t thread[THREADS];
  gasnett_threadkey_set(slot, &guarded);
  for (int i = 0; i < THREADS; i++)
    REQUIRE(pthread_create(&thread[i], NULL, use_keys, &guarded) == 0);
  for (int i = 0; i < THREADS; i++) {
    void *result = &guarded;
    pthread_join(thread[i], &result);
    CHECK_PTR(result, NULL);
  }
  CHECK_PTR(gasnett_threadkey_get(slot), &guarded);
  gasnett_threadkey_init(slot); /* idempotent */
  CHECK_PTR(gasnett_threadkey_get(slot), &guarded);
}

int main(void) {
  test_exclusion();
  test_cond();
  test_try();
  test_threadkeys();
  return check_done();
}
