/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4 7 */
/* env: TOMBOLO_TEST_COLL_BOARD_MAX=0 TOMBOLO_COLL_DIRECT=0 */
/* again: TOMBOLO_TEST_RING_SLOTS=64 TOMBOLO_TEST_COLL_CHUNK=1000 TOMBOLO_COLL_ALG=allreduce=ring */
/* timeout: 60 */
/*
 * Data that come faster than a client's function combines them are not kept whole: their sender
 * waits to be asked for more. Memory is what malloc says is in use while the function runs.
 */
#include "job.h"

#include <gasnet_coll.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORDS = 1 << 20, KEPT_MAX = 1 << 20 };

static uint64_t peak;

static uint64_t heap(void) {
  const struct mallinfo2 m = mallinfo2();
  return m.uordblks + m.hblkhd;
}

static void add(const void *x, void *y, size_t count, const void *cdata) {
  const uint64_t now = heap();
  (void)cdata;
  usleep(100);
  for (size_t i = 0; i < count; i++) ((uint64_t *)y)[i] += ((const uint64_t *)x)[i];
  if (now > peak) peak = now;
}

static uint64_t *reduced(const uint64_t *in, uint64_t *out, gex_OP_t op) {
  const gex_DT_t dt = op == GEX_OP_ADD ? GEX_DT_U64 : GEX_DT_USER;
  gex_Event_Wait(gex_Coll_ReduceToAllNB(job.tm, out, in, dt, 8, WORDS, op, add, NULL, 0));
  return out;
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, GASNET_PAGESIZE, NULL, 0);
  uint64_t *in = malloc(8 * WORDS), *out = malloc(8 * WORDS);
  REQUIRE(in && out);
  for (size_t i = 0; i < WORDS; i++) in[i] = mix64(i) * (job.rank + 1);
  (void)reduced(in, out, GEX_OP_ADD); /* makes the memory that the algorithm itself needs */
  job_barrier();
  const uint64_t before = heap();
  peak = before;
  (void)reduced(in, out, GEX_OP_USER);
  size_t bad = 0;
  for (size_t i = 0; i < WORDS; i++)
    bad += out[i] != mix64(i) * ((uint64_t)job.size * (job.size + 1) / 2);
  CHECK_EQ(bad, 0);
  if (peak - before > KEPT_MAX)
    fprintf(stderr, "rank %u kept %llu bytes\n", job.rank, (unsigned long long)(peak - before));
  CHECK_CMP(peak - before, <=, KEPT_MAX);
  free(in);
  free(out);
  return job_finish();
}
