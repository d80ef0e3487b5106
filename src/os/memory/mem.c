/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of the machine and the part that this process may use: see os.h.
 *
 * Owns: a thread-local copy of the binding limit's name. Called by core (segment sizes), boot,
 * tools. Calls: sysfile, libc. Invariants: a limit at or above 2^62 counts as none; cgroup version
 * 1 spells "none" as a huge number.
 */
#include "os/os.h"

#include "base/config.h"
#include "os/sysfile.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MAX_LIMITS = 48 };
#define POPULATE_WRITE 23 /* MADV_POPULATE_WRITE, Linux 5.14: older headers lack it */

void tmb_os_mem_touch(void *at, size_t bytes) {
  const uintptr_t page = tmb_os_page_size();
  const uintptr_t from = (uintptr_t)at & ~(page - 1);
  (void)madvise((void *)from, (uintptr_t)at + bytes - from, POPULATE_WRITE);
}

void tmb_os_mem_skip_core(void *at, size_t bytes) {
  if (!tmb_cfg_bool(TMB_CFG_CORE_SEGMENTS)) (void)madvise(at, bytes, MADV_DONTDUMP);
}

size_t tmb_os_l2_bytes(void) {
#if defined(_SC_LEVEL2_CACHE_SIZE) /* glibc */
  const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? (size_t)bytes : 0;
#else
  return 0;
#endif
}

uint64_t tmb_os_mem_total(void) {
  const long pages = sysconf(_SC_PHYS_PAGES);
  return pages > 0 ? (uint64_t)pages * tmb_os_page_size() : 0;
}

uint64_t tmb_os_mem_available(void) {
  return tmb_sysfile_read_kb("/proc/meminfo", "MemAvailable:");
}

struct limit_list {
  struct tmb_os_limit *items;
  size_t count, capacity;
};

static void add_limit(struct limit_list *list, const char *name, uint64_t bytes) {
  if (list->count == list->capacity) return;
  struct tmb_os_limit *item = &list->items[list->count++];
  snprintf(item->name, sizeof item->name, "%s", name);
  item->bytes = bytes >= 1ull << 62 ? UINT64_MAX : bytes;
}

static void add_rlimit(struct limit_list *list, const char *name, int resource) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0) return;
  add_limit(list, name, limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur);
}

/* Adds the limits of the cgroups from this process's one up to the root; only the least where that
 * is known. */
static void add_cgroup_limits(struct limit_list *list) {
  const struct tmb_os_cgroup *known = tmb_cgroup_known();
  struct tmb_cgroup_walk walk;
  if (known) {
    if (known->memory != UINT64_MAX) add_limit(list, known->name, known->memory);
    return;
  }
  for (bool more = tmb_cgroup_first(&walk, "memory"); more; more = tmb_cgroup_next(&walk)) {
    const uint64_t bytes = tmb_cgroup_mem_limit(&walk);
    if (bytes == UINT64_MAX) continue;
    struct tmb_os_limit item;
    tmb_cgroup_mem_name(&walk, item.name, sizeof item.name);
    add_limit(list, item.name, bytes);
  }
}

size_t tmb_os_mem_limits(struct tmb_os_limit *limits, size_t capacity) {
  struct limit_list list = {limits, 0, capacity};
  const uint64_t total = tmb_os_mem_total();
  add_limit(&list, "physical memory", total ? total : UINT64_MAX);
  add_rlimit(&list, "RLIMIT_AS", RLIMIT_AS);
  add_rlimit(&list, "RLIMIT_DATA", RLIMIT_DATA);
  add_rlimit(&list, "RLIMIT_FSIZE", RLIMIT_FSIZE);
  add_cgroup_limits(&list);
  return list.count;
}

uint64_t tmb_os_mem_mappable(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  const uint64_t mapped = tmb_sysfile_read_kb("/proc/self/status", "VmSize:");
  return limit.rlim_cur > mapped ? limit.rlim_cur - mapped : 0;
}

uint64_t tmb_os_oom_kills(void) {
  struct tmb_cgroup_walk walk;
  uint64_t kills = 0;
  for (bool more = tmb_cgroup_first(&walk, "memory"); more; more = tmb_cgroup_next(&walk))
    kills += tmb_cgroup_oom_kills(&walk);
  return kills;
}

uint64_t tmb_os_mem_limit(const char **name) {
  static _Thread_local char binding[sizeof((struct tmb_os_limit *)0)->name];
  struct tmb_os_limit limits[MAX_LIMITS];
  const size_t count = tmb_os_mem_limits(limits, MAX_LIMITS);
  size_t least = 0;
  for (size_t i = 1; i < count; i++) {
    if (limits[i].bytes < limits[least].bytes) least = i;
  }
  if (name) {
    snprintf(binding, sizeof binding, "%s",
             limits[least].bytes == UINT64_MAX ? "none" : limits[least].name);
    *name = binding;
  }
  return limits[least].bytes;
}
