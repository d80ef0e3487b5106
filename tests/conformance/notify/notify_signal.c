/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 16 */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 */
/* timeout: 60 */
/*
 * Put and get with a signal, and the owner's tests and waits: every form, peer and operation; the
 * data are whole when the signal is seen; bare signals; counting, consuming and finding one of
 * many.
 */
#include "job.h"

#include <gasnetex_ext.h>

enum {
  AREA = 256 << 10, /* data from each peer */
  SIGNALS = 16,     /* words from each peer, before its data */
  HEAD = SIGNALS * 8,
  BLOCK = AREA + HEAD,
  ROUNDS = 40
};

static char *local;
static gex_Event_t kept[2048];
static size_t kept_count;

/* What rank `from` owns in the segment of `to`: signals, then data. */
static uint64_t *signal_of(gex_Rank_t to, gex_Rank_t from, int i) {
  return (uint64_t *)(void *)(job.peer[to] + (size_t)from * BLOCK) + i;
}
static char *data_of(gex_Rank_t to, gex_Rank_t from) {
  return job.peer[to] + (size_t)from * BLOCK + HEAD;
}

static size_t size_of(int round) {
  static const size_t sizes[] = {0,    1,    7,     8,     9,     64,     100, 513,
                                 4096, 5000, 65000, 65536, 65537, 131073, AREA};
  return sizes[(size_t)round % (sizeof sizes / sizeof *sizes)];
}

static uint64_t seed_of(gex_Rank_t from, gex_Rank_t to, int round) {
  return mix64(from * 64 + to) + (unsigned)round;
}

/* Puts a pattern, then sets or adds to signal 0 of this pair. */
static void put(gex_Rank_t to, int round, int op, uint64_t value) {
  const size_t n = size_of(round);
  char *const dest = data_of(to, job.rank);
  uint64_t *const sig = signal_of(to, job.rank, 0);
  pattern_fill(local, n, seed_of(job.rank, to, round));
  if (round % 3 == 0) {
    CHECK_EQ(
        gexx_RMA_PutSignalBlocking(job.tm, to, dest, local, n, GEX_EVENT_NOW, sig, op, value, 0),
        0);
    memset(local, 0x55, n);
  } else if (round % 3 == 1) {
    CHECK_EQ(gexx_RMA_PutSignalNBI(job.tm, to, dest, local, n, GEX_EVENT_DEFER, sig, op, value, 0),
             0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
  } else {
    gex_Event_t leaf = GEX_EVENT_NO_OP;
    const gex_Event_t root =
        gexx_RMA_PutSignalNB(job.tm, to, dest, local, n, &leaf, sig, op, value, 0);
    CHECK(root != GEX_EVENT_NO_OP && leaf != GEX_EVENT_NO_OP);
    gex_Event_Wait(leaf);
    memset(local, 0x55, n);
    gex_Event_Wait(root);
  }
}

/* Everybody puts to everybody; each looks at what the signal promised, and answers by a signal. */
static void exchange(void) {
  for (int round = 0; round < ROUNDS; round++) {
    const int add = round % 2;
    for (gex_Rank_t k = 0; k < job.size; k++)
      put((job.rank + k) % job.size, round, add ? GEXX_SIG_ADD : GEXX_SIG_SET,
          add ? 1 : (uint64_t)round + 1);
    for (gex_Rank_t from = 0; from < job.size; from++) {
      const uint64_t want = (uint64_t)round + 1;
      const uint64_t got = gexx_Signal_Wait(signal_of(job.rank, from, 0), GEXX_SIG_GE, want);
      CHECK_EQ(got, want);
      CHECK_BYTES(data_of(job.rank, from), size_of(round), seed_of(from, job.rank, round));
      CHECK_EQ(gexx_RMA_PutSignalBlocking(job.tm, from, NULL, NULL, 0, GEX_EVENT_NOW,
                                          signal_of(from, job.rank, 1), GEXX_SIG_ADD, 3, 0),
               0);
    }
    for (gex_Rank_t from = 0; from < job.size; from++)
      (void)gexx_Signal_WaitConsume(signal_of(job.rank, from, 1), 3);
  }
  for (gex_Rank_t from = 0; from < job.size; from++) {
    CHECK_EQ(gexx_Signal_Reset(signal_of(job.rank, from, 0)), ROUNDS);
    CHECK_EQ(gexx_Signal_Fetch(signal_of(job.rank, from, 0)), 0);
    CHECK_EQ(gexx_Signal_Fetch(signal_of(job.rank, from, 1)), 0);
  }
}

/* Readers get what the owner wrote, and say when it may be overwritten. */
static void readers(void) {
  const gex_Rank_t from = (job.rank + 1) % job.size; /* whom this rank reads */
  const gex_Rank_t reader = (job.rank + job.size - 1) % job.size;
  char *const mine = data_of(job.rank, job.rank);
  uint64_t *const ready = signal_of(reader, job.rank, 2);    /* at the reader */
  uint64_t *const ready_here = signal_of(job.rank, from, 2); /* from whom we read */
  uint64_t *const done = signal_of(from, job.rank, 3);       /* at the owner */
  for (int round = 0; round < ROUNDS; round++) {
    const size_t n = size_of(round);
    pattern_fill(mine, n, seed_of(job.rank, job.rank, round));
    CHECK_EQ(gexx_RMA_PutSignalBlocking(job.tm, reader, NULL, NULL, 0, GEX_EVENT_NOW, ready,
                                        GEXX_SIG_ADD, 1, 0),
             0);
    (void)gexx_Signal_WaitConsume(ready_here, 1);
    memset(local, 0, n);
    if (round % 2) {
      CHECK_EQ(gexx_RMA_GetSignalNBI(job.tm, local, from, data_of(from, from), n, done,
                                     GEXX_SIG_ADD, 1, 0),
               0);
      gex_NBI_Wait(GEX_EC_GET, 0);
    } else {
      const gex_Event_t e = gexx_RMA_GetSignalNB(job.tm, local, from, data_of(from, from), n, done,
                                                 GEXX_SIG_SET, (uint64_t)round + 1, 0);
      CHECK(e != GEX_EVENT_NO_OP);
      gex_Event_Wait(e);
    }
    CHECK_BYTES(local, n, seed_of(from, from, round));
    (void)gexx_Signal_Wait(signal_of(job.rank, reader, 3), GEXX_SIG_GT, (uint64_t)round);
  }
}

/* Even ranks put to odd ones, which look at once when the signal comes, and the other way round by
 * get: the signal must neither come before the last byte is there nor before the last one is read.
 */
static void torn(void) {
  enum { BYTES = 60000, TIMES = 120 };
  const gex_Rank_t partner = job.rank ^ 1u;
  char *const mine = data_of(job.rank, job.rank);
  uint64_t *const here = signal_of(job.rank, partner, 10);
  job_barrier();
  for (int i = 1; partner < job.size && i <= TIMES; i++) {
    uint64_t *const there = signal_of(partner, job.rank, 10);
    if (job.rank % 2) {
      (void)gexx_Signal_Wait(here, GEXX_SIG_GE, (uint64_t)i);
      CHECK_EQ(fill_diff(data_of(job.rank, partner) + BYTES - 64, 64, i), 64); /* written last */
      CHECK_EQ(fill_diff(data_of(job.rank, partner), BYTES, i), BYTES);
      memset(mine, i, BYTES);
    } else {
      memset(local, i, BYTES);
    }
    CHECK_EQ(gexx_RMA_PutSignalBlocking(job.tm, partner, data_of(partner, job.rank), local,
                                        job.rank % 2 ? 0 : BYTES, GEX_EVENT_NOW, there,
                                        GEXX_SIG_SET, (uint64_t)i, 0),
             0);
    if (job.rank % 2) {
      (void)gexx_Signal_WaitConsume(signal_of(job.rank, partner, 11), 1);
      memset(mine, 0xee, BYTES); /* read by then */
      CHECK_EQ(gexx_RMA_PutSignalBlocking(job.tm, partner, NULL, NULL, 0, GEX_EVENT_NOW,
                                          signal_of(partner, job.rank, 11), GEXX_SIG_ADD, 1, 0),
               0);
    } else {
      (void)gexx_Signal_Wait(here, GEXX_SIG_GE, (uint64_t)i);
      gex_Event_Wait(gexx_RMA_GetSignalNB(job.tm, local, partner, data_of(partner, partner), BYTES,
                                          signal_of(partner, job.rank, 11), GEXX_SIG_ADD, 1, 0));
      CHECK_EQ(fill_diff(local, BYTES, i), BYTES);
      (void)gexx_Signal_WaitConsume(signal_of(job.rank, partner, 11), 1);
    }
  }
  job_barrier();
}

static void comparisons(void) {
  uint64_t *const sig = signal_of(job.rank, job.rank, 4);
  static const struct {
    int cmp;
    uint64_t value;
    int holds;
  } cases[] = {{GEXX_SIG_EQ, 7, 1}, {GEXX_SIG_EQ, 8, 0}, {GEXX_SIG_NE, 8, 1}, {GEXX_SIG_NE, 7, 0},
               {GEXX_SIG_GT, 6, 1}, {GEXX_SIG_GT, 7, 0}, {GEXX_SIG_GE, 7, 1}, {GEXX_SIG_GE, 8, 0},
               {GEXX_SIG_LT, 8, 1}, {GEXX_SIG_LT, 7, 0}, {GEXX_SIG_LE, 7, 1}, {GEXX_SIG_LE, 6, 0}};
  *sig = 7;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_EQ(gexx_Signal_Test(sig, cases[i].cmp, cases[i].value),
             cases[i].holds ? GASNET_OK : GASNET_ERR_NOT_READY);
    if (cases[i].holds) CHECK_EQ(gexx_Signal_Wait(sig, cases[i].cmp, cases[i].value), 7);
  }
  CHECK_EQ(gexx_Signal_TryConsume(sig, 8), GASNET_ERR_NOT_READY);
  CHECK_EQ(gexx_Signal_TryConsume(sig, 5), GASNET_OK);
  CHECK_EQ(gexx_Signal_WaitConsume(sig, 2), 0);
  CHECK_EQ(gexx_Signal_TryConsume(sig, 0), GASNET_OK);
  CHECK_EQ(*sig, 0);
}

/* Each rank sets one word in a range at rank 0, which finds them all, in whatever order. */
static void some(void) {
  size_t index = 0;
  gex_Rank_t found = 0;
  uint64_t sum = 0, want = 0;
  uint64_t *const first = signal_of(0, 0, 5);
  job_barrier();
  if (job.rank == 0) {
    CHECK_EQ(gexx_Signal_TestSome(signal_of(0, 0, 6), job.size, BLOCK, &index),
             GASNET_ERR_NOT_READY);
    CHECK_EQ(index, 0);
  }
  CHECK_EQ(gexx_RMA_PutSignalBlocking(job.tm, 0, NULL, NULL, 0, GEX_EVENT_NOW,
                                      signal_of(0, job.rank, 5), GEXX_SIG_SET, job.rank + 1u, 0),
           0);
  if (job.rank) return;
  while (found < job.size) {
    if (found % 2)
      while (gexx_Signal_TestSome(first, job.size, BLOCK, &index) != GASNET_OK) continue;
    else
      CHECK_CMP(gexx_Signal_WaitSome(first, job.size, BLOCK, &index), <=, job.size);
    CHECK_EQ(gexx_Signal_Fetch(signal_of(0, (gex_Rank_t)index, 5)), index + 1);
    sum += gexx_Signal_Reset(signal_of(0, (gex_Rank_t)index, 5));
    want += ++found;
    index = (index + 1) % job.size;
  }
  CHECK_EQ(sum, want);
  CHECK_EQ(gexx_Signal_TestSome(first, job.size, BLOCK, &index), GASNET_ERR_NOT_READY);
}

/* Offsets into the bound segment, TM-pairs, and an immediate attempt. */
static void other_addressing(void) {
  const gex_Rank_t to = (job.rank + 1) % job.size, from = (job.rank + job.size - 1) % job.size;
  const gex_TM_t pair = gex_TM_Pair(job.ep, 0);
  uint64_t *const sig = signal_of(job.rank, from, 7);
  const size_t at = (size_t)(data_of(to, job.rank) - job.peer[to]);
  const size_t sig_at = (size_t)((char *)signal_of(to, job.rank, 7) - job.peer[to]);
  job_barrier();
  pattern_fill(local, 3000, job.rank);
  CHECK_EQ(gexx_RMA_PutSignalBlocking(job.tm, to, (void *)at, local, 3000, GEX_EVENT_NOW,
                                      (uint64_t *)sig_at, GEXX_SIG_ADD, 1,
                                      GEX_FLAG_PEER_SEG_OFFSET),
           0);
  CHECK_EQ(gexx_Signal_Wait(sig, GEXX_SIG_EQ, 1), 1);
  CHECK_BYTES(data_of(job.rank, from), 3000, from);
  job_barrier();
  while (gexx_RMA_PutSignalBlocking(pair, to, data_of(to, job.rank) + 1, local, 3000, GEX_EVENT_NOW,
                                    signal_of(to, job.rank, 7), GEXX_SIG_ADD, 1,
                                    GEX_FLAG_IMMEDIATE))
    gasnet_AMPoll();
  CHECK_EQ(gexx_Signal_Wait(sig, GEXX_SIG_NE, 1), 2);
  CHECK_BYTES(data_of(job.rank, from) + 1, 3000, from);
  job_barrier();
}

/* Immediate attempts that find no room are refused, and leave no trace; polls make room. */
static void immediate(void) {
  enum { ATTEMPTS = 3000 };
  const gex_Rank_t to = (job.rank + 1) % job.size, from = (job.rank + job.size - 1) % job.size;
  uint64_t accepted = 0;
  for (int i = 0; i < ATTEMPTS || (!job.mapped && !accepted); i++) {
    uint64_t *const sig = signal_of(to, job.rank, 8);
    if (i % 2) {
      char *const dest = data_of(to, job.rank) + 100 * (i / 2 % (AREA / 100));
      accepted += !gexx_RMA_PutSignalNBI(job.tm, to, dest, local, 100, GEX_EVENT_DEFER, sig,
                                         GEXX_SIG_ADD, 1, GEX_FLAG_IMMEDIATE);
    } else {
      const gex_Event_t e = gexx_RMA_PutSignalNB(job.tm, to, NULL, NULL, 0, GEX_EVENT_NOW, sig,
                                                 GEXX_SIG_ADD, 1, GEX_FLAG_IMMEDIATE);
      accepted += e != GEX_EVENT_NO_OP;
      if (e == GEX_EVENT_NO_OP) {
        gasnet_AMPoll();
        continue;
      }
      if (i % 256 == 0)
        gex_Event_Wait(e);
      else
        kept[kept_count++] = e;
    }
  }
  if (job.mapped) CHECK_EQ(accepted, ATTEMPTS); /* else: as the neighbour serves, once at least */
  CHECK_CMP(accepted, >, 0);
  gex_Event_WaitAll(kept, kept_count, 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  CHECK_EQ(gexx_RMA_PutSignalBlocking(job.tm, to, NULL, NULL, 0, GEX_EVENT_NOW,
                                      signal_of(to, job.rank, 9), GEXX_SIG_SET, accepted, 0),
           0);
  const uint64_t want = gexx_Signal_Wait(signal_of(job.rank, from, 9), GEXX_SIG_NE, 0);
  CHECK_EQ(gexx_Signal_Fetch(signal_of(job.rank, from, 8)), want);
  job_barrier();
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  job_attach((uintptr_t)BLOCK * job.size);
  memset(job.base, 0, job.bytes);
  local = (char *)check_room(1, AREA);
  job_barrier();
  comparisons();
  exchange();
  readers();
  torn();
  some();
  other_addressing();
  immediate();
  return job_finish();
}
