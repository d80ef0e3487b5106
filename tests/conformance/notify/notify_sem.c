/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 16 */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 */
/* timeout: 60 */
/*
 * Semaphores: made before attach and after, more than there are shared words; handles that travel
 * by message; posts and counts from every rank; puts that post; BOOLEAN ones hold one.
 */
#include "job.h"

#include <gasnetex_ext.h>

enum { H_HANDLE = GEX_AM_INDEX_BASE, MANY = 1100, ROUNDS = 60, BYTES = 3000, KINDS = 3 };

#define COUNTING (GEXX_SEM_INTEGER | GEXX_SEM_MPRODUCER | GEXX_SEM_MCONSUMER)
#define FLAG     (GEXX_SEM_BOOLEAN | GEXX_SEM_SPRODUCER | GEXX_SEM_SCONSUMER)

static gexx_Sem_Handle_t theirs[64][KINDS]; /* by rank: early, late, beyond the shared words */
static volatile unsigned arrived;
static char local[BYTES];

static void handle_handler(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t from) {
  (void)token;
  if (nbytes == sizeof theirs[0]) memcpy(theirs[from], buf, nbytes);
  arrived++;
}

static char *slot(gex_Rank_t to, gex_Rank_t from) {
  return job.peer[to] + (size_t)from * BYTES;
}

static void tell(gexx_Sem_t *sem) {
  gexx_Sem_Handle_t mine[KINDS];
  for (int i = 0; i < KINDS; i++) mine[i] = gexx_Sem_QueryHandle(sem[i]);
  for (gex_Rank_t to = 0; to < job.size; to++)
    gex_AM_RequestMedium1(job.tm, to, H_HANDLE, mine, sizeof mine, GEX_EVENT_NOW, 0,
                          (gex_AM_Arg_t)job.rank);
  GASNET_BLOCKUNTIL(arrived == job.size);
}

static void counts(gexx_Sem_t sem, int kind) {
  for (int round = 1; round <= ROUNDS; round++) {
    for (gex_Rank_t k = 0; k < job.size; k++) {
      const gexx_Sem_Handle_t h = theirs[(job.rank + k) % job.size][kind];
      gexx_Sem_Post(h);
      gexx_Sem_PostN(h, (uint64_t)round);
    }
    const uint64_t all = (uint64_t)job.size * (uint64_t)(round + 1);
    gexx_Sem_Wait(sem);
    if (round % 2) {
      gexx_Sem_WaitN(sem, all - 1);
    } else {
      while (gexx_Sem_TryN(sem, all - 1) != GASNET_OK) continue;
    }
    job_barrier();
    CHECK_EQ(gexx_Sem_Try(sem), GASNET_ERR_NOT_READY);
    job_barrier();
  }
}

static void puts_and_posts(gexx_Sem_t sem, int kind) {
  for (unsigned round = 0; round < ROUNDS; round++) {
    const size_t n = round % 7 == 0 ? 0 : BYTES - round;
    for (gex_Rank_t to = 0; to < job.size; to++) {
      pattern_fill(local, n, job.rank * 1000 + round);
      if (round % 2)
        gexx_Sem_PutSignal(theirs[to][kind], slot(to, job.rank), local, n, 2);
      else
        gexx_Sem_PutSignalAsync(theirs[to][kind], slot(to, job.rank), local, n, 2);
      if (round % 2 == 0) job_barrier(); /* the source of an async put is not reused before */
    }
    gexx_Sem_WaitN(sem, 2u * job.size);
    for (gex_Rank_t from = 0; from < job.size; from++)
      CHECK_BYTES(slot(job.rank, from), n, from * 1000 + round);
    job_barrier();
  }
}

static void booleans(void) {
  gexx_Sem_t sem;
  REQUIRE(gexx_Sem_Alloc(&sem, FLAG) == GASNET_OK);
  const gexx_Sem_Handle_t h = gexx_Sem_QueryHandle(sem);
  CHECK_EQ(gexx_Sem_Try(sem), GASNET_ERR_NOT_READY);
  gexx_Sem_Post(h);
  gexx_Sem_Post(h);
  gexx_Sem_Wait(sem);
  CHECK_EQ(gexx_Sem_Try(sem), GASNET_ERR_NOT_READY);
  gexx_Sem_PutSignal(h, NULL, NULL, 0, 1);
  CHECK_EQ(gexx_Sem_Try(sem), GASNET_OK);
  gexx_Sem_Free(sem);
}

static void refused(void) {
  gexx_Sem_t sem = NULL;
  static const unsigned bad[] = {0,
                                 GEXX_SEM_BOOLEAN,
                                 COUNTING | GEXX_SEM_BOOLEAN,
                                 COUNTING | GEXX_SEM_SPRODUCER,
                                 COUNTING | GEXX_SEM_SCONSUMER,
                                 COUNTING | 0x40};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    CHECK_EQ(gexx_Sem_Alloc(&sem, bad[i]), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gexx_Sem_Alloc(NULL, COUNTING), GASNET_ERR_BAD_ARG);
  CHECK(sem == NULL);
}

int main(int argc, char **argv) {
  gex_AM_Entry_t table[] = {{H_HANDLE, (gex_AM_Fn_t)handle_handler,
                             GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM, 1, NULL, "handle"}};
  static gexx_Sem_t many[MANY];
  gexx_Sem_t sem[KINDS];
  job_start(&argc, &argv, 0, table, 1);
  REQUIRE(gexx_Sem_Alloc(&sem[0], COUNTING) == GASNET_OK);
  job_attach((uintptr_t)BYTES * job.size);
  REQUIRE(gexx_Sem_Alloc(&sem[1], COUNTING) == GASNET_OK);
  for (int i = 0; i < MANY; i++) REQUIRE(gexx_Sem_Alloc(&many[i], COUNTING) == GASNET_OK);
  sem[2] = many[MANY - 1];
  tell(sem);
  job_barrier();
  for (int kind = 0; kind < KINDS; kind++) {
    counts(sem[kind], kind);
    puts_and_posts(sem[kind], kind);
  }
  booleans();
  refused();
  job_barrier();
  for (int i = 0; i < MANY; i++) gexx_Sem_Free(many[i]);
  for (int i = 0; i < 2; i++) gexx_Sem_Free(sem[i]);
  return job_finish();
}
