/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding the jobs of this user on this machine.
 *
 * Owns: no state. Called by `tombolo ps` and `tombolo why`. Calls: ctl, /proc. The launcher of a
 * job, and the agent of a host, hold a control block open: the descriptors of each process of this
 * user are searched for one. Invariants: a control block is taken only from the process that
 * it names as its supervisor, so each is found once; it is mapped for reading.
 */
#define _GNU_SOURCE
#include "boot/explain/snapshot.h"

#include "base/error.h"
#include "os/memory/memfd.h"
#include "os/os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a descriptor of the process is what one looks for; out ctl: its control block. */
typedef bool looked_for(int fd, pid_t pid, const struct tmb_ctl **ctl);

/* Map a control block of the process for reading; false if the descriptor is none. */
static bool map_ctl(int fd, pid_t pid, const struct tmb_ctl **out) {
  const int64_t bytes = tmb_memfd_bytes(fd);
  if (bytes < (int64_t)sizeof(struct tmb_ctl)) return false;
  void *at = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return false;
  const struct tmb_ctl *ctl = *out = at;
  if (ctl->magic == TMB_CTL_MAGIC && ctl->supervisor_pid == pid && ctl->size &&
      ctl->size <= TMB_BOOT_RANKS_MAX && ctl->here <= ctl->size && ctl->hosts &&
      ctl->hosts <= ctl->size &&
      (uint64_t)bytes == tmb_ctl_bytes(ctl->size, ctl->here, ctl->trace_bytes))
    return true;
  munmap(at, (size_t)bytes);
  *out = NULL;
  return false;
}

static bool is_of_other_version(int fd, pid_t pid, const struct tmb_ctl **ctl) {
  (void)pid;
  (void)ctl;
  return tmb_ctl_is_of_other_version(fd);
}

/* A descriptor's link names the memory as tmb_memfd_create has made it, or a file without name. */
static bool may_be_ctl(const char *link) {
  const size_t n = strlen(link);
  static const char deleted[] = " (deleted)";
  return n > sizeof deleted && strcmp(link + n - (sizeof deleted - 1), deleted) == 0 &&
         (strstr(link, "tombolo-ctl") != NULL || strchr(link, '#') != NULL);
}

/* Whether process `pid` holds open a control block that is looked for. out ctl: see looked_for. */
static bool holds(pid_t pid, looked_for *is_it, const struct tmb_ctl **ctl) {
  char path[300], link[300];
  bool found = false;
  snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
  DIR *dir = opendir(path);
  for (const struct dirent *e; dir && !found && (e = readdir(dir)) != NULL;) {
    snprintf(path, sizeof path, "/proc/%d/fd/%.32s", (int)pid, e->d_name);
    const ssize_t n = readlink(path, link, sizeof link - 1);
    if (n <= 0) continue;
    link[n] = '\0';
    if (!may_be_ctl(link)) continue;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    found = is_it(fd, pid, ctl);
    close(fd);
  }
  if (dir) closedir(dir);
  return found;
}

/* Program that the first existing rank executes, else the launcher's. */
static void name_program(struct tmb_job_found *job) {
  pid_t pid = job->ctl->supervisor_pid;
  for (uint32_t i = 0; i < job->ctl->here; i++)
    if (job->ctl->rank[i].pid) pid = job->ctl->rank[i].pid;
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
  const ssize_t n = readlink(path, job->program, sizeof job->program - 1);
  job->program[n > 0 ? n : 0] = '\0';
}

static bool is_ours(const char *name) {
  char path[64];
  struct stat st;
  snprintf(path, sizeof path, "/proc/%.20s", name);
  return name[0] >= '1' && name[0] <= '9' && stat(path, &st) == 0 && st.st_uid == geteuid();
}

/* The launcher of a job on several hosts has no ranks itself: it is asked before an agent. */
static void mark_again(struct tmb_job_found *list, int count) {
  for (int i = 0; i < count; i++)
    for (int k = 0; k < count && !list[i].again; k++) {
      const struct tmb_ctl *a = list[i].ctl, *b = list[k].ctl;
      if (k != i && a->job_id == b->job_id)
        list[i].again = b->here < a->here || (b->here == a->here && k < i);
    }
}

int tmb_jobs_find(struct tmb_job_found **jobs) {
  DIR *dir = opendir("/proc");
  if (!dir) return TMB_E_SYS;
  struct tmb_job_found *list = NULL;
  int count = 0, rc = TMB_OK;
  for (const struct dirent *e; rc == TMB_OK && (e = readdir(dir)) != NULL;) {
    const struct tmb_ctl *ctl = NULL;
    if (!is_ours(e->d_name) || !holds((pid_t)atoi(e->d_name), map_ctl, &ctl)) continue;
    struct tmb_job_found *more = realloc(list, (size_t)(count + 1) * sizeof *list);
    if (!more) {
      rc = TMB_E_NOMEM;
      break;
    }
    list = more;
    list[count] = (struct tmb_job_found){.ctl = ctl};
    name_program(&list[count++]);
  }
  closedir(dir);
  *jobs = list;
  mark_again(list, count);
  if (rc == TMB_OK) return count;
  tmb_jobs_free(list, count);
  return rc;
}

bool tmb_job_is_of_other_version(pid_t pid) {
  return holds(pid, is_of_other_version, NULL);
}

pid_t tmb_jobs_other_version(void) {
  DIR *dir = opendir("/proc");
  pid_t pid = 0;
  for (const struct dirent *e; dir && !pid && (e = readdir(dir)) != NULL;)
    if (is_ours(e->d_name) && tmb_job_is_of_other_version((pid_t)atoi(e->d_name)))
      pid = (pid_t)atoi(e->d_name);
  if (dir) closedir(dir);
  return pid;
}

void tmb_jobs_free(struct tmb_job_found *jobs, int count) {
  for (int i = 0; i < count; i++) tmb_ctl_unmap((struct tmb_ctl *)(uintptr_t)jobs[i].ctl);
  free(jobs);
}
