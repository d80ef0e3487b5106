/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/* again: TOMBOLO_PLACES=cyclic:2+TOMBOLO_CONDUIT=loop */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 TMB_DEVICE=cuda
 * TMB_DEVICE=cuda+TOMBOLO_TEST_MK_PEER=0 */
/* timeout: 120 */
/*
 * API 07.2, 07.3: put and get between host memory and the memories of two devices, in every
 * combination of local and remote side, to every rank, itself included: blocking, NB, NBI, values,
 * offsets, immediate. The devices are simulated: any access beside their copy functions ends the
 * process.
 */
#include "job.h"
#include "mk_dev.h"

#include <setjmp.h>
#include <signal.h>

/* Endpoints: 0 primordial with the attached segment, 1 and 2 devices, 3 further host memory. */
enum { EPS = 4, SLOT = 200000, LOCAL = 4 * SLOT, WORDS = 64 };

static gex_EP_t ep[EPS];
static char *own[EPS];   /* own segments */
static char **base[EPS]; /* [size] by endpoint */
static char host_memory[2 * SLOT];
static uintptr_t bytes;

static int is_device(int e) {
  return e == 1 || e == 2;
}

/* Local buffers `which` (0, 1) for operations from endpoint e. */
static char *local(int e, int which) {
  return is_device(e) ? own[e] + (bytes - 2 * SLOT) + which * SLOT : host_memory + which * SLOT;
}

/* My slot at endpoint e of a rank. */
static char *remote(int e, gex_Rank_t r) {
  return base[e][r] + (size_t)job.rank * SLOT;
}

static void make_endpoints(void) {
  bytes = (uintptr_t)job.size * SLOT + LOCAL;
  bytes = (bytes + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE * GASNET_PAGESIZE;
  job_attach(bytes);
  ep[0] = job.ep;
  own[0] = job.base;
  for (int e = 1; e < EPS; e++) {
    gex_Segment_t seg = GEX_SEGMENT_INVALID;
    const gex_MK_t kind = is_device(e) ? dev_kind(job.client, e) : GEX_MK_HOST;
    REQUIRE(gex_EP_Create(&ep[e], job.client, GEX_EP_CAPABILITY_RMA, 0) == GASNET_OK);
    REQUIRE(gex_Segment_Create(&seg, job.client, NULL, bytes, kind, 0) == GASNET_OK);
    REQUIRE(gex_EP_BindSegment(ep[e], seg, 0) == GASNET_OK);
    own[e] = (char *)gex_Segment_QueryAddr(seg);
    CHECK_EQ(gex_Segment_QuerySize(seg), bytes);
  }
  REQUIRE(gex_EP_PublishBoundSegment(job.tm, ep + 1, EPS - 1, 0) == GASNET_OK);
  for (int e = 0; e < EPS; e++) {
    base[e] = (char **)check_room(job.size, sizeof(char *));
    for (gex_Rank_t r = 0; r < job.size; r++) {
      void *owner = NULL, *mapped = &mapped;
      uintptr_t size = 0;
      const gex_TM_t pair = gex_TM_Pair(ep[1], (gex_EP_Index_t)e);
      gex_Event_Wait(gex_EP_QueryBoundSegmentNB(pair, r, &owner, &mapped, &size, 0));
      CHECK_EQ(size, bytes);
      if (is_device(e)) CHECK_PTR(mapped, NULL);
      if (r == job.rank) CHECK_PTR(owner, own[e]);
      base[e][r] = (char *)owner;
    }
  }
}

/* ---- one route: endpoint l here, endpoint e of rank r */

static void check_blocking(int l, int e, gex_Rank_t r, size_t n, uint64_t seed) {
  const gex_TM_t tm = gex_TM_Pair(ep[l], (gex_EP_Index_t)e);
  mem_write_pattern(is_device(l), local(l, 0), n, seed);
  CHECK_EQ(gex_RMA_PutBlocking(tm, r, remote(e, r), local(l, 0), n, 0), 0);
  mem_write_pattern(is_device(l), local(l, 0), n, seed + 1); /* was read */
  CHECK_EQ(gex_RMA_GetBlocking(tm, local(l, 1), r, remote(e, r), n, 0), 0);
  mem_check_pattern(is_device(l), local(l, 1), n, seed);
}

static void check_nb(int l, int e, gex_Rank_t r, size_t n, uint64_t seed) {
  const gex_TM_t tm = gex_TM_Pair(ep[l], (gex_EP_Index_t)e);
  gex_Event_t lc = GEX_EVENT_INVALID, event = GEX_EVENT_NO_OP;
  mem_write_pattern(is_device(l), local(l, 0), n, seed);
  while (event == GEX_EVENT_NO_OP) {
    event = gex_RMA_PutNB(tm, r, remote(e, r), local(l, 0), n, &lc, GEX_FLAG_IMMEDIATE);
    if (event == GEX_EVENT_NO_OP) gasnet_AMPoll();
  }
  gex_Event_Wait(lc);
  mem_write_pattern(is_device(l), local(l, 0), n, seed + 1);
  gex_Event_Wait(event);
  gex_Event_Wait(gex_RMA_GetNB(tm, local(l, 1), r, remote(e, r), n, 0));
  mem_check_pattern(is_device(l), local(l, 1), n, seed);
}

static void check_nbi(int l, int e, gex_Rank_t r, size_t n, uint64_t seed) {
  const gex_TM_t tm = gex_TM_Pair(ep[l], (gex_EP_Index_t)e);
  char *const offset = (char *)(uintptr_t)((size_t)job.rank * SLOT);
  mem_write_pattern(is_device(l), local(l, 0), n, seed);
  CHECK_EQ(gex_RMA_PutNBI(tm, r, offset, local(l, 0), n, GEX_EVENT_DEFER, GEX_FLAG_PEER_SEG_OFFSET),
           0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  gex_NBI_BeginAccessRegion(0);
  for (size_t at = 0; at < n; at += n / 3 + 1) {
    const size_t some = n - at < n / 3 + 1 ? n - at : n / 3 + 1;
    CHECK_EQ(gex_RMA_GetNBI(tm, local(l, 1) + at, r, remote(e, r) + at, some, 0), 0);
  }
  gex_Event_Wait(gex_NBI_EndAccessRegion(0));
  mem_check_pattern(is_device(l), local(l, 1), n, seed);
}

static void check_values(int l, int e, gex_Rank_t r) {
  const gex_TM_t tm = gex_TM_Pair(ep[l], (gex_EP_Index_t)e);
  for (size_t n = 1; n <= 8; n++) {
    const uint64_t v = mix64(n + r * 16 + (unsigned)e), mask = UINT64_MAX >> (64 - 8 * n);
    CHECK_EQ(gex_RMA_PutBlockingVal(tm, r, remote(e, r) + 3, v, n, 0), 0);
    CHECK_EQ(gex_RMA_GetBlockingVal(tm, r, remote(e, r) + 3, n, 0), v & mask);
    CHECK_EQ(gex_RMA_PutNBIVal(tm, r, remote(e, r) + 3, ~v, n, 0), 0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
    CHECK_EQ(gex_RMA_GetBlockingVal(tm, r, remote(e, r) + 3, n, 0), ~v & mask);
    gex_Event_Wait(gex_RMA_PutNBVal(tm, r, remote(e, r) + 3, v, n, 0));
    CHECK_EQ(gex_RMA_GetBlockingVal(tm, r, remote(e, r) + 3, n, 0), v & mask);
  }
}

static void check_route(int l, int e, gex_Rank_t r) {
  static const size_t sizes[] = {0, 1, 7, 4096, 65536, 65537, SLOT};
  uint64_t seed = mix64((unsigned)(l * 64 + e * 8) + r * 1024 + job.rank * 65536);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++, seed += 16) {
    if (job.size > 4 && sizes[i] > 4096 && i % 3 != r % 3) continue;
    check_blocking(l, e, r, sizes[i], seed);
    check_nb(l, e, r, sizes[i], seed + 4);
    check_nbi(l, e, r, sizes[i], seed + 8);
  }
  check_values(l, e, r);
}

/* ---- what owners find, and that the devices are closed */

static void check_arrival(void) {
  for (int e = 0; e < EPS; e++)
    for (gex_Rank_t r = 0; r < job.size; r++) {
      mem_write_pattern(is_device(0), local(0, 0), 5000,
                        mix64(r * 8 + (unsigned)e + job.rank * 4096));
      CHECK_EQ(gex_RMA_PutBlocking(gex_TM_Pair(ep[0], (gex_EP_Index_t)e), r, remote(e, r),
                                   local(0, 0), 5000, 0),
               0);
    }
  job_barrier();
  for (int e = 0; e < EPS; e++)
    for (gex_Rank_t r = 0; r < job.size; r++)
      mem_check_pattern(is_device(e), own[e] + (size_t)r * SLOT, 5000,
                        mix64(job.rank * 8 + (unsigned)e + r * 4096));
  job_barrier();
}

/* A team with members on devices and in host memory, ranks in reverse order. */
static void check_team(void) {
  gex_TM_t tm = GEX_TM_INVALID;
  gex_EP_Location_t *member = (gex_EP_Location_t *)check_room(job.size, sizeof *member);
  for (gex_Rank_t r = 0; r < job.size; r++) {
    member[r].gex_rank = job.size - 1 - r;
    member[r].gex_ep_index = (gex_EP_Index_t)(1 + member[r].gex_rank % 3);
  }
  REQUIRE(gex_TM_Create(&tm, 1, job.tm, member, job.size, NULL, 0, GEX_FLAG_TM_NO_SCRATCH) == 1);
  const int l = 1 + (int)(job.rank % 3);
  for (gex_Rank_t r = 0; r < job.size; r++) {
    const gex_Rank_t jobrank = job.size - 1 - r;
    char *const there = remote(1 + (int)(jobrank % 3), jobrank);
    mem_write_pattern(is_device(l), local(l, 0), 70000, r * 16 + job.rank);
    CHECK_EQ(gex_RMA_PutBlocking(tm, r, there, local(l, 0), 70000, 0), 0);
    gex_Event_Wait(gex_RMA_GetNB(tm, local(l, 1), r, there, 70000, 0));
    mem_check_pattern(is_device(l), local(l, 1), 70000, r * 16 + job.rank);
  }
  job_barrier();
  const gex_Rank_t me = gex_TM_QueryRank(tm);
  for (gex_Rank_t r = 0; r < job.size; r++)
    mem_check_pattern(is_device(l), own[l] + (size_t)r * SLOT, 70000, me * 16 + r);
  job_barrier();
  CHECK_EQ(gex_TM_Destroy(tm, NULL, 0), 0);
  free(member);
}

static sigjmp_buf back;

static void on_fault(int sig) {
  siglongjmp(back, sig);
}

static void check_closed(int e) {
  const char *network = getenv("MK_SIM_NETWORK");
  if (network && *network) return; /* open to network interfaces, see mk_sim.c */
  struct sigaction action, before;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_fault;
  sigaction(SIGSEGV, &action, &before);
  volatile int faulted = sigsetjmp(back, 1);
  if (!faulted) (void)*(volatile char *)own[e];
  sigaction(SIGSEGV, &before, NULL);
  CHECK_EQ(faulted, SIGSEGV);
}

int main(int argc, char **argv) {
  dev_select();
  job_start(&argc, &argv, 0, NULL, 0);
  make_endpoints();
  check_closed(1);
  for (int l = 0; l < EPS; l++)
    for (int e = 0; e < EPS; e++)
      for (gex_Rank_t i = 0; i < job.size; i++) check_route(l, e, (job.rank + i) % job.size);
  job_barrier();
  check_arrival();
  check_team();
  check_closed(2);
  return job_finish();
}
