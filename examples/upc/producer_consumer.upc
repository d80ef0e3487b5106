/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * producer_consumer.upc: thread 0 produces, or consumes, with each kind of semaphore.
 *
 * Shows: boolean and integer semaphores, one and many producers, one and many posts at a time, tries,
 * puts that post.
 * Compile: tombolo upcc -O2 producer_consumer.upc -o producer_consumer
 * Run:     tombolo run -n 4 ./producer_consumer
 */
/* ranks: 1 2 4 */
#include <stdio.h>
#include <upc_relaxed.h>

#define ITEMS 200
#define SLOTS 8

shared [SLOTS] long buffer[SLOTS * THREADS]; /* of each consumer */
bupc_sem_t *shared filled[THREADS], *shared empty[THREADS];
shared long sums[THREADS];
bupc_sem_t *shared many;

/* Thread t sends to its neighbour through a ring of slots; `filled` counts there, `empty` here. */
static long ring(int flags, int by_put) {
  const int to = (MYTHREAD + 1) % THREADS;
  long sum = 0;
  filled[MYTHREAD] = bupc_sem_alloc(BUPC_SEM_INTEGER | flags);
  empty[MYTHREAD] = bupc_sem_alloc(BUPC_SEM_INTEGER | flags);
  upc_barrier;
  const int from = (MYTHREAD + THREADS - 1) % THREADS;
  bupc_sem_postN(empty[from], SLOTS);
  for (long i = 0; i < ITEMS; i++) {
    const long item = i * 10 + MYTHREAD;
    bupc_sem_wait(empty[MYTHREAD]);
    if (by_put) {
      bupc_memput_signal(&buffer[to * SLOTS + i % SLOTS], &item, sizeof item, filled[to], 1);
    } else {
      buffer[to * SLOTS + i % SLOTS] = item;
      bupc_sem_post(filled[to]);
    }
    while (!bupc_sem_try(filled[MYTHREAD])) bupc_poll();
    sum += buffer[MYTHREAD * SLOTS + i % SLOTS];
    bupc_sem_post(empty[from]);
  }
  bupc_sem_waitN(empty[MYTHREAD], SLOTS);
  upc_barrier;
  bupc_sem_free(filled[MYTHREAD]);
  bupc_sem_free(empty[MYTHREAD]);
  return sum;
}

/* All threads produce for thread 0, which takes what is there in turns. */
static long gather(int flags) {
  long taken = 0;
  if (MYTHREAD == 0) many = bupc_sem_alloc(BUPC_SEM_INTEGER | BUPC_SEM_MPRODUCER | flags);
  upc_barrier;
  for (int i = 0; i < ITEMS; i++) bupc_sem_post(many);
  bupc_sem_postN(many, ITEMS);
  if (MYTHREAD == 0)
    for (long left = 2L * ITEMS * THREADS; left > 0; left = 2L * ITEMS * THREADS - taken) {
      const long n = left < 4 ? left : 4;
      bupc_sem_waitN(many, n);
      taken += n;
      if (left >= n + 2 && bupc_sem_tryN(many, 2)) taken += 2;
    }
  upc_barrier;
  if (MYTHREAD == 0) bupc_sem_free(many);
  return taken;
}

/* A boolean semaphore says that there is something new; posts that nobody took yet are one. */
static int flag(void) {
  int right = 1;
  if (MYTHREAD == 0) many = bupc_sem_alloc(BUPC_SEM_BOOLEAN);
  upc_barrier;
  bupc_sem_post(many);
  upc_barrier;
  if (MYTHREAD == 0) {
    bupc_sem_wait(many);
    right = !bupc_sem_try(many);
  }
  upc_barrier;
  if (MYTHREAD == 0) bupc_sem_free(many);
  return right;
}

int main(void) {
  const int from = (MYTHREAD + THREADS - 1) % THREADS;
  const long expected = 10L * ITEMS * (ITEMS - 1) / 2 + (long)ITEMS * from;
  int right = flag();
  for (int by_put = 0; by_put < 2; by_put++) {
    right &= ring(BUPC_SEM_SPRODUCER | BUPC_SEM_SCONSUMER, by_put) == expected;
    right &= ring(BUPC_SEM_MPRODUCER | BUPC_SEM_MCONSUMER, by_put) == expected;
  }
  right &= MYTHREAD != 0 || gather(BUPC_SEM_SCONSUMER) == 2L * ITEMS * THREADS;
  if (MYTHREAD != 0) gather(0);
  sums[MYTHREAD] = right;
  upc_barrier;
  long all = 0;
  for (int t = 0; t < THREADS; t++) all += sums[t];
  if (MYTHREAD == 0) puts(all == THREADS ? "ok: every item arrived" : "FAILED");
  return all != THREADS;
}
