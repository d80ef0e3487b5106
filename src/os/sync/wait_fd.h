/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping on descriptors: poll in nanoseconds, events as descriptors.
 *
 * Owns nothing. Called by core's waiting and by the near engine's doors. Calls: ppoll(2),
 * eventfd(2). Invariants: waits may return early, so callers re-check; nothing
 * here ends the process.
 */
#ifndef TMB_OS_WAIT_FD_H
#define TMB_OS_WAIT_FD_H

#include <poll.h>
#include <stdint.h>

/* Sleep until a descriptor is ready, at most limit_ns (UINT64_MAX: no limit). inout fds: [count].
 * Returns how many are ready; 0 after the time or a signal. */
int tmb_os_poll(struct pollfd *fds, uint32_t count, uint64_t limit_ns);

/* Make a non-blocking eventfd unreadable until somebody rings. */
void tmb_os_fd_empty(int fd);

/* Make an eventfd readable. */
void tmb_os_fd_ring(int fd);

#endif
