/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits of cgroups that a launcher reads for its ranks, see os.h.
 *
 * Owns: nothing. Called by boot. Calls: sysfile, os.h. A launcher and its ranks are in the same
 * cgroups, unless a wrapper moves a rank; the names of the cgroups tell. Invariant: the limits are
 * those that cpu.c and mem.c read.
 */
#include "os/os.h"
#include "os/sysfile.h"

#include <stdio.h>
#include <string.h>

void tmb_os_cgroup_read(struct tmb_os_cgroup *out) {
  struct tmb_cgroup_walk walk;
  memset(out, 0, sizeof *out);
  out->memory = UINT64_MAX;
  for (bool more = tmb_cgroup_first(&walk, "memory"); more; more = tmb_cgroup_next(&walk)) {
    const uint64_t bytes = tmb_cgroup_mem_limit(&walk);
    if (bytes >= out->memory) continue;
    out->memory = bytes;
    tmb_cgroup_mem_name(&walk, out->name, sizeof out->name);
  }
  out->quota = tmb_os_cpu_quota();
  out->id = tmb_cgroup_id();
}
