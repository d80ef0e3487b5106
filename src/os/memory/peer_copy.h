/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading the memory of another process of this machine, without its help.
 *
 * Owns nothing. Called by the collectives and core/rma/cross_read.c. Calls: process_vm_readv, which
 * needs the permission to trace the other process; the kernel (Yama), a container or a sandbox may
 * deny it: callers try first and have another method. Invariants: a process number is one of the
 * caller's own namespace; that it names the process meant is for the caller to verify.
 */
#ifndef TMB_OS_PEER_COPY_H
#define TMB_OS_PEER_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Read [remote, remote + bytes) of process `pid`. Returns whether all was done. */
bool tmb_os_peer_read(int pid, void *local, uint64_t remote, size_t bytes);

/* Let processes that descend from this one's parent read here, where the kernel asks for
 * such consent (Yama). */
void tmb_os_peer_allow(void);

/* Own process number. */
int tmb_os_pid(void);

#endif
