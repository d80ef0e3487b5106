/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 2 3 4 */
/* env: TOMBOLO_TEST_COLL_BOARD_MAX=0 TOMBOLO_COLL_ALG=broadcast=board */
/* timeout: 60 */
/*
 * Where ranks of a host do not read each other's memory through the kernel, long blocks of an
 * exchange are copied twice, through rings; but once where they lie in a segment that the others
 * map. So are long broadcasts: the root copies nothing into its row. This program has a memcpy of
 * its own, which counts bytes: the library linked into it calls that.
 */
#include "core/job.h"
#include "job.h"

#include <gasnetex_ext.h>
#include <stdlib.h>

enum { BLOCK = 160 << 10, LEAST = 2048, RANKS = 4 }; /* LEAST: control messages are shorter */

static size_t copied;

/* Byte by byte: not made a call of memcpy by the compiler. */
void *memcpy(void *restrict to, const void *restrict from, size_t bytes) {
  volatile char *d = to;
  const volatile char *s = from;
  if (bytes >= LEAST) copied += bytes;
  for (size_t i = 0; i < bytes; i++) d[i] = s[i];
  return to;
}

static char value(gex_Rank_t from, gex_Rank_t to, size_t i) {
  return (char)(i % 127 + 3 * from + to);
}

/* Returns the bytes that this rank has copied. */
static size_t exchange(char *dst, char *src) {
  for (gex_Rank_t r = 0; r < job.size; r++)
    for (size_t i = 0; i < BLOCK; i++) src[r * BLOCK + i] = value(job.rank, r, i);
  for (size_t i = 0; i < job.size * (size_t)BLOCK; i++) dst[i] = 0;
  job_barrier();
  copied = 0;
  gex_Event_Wait(gexx_Coll_ExchangeNB(job.tm, dst, src, BLOCK, 0));
  const size_t all = copied;
  size_t wrong = 0;
  for (gex_Rank_t r = 0; r < job.size; r++)
    for (size_t i = 0; i < BLOCK; i++) wrong += dst[r * BLOCK + i] != value(r, job.rank, i);
  CHECK_EQ(wrong, 0);
  job_barrier();
  return all;
}

/* Returns the bytes that this rank has copied. */
static size_t broadcast(char *data) {
  for (size_t i = 0; i < BLOCK; i++) data[i] = job.rank ? 0 : value(0, 0, i);
  job_barrier();
  copied = 0;
  gex_Event_Wait(gex_Coll_BroadcastNB(job.tm, 0, data, data, BLOCK, 0));
  const size_t all = copied;
  size_t wrong = 0;
  for (size_t i = 0; i < BLOCK; i++) wrong += data[i] != value(0, 0, i);
  CHECK_EQ(wrong, 0);
  job_barrier();
  return all;
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, (size_t)RANKS * BLOCK, NULL, 0);
  const size_t all = job.size * (size_t)BLOCK, others = all - BLOCK;
  char *const src = malloc(all), *const dst = malloc(all);
  REQUIRE(src && dst);
  tmb_job.peer_copy = false; /* as where the kernel refuses */
  CHECK_EQ(exchange(dst, src), all + others);
  CHECK_EQ(exchange(dst, job.base), all);
  (void)broadcast(dst);
  CHECK_EQ(broadcast(job.base), job.rank ? BLOCK : 0);
  free(src);
  free(dst);
  return job_finish();
}
