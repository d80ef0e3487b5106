/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/*
 * API 03.1, 03.4, 03.5: non-blocking put and get with explicit events: each lc_opt, sources
 * overwritten as soon as allowed, many operations outstanding and synced in random order, puts to
 * all ranks at once.
 */
#include "job.h"

enum { OPS = 3000, SLOT = 600, LC_NOW, LC_DEFER, LC_LEAF };

static char *source_room, *back_room;
static gex_Event_t events[OPS], leaves[OPS];

static char *slot_of(gex_Rank_t to, gex_Rank_t from, unsigned i) {
  return job.peer[to] + ((size_t)from * OPS + i) * SLOT;
}

static gex_Rank_t target(unsigned i) {
  return (gex_Rank_t)((job.rank + i) % job.size);
}

static size_t bytes_of(unsigned i) {
  return i % 11 == 0 ? 0 : mix64(i) % (SLOT + 1);
}

static uint64_t seed_of(gex_Rank_t from, unsigned i, int round) {
  return mix64(from * 100000 + i) + (unsigned)round * 1000;
}

static int lc_of(unsigned i) {
  return LC_NOW + (int)(i % 3);
}

static void start_puts(int round) {
  for (unsigned i = 0; i < OPS; i++) {
    char *const src = source_room + i * SLOT;
    const size_t n = bytes_of(i);
    leaves[i] = GEX_EVENT_NO_OP;
    pattern_fill(src, n, seed_of(job.rank, i, round));
    gex_Event_t *const lc = lc_of(i) == LC_NOW     ? GEX_EVENT_NOW
                            : lc_of(i) == LC_DEFER ? GEX_EVENT_DEFER
                                                   : &leaves[i];
    events[i] = gex_RMA_PutNB(job.tm, target(i), slot_of(target(i), job.rank, i), src, n, lc, 0);
    CHECK(events[i] != GEX_EVENT_NO_OP);
    if (lc_of(i) == LC_NOW) memset(src, 0x12, n);
    if (lc_of(i) == LC_LEAF) CHECK(leaves[i] != GEX_EVENT_NO_OP);
  }
}

/* Every leaf, then its source is ours again; the root later, in another order. */
static void sync_puts(int round) {
  for (unsigned i = 0; i < OPS; i++)
    if (lc_of(i) == LC_LEAF && round % 2 == 0) {
      gex_Event_Wait(leaves[i]);
      memset(source_room + i * SLOT, 0x34, bytes_of(i));
    }
  for (unsigned k = 0; k < OPS; k++) job_sync(events[k * 7 % OPS], k % 2);
}

static void get_back(int round) {
  for (unsigned i = 0; i < OPS; i++) {
    events[i] = gex_RMA_GetNB(job.tm, back_room + i * SLOT, target(i),
                              slot_of(target(i), job.rank, i), bytes_of(i), 0);
    CHECK(events[i] != GEX_EVENT_NO_OP);
  }
  for (unsigned k = 0; k < OPS; k++) gex_Event_Wait(events[OPS - 1 - k]);
  for (unsigned i = 0; i < OPS; i++)
    CHECK_BYTES(back_room + i * SLOT, bytes_of(i), seed_of(job.rank, i, round));
}

/* Check the data that the others put here. */
static void look_local(int round) {
  for (gex_Rank_t from = 0; from < job.size; from++)
    for (unsigned i = 0; i < OPS; i++)
      if ((from + i) % job.size == job.rank)
        CHECK_BYTES(slot_of(job.rank, from, i), bytes_of(i), seed_of(from, i, round));
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  job_attach((uintptr_t)OPS * SLOT * job.size);
  source_room = (char *)check_room(1, (size_t)OPS * SLOT);
  back_room = (char *)check_room(1, (size_t)OPS * SLOT);
  job_barrier();
  for (int round = 0; round < 4; round++) {
    start_puts(round);
    sync_puts(round);
    get_back(round);
    job_barrier();
    look_local(round);
    job_barrier();
  }
  return job_finish();
}
