/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 16 */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 TOMBOLO_STATS=1 */
/* timeout: 60 */
/*
 * A consumer that sleeps is woken by a signal, a semaphore and a notification, and uses hardly any
 * processor time meanwhile; gexx_Poll keeps to its time and is ended by what arrives; counts are
 * those of what was done.
 */
#include "job.h"

#include <gasnetex_ext.h>
#include <time.h>

enum { H_PING = GEX_AM_INDEX_BASE, NAP_MS = 60 };

static volatile int pings;
static gexx_Sem_t sem;
static gexx_Sem_Handle_t next_sem;

static void ping_handler(gex_Token_t token) {
  (void)token;
  pings++;
}

static double cpu_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static gex_Rank_t next(void) {
  return (job.rank + 1) % job.size;
}

/* Even ranks announce after a nap; odd ranks have long been asleep by then. */
static void wake(int how) {
  uint64_t *const sig = (uint64_t *)(void *)job.base;
  uint64_t *const to = (uint64_t *)(void *)job.peer[next()];
  job_barrier();
  if (job.rank % 2 == 0 && job.rank + 1 < job.size) {
    sleep_ms(NAP_MS);
    if (how == 0)
      CHECK_EQ(gexx_RMA_PutSignalBlocking(job.tm, next(), NULL, NULL, 0, GEX_EVENT_NOW, to,
                                          GEXX_SIG_SET, 1, 0),
               0);
    if (how == 1) gexx_Sem_Post(next_sem);
    if (how == 2) CHECK_EQ(gexx_RMA_PutNotify(job.tm, next(), NULL, NULL, 0, 4, 0), 0);
    CHECK_EQ(oob_wait(10000), how); /* nothing else that this rank does has woken it */
  }
  if (job.rank % 2) {
    const double before = cpu_s();
    if (how == 0) CHECK_EQ(gexx_Signal_Wait(sig, GEXX_SIG_NE, 0), 1);
    if (how == 1) gexx_Sem_Wait(sem);
    if (how == 2) {
      gexx_Notify_t req;
      REQUIRE(gexx_Notify_Init(job.tm, job.rank - 1, 4, 1, &req) == GASNET_OK);
      gexx_Notify_Start(req);
      gexx_Notify_Wait(req, NULL);
      gexx_Notify_Free(req);
    }
    CHECK_CMP(cpu_s() - before, <, NAP_MS * 0.5e-3);
    oob_send(job.rank - 1, how);
    (void)gexx_Signal_Reset(sig);
  }
}

static void polls(void) {
  job_barrier();
  if (job.rank == 0) {
    while (gexx_Poll(0)) continue;
    const double start = now_s();
    while (gexx_Poll(20000)) continue; /* what others still send ends a poll early */
    CHECK_CMP(now_s() - start, >=, 0.0199);
    if (job.size == 1) CHECK_EQ(gexx_Poll(0), 0);
  }
  job_barrier();
  if (job.rank == 0 && job.size > 1) {
    while (!pings) CHECK(gexx_Poll(UINT64_MAX));
    CHECK_EQ(pings, 1);
  }
  if (job.rank == 1) {
    sleep_ms(NAP_MS);
    gex_AM_RequestShort0(job.tm, 0, H_PING, 0);
  }
  job_barrier();
}

static void counts(void) {
  uint64_t before, after, bytes, all;
  const int on = env_number("TOMBOLO_STATS", 0) != 0;
  CHECK_EQ(gexx_Stats_Query(GEXX_STATS_AM_SHORT, next(), &before, NULL),
           on ? GASNET_OK : GASNET_ERR_NOT_READY);
  CHECK_STR(gexx_Stats_Name(GEXX_STATS_WAKE), "wake");
  CHECK_STR(gexx_Stats_Name(-1), "unknown");
  if (!on) return;
  for (int i = 0; i < 5; i++) gex_AM_RequestShort0(job.tm, next(), H_PING, 0);
  CHECK_EQ(gexx_Stats_Query(GEXX_STATS_AM_SHORT, next(), &after, &bytes), GASNET_OK);
  CHECK_CMP(after, >=, before + 5);
  CHECK_EQ(bytes, 0);
  CHECK_EQ(gexx_Stats_Query(GEXX_STATS_AM_SHORT, GEX_RANK_INVALID, &all, NULL), GASNET_OK);
  CHECK_CMP(all, >=, after);
  CHECK_EQ(gexx_Stats_Query(GEXX_STATS_KINDS, 0, NULL, NULL), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gexx_Stats_Query(0, job.size, NULL, NULL), GASNET_ERR_BAD_ARG);
  gexx_Stats_Reset();
  CHECK_EQ(gexx_Stats_Query(GEXX_STATS_AM_SHORT, next(), &after, NULL), GASNET_OK);
  CHECK_EQ(after, 0);
}

int main(int argc, char **argv) {
  gex_AM_Entry_t table[] = {{H_PING, (gex_AM_Fn_t)ping_handler,
                             GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0, NULL, "ping"}};
  job_start(&argc, &argv, 65536, table, 1);
  memset(job.base, 0, 128);
  REQUIRE(gexx_Sem_Alloc(&sem, GEXX_SEM_BOOLEAN | GEXX_SEM_SPRODUCER | GEXX_SEM_SCONSUMER) ==
          GASNET_OK);
  *(gexx_Sem_Handle_t *)(void *)(job.base + 64) = gexx_Sem_QueryHandle(sem);
  job_barrier();
  CHECK_EQ(
      gex_RMA_GetBlocking(job.tm, &next_sem, next(), job.peer[next()] + 64, sizeof next_sem, 0), 0);
  oob_open();
  for (int how = 0; how < 3; how++) wake(how);
  polls();
  counts();
  job_barrier();
  gexx_Sem_Free(sem);
  return job_finish();
}
