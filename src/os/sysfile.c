/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small reads of /proc and /sys: see sysfile.h.
 *
 * Owns: the limits that another process has read for this one. Called by cpu.c, mem.c, cgroup.c.
 * Calls: libc.
 * The cgroup of a process is a line "id:controllers:path" of /proc/self/cgroup (version 2:
 * "0::path"); /proc/self/mounts says where the hierarchy is mounted. In a container the path may
 * lie outside of the mounted part; then the mount point itself is this process's cgroup.
 */
#include "os/sysfile.h"

#include "base/container/hash.h"
#include "base/error.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int tmb_sysfile_read(const char *path, char *buf, size_t buf_bytes) {
  buf[0] = '\0';
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  size_t len = 0;
  while (len + 1 < buf_bytes) {
    const ssize_t n = read(fd, buf + len, buf_bytes - 1 - len);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      if (n < 0) len = 0;
      break;
    }
    len += (size_t)n;
  }
  close(fd);
  while (len > 0 && buf[len - 1] == '\n') len--;
  buf[len] = '\0';
  return (int)len;
}

int tmb_sysfile_read_u64(const char *path, uint64_t *value) {
  char text[64], *end;
  if (tmb_sysfile_read(path, text, sizeof text) <= 0) return TMB_E_SYS;
  const unsigned long long v = strtoull(text, &end, 10);
  if (end == text || *end != '\0') return TMB_E_SYS;
  *value = v;
  return TMB_OK;
}

uint64_t tmb_sysfile_read_kb(const char *path, const char *key) {
  FILE *file = fopen(path, "re");
  if (!file) return 0;
  char line[256];
  uint64_t bytes = 0;
  while (fgets(line, sizeof line, file)) {
    if (strncmp(line, key, strlen(key)) == 0) {
      bytes = strtoull(line + strlen(key), NULL, 10) * 1024;
      break;
    }
  }
  fclose(file);
  return bytes;
}

/* True if the comma-separated list holds the word. */
static bool list_has(const char *list, const char *word) {
  const size_t len = strlen(word);
  for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
    if (strncmp(p, word, len) == 0 && (p[len] == ',' || p[len] == '\0')) return true;
  }
  return false;
}

/* Finds where the hierarchy is mounted. out dir: [PATH_MAX]. Version 1 hierarchies are
 * distinguished by their options. */
static bool find_mount(const char *mounts_file, const char *controller, bool v2, char *dir) {
  FILE *file = fopen(mounts_file, "re");
  if (!file) return false;
  char line[PATH_MAX + 512];
  bool found = false;
  while (!found && fgets(line, sizeof line, file)) {
    char *save;
    const char *source = strtok_r(line, " ", &save);
    const char *point = strtok_r(NULL, " ", &save);
    const char *type = strtok_r(NULL, " ", &save);
    const char *options = strtok_r(NULL, " ", &save);
    if (!source || !options) continue;
    if (strcmp(type, v2 ? "cgroup2" : "cgroup") != 0) continue;
    if (!v2 && !list_has(options, controller)) continue;
    found = strlen(point) < PATH_MAX;
    if (found) memcpy(dir, point, strlen(point) + 1);
  }
  fclose(file);
  return found;
}

/* Finds this process's path in the controller's hierarchy (version 1) or in the unified one.
 * out path: [PATH_MAX]. */
static bool find_path(const char *cgroup_file, const char *controller, bool v2, char *path) {
  FILE *file = fopen(cgroup_file, "re");
  if (!file) return false;
  char line[PATH_MAX + 256];
  bool found = false;
  while (!found && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = '\0';
    char *list = strchr(line, ':');
    char *name = list ? strchr(list + 1, ':') : NULL;
    if (!name) continue;
    *list++ = '\0';
    *name++ = '\0';
    found = v2 ? strcmp(line, "0") == 0 && *list == '\0' : list_has(list, controller);
    if (found && strlen(name) < PATH_MAX)
      memcpy(path, name, strlen(name) + 1);
    else
      found = false;
  }
  fclose(file);
  return found;
}

bool tmb_cgroup_first_from(struct tmb_cgroup_walk *walk, const char *controller,
                           const char *cgroup_file, const char *mounts_file) {
  char path[PATH_MAX];
  struct stat st;
  /* A controller is bound to one hierarchy; on a mixed system version 1 holds it. */
  for (int v2 = 0; v2 <= 1; v2++) {
    if (!find_path(cgroup_file, controller, v2, path)) continue;
    if (!find_mount(mounts_file, controller, v2, walk->dir)) continue;
    walk->v2 = v2;
    walk->root_len = strlen(walk->dir);
    if (strcmp(path, "/") != 0 && walk->root_len + strlen(path) < sizeof walk->dir) {
      memcpy(walk->dir + walk->root_len, path, strlen(path) + 1);
      if (stat(walk->dir, &st) != 0) walk->dir[walk->root_len] = '\0';
    }
    return true;
  }
  return false;
}

bool tmb_cgroup_first(struct tmb_cgroup_walk *walk, const char *controller) {
  return tmb_cgroup_first_from(walk, controller, "/proc/self/cgroup", "/proc/self/mounts");
}

bool tmb_cgroup_next(struct tmb_cgroup_walk *walk) {
  if (strlen(walk->dir) <= walk->root_len) return false;
  char *slash = strrchr(walk->dir + walk->root_len, '/');
  if (!slash) return false;
  *slash = '\0';
  return true;
}

/* Reads file `name` of the walk's current cgroup, as tmb_sysfile_read. */
static int read_cgroup(const struct tmb_cgroup_walk *walk, const char *name, char *buf,
                       size_t buf_bytes) {
  char path[PATH_MAX + 64];
  buf[0] = '\0';
  const int n = snprintf(path, sizeof path, "%s/%s", walk->dir, name);
  if (n < 0 || (size_t)n >= sizeof path) return -1;
  return tmb_sysfile_read(path, buf, buf_bytes);
}

uint64_t tmb_cgroup_mem_limit(const struct tmb_cgroup_walk *walk) {
  char text[64], *end;
  const char *name = walk->v2 ? "memory.max" : "memory.limit_in_bytes";
  if (read_cgroup(walk, name, text, sizeof text) <= 0) return UINT64_MAX;
  const unsigned long long bytes = strtoull(text, &end, 10);
  /* "max" in version 2, a number near 2^63 in version 1 */
  return end == text || *end != '\0' || bytes >= 1ull << 62 ? UINT64_MAX : bytes;
}

void tmb_cgroup_mem_name(const struct tmb_cgroup_walk *walk, char *text, size_t bytes) {
  snprintf(text, bytes, "cgroup memory limit (%.130s)", walk->dir);
}

uint64_t tmb_cgroup_oom_kills(const struct tmb_cgroup_walk *walk) {
  char text[1024];
  const char *name = walk->v2 ? "memory.events" : "memory.oom_control";
  if (read_cgroup(walk, name, text, sizeof text) <= 0) return 0;
  const char *at = strstr(text, "oom_kill ");
  return at ? strtoull(at + strlen("oom_kill "), NULL, 10) : 0;
}

uint64_t tmb_cgroup_pids_max(const struct tmb_cgroup_walk *walk, uint64_t *now) {
  char text[64], *end;
  *now = 0;
  if (read_cgroup(walk, "pids.current", text, sizeof text) > 0) *now = strtoull(text, NULL, 10);
  if (read_cgroup(walk, "pids.max", text, sizeof text) <= 0) return UINT64_MAX;
  const unsigned long long most = strtoull(text, &end, 10);
  return end == text || *end != '\0' ? UINT64_MAX : most; /* "max" */
}

double tmb_cgroup_cpu_quota(const struct tmb_cgroup_walk *walk) {
  char text[64];
  long long quota_us, period_us;
  if (walk->v2) {
    if (read_cgroup(walk, "cpu.max", text, sizeof text) <= 0) return 0;
    if (sscanf(text, "%lld %lld", &quota_us, &period_us) != 2) return 0; /* "max 100000" */
  } else {
    if (read_cgroup(walk, "cpu.cfs_quota_us", text, sizeof text) <= 0) return 0;
    quota_us = atoll(text); /* -1: none */
    if (read_cgroup(walk, "cpu.cfs_period_us", text, sizeof text) <= 0) return 0;
    period_us = atoll(text);
  }
  return quota_us > 0 && period_us > 0 ? (double)quota_us / (double)period_us : 0;
}

/* ---- limits that another process has read */

static struct tmb_os_cgroup given; /* id 0: none */

uint64_t tmb_cgroup_id(void) {
  char text[4096];
  if (tmb_sysfile_read("/proc/self/cgroup", text, sizeof text) <= 0) return 0;
  return tmb_hash_text(TMB_HASH_START, text);
}

void tmb_os_cgroup_use(const struct tmb_os_cgroup *limits) {
  if (limits->id && limits->id == tmb_cgroup_id()) given = *limits;
}

const struct tmb_os_cgroup *tmb_cgroup_known(void) {
  return given.id ? &given : NULL;
}
