/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * <upc_nb.h>: transfers that do not wait (UPC 1.3 library, non-blocking memory transfers).
 *
 * Included by UPC programs. Functions: libtombolo-upc. Until a transfer is synchronised its
 * destination may not be touched and its source not be written; fences complete nothing.
 */
#ifndef UPC_NB_H
#define UPC_NB_H

#include <stddef.h>

/* Page upc_memput_nb: copies of UPC that do not wait.
 * [in] dst: where the bytes go. [in] src: where they come from; neither may be used until the
 * copy is complete. [in] n: bytes. [in] c: the byte that is written. [in] handle: of a copy; it
 * must not be used again once upc_sync has returned, or upc_sync_attempt has returned 1.
 * Completion: of the forms with nb by upc_sync of their handle; of those with nbi by upc_synci.
 * Threads: the calling thread alone.
 * Errors: a pointer-to-shared that points to no shared memory ends the job with a message.
 * Cost: on the same host a memcpy, complete at once; between hosts a put or get of the network.
 * See: upc_memput, gex_RMA_PutNB */
typedef struct upcr_handle *upc_handle_t;     /* a copy in progress */
#define UPC_COMPLETE_HANDLE ((upc_handle_t)0) /* the handle of a complete copy */

/* Begins to copy n bytes within shared memory, from shared memory, to it, or to set n bytes to c.
 * Returns a handle. */
upc_handle_t upc_memcpy_nb(shared void *restrict dst, shared const void *restrict src, size_t n);
upc_handle_t upc_memget_nb(void *restrict dst, shared const void *restrict src, size_t n);
upc_handle_t upc_memput_nb(shared void *restrict dst, const void *restrict src, size_t n);
upc_handle_t upc_memset_nb(shared void *dst, int c, size_t n);

/* Begins such a copy without a handle. */
void upc_memcpy_nbi(shared void *restrict dst, shared const void *restrict src, size_t n);
void upc_memget_nbi(void *restrict dst, shared const void *restrict src, size_t n);
void upc_memput_nbi(shared void *restrict dst, const void *restrict src, size_t n);
void upc_memset_nbi(shared void *dst, int c, size_t n);

/* Waits until the copy is complete. */
void upc_sync(upc_handle_t handle);
/* Returns 1 if the copy is complete, else 0. */
int upc_sync_attempt(upc_handle_t handle);
/* Waits until all copies of this thread without a handle are complete. */
void upc_synci(void);
/* Returns 1 if all copies of this thread without a handle are complete, else 0. */
int upc_synci_attempt(void);

#endif
