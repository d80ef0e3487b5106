/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What threads of a rank give to other ranks, each to another one: seeded races, one case each, for
 * tests/check/findings.py. Compiled with `tombolo cc --check`. Lines that race end with a comment
 * `race: CASE`, those of correct cases have none. Run with 3 ranks, of which rank 0 has several
 * threads; the argument is the case.
 */
#include "tells.h"

/* Another thread accesses memory of rank 2, and tells rank 1 alone. */
#define TELLS_ONE(name, ACCESS, TELL) \
 OTHER(name) {                        \
  ACCESS;                             \
  TELL;                               \
  hidden_give(0);                     \
 }
/* The first thread tells rank 2, behind the other one in an order that does not count. */
#define TELL_OTHER(name, TELL)           \
 {                                       \
  const pthread_t t = begin(run_##name); \
  hidden_take(0);                        \
  TELL;                                  \
  pthread_join(t, NULL);                 \
 }

/* ---- races: rank 2 has heard of rank 0, but not of the thread that has accessed its memory */

TELLS_ONE(message_to_other, PUT(2, 0, 8), MESSAGE(1)) /* race: message_to_other */
CASE(message_to_other) {
  if (me == 0) TELL_OTHER(message_to_other, MESSAGE(2));
  if (me) GASNET_BLOCKUNTIL(handled);
  if (me == 2) sink = base[2][0]; /* race: message_to_other */
}

TELLS_ONE(signal_to_other, PUT(2, 0, 8), SIGNAL(1)) /* race: signal_to_other */
CASE(signal_to_other) {
  if (me == 0) TELL_OTHER(signal_to_other, SIGNAL(2));
  if (me) AWAIT(1);
  if (me == 2) base[2][0] = 3; /* race: signal_to_other */
}

TELLS_ONE(word_to_other, PUT(2, 0, 8), add(1, 4)) /* race: word_to_other */
CASE(word_to_other) {
  if (me == 0) TELL_OTHER(word_to_other, add(2, 4));
  if (me) await_word(4, 1);
  if (me == 2) gex_RMA_PutBlocking(tm, 2, base[2], v, 8, 0); /* race: word_to_other */
}

/* Of two words of one rank it takes one. */
TELLS_ONE(another_word, PUT(2, 0, 8), add(2, 4)) /* race: another_word */
CASE(another_word) {
  if (me == 0) TELL_OTHER(another_word, add(2, 5));
  if (me == 2) await_word(5, 1);
  if (me == 2) sink = base[2][0]; /* race: another_word */
}

static gexx_Sem_t counted;
static gexx_Sem_Handle_t posts[3];
static void make_semaphores(void) {
  gexx_Sem_Handle_t mine;
  (void)gexx_Sem_Alloc(&counted, GEXX_SEM_INTEGER | GEXX_SEM_MPRODUCER | GEXX_SEM_MCONSUMER);
  mine = gexx_Sem_QueryHandle(counted);
  gex_Event_Wait(gexx_Coll_AllGatherNB(tm, posts, &mine, sizeof mine, 0));
}
TELLS_ONE(post_to_other, PUT(2, 0, 8), gexx_Sem_Post(posts[1])) /* race: post_to_other */
CASE(post_to_other) {
  make_semaphores();
  if (me == 0) TELL_OTHER(post_to_other, gexx_Sem_Post(posts[2]));
  if (me) gexx_Sem_Wait(counted);
  if (me == 2) sink = base[2][0]; /* race: post_to_other */
}

#define NOTE(to) (void)gexx_RMA_PutNotify(tm, to, base[to] + 3, v, 8, 7, 0)
static void await_note(void) {
  gexx_Notify_t req;
  (void)gexx_Notify_Init(tm, 0, 7, 1, &req);
  gexx_Notify_Start(req);
  gexx_Notify_Wait(req, NULL);
  gexx_Notify_Free(req);
}
TELLS_ONE(tag_to_other, PUT(2, 0, 8), NOTE(1)) /* race: tag_to_other */
CASE(tag_to_other) {
  if (me == 0) TELL_OTHER(tag_to_other, NOTE(2));
  if (me) await_note();
  if (me == 2) sink = base[2][0]; /* race: tag_to_other */
}

static gex_TM_t with[3];
static void make_teams(void) {
  for (gex_Rank_t r = 1; r < 3; r++)
    (void)gex_TM_Split(&with[r], tm, me == 0 || me == r, (int)me, NULL, 0, 0);
}
#define MEET(r) gex_Coll_BarrierBlocking(with[r], 0)
TELLS_ONE(meets_other, PUT(2, 0, 8), MEET(1)) /* race: meets_other */
CASE(meets_other) {
  make_teams();
  if (me == 0) TELL_OTHER(meets_other, MEET(2));
  if (me) MEET(me);
  if (me == 2) sink = base[2][0]; /* race: meets_other */
}

/* A store to the rank's own segment, which another rank gets. */
TELLS_ONE(store_for_other, base[0][0] = 7, MESSAGE(1)) /* race: store_for_other */
CASE(store_for_other) {
  if (me == 0) TELL_OTHER(store_for_other, MESSAGE(2));
  if (me) GASNET_BLOCKUNTIL(handled);
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0); /* race: store_for_other */
}

/* A get, before whose end nobody may write. */
TELLS_ONE(get_for_other, gex_RMA_GetBlocking(tm, v, 2, base[2], 8, 0), /* race: get_for */
          MESSAGE(1))
CASE(get_for) {
  if (me == 0) TELL_OTHER(get_for_other, MESSAGE(2));
  if (me) GASNET_BLOCKUNTIL(handled);
  if (me == 2) base[2][0] = 1; /* race: get_for */
}

/* The first thread's own accesses: the other one gives to the rank that meets them. */
OTHER(of_first) {
  hidden_take(0);
  MESSAGE(2);
}
CASE(of_first) {
  if (me == 0) {
    const pthread_t t = begin(run_of_first);
    PUT(2, 0, 8); /* race: of_first */
    MESSAGE(1);
    hidden_give(0);
    pthread_join(t, NULL);
  }
  if (me) GASNET_BLOCKUNTIL(handled);
  if (me == 2) sink = base[2][0]; /* race: of_first */
}

/* A third rank passes on what the first thread gave, which is not what the other one did. */
TELLS_ONE(passed_to_third, PUT(2, 0, 8), add(0, 5)) /* race: passed_to_third */
CASE(passed_to_third) {
  if (me == 0) TELL_OTHER(passed_to_third, MESSAGE(1));
  if (me) GASNET_BLOCKUNTIL(handled);
  if (me == 1) MESSAGE(2);
  if (me == 2) sink = base[2][0]; /* race: passed_to_third */
}

/* A rank that answers the first thread has not heard of the other one. */
TELLS_ONE(answered_first, base[0][0] = 1, MESSAGE(2)) /* race: answered_first */
CASE(answered_first) {
  if (me == 0) {
    const pthread_t t = begin(run_answered_first);
    hidden_take(0);
    MESSAGE(1);
    await_word(4, 1);
    sink = base[0][0]; /* race: answered_first */
    pthread_join(t, NULL);
  }
  if (me) GASNET_BLOCKUNTIL(handled);
  if (me == 1) add(0, 4);
}

/* A signal's put, taken by a thread of rank 0 that tells rank 1; the first one tells rank 2. */
TELLS_ONE(taken_by_other, AWAIT(1), MESSAGE(1))
CASE(taken_by_other) {
  if (me == 1) SIGNAL(0); /* race: taken_by_other */
  if (me == 0) TELL_OTHER(taken_by_other, MESSAGE(2));
  if (me == 2) GASNET_BLOCKUNTIL(handled);
  if (me == 2) gex_RMA_GetBlocking(tm, v, 0, base[0] + 2, 8, 0); /* race: taken_by_other */
}

/* ---- correct */

/* The other thread itself tells rank 2, and the first one rank 1. */
OTHER(ok_each_tells) {
  for (int i = 0; i < 20; i++) {
    PUT(2, 0, 8);
    SIGNAL(2);
    await_word(4, (uint64_t)i + 1);
  }
}
CASE(ok_each_tells) {
  const pthread_t t = me ? pthread_self() : begin(run_ok_each_tells);
  for (int i = 0; i < 20; i++) {
    if (me == 0) {
      PUT(1, 0, 8);
      SIGNAL(1);
      await_word(5, (uint64_t)i + 1);
    } else {
      AWAIT((uint64_t)i + 1);
      base[me][0]++;
      base[me][2]++;
      add(0, me == 2 ? 4 : 5);
    }
  }
  if (!me) pthread_join(t, NULL);
}

/* A lock orders the threads, whichever of them tells the other ranks. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int turns;
static void put_and_tell(void) {
  for (int i = 0; i < 20; i++) {
    pthread_mutex_lock(&lock);
    PUT(2, 0, 8);
    base[0][0]++;
    if (turns++ % 2)
      MESSAGE(1);
    else
      MESSAGE(2);
    pthread_mutex_unlock(&lock);
  }
}
OTHER(ok_locked) {
  put_and_tell();
}
CASE(ok_locked) {
  if (me == 0) {
    const pthread_t t = begin(run_ok_locked);
    put_and_tell();
    pthread_join(t, NULL);
    pthread_mutex_lock(&lock);
    MESSAGE(1);
    MESSAGE(2);
    pthread_mutex_unlock(&lock);
  }
  if (me == 0) return;
  GASNET_BLOCKUNTIL(handled == 21);
  if (me == 1) gex_RMA_GetBlocking(tm, v, 0, base[0], 8, 0);
  if (me == 2) base[2][0] = 1;
}

/* What a thread gave comes to its rank's other thread by a third rank, which goes on. */
OTHER(ok_round) {
  PUT(2, 0, 8);
  base[0][0] = 1;
  MESSAGE(1);
}
CASE(ok_round) {
  if (me == 0) {
    const pthread_t t = begin(run_ok_round);
    await_word(4, 1);
    base[0][0]++;
    PUT(2, 0, 8);
    MESSAGE(2);
    pthread_join(t, NULL);
  }
  if (me) GASNET_BLOCKUNTIL(handled);
  if (me == 1) add(0, 4);
  if (me == 2) base[2][0] = 2;
}

/* Both give to one word, in any order: who has found both in it has heard of both. */
OTHER(ok_one_word) {
  PUT(2, 0, 8);
  add(1, 4);
  PUT(2, 1, 8);
  add(1, 4);
}
CASE(ok_one_word) {
  if (me == 0) {
    const pthread_t t = begin(run_ok_one_word);
    PUT(2, 8, 8);
    add(1, 4);
    PUT(2, 9, 8);
    add(1, 4);
    pthread_join(t, NULL);
  }
  if (me == 1) {
    await_word(4, 4);
    MESSAGE(2);
  }
  if (me != 2) return;
  GASNET_BLOCKUNTIL(handled);
  base[2][0] = base[2][1] = base[2][8] = base[2][9] = 1;
}

/* Many threads, more in all ranks than have columns; each puts, and is joined, or signals. */
#define MANY 50
static void *put_one(void *arg) {
  const long i = (long)arg;
  const gex_Rank_t to = (me + 1) % 3;
  PUT(to, 128 + 4 * i, 8);
  if (i % 2) add(to, 4);
  base[me][600 + i] = i;
  if (i % 2) add(to, 5);
  return arg;
}
CASE(ok_many) {
  pthread_t all[MANY];
  for (long i = 0; i < MANY; i++)
    if (pthread_create(&all[i], NULL, put_one, (void *)i) != 0) abort();
  await_word(5, MANY / 2);
  const gex_Rank_t from = (me + 2) % 3;
  for (long i = 1; i < MANY; i += 2) {
    base[me][128 + 4 * i] = i;
    gex_RMA_GetBlocking(tm, v, from, base[from] + 600 + i, 8, 0);
  }
  for (long i = 0; i < MANY; i++) pthread_join(all[i], NULL);
  barrier();
  for (long i = 0; i < MANY; i++) base[me][128 + 4 * i] = base[me][600 + i];
  barrier();
}

/* Threads come and go, and each time another one tells. */
static void *put_again(void *arg) {
  PUT(2, 0, 8);
  return arg;
}
CASE(ok_in_turns) {
  for (int i = 0; me == 0 && i < 100; i++) {
    const pthread_t t = begin(put_again);
    pthread_join(t, NULL);
    if (i % 10 == 0) MESSAGE(1);
  }
  if (me == 0) MESSAGE(2);
  if (me == 2) GASNET_BLOCKUNTIL(handled);
  if (me == 2) base[2][0] = 1;
}

int main(int argc, char **argv) {
  hidden_start();
  return run_three(argc, argv);
}
