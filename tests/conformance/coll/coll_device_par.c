/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 1 2 3 4 */
/* again: TOMBOLO_TEST_SHM=0 TMB_DEVICE=cuda */
/* timeout: 60 */
/*
 * Collectives on device memory by several threads, each on a team of its own, with data of one word
 * to some hundred KiB; a thread may complete what another has in flight.
 */
#include "job.h"
#include "mk_dev.h"
#include "threads.h"

#include <gasnet_coll.h>
#include <gasnetex_ext.h>

enum { THREADS = 4, ROUNDS = 24, WORDS = 20000, KINDS = 3 };

static gex_TM_t tm[THREADS];
static char *device;

/* Memory of a thread's collective: source, then destination. */
static uint64_t *place(int id, int kind, int side) {
  const size_t block = (size_t)WORDS * 8;
  return (uint64_t *)(void *)(device +
                              ((size_t)(id * KINDS + kind) * (job.size + 1) + side) * block);
}

static uint64_t word(gex_Rank_t rank, int id, int kind, int round, size_t k) {
  return mix64(rank + k * 16 + (uint64_t)(id * 7 + kind * 77 + round * 777));
}

static size_t words_of(int id, int kind, int round) {
  const uint64_t x = mix64((uint64_t)(id * 1000 + kind * 100 + round));
  return 1 + (x >> 8) % (x % 3 ? WORDS : 100);
}

static void fill(int id, int kind, int round, size_t n) {
  uint64_t *in = (uint64_t *)check_room(1, n * 8);
  for (size_t k = 0; k < n; k++) in[k] = word(job.rank, id, kind, round, k);
  dev_write(place(id, kind, 0), in, n * 8);
  free(in);
}

static void verify(int id, int kind, int round, size_t n) {
  const size_t blocks = kind == 2 ? job.size : 1;
  uint64_t *out = (uint64_t *)malloc(blocks * n * 8);
  size_t bad = 0;
  if (!out) check_abandon();
  dev_read(out, place(id, kind, 1), blocks * n * 8);
  for (size_t k = 0; k < blocks * n; k++) {
    uint64_t want = word(kind == 1 ? (gex_Rank_t)round % job.size : (gex_Rank_t)(k / n), id, kind,
                         round, k % n);
    for (gex_Rank_t r = 1; kind == 0 && r < job.size; r++) want ^= word(r, id, kind, round, k);
    bad += out[k] != want;
  }
  CHECK_EQ(bad, 0);
  free(out);
}

static void body(int id) {
  for (int round = 0; round < ROUNDS; round++) {
    gex_Event_t event[KINDS];
    size_t n[KINDS];
    for (int kind = 0; kind < KINDS; kind++) {
      n[kind] = words_of(id, kind, round);
      fill(id, kind, round, n[kind]);
    }
    event[0] = gex_Coll_ReduceToAllNB(tm[id], place(id, 0, 1), place(id, 0, 0), GEX_DT_U64, 8, n[0],
                                      GEX_OP_XOR, NULL, NULL, 0);
    event[1] = gex_Coll_BroadcastNB(tm[id], (gex_Rank_t)round % job.size, place(id, 1, 1),
                                    place(id, 1, 0), n[1] * 8, 0);
    event[2] = gexx_Coll_AllGatherNB(tm[id], place(id, 2, 1), place(id, 2, 0), n[2] * 8, 0);
    for (int kind = KINDS - 1; kind >= 0; kind--) {
      gex_Event_Wait(event[kind]);
      verify(id, kind, round, n[kind]);
    }
  }
}

int main(int argc, char **argv) {
  gex_Segment_t seg = GEX_SEGMENT_INVALID;
  dev_select();
  job_start(&argc, &argv, GASNET_PAGESIZE, NULL, 0);
  REQUIRE(gex_Segment_Create(&seg, job.client, NULL,
                             (uintptr_t)THREADS * KINDS * (job.size + 1) * WORDS * 8,
                             dev_kind(job.client, 0), 0) == GASNET_OK);
  device = (char *)gex_Segment_QueryAddr(seg);
  for (int i = 0; i < THREADS; i++)
    gex_TM_Split(&tm[i], job.tm, 0, (int)job.rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  run_threads(THREADS, body);
  for (int i = 0; i < THREADS; i++) gex_TM_Destroy(tm[i], NULL, 0);
  return job_finish();
}
