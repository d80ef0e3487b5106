/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copying between processes, see peer_copy.h.
 *
 * Owns nothing. Called by the collectives' engine. Calls: the kernel. A call may move fewer bytes
 * than asked for (it moves whole pages of the far side), so both loop. Invariants: errno is not
 * looked at: any failure means that the caller takes its other way.
 */
#define _GNU_SOURCE
#include "os/peer_copy.h"

#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

typedef ssize_t move_fn(pid_t pid, const struct iovec *local, unsigned long local_count,
                        const struct iovec *remote, unsigned long remote_count,
                        unsigned long flags);

static bool move(move_fn *fn, int pid, char *local, uint64_t remote, size_t bytes) {
  while (bytes) {
    const struct iovec here = {local, bytes}, there = {(void *)(uintptr_t)remote, bytes};
    const ssize_t n = fn(pid, &here, 1, &there, 1, 0);
    if (n <= 0) return false;
    local += n;
    remote += (uint64_t)n;
    bytes -= (size_t)n;
  }
  return true;
}

bool tmb_os_peer_read(int pid, void *local, uint64_t remote, size_t bytes) {
  return move(process_vm_readv, pid, local, remote, bytes);
}

bool tmb_os_peer_write(int pid, uint64_t remote, const void *local, size_t bytes) {
  return move(process_vm_writev, pid, (char *)(uintptr_t)local, remote, bytes);
}

void tmb_os_peer_allow(void) {
  prctl(PR_SET_PTRACER, (unsigned long)getppid(), 0, 0, 0);
}

int tmb_os_pid(void) {
  return (int)getpid();
}
