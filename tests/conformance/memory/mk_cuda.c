/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* again: TOMBOLO_TEST_SHM=0 TOMBOLO_TEST_MK_PEER=0 GASNET_USE_CUDA_SYNC_MEMOPS=0 */
/*
 * API 07 on the CUDA plug-in and a mock driver: errors name what is wrong, nothing is left behind
 * after a failure, the client's context stays current, memory of peers is copied without them where
 * the driver lets us and by messages where it does not.
 */
#include "job.h"
#include "messages.h"
#include "mk_dev.h"

#include "plugin/cuda_mock.h"

enum { NO_DEVICE = 100, NO_MEMORY = 2, NOT_SUPPORTED = 801, BIG = 300000 };

static int create(gex_MK_t *kind, int device) {
  gex_MK_Create_args_t args;
  memset(&args, 0, sizeof args);
  args.gex_class = GEX_MK_CLASS_CUDA_UVA;
  args.gex_args.gex_class_cuda_uva.gex_CUdevice = device;
  return gex_MK_Create(kind, job.client, &args, 0);
}

static struct cuda_mock_counts counts(void) {
  struct cuda_mock_counts c;
  dev.mock->counts(&c);
  return c;
}

static void refused(int device, const char *symbol, unsigned result, const char *words) {
  gex_MK_t kind = GEX_MK_HOST;
  dev.mock->fail(symbol, result);
  messages_begin();
  CHECK_EQ(create(&kind, device), GASNET_ERR_RESOURCE);
  messages_expect("gex_MK_Create", words);
  dev.mock->fail(NULL, 0);
  CHECK_PTR(kind, GEX_MK_HOST);
  CHECK_EQ(counts().retains, 0);
  CHECK_EQ(counts().streams, 0);
}

static void check_devices(void) {
  refused(0, "cuInit", NO_DEVICE, "finds no device");
  refused(0, "cuInit", 999, "cannot be initialised");
  refused(-1, NULL, 0, "gex_CUdevice is -1; this process sees 5 CUDA devices");
  refused(5, NULL, 0, "gex_CUdevice is 5; this process sees 5 CUDA devices, so 0 to 4");
  refused(4, NULL, 0, "device 4 has no unified addressing");
  refused(0, "cuDeviceGetCount", 999, "asking for the CUDA device");
  refused(0, "cuDevicePrimaryCtxRetain", NO_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY");
  refused(0, "cuCtxPushCurrent_v2", 201, "CUDA_ERROR_INVALID_CONTEXT");
  refused(0, "cuStreamCreate", NO_MEMORY, "cuStreamCreate: CUDA_ERROR_OUT_OF_MEMORY");
}

static void no_segment(gex_MK_t kind, void *addr, uintptr_t bytes, const char *words) {
  gex_Segment_t seg = GEX_SEGMENT_INVALID;
  messages_begin();
  CHECK_EQ(gex_Segment_Create(&seg, job.client, addr, bytes, kind, 0),
           addr ? GASNET_ERR_BAD_ARG : GASNET_ERR_RESOURCE);
  messages_expect("gex_Segment_Create", words);
  CHECK_PTR(seg, GEX_SEGMENT_INVALID);
}

static void check_memory(void) {
  gex_MK_t kind = GEX_MK_INVALID, second = GEX_MK_INVALID;
  gex_Segment_t seg = GEX_SEGMENT_INVALID;
  CHECK_EQ(create(&kind, 0), GASNET_OK);
  CHECK_EQ(create(&second, 1), GASNET_OK);
  no_segment(kind, NULL, (uintptr_t)2 << 30, "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY");
  dev.mock->fail("cuPointerSetAttribute", NOT_SUPPORTED);
  if (!getenv("GASNET_USE_CUDA_SYNC_MEMOPS"))
    no_segment(kind, NULL, 4096, "GASNET_USE_CUDA_SYNC_MEMOPS=0");
  dev.mock->fail(NULL, 0);
  CHECK_EQ(counts().allocations, 0);
  REQUIRE(gex_Segment_Create(&seg, job.client, NULL, 10000, kind, 0) == GASNET_OK);
  char *const addr = (char *)gex_Segment_QueryAddr(seg);
  no_segment(kind, &kind, 8, "is not memory of a CUDA device");
  no_segment(second, addr, 8, "is memory of CUDA device 0; the kind is of device 1");
  no_segment(kind, addr + 9000, 1001, "1001 bytes at");
  no_segment(kind, dev.mock->alloc_other(64), 64, "another context");
  CHECK_EQ(counts().allocations, 2); /* ours, and the one in another context */
  gex_Segment_Destroy(seg, 0);
  gex_MK_Destroy(kind, 0);
  gex_MK_Destroy(second, 0);
  CHECK_EQ(counts().allocations, 1);
  CHECK_EQ(counts().retains, 0);
  CHECK_EQ(counts().streams, 0);
  if (getenv("GASNET_USE_CUDA_SYNC_MEMOPS"))
    CHECK_EQ(counts().sync_memops, 0);
  else
    CHECK_CMP(counts().sync_memops, >, 0);
}

/* ---- peers */

static char *there[64];

/* Bind device memory to a new endpoint, publish it. in offset: of the segment in its allocation. */
static gex_EP_t publish(gex_MK_t kind, uintptr_t offset) {
  gex_EP_t ep = GEX_EP_INVALID;
  gex_Segment_t seg = GEX_SEGMENT_INVALID;
  REQUIRE(gex_EP_Create(&ep, job.client, GEX_EP_CAPABILITY_RMA, 0) == GASNET_OK);
  REQUIRE(gex_Segment_Create(&seg, job.client, NULL, job.size * BIG + offset, kind, 0) ==
          GASNET_OK);
  if (offset) {
    char *const addr = (char *)gex_Segment_QueryAddr(seg) + offset;
    REQUIRE(gex_Segment_Create(&seg, job.client, addr, job.size * BIG, kind, 0) == GASNET_OK);
  }
  REQUIRE(gex_EP_BindSegment(ep, seg, 0) == GASNET_OK);
  REQUIRE(gex_EP_PublishBoundSegment(job.tm, &ep, 1, 0) == GASNET_OK);
  for (gex_Rank_t r = 0; r < job.size; r++) {
    void *owner = NULL;
    CHECK_EQ(gex_Segment_QueryBound(gex_TM_Pair(ep, gex_EP_QueryIndex(ep)), r, &owner, NULL, NULL),
             0);
    there[r] = (char *)owner + (size_t)job.rank * BIG;
  }
  return ep;
}

/* From the host to every device, from device to device, back to the host. */
static void round_trips(gex_EP_t ep, uint64_t seed) {
  static char out[BIG], in[BIG];
  const gex_TM_t from_host = gex_TM_Pair(job.ep, gex_EP_QueryIndex(ep));
  const gex_TM_t from_device = gex_TM_Pair(ep, gex_EP_QueryIndex(ep));
  for (gex_Rank_t i = 0; i < job.size; i++) {
    const gex_Rank_t r = (job.rank + i) % job.size, next = (r + 1) % job.size;
    pattern_fill(out, BIG, seed + r);
    CHECK_EQ(gex_RMA_PutBlocking(from_host, r, there[r], out, BIG, 0), 0);
    if (r != job.rank)
      CHECK_EQ(gex_RMA_GetBlocking(from_device, there[job.rank], r, there[r], BIG, 0), 0);
    CHECK_EQ(gex_RMA_PutBlocking(from_device, next, there[next], there[job.rank], BIG / 2, 0), 0);
    CHECK_EQ(gex_RMA_GetBlocking(from_host, in, next, there[next], BIG / 2, 0), 0);
    CHECK_BYTES(in, BIG / 2, seed + r);
  }
}

/* Whether this rank reaches the device memory of another one by itself. */
static int is_direct(gex_Rank_t rank) {
  const char *peer = getenv("TOMBOLO_TEST_MK_PEER");
  gex_RankInfo_t *nbrhd;
  gex_Rank_t count, i = 0;
  gex_System_QueryNbrhdInfo(&nbrhd, &count, NULL);
  while (i < count && nbrhd[i].gex_jobrank != rank) i++;
  return i < count && rank != job.rank && !(peer && *peer == '0');
}

static unsigned direct_peers(void) {
  unsigned count = 0;
  for (gex_Rank_t r = 0; r < job.size; r++) count += (unsigned)is_direct(r);
  return count;
}

static void check_peers(void) {
  gex_MK_t kind = GEX_MK_INVALID, closer = GEX_MK_INVALID;
  CHECK_EQ(create(&kind, (int)(job.rank % 2)), GASNET_OK);
  round_trips(publish(kind, 0), 1);
  job_barrier();
  CHECK_EQ(counts().imports, direct_peers());
  const gex_EP_t part = publish(kind, 5000);
  round_trips(part, 50);
  job_barrier();
  /* The data of the next rank's last put are in this rank's device. */
  static char seen[BIG];
  const ptrdiff_t slots = (ptrdiff_t)((job.rank + 1) % job.size) - (ptrdiff_t)job.rank;
  dev_read(seen, there[job.rank] + slots * BIG, BIG);
  CHECK_BYTES(seen, BIG, 50 + job.rank);
  job_barrier();
  /* Without the target's help, one copy does it however long it is. */
  static char out[BIG];
  const struct cuda_mock_counts before = counts();
  const gex_Rank_t r = (job.rank + 1) % job.size;
  CHECK_EQ(
      gex_RMA_PutBlocking(gex_TM_Pair(job.ep, gex_EP_QueryIndex(part)), r, there[r], out, BIG, 0),
      0);
  if (is_direct(r)) CHECK_EQ(counts().copies_in - before.copies_in, 1);
  job_barrier();
  /* A further kind comes and goes; what the first attached stays. */
  CHECK_EQ(create(&closer, 2), GASNET_OK);
  gex_MK_Destroy(closer, 0);
  CHECK_EQ(counts().imports, 2 * direct_peers());
  round_trips(part, 100);
  job_barrier();
}

/* The driver refuses to name memory, or to open what a peer named. */
static void check_refusals(const char *symbol) {
  gex_MK_t kind = GEX_MK_INVALID;
  dev.mock->fail(symbol, NOT_SUPPORTED);
  CHECK_EQ(create(&kind, 0), GASNET_OK);
  const unsigned before = counts().imports;
  const gex_EP_t ep = publish(kind, 0);
  round_trips(ep, 200);
  CHECK_EQ(counts().imports, before);
  job_barrier();
  dev.mock->fail(NULL, 0);
}

/* A rank without a kind of its own sends messages, until it makes one. */
static void check_late(void) {
  static char out[BIG], in[BIG];
  gex_MK_t kind = GEX_MK_INVALID, late = GEX_MK_INVALID;
  gex_EP_t ep = GEX_EP_INVALID;
  gex_Segment_t seg = GEX_SEGMENT_INVALID;
  void *owner = NULL;
  REQUIRE(gex_EP_Create(&ep, job.client, GEX_EP_CAPABILITY_RMA, 0) == GASNET_OK);
  if (job.rank == 0) {
    CHECK_EQ(create(&kind, 1), GASNET_OK);
    REQUIRE(gex_Segment_Create(&seg, job.client, NULL, job.size * BIG, kind, 0) == GASNET_OK);
    REQUIRE(gex_EP_BindSegment(ep, seg, 0) == GASNET_OK);
  }
  REQUIRE(gex_EP_PublishBoundSegment(job.tm, &ep, 1, 0) == GASNET_OK);
  const gex_TM_t tm = gex_TM_Pair(job.ep, gex_EP_QueryIndex(ep));
  REQUIRE(gex_Segment_QueryBound(tm, 0, &owner, NULL, NULL) == 0);
  char *const slot = (char *)owner + (size_t)job.rank * BIG;
  for (uint64_t pass = 0; pass < 2; pass++) {
    pattern_fill(out, BIG, 300 + pass);
    CHECK_EQ(gex_RMA_PutBlocking(tm, 0, slot, out, BIG, 0), 0);
    CHECK_EQ(gex_RMA_GetBlocking(tm, in, 0, slot, BIG, 0), 0);
    CHECK_BYTES(in, BIG, 300 + pass);
    CHECK_EQ(counts().imports, pass && is_direct(0) ? 1 : 0);
    if (!pass) CHECK_EQ(create(&late, 0), GASNET_OK);
    job_barrier();
  }
  gex_MK_Destroy(late, 0);
  CHECK_EQ(counts().imports, 0);
  job_barrier();
}

int main(int argc, char **argv) {
  dev_select_cuda();
  job_start(&argc, &argv, 65536, NULL, 0);
  dev.mock->select(1);
  check_devices();
  check_memory();
  check_late();
  check_peers();
  check_refusals("cuIpcGetMemHandle");
  check_refusals("cuIpcOpenMemHandle_v2");
  CHECK(dev.mock->selected());
  dev.mock->select(0);
  return job_finish();
}
