/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Raising resource limits, and which of them refuses processes: see os.h.
 *
 * Owns: the list of limits that are raised. Called by the api layer (gasnett_maximize_rlimits),
 * core, boot and tools. Calls: base/config for GASNET_MAXIMIZE_<limit>, sysfile, libc. Invariants:
 * a limit is never lowered; an unprivileged process is content with its hard limit.
 */
#include "os/os.h"

#include "base/config.h"
#include "os/sysfile.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ENDED_MEANWHILE = 2 }; /* processes that may have left the cgroup since it was full */

uint64_t tmb_os_cgroup_pids(bool full, char *folder, size_t bytes) {
  struct tmb_cgroup_walk walk;
  uint64_t least = UINT64_MAX;
  for (bool more = tmb_cgroup_first(&walk, "pids"); more; more = tmb_cgroup_next(&walk)) {
    uint64_t now;
    const uint64_t most = tmb_cgroup_pids_max(&walk, &now);
    if (most >= least || (full && now + ENDED_MEANWHILE < most)) continue;
    least = most;
    if (folder) snprintf(folder, bytes, "%s", walk.dir);
  }
  return least;
}

char *tmb_os_processes_refused(char *text, size_t bytes) {
  char folder[PATH_MAX];
  struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  const uint64_t most = tmb_os_cgroup_pids(true, folder, sizeof folder);
  getrlimit(RLIMIT_NPROC, &limit);
  if (most != UINT64_MAX)
    snprintf(text, bytes, "process limit of the cgroup, %.200s/pids.max: %llu", folder,
             (unsigned long long)most);
  else if (limit.rlim_cur != RLIM_INFINITY && geteuid() != 0)
    snprintf(text, bytes, "process limit, ulimit -u: %ju", (uintmax_t)limit.rlim_cur);
  else
    snprintf(text, bytes, "process limit of the machine, kernel.threads-max or kernel.pid_max");
  return text;
}

/* False if GASNET_MAXIMIZE_<desc> says to leave the limit alone; `desc` with and without RLIMIT_.
 */
static bool may_raise(const char *desc) {
  const char *plain = strncmp(desc, "RLIMIT_", 7) == 0 ? desc + 7 : desc;
  static const char *const prefixes[] = {"GASNET_MAXIMIZE_", "GASNET_MAXIMIZE_RLIMIT_"};
  for (size_t i = 0; i < TMB_ARRAY_LEN(prefixes); i++) {
    char name[96];
    snprintf(name, sizeof name, "%s%s", prefixes[i], plain);
    if (tmb_env_get(name) && !tmb_env_bool(name, true)) return false;
  }
  return true;
}

bool tmb_os_maximize_rlimit(int resource, const char *desc) {
  struct rlimit limit;
  if (!may_raise(desc)) return true;
  if (getrlimit(resource, &limit) != 0) return false;
  if (limit.rlim_cur == RLIM_INFINITY) return true;
  const struct rlimit infinite = {RLIM_INFINITY, RLIM_INFINITY};
  if (setrlimit(resource, &infinite) == 0) return true;
  if (limit.rlim_cur == limit.rlim_max) return true;
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(resource, &limit) == 0;
}

bool tmb_os_maximize_rlimits(void) {
  static const struct {
    int resource;
    const char *desc;
  } limits[] = {
      {RLIMIT_AS, "RLIMIT_AS"},       {RLIMIT_DATA, "RLIMIT_DATA"},
      {RLIMIT_FSIZE, "RLIMIT_FSIZE"}, {RLIMIT_NOFILE, "RLIMIT_NOFILE"},
      {RLIMIT_RSS, "RLIMIT_RSS"},     {RLIMIT_STACK, "RLIMIT_STACK"},
  };
  bool ok = true;
  for (size_t i = 0; i < TMB_ARRAY_LEN(limits); i++)
    ok &= tmb_os_maximize_rlimit(limits[i].resource, limits[i].desc);
  return ok;
}
