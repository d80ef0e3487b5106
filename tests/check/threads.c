/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Seeded races of two threads of a rank, one case each, for tests/check/findings.py: compiled with
 * `tombolo cc --check`. Lines that race end with a comment `race: CASE`. Run with 3 ranks, of which
 * rank 0 has several threads; the argument is the case.
 */
#include "two_threads.h"

#include <semaphore.h>
#include <stdatomic.h>

static pthread_mutex_t mutex[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static atomic_int flag;
static volatile int plain_flag;
static int ready; /* under mutex[0] */

OTHER(two_stores) {
  base[0][0] = 1; /* race: two_stores */
}
FIRST(two_stores) {
  base[0][0] = 2; /* race: two_stores */
}

OTHER(store_load) {
  ((char *)base[0])[3] = 1; /* race: store_load */
}
FIRST(store_load) {
  sink = base[0][0]; /* race: store_load */
}

OTHER(two_puts) {
  PUT(1, 0, 8); /* race: two_puts */
}
FIRST(two_puts) {
  PUT(1, 0, 16); /* race: two_puts */
}

OTHER(put_get) {
  PUT(1, 0, 4096); /* race: put_get */
}
FIRST(put_get) {
  gex_RMA_GetBlocking(tm, v, 1, base[1] + 8, 8, 0); /* race: put_get */
}

OTHER(put_load) {
  PUT(0, 0, 8); /* race: put_load */
}
FIRST(put_load) {
  sink = base[0][0]; /* race: put_load */
}

OTHER(source_changed) {
  gex_Event_t e;
  e = gex_RMA_PutNB(tm, 1, base[1], base[0], 8, GEX_EVENT_DEFER, 0); /* race: source_changed */
  wait_for(e);
}
FIRST(source_changed) {
  base[0][0] = 5; /* race: source_changed */
}

OTHER(two_mutexes) {
  pthread_mutex_lock(&mutex[0]);
  base[0][0]++; /* race: two_mutexes */
  pthread_mutex_unlock(&mutex[0]);
}
FIRST(two_mutexes) {
  pthread_mutex_lock(&mutex[1]);
  base[0][0]++; /* race: two_mutexes */
  pthread_mutex_unlock(&mutex[1]);
}

OTHER(posted_early) {
  sem_post(&sem);
  base[0][0] = 1; /* race: posted_early */
}
FIRST(posted_early) {
  sem_wait(&sem);
  sink = base[0][0]; /* race: posted_early */
}

OTHER(flag_early) {
  atomic_store(&flag, 1);
  PUT(2, 0, 8); /* race: flag_early */
}
FIRST(flag_early) {
  while (!atomic_load(&flag)) continue;
  PUT(2, 0, 8); /* race: flag_early */
}

OTHER(volatile_early) {
  plain_flag = 1;
  base[0][0] = 1; /* race: volatile_early */
}
FIRST(volatile_early) {
  while (!plain_flag) continue;
  sink = base[0][0]; /* race: volatile_early */
}

OTHER(condition_early) {
  pthread_mutex_lock(&mutex[0]);
  ready = 1;
  pthread_cond_signal(&cond);
  pthread_mutex_unlock(&mutex[0]);
  base[0][0] = 1; /* race: condition_early */
}
FIRST(condition_early) {
  pthread_mutex_lock(&mutex[0]);
  while (!ready) pthread_cond_wait(&cond, &mutex[0]);
  pthread_mutex_unlock(&mutex[0]);
  sink = base[0][0]; /* race: condition_early */
}

/* The other thread's put is not before the barrier of the first one. */
OTHER(barrier_of_one) {
  for (int i = 0; i < 100; i++) base[0][128 + i] = i; /* race: barrier_of_one */
}
CASE(barrier_of_one) {
  pthread_t t = pthread_self();
  if (!me) t = begin(run_barrier_of_one);
  barrier();
  barrier();
  if (!me) memset(base[0] + 160, 0, 8); /* race: barrier_of_one */
  if (!me) pthread_join(t, NULL);
}

static __attribute__((noinline)) void store(long value) {
  base[0][0] = value; /* race: stored_again */
}
/* Lines that go through memory in order, of both threads at once; and one that goes on when another
 * thread's call has met what it did before. */
OTHER(two_sweeps) {
  for (int i = 0; i < 500; i++) base[0][i] = i; /* race: two_sweeps */
}
FIRST(two_sweeps) {
  long sum = 0;
  for (int i = 0; i < 500; i++) sum += base[0][i]; /* race: two_sweeps */
  sink = sum;
}

OTHER(sweep_goes_on) {
  for (int i = 0; i < 300; i++) {
    if (i == 100 || i == 200) {
      hidden_give(0);
      hidden_take(1);
    }
    base[0][100 + i] = i; /* race: sweep_goes_on */
  }
  hidden_give(0);
}
FIRST(sweep_goes_on) {
  for (int i = 0; i < 2; i++) {
    hidden_take(0);
    PUT(1, 0, 8);
    hidden_give(1);
  }
  hidden_take(0);
  base[0][250] = 1; /* race: sweep_goes_on */
}

OTHER(stored_again) {
  for (int i = 0; i < 2; i++) {
    store(i);
    if (i == 0) sem_post(&sem);
  }
  hidden_give(0);
}
FIRST(stored_again) {
  sem_wait(&sem);
  hidden_take(0);
  sink = base[0][0]; /* race: stored_again */
}

/* The lock comes too late. */
OTHER(locked_late) {
  hidden_take(0);
  const long loaded = base[0][0]; /* race: locked_late */
  __asm__ volatile("" : : "r"(loaded));
  pthread_mutex_lock(&mutex[0]);
  pthread_mutex_unlock(&mutex[0]);
}
FIRST(locked_late) {
  pthread_mutex_lock(&mutex[0]);
  base[0][0] = 1; /* race: locked_late */
  pthread_mutex_unlock(&mutex[0]);
  hidden_give(0);
}

/* Of two threads that the first one joins, one with the other. */
static void *store_word(void *arg) {
  base[0][8] = (long)arg; /* race: two_workers two_workers */
  return NULL;
}
CASE(two_workers) {
  pthread_t t[2];
  if (me) return;
  for (long i = 0; i < 2; i++)
    if (pthread_create(&t[i], NULL, store_word, (void *)i) != 0) abort();
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
}

/* ---- races with other ranks: another thread has met them */

/* The other thread waits for the barrier by a pipe, which orders nothing. */
OTHER(load_behind_barrier) {
  hidden_take(0);
  sink = base[0][0]; /* race: load_behind_barrier */
}
CASE(load_behind_barrier) {
  pthread_t t = pthread_self();
  if (me == 1) PUT(0, 0, 8); /* race: load_behind_barrier */
  if (!me) t = begin(run_load_behind_barrier);
  barrier();
  if (!me) hidden_give(0);
  if (!me) pthread_join(t, NULL);
}

OTHER(put_before_barrier) {
  PUT(1, 0, 8); /* race: put_before_barrier */
  hidden_give(0);
  hidden_take(1);
}
CASE(put_before_barrier) {
  pthread_t t = pthread_self();
  if (!me) t = begin(run_put_before_barrier);
  if (!me) hidden_take(0);
  barrier();
  if (me == 1) sink = base[1][0]; /* race: put_before_barrier */
  barrier();
  if (!me) hidden_give(1);
  if (!me) pthread_join(t, NULL);
}

OTHER(get_beside_message) {
  hidden_take(0);
  gex_RMA_GetBlocking(tm, v, 1, base[1], 8, 0); /* race: get_beside_message */
}
CASE(get_beside_message) {
  pthread_t t = pthread_self();
  if (!me) t = begin(run_get_beside_message);
  barrier();
  if (me == 1) {
    base[1][0] = 4; /* race: get_beside_message */
    gex_AM_RequestShort0(tm, 0, H_SHORT, 0);
  }
  if (me) return;
  GASNET_BLOCKUNTIL(handled);
  hidden_give(0);
  pthread_join(t, NULL);
}

int main(int argc, char **argv) {
  sem_init(&sem, 0, 0);
  hidden_start();
  return run_three(argc, argv);
}
