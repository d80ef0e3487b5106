/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places in the code of this process, see code.h.
 *
 * Owns: nothing. Called as code.h says. Calls: dladdr1, readlink. The loader knows the program
 * itself by an empty name or by the name that it was started with, so its file comes from the
 * system.
 */
#define _GNU_SOURCE
#include "os/process/code.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

bool tmb_os_code_place(const void *code, char *buf, size_t bytes) {
  Dl_info info;
  struct link_map *map = NULL;
  char program[PATH_MAX];
  if (!dladdr1(code, &info, (void **)(void *)&map, RTLD_DL_LINKMAP) || !map) return false;
  const char *file = map->l_name;
  if (!file || file[0] != '/') {
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n <= 0) return false;
    program[n] = '\0';
    file = program;
  }
  const int n =
      snprintf(buf, bytes, "%s+0x%llx", file, (unsigned long long)((uintptr_t)code - map->l_addr));
  return n > 0 && (size_t)n < bytes;
}
