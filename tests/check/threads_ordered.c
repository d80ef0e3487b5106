/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of a rank that are ordered in each way there is, one case each, for
 * tests/check/findings.py: compiled with `tombolo cc --check`. No finding is right here. Run with
 * 3 ranks, of which rank 0 has several threads; the argument is the case.
 */
#define BEFORE_ATTACH more_handlers
static void more_handlers(void);
#include "two_threads.h"

#include <gasnet_ratomic.h>
#include <gasnet_tools.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <threads.h> /* tidy-allow: layers because it is the C library's, not that of tests/lib */

static pthread_mutex_t mutex[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t together;
static pthread_t first_thread;
static pthread_spinlock_t spin;
static sem_t sem;
static atomic_int flag;
static volatile int plain_flag;
static int ready; /* under mutex[0] */

/* Each of two threads hands over to the other one what it has heard of other ranks, and done. */
OTHER(ok_through_both) {
  for (int i = 0; i < 20; i++) {
    sem_wait(&sem);
    sink = base[0][0];
    PUT(1, 8, 8);
    pthread_mutex_lock(&mutex[0]);
    ready = i + 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex[0]);
  }
}
CASE(ok_through_both) {
  pthread_t t = pthread_self();
  if (!me) t = begin(run_ok_through_both);
  for (int i = 0; i < 20; i++) {
    if (me == 1) PUT(0, 0, 8);
    barrier();
    if (!me) {
      sem_post(&sem);
      pthread_mutex_lock(&mutex[0]);
      while (ready <= i) pthread_cond_wait(&cond, &mutex[0]);
      pthread_mutex_unlock(&mutex[0]);
    }
    barrier();
    if (me == 1) base[1][8] = i;
    barrier();
  }
  if (!me) pthread_join(t, NULL);
}

/* A thread that has ended, and one that begins. */
OTHER(ok_made_and_joined) {
  base[0][1] = base[0][0];
  PUT(2, 0, 8);
}
CASE(ok_made_and_joined) {
  for (int i = 0; i < 20; i++) {
    if (me == 1) PUT(0, 0, 8);
    barrier();
    if (!me) pthread_join(begin(run_ok_made_and_joined), NULL);
    barrier();
    if (me == 2) base[2][0] = gex_RMA_GetBlockingVal(tm, 0, base[0] + 1, 8, 0);
  }
}

/* Handlers run in whichever thread polls. */
static atomic_int over;
OTHER(ok_handled_by_two) {
  while (!atomic_load(&over)) {
    gasnet_AMPoll();
    sched_yield();
  }
}
CASE(ok_handled_by_two) {
  pthread_t t = pthread_self();
  if (!me) t = begin(run_ok_handled_by_two);
  for (int i = 0; i < 50; i++) {
    if (me == 1) {
      base[1][i] = i;
      gex_AM_RequestShort0(tm, 0, H_SHORT, 0);
    }
    if (me) continue;
    GASNET_BLOCKUNTIL(handled > i);
    gex_RMA_GetBlocking(tm, v, 1, base[1] + i, 8, 0);
  }
  if (!me) atomic_store(&over, 1);
  if (!me) pthread_join(t, NULL);
}

/* A signal that both threads take. */
OTHER(ok_signal_by_two) {
  (void)gexx_Signal_Wait(sig(0), GEXX_SIG_GE, 1);
  sink = base[0][0];
}
CASE(ok_signal_by_two) {
  if (me == 1) PUT_SIGNAL(0);
  if (me) return;
  pthread_t t = begin(run_ok_signal_by_two);
  other_ok_signal_by_two();
  pthread_join(t, NULL);
}

OTHER(ok_join) {
  base[0][0] = 1;
  PUT(1, 0, 8);
}
CASE(ok_join) {
  if (me) return;
  base[0][0] = 1;
  for (int i = 0; i < 200; i++) {
    pthread_join(begin(run_ok_join), NULL);
    base[0][0]++;
    PUT(1, 0, 8);
  }
}

OTHER(ok_mutex) {
  for (int i = 0; i < 100; i++) {
    pthread_mutex_lock(&mutex[0]);
    base[0][0]++;
    PUT(1, 0, 8);
    pthread_mutex_unlock(&mutex[0]);
  }
}
FIRST(ok_mutex) {
  other_ok_mutex();
}

OTHER(ok_condition) {
  base[0][0] = 1;
  PUT(1, 0, 8);
  pthread_mutex_lock(&mutex[0]);
  ready = 1;
  pthread_cond_broadcast(&cond);
  pthread_mutex_unlock(&mutex[0]);
}
FIRST(ok_condition) {
  pthread_mutex_lock(&mutex[0]);
  while (!ready) pthread_cond_wait(&cond, &mutex[0]);
  pthread_mutex_unlock(&mutex[0]);
  base[0][0] = 2;
  PUT(1, 0, 8);
}

OTHER(ok_semaphore) {
  PUT(0, 0, 8);
  sem_post(&sem);
}
FIRST(ok_semaphore) {
  sem_wait(&sem);
  base[0][0] = 2;
}

OTHER(ok_atomic) {
  for (int i = 0; i < 100; i++) base[0][128 + i] = i;
  atomic_store(&flag, 1);
  while (atomic_load(&flag) != 2) continue;
  base[0][128]++;
}
FIRST(ok_atomic) {
  while (!atomic_load(&flag)) continue;
  memset(base[0] + 128, 0, 800);
  gex_RMA_GetBlocking(tm, v, 0, base[0] + 200, 8, 0);
  atomic_store(&flag, 2);
}

/* An atomic variable in the segment. */
OTHER(ok_atomic_here) {
  base[0][1] = 7;
  atomic_fetch_add((_Atomic long *)base[0], 1);
}
FIRST(ok_atomic_here) {
  while (!atomic_load((_Atomic long *)base[0])) continue;
  base[0][1] = 8;
}

OTHER(ok_volatile) {
  for (int i = 0; i < 1000; i += 2) {
    while (plain_flag != i) continue;
    base[0][i % 7]++;
    plain_flag = i + 1;
  }
}
FIRST(ok_volatile) {
  for (int i = 1; i < 1000; i += 2) {
    while (plain_flag != i) continue;
    base[0][(i - 1) % 7]++;
    plain_flag = i + 1;
  }
}

/* A thread that leaves a barrier when the other one has come to it again. */
static void on_signal(int number) {
  (void)number;
  usleep(200000);
}
OTHER(late_leaver) {
  usleep(50000);
  pthread_kill(first_thread, SIGUSR2);
  usleep(1000);
  pthread_barrier_wait(&together);
  base[0][0] = 1; /* race: late_leaver */
  pthread_barrier_wait(&together);
}
CASE(late_leaver) {
  if (me) return;
  signal(SIGUSR2, on_signal);
  first_thread = pthread_self();
  pthread_barrier_init(&together, NULL, 2);
  pthread_t t = begin(run_late_leaver);
  pthread_barrier_wait(&together);
  base[0][0] = 2; /* race: late_leaver */
  pthread_barrier_wait(&together);
  pthread_join(t, NULL);
  pthread_barrier_destroy(&together);
}

/* Each sweep goes through what the other thread has changed before. */
static void sweep(int from) {
  for (int k = 0; k < 20; k++) {
    long *const half = base[0] + 250 * ((k + from) % 2);
    for (int i = 0; i < 250; i++) half[i] += i;
    pthread_barrier_wait(&together);
  }
}
OTHER(ok_sweeps) {
  sweep(1);
}
CASE(ok_sweeps) {
  if (me) return;
  pthread_barrier_init(&together, NULL, 2);
  pthread_t t = begin(run_ok_sweeps);
  sweep(0);
  pthread_join(t, NULL);
}

OTHER(ok_rwlock) {
  for (int i = 0; i < 100; i++) {
    pthread_rwlock_wrlock(&rwlock);
    base[0][i % 5] = i;
    pthread_rwlock_unlock(&rwlock);
  }
}
FIRST(ok_rwlock) {
  for (int i = 0; i < 100; i++) {
    pthread_rwlock_rdlock(&rwlock);
    sink = base[0][i % 5];
    pthread_rwlock_unlock(&rwlock);
  }
}

static void in_turns(int mine) {
  for (int i = 0; i < 50; i++) {
    if (i % 2 == mine) base[0][0]++;
    pthread_barrier_wait(&together);
  }
}
OTHER(ok_barrier) {
  in_turns(1);
}
CASE(ok_barrier) {
  if (me) return;
  pthread_barrier_init(&together, NULL, 2);
  const pthread_t t = begin(run_ok_barrier);
  in_turns(0);
  pthread_join(t, NULL);
}

static gex_HSL_t hsl = GEX_HSL_INITIALIZER;
OTHER(ok_locks) {
  for (int i = 0; i < 50; i++) {
    gex_HSL_Lock(&hsl);
    base[0][0]++;
    gex_HSL_Unlock(&hsl);
    pthread_spin_lock(&spin);
    base[0][1]++;
    pthread_spin_unlock(&spin);
  }
}
CASE(ok_locks) {
  if (me) return;
  pthread_spin_init(&spin, 0);
  const pthread_t t = begin(run_ok_locks);
  other_ok_locks();
  pthread_join(t, NULL);
}

static int ends[2];
OTHER(ok_pipe) {
  base[0][0] = 1;
  if (write(ends[1], "x", 1) != 1) abort();
}
CASE(ok_pipe) {
  char c;
  if (me) return;
  if (pipe(ends) != 0) abort();
  const pthread_t t = begin(run_ok_pipe);
  if (read(ends[0], &c, 1) != 1) abort();
  base[0][0] = 2;
  pthread_join(t, NULL);
}

static pthread_once_t done = PTHREAD_ONCE_INIT;
static void make(void) {
  base[0][0] = 3;
}
OTHER(ok_once) {
  pthread_once(&done, make);
  sink = base[0][0];
}
FIRST(ok_once) {
  other_ok_once();
}

/* C11. */
static mtx_t mtx;
static cnd_t cnd;
static int c11(void *arg) {
  mtx_lock(&mtx);
  base[0][0]++;
  ready = 1;
  cnd_signal(&cnd);
  mtx_unlock(&mtx);
  (void)arg;
  return 0;
}
CASE(ok_c11) {
  thrd_t t;
  if (me) return;
  mtx_init(&mtx, mtx_plain);
  cnd_init(&cnd);
  if (thrd_create(&t, c11, NULL) != thrd_success) abort();
  mtx_lock(&mtx);
  while (!ready) cnd_wait(&cnd, &mtx);
  base[0][0]++;
  mtx_unlock(&mtx);
  thrd_join(t, NULL);
  base[0][0]++;
}
static int c11_store(void *arg) {
  base[0][0] = (long)arg; /* race: c11_race */
  return 0;
}
CASE(c11_race) {
  thrd_t t;
  if (me) return;
  if (thrd_create(&t, c11_store, NULL) != thrd_success) abort();
  base[0][0] = 1; /* race: c11_race */
  thrd_join(t, NULL);
}

/* Four workers take tasks of a queue under a mutex; who gave them waits for all results. */
#define TASKS 200
static struct { int first, last, done; } queue;
static void *work(void *arg) {
  for (;;) {
    pthread_mutex_lock(&mutex[0]);
    while (queue.first == queue.last && queue.first < TASKS) pthread_cond_wait(&cond, &mutex[0]);
    const int task = queue.first < TASKS ? queue.first++ : TASKS;
    pthread_mutex_unlock(&mutex[0]);
    if (task == TASKS) return arg;
    base[0][128 + task] *= 2;
    gex_RMA_PutBlocking(tm, 1, base[1] + 128 + task, base[0] + 128 + task, 8, 0);
    pthread_mutex_lock(&mutex[0]);
    queue.done++;
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&mutex[0]);
  }
}
CASE(ok_pool) {
  pthread_t t[4];
  if (me) return;
  for (int i = 0; i < 4; i++)
    if (pthread_create(&t[i], NULL, work, NULL) != 0) abort();
  for (int i = 0; i < TASKS; i++) {
    base[0][128 + i] = i;
    pthread_mutex_lock(&mutex[0]);
    queue.last++;
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&mutex[0]);
  }
  pthread_mutex_lock(&mutex[0]);
  while (queue.done < TASKS) pthread_cond_wait(&cond, &mutex[0]);
  pthread_mutex_unlock(&mutex[0]);
  gex_RMA_GetBlocking(tm, base[0] + 1024, 1, base[1] + 128, TASKS * 8, 0);
  for (int i = 0; i < TASKS; i++) base[0][128 + i] = 0;
  for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
}

/* The order goes through another rank: its answer comes after what the other thread did. */
OTHER(ok_by_message) {
  base[0][0] = 1;
  PUT(1, 0, 8);
  gex_AM_RequestShort0(tm, 1, H_SHORT, 0);
}
CASE(ok_by_message) {
  pthread_t t = pthread_self();
  if (!me) t = begin(run_ok_by_message);
  if (me == 1) {
    GASNET_BLOCKUNTIL(handled);
    PUT_SIGNAL(0);
  }
  if (!me) {
    gexx_Signal_Wait(sig(0), GEXX_SIG_GE, 1);
    base[0][0] = 2;
    PUT(1, 0, 8);
    pthread_join(t, NULL);
  }
}

/* A handler runs in the thread that polls; the other one waits for what it counts. */
OTHER(ok_handler) {
  while (plain_flag == 0) gasnet_AMPoll();
}
CASE(ok_handler) {
  pthread_t t = pthread_self();
  barrier();
  if (me == 1) gex_AM_RequestLong0(tm, 0, H_LONG, v, 8, base[0], GEX_EVENT_NOW, 0);
  if (me) return;
  t = begin(run_ok_handler);
  while (!handled) continue;
  base[0][0] = 5;
  plain_flag = 1;
  pthread_join(t, NULL);
}

/* The handler runs in either thread; what it says is neither atomic nor volatile, but the wait has
 * polled, or there is a fence. */
#define H_STORES 204
static int stored;
static void on_stores(gex_Token_t t, gex_AM_Arg_t k) {
  (void)t;
  base[0][k % 7]++;
  stored = k;
}
static void more_handlers(void) {
  gex_AM_Entry_t entry = {
      H_STORES, (gex_AM_Fn_t)on_stores, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, NULL};
  (void)gex_EP_RegisterHandlers(ep, &entry, 1);
}
CASE(ok_either_polls) {
  pthread_t t = pthread_self();
  if (!me) t = begin(run_ok_handler);
  for (int k = 1; k <= 100; k++) {
    if (me == 1) gex_AM_RequestShort1(tm, 0, H_STORES, 0, k);
    if (!me) {
      GASNET_BLOCKUNTIL(stored == k);
      base[0][k % 7]++;
      PUT_SIGNAL(1);
    }
    if (me == 1) gexx_Signal_Wait(sig(1), GEXX_SIG_GE, (uint64_t)k);
  }
  plain_flag = 1;
  if (!me) pthread_join(t, NULL);
}
OTHER(ok_fences) {
  base[0][0] = 1;
  gasnett_local_wmb();
  ready = 1;
}
FIRST(ok_fences) {
  while (!ready) gasnett_compiler_fence();
  gasnett_local_rmb();
  base[0][0] = 2;
}

/* One thread begins a barrier of the job, and another one waits for it. */
OTHER(ok_barrier_of_two) {
  gasnet_barrier_notify(7, 0);
}
CASE(ok_barrier_of_two) {
  if (me == 1) PUT(0, 0, 8);
  if (me == 0)
    pthread_join(begin(run_ok_barrier_of_two), NULL);
  else
    gasnet_barrier_notify(7, 0);
  if (gasnet_barrier_wait(7, 0) != GASNET_OK) abort();
  if (me == 0) sink = base[0][0];
}

/* An operation that one thread starts and another one waits for. */
static gex_Event_t handed;
OTHER(ok_event) {
  handed = gex_RMA_PutNB(tm, 1, base[1], base[0], 8, GEX_EVENT_DEFER, 0);
  sem_post(&sem);
}
FIRST(ok_event) {
  sem_wait(&sem);
  wait_for(handed);
  base[0][0] = 1;
  PUT(1, 0, 8);
}

OTHER(ok_neighbours) {
  for (int i = 0; i < 500; i++) ((char *)base[0])[2 * i] = 1;
}
FIRST(ok_neighbours) {
  for (int i = 0; i < 500; i++) ((char *)base[0])[2 * i + 1] = 1;
}

/* Memory outside of the segment may be freed and allocated in between. */
static long more[8];
OTHER(ok_allocated) {
  gex_Event_t e[2];
  e[0] = gex_RMA_PutNB(tm, 1, base[1], more, 64, GEX_EVENT_DEFER, 0);
  e[1] = gex_RMA_GetNB(tm, v, 2, base[2], 64, 0);
  sink = more[7]; /* it is compared, so that the put's source has a record */
  wait_for(e[0]);
  hidden_give(0);
  hidden_take(1);
  wait_for(e[1]);
}
FIRST(ok_allocated) {
  hidden_take(0);
  more[0]++;
  hidden_give(1);
}

CASE(ok_openmp) {
#ifdef _OPENMP
  long sum = 0;
  if (me) return;
# pragma omp parallel for num_threads(3)
  for (int i = 0; i < 300; i++) base[0][128 + i] = i;
# pragma omp parallel for num_threads(3) reduction(+ : sum)
  for (int i = 0; i < 300; i++) sum += base[0][128 + 299 - i];
# pragma omp parallel num_threads(3)
  {
# pragma omp critical
    base[0][0]++;
# pragma omp barrier
# pragma omp single
    base[0][0]++;
  }
  base[0][128] = sum;
#endif
}

int main(int argc, char **argv) {
  sem_init(&sem, 0, 0);
  hidden_start();
  return run_three(argc, argv);
}
