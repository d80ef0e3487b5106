/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small reads of /proc and /sys, and the cgroups above this process. Private to src/os.
 *
 * Owns: the limits that another process has read for this one. Called by cpu.c, mem.c, cgroup.c.
 * Calls: libc.
 * Invariants: a file that cannot be read is an error code, never a message.
 */
#ifndef TMB_OS_SYSFILE_H
#define TMB_OS_SYSFILE_H

#include "base/compiler.h"

#include <limits.h>
#include <stdbool.h>

/*
 * Read the start of a text file without its last newline.
 * out buf: [buf_bytes], always NUL-terminated. Returns the length, or -1 if the file cannot be
 * read.
 */
int tmb_sysfile_read(const char *path, char *buf, size_t buf_bytes);

/* Read a file that holds one number in decimal. Returns 0 or TMB_E_SYS. */
int tmb_sysfile_read_u64(const char *path, uint64_t *value);

/*
 * Value in bytes of a "Key:   123 kB" line of a file such as /proc/meminfo; 0 if absent.
 * in key: with the colon.
 */
uint64_t tmb_sysfile_read_kb(const char *path, const char *key);

/* A walk from this process's cgroup up to the root of its hierarchy. */
struct tmb_cgroup_walk {
  bool v2;
  size_t root_len;    /* length of the mount point at the start of dir */
  char dir[PATH_MAX]; /* folder of the current cgroup */
};

/*
 * Start a walk at the cgroup that controls this process.
 * in controller: "memory", "cpu" or "pids". Returns true if the first step is ready in walk->dir.
 */
bool tmb_cgroup_first(struct tmb_cgroup_walk *walk, const char *controller);

/* tmb_cgroup_first with the two files of /proc read from elsewhere, for tests. */
bool tmb_cgroup_first_from(struct tmb_cgroup_walk *walk, const char *controller,
                           const char *cgroup_file, const char *mounts_file);

/* Move to the parent cgroup. Returns false behind the root. */
bool tmb_cgroup_next(struct tmb_cgroup_walk *walk);

/* Memory limit of the walk's current cgroup in bytes, UINT64_MAX if it has none. */
uint64_t tmb_cgroup_mem_limit(const struct tmb_cgroup_walk *walk);

/* The name of that limit in messages. out text: [bytes]. */
void tmb_cgroup_mem_name(const struct tmb_cgroup_walk *walk, char *text, size_t bytes);

/* A hash of the names of this process's cgroups; 0 if unknown. */
uint64_t tmb_cgroup_id(void);

struct tmb_os_cgroup;

/* The limits that tmb_os_cgroup_use was given; NULL: they must be read. */
const struct tmb_os_cgroup *tmb_cgroup_known(void);

/* Processes that the kernel has ended for want of memory in the walk's current cgroup; 0 if
 * unknown. */
uint64_t tmb_cgroup_oom_kills(const struct tmb_cgroup_walk *walk);

/* Most processes and threads in the walk's current cgroup, UINT64_MAX if it has no such limit. out
 * now: how many there are. */
uint64_t tmb_cgroup_pids_max(const struct tmb_cgroup_walk *walk, uint64_t *now);

/* CPU quota of the walk's current cgroup in processors, 0 if it has none. */
double tmb_cgroup_cpu_quota(const struct tmb_cgroup_walk *walk);

#endif
