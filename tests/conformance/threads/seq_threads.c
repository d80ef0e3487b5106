/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/*
 * SEQ clients whose calls come from several threads in turns, as of a language's own threads: all
 * of them are the one client thread, which synchronises what another of them has started.
 */
#include <pthread.h>

#include "job.h"

static char out[1024];
static volatile int heard;

static void on_hello(gex_Token_t token) {
  (void)token;
  heard++;
}
static gex_AM_Entry_t table[] = {
    {0, (gex_AM_Fn_t)on_hello, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "hello"}};

static void *start_puts(void *arg) {
  for (gex_Rank_t r = 0; r < job.size; r++) {
    char *const to = job.peer[r] + job.rank * sizeof out;
    CHECK_EQ(gex_RMA_PutNBI(job.tm, r, to, out, sizeof out, GEX_EVENT_DEFER, 0), 0);
    gex_AM_RequestShort0(job.tm, r, table[0].gex_index, 0);
  }
  return arg;
}

static void *wait_for_all(void *arg) {
  gex_NBI_Wait(GEX_EC_ALL, 0);
  gex_Coll_BarrierBlocking(job.tm, 0);
  return arg;
}

static void on_a_thread(void *(*fn)(void *)) {
  pthread_t thread;
  REQUIRE(pthread_create(&thread, NULL, fn, NULL) == 0);
  pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 4 * sizeof out, table, 1);
  for (unsigned round = 0; round < 5; round++) {
    pattern_fill(out, sizeof out, round + job.rank);
    on_a_thread(start_puts);
    if (round % 2)
      on_a_thread(wait_for_all);
    else
      (void)wait_for_all(NULL);
    for (gex_Rank_t r = 0; r < job.size; r++)
      CHECK_BYTES(job.base + r * sizeof out, sizeof out, round + r);
    GASNET_BLOCKUNTIL(heard == (int)((round + 1) * job.size));
    job_barrier();
  }
  return job_finish();
}
