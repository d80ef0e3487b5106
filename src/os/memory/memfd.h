/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Anonymous shared memory behind a file descriptor.
 *
 * Owns: nothing that outlives the descriptor: no name is left anywhere, whatever kills the process.
 * Called by boot (control block, arena, segment) and near (growing them). Calls: base, libc.
 * Invariants: every descriptor made here is close-on-exec; resizing never raises SIGXFSZ; memory
 * that nobody touched costs nothing, but in a file system of limited size, where it is reserved.
 */
#ifndef TMB_OS_MEMFD_H
#define TMB_OS_MEMFD_H

#include "base/compiler.h"

#include <stdbool.h>

#define TMB_MEMFD_WHY_BYTES                                            \
 384 /* a buffer of this many bytes holds every explanation given here \
      */

/*
 * Create an empty anonymous shared memory object.
 * in name: shown in /proc/<pid>/maps; letters, digits and '-', at most 64 characters.
 * in avoid_memfd: true: behave as on a kernel without memfd_create (a test switch): a file without
 * a name in GASNET_TMPDIR, TMPDIR, /dev/shm, /tmp or /var/tmp, the first that works. Returns the
 * descriptor (close-on-exec, size 0), or TMB_E_SYS after a warning that names every place that was
 * tried and why it failed. Threads: any.
 */
int tmb_memfd_create(const char *name, bool avoid_memfd);

/*
 * Set the size of a shared memory object; new bytes read as zero and cost nothing until touched. Of
 * a file in a file system of limited size (no memfd) the bytes are reserved, because touching a
 * missing page would be SIGBUS; if they are more than half of the memory that is available, they
 * are only compared with the space available, because reserving them would use up that memory at
 * once. in fd: from tmb_memfd_create; in bytes: new size. out why: [why_bytes] on failure one
 * sentence: the request, the limit that refuses it, the remedy. Returns 0, TMB_E_LIMIT (file size
 * limit, or no space), TMB_E_SYS. Threads: any; on one fd, one.
 */
int tmb_memfd_resize(int fd, uint64_t bytes, char *why, size_t why_bytes);

/* Most bytes that the object could have by the space of its file system; UINT64_MAX if only memory
 * bounds it. Threads: any. */
uint64_t tmb_memfd_space(int fd);

/* Current size in bytes, or TMB_E_SYS. Threads: any. */
int64_t tmb_memfd_bytes(int fd);

/* Set or clear close-on-exec. Returns 0 or TMB_E_SYS. Threads: any. */
int tmb_memfd_cloexec(int fd, bool on);

#endif
