/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which threads of this process run: see os.h.
 *
 * Owns: nothing. Called by core. Calls: /proc/self/task. Invariants: where /proc is not there,
 * threads that cannot be seen are said to run; a thread's name is what the kernel keeps of it.
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

bool tmb_os_threads_run(const char *but) {
  const long self = gettid();
  bool found = false;
  DIR *dir = opendir("/proc/self/task");
  if (!dir) return true;
  for (const struct dirent *e; !found && (e = readdir(dir)) != NULL;) {
    const long thread = strtol(e->d_name, NULL, 10);
    found = thread > 0 && thread != self && runs(thread, but);
  }
  closedir(dir);
  return found;
}
