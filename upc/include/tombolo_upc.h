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

/* Any argument may be null. Before bupc_init, or the start of UPC's main: GEX_..._INVALID. */
void tombolo_upc_query(gex_Client_t *client, gex_EP_t *ep, gex_TM_t *tm);

/* The local address of a pointer-to-shared that `thread` would have for local address `p` of this
 * thread; null where its memory is not mapped here. [out] owner: the address in that thread's own
 * address space, for gets and puts; may be null. */
void *tombolo_upc_peer_address(const void *p, int thread, void **owner);

#ifdef __cplusplus
}
#endif

#endif
