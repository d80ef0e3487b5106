/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops that do nothing but try: what they wait for must come, also over a network. */
/* again: TOMBOLO_TEST_SHM=0 */
#include <sched.h>
#include <unistd.h>
#include <upc_atomic.h>
#include <upc_nb.h>
#include <upc_relaxed.h>
#include "check.h"

#define N 5

shared [N] int a[N * THREADS];
shared int turn;
shared int ready[THREADS];
strict shared int begun[THREADS];

static int next_thread(void) {
  return (MYTHREAD + 1) % THREADS;
}

static void fill(int value) {
  upc_barrier;
  for (int i = 0; i < N; i++) a[MYTHREAD * N + i] = value;
  upc_barrier;
}

static void transfers(void) {
  int mine[N] = {1, 2, 3, 4, MYTHREAD}, got[N] = {0};
  fill(7);
  const upc_handle_t h = upc_memput_nb(&a[next_thread() * N], mine, sizeof mine);
  while (!upc_sync_attempt(h)) {
  }
  upc_barrier;
  upc_memget_nbi(got, &a[MYTHREAD * N], sizeof got);
  while (!upc_synci_attempt()) {
  }
  CHECK_EQ(got[4], (MYTHREAD + THREADS - 1) % THREADS);
  fill(8);
  upc_handle_t two[2] = {upc_memget_nb(got, &a[next_thread() * N], 2 * sizeof(int)),
                         upc_memget_nb(got + 2, &a[next_thread() * N + 2], 3 * sizeof(int))};
  while (!bupc_trysync_all(two, 2)) {
  }
  for (int i = 0; i < N; i++) CHECK_EQ(got[i], 8);
}

static void locks(void) {
  upc_lock_t *const lock = upc_all_lock_alloc();
  for (int i = 0; i < 20; i++) {
    while (!upc_lock_attempt(lock)) {
    }
    turn++;
    upc_unlock(lock);
  }
  upc_barrier;
  CHECK_EQ(turn, 20 * THREADS);
  upc_all_lock_free(lock);
}

static void semaphores(void) {
  static bupc_sem_t *shared sems[THREADS];
  sems[MYTHREAD] = bupc_sem_alloc(0);
  upc_barrier;
  for (int i = 0; i < 20; i++) {
    bupc_sem_post(sems[next_thread()]);
    while (!bupc_sem_try(sems[MYTHREAD])) {
    }
  }
  upc_barrier;
  bupc_sem_free(sems[MYTHREAD]);
}

/* The fence in the loop makes each read a new one, and serves the others. */
static void fences(void) {
  for (int i = 1; i <= 20; i++) {
    ready[next_thread()] = i;
    upc_fence;
    while (ready[MYTHREAD] < i) upc_fence;
  }
  upc_barrier;
}

static void strict_reads(void) {
  for (int i = 1; i <= 20; i++) {
    begun[next_thread()] = i;
    while (begun[MYTHREAD] < i) {
    }
  }
  upc_barrier;
}

/* Relaxed variables, as programs spin on them: they are read anew, and others are served. */
struct box {
  int full : 4, content;
};
static shared struct box boxes[THREADS];
static shared int started[THREADS], count;

static void relaxed_reads(void) {
  shared int *const mine = &started[MYTHREAD];
  for (int i = 1; i <= 5; i++) {
    if (MYTHREAD == 0) usleep(20000);
    started[next_thread()] = i;
    upc_fence;
    while (started[MYTHREAD] != i) {
    }
    boxes[next_thread()].content = i;
    upc_fence;
    boxes[next_thread()].full = i;
    upc_fence;
    do {
    } while (boxes[MYTHREAD].full != i);
    CHECK_EQ(boxes[MYTHREAD].content, i);
    if (MYTHREAD == THREADS - 1) {
      usleep(20000);
      count = i;
      upc_fence;
    }
    for (; count != i;) sched_yield();
    for (;;) {
      if (*mine == i) break;
    }
    upc_barrier;
  }
}

/* Waits for the own element with one kind of call alone. */
enum { LOCK, ATTEMPT, ATOMIC, NAMED, GET, COPY, LOOP, KINDS };
static shared int64_t words[THREADS], copied[THREADS];
static upc_lock_t *shared own_lock[THREADS];

static int64_t look(int kind, upc_atomicdomain_t *domain) {
  int64_t value = 0;
  shared int64_t *const word = &words[MYTHREAD];
  switch (kind) {
  case LOCK:
    upc_lock(own_lock[MYTHREAD]);
    value = *word;
    upc_unlock(own_lock[MYTHREAD]);
    break;
  case ATTEMPT:
    if (!upc_lock_attempt(own_lock[MYTHREAD])) break;
    value = *word;
    upc_unlock(own_lock[MYTHREAD]);
    break;
  case ATOMIC: upc_atomic_relaxed(domain, &value, UPC_GET, word, NULL, NULL); break;
  case NAMED: value = bupc_atomicI64_read_relaxed(word); break;
  case GET: upc_memget(&value, word, sizeof value); break;
  case COPY: upc_memcpy(&copied[MYTHREAD], word, sizeof value); value = copied[MYTHREAD]; break;
  }
  return value;
}

/* A wait by copies in a loop of one function, whatever stands in front of the call. */
static void copy_until(int64_t least) {
  int64_t value = 0;
  int turns = 0;
  do
    if (turns++ % 2)
      upc_memget(&value, &words[MYTHREAD], sizeof value);
    else
      turns += turns % 4, upc_memget(&value, &words[MYTHREAD], sizeof value);
  while (value < least);
}

static void own_words(void) {
  upc_atomicdomain_t *const domain = upc_all_atomicdomain_alloc(UPC_INT64, UPC_GET, 0);
  own_lock[MYTHREAD] = upc_global_lock_alloc();
  for (int kind = 0; kind < KINDS; kind++) {
    upc_barrier;
    for (int i = 1; i <= 20; i++) {
      words[next_thread()] = kind * 100 + i;
      upc_fence;
      if (kind == LOOP)
        copy_until(kind * 100 + i);
      else
        while (look(kind, domain) < kind * 100 + i) {
        }
    }
  }
  upc_barrier;
  upc_lock_free(own_lock[MYTHREAD]);
  upc_all_atomicdomain_free(domain);
}

int main(void) {
  transfers();
  own_words();
  relaxed_reads();
  locks();
  semaphores();
  fences();
  strict_reads();
  return 0;
}
