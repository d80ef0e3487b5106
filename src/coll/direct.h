/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long messages written straight into the receiver's buffer: one copy instead of two.
 *
 * Owns: declarations of direct.c. Called by the engine. Calls: os/peer_copy.h. The READY of a gated
 * receive offers the buffer: process number, address, and where a cookie lies with its value. The
 * sender reads the cookie once for each peer; if it is right, the process number is, too, and the
 * kernel allows it. Invariants: an offer is made only for a plain receive that is open, so that the
 * sender may write at any time; guarded by the lock of collectives.
 */
#ifndef TMB_COLL_DIRECT_H
#define TMB_COLL_DIRECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Arguments of a READY after TMB_COLL_ARGS: pid, address(2), cookie's address(2), cookie(2). */
enum { TMB_DIRECT_ARGS = 7 };

/* Where to write. address 0: nowhere, send messages. */
struct tmb_direct {
  uint64_t address;
  int32_t pid;
};

/* Fill the arguments of an offer. in address: NULL for none. */
void tmb_direct_offer(int32_t *args, const void *address);

/* Judge the offer of a peer. */
struct tmb_direct tmb_direct_take(uint32_t jobrank, const int32_t *args);

/* Write `bytes` at offset `at` of the offered buffer. Returns false, never again to try with this
 * peer, when the kernel refuses. */
bool tmb_direct_write(uint32_t jobrank, const struct tmb_direct *d, uint64_t at, const void *src,
                      size_t bytes);

#endif
