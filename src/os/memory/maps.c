/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of this process's address space that can be written, see os.h.
 *
 * Owns nothing. Called by core. Calls: /proc/self/maps. Invariants: neighbouring mappings count as
 * one; a file that cannot be read means: nothing is known, so nothing is allowed.
 */
#include "os/os.h"

#include <stdio.h>
#include <string.h>

bool tmb_os_mem_writable(const void *addr, size_t nbytes) {
  uintptr_t at = (uintptr_t)addr;
  const uintptr_t end = at + nbytes;
  char line[512];
  FILE *maps = end >= at ? fopen("/proc/self/maps", "re") : NULL;
  if (!maps) return false;
  bool whole_line = true; /* the last read began a line */
  while (at < end && fgets(line, sizeof line, maps)) {
    unsigned long from, to;
    char rights[5];
    const bool begins = whole_line;
    whole_line = strchr(line, '\n') != NULL;
    if (!begins || sscanf(line, "%lx-%lx %4s", &from, &to, rights) != 3) continue;
    if (to <= at) continue;
    if (from > at || rights[0] != 'r' || rights[1] != 'w') break;
    at = to;
  }
  fclose(maps);
  return at >= end;
}
