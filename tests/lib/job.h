/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The job of a multi-rank test: init, attach, handlers, barrier, orderly end. Test programs that
 * study one of these steps do them by hand instead.
 */
#ifndef TMB_TEST_JOB_H
#define TMB_TEST_JOB_H

#include <gasnetex.h>

#include "check.h"

#ifdef __cplusplus
extern "C" {
#endif

struct test_job {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Segment_t seg; /* GEX_SEGMENT_INVALID when job_start got 0 bytes */
  gex_Rank_t rank;
  gex_Rank_t size;
  char *base;      /* own segment */
  uintptr_t bytes; /* its size, the same on all ranks */
  char **peer;     /* [size] segment bases as their owners see them */
  int mapped;      /* peers' segments are mapped: puts and gets complete at once */
};
extern struct test_job job;

/* Init, register `table`, attach seg_bytes (0: no segment), barrier. Fills `job`; ends the program
 * on failure. */
void job_start(int *argc, char ***argv, uintptr_t seg_bytes, gex_AM_Entry_t *table, size_t entries);

/* Registers a handler at an index that the library chooses, and returns it; before the barrier that
 * lets peers use it. in flags: GEX_FLAG_AM_*. */
gex_AM_Index_t job_handler(gex_AM_Fn_t fn, gex_Flags_t flags, unsigned nargs);

/* Makes an endpoint with a segment of `bytes` of host memory. Returns the segment's address. */
char *job_endpoint(gex_EP_t *ep, uintptr_t bytes);

/* Attaches a segment of `bytes` and fills the segment part of `job`; called by job_start when it
 * gets bytes. */
void job_attach(uintptr_t bytes);

/* Barrier over the job. */
void job_barrier(void);

/* Failed here: ends the job with code 1 at once. Otherwise waits for all ranks and returns 0. */
int job_finish(void);

/* Whether the conduit of this job, if there is one, has a progress thread in each rank. */
int job_has_thread(void);

/* Sleeps; nothing is polled. */
void sleep_ms(unsigned ms);

/* Seconds of a monotonic clock. */
double now_s(void);

/* ---- signals outside the library, for tests where a rank must not poll */

/* Collective: opens one datagram socket per rank. Needs no handler; uses one barrier. */
void oob_open(void);
/* Wakes oob_wait of `rank` with `value`. */
void oob_send(gex_Rank_t rank, int value);
/* Waits without polling the library for any value; -1 after `ms` milliseconds. */
int oob_wait(unsigned ms);
/* Barrier over the job that never enters the library. */
void oob_meet(void);

/* The seed of a payload, by its ends, the number of its message and whether that is a reply. */
static inline uint64_t job_seed(gex_Rank_t from, gex_Rank_t to, int id, int is_reply) {
  return mix64(from * 64 + to) + (unsigned)id * 2 + (unsigned)is_reply;
}

/* Completes an event: by a wait, or by tests and polls. */
static inline void job_sync(gex_Event_t event, int wait) {
  if (wait) {
    gex_Event_Wait(event);
    return;
  }
  int rc;
  while ((rc = gex_Event_Test(event)) != GASNET_OK) {
    CHECK_EQ(rc, GASNET_ERR_NOT_READY);
    gasnet_AMPoll();
  }
}

/* The rank that has sent the message of a handler. */
static inline gex_Rank_t job_source(gex_Token_t token) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  return info.gex_srcrank;
}

#ifdef __cplusplus
}
#endif

#endif
