/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 1 2 4 */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 */
/* timeout: 60 */
/*
 * Many threads wait for one signal, consume from one, share a semaphore, and match notifications:
 * nothing is lost or taken twice.
 */
#include "job.h"
#include "threads.h"

#include <gasnetex_ext.h>

enum { THREADS = 6, ROUNDS = 150 };

static uint64_t *mine(int i) {
  return (uint64_t *)(void *)job.base + i * 8;
}
static uint64_t *next_of(int i) {
  return (uint64_t *)(void *)job.peer[(job.rank + 1) % job.size] + i * 8;
}

static gexx_Sem_t sem;
static gexx_Sem_Handle_t *handles;
static uint64_t taken[THREADS];

static void post(int word, uint64_t n) {
  CHECK_EQ(gexx_RMA_PutSignalBlocking(job.tm, (job.rank + 1) % job.size, NULL, NULL, 0,
                                      GEX_EVENT_NOW, next_of(word), GEXX_SIG_ADD, n, 0),
           0);
}

/* One thread counts up at the next rank; all others there wait for each value. */
static void all_see(int id) {
  for (uint64_t round = 1; round <= ROUNDS; round++) {
    if (id == 0) post(0, 1);
    (void)gexx_Signal_Wait(mine(0), GEXX_SIG_GE, round);
    if (round % 16 == 0) {
      threads_meet();
      CHECK_CMP(gexx_Signal_Fetch(mine(0)), >=, round);
    }
  }
  threads_meet();
}

/* Half of the threads produce at the next rank what the other half consumes there. */
static void each_takes(int id) {
  for (int round = 0; round < 10 * ROUNDS; round++) {
    if (id % 2) {
      post(1, 2);
    } else {
      (void)gexx_Signal_WaitConsume(mine(1), 1);
      while (gexx_Signal_TryConsume(mine(1), 1) != GASNET_OK) continue;
      taken[id] += 2;
    }
  }
  threads_meet();
}

static void semaphore(int id) {
  const gexx_Sem_Handle_t h = handles[(job.rank + 1) % job.size];
  for (int round = 0; round < ROUNDS; round++) {
    if (id % 2)
      gexx_Sem_PostN(h, 3);
    else
      gexx_Sem_WaitN(sem, 3);
  }
  threads_meet();
}

/* Each thread has a tag of its own. */
static void tagged(int id) {
  gexx_Notify_t req;
  const gex_Rank_t to = (job.rank + 1) % job.size;
  REQUIRE(gexx_Notify_Init(job.tm, GEXX_NOTIFY_ANY_SOURCE, (uint32_t)id, 2, &req) == GASNET_OK);
  for (int round = 0; round < ROUNDS; round++) {
    gexx_Notify_Status_t status;
    gexx_Notify_Start(req);
    for (int k = 0; k < 2; k++)
      CHECK_EQ(gexx_RMA_PutNotify(job.tm, to, NULL, NULL, 0, (uint32_t)id, 0), 0);
    gexx_Notify_Wait(req, &status);
    CHECK_EQ(status.gexx_tag, id);
    CHECK_EQ(status.gexx_source, (job.rank + job.size - 1) % job.size);
  }
  gexx_Notify_Free(req);
  threads_meet();
}

static void body(int id) {
  all_see(id);
  each_takes(id);
  semaphore(id);
  tagged(id);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  job_attach(65536);
  REQUIRE(gexx_Sem_Alloc(&sem, GEXX_SEM_INTEGER | GEXX_SEM_MPRODUCER | GEXX_SEM_MCONSUMER) ==
          GASNET_OK);
  handles = (gexx_Sem_Handle_t *)check_room(job.size, sizeof *handles);
  *(gexx_Sem_Handle_t *)(void *)(job.base + 4096) = gexx_Sem_QueryHandle(sem);
  job_barrier();
  for (gex_Rank_t r = 0; r < job.size; r++)
    CHECK_EQ(gex_RMA_GetBlocking(job.tm, &handles[r], r, job.peer[r] + 4096, sizeof *handles, 0),
             0);
  job_barrier();
  run_threads(THREADS, body);
  job_barrier();
  CHECK_EQ(gexx_Signal_Fetch(mine(0)), ROUNDS);
  CHECK_EQ(gexx_Signal_Fetch(mine(1)), 0);
  CHECK_EQ(gexx_Sem_Try(sem), GASNET_ERR_NOT_READY);
  return job_finish();
}
