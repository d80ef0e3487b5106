/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 2 4 */
/*
 * Ranks that share one processor let others run at once on one host, and after 1 us where each is
 * on a host of its own: hosts that are namespaces of one kernel share its processors. On one host
 * ctest runs this, on hosts of a lab tests/net/share_test.py.
 */
#define _GNU_SOURCE
#include "core/job.h"
#include "job.h"
#include "processors.h"

int main(int argc, char **argv) {
  restrict_to(1);
  job_start(&argc, &argv, 0, NULL, 0);
  const bool one_host = tmb_job.boot.here == tmb_job.size;
  CHECK(tmb_job.wait.outnumber);
  CHECK_CMP(tmb_job.wait.spin_ns, ==, tmb_job.boot.here > 1 ? 0 : 1000);
  CHECK_CMP(tmb_job.wait.yield_count, ==, 4);
  CHECK_CMP(tmb_job.wait.crowded, ==, one_host); /* collectives heed the ranks of one host */
  if (tmb_job.rank == 0) printf("ranks here: %u\n", tmb_job.boot.here);
  return job_finish();
}
