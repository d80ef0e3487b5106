/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* cases: zero ragged huge */
/*
 * API 01.4: sizes that attach must refuse on all ranks, leaving the segment handle alone.
 */
#include "job.h"

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  const char *what = argc > 1 ? argv[1] : "ragged";
  static int mark;
  gex_Segment_t seg = (gex_Segment_t)(void *)&mark;
  uintptr_t size = 0;
  if (!strcmp(what, "ragged")) size = GASNET_PAGESIZE + 1;
  if (!strcmp(what, "huge")) size = (uintptr_t)1 << 60;
  const int rc = gex_Segment_Attach(&seg, job.tm, size);
  if (!strcmp(what, "huge"))
    CHECK(rc == GASNET_ERR_BAD_ARG || rc == GASNET_ERR_RESOURCE);
  else
    CHECK_EQ(rc, GASNET_ERR_BAD_ARG);
  CHECK_PTR(seg, (gex_Segment_t)(void *)&mark);
  CHECK_PTR(gex_EP_QuerySegment(job.ep), GEX_SEGMENT_INVALID);
  return job_finish();
}
