/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * <tombolo_upc.h>: the library's objects of a UPC program, for its parts in C and C++ that call
 * GASNet-EX themselves.
 *
 * Included by C and C++ sources. Functions: libtombolo-upc. A process has one client, that of UPC:
 * other parts use its team and segment, or teams and endpoints that they make of these. Handlers
 * from index GEX_AM_INDEX_BASE + 16 on are free for gex_EP_RegisterHandlers.
 */
#ifndef TOMBOLO_UPC_H
#define TOMBOLO_UPC_H

#include <gasnetex.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Page tombolo_upc_query: GASNet-EX objects of a UPC program.
 * Completion: at once.
 * Threads: any; not collective.
 * Errors: an address that is no shared memory of this thread ends the job with a message.
 * Cost: a few instructions.
 * Example: examples/upc/from_c/main.c tombolo_upc_query
 * See: bupc_init, gex_RMA_PutNB, gexx_Client_Join */
/* Gives the objects that UPC uses. Before bupc_init, or the start of UPC's main, they are
 * GEX_CLIENT_INVALID and its relatives. [out] client: the client; may be NULL. [out] ep: its
 * endpoint; may be NULL. [out] tm: the team of all threads; may be NULL. */
void tombolo_upc_query(gex_Client_t *client, gex_EP_t *ep, gex_TM_t *tm);

/* Returns the address here of memory of another thread; NULL where that is not mapped here. [in] p:
 * an address in the shared memory of this thread; the other thread's memory at the same offset is
 * meant. [in] thread: the other thread. [out] owner: the address that the other thread has for it,
 * for gets and puts; may be NULL. */
void *tombolo_upc_peer_address(const void *p, int thread, void **owner);

#ifdef __cplusplus
}
#endif

#endif
