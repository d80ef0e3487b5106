/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/*
 * API 07.1, 07.4: the plug-in for CUDA is found beside the library, and says what is missing where
 * there is no driver; classes that have no plug-in are refused with the name of what was looked
 * for.
 */
#include "job.h"
#include "messages.h"

#include <gasnet_mk.h>

#include <dlfcn.h>

static void refused(gex_MK_Class_t class_id, int code, const char *words) {
  gex_MK_Create_args_t args;
  gex_MK_t kind = GEX_MK_HOST;
  memset(&args, 0, sizeof args);
  args.gex_class = class_id;
  messages_begin();
  CHECK_EQ(gex_MK_Create(&kind, job.client, &args, 0), code);
  messages_expect("gex_MK_Create returns", words);
  CHECK_PTR(kind, GEX_MK_HOST);
}

int main(int argc, char **argv) {
  const int shared = dlopen("libtombolo.so.0", RTLD_NOW | RTLD_NOLOAD) != NULL;
  job_start(&argc, &argv, 0, NULL, 0);
  refused(GEX_MK_CLASS_HIP, GASNET_ERR_BAD_ARG, "libtombolo-mk-hip.so must lie beside the library");
  refused(GEX_MK_CLASS_ZE, GASNET_ERR_BAD_ARG, "libtombolo-mk-ze.so must lie beside the library");
  refused(GEX_MK_CLASS_ZE, GASNET_ERR_BAD_ARG, "[TMB-0518]");
  refused(GEX_MK_CLASS_HIP, GASNET_ERR_BAD_ARG, "no plug-in serves devices of class hip");
  if (shared && !dlopen("libcuda.so.1", RTLD_NOW)) {
    refused(GEX_MK_CLASS_CUDA_UVA, GASNET_ERR_RESOURCE, "libcuda.so.1");
    refused(GEX_MK_CLASS_CUDA_UVA, GASNET_ERR_RESOURCE, "install the NVIDIA driver");
  }
  return job_finish();
}
