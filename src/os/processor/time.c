/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clocks and sleeping: see os.h.
 *
 * Owns: nothing. Called by every layer above base. Calls: libc.
 * Invariants: tmb_os_now_ns never runs backwards and has one origin for all processes of the host.
 */
#include "os/os.h"

#include <errno.h>
#include <sched.h>
#include <sys/time.h>
#include <time.h>

enum { NS_PER_S = 1000000000 };

TMB_HOT uint64_t tmb_os_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t tmb_os_walltime_us(void) {
  struct timeval now;
  gettimeofday(&now, NULL);
  return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_usec;
}

int tmb_os_nsleep(uint64_t ns) {
  if (ns == 0) return 0;
  const struct timespec delay = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
  const int rc = clock_nanosleep(CLOCK_MONOTONIC, 0, &delay, NULL);
  if (rc == 0) return 0;
  errno = rc;
  return -1;
}

TMB_HOT void tmb_os_yield(void) {
  sched_yield();
}
