/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of the lock: exclusion with more threads than processors, a holder that sleeps, and
 * the form for one thread.
 */

#include "base/unit_test.h"
#include "os/os.h"
#include "os/sync/lock.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#define THREADS_MAX 16
#define ROUNDS      20000

static struct tmb_lock lock;
static uint64_t count TMB_GUARDED_BY(lock);
static uint64_t twin TMB_GUARDED_BY(lock);

static void *add(void *arg) {
  const int tries = *(const int *)arg;
  for (int i = 0; i < ROUNDS; i++) {
    if (tries) {
      while (!tmb_lock_try(&lock)) sched_yield();
    } else {
      tmb_lock_acquire(&lock);
    }
    count++;
    if (i % 512 == 0) sched_yield(); /* the holder loses its processor */
    twin++;
    const bool torn = count != twin;
    tmb_lock_release(&lock);
    if (torn) return &lock;
  }
  return NULL;
}

static void excludes(void **state) {
  (void)state;
  for (int threads = 2; threads <= THREADS_MAX; threads *= 2) {
    pthread_t thread[THREADS_MAX];
    const int tries[2] = {0, 1};
    tmb_lock_acquire(&lock);
    count = twin = 0;
    tmb_lock_release(&lock);
    for (int i = 0; i < threads; i++)
      assert_int_equal(pthread_create(&thread[i], NULL, add, (void *)&tries[i % 8 == 7]), 0);
    for (int i = 0; i < threads; i++) {
      void *bad;
      pthread_join(thread[i], &bad);
      assert_null(bad);
    }
    tmb_lock_acquire(&lock);
    assert_int_equal(count, (uint64_t)threads * ROUNDS);
    tmb_lock_release(&lock);
  }
}

static void *pass_through(void *arg) {
  (void)arg;
  tmb_lock_acquire(&lock);
  count++;
  tmb_lock_release(&lock);
  return NULL;
}

/* Waiters go to sleep, and each release wakes the next one. */
static void wakes_all_sleepers(void **state) {
  (void)state;
  for (int round = 0; round < 20; round++) {
    pthread_t thread[THREADS_MAX];
    tmb_lock_acquire(&lock);
    count = 0;
    for (int i = 0; i < THREADS_MAX; i++)
      assert_int_equal(pthread_create(&thread[i], NULL, pass_through, NULL), 0);
    while (!tmb_load_acq(&lock.asleep)) sched_yield();
    const struct timespec moment = {0, 2000000};
    nanosleep(&moment, NULL);
    tmb_lock_release(&lock);
    for (int i = 0; i < THREADS_MAX; i++) pthread_join(thread[i], NULL);
    tmb_lock_acquire(&lock);
    assert_int_equal(count, THREADS_MAX);
    tmb_lock_release(&lock);
  }
}

static uint64_t turns; /* of the other thread; atomic */
static uint64_t passed_over;
static bool stop;

/* Before the first tmb_lock_init: the kernel's fence of sleepers is not in use. */
TEST(without_fence) {
  assert_true(tmb_lock_threads);
  excludes(state);
  wakes_all_sleepers(state);
}

TEST(with_fence) {
  tmb_lock_init(true);
  excludes(state);
  wakes_all_sleepers(state);
}

/* Holds the lock nearly always; counts how often it could take it again before a thread that waits
 * in vain. */
TMB_NO_LOCK_CHECK static void *hold_on(void *arg) {
  (void)arg;
  tmb_lock_acquire(&lock);
  while (!tmb_load_acq(&stop)) {
    const uint64_t end = tmb_os_now_ns() + 200000;
    while (tmb_os_now_ns() < end) tmb_cpu_pause();
    const bool hungry = tmb_load_acq(&lock.hungry);
    const uint64_t before = tmb_load_acq(&turns);
    tmb_lock_release(&lock);
    if (!tmb_lock_try(&lock))
      tmb_lock_acquire(&lock);
    else if (hungry && tmb_load_acq(&turns) == before)
      passed_over++;
  }
  tmb_lock_release(&lock);
  return NULL;
}

/* A thread that takes the lock again at once does not starve a thread that sleeps on it. */
TEST(starves_nobody) {
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, hold_on, NULL), 0);
  for (int i = 0; i < 100; i++) {
    while (!tmb_load_acq(&lock.held)) sched_yield();
    tmb_lock_acquire(&lock);
    tmb_fetch_add_rel(&turns, 1);
    tmb_lock_release(&lock);
  }
  tmb_store_rel(&stop, true);
  pthread_join(thread, NULL);
  assert_in_range(passed_over, 0, 20); /* thousands where nobody is handed the lock */
}

TMB_NO_LOCK_CHECK static void try_both(void) {
  for (int threads = 1; threads >= 0; threads--) {
    tmb_lock_init(threads);
    if (!tmb_lock_try(&lock)) fail_msg("a free lock was not taken");
    if (tmb_lock_try(&lock)) fail_msg("a lock was taken twice");
    tmb_lock_release(&lock);
    assert_int_equal(lock.word, 0);
  }
}

TEST(tries) {
  try_both();
}

/* A count is exact, with one thread and with several. */
static void *count_many(void *arg) {
  for (int i = 0; i < 100000; i++) tmb_lock_count(arg, 2);
  return NULL;
}

TEST(counts) {
  uint64_t count = 0;
  pthread_t thread;
  tmb_lock_init(false);
  count_many(&count);
  assert_int_equal(count, 200000);
  tmb_lock_init(true);
  assert_int_equal(pthread_create(&thread, NULL, count_many, &count), 0);
  count_many(&count);
  pthread_join(thread, NULL);
  assert_int_equal(count, 600000);
}

int main(void) {
  return unit_run(NULL, NULL);
}
