/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* again: TOMBOLO_TEST_SHM=0 */
/*
 * A handler that sends to its own rank breaks a rule, and yet must not use up the stack: the
 * message waits in the ring. Clients without debug checks; others get a message.
 */
#include "job.h"

enum { LINKS = 200000 };

static gex_AM_Index_t link_i;
static volatile int links, depth, depth_most;

static void on_link(gex_Token_t token) {
  (void)token;
  if (++depth > depth_most) depth_most = depth;
  if (++links < LINKS) gex_AM_RequestShort0(job.tm, job.rank, link_i, 0);
  depth--;
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  link_i = job_handler((gex_AM_Fn_t)on_link, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0);
  job_barrier();
  gex_AM_RequestShort0(job.tm, job.rank, link_i, 0);
  CHECK_CMP(links, >=, 1);
  GASNET_BLOCKUNTIL(links == LINKS);
  CHECK_EQ(depth_most, 1);
  return job_finish();
}
