/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 */
/* Exchanges whose data fill the caches of most machines, in private memory and in the segment. */
#include <gasnetex_ext.h>
#include <stdlib.h>

#include "job.h"

enum { BLOCK = 4 << 20, WORDS = BLOCK / sizeof(uint32_t), RANKS = 3 };

static uint32_t value(gex_Rank_t from, gex_Rank_t to, size_t i) {
  return (uint32_t)(i * 2654435761u) + 1000u * from + to;
}

static void exchange(uint32_t *dst, uint32_t *src) {
  for (gex_Rank_t r = 0; r < job.size; r++)
    for (size_t i = 0; i < WORDS; i++) {
      src[r * WORDS + i] = value(job.rank, r, i);
      dst[r * WORDS + i] = 0;
    }
  gex_Event_Wait(gexx_Coll_ExchangeNB(job.tm, dst, src, BLOCK, 0));
  size_t wrong = 0;
  for (gex_Rank_t r = 0; r < job.size; r++)
    for (size_t i = 0; i < WORDS; i++) wrong += dst[r * WORDS + i] != value(r, job.rank, i);
  CHECK_EQ(wrong, 0);
  job_barrier();
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, (size_t)RANKS * BLOCK, NULL, 0);
  uint32_t *src = malloc((size_t)job.size * BLOCK), *dst = malloc((size_t)job.size * BLOCK);
  CHECK_EQ(src && dst, 1);
  exchange(dst, src);
  exchange(dst, (uint32_t *)(void *)job.base); /* which the others have mapped */
  free(src);
  free(dst);
  return job_finish();
}
