/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/* again: TOMBOLO_COLL_ALG=broadcast=board TOMBOLO_TEST_SHM_MAP=0 */
/* again: GASNET_SUPERNODE_MAXSIZE=2+TOMBOLO_COLL_ALG=all=nodes */
/* timeout: 60 */
/*
 * Long broadcasts from the segment, which the others may read there: several in flight, short ones
 * between them, from each root, into private memory and in place. A root writes over its source as
 * soon as its event is complete.
 */
#include <gasnet_coll.h>
#include <gasnetex_ext.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

enum { FLIGHT = 3, ROUNDS = 16, MOST = (1 << 20) + 48 };

static const size_t lengths[] = {128 << 10, (128 << 10) + 8, 300000, MOST};

struct flight {
  uint64_t *src, *dst;
  gex_Rank_t root;
  size_t words;
  uint64_t seed;
  gex_Event_t event;
};

static uint64_t word(const struct flight *f, size_t i) {
  return (f->seed + i) * UINT64_C(0x9e3779b97f4a7c15);
}

static void start(struct flight *f, int round, int index) {
  const bool in_place = (round + index) % 3 == 0;
  f->src = (uint64_t *)(void *)((char *)job.base + (size_t)index * MOST);
  f->seed = (uint64_t)round * 1000 + (uint64_t)index;
  f->root = (gex_Rank_t)((round + index) / 2) % job.size;
  f->words = lengths[(round / 2 + index) % 4] / 8;
  f->dst = in_place ? f->src : malloc(MOST);
  REQUIRE(f->dst != NULL);
  memset(f->dst, 0, 8 * f->words);
  for (size_t i = 0; f->root == job.rank && i < f->words; i++) f->src[i] = word(f, i);
  f->event = gex_Coll_BroadcastNB(job.tm, f->root, f->dst, f->src, 8 * f->words, 0);
}

static void finish(struct flight *f) {
  size_t wrong = 0;
  gex_Event_Wait(f->event);
  if (f->dst != f->src && f->root == job.rank) memset(f->src, 0x5a, 8 * f->words);
  for (size_t i = 0; i < f->words; i++) wrong += f->dst[i] != word(f, i);
  CHECK_EQ(wrong, 0);
  if (f->dst != f->src) free(f->dst);
}

int main(int argc, char **argv) {
  struct flight flight[FLIGHT];
  job_start(&argc, &argv, (size_t)FLIGHT * MOST, NULL, 0);
  for (int round = 0; round < ROUNDS; round++) {
    uint64_t few = job.rank == 0 ? (uint64_t)round : 0;
    for (int i = 0; i < FLIGHT; i++) start(&flight[i], round, i);
    const gex_Event_t small = gex_Coll_BroadcastNB(job.tm, 0, &few, &few, sizeof few, 0);
    for (int i = 0; i < FLIGHT; i++) finish(&flight[round % 2 ? FLIGHT - 1 - i : i]);
    gex_Event_Wait(small);
    CHECK_EQ(few, round);
    job_barrier();
  }
  return job_finish();
}
