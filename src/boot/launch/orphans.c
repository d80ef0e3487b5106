/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks leave behind: see orphans.h.
 *
 * Owns, calls, invariants: as there. The kernel's list of children has those of one thread; what is
 * adopted comes to the first.
 */
#define _GNU_SOURCE
#include "boot/launch/orphans.h"

#include "base/log.h"
#include "os/os.h"
#include "os/sysfile.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIST_BYTES 16384 /* process numbers, as text; what does not fit comes in the next round */
#define TICK_NS    UINT64_C(5000000)
#define GRACE_NS   UINT64_C(500000000)  /* from SIGTERM to SIGKILL */
#define GIVE_UP_NS UINT64_C(2000000000) /* what is left then hangs in the kernel */
#define REGIONS    8 /* one for each rail and kind of endpoint; numbered from 0 */

/* The children of this process as text: numbers, each followed by a blank. */
static bool list_children(char *text) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
  text[0] = 0;
  const int length = tmb_sysfile_read(path, text, LIST_BYTES);
  char *last = length == LIST_BYTES - 1 ? strrchr(text, ' ') : NULL;
  if (last) *last = 0; /* a number that was cut off means another process */
  return length >= 0;
}

static bool was_before(const char *before, pid_t pid) {
  char *next = (char *)(uintptr_t)before;
  for (long other; (other = strtol(next, &next, 10)) > 0;)
    if (other == pid) return true;
  return false;
}

char *tmb_orphans_adopt(void) {
  char *before = malloc(LIST_BYTES);
  if (before && list_children(before) && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0) return before;
  free(before);
  return NULL;
}

/* Signals each orphan and reaps those that have ended. Returns how many are left. */
static int signal_orphans(const char *before, int sig) {
  char text[LIST_BYTES];
  int left = 0;
  if (!list_children(text)) return 0;
  char *next = text;
  for (long pid; (pid = strtol(next, &next, 10)) > 0;) {
    if (was_before(before, (pid_t)pid) || getpgid((pid_t)pid) != getpgrp()) continue;
    if (waitpid((pid_t)pid, NULL, WNOHANG) != 0) continue;
    (void)kill((pid_t)pid, sig);
    left++;
  }
  return left;
}

void tmb_orphans_end(const char *before) {
  if (!before) return;
  const uint64_t start = tmb_os_now_ns();
  int left = signal_orphans(before, SIGTERM);
  if (left)
    tmb_info("ending %d process%s that ranks have left behind", left, left == 1 ? "" : "es");
  for (uint64_t age = 0; left && age < GIVE_UP_NS; age = tmb_os_now_ns() - start) {
    (void)tmb_os_nsleep(TICK_NS);
    left = signal_orphans(before, age < GRACE_NS ? 0 : SIGKILL);
  }
}

void tmb_orphans_unlink(pid_t pid) {
  char path[64];
  for (int i = 0; i < REGIONS; i++) {
    snprintf(path, sizeof path, "/dev/shm/%d:%u:%d", (int)pid, (unsigned)getuid(), i);
    if (unlink(path) != 0) return;
  }
}
