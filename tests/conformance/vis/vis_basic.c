/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 16 */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 */
/* debug: both */
/* timeout: 120 */
/*
 * API 04: the cases that the text singles out: nothing to move by every form of saying so, no
 * levels, transposition, reflection, zero strides in the source, unaligned addresses, a large
 * transfer of many pieces, many transfers in flight, offsets into segments, TM-pairs, strides that
 * are changed after the call returns, access regions.
 */
#include <gasnet_vis.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

enum { SLOT = 1 << 19, N = 96 };

static gex_Rank_t peer;
static char *far_slot; /* this rank's slot at the peer */
static char *room;     /* [SLOT] */

static void clear(void) {
  static char zero[SLOT];
  gex_RMA_PutBlocking(job.tm, peer, far_slot, zero, SLOT, 0);
  memset(room, 0, SLOT);
}

/* Get the peer's data into room. */
static void fetch(size_t nbytes) {
  memset(room, 0, SLOT);
  gex_RMA_GetBlocking(job.tm, room, peer, far_slot, nbytes, 0);
}

static void nothing_strided(void) {
  const ptrdiff_t stride[2] = {8, 80};
  const size_t none[2] = {4, 0}, some[2] = {4, 4};
  char here[400];
  pattern_fill(here, sizeof here, 5);
  CHECK_EQ(gex_VIS_StridedPutBlocking(job.tm, peer, far_slot, stride, here, stride, 8, none, 2, 0),
           0);
  CHECK_EQ(gex_VIS_StridedGetBlocking(job.tm, here, stride, peer, far_slot, stride, 8, none, 2, 0),
           0);
  CHECK_EQ(gex_VIS_StridedPutBlocking(job.tm, peer, far_slot, stride, here, stride, 0, some, 2, 0),
           0);
  CHECK_EQ(gex_VIS_StridedPutNBI(job.tm, peer, NULL, NULL, NULL, NULL, 0, NULL, 3, 0), 0);
  /* team, rank and addresses are ignored */
  CHECK_EQ(
      gex_VIS_StridedPutBlocking(job.tm, job.size + 5, NULL, stride, NULL, stride, 8, none, 2, 0),
      0);
  gex_Event_t ev =
      gex_VIS_StridedGetNB(job.tm, NULL, stride, job.size + 5, NULL, stride, 8, none, 2, 0);
  gex_Event_Wait(ev);
  CHECK_BYTES(here, sizeof here, 5);
  fetch(400);
  CHECK_EQ(fill_diff(room, 400, 0), 400);
}

static void nothing_listed(void) {
  char here[64];
  pattern_fill(here, sizeof here, 6);
  void *const addr[1] = {here};
  const gex_Memvec_t empty[3] = {{NULL, 0}, {here, 0}, {NULL, 0}};
  CHECK_EQ(gex_VIS_VectorPutBlocking(job.tm, peer, 0, NULL, 0, NULL, 0), 0);
  CHECK_EQ(gex_VIS_VectorPutNBI(job.tm, peer, 0, NULL, 3, empty, 0), 0);
  CHECK_EQ(gex_VIS_VectorGetBlocking(job.tm, 3, empty, peer, 2, empty, 0), 0);
  gex_Event_Wait(gex_VIS_VectorGetNB(job.tm, 1, empty, peer, 0, NULL, 0));
  CHECK_EQ(gex_VIS_IndexedPutBlocking(job.tm, peer, 0, NULL, 8, 0, NULL, 8, 0), 0);
  CHECK_EQ(gex_VIS_IndexedGetBlocking(job.tm, 1, addr, 0, peer, 0, NULL, 8, 0), 0);
  CHECK_EQ(gex_VIS_IndexedGetNBI(job.tm, 0, NULL, 8, peer, 1, addr, 0, 0), 0);
  gex_Event_Wait(gex_VIS_IndexedPutNB(job.tm, peer, 0, NULL, 0, 0, NULL, 0, 0));
  gex_NBI_Wait(GEX_EC_ALL, 0);
  CHECK_BYTES(here, sizeof here, 6);
}

static void no_levels(void) {
  char here[333];
  pattern_fill(here, sizeof here, 7);
  CHECK_EQ(
      gex_VIS_StridedPutBlocking(job.tm, peer, far_slot + 1, NULL, here, NULL, 333, NULL, 0, 0), 0);
  memset(here, 0, sizeof here);
  CHECK_EQ(
      gex_VIS_StridedGetBlocking(job.tm, here, NULL, peer, far_slot + 1, NULL, 333, NULL, 0, 0), 0);
  CHECK_BYTES(here, 333, 7);
}

/* A transposed matrix arrives transposed, and comes back as it was. */
static void transpose(size_t elem) {
  const ptrdiff_t row = (ptrdiff_t)(N * elem), col = (ptrdiff_t)elem;
  const ptrdiff_t straight[2] = {row, col}, across[2] = {col, row};
  const size_t count[2] = {N, N};
  static char matrix[N * N * 16], back[N * N * 16];
  pattern_fill(matrix, N * N * elem, elem);
  gex_Event_Wait(
      gex_VIS_StridedPutNB(job.tm, peer, far_slot, across, matrix, straight, elem, count, 2, 0));
  fetch(N * N * elem);
  size_t wrong = 0;
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < N; j++)
      wrong += memcmp(room + (j * N + i) * elem, matrix + (i * N + j) * elem, elem) != 0;
  CHECK_EQ(wrong, 0);
  gex_Event_Wait(
      gex_VIS_StridedGetNB(job.tm, back, across, peer, far_slot, straight, elem, count, 2, 0));
  CHECK_CMP(memcmp(back, matrix, N * N * elem), ==, 0);
}

/* Negative strides on one side turn rows round; addresses are those of index 0. */
static void reflect(void) {
  int32_t here[40], back[40];
  for (int i = 0; i < 40; i++) here[i] = 1000 * (int)job.rank + i;
  const ptrdiff_t up = 4, down = -4;
  const size_t count = 40;
  gex_VIS_StridedPutBlocking(job.tm, peer, far_slot + 39 * 4, &down, here, &up, 4, &count, 1, 0);
  gex_VIS_StridedGetBlocking(job.tm, back, &up, peer, far_slot, &up, 4, &count, 1, 0);
  for (int i = 0; i < 40; i++) CHECK_EQ(back[i], here[39 - i]);
  gex_VIS_StridedGetBlocking(job.tm, back + 39, &down, peer, far_slot, &up, 4, &count, 1, 0);
  for (int i = 0; i < 40; i++) CHECK_EQ(back[i], here[i]);
}

/* A source stride of zero repeats an element. */
static void repeat(void) {
  const uint64_t here[3] = {11, 22, 33};
  uint64_t back[12];
  const ptrdiff_t dst[2] = {8, 24}, src[2] = {8, 0};
  const size_t count[2] = {3, 4};
  gex_VIS_StridedPutBlocking(job.tm, peer, far_slot, dst, (void *)(uintptr_t)here, src, 8, count, 2,
                             0);
  gex_RMA_GetBlocking(job.tm, back, peer, far_slot, sizeof back, 0);
  for (int i = 0; i < 12; i++) CHECK_EQ(back[i], here[i % 3]);
}

/* Several messages' worth, with elements longer than a message. */
static void large(size_t elem, size_t count0) {
  const ptrdiff_t wide = (ptrdiff_t)elem + 3, tight = (ptrdiff_t)elem;
  char *here = malloc(SLOT), *back = malloc(SLOT);
  REQUIRE(here && back);
  pattern_fill(here, SLOT, 9);
  memset(back, 0, SLOT);
  gex_VIS_StridedPutBlocking(job.tm, peer, far_slot, &wide, here, &tight, elem, &count0, 1, 0);
  gex_VIS_StridedGetBlocking(job.tm, back, &tight, peer, far_slot, &wide, elem, &count0, 1, 0);
  CHECK_EQ(pattern_diff(back, elem * count0, 9), elem * count0);
  CHECK_EQ(fill_diff(back + elem * count0, SLOT - elem * count0, 0), SLOT - elem * count0);
  free(here);
  free(back);
}

/* Strides and counts may change once the call has returned. */
static void metadata_is_read(void) {
  enum { EACH = 64, OPS = 40 };
  static gex_Event_t ev[2 * OPS];
  static uint64_t here[OPS][EACH], back[OPS][EACH];
  for (size_t i = 0; i < OPS; i++) {
    ptrdiff_t dst = 16, src = 8;
    size_t count = EACH;
    for (size_t k = 0; k < EACH; k++) here[i][k] = i * 1000 + k + job.rank;
    ev[i] = gex_VIS_StridedPutNB(job.tm, peer, far_slot + i * EACH * 16, &dst, here[i], &src, 8,
                                 &count, 1, i % 2 ? GEX_FLAG_ENABLE_LEAF_LC : 0);
    dst = src = 1 << 20;
    count = 1 << 20;
  }
  gex_Event_WaitAll(ev, OPS, 0);
  for (size_t i = 0; i < OPS; i++) {
    ptrdiff_t dst = 8, src = 16;
    size_t count = EACH;
    ev[i] = gex_VIS_StridedGetNB(job.tm, back[i], &dst, peer, far_slot + i * EACH * 16, &src, 8,
                                 &count, 1, 0);
    dst = src = 1 << 20;
    count = 1 << 20;
  }
  gex_Event_WaitAll(ev, OPS, 0);
  CHECK_CMP(memcmp(here, back, sizeof here), ==, 0);
}

/* Offsets into bound segments, on both sides, and TM-pairs. */
static void addressed(void) {
  const uintptr_t far_at = (uintptr_t)job.rank * SLOT, near_at = (uintptr_t)job.size * SLOT;
  char *own = job.base + near_at;
  const gex_TM_t pair = gex_TM_Pair(job.ep, 0);
  const ptrdiff_t stride = 40;
  const size_t count = 20;
  pattern_fill(own, 800, 21);
  gex_VIS_StridedPutBlocking(pair, peer, (void *)far_at, &stride, (void *)near_at, &stride, 40,
                             &count, 1, GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_OFFSET);
  fetch(800);
  CHECK_BYTES(room, 800, 21);
  memset(own, 0, 800);
  void *const near_list[2] = {(void *)(near_at + 400), (void *)near_at};
  void *const far_list[1] = {(void *)far_at};
  gex_VIS_IndexedGetBlocking(pair, 2, near_list, 400, peer, 1, far_list, 800,
                             GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_OFFSET);
  CHECK(memcmp(own + 400, room, 400) == 0 && memcmp(own, room + 400, 400) == 0);
  void *const plain[1] = {far_slot};
  gex_VIS_IndexedGetBlocking(job.tm, 2, near_list, 400, peer, 1, plain, 800,
                             GEX_FLAG_SELF_SEG_OFFSET);
  CHECK(memcmp(own + 400, room, 400) == 0 && memcmp(own, room + 400, 400) == 0);
}

/* Memory of the peer outside its segment. */
static void outside(char *const *theirs) {
  char back[600];
  const ptrdiff_t stride = 6;
  const size_t count = 100;
  gex_VIS_StridedGetBlocking(job.tm, back, &stride, peer, theirs[peer], &stride, 6, &count, 1,
                             GEX_FLAG_PEER_SEG_UNKNOWN);
  CHECK_BYTES(back, 600, 300 + peer);
}

static char elsewhere[600];

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  job_attach((uintptr_t)(job.size + 1) * SLOT);
  room = malloc(SLOT);
  char **theirs = malloc(job.size * sizeof *theirs);
  REQUIRE(room && theirs);
  char *mine = elsewhere;
  pattern_fill(elsewhere, sizeof elsewhere, 300 + job.rank);
  memcpy(job.base, &mine, sizeof mine);
  job_barrier();
  for (gex_Rank_t r = 0; r < job.size; r++)
    gex_RMA_GetBlocking(job.tm, &theirs[r], r, job.peer[r], sizeof mine, 0);
  job_barrier();
  for (gex_Rank_t step = 0; step < job.size && step < 3; step++) {
    peer = (job.rank + step) % job.size;
    far_slot = job.peer[peer] + (size_t)job.rank * SLOT;
    clear();
    nothing_strided();
    nothing_listed();
    no_levels();
    transpose(8);
    transpose(1);
    transpose(12);
    reflect();
    repeat();
    large(100000, 4);
    large(7, 40000);
    large(64, 6000);
    metadata_is_read();
    addressed();
    outside(theirs);
  }
  job_barrier();
  free(theirs);
  free(room);
  return job_finish();
}
