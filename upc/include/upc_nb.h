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

typedef struct upcr_handle *upc_handle_t;
#define UPC_COMPLETE_HANDLE ((upc_handle_t)0)

upc_handle_t upc_memcpy_nb(shared void *restrict dst, shared const void *restrict src, size_t n);
upc_handle_t upc_memget_nb(void *restrict dst, shared const void *restrict src, size_t n);
upc_handle_t upc_memput_nb(shared void *restrict dst, const void *restrict src, size_t n);
upc_handle_t upc_memset_nb(shared void *dst, int c, size_t n);
void upc_memcpy_nbi(shared void *restrict dst, shared const void *restrict src, size_t n);
void upc_memget_nbi(void *restrict dst, shared const void *restrict src, size_t n);
void upc_memput_nbi(shared void *restrict dst, const void *restrict src, size_t n);
void upc_memset_nbi(shared void *dst, int c, size_t n);
void upc_sync(upc_handle_t handle);
int upc_sync_attempt(upc_handle_t handle);
void upc_synci(void);
int upc_synci_attempt(void);

#endif
