/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copying between processes, see peer_copy.h.
 *
 * Owns nothing. Called by the collectives and core/rma/cross_read.c. Calls: the kernel. A call may
 * move fewer bytes than asked for (it moves whole pages of the far side), so there is a loop.
 * Invariants: errno is not read: after any failure the caller uses its other method.
 */
#define _GNU_SOURCE
#include "os/memory/peer_copy.h"

#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

bool tmb_os_peer_read(int pid, void *local, uint64_t remote, size_t bytes) {
  char *to = local;
  while (bytes) {
    const struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)remote, bytes};
    const ssize_t n = process_vm_readv(pid, &here, 1, &there, 1, 0);
    if (n <= 0) return false;
    to += n;
    remote += (uint64_t)n;
    bytes -= (size_t)n;
  }
  return true;
}

void tmb_os_peer_allow(void) {
  prctl(PR_SET_PTRACER, (unsigned long)getppid(), 0, 0, 0);
}

int tmb_os_pid(void) {
  return (int)getpid();
}
