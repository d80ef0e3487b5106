/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* env: TOMBOLO_TEST_MK_PLUGIN=/proc/nonexistent/libtombolo-mk-none.so */
/*
 * API 07.4: without device support the calls exist, and creation says so.
 */
#include "job.h"

#include <gasnet_mk.h>

int main(int argc, char **argv) {
  static const gex_MK_Class_t classes[] = {GEX_MK_CLASS_HOST, GEX_MK_CLASS_CUDA_UVA,
                                           GEX_MK_CLASS_HIP, GEX_MK_CLASS_ZE};
  gex_Segment_t seg = GEX_SEGMENT_INVALID;
  gex_MK_t kind = GEX_MK_HOST;
  job_start(&argc, &argv, 0, NULL, 0);
  for (int i = 0; i < 4; i++) {
    gex_MK_Create_args_t args;
    memset(&args, 0, sizeof args);
    args.gex_class = classes[i];
    CHECK_EQ(gex_MK_Create(&kind, job.client, &args, 0), GASNET_ERR_BAD_ARG);
    CHECK_PTR(kind, GEX_MK_HOST);
  }
  CHECK_EQ(gex_Segment_Create(&seg, job.client, NULL, 4096, GEX_MK_HOST, 0), GASNET_OK);
  gex_Segment_Destroy(seg, 0);
  return job_finish();
}
