/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 2 3 */
/* again: TOMBOLO_TEST_SHM=0 TOMBOLO_TEST_SHM=0+TOMBOLO_TEST_MK_STAGES=1
 * TMB_DEVICE=cuda+TOMBOLO_TEST_SHM=0 */
/* timeout: 120 */
/*
 * API 07.3: long puts and gets of device memory, at odd addresses, by several threads at once. Host
 * memory for them is bounded, whatever their length, and pinned only while a kind is there that
 * can. The bound is not asked of the conduit loop: it keeps requests in a list without an end.
 */
#include "job.h"
#include "mk_dev.h"
#include "threads.h"

#include <gasnet_mk.h>
#include <stdbool.h>

#ifdef __SANITIZE_ADDRESS__ /* keeps what was freed */
enum { GROWTH_MAX = 512 << 20 };
#else
enum { GROWTH_MAX = 8 << 20 };
#endif
enum { THREADS = 3, LONG = 12 << 20, SHARE = LONG / THREADS, ODD = 13 };

static gex_TM_t device;      /* from host memory to the device of a rank */
static gex_TM_t from_device; /* between devices */
static char **base; /* of the segment of each rank: LONG bytes for others, LONG of its own */
static char *out, *in;
static gex_MK_t kind;

/* Highest use of memory by this process since `forget`, in bytes; 0: the kernel does not say. */
static size_t peak(void) {
  char line[256];
  size_t kib = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "VmHWM: %zu", &kib) == 1) break;
  if (file) fclose(file);
  return kib << 10;
}

static void forget(void) {
  FILE *file = fopen("/proc/self/clear_refs", "w");
  if (!file) return;
  fputs("5\n", file);
  fclose(file);
}

/* Whether host memory is known to the device. */
static bool is_pinned(void) {
  struct cuda_mock_counts counts;
  if (dev.sim) {
    const size_t *bytes =
        (const size_t *)dev_load("tests/plugin/libtombolo-mk-sim.so", "mk_sim_pinned");
    return *bytes != 0;
  }
  dev.mock->counts(&counts);
  return counts.pinned != 0;
}

static gex_Rank_t next_rank(void) {
  return (job.rank + 1) % job.size;
}

/* A put of host memory and a get of it, in this thread's share. */
static void to_host(int id) {
  const size_t at = (size_t)id * SHARE + ODD, n = SHARE - 2 * ODD - (size_t)id;
  char *const there = base[next_rank()] + at;
  CHECK_EQ(gex_RMA_PutBlocking(device, next_rank(), there, out + at + 1, n, 0), 0);
  memset(in + at, 0, n);
  gex_Event_Wait(gex_RMA_GetNB(device, in + at, next_rank(), there, n, 0));
  CHECK_CMP(memcmp(in + at, out + at + 1, n), ==, 0);
}

/* Copy from this rank's device to the peer and back to another place of it. */
static void to_device(int id) {
  const size_t at = (size_t)id * SHARE + ODD, n = SHARE / 2 - 2 * ODD;
  char *const there = base[next_rank()] + at, *const here = base[job.rank] + LONG + at;
  char *const back = here + SHARE / 2;
  dev_write(here, out + at, n);
  gex_Event_t local = GEX_EVENT_INVALID;
  gex_Event_t put = gex_RMA_PutNB(from_device, next_rank(), there, here, n, &local, 0);
  gex_Event_Wait(local);
  gex_Event_Wait(put);
  CHECK_EQ(gex_RMA_GetBlocking(from_device, back, next_rank(), there, n, 0), 0);
  dev_read(in + at, back, n);
  CHECK_CMP(memcmp(in + at, out + at, n), ==, 0);
}

static void body(int id) {
  for (int round = 0; round < 2; round++) {
    to_host(id);
    to_device(id);
  }
}

static gex_EP_t make_endpoint(void) {
  gex_EP_t ep = GEX_EP_INVALID;
  kind = dev_kind(job.client, 0);
  gex_Segment_t seg = GEX_SEGMENT_INVALID;
  REQUIRE(gex_EP_Create(&ep, job.client, GEX_EP_CAPABILITY_RMA, 0) == GASNET_OK);
  REQUIRE(gex_Segment_Create(&seg, job.client, NULL, 2 * (uintptr_t)LONG, kind, 0) == GASNET_OK);
  REQUIRE(gex_EP_BindSegment(ep, seg, 0) == GASNET_OK);
  REQUIRE(gex_EP_PublishBoundSegment(job.tm, &ep, 1, 0) == GASNET_OK);
  return ep;
}

int main(int argc, char **argv) {
  dev_select();
  job_start(&argc, &argv, 65536, NULL, 0);
  const gex_EP_t ep = make_endpoint();
  device = gex_TM_Pair(job.ep, gex_EP_QueryIndex(ep));
  from_device = gex_TM_Pair(ep, gex_EP_QueryIndex(ep));
  base = (char **)calloc(job.size, sizeof *base);
  out = (char *)malloc(LONG + ODD);
  in = (char *)malloc(LONG + ODD);
  if (!base || !out || !in) check_abandon();
  for (gex_Rank_t r = 0; r < job.size; r++) {
    void *owner = NULL;
    REQUIRE(gex_Segment_QueryBound(device, r, &owner, NULL, NULL) == 0);
    base[r] = (char *)owner;
  }
  pattern_fill(out, LONG + ODD, job.rank + 77);
  memset(in, 0, LONG + ODD);
  dev_write(base[job.rank], out, LONG);
  dev_write(base[job.rank] + LONG, out, LONG);
  job_barrier();              /* others put there from here on */
  run_threads(THREADS, body); /* whatever is made once */
  job_barrier();
  forget();
  const size_t before = peak();
  run_threads(THREADS, body);
  const size_t after = peak();
  const char *conduit = getenv("TOMBOLO_CONDUIT");
  if (!conduit || strcmp(conduit, "loop")) CHECK_CMP(after, <, before + GROWTH_MAX);
  job_barrier();
  CHECK(is_pinned());
#ifndef GASNET_DEBUG /* such clients may end so, with a segment that is still bound */
  gex_MK_Destroy(kind, 0);
  CHECK(!is_pinned());
#endif
  return job_finish();
}
