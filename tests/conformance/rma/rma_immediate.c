/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 7 */
/* env: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_PROGRESS_SHARE=0 */
/* again: TOMBOLO_TEST_RING_SLOTS=64 */
/* timeout: 120 */
/*
 * API 02.4, 03.2: IMMEDIATE put and get towards a rank that does not poll, neither by a progress
 * thread, where they travel as messages: no call blocks, refusal comes, what was accepted completes
 * once the peer polls, what was refused had no effect; Test never polls.
 */
#include "press.h"

enum { TRIES_MAX = 1 << 20, MORE = 500, BYTES = 40, SLOTS = 4096 };

static gex_Event_t *events;
static char *room; /* [SLOTS * BYTES] what is got */

static char *slot_of(gex_Rank_t from, uint32_t i) {
  return job.peer[0] + ((size_t)from * SLOTS + i % SLOTS) * BYTES;
}

static gex_Event_t start(int is_get, uint32_t i) {
  if (is_get)
    return gex_RMA_GetNB(job.tm, room + (i % SLOTS) * BYTES, 0, slot_of(job.rank, i), BYTES,
                         GEX_FLAG_IMMEDIATE);
  char out[BYTES];
  pattern_fill(out, BYTES, job.rank * 100000 + i % SLOTS);
  return gex_RMA_PutNB(job.tm, 0, slot_of(job.rank, i), out, BYTES, GEX_EVENT_NOW,
                       GEX_FLAG_IMMEDIATE);
}

/* Fills up, tests that nothing completes by itself, then lets rank 0 go on and syncs. */
static void press(int is_get) {
  const uint32_t accepted = press_all(start, is_get, events, TRIES_MAX, MORE);
  for (uint32_t i = 0; i < accepted; i++) CHECK_PTR(events[i], GEX_EVENT_INVALID);
  for (uint32_t i = 0; is_get && i < accepted && i < SLOTS; i++)
    CHECK_BYTES(room + i * BYTES, BYTES, job.rank * 100000 + i);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  job_attach((uintptr_t)SLOTS * BYTES * job.size);
  if (job.mapped) return 77;
  oob_open();
  events = (gex_Event_t *)check_room(TRIES_MAX, sizeof *events);
  room = (char *)check_room(SLOTS, BYTES);
  for (int is_get = 0; is_get < 2; is_get++) {
    if (is_get)
      for (uint32_t i = 0; i < SLOTS; i++) {
        char out[BYTES];
        pattern_fill(out, BYTES, job.rank * 100000 + i);
        gex_RMA_PutBlocking(job.tm, 0, slot_of(job.rank, i), out, BYTES, 0);
      }
    job_barrier();
    oob_meet(); /* rank 0 has left the barrier, and serves nobody from now on */
    if (job.rank != 0) press(is_get);
    for (gex_Rank_t r = 1; job.rank == 0 && r < job.size; r++) CHECK_EQ(oob_wait(60000), is_get);
    job_barrier();
  }
  CHECK_CMP(gex_NBI_Test(GEX_EC_ALL, 0), ==, GASNET_OK);
  free(room);
  free(events);
  return job_finish();
}
