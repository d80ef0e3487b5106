/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of this process that run: see os.h.
 *
 * Owns: nothing. Called by core. Calls: /proc/self/task. Invariants: where /proc is not there,
 * threads that cannot be seen count as running; a thread's name is the one that the kernel keeps.
 */
#define _GNU_SOURCE
#include "os/os.h"

#include "os/sysfile.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

void tmb_os_thread_name(char old[TMB_OS_THREAD_NAME], const char *name) {
  if (old) prctl(PR_GET_NAME, old);
  prctl(PR_SET_NAME, name);
}

/* Whether a thread runs and has another name: the line is "TID (NAME) STATE ...", proc(5). */
static bool runs(long thread, const char *but) {
  char path[64], text[512], name[TMB_OS_THREAD_NAME + 4];
  snprintf(path, sizeof path, "/proc/self/task/%ld/stat", thread);
  if (tmb_sysfile_read(path, text, sizeof text) <= 0) return false; /* it has ended meanwhile */
  const char *end = strrchr(text, ')');
  if (!end || end[1] != ' ' || strchr("ZXx", end[2])) return false;
  snprintf(name, sizeof name, "(%s)", but);
  return !strstr(text, name);
}

static bool is_listed(const struct tmb_os_threads *list, long thread) {
  uint32_t i = 0;
  while (i < list->count && list->id[i] != thread) i++;
  return i < list->count;
}

/* The next thread of an open folder of threads, 0 after the last. */
static long next_thread(DIR *dir) {
  for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
    const long thread = strtol(e->d_name, NULL, 10);
    if (thread > 0) return thread;
  }
  return 0;
}

void tmb_os_threads_list(struct tmb_os_threads *out) {
  out->count = 0;
  DIR *dir = opendir("/proc/self/task");
  if (!dir) return;
  long thread;
  while ((thread = next_thread(dir)) != 0 && out->count < TMB_OS_THREADS_MAX)
    out->id[out->count++] = (pid_t)thread;
  if (thread) out->count = 0;
  closedir(dir);
}

bool tmb_os_threads_run(const char *but, const struct tmb_os_threads *but_these) {
  const long self = gettid();
  bool found = false;
  DIR *dir = opendir("/proc/self/task");
  if (!dir) return true;
  for (long thread; !found && (thread = next_thread(dir)) != 0;)
    found = thread != self && !is_listed(but_these, thread) && runs(thread, but);
  closedir(dir);
  return found;
}
