/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What threads of a rank have heard of other ranks, and pass on: seeded races, one case each, for
 * tests/check/findings.py. Compiled with `tombolo cc --check`. Lines that race end with a comment
 * `race: CASE`, those of correct cases have none. Run with 3 ranks, of which rank 0 has two
 * threads; the argument is the case.
 */
#include "tells.h"

#include <semaphore.h>
#ifdef _OPENMP
# include <omp.h>
#endif

static sem_t sem;

/* Another thread of rank 0 hears of rank 1; this one does not. */
OTHER(hears) {
  AWAIT(1);
  hidden_give(0);
}
static pthread_t two_begin(void) {
  const pthread_t t = begin(run_hears);
  hidden_take(0);
  return t;
}

/* ---- races */

/* What one thread has heard is not passed on by another one. */
CASE(passed_by_signal) {
  if (me == 1) PUT(2, 0, 8); /* race: passed_by_signal */
  if (me == 1) SIGNAL(0);
  if (me == 0) {
    const pthread_t t = two_begin();
    SIGNAL(2);
    pthread_join(t, NULL);
  }
  if (me != 2) return;
  AWAIT(1);
  sink = base[2][0]; /* race: passed_by_signal */
}

CASE(passed_by_message) {
  if (me == 1) PUT(2, 0, 8); /* race: passed_by_message */
  if (me == 1) SIGNAL(0);
  if (me == 0) {
    const pthread_t t = two_begin();
    MESSAGE(2);
    pthread_join(t, NULL);
  }
  if (me != 2) return;
  GASNET_BLOCKUNTIL(handled);
  sink = base[2][0]; /* race: passed_by_message */
}

CASE(passed_by_word) {
  if (me == 1) PUT(2, 0, 8); /* race: passed_by_word */
  if (me == 1) SIGNAL(0);
  if (me == 0) {
    const pthread_t t = two_begin();
    add(2, 4);
    pthread_join(t, NULL);
  }
  if (me != 2) return;
  await_word(4, 1);
  sink = base[2][0]; /* race: passed_by_word */
}

/* The word has what each of the two threads gave, but rank 2 takes only what the first one did. */
CASE(passed_to_two_words) {
  if (me == 1) PUT(2, 0, 8); /* race: passed_to_two_words */
  if (me == 1) SIGNAL(0);
  if (me == 0) {
    add(2, 5);
    const pthread_t t = two_begin();
    add(2, 4);
    add(2, 5);
    pthread_join(t, NULL);
  }
  if (me != 2) return;
  await_word(5, 2);
  await_word(4, 1);
  sink = base[2][0]; /* race: passed_to_two_words */
}

/* The put of a signal that another thread has taken. */
CASE(signal_of_other) {
  if (me == 1) SIGNAL(0); /* race: signal_of_other */
  if (me) return;
  const pthread_t t = two_begin();
  sink = base[0][2]; /* race: signal_of_other */
  pthread_join(t, NULL);
}

OTHER(long_of_other) {
  GASNET_BLOCKUNTIL(handled);
  hidden_give(0);
}
CASE(long_of_other) {
  if (me == 1)
    gex_AM_RequestLong0(tm, 0, H_LONG, v, 8, base[0], GEX_EVENT_NOW, 0); /* race: long_of_other */
  if (me) return;
  const pthread_t t = begin(run_long_of_other);
  hidden_take(0);
  base[0][0] = 5; /* race: long_of_other */
  pthread_join(t, NULL);
}

/* Another thread tells a third rank. */
CASE(signal_notified) {
  if (me == 1) SIGNAL(0); /* race: signal_notified */
  if (me == 0) {
    const pthread_t t = two_begin();
    MESSAGE(2);
    pthread_join(t, NULL);
  }
  if (me != 2) return;
  GASNET_BLOCKUNTIL(handled);
  gex_RMA_GetBlocking(tm, v, 0, base[0] + 2, 8, 0); /* race: signal_notified */
}

/* Each of the two threads meets another rank, in a team of its own. */
static gex_TM_t with[3];
static void make_teams(void) {
  for (gex_Rank_t r = 1; r < 3; r++)
    (void)gex_TM_Split(&with[r], tm, me == 0 || me == r, (int)me, NULL, 0, 0);
}
OTHER(team_of_other) {
  gex_Coll_BarrierBlocking(with[1], 0);
  hidden_give(0);
}
CASE(team_of_other) {
  make_teams();
  if (me == 1) PUT(2, 0, 8); /* race: team_of_other */
  if (me == 1) gex_Coll_BarrierBlocking(with[1], 0);
  if (me == 0) {
    const pthread_t t = begin(run_team_of_other);
    hidden_take(0);
    gex_Coll_BarrierBlocking(with[2], 0);
    pthread_join(t, NULL);
  }
  if (me == 2) gex_Coll_BarrierBlocking(with[2], 0);
  if (me == 2) sink = base[2][0]; /* race: team_of_other */
}

static gexx_Sem_t counted;
static gexx_Sem_Handle_t semaphore(void) {
  gexx_Sem_Handle_t h;
  (void)gexx_Sem_Alloc(&counted, GEXX_SEM_INTEGER | GEXX_SEM_MPRODUCER | GEXX_SEM_MCONSUMER);
  h = gexx_Sem_QueryHandle(counted);
  gex_Event_Wait(gex_Coll_BroadcastNB(tm, 0, &h, &h, sizeof h, 0));
  return h;
}
OTHER(semaphore_of_other) {
  gexx_Sem_Wait(counted);
  hidden_give(0);
}
CASE(semaphore_of_other) {
  const gexx_Sem_Handle_t h = semaphore();
  if (me == 1) gexx_Sem_PutSignal(h, base[0], v, 8, 1); /* race: semaphore_of_other */
  if (me) return;
  const pthread_t t = begin(run_semaphore_of_other);
  hidden_take(0);
  sink = base[0][0]; /* race: semaphore_of_other */
  pthread_join(t, NULL);
}

static void await_tag(uint32_t tag) {
  gexx_Notify_t req;
  gexx_Notify_Status_t status;
  (void)gexx_Notify_Init(tm, 1, tag, 1, &req);
  gexx_Notify_Start(req);
  gexx_Notify_Wait(req, &status);
  gexx_Notify_Free(req);
}
OTHER(tag_of_other) {
  await_tag(7);
  hidden_give(0);
}
CASE(tag_of_other) {
  if (me == 1) gexx_RMA_PutNotify(tm, 0, base[0], v, 8, 7, 0); /* race: tag_of_other */
  if (me) return;
  const pthread_t t = begin(run_tag_of_other);
  hidden_take(0);
  base[0][0] = 1; /* race: tag_of_other */
  pthread_join(t, NULL);
}

/* ---- correct */

/* One thread meets rank 1, and the other one, which it orders, meets rank 2. */
OTHER(ok_teams) {
  for (int i = 0; i < 10; i++) {
    gex_Coll_BarrierBlocking(with[1], 0);
    sem_post(&sem);
  }
}
CASE(ok_teams) {
  make_teams();
  const pthread_t t = me ? pthread_self() : begin(run_ok_teams);
  for (int i = 0; i < 10; i++) {
    if (me == 1) PUT(2, 0, 8);
    if (me == 1) gex_Coll_BarrierBlocking(with[1], 0);
    if (me == 0) sem_wait(&sem);
    if (me != 1) gex_Coll_BarrierBlocking(with[2], 0);
    if (me == 2) base[2][0]++;
    gex_Coll_BarrierBlocking(tm, 0);
  }
  if (!me) pthread_join(t, NULL);
}

/* What one thread has taken, another one uses behind it. */
OTHER(ok_taken_by_other) {
  for (int i = 0; i < 10; i++) {
    gexx_Sem_WaitN(counted, 2);
    await_tag(7);
    sem_post(&sem);
  }
}
CASE(ok_taken_by_other) {
  const gexx_Sem_Handle_t h = semaphore();
  const pthread_t t = me ? pthread_self() : begin(run_ok_taken_by_other);
  for (int i = 0; i < 10; i++) {
    if (me) gexx_Sem_PutSignal(h, base[0] + me, v, 8, 1);
    if (me == 1) gexx_RMA_PutNotify(tm, 0, base[0], v, 8, 7, 0);
    if (me == 0) {
      sem_wait(&sem);
      base[0][0] = base[0][1]++ + base[0][2]++;
    }
    gex_Coll_BarrierBlocking(tm, 0);
  }
  if (!me) pthread_join(t, NULL);
}

/* One thread hears, and the other one passes it on, in each of three ways. */
OTHER(ok_passed_on) {
  for (int i = 1; i <= 30; i++) {
    AWAIT((uint64_t)i);
    sem_post(&sem);
  }
}
CASE(ok_passed_on) {
  const pthread_t t = me ? pthread_self() : begin(run_ok_passed_on);
  for (int i = 1; i <= 30; i++) {
    if (me == 1) PUT(2, 0, 8);
    if (me == 1) SIGNAL(0);
    if (me == 0) {
      sem_wait(&sem);
      sink = base[0][2];
      if (i % 3 == 0) SIGNAL(2);
      if (i % 3 == 1) MESSAGE(2);
      if (i % 3 == 2) add(2, 4);
    }
    if (me == 2) {
      if (i % 3 == 0) AWAIT((uint64_t)i / 3);
      if (i % 3 == 1) GASNET_BLOCKUNTIL(handled >= (i + 2) / 3);
      if (i % 3 == 2) await_word(4, (uint64_t)(i + 1) / 3);
      base[2][0] = i;
      gex_RMA_GetBlocking(tm, v, 0, base[0] + 2, 8, 0);
    }
    gex_Coll_BarrierBlocking(tm, 0);
  }
  if (!me) pthread_join(t, NULL);
}

/* What a thread gave is taken behind what another one gave later. */
OTHER(ok_later_first) {
  AWAIT(1);
  add(2, 4);
  hidden_give(0);
}
CASE(ok_later_first) {
  if (me == 1) PUT(2, 0, 8);
  if (me == 1) SIGNAL(0);
  if (me == 0) {
    const pthread_t t = begin(run_ok_later_first);
    hidden_take(0);
    add(2, 5);
    pthread_join(t, NULL);
  }
  if (me != 2) return;
  await_word(5, 1);
  await_word(4, 1);
  base[2][0] = 1;
}

/* Both threads give to one word, each what it has heard: the rank that takes it has both. */
OTHER(ok_two_give) {
  AWAIT(1);
  add(2, 4);
}
CASE(ok_two_give) {
  if (me == 1) {
    PUT(2, 0, 8);
    SIGNAL(0);
    AWAIT(1);
    PUT(2, 1, 8);
    add(0, 3);
  }
  if (me == 0) {
    const pthread_t t = begin(run_ok_two_give);
    SIGNAL(1);
    await_word(3, 1);
    add(2, 4);
    add(2, 4);
    pthread_join(t, NULL);
  }
  if (me != 2) return;
  await_word(4, 3);
  base[2][0] = base[2][1] = 1;
}

/* A signal that both threads take, and each of them passes on. */
OTHER(ok_both_tell) {
  AWAIT(1);
  base[0][8] = base[0][2];
  MESSAGE(2);
}
CASE(ok_both_tell) {
  if (me == 1) SIGNAL(0);
  if (me == 0) {
    const pthread_t t = begin(run_ok_both_tell);
    AWAIT(1);
    base[0][9] = base[0][2];
    MESSAGE(2);
    pthread_join(t, NULL);
  }
  if (me != 2) return;
  GASNET_BLOCKUNTIL(handled >= 2);
  gex_RMA_PutBlocking(tm, 0, base[0] + 2, v, 8, 0);
  gex_RMA_PutBlocking(tm, 0, base[0] + 8, v, 16, 0);
}

/* Long messages run in either thread, which hands over. */
OTHER(ok_long_handed_over) {
  GASNET_BLOCKUNTIL(handled);
  sem_post(&sem);
}
CASE(ok_long_handed_over) {
  if (me == 1) gex_AM_RequestLong0(tm, 0, H_LONG, v, 8, base[0], GEX_EVENT_NOW, 0);
  if (me == 0) {
    const pthread_t t = begin(run_ok_long_handed_over);
    sem_wait(&sem);
    base[0][0]++;
    SIGNAL(2);
    pthread_join(t, NULL);
  }
  if (me != 2) return;
  AWAIT(1);
  gex_RMA_PutBlocking(tm, 0, base[0], v, 8, 0);
}

/* Another rank has all that a thread has done when it hears of another thread, which was notified.
 */
OTHER(ok_notified_by_rank) {
  AWAIT(1);
  MESSAGE(1);
}
CASE(ok_notified_by_rank) {
  if (me == 2) {
    PUT(1, 0, 8);
    SIGNAL(0);
  }
  if (me == 1) {
    GASNET_BLOCKUNTIL(handled);
    base[1][0] = 1;
    add(0, 3);
  }
  if (me) return;
  const pthread_t t = begin(run_ok_notified_by_rank);
  await_word(3, 1);
  PUT(1, 0, 8);
  PUT(0, 2, 8);
  pthread_join(t, NULL);
}

/* Threads of OpenMP are before and behind all. */
CASE(ok_openmp_passes) {
#ifdef _OPENMP
  if (me == 1) PUT(2, 0, 8);
  if (me == 1) SIGNAL(0);
  if (me == 0) {
    const pthread_t t = begin(run_hears);
    hidden_take(0);
# pragma omp parallel num_threads(2)
    {
      if (omp_get_thread_num() == 1) {
        sink = base[0][2];
        MESSAGE(2);
      }
    }
    pthread_join(t, NULL);
  }
  if (me != 2) return;
  GASNET_BLOCKUNTIL(handled);
  base[2][0] = 1;
#endif
}

int main(int argc, char **argv) {
  sem_init(&sem, 0, 0);
  hidden_start();
  return run_three(argc, argv);
}
