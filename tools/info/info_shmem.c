/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo info`: OpenSHMEM: the library, its version, the symmetric memory.
 *
 * Owns: nothing. Called by info_collect.c. Calls: the loader, base/config, jansson. The library is
 * looked for beside the command, then where the loader looks; it answers which version it is.
 * Invariant: a library that is missing has a reason that names the remedy.
 */
#define _GNU_SOURCE 1 /* dladdr */
#include "info/info.h"

#include "base/config.h"
#include "os/process/code.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LIBRARY    "libshmem_tombolo.so"
#define NAME_BYTES 64 /* SHMEM_MAX_NAME_LEN */

enum { PATH_BYTES = 4096 };

typedef void get_version(int *major, int *minor);
typedef void get_name(char *name);

static void *load(char *path, size_t bytes) {
  char folder[PATH_BYTES];
  const size_t length =
      tmb_os_code_folder((const void *)(uintptr_t)&tmb_cfg_str, folder, sizeof folder);
  static const char *const below[] = {"", "../lib/"};
  for (size_t i = 0; length && i < sizeof below / sizeof *below; i++)
    if ((size_t)snprintf(path, bytes, "%.*s/%s" LIBRARY, (int)length, folder, below[i]) < bytes &&
        access(path, F_OK) == 0)
      return dlopen(path, RTLD_NOW | RTLD_LOCAL);
  snprintf(path, bytes, LIBRARY);
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* The size that a job would take now. */
static json_t *heap_text(void) {
  const char *const names[] = {"SHMEM_SYMMETRIC_SIZE", "SMA_SYMMETRIC_SIZE"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *value = tmb_env_get(names[i]);
    if (value && *value) return json_sprintf("%s=%s", names[i], value);
  }
  return json_sprintf("all that GASNET_MAX_SEGSIZE (%s) allows, until SHMEM_SYMMETRIC_SIZE is set",
                      tmb_cfg_text(TMB_CFG_MAX_SEGSIZE));
}

json_t *info_shmem(void) {
  char path[PATH_BYTES], name[NAME_BYTES] = "";
  int major = 0, minor = 0;
  void *library = load(path, sizeof path);
  get_version *version =
      library ? (get_version *)(uintptr_t)dlsym(library, "shmem_info_get_version") : NULL;
  get_name *vendor = library ? (get_name *)(uintptr_t)dlsym(library, "shmem_info_get_name") : NULL;
  if (!version || !vendor) {
    json_t *none = json_pack("{s:o}", "library",
                             json_sprintf("not available: %s; install the package tombolo-shmem",
                                          library ? path : dlerror()));
    if (library) dlclose(library);
    return none;
  }
  version(&major, &minor);
  vendor(name);
  dlclose(library);
  return json_pack("{s:s, s:s, s:o, s:o, s:s}", "library", path, "name", name, "specification",
                   json_sprintf("%d.%d", major, minor), "symmetric_heap", heap_text(),
                   "symmetric_data",
                   "global and static variables of the program and of the libraries that it loads "
                   "at start");
}
