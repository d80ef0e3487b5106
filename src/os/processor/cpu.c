/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processors: counts, quota, binding, topology: see os.h.
 *
 * Owns: nothing. Called by core (spin thresholds), boot (binding), tools. Calls: sysfile, libc.
 * Invariants: counts are at least 1; masks are sized at run time, so that more than 1024 processors
 * work.
 */
#define _GNU_SOURCE
#include "os/os.h"

#include "base/error.h"
#include "os/sysfile.h"

#include <ctype.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MASK_CPUS = 1 << 14 }; /* most processors that a mask here can name: 2 KiB */

typedef union {
  cpu_set_t set;
  unsigned char bytes[MASK_CPUS / 8];
} cpu_mask;

/* Reads the calling thread's mask. Returns how many processors it holds, 0 on failure. */
static int read_mask(cpu_mask *mask) {
  memset(mask, 0, sizeof *mask);
  if (sched_getaffinity(0, sizeof *mask, &mask->set) != 0) return 0;
  return CPU_COUNT_S(sizeof *mask, &mask->set);
}

int tmb_os_cpus_online(void) {
  const long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? (int)n : 1;
}

double tmb_os_cpu_quota(void) {
  const struct tmb_os_cgroup *known = tmb_cgroup_known();
  struct tmb_cgroup_walk walk;
  double least = 0;
  if (known) return known->quota;
  for (bool more = tmb_cgroup_first(&walk, "cpu"); more; more = tmb_cgroup_next(&walk)) {
    const double quota = tmb_cgroup_cpu_quota(&walk);
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
  }
  return least;
}

int tmb_os_cpus_mask(void) {
  cpu_mask mask;
  return read_mask(&mask);
}

int tmb_os_cpus_usable(void) {
  cpu_mask mask;
  int count = read_mask(&mask);
  if (count <= 0) count = tmb_os_cpus_online();
  const double quota = tmb_os_cpu_quota();
  if (quota > 0 && quota < count) count = (int)quota + (quota > (int)quota);
  return TMB_MAX(count, 1);
}

/* Number of the index-th processor in a mask that holds `count` of them; indices beyond start
 * over. */
static int nth_cpu(const cpu_mask *mask, int count, int index) {
  int left = ((index % count) + count) % count;
  for (int cpu = 0; cpu < MASK_CPUS; cpu++)
    if (CPU_ISSET_S(cpu, sizeof *mask, &mask->set) && left-- == 0) return cpu;
  return 0;
}

static int bind_to(int cpu) {
  cpu_mask one;
  memset(&one, 0, sizeof one);
  CPU_SET_S(cpu, sizeof one, &one.set);
  return sched_setaffinity(0, sizeof one, &one.set) == 0 ? TMB_OK : TMB_E_SYS;
}

static uint32_t ours; /* threads, as given to tmb_os_threads_ours */

uint32_t tmb_os_threads(void) {
  struct stat st;
  if (stat("/proc/self/task", &st) != 0 || st.st_nlink < 3) return 0;
  return (uint32_t)st.st_nlink - 2; /* "." and ".." */
}

void tmb_os_threads_ours(uint32_t more) {
  ours += more;
}

/* Whether this process has threads that could be binding this one right now. */
static bool has_threads(void) {
  const uint32_t all = tmb_os_threads();
  return !all || all > 1 + ours;
}

/*
 * Move the thread to a processor by a mask of that one, then restore the mask it had. Another
 * thread that sets our mask meanwhile would lose its setting: so not where there is one. A mask
 * that another process (taskset) sets meanwhile stays.
 */
static int visit(int cpu, const cpu_mask *mask) {
  cpu_mask now;
  if (has_threads() || bind_to(cpu)) return TMB_E_SYS;
  if (read_mask(&now) != 1 || !CPU_ISSET_S(cpu, sizeof now, &now.set)) return TMB_E_STATE;
  return sched_setaffinity(0, sizeof *mask, &mask->set) == 0 ? TMB_OK : TMB_E_SYS;
}

int tmb_os_bind_cpu(int index) {
  cpu_mask mask;
  const int count = read_mask(&mask);
  return count > 0 ? bind_to(nth_cpu(&mask, count, index)) : TMB_E_SYS;
}

void tmb_os_cpu_bits(uint8_t *bits, size_t bytes) {
  cpu_mask mask;
  memset(bits, 0, bytes);
  if (read_mask(&mask) <= 0) return;
  for (size_t cpu = 0; cpu < TMB_MIN(8 * bytes, (size_t)MASK_CPUS); cpu++)
    if (CPU_ISSET_S(cpu, sizeof mask, &mask.set)) bits[cpu / 8] |= (uint8_t)(1u << cpu % 8);
}

int tmb_os_cpu_next(void) {
  cpu_mask mask;
  const int here = sched_getcpu();
  if (here < 0 || read_mask(&mask) < 2) return TMB_E_SYS;
  int cpu = here;
  do cpu = (cpu + 1) % MASK_CPUS;
  while (!CPU_ISSET_S(cpu, sizeof mask, &mask.set));
  return visit(cpu, &mask);
}

int tmb_os_cpu_visit(int index) {
  cpu_mask mask;
  const int count = read_mask(&mask);
  if (count < 2) return TMB_E_SYS;
  const int cpu = nth_cpu(&mask, count, index);
  return cpu == sched_getcpu() ? TMB_OK : visit(cpu, &mask);
}

TMB_HOT int tmb_os_cpu_current(void) {
  const int cpu = sched_getcpu();
  return cpu >= 0 ? cpu : 0;
}

/* Reads a small number below /sys/devices/system/cpu/cpu<cpu>/; -1 if absent. */
static int cpu_file(int cpu, const char *name) {
  char path[192];
  uint64_t value;
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", cpu, name);
  return tmb_sysfile_read_u64(path, &value) == TMB_OK && value <= INT32_MAX ? (int)value : -1;
}

/* A physical core, named by its socket and its number there. */
struct core {
  int socket, core;
};

static int compare_cores(const void *a, const void *b) {
  const struct core *x = a, *y = b;
  if (x->socket != y->socket) return x->socket < y->socket ? -1 : 1;
  return (x->core > y->core) - (x->core < y->core);
}

/* Counts sockets, cores and threads from a sorted list with one entry per processor. */
static void count_cores(const struct core *list, int count, struct tmb_os_topology *out) {
  int threads = 0;
  for (int i = 0; i < count; i++) {
    const bool new_socket = i == 0 || list[i].socket != list[i - 1].socket;
    const bool new_core = i == 0 || compare_cores(&list[i], &list[i - 1]) != 0;
    out->sockets += new_socket;
    out->cores += new_core;
    threads = new_core ? 1 : threads + 1;
    out->threads_per_core = TMB_MAX(out->threads_per_core, threads);
  }
}

static void read_cores(struct tmb_os_topology *out) {
  const long configured = sysconf(_SC_NPROCESSORS_CONF);
  if (configured <= 0 || configured > MASK_CPUS) return;
  struct core *list = malloc((size_t)configured * sizeof *list);
  if (!list) return;
  int count = 0;
  for (int cpu = 0; cpu < configured; cpu++) {
    const int core = cpu_file(cpu, "topology/core_id");
    if (core < 0) continue; /* offline or unknown */
    list[count++] = (struct core){cpu_file(cpu, "topology/physical_package_id"), core};
  }
  qsort(list, (size_t)count, sizeof *list, compare_cores);
  count_cores(list, count, out);
  free(list);
}

/* Number of processor 0's cache of one level that holds data, -1 if there is none. */
static int cache_index(int level) {
  for (int i = 0; i < 8; i++) {
    char path[128], type[32];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/type", i);
    if (tmb_sysfile_read(path, type, sizeof type) <= 0) return -1;
    snprintf(path, sizeof path, "cache/index%d/level", i);
    if (cpu_file(0, path) == level && strcmp(type, "Instruction") != 0) return i;
  }
  return -1;
}

/* A file of a cache of processor 0, as text. Returns whether it was read. */
static bool cache_file(int index, const char *name, char *text, size_t text_bytes) {
  char path[128];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, name);
  return index >= 0 && tmb_sysfile_read(path, text, text_bytes) > 0;
}

/* Size of processor 0's cache of one level that holds data, 0 if unknown. */
static uint64_t cache_bytes(int level) {
  char size[32], *end;
  if (!cache_file(cache_index(level), "size", size, sizeof size)) return 0;
  const uint64_t value = strtoull(size, &end, 10);
  return *end == 'K' ? value << 10 : *end == 'M' ? value << 20 : value;
}

uint64_t tmb_os_last_cache(uint32_t *sharers) {
  int level = 3;
  uint64_t bytes = 0;
  while (level > 0 && !(bytes = cache_bytes(level))) level--;
  char map[512]; /* of processors, as hexadecimal words between commas */
  *sharers = 0;
  if (bytes && cache_file(cache_index(level), "shared_cpu_map", map, sizeof map))
    for (const char *c = map; *c; c++)
      if (isxdigit((unsigned char)*c))
        *sharers += (uint32_t)__builtin_popcount((unsigned)strtoul((char[]){*c, 0}, NULL, 16));
  if (!*sharers) *sharers = 1;
  return bytes;
}

static int count_numa_nodes(void) {
  int nodes = 0;
  char path[64];
  for (int i = 0; i < 1024; i++) {
    snprintf(path, sizeof path, "/sys/devices/system/node/node%d", i);
    if (access(path, F_OK) == 0)
      nodes++;
    else if (i > nodes + 64)
      break;
  }
  return nodes;
}

static void read_model(char *model, size_t model_bytes) {
  char line[256];
  FILE *file = fopen("/proc/cpuinfo", "re");
  if (!file) return;
  while (fgets(line, sizeof line, file)) {
    char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || !colon) continue;
    line[strcspn(line, "\n")] = '\0';
    snprintf(model, model_bytes, "%.*s", (int)model_bytes - 1,
             colon + 1 + strspn(colon + 1, " \t"));
    break;
  }
  fclose(file);
}

void tmb_os_topology(struct tmb_os_topology *out) {
  memset(out, 0, sizeof *out);
  out->online = tmb_os_cpus_online();
  out->usable = tmb_os_cpus_usable();
  read_cores(out);
  out->numa_nodes = count_numa_nodes();
  out->l1d = cache_bytes(1);
  out->l2 = cache_bytes(2);
  out->l3 = cache_bytes(3);
  const int line = cpu_file(0, "cache/index0/coherency_line_size");
  out->cache_line = line > 0 ? line : 0;
  read_model(out->model, sizeof out->model);
}
