/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 */
/* again: TOMBOLO_PLACES=cyclic:2+TOMBOLO_CONDUIT=udp */
/*
 * docs/PROGRESS.md: put, get, put and get with signal, and atomic operations of every kind end
 * while their target computes and makes no call. The target goes on only when the last operation
 * has changed a word of it, so a test that waits for the target does not end. Messages need the
 * target, so nothing here is one; over ofi, whose signals and first accesses are messages, atomic
 * operations alone; skipped over conduits that make these of messages, too.
 */
#include "job.h"

#include <gasnet_ratomic.h>
#include <gasnetex_ext.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_AT = 64, SIGNAL_AT = 128, END_AT = 192, DATA_AT = 4096, DATA = 1 << 20, BURST = 300 };

static gex_AD_t ad;

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
    gexx_RMA_PutSignalNBI(job.tm, 1, there + i * 8, &i, 8, GEX_EVENT_NOW, word_of(1, SIGNAL_AT),
                          GEXX_SIG_ADD, 1, 0);
  }
  gex_NBI_Wait(GEX_EC_ALL, 0);
  CHECK_EQ(gex_RMA_GetBlockingVal(job.tm, 1, word_of(1, SIGNAL_AT), 8, 0), BURST + 4);
  CHECK_EQ(gex_RMA_GetBlockingVal(job.tm, 1, there + 8 * (BURST - 1), 8, 0), BURST - 1);
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

int main(int argc, char **argv) {
  job_start(&argc, &argv, DATA_AT + DATA, NULL, 0);
  const char *conduit = getenv("TOMBOLO_CONDUIT");
  const bool ofi = conduit && strcmp(conduit, "ofi") == 0;
  if (!job.mapped && !ofi && (!conduit || strcmp(conduit, "udp") != 0)) gasnet_exit(77);
  gex_AD_Create(&ad, job.tm, GEX_DT_U64,
                GEX_OP_SET | GEX_OP_GET | GEX_OP_ADD | GEX_OP_FADD | GEX_OP_FCAS, 0);
  job_barrier();
  if (job.rank == 0) {
    char *local = malloc(DATA);
    CHECK(local != NULL);
    if (job.mapped || !ofi) transfers(local);
    atomics();
    gex_Event_Wait(gex_AD_OpNB_U64(ad, NULL, 1, word_of(1, END_AT), GEX_OP_SET, 1, 0, 0));
    free(local);
  } else if (job.rank == 1) {
    const volatile uint64_t *end = word_of(1, END_AT);
    while (!*end) continue; /* computes */
  }
  job_barrier();
  gex_AD_Destroy(ad);
  return job_finish();
}
