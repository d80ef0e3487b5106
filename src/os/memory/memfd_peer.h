/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared memory that another process of this machine made.
 *
 * Owns: nothing. Called by core for created segments. Calls: libc, /proc. Invariants: a refusal
 * (permissions, another pid namespace, no /proc) is an ordinary result that prints nothing; the
 * caller then does without the mapping.
 */
#ifndef TMB_OS_MEMFD_PEER_H
#define TMB_OS_MEMFD_PEER_H

#include <stdint.h>
#include <sys/types.h>

/* Map the object behind descriptor `fd` of process `pid`, which must keep it open meanwhile.
 * Returns the address of `bytes` bytes, or NULL. Threads: any. */
void *tmb_memfd_map_peer(pid_t pid, int fd, uint64_t bytes);

/* Make and map an object of `bytes` bytes. out fd: its descriptor. Returns NULL when that is not
 * possible; nothing is printed. */
void *tmb_memfd_map_new(uint64_t bytes, int *fd);

/* Unmap an own object, give its pages back although peers may have it mapped, close it. */
void tmb_memfd_unmap_local(void *addr, uint64_t bytes, int fd);

#endif
