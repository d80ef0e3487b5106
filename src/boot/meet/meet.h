/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How ranks of one host that no common parent has started come to share descriptors: one of them,
 * the leader, hands its own to the others through a socket.
 *
 * Owns no state. Called by bootstrap_pm.c. Calls: base, libc. Invariants: the socket has no name in
 * the file system, and nothing of it is left however a process ends; descriptors are given to, and
 * taken from, processes of this user only.
 */
#ifndef TMB_BOOT_MEET_H
#define TMB_BOOT_MEET_H

#include "base/compiler.h"

#include <stdint.h>

enum { TMB_MEET_NAME_BYTES = 48, TMB_MEET_FDS_MAX = 2048 };

/* Leader: open a socket for others to come to. out name: the address for the others. Returns it, or
 * TMB_E_SYS after a message. */
int tmb_meet_open(char name[TMB_MEET_NAME_BYTES]);

/* Leader: give `count` descriptors to each of `peers` others, as they come. Returns 0, or TMB_E_SYS
 * after a message. */
int tmb_meet_serve(int listener, uint32_t peers, const int *fds, uint32_t count);

/* Take `count` descriptors from the leader; close-on-exec. out fds: [count]. Returns 0, or
 * TMB_E_SYS after a message. */
int tmb_meet_take(const char *name, int *fds, uint32_t count);

#endif
