/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two endpoints of each rank: 0 is the job's, with host memory, 1 has memory of a simulated device.
 * Called by tests of transfers between kinds of memory. Calls: job.h, mk_dev.h.
 */
#ifndef TMB_TEST_MK_PAIR_H
#define TMB_TEST_MK_PAIR_H

#include "job.h"
#include "mk_dev.h"

static gex_EP_t ep[2];
static char *own[2], **base[2]; /* own segments; [e][rank] address of that of each rank */

/* Attach a segment of `bytes`, make endpoint 1 with one as long, publish both. */
static inline void make_endpoints(uintptr_t bytes) {
  gex_Segment_t seg = GEX_SEGMENT_INVALID;
  job_attach(bytes);
  ep[0] = job.ep;
  own[0] = job.base;
  REQUIRE(gex_EP_Create(&ep[1], job.client, GEX_EP_CAPABILITY_RMA, 0) == GASNET_OK);
  REQUIRE(gex_Segment_Create(&seg, job.client, NULL, bytes, dev_kind(job.client, 1), 0) ==
          GASNET_OK);
  REQUIRE(gex_EP_BindSegment(ep[1], seg, 0) == GASNET_OK);
  own[1] = (char *)gex_Segment_QueryAddr(seg);
  REQUIRE(gex_EP_PublishBoundSegment(job.tm, &ep[1], 1, 0) == GASNET_OK);
  for (int e = 0; e < 2; e++) {
    base[e] = (char **)check_room(job.size, sizeof(char *));
    for (gex_Rank_t r = 0; r < job.size; r++) {
      void *owner = NULL;
      const gex_TM_t pair = gex_TM_Pair(ep[1], (gex_EP_Index_t)e);
      gex_Event_Wait(gex_EP_QueryBoundSegmentNB(pair, r, &owner, NULL, NULL, 0));
      base[e][r] = (char *)owner;
    }
  }
}

#endif
