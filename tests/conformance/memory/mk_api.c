/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* debug: both */
/* again: TMB_DEVICE=cuda */
/*
 * API 07.1, 07.2, 07.4: creation and ends of kinds, queries, client data, errors; segments of
 * devices: client's memory, many endpoints, the primordial endpoint; a class that nothing serves.
 */
#include "job.h"
#include "mk_dev.h"

static gex_MK_Create_args_t args_of(gex_MK_Class_t class_id, int device) {
  gex_MK_Create_args_t args;
  memset(&args, 0, sizeof args);
  args.gex_class = class_id;
  args.gex_args.gex_class_cuda_uva.gex_CUdevice = device;
  return args;
}

static int create(gex_MK_t *kind, gex_MK_Class_t class_id, int device) {
  const gex_MK_Create_args_t args = args_of(class_id, device);
  return gex_MK_Create(kind, job.client, &args, 0);
}

static void check_errors(void) {
  gex_MK_t kind = GEX_MK_HOST;
  gex_MK_Create_args_t args = args_of(GEX_MK_CLASS_CUDA_UVA, 0);
  CHECK_EQ(create(&kind, GEX_MK_CLASS_HOST, 0), GASNET_ERR_BAD_ARG);
  CHECK_EQ(create(&kind, (gex_MK_Class_t)99, 0), GASNET_ERR_BAD_ARG);
  CHECK_EQ(create(&kind, GEX_MK_CLASS_CUDA_UVA, 77), GASNET_ERR_RESOURCE);
  CHECK_EQ(gex_MK_Create(NULL, job.client, &args, 0), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gex_MK_Create(&kind, job.client, NULL, 0), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gex_MK_Create(&kind, GEX_CLIENT_INVALID, &args, 0), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gex_MK_Create(&kind, job.client, &args, 1), GASNET_ERR_BAD_ARG);
  args.gex_flags = 1;
  CHECK_EQ(gex_MK_Create(&kind, job.client, &args, 0), GASNET_ERR_BAD_ARG);
  CHECK_PTR(kind, GEX_MK_HOST);
}

static void check_queries(void) {
  static const gex_MK_Class_t classes[] = {GEX_MK_CLASS_CUDA_UVA, GEX_MK_CLASS_HIP,
                                           GEX_MK_CLASS_ZE};
  for (int i = 0; i < 3; i++) {
    gex_MK_t kind = GEX_MK_INVALID;
    gex_MK_Create_args_t args = args_of(classes[i], 0);
    CHECK_EQ(gex_MK_Create(&kind, job.client, &args, 0), GASNET_OK);
    CHECK(kind != GEX_MK_INVALID && kind != GEX_MK_HOST);
    CHECK_EQ(gex_MK_QueryClass(kind), classes[i]);
    CHECK_PTR(gex_MK_QueryClient(kind), job.client);
    CHECK_EQ(gex_MK_QueryFlags(kind), 0);
    CHECK_PTR(gex_MK_QueryCData(kind), NULL);
    gex_MK_SetCData(kind, &args);
    CHECK_PTR(gex_MK_QueryCData(kind), &args);
    gex_MK_Destroy(kind, 0);
  }
}

/* Memory of the library, then a part of it as memory of the client. */
static void check_segments(void) {
  const gex_MK_t kind = dev_kind(job.client, 0), other = dev_kind(job.client, 1);
  gex_Segment_t whole = GEX_SEGMENT_INVALID, part = GEX_SEGMENT_INVALID, none = part;
  CHECK_EQ(gex_Segment_Create(&whole, job.client, NULL, 10000, kind, 0), GASNET_OK);
  char *const addr = (char *)gex_Segment_QueryAddr(whole);
  CHECK_EQ(gex_Segment_QuerySize(whole), 10000);
  CHECK_EQ(gex_Segment_Create(&part, job.client, addr + 100, 300, kind, 0), GASNET_OK);
  CHECK_PTR(gex_Segment_QueryAddr(part), addr + 100);
  CHECK_EQ(gex_Segment_Create(&none, job.client, addr + 100, 300, other, 0), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gex_Segment_Create(&none, job.client, &none, 8, kind, 0), GASNET_ERR_BAD_ARG);
  CHECK_PTR(none, GEX_SEGMENT_INVALID);
  CHECK_EQ(gex_EP_BindSegment(job.ep, part, 0), GASNET_ERR_BAD_ARG);
  CHECK_PTR(gex_EP_QuerySegment(job.ep), GEX_SEGMENT_INVALID);
  for (int i = 0; i < 2; i++) {
    gex_EP_t ep = GEX_EP_INVALID;
    void *owner = NULL, *mapped = &owner;
    uintptr_t size = 0;
    REQUIRE(gex_EP_Create(&ep, job.client, GEX_EP_CAPABILITY_RMA, 0) == GASNET_OK);
    CHECK_EQ(gex_EP_BindSegment(ep, part, 0), GASNET_OK);
    CHECK_EQ(gex_EP_BindSegment(ep, whole, 0), GASNET_ERR_BAD_ARG);
    const gex_TM_t pair = gex_TM_Pair(ep, gex_EP_QueryIndex(ep));
    CHECK_EQ(gex_Segment_QueryBound(pair, job.rank, &owner, &mapped, &size), 0);
    CHECK_PTR(owner, addr + 100);
    CHECK_PTR(mapped, NULL);
    CHECK_EQ(size, 300);
    CHECK_EQ(gex_RMA_PutBlockingVal(pair, job.rank, addr + 100 + i * 8, 7 + (unsigned)i, 8, 0), 0);
  }
  uint64_t seen[2] = {0, 0};
  dev_read(seen, addr + 100, sizeof seen);
  CHECK(seen[0] == 7 && seen[1] == 8);
  gex_MK_Destroy(other, 0);
}

/* Segments that were never bound die before their kind. */
static void check_ends(void) {
  for (int i = 0; i < 300; i++) {
    const gex_MK_t kind = dev_kind(job.client, i % 4);
    gex_Segment_t seg = GEX_SEGMENT_INVALID;
    REQUIRE(gex_Segment_Create(&seg, job.client, NULL, 1 + (uintptr_t)i * 100, kind, 0) ==
            GASNET_OK);
    void *const addr = gex_Segment_QueryAddr(seg);
    CHECK(dev_holds(addr, 1));
    gex_Segment_Destroy(seg, 0);
    CHECK(!dev_holds(addr, 1));
    gex_MK_Destroy(kind, 0);
  }
}

int main(int argc, char **argv) {
  dev_select();
  job_start(&argc, &argv, 0, NULL, 0);
  check_errors();
  check_queries();
  check_segments();
  check_ends();
  return job_finish();
}
