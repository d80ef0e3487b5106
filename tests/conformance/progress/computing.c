/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 */
/* again: TOMBOLO_PLACES=cyclic:2+TOMBOLO_CONDUIT=udp */
/* far: no */
/*
 * docs/PROGRESS.md: put, get, put and get with signal, atomic operations of every kind, and
 * strided, indexed and vector transfers end while their target computes and makes no call. The
 * target goes on only when the last operation has changed a word of it, so a test that waits for
 * the target does not end. Messages to the client, more than there is room for, wait meanwhile, and
 * their handlers do not run. Skipped over conduits
 * without a thread. With the argument `atomics` rank 0 knows the target's memory before, and starts
 * nothing else.
 */
#include "job.h"

#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex_ext.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
  WORD_AT = 64,
  SIGNAL_AT = 128,
  END_AT = 192,
  BEGUN_AT = 256,
  DATA_AT = 4096,
  DATA = 1 << 20,
  BURST = 300
};

enum { ROWS = 200, WIDTH = 512, PITCH = 1024, CALLED = 130, FLOOD = 20000 };

static gex_AD_t ad;
static volatile int called;

static void on_call(gex_Token_t token) {
  (void)token;
  called = 1;
}

static uint64_t *word_of(gex_Rank_t rank, size_t at) {
  return (uint64_t *)(void *)(job.peer[rank] + at);
}

static void transfers(char *local) {
  char *const there = job.peer[1] + DATA_AT;
  static const size_t sizes[] = {8, 100, 5000, DATA};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    memset(local, (int)i + 1, sizes[i]);
    gex_RMA_PutBlocking(job.tm, 1, there, local, sizes[i], 0);
    memset(local, 0, sizes[i]);
    gex_RMA_GetBlocking(job.tm, local, 1, there, sizes[i], 0);
    CHECK_EQ(local[0], (char)(i + 1));
    CHECK_EQ(local[sizes[i] - 1], (char)(i + 1));
    gex_Event_Wait(gexx_RMA_PutSignalNB(job.tm, 1, there, local, sizes[i], GEX_EVENT_DEFER,
                                        word_of(1, SIGNAL_AT), GEXX_SIG_ADD, 1, 0));
  }
  for (uint64_t i = 0; i < BURST; i++) {
    gex_RMA_PutNBI(job.tm, 1, there + i * 8, &i, 8, GEX_EVENT_NOW, 0);
    gexx_RMA_PutSignalNBI(job.tm, 1, there + (BURST + i) * 8, &i, 8, GEX_EVENT_NOW,
                          word_of(1, SIGNAL_AT), GEXX_SIG_ADD, 1, 0);
  }
  gex_NBI_Wait(GEX_EC_ALL, 0);
  CHECK_EQ(gex_RMA_GetBlockingVal(job.tm, 1, word_of(1, SIGNAL_AT), 8, 0), BURST + 4);
  CHECK_EQ(gex_RMA_GetBlockingVal(job.tm, 1, there + 8 * (BURST - 1), 8, 0), BURST - 1);
  CHECK_EQ(gex_RMA_GetBlockingVal(job.tm, 1, there + 8 * (2 * BURST - 1), 8, 0), BURST - 1);
}

static void atomics(void) {
  uint64_t *const word = word_of(1, WORD_AT);
  uint64_t before = 99;
  gex_Event_Wait(gex_AD_OpNB_U64(ad, NULL, 1, word, GEX_OP_SET, 5, 0, 0));
  gex_Event_Wait(gex_AD_OpNB_U64(ad, &before, 1, word, GEX_OP_FADD, 2, 0, 0));
  CHECK_EQ(before, 5);
  gex_Event_Wait(gex_AD_OpNB_U64(ad, &before, 1, word, GEX_OP_FCAS, 7, 9, 0));
  CHECK_EQ(before, 7);
  for (int i = 0; i < BURST; i++) gex_AD_OpNBI_U64(ad, NULL, 1, word, GEX_OP_ADD, 1, 0, 0);
  gex_NBI_Wait(GEX_EC_ALL, 0);
  gex_Event_Wait(gex_AD_OpNB_U64(ad, &before, 1, word, GEX_OP_GET, 0, 0, 0));
  CHECK_EQ(before, 9 + BURST);
}

/* Rows of `local` to the peer and back into `back`, each ROWS * WIDTH bytes; far more than a
 * message holds, and then some that fit. */
static void strided(char *local, char *back, size_t rows) {
  char *const there = job.peer[1] + DATA_AT;
  const ptrdiff_t wide[1] = {PITCH}, tight[1] = {WIDTH};
  const size_t count[1] = {rows};
  for (size_t i = 0; i < rows * WIDTH; i++) local[i] = (char)(i * 7 + rows);
  memset(back, 0, rows * WIDTH);
  gex_VIS_StridedPutBlocking(job.tm, 1, there, wide, local, tight, WIDTH, count, 1, 0);
  gex_VIS_StridedGetBlocking(job.tm, back, tight, 1, there, wide, WIDTH, count, 1, 0);
  CHECK_EQ(memcmp(local, back, rows * WIDTH), 0);
}

static void lists(char *local, char *back, size_t rows) {
  void *there[ROWS], *here[ROWS], *again[ROWS];
  gex_Memvec_t far[ROWS], near[ROWS], home[ROWS];
  for (size_t i = 0; i < rows; i++) {
    there[i] = job.peer[1] + DATA_AT + i * PITCH;
    here[i] = local + i * WIDTH;
    again[i] = back + i * WIDTH;
    far[i] = (gex_Memvec_t){there[i], 1 + i % WIDTH};
    near[i] = (gex_Memvec_t){here[i], 1 + i % WIDTH};
    home[i] = (gex_Memvec_t){again[i], 1 + i % WIDTH};
  }
  for (size_t i = 0; i < rows * WIDTH; i++) local[i] = (char)(i * 5 + rows);
  memset(back, 0, rows * WIDTH);
  gex_VIS_IndexedPutBlocking(job.tm, 1, rows, there, WIDTH, rows, here, WIDTH, 0);
  gex_VIS_IndexedGetBlocking(job.tm, rows, again, WIDTH, 1, rows, there, WIDTH, 0);
  CHECK_EQ(memcmp(local, back, rows * WIDTH), 0);
  for (size_t i = 0; i < rows * WIDTH; i++) local[i] = (char)(i * 3 + rows);
  gex_VIS_VectorPutBlocking(job.tm, 1, rows, far, rows, near, 0);
  gex_VIS_VectorGetBlocking(job.tm, rows, home, 1, rows, far, 0);
  for (size_t i = 0; i < rows; i++)
    CHECK_EQ(memcmp(near[i].gex_addr, home[i].gex_addr, near[i].gex_len), 0);
}

static void pieces(void) {
  char *local = malloc(ROWS * WIDTH), *back = malloc(ROWS * WIDTH);
  CHECK(local && back);
  for (int i = 0; i < 5; i++) {
    strided(local, back, ROWS);
    strided(local, back, 3);
    lists(local, back, ROWS);
    lists(local, back, 2);
  }
  free(local);
  free(back);
}

/* Operations other than atomics. */
static void others(void) {
  char *local = malloc(DATA);
  CHECK(local != NULL);
  while (!gex_RMA_GetBlockingVal(job.tm, 1, word_of(1, BEGUN_AT), 8, 0)) continue;
  for (int i = 0; i < FLOOD && !gex_AM_RequestShort0(job.tm, 1, CALLED, GEX_FLAG_IMMEDIATE);) i++;
  transfers(local);
  pieces();
  free(local);
}

/* Rank 0 asks for the target's memory while the target makes calls. */
static void meet(void) {
  if (job.rank == 0)
    gex_Event_Wait(gex_AD_OpNB_U64(ad, NULL, 1, word_of(1, WORD_AT), GEX_OP_SET, 0, 0, 0));
  job_barrier();
}

int main(int argc, char **argv) {
  gex_AM_Entry_t handlers[] = {
      {CALLED, (gex_AM_Fn_t)on_call, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "call"}};
  job_start(&argc, &argv, DATA_AT + DATA, handlers, 1);
  if (!job.mapped && !job_has_thread()) gasnet_exit(77);
  gex_AD_Create(&ad, job.tm, GEX_DT_U64,
                GEX_OP_SET | GEX_OP_GET | GEX_OP_ADD | GEX_OP_FADD | GEX_OP_FCAS, 0);
  job_barrier();
  const bool alone = argc > 1 && strcmp(argv[1], "atomics") == 0;
  if (alone) meet();
  if (job.rank == 0) {
    if (!alone) others();
    atomics();
    gex_Event_Wait(gex_AD_OpNB_U64(ad, NULL, 1, word_of(1, END_AT), GEX_OP_SET, 1, 0, 0));
  } else if (job.rank == 1) {
    const volatile uint64_t *end = word_of(1, END_AT);
    __atomic_store_n(word_of(1, BEGUN_AT), 1, __ATOMIC_RELEASE);
    while (!*end) continue; /* computes */
    CHECK_EQ(called, 0);
  }
  job_barrier();
  gex_AD_Destroy(ad);
  return job_finish();
}
