/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping on descriptors, see wait_fd.h.
 *
 * Owns nothing. Called by core and near. Calls the kernel. Invariant: a full counter is readable
 * nevertheless.
 */
#define _GNU_SOURCE 1 /* ppoll */
#include "os/sync/wait_fd.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000u

int tmb_os_poll(struct pollfd *fds, uint32_t count, uint64_t limit_ns) {
  const struct timespec limit = {.tv_sec = (time_t)(limit_ns / NS_PER_S),
                                 .tv_nsec = (long)(limit_ns % NS_PER_S)};
  const int ready = ppoll(fds, count, limit_ns == UINT64_MAX ? NULL : &limit, NULL);
  return ready > 0 ? ready : 0;
}

void tmb_os_fd_empty(int fd) {
  uint64_t count;
  if (read(fd, &count, sizeof count) < 0) return; /* it was not readable */
}

void tmb_os_fd_ring(int fd) {
  const uint64_t one = 1;
  if (write(fd, &one, sizeof one) < 0) return; /* full: readable */
}
