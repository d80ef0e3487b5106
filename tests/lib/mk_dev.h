/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Devices without hardware in tests: the simulated one (tests/plugin/mk_sim.c), or with
 * TMB_DEVICE=cuda in the environment the CUDA plug-in on a mock driver (tests/plugin/cuda_mock.c).
 * Selects one, and reads its memory beside the library.
 */
#ifndef TMB_TEST_MK_DEV_H
#define TMB_TEST_MK_DEV_H

#include "check.h"
#include "plugin/cuda_mock.h"

#include <tombolo/mk_plugin.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct {
  const struct gexx_mk_plugin *sim; /* one of the two is NULL */
  const struct cuda_mock *mock;
} dev;

/* Full name of a file of the build tree: out path. */
static inline void dev_path(const char *name, char *path, size_t bytes) {
  char exe[4096] = {0};
  REQUIRE(readlink("/proc/self/exe", exe, sizeof exe - 1) > 0);
  for (int i = 0; i < 3; i++) *strrchr(exe, '/') = 0;
  snprintf(path, bytes, "%s/%s", exe, name);
}

/* Load a library of the build tree, and call its entry point. */
static inline const void *dev_load(const char *name, const char *entry_name) {
  char path[8192];
  dev_path(name, path, sizeof path);
  void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) check_fail(__FILE__, __LINE__, "%s", dlerror());
  REQUIRE(library != NULL);
  void *const symbol = dlsym(library, entry_name);
  REQUIRE(symbol != NULL);
  const void *(*entry)(void);
  memcpy(&entry, &symbol, sizeof entry);
  return entry();
}

/* The mock driver is what the plug-in finds: a library of that name is loaded already. */
static inline void dev_select_cuda(void) {
  char path[8192];
  dev_path("tests/plugin/cuda/libcuda.so.1", path, sizeof path);
  if (access(path, R_OK) != 0) {
    printf("skipped: no %s (TMB_CUDA is OFF)\n", path);
    exit(77);
  }
  dev.mock = (const struct cuda_mock *)dev_load("tests/plugin/cuda/libcuda.so.1", CUDA_MOCK_ENTRY);
  dev_path("lib/libtombolo-mk-cuda.so", path, sizeof path);
  setenv("TOMBOLO_TEST_MK_PLUGIN", path, 1);
}

/* Makes one plug-in serve every class; call before gex_Client_Init. */
static inline void dev_select(void) {
  char path[8192];
  const char *which = getenv("TMB_DEVICE");
  if (which && strcmp(which, "cuda") == 0) {
    dev_select_cuda();
    return;
  }
  dev.sim = (const struct gexx_mk_plugin *)dev_load("tests/plugin/libtombolo-mk-sim.so",
                                                    GEXX_MK_PLUGIN_ENTRY);
  dev_path("tests/plugin/libtombolo-mk-sim.so", path, sizeof path);
  setenv("TOMBOLO_TEST_MK_PLUGIN", path, 1);
}

/* ---- device memory of this process, beside the library */

static inline void dev_write(void *addr, const void *from, size_t n) {
  if (dev.sim)
    CHECK_EQ(dev.sim->copy_in(NULL, addr, from, n), GASNET_OK);
  else
    CHECK(dev.mock->move(addr, from, n));
}

static inline void dev_read(void *to, const void *addr, size_t n) {
  if (dev.sim)
    CHECK_EQ(dev.sim->copy_out(NULL, to, addr, n), GASNET_OK);
  else
    CHECK(dev.mock->move(to, addr, n));
}

static inline int dev_holds(const void *addr, size_t n) {
  return dev.sim ? dev.sim->query(NULL, addr, n) : dev.mock->holds(addr, n);
}

static inline gex_MK_t dev_kind(gex_Client_t client, int device) {
  gex_MK_t kind = GEX_MK_INVALID;
  gex_MK_Create_args_t args;
  memset(&args, 0, sizeof args);
  args.gex_class = GEX_MK_CLASS_CUDA_UVA;
  args.gex_args.gex_class_cuda_uva.gex_CUdevice = device;
  REQUIRE(gex_MK_Create(&kind, client, &args, 0) == GASNET_OK);
  return kind;
}

/* ---- memory that may be a device's */

static inline void mem_write(bool device, void *addr, const void *from, size_t n) {
  if (device)
    dev_write(addr, from, n);
  else
    memcpy(addr, from, n);
}

static inline void mem_read(bool device, void *to, const void *addr, size_t n) {
  if (device)
    dev_read(to, addr, n);
  else
    memcpy(to, addr, n);
}

/* Write the pattern of a seed, or check that it is there; at most MEM_BYTES_MAX. */
enum { MEM_BYTES_MAX = 1 << 18 };

static inline void mem_write_pattern(bool device, void *addr, size_t n, uint64_t seed) {
  static char buf[MEM_BYTES_MAX];
  REQUIRE(n <= sizeof buf);
  pattern_fill(buf, n, seed);
  mem_write(device, addr, buf, n);
}

static inline void mem_check_pattern(bool device, const void *addr, size_t n, uint64_t seed) {
  static char buf[MEM_BYTES_MAX];
  REQUIRE(n <= sizeof buf);
  mem_read(device, buf, addr, n);
  CHECK_BYTES(buf, n, seed);
}

#endif
