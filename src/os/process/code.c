/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places in the code of this process, see code.h.
 *
 * Owns: nothing. Called as code.h says. Calls: dladdr1 or dladdr, readlink. The loader's name of
 * the program itself is empty or the one that it was started with, and that of a library of a
 * relative LD_LIBRARY_PATH is relative, so the system names those files.
 */
#define _GNU_SOURCE
#include "os/process/code.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The file that holds the code, "" for the program itself, and the base of addresses in it. */
static const char *file_of(const void *code, uintptr_t *base) {
  Dl_info info;
#ifdef __GLIBC__
  struct link_map *map = NULL;
  if (!dladdr1(code, &info, (void **)(void *)&map, RTLD_DL_LINKMAP) || !map) return NULL;
  *base = map->l_addr;
  return map->l_name ? map->l_name : "";
#else /* musl has no dladdr1 */
  if (!dladdr(code, &info)) return NULL;
  *base = (uintptr_t)info.dli_fbase;
  return info.dli_fname ? info.dli_fname : "";
#endif
}

/* The file from which the page of an address is mapped. Returns false if there is none. */
static bool find_mapped(const void *code, char *buf, size_t bytes) {
  char line[PATH_MAX + 128];
  bool found = false;
  FILE *maps = fopen("/proc/self/maps", "re");
  if (!maps) return false;
  while (!found && fgets(line, sizeof line, maps)) {
    uintptr_t first = 0, end = 0;
    line[strcspn(line, "\n")] = '\0';
    const char *path = strchr(line, '/');
    if (!path || sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &first, &end) != 2) continue;
    if ((uintptr_t)code < first || (uintptr_t)code >= end) continue;
    const int n = snprintf(buf, bytes, "%s", path);
    found = n > 0 && (size_t)n < bytes;
  }
  fclose(maps);
  return found;
}

/* As file_of, with the whole name where the loader has another one. */
static bool find_file(const void *code, char *buf, size_t bytes, uintptr_t *base) {
  const char *file = file_of(code, base);
  if (!file || bytes == 0) return false;
  if (file[0] == '/') {
    const int n = snprintf(buf, bytes, "%s", file);
    return n > 0 && (size_t)n < bytes;
  }
  if (file[0] && find_mapped(code, buf, bytes)) return true;
  const ssize_t n = readlink("/proc/self/exe", buf, bytes - 1);
  buf[n > 0 ? n : 0] = '\0';
  return n > 0;
}

size_t tmb_os_code_folder(const void *code, char *buf, size_t bytes) {
  uintptr_t base;
  if (!find_file(code, buf, bytes, &base)) return 0;
  const char *slash = strrchr(buf, '/');
  return slash ? (size_t)(slash - buf) : 0;
}

/* Stops at the first object, the program: no interpreter is named in a static one. */
static int note_static(struct dl_phdr_info *info, size_t bytes, void *is_static) {
  (void)bytes;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_INTERP) *(bool *)is_static = false;
  return 1;
}

bool tmb_os_program_is_static(void) {
  bool is_static = true;
  return dl_iterate_phdr(note_static, &is_static) && is_static;
}

bool tmb_os_code_place(const void *code, char *buf, size_t bytes) {
  char file[PATH_MAX];
  uintptr_t base;
  if (!find_file(code, file, sizeof file, &base)) return false;
  const int n =
      snprintf(buf, bytes, "%s+0x%llx", file, (unsigned long long)((uintptr_t)code - base));
  return n > 0 && (size_t)n < bytes;
}
