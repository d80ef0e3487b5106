/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* again: TOMBOLO_CORE_SEGMENTS=1 */
/* far: no */
/*
 * The kernel leaves out of core dumps the segment, the message memory and created segments, also
 * those of peers: for a dump it would fill each of their pages. A setting keeps them.
 */
#include "job.h"

#include <gasnet_tools.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Counts in counts[0] the mappings of shared memory of the library that a core dump has, in
 * counts[1] those that it leaves out. */
static void count_mappings(int counts[2]) {
  char line[512];
  int ours = 0;
  counts[0] = counts[1] = 0;
  FILE *file = fopen("/proc/self/smaps", "r");
  CHECK(file != NULL);
  while (file && fgets(line, sizeof line, file)) {
    if (line[0] >= 'a' || (line[0] >= '0' && line[0] <= '9')) /* the head of a mapping */
      ours = strstr(line, "tombolo-arena") || strstr(line, "tombolo-segment");
    else if (ours && strncmp(line, "VmFlags:", 8) == 0)
      counts[strstr(line, " dd ") != NULL]++;
  }
  if (file) fclose(file);
}

int main(int argc, char **argv) {
  int counts[2];
  if (access("/proc/self/smaps", R_OK)) {
    puts("skipped: this kernel has no /proc/self/smaps");
    return 77;
  }
  job_start(&argc, &argv, 1 << 20, NULL, 0);
  gex_Segment_t made;
  CHECK_EQ(gex_Segment_Create(&made, job.client, NULL, 1 << 20, GEX_MK_HOST, 0), GASNET_OK);
  count_mappings(counts);
  const int kept = gasnett_getenv_yesno_withdefault("TOMBOLO_CORE_SEGMENTS", 0);
  CHECK_EQ(counts[kept], 0);
  CHECK_CMP(counts[!kept], >=, job.size > 1 ? 3 : 2);
  gex_Segment_Destroy(made, 0);
  return job_finish();
}
