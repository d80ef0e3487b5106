/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 7 16 */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 TOMBOLO_NOTIFY_CREDITS=4 */
/* timeout: 60 */
/*
 * Random traffic against a model: every rank sends every other one a random sequence of blocks
 * through a few slots, each announced by a signal, a semaphore or a tagged notification; the
 * receiver, which knows the seed, checks each block whole when it is announced, in random order of
 * senders, and gives the slot back by a signal. The seed is that of TMB_TEST_SEED.
 */
#include "job.h"

#include <gasnetex_ext.h>
#include <stdio.h>

enum { SLOTS = 3, SLOT_BYTES = 9000, MESSAGES = 60 };

/* What `from` keeps in the segment of each receiver. */
struct box {
  uint64_t arrived; /* set to the number of the last message that went by signal, or added to */
  uint64_t room;    /* messages of the segment's owner that the other rank has taken */
  gexx_Sem_Handle_t sem;
  char slot[SLOTS][SLOT_BYTES];
};

struct message {
  size_t bytes;
  unsigned how;
  uint64_t seed;
};

static gexx_Sem_t *sems;              /* [size] posted by each sender */
static gexx_Sem_Handle_t *their_sem;  /* [size] to be posted by this rank */
static gexx_Notify_t *notes;          /* [size] */
static unsigned *sent, *taken;        /* [size] */
static uint64_t *signalled, *awaited; /* [size] messages by signal, as sender and as receiver */
/* [size] by kind of announcement, signal, semaphore, note: the last message so announced, + 1 */
static unsigned (*last)[3];
static int ordered; /* all ranks are on one host: what two messages announce comes in order */

static struct box *box(gex_Rank_t owner, gex_Rank_t from) {
  return (struct box *)(void *)job.peer[owner] + from;
}

static struct message model(gex_Rank_t from, gex_Rank_t to, unsigned number) {
  uint64_t state = test_seed() + mix64(((uint64_t)from << 40) + ((uint64_t)to << 20) + number);
  struct message m;
  m.bytes = (size_t)rng_below(&state, rng_below(&state, 4) ? 200 : SLOT_BYTES + 1);
  m.how = (unsigned)rng_below(&state, 4);
  m.seed = rng_next(&state);
  return m;
}

static void send_one(gex_Rank_t to) {
  static char local[SLOT_BYTES];
  const struct message m = model(job.rank, to, sent[to]);
  struct box *const b = box(to, job.rank);
  char *const dest = b->slot[sent[to] % SLOTS];
  gex_Event_t event = GEX_EVENT_INVALID;
  pattern_fill(local, m.bytes, m.seed);
  if (m.how == 0) {
    CHECK_EQ(gexx_RMA_PutSignalBlocking(job.tm, to, dest, local, m.bytes, GEX_EVENT_NOW,
                                        &b->arrived, GEXX_SIG_SET, ++signalled[to], 0),
             0);
  } else if (m.how == 1) {
    signalled[to]++;
    event = gexx_RMA_PutSignalNB(job.tm, to, dest, local, m.bytes, GEX_EVENT_NOW, &b->arrived,
                                 GEXX_SIG_ADD, 1, 0);
  } else if (m.how == 2) {
    gexx_Sem_PutSignal(their_sem[to], dest, local, m.bytes, 1);
  } else {
    CHECK_EQ(gexx_RMA_PutNotify(job.tm, to, dest, local, m.bytes, sent[to], 0), 0);
  }
  memset(local, 0x11, m.bytes); /* torn or late data would show */
  gex_Event_Wait(event);
  sent[to]++;
  last[to][m.how < 2 ? 0 : m.how - 1] = sent[to];
}

/* Whether the next message may be sent: its slot is free, and where announcements may overtake each
 * other, the one before that is announced by the same call has been taken. */
static int may_send(gex_Rank_t to) {
  const struct message m = model(job.rank, to, sent[to]);
  const unsigned before = ordered ? 0 : last[to][m.how < 2 ? 0 : m.how - 1];
  const unsigned slot = sent[to] < SLOTS ? 0 : sent[to] - SLOTS + 1;
  const unsigned need = before > slot ? before : slot;
  return !need || gexx_Signal_Test(&box(job.rank, to)->room, GEXX_SIG_GE, need) == GASNET_OK;
}

/* Take the next message of a sender if it is announced. */
static int take_one(gex_Rank_t from) {
  const struct message m = model(from, job.rank, taken[from]);
  struct box *const b = box(job.rank, from);
  if (m.how < 2) {
    if (gexx_Signal_Test(&b->arrived, GEXX_SIG_GE, awaited[from] + 1) != GASNET_OK) return 0;
    awaited[from]++;
  } else if (m.how == 2) {
    if (gexx_Sem_Try(sems[from]) != GASNET_OK) return 0;
  } else {
    gexx_Notify_Status_t status;
    if (gexx_Notify_Test(notes[from], &status) != GASNET_OK) return 0;
    CHECK_EQ(status.gexx_tag, taken[from]);
    CHECK_EQ(status.gexx_nbytes, m.bytes);
    gexx_Notify_Start(notes[from]);
  }
  CHECK_BYTES(b->slot[taken[from] % SLOTS], m.bytes, m.seed);
  taken[from]++;
  CHECK_EQ(gexx_RMA_PutSignalBlocking(job.tm, from, NULL, NULL, 0, GEX_EVENT_NOW,
                                      &box(from, job.rank)->room, GEXX_SIG_ADD, 1, 0),
           0);
  return 1;
}

static void traffic(void) {
  uint64_t state = test_seed() + job.rank;
  uint64_t left = 2u * MESSAGES * (uint64_t)job.size;
  while (left) {
    const gex_Rank_t who = (gex_Rank_t)rng_below(&state, job.size);
    if (rng_below(&state, 2)) {
      if (taken[who] < MESSAGES) left -= (uint64_t)take_one(who);
    } else if (sent[who] < MESSAGES && may_send(who)) {
      send_one(who);
      left--;
    }
  }
}

static void *table(size_t bytes) {
  void *p = check_room(job.size, bytes);
  return p;
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  job_attach(sizeof(struct box) * job.size);
  if (job.rank == 0) printf("seed %llu\n", (unsigned long long)test_seed());
  sems = (gexx_Sem_t *)table(sizeof *sems);
  their_sem = (gexx_Sem_Handle_t *)table(sizeof *their_sem);
  notes = (gexx_Notify_t *)table(sizeof *notes);
  sent = (unsigned *)table(sizeof *sent);
  last = (unsigned(*)[3])table(sizeof *last);
  gex_Rank_t hosts;
  gex_System_QueryMyPosition(NULL, NULL, &hosts, NULL);
  ordered = hosts == 1;
  taken = (unsigned *)table(sizeof *taken);
  signalled = (uint64_t *)table(sizeof *signalled);
  awaited = (uint64_t *)table(sizeof *awaited);
  for (gex_Rank_t r = 0; r < job.size; r++) {
    REQUIRE(gexx_Sem_Alloc(&sems[r], GEXX_SEM_INTEGER | GEXX_SEM_SPRODUCER | GEXX_SEM_SCONSUMER) ==
            GASNET_OK);
    REQUIRE(gexx_Notify_Init(job.tm, r, GEXX_NOTIFY_ANY_TAG, 1, &notes[r]) == GASNET_OK);
    gexx_Notify_Start(notes[r]);
    box(job.rank, r)->sem = gexx_Sem_QueryHandle(sems[r]);
  }
  job_barrier();
  for (gex_Rank_t r = 0; r < job.size; r++)
    CHECK_EQ(
        gex_RMA_GetBlocking(job.tm, &their_sem[r], r, &box(r, job.rank)->sem, sizeof *their_sem, 0),
        0);
  job_barrier();
  traffic();
  job_barrier();
  return job_finish();
}
