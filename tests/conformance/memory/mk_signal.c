/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 */
/* again: TOMBOLO_PLACES=cyclic:2+TOMBOLO_CONDUIT=loop */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 TMB_DEVICE=cuda
 * TMB_DEVICE=cuda+TOMBOLO_TEST_MK_PEER=0 */
/* timeout: 60 */
/*
 * Put and get with a signal, and tagged notification, where data are in device memory on either
 * side or both; the signal is a word of the attached segment. Who sees the signal finds the data.
 */
#include "job.h"
#include "mk_pair.h"

#include <gasnetex_ext.h>
#include <stdlib.h>

enum { SLOT = 1 << 18, METHODS = 3, ROUNDS = 5, HEAD = 4096 };

static gex_Rank_t next, before;

/* Signals in the attached segment: of data that came, of data that were taken, acknowledgements. */
static uint64_t *word_at(gex_Rank_t r, int which) {
  return (uint64_t *)(void *)base[0][r] + 8 * which;
}

/* Three slots in each memory: to send from, to receive in, to read from. */
static char *slot(int e, gex_Rank_t r, int which) {
  return base[e][r] + HEAD + (size_t)which * SLOT;
}

/* Send in one of the forms; signal `which` of the next rank becomes `value` or is raised by 1. */
static void put(int l, int e, size_t n, int form, uint64_t value) {
  const gex_TM_t tm = gex_TM_Pair(ep[l], (gex_EP_Index_t)e);
  char *const from = slot(l, job.rank, 0), *const to = slot(e, next, 1);
  uint64_t *const sig = word_at(next, 0);
  gex_Event_t lc = GEX_EVENT_INVALID, event = GEX_EVENT_NO_OP;
  switch (form) {
  case 0:
    CHECK_EQ(gexx_RMA_PutSignalBlocking(tm, next, to, from, n, GEX_EVENT_NOW, sig, GEXX_SIG_SET,
                                        value, 0),
             0);
    break;
  case 1:
    while (event == GEX_EVENT_NO_OP) {
      event = gexx_RMA_PutSignalNB(tm, next, to, from, n, &lc, sig, GEXX_SIG_ADD, 1,
                                   GEX_FLAG_IMMEDIATE);
      if (event == GEX_EVENT_NO_OP) gasnet_AMPoll();
    }
    gex_Event_Wait(lc);
    mem_write_pattern(l != 0, from, n, 99); /* was read */
    gex_Event_Wait(event);
    break;
  default:
    CHECK_EQ(gexx_RMA_PutSignalNBI(tm, next, to, from, n, GEX_EVENT_NOW, sig, GEXX_SIG_ADD, 1, 0),
             0);
    mem_write_pattern(l != 0, from, n, 98);
    gex_NBI_Wait(GEX_EC_PUT, 0);
  }
}

static void check_puts(int l, int e) {
  static const size_t sizes[] = {0, 8, 65000, 65536, SLOT};
  const gex_TM_t host = job.tm;
  static uint64_t rounds;
  for (size_t i = 0; i < 5; i++)
    for (int form = 0; form < 3; form++) {
      const size_t n = sizes[i];
      const uint64_t seed = ++rounds * 16;
      mem_write_pattern(l != 0, slot(l, job.rank, 0), n, seed + job.rank);
      put(l, e, n, form, rounds);
      gexx_Signal_Wait(word_at(job.rank, 0), GEXX_SIG_EQ, rounds);
      mem_check_pattern(e != 0, slot(e, job.rank, 1), n, seed + before);
      /* The sender may overwrite it. */
      CHECK_EQ(gexx_RMA_PutSignalBlocking(host, before, NULL, NULL, 0, GEX_EVENT_NOW,
                                          word_at(before, 1), GEXX_SIG_ADD, 1, 0),
               0);
      gexx_Signal_Wait(word_at(job.rank, 1), GEXX_SIG_EQ, rounds);
    }
}

/* Read from the next rank, who learns that it may overwrite. */
static void check_gets(int l, int e) {
  static const size_t sizes[] = {8, 65536, SLOT};
  const gex_TM_t tm = gex_TM_Pair(ep[l], (gex_EP_Index_t)e);
  static uint64_t rounds;
  for (size_t i = 0; i < 3; i++)
    for (int form = 0; form < 2; form++) {
      const size_t n = sizes[i];
      const uint64_t seed = ++rounds * 16;
      mem_write_pattern(e != 0, slot(e, job.rank, 2), n, seed + job.rank);
      job_barrier();
      if (form)
        gex_Event_Wait(gexx_RMA_GetSignalNB(tm, slot(l, job.rank, 0), next, slot(e, next, 2), n,
                                            word_at(next, 2), GEXX_SIG_ADD, 1, 0));
      else
        CHECK_EQ(gexx_RMA_GetSignalNBI(tm, slot(l, job.rank, 0), next, slot(e, next, 2), n,
                                       word_at(next, 2), GEXX_SIG_ADD, 1, 0),
                 0);
      gexx_Signal_Wait(word_at(job.rank, 2), GEXX_SIG_EQ, rounds);
      mem_write_pattern(e != 0, slot(e, job.rank, 2), n, 97); /* was read */
      gex_NBI_Wait(GEX_EC_GET, 0);
      mem_check_pattern(l != 0, slot(l, job.rank, 0), n, seed + next);
    }
}

/* Tagged notification in a team of device endpoints. */
static void check_tagged(void) {
  gex_TM_t tm = GEX_TM_INVALID;
  gex_EP_Location_t *member = (gex_EP_Location_t *)check_room(job.size, sizeof *member);
  for (gex_Rank_t r = 0; r < job.size; r++) {
    member[r].gex_rank = r;
    member[r].gex_ep_index = 1;
  }
  REQUIRE(gex_TM_Create(&tm, 1, job.tm, member, job.size, NULL, 0, GEX_FLAG_TM_NO_SCRATCH) == 1);
  gexx_Notify_t req;
  gexx_Notify_Status_t status;
  REQUIRE(gexx_Notify_Init(tm, before, 7, 1, &req) == GASNET_OK);
  for (uint64_t k = 0; k < ROUNDS; k++) {
    const size_t n = 1 + (size_t)k * 30000;
    gexx_Notify_Start(req);
    mem_write_pattern(1 != 0, slot(1, job.rank, 0), n, k * 16 + job.rank);
    job_barrier();
    CHECK_EQ(gexx_RMA_PutNotify(tm, next, slot(1, next, 1), slot(1, job.rank, 0), n, 7, 0), 0);
    gexx_Notify_Wait(req, &status);
    CHECK_EQ(status.gexx_nbytes, n);
    mem_check_pattern(1 != 0, slot(1, job.rank, 1), n, k * 16 + before);
    gexx_Notify_Start(req);
    mem_write_pattern(1 != 0, slot(1, job.rank, 2), n, k * 16 + 500 + job.rank);
    job_barrier();
    CHECK_EQ(gexx_RMA_GetNotify(tm, slot(1, job.rank, 0), next, slot(1, next, 2), n, 7, 0), 0);
    gexx_Notify_Wait(req, &status);
    mem_write_pattern(1 != 0, slot(1, job.rank, 2), n, 96); /* was read */
    mem_check_pattern(1 != 0, slot(1, job.rank, 0), n, k * 16 + 500 + next);
    job_barrier();
  }
  gexx_Notify_Free(req);
  CHECK_EQ(gex_TM_Destroy(tm, NULL, 0), 0);
  free(member);
}

int main(int argc, char **argv) {
  dev_select();
  job_start(&argc, &argv, 0, NULL, 0);
  next = (job.rank + 1) % job.size;
  before = (job.rank + job.size - 1) % job.size;
  make_endpoints(HEAD + (uintptr_t)METHODS * SLOT);
  memset(job.base, 0, HEAD);
  job_barrier();
  for (int l = 0; l < 2; l++)
    for (int e = 0; e < 2; e++) {
      check_puts(l, e);
      check_gets(l, e);
      job_barrier();
    }
  check_tagged();
  return job_finish();
}
