/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Raising resource limits: see os.h.
 *
 * Owns: the list of limits that are raised. Called by the api layer (gasnett_maximize_rlimits) and
 * core. Calls: base/config for GASNET_MAXIMIZE_<limit>, libc. Invariants: a limit is never lowered;
 * an unprivileged process is content with its hard limit.
 */
#include "os/os.h"

#include "base/config.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

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
