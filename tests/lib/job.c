/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start and end of a multi-rank test (job.h) on the public API.
 */
#include "job.h"

#include <time.h>

struct test_job job;

static void find_segments(void) {
  job.peer = (char **)check_room(job.size, sizeof *job.peer);
  job.mapped = 1;
  for (gex_Rank_t r = 0; r < job.size; r++) {
    void *owner = NULL, *local = NULL;
    uintptr_t bytes = 0;
    REQUIRE(gex_Segment_QueryBound(job.tm, r, &owner, &local, &bytes) == 0);
    REQUIRE(bytes >= job.bytes);
    job.peer[r] = (char *)owner;
    if (!local) job.mapped = 0;
  }
  if (env_number("TOMBOLO_TEST_SHM_MAP", 1) == 0) job.mapped = 0;
}

void job_start(int *argc, char ***argv, uintptr_t seg_bytes, gex_AM_Entry_t *table,
               size_t entries) {
  REQUIRE(gex_Client_Init(&job.client, &job.ep, &job.tm, "CONFORM", argc, argv, 0) == GASNET_OK);
  job.rank = gex_TM_QueryRank(job.tm);
  job.size = gex_TM_QuerySize(job.tm);
  check_set_rank(job.rank);
  REQUIRE(job.size >= 1 && job.rank < job.size);
  if (entries) REQUIRE(gex_EP_RegisterHandlers(job.ep, table, entries) == GASNET_OK);
  if (seg_bytes) job_attach(seg_bytes);
  job_barrier();
}

void job_attach(uintptr_t bytes) {
  job.bytes = (bytes + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE * GASNET_PAGESIZE;
  REQUIRE(gex_Segment_Attach(&job.seg, job.tm, job.bytes) == GASNET_OK);
  job.base = (char *)gex_Segment_QueryAddr(job.seg);
  find_segments();
}

char *job_endpoint(gex_EP_t *ep, uintptr_t bytes) {
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  REQUIRE(gex_EP_Create(ep, job.client, GEX_EP_CAPABILITY_ALL, 0) == GASNET_OK);
  REQUIRE(gex_Segment_Create(&segment, job.client, NULL, bytes, GEX_MK_HOST, 0) == GASNET_OK);
  REQUIRE(gex_EP_BindSegment(*ep, segment, 0) == GASNET_OK);
  return (char *)gex_Segment_QueryAddr(segment);
}

gex_AM_Index_t job_handler(gex_AM_Fn_t fn, gex_Flags_t flags, unsigned nargs) {
  gex_AM_Entry_t entry = {0, fn, flags, nargs, NULL, NULL};
  REQUIRE(gex_EP_RegisterHandlers(job.ep, &entry, 1) == GASNET_OK);
  return entry.gex_index;
}

void job_barrier(void) {
  gex_Event_Wait(gex_Coll_BarrierNB(job.tm, 0));
}

int job_finish(void) {
  if (check_done()) gasnet_exit(1);
  job_barrier();
  return 0;
}

int job_has_thread(void) {
  const char *const conduit = getenv("TOMBOLO_CONDUIT"), *level = getenv("TOMBOLO_MPI_THREAD");
  if (!conduit) return 0;
  if (!strcmp(conduit, "mpi")) return level && !strcmp(level, "MULTIPLE");
  return !strcmp(conduit, "udp") || !strcmp(conduit, "ofi");
}

void sleep_ms(unsigned ms) {
  struct timespec left = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
  while (nanosleep(&left, &left) != 0) {}
}

double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
