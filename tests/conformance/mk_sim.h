/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Use of the simulated device (tests/plugin/mk_sim.c) in tests: selects it, and looks at its memory
 * beside the library.
 */
#ifndef TMB_TEST_MK_SIM_H
#define TMB_TEST_MK_SIM_H

#include "check.h"

#include <tombolo/mk_plugin.h>

#include <dlfcn.h>
#include <unistd.h>

static const struct gexx_mk_plugin *sim;

/* Makes the plug-in beside this program serve every class; call before gex_Client_Init. */
static inline void sim_select(void) {
  char path[4096] = {0}, file[4200];
  REQUIRE(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
  for (int i = 0; i < 2; i++) *strrchr(path, '/') = 0;
  snprintf(file, sizeof file, "%s/plugin/libtombolo-mk-sim.so", path);
  setenv("TOMBOLO_MK_PLUGIN", file, 1);
  void *const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library) check_fail(__FILE__, __LINE__, "%s", dlerror());
  REQUIRE(library != NULL);
  void *const symbol = dlsym(library, GEXX_MK_PLUGIN_ENTRY);
  gexx_mk_plugin_fn *entry;
  memcpy(&entry, &symbol, sizeof entry);
  sim = entry();
}

static inline gex_MK_t sim_kind(gex_Client_t client, int device) {
  gex_MK_t kind = GEX_MK_INVALID;
  gex_MK_Create_args_t args;
  memset(&args, 0, sizeof args);
  args.gex_class = GEX_MK_CLASS_CUDA_UVA;
  args.gex_args.gex_class_cuda_uva.gex_CUdevice = device;
  REQUIRE(gex_MK_Create(&kind, client, &args, 0) == GASNET_OK);
  return kind;
}

#endif
