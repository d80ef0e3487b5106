/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 7 16 */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 TOMBOLO_PLACES=cyclic:2 */
/* again: TOMBOLO_TEST_SHM=0+TOMBOLO_TEST_RING_SLOTS=16 TOMBOLO_TEST_SHM_MAP=0+TOMBOLO_WAIT=block */
/* timeout: 60 */
/*
 * Asynchronous puts with a post, and posts, to a rank that does not poll: they return although its
 * ring and this rank's buffers are full, and all data and posts arrive once it polls, driven by
 * whatever wait the producer is in; more than may wait hold the producer until some are sent, in
 * bounded memory. A slow rank does not hold up small puts to another one.
 */
#include "job.h"

#include <gasnetex_ext.h>
#include <malloc.h>

enum { PUTS = 60, BYTES = 70000, POSTS = 2000, MANY = 300, MANY_BYTES = 9000 };
enum { NEAR_ROUNDS = 4, FAR_ROUNDS = 8 };

static gexx_Sem_t data_sem, post_sem, flag_sem;
static gexx_Sem_Handle_t *handles; /* [size][3] */
static char *source;

static gexx_Sem_Handle_t handle(gex_Rank_t r, int which) {
  return handles[r * 3 + (unsigned)which];
}

static uint64_t *done_word(gex_Rank_t r) {
  return (uint64_t *)(void *)(job.peer[r] + (size_t)PUTS * BYTES);
}

/* Pairs: even ranks produce for the next one. */
static int is_producer(void) {
  return job.rank % 2 == 0 && job.rank + 1 < job.size;
}

static void tell_done(gex_Rank_t producer, uint64_t value) {
  CHECK_EQ(gexx_RMA_PutSignalBlocking(job.tm, producer, NULL, NULL, 0, GEX_EVENT_NOW,
                                      done_word(producer), GEXX_SIG_SET, value, 0),
           0);
}

/* The consumer hears, without polling, that every call has returned; only then it polls. */
static void full_ring(uint64_t round) {
  const gex_Rank_t peer = job.rank ^ 1u;
  if (is_producer()) {
    pattern_fill(source, (size_t)PUTS * BYTES, job.rank + round);
    for (size_t i = 0; i < PUTS; i++)
      gexx_Sem_PutSignalAsync(handle(peer, 0), job.peer[peer] + i * BYTES, source + i * BYTES,
                              BYTES, i + 1);
    for (int i = 0; i < POSTS; i++) gexx_Sem_Post(handle(peer, 1));
    for (int i = 0; i < POSTS; i++) gexx_Sem_Post(handle(peer, 2)); /* boolean: one */
    gexx_Sem_PostN(handle(peer, 1), 1000);
    oob_send(peer, (int)round);
    CHECK_EQ(gexx_Signal_Wait(done_word(job.rank), GEXX_SIG_EQ, round), round);
    memset(source, 0x77, (size_t)PUTS * BYTES);
  } else if (job.rank % 2) {
    CHECK_EQ(oob_wait(30000), (int)round);
    sleep_ms(30); /* the producer sleeps by now */
    gexx_Sem_WaitN(post_sem, POSTS + 1000);
    gexx_Sem_Wait(flag_sem);
    gexx_Sem_WaitN(data_sem, (uint64_t)PUTS * (PUTS + 1) / 2);
    CHECK_BYTES(job.base, (size_t)PUTS * BYTES, peer + round);
    CHECK_EQ(gexx_Sem_Try(post_sem), GASNET_ERR_NOT_READY);
    CHECK_EQ(gexx_Sem_Try(data_sem), GASNET_ERR_NOT_READY);
    (void)gexx_Sem_Try(flag_sem); /* full when posts came on both sides of the wait */
    tell_done(peer, round);
  }
  job_barrier();
}

/* More than may wait, while the consumer sleeps: the producer is held up, and nothing is lost. */
static void more_than_wait(uint64_t round) {
  const gex_Rank_t peer = job.rank ^ 1u;
  if (is_producer()) {
    pattern_fill(source, (size_t)MANY * MANY_BYTES, job.rank + round);
    for (size_t i = 0; i < MANY; i++)
      gexx_Sem_PutSignalAsync(handle(peer, 0), job.peer[peer] + i * MANY_BYTES,
                              source + i * MANY_BYTES, MANY_BYTES, 1);
    while (gexx_Signal_Test(done_word(job.rank), GEXX_SIG_EQ, round) != GASNET_OK)
      (void)gexx_Poll(round % 2 ? 1000000 : 10);
  } else if (job.rank % 2) {
    sleep_ms(40);
    gexx_Sem_WaitN(data_sem, MANY);
    CHECK_BYTES(job.base, (size_t)MANY * MANY_BYTES, peer + round);
    tell_done(peer, round);
  }
  job_barrier();
}

/* Rank 1 does not poll and gets more than fits; meanwhile rank 2 gets a put from the same rank. */
static void not_held_up(void) {
  if (job.size < 3) return;
  job_barrier();
  if (job.rank == 0) {
    pattern_fill(source, (size_t)PUTS * BYTES, 99);
    for (int i = 0; i < 200; i++)
      gexx_Sem_PutSignalAsync(handle(1, 0), job.peer[1] + 8 * i, source, 8, 1);
    gexx_Sem_PutSignalAsync(handle(2, 0), job.peer[2], source, 100, 1);
    CHECK_EQ(gexx_Signal_Wait(done_word(0), GEXX_SIG_EQ, 12345), 12345);
    oob_send(1, 7);
    CHECK_EQ(gexx_Signal_Wait(done_word(0), GEXX_SIG_EQ, 54321), 54321);
  } else if (job.rank == 1) {
    CHECK_EQ(oob_wait(30000), 7);
    gexx_Sem_WaitN(data_sem, 200);
    CHECK_BYTES(job.base, 8, 99);
    tell_done(0, 54321);
  } else if (job.rank == 2) {
    gexx_Sem_Wait(data_sem);
    CHECK_BYTES(job.base, 100, 99);
    tell_done(0, 12345);
  }
  job_barrier();
}

static gexx_Sem_t make(unsigned kind) {
  gexx_Sem_t sem = NULL;
  REQUIRE(gexx_Sem_Alloc(&sem, kind | GEXX_SEM_MPRODUCER | GEXX_SEM_SCONSUMER) == GASNET_OK);
  return sem;
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  job_attach((uintptr_t)PUTS * BYTES + 4096);
  memset(job.base, 0, job.bytes);
  source = (char *)malloc((size_t)PUTS * BYTES);
  handles = (gexx_Sem_Handle_t *)calloc(job.size, 3 * sizeof *handles);
  if (!source || !handles) check_abandon();
  data_sem = make(GEXX_SEM_INTEGER);
  post_sem = make(GEXX_SEM_INTEGER);
  flag_sem = make(GEXX_SEM_BOOLEAN);
  const gexx_Sem_Handle_t mine[3] = {gexx_Sem_QueryHandle(data_sem), gexx_Sem_QueryHandle(post_sem),
                                     gexx_Sem_QueryHandle(flag_sem)};
  memcpy(job.base, mine, sizeof mine);
  job_barrier();
  for (gex_Rank_t r = 0; r < job.size; r++)
    CHECK_EQ(gex_RMA_GetBlocking(job.tm, handles + r * 3, r, job.peer[r], sizeof mine, 0), 0);
  job_barrier();
  oob_open();
  gex_Rank_t near = 0;
  gex_System_QueryNbrhdInfo(NULL, &near, NULL);
  const uint64_t rounds = near < job.size ? FAR_ROUNDS : NEAR_ROUNDS;
  size_t before = 0;
  for (uint64_t round = 1; round <= rounds; round++) {
    full_ring(2 * round);
    more_than_wait(2 * round + 1);
    if (round == 1) before = mallinfo2().uordblks;
  }
  /* Records of waiting puts are kept for the next: at most 256, about 150 bytes each. How many of
   * them the first round has needed depends on how soon the consumer woke. A conduit likewise keeps
   * the packets of a window: 256, about 560 bytes each. */
  const size_t kept = (size_t)(near < job.size ? 320 : 64) * 1024;
  CHECK_CMP(mallinfo2().uordblks, <, before + kept);
  not_held_up();
  gexx_Sem_Free(data_sem);
  gexx_Sem_Free(post_sem);
  gexx_Sem_Free(flag_sem);
  return job_finish();
}
