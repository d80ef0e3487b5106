/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long messages that the receiver reads in the sender's memory: one copy instead of two.
 *
 * Owns: declarations of pull.c. Called by the engine and plan.c. Calls: core's tables of segments,
 * os/memory/peer_copy.h. A sender offers process number and address; the receiver reads through its
 * mapping of the sender's segment, or through the kernel. Single-copy transfers as in B. Goglin, S.
 * Moreaud, "KNEM: a generic and scalable kernel-assisted intra-node MPI communication framework",
 * J. Parallel Distrib. Comput. 73(2), 2013, doi:10.1016/j.jpdc.2012.09.016. Invariants: only
 * memory of ranks of this host is read; they agree on whether that works, since initialisation or
 * the last change of the failure policy. Ranks of different hosts may not agree.
 */
#ifndef TMB_COLL_PULL_H
#define TMB_COLL_PULL_H

#include "coll/schedule/shape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether long messages between ranks of this host are pulled; equal on all of them. */
bool tmb_pull_works(void);

/* Address of a peer's memory in this process; NULL when it is not mapped. */
char *tmb_pull_mapped(uint32_t jobrank, uint64_t address, size_t bytes);

/* Whether data that wait until a rank may get them are rather offered to it: they lie in a segment
 * that it maps, so that reading takes one copy and no call of the kernel. Where that rank does not
 * map them after all, it reads through the kernel, or refuses. */
bool tmb_pull_saves(uint32_t jobrank, const void *data, size_t bytes);

/* Whether the blocks of a collective are copied past the caches: an exchange that fills them. Under
 * the lock of collectives. */
bool tmb_pull_past(const struct tmb_coll_shape *shape);

/* Copy memory of this process. */
void tmb_pull_copy(void *to, const void *from, size_t bytes, bool past);

/* Copy memory of a peer; past the caches only where it is mapped. Returns false, with part of it
 * copied, when the kernel refuses; it is not asked about that peer again. */
bool tmb_pull_read(uint32_t jobrank, int32_t pid, uint64_t address, void *to, size_t bytes,
                   bool past);

#endif
