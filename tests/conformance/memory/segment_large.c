/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/*
 * API 01.4: a segment much larger than what is touched: every rank attaches 1 GiB (less when the
 * limit is lower), uses bytes at both ends and the middle, and its resident memory stays small.
 */
#include "job.h"

static long resident_kib(void) {
  FILE *f = fopen("/proc/self/statm", "r");
  long total = 0, resident = -1;
  if (!f) return -1;
  if (fscanf(f, "%ld %ld", &total, &resident) != 2) resident = -1;
  fclose(f);
  return resident < 0 ? -1 : resident * (GASNET_PAGESIZE / 1024);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  uintptr_t size = (uintptr_t)1 << 30;
  const uintptr_t limit =
      gasnet_getMaxGlobalSegmentSize() / job.size / GASNET_PAGESIZE * GASNET_PAGESIZE;
  if (size > limit) size = limit;
  REQUIRE(size >= 1 << 20);
  const long before = resident_kib();
  REQUIRE(gex_Segment_Attach(&job.seg, job.tm, size) == GASNET_OK);
  CHECK_EQ(gex_Segment_QuerySize(job.seg), size);
  const gex_Rank_t next = (job.rank + 1) % job.size;
  void *owner = NULL;
  REQUIRE(gex_Segment_QueryBound(job.tm, next, &owner, NULL, NULL) == 0);
  const uintptr_t at[3] = {0, size / 2 + 1, size - 8};
  for (int i = 0; i < 3; i++)
    gex_RMA_PutBlockingVal(job.tm, next, (char *)owner + at[i], mix64(next * 3 + i), 8, 0);
  job_barrier();
  for (int i = 0; i < 3; i++) {
    uint64_t got;
    memcpy(&got, (char *)gex_Segment_QueryAddr(job.seg) + at[i], 8);
    CHECK_EQ(got, mix64(job.rank * 3 + i));
  }
  CHECK(before < 0 || resident_kib() - before < 16 * 1024);
  return job_finish();
}
