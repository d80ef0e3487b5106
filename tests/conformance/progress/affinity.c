/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4 */
/*
 * The library moves ranks that share a processor, at start and later; the mask of a process stays
 * what its user or client made it: set before the start, by this thread, or by another one at any
 * time, as the runtimes of OpenMP do.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <gasnet_coll.h>

#include "job.h"

enum { CHANGES = 1500 };

static gex_AM_Index_t ping_index;
static volatile int pings;
static volatile int changes_done; /* 1: made all */
static volatile int lost;         /* settings that did not last */
static cpu_set_t at_start;
static pthread_t main_thread;

static void on_ping(gex_Token_t token) {
  (void)token;
  pings++;
}

/* Waits that another rank ends: what makes the library think about processors. */
static void talk(int rounds) {
  static int before;
  for (int i = 0; i < rounds; i++) {
    CHECK_EQ(gex_AM_RequestShort0(job.tm, job.rank ^ 1, ping_index, 0), 0);
    GASNET_BLOCKUNTIL(pings > before);
    before++;
  }
}

static void sleep_us(long us) {
  const struct timespec t = {0, us * 1000};
  nanosleep(&t, NULL);
}

static cpu_set_t only(int n) {
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &at_start) && n-- == 0) CPU_SET(cpu, &one);
  return one;
}

/* Binds the main thread again and again, and looks whether that lasts. */
static void *binder(void *arg) {
  cpu_set_t now;
  (void)arg;
  for (int i = 0; i < CHANGES; i++) {
    const cpu_set_t one = only(i % 2);
    pthread_setaffinity_np(main_thread, sizeof at_start, &at_start);
    sleep_us(300 + i % 7 * 50);
    pthread_setaffinity_np(main_thread, sizeof one, &one);
    sleep_us(50);
    pthread_getaffinity_np(main_thread, sizeof now, &now);
    if (!CPU_EQUAL(&now, &one)) lost++;
  }
  pthread_setaffinity_np(main_thread, sizeof at_start, &at_start);
  changes_done = 1;
  return NULL;
}

static void own_setting(void) {
  const cpu_set_t one = only((int)job.rank % 2);
  cpu_set_t now;
  sched_setaffinity(0, sizeof one, &one);
  talk(2000);
  sched_getaffinity(0, sizeof now, &now);
  CHECK(CPU_EQUAL(&now, &one));
  sched_setaffinity(0, sizeof at_start, &at_start);
  talk(2000);
  sched_getaffinity(0, sizeof now, &now);
  CHECK(CPU_EQUAL(&now, &at_start));
}

/* Everybody talks until all binders are done. */
static void setting_by_a_thread(void) {
  pthread_t thread;
  int32_t mine, all = 0;
  main_thread = pthread_self();
  REQUIRE(pthread_create(&thread, NULL, binder, NULL) == 0);
  while (!all) {
    talk(200);
    mine = changes_done;
    gex_Event_Wait(gex_Coll_ReduceToAllNB(job.tm, &all, &mine, GEX_DT_I32, sizeof mine, 1,
                                          GEX_OP_MIN, NULL, NULL, 0));
  }
  pthread_join(thread, NULL);
  CHECK_EQ(lost, 0);
}

int main(int argc, char **argv) {
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  job_start(&argc, &argv, 4096, NULL, 0);
  ping_index = job_handler((gex_AM_Fn_t)on_ping, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0);
  job_barrier();
  sched_getaffinity(0, sizeof at_start, &at_start);
  CHECK(CPU_EQUAL(&at_start, &before)); /* ranks are on different processors */
  if (CPU_COUNT(&at_start) < 2) {
    if (job.rank == 0) printf("skipped: fewer than two processors\n");
    job_barrier();
    gasnet_exit(77);
  }
  own_setting();
  setting_by_a_thread();
  return job_finish();
}
