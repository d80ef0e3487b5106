/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of ranks: neighbours are joined to ranges, and a list that does not fit ends in "...".
 *
 * Owns: nothing. Called by supervise and `tombolo run`. Calls: libc.
 * Invariants: the text is always terminated and never longer than the buffer.
 */
#include "boot/page/ranklist.h"

#include <stdio.h>
#include <string.h>

char *tmb_ranklist_format(char *buf, size_t bytes, uint32_t size, const pid_t *pids) {
  static const char cut[] = ", ...";
  size_t used = 0;
  buf[0] = '\0';
  for (uint32_t first = 0; first < size; first++) {
    if (pids[first] == 0) continue;
    uint32_t last = first;
    while (last + 1 < size && pids[last + 1] != 0) last++;
    char item[32];
    int length = snprintf(item, sizeof item, "%s%u", used ? ", " : "", first);
    if (last > first) length += snprintf(item + length, sizeof item - (size_t)length, "-%u", last);
    if (used + (size_t)length + sizeof cut > bytes) {
      snprintf(buf + used, bytes - used, "%s", used ? cut : "...");
      return buf;
    }
    memcpy(buf + used, item, (size_t)length + 1);
    used += (size_t)length;
    first = last;
  }
  if (used == 0) snprintf(buf, bytes, "none");
  return buf;
}
