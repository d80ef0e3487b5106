/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* mode: PAR */
/* again: TOMBOLO_TEST_SHM=0 */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/* again: TOMBOLO_WAIT=block */
/*
 * Messages to oneself with several threads: the sender leaves the library at once, nobody else
 * polls for it; a thread that sleeps in GASNET_BLOCKUNTIL sees what the handler has changed;
 * handlers run on several threads at the same time, each with a payload of its own.
 */
#include <pthread.h>

#include "job.h"

enum { ROUNDS = 2000, THREADS = 4 };

static gex_AM_Index_t mark_i, sum_i;
static int mark;
static int sums[THREADS];

static void on_mark(gex_Token_t token, gex_AM_Arg_t a) {
  (void)token;
  __atomic_store_n(&mark, a, __ATOMIC_RELEASE);
}
static void on_sum(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t thread) {
  const int *const in = (const int *)buf;
  (void)token;
  for (size_t i = 0; i < nbytes / sizeof *in; i++) CHECK_EQ(in[i], thread);
  sums[thread] += in[0];
}

static void *sleeper(void *arg) {
  (void)arg;
  for (int i = 1; i <= 20; i++) {
    GASNET_BLOCKUNTIL(__atomic_load_n(&mark, __ATOMIC_ACQUIRE) == i);
    __atomic_store_n(&mark, -i, __ATOMIC_RELEASE);
  }
  return NULL;
}

/* Sends, and then waits outside the library. */
static void wake_the_sleeper(void) {
  pthread_t thread;
  REQUIRE(pthread_create(&thread, NULL, sleeper, NULL) == 0);
  for (int i = 1; i <= 20; i++) {
    sleep_ms(i < 10 ? 1 : 20); /* it sleeps deeply in some rounds */
    gex_AM_RequestShort1(job.tm, job.rank, mark_i, 0, i);
    for (int ms = 0; __atomic_load_n(&mark, __ATOMIC_ACQUIRE) != -i && ms < 20000; ms++)
      sleep_ms(1);
    CHECK_EQ(__atomic_load_n(&mark, __ATOMIC_ACQUIRE), -i);
  }
  pthread_join(thread, NULL);
}

static void *sender(void *arg) {
  const int thread = (int)(intptr_t)arg;
  int out[500];
  for (size_t i = 0; i < 500; i++) out[i] = thread;
  for (int i = 0; i < ROUNDS; i++) {
    const int before = sums[thread];
    gex_AM_RequestMedium1(job.tm, job.rank, sum_i, out, sizeof out, GEX_EVENT_NOW, 0, thread);
    CHECK_EQ(sums[thread], before + thread);
  }
  return NULL;
}

int main(int argc, char **argv) {
  gex_AM_Entry_t table[] = {
      {0, (gex_AM_Fn_t)on_mark, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, "mark"},
      {0, (gex_AM_Fn_t)on_sum, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1, NULL, "sum"}};
  pthread_t thread[THREADS];
  job_start(&argc, &argv, 0, table, 2);
  mark_i = table[0].gex_index;
  sum_i = table[1].gex_index;
  wake_the_sleeper();
  for (intptr_t i = 0; i < THREADS; i++)
    REQUIRE(pthread_create(&thread[i], NULL, sender, (void *)i) == 0);
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  for (int i = 0; i < THREADS; i++) CHECK_EQ(sums[i], i * ROUNDS);
  return job_finish();
}
