/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/*
 * API 03.5, 03.6, 02.8: tests and queries never poll: with a message waiting to be handled and
 * operations pending, no call of the Test family and no query runs its handler; a poll then does. A
 * Test loop with polls makes progress.
 */
#include "job.h"

enum { TRIES = 300, ROUNDS = 20 };

static gex_AM_Index_t note_index;
static volatile uint32_t notes;

static void on_note(gex_Token_t token) {
  (void)token;
  notes++;
}

/* Every call that must not poll, on live events where there are some. */
static void never_poll(gex_Event_t *ev, gex_Event_t barrier) {
  gex_Rank_t count;
  uintptr_t bytes;
  for (int i = 0; i < TRIES; i++) {
    gex_Event_t all[3] = {barrier, GEX_EVENT_INVALID, ev[0]};
    if (barrier != GEX_EVENT_INVALID) CHECK_EQ(gex_Event_TestAll(all, 3, 0), GASNET_ERR_NOT_READY);
    ev[0] = all[2];
    if (barrier != GEX_EVENT_INVALID) CHECK_EQ(gex_Event_Test(barrier), GASNET_ERR_NOT_READY);
    (void)gex_NBI_Test(GEX_EC_ALL, 0);
    (void)gex_Event_QueryLeaf(ev[0], GEX_EC_LC);
    gex_System_QueryNbrhdInfo(NULL, &count, NULL);
    (void)gex_AM_MaxRequestMedium(job.tm, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 4);
    CHECK_PTR(gex_EP_QueryBoundSegmentNB(job.tm, job.rank, NULL, NULL, &bytes, GEX_FLAG_IMMEDIATE),
              GEX_EVENT_INVALID);
    (void)gex_System_QueryMaxThreads();
    CHECK_EQ(bytes, job.bytes);
  }
}

/* Nobody polls between the two rendezvous on sockets; meanwhile a message waits in everybody's
 * ring. */
static void one_round(uint32_t *before) {
  const gex_Rank_t next = (job.rank + 1) % job.size, last = (job.rank + job.size - 1) % job.size;
  job_barrier();
  CHECK_EQ(gex_AM_RequestShort0(job.tm, next, note_index, 0), 0);
  char source[8];
  pattern_fill(source, 8, job.rank);
  gex_Event_t leaf;
  gex_Event_t ev = gex_RMA_PutNB(job.tm, next, job.peer[next], source, 8, &leaf, 0);
  CHECK_EQ(gex_RMA_PutNBIVal(job.tm, next, job.peer[next] + 8, job.rank, 8, 0), 0);
  gex_Event_t barrier = GEX_EVENT_INVALID;
  if (job.size > 1 && job.rank != 0) barrier = gex_Coll_BarrierNB(job.tm, 0);
  oob_meet();
  const uint32_t start = notes; /* the injections may have polled; what follows must not */
  never_poll(&ev, barrier);
  CHECK_EQ(notes, start);
  oob_meet();
  ++*before;
  while (notes < *before) gasnet_AMPoll();
  CHECK_EQ(notes, *before);
  if (job.size > 1 && job.rank == 0) barrier = gex_Coll_BarrierNB(job.tm, 0);
  while (gex_Event_Test(barrier) != GASNET_OK) gasnet_AMPoll();
  while (ev != GEX_EVENT_INVALID && gex_Event_Test(ev) != GASNET_OK) gasnet_AMPoll();
  gex_NBI_Wait(GEX_EC_ALL, 0);
  job_barrier();
  CHECK_BYTES(job.base, 8, last);
  CHECK_EQ(notes, *before);
}

int main(int argc, char **argv) {
  gex_AM_Entry_t entry = {
      0, (gex_AM_Fn_t)on_note, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "note"};
  job_start(&argc, &argv, GASNET_PAGESIZE, &entry, 1);
  note_index = entry.gex_index;
  oob_open();
  uint32_t before = 0;
  for (int i = 0; i < ROUNDS; i++) one_round(&before);
  return job_finish();
}
