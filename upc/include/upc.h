/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * <upc.h>: the core library of UPC (UPC 1.3 section 7.2).
 *
 * Included by UPC programs. Functions: libtombolo-upc. Every one that takes a pointer-to-shared
 * takes any; allocation returns null where there is no room.
 */
#ifndef UPC_H
#define UPC_H

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include <upc_types.h>

void upc_global_exit(int status) __attribute__((__noreturn__));

/* ---- shared memory */
shared void *upc_global_alloc(size_t nblocks, size_t nbytes);
shared void *upc_all_alloc(size_t nblocks, size_t nbytes);
shared void *upc_alloc(size_t nbytes);
shared void *upc_local_alloc(size_t nblocks, size_t nbytes); /* UPC 1.1 */
void upc_free(shared void *ptr);
void upc_all_free(shared void *ptr);

size_t upc_threadof(shared void *ptr);
size_t upc_phaseof(shared void *ptr);
size_t upc_addrfield(shared void *ptr);
shared void *upc_resetphase(shared void *ptr);
size_t upc_affinitysize(size_t totalsize, size_t nbytes, size_t threadid);

/* ---- locks */
typedef shared struct upcr_lock upc_lock_t;
upc_lock_t *upc_global_lock_alloc(void);
upc_lock_t *upc_all_lock_alloc(void);
void upc_lock(upc_lock_t *ptr);
int upc_lock_attempt(upc_lock_t *ptr);
void upc_unlock(upc_lock_t *ptr);
void upc_lock_free(upc_lock_t *ptr);
void upc_all_lock_free(upc_lock_t *ptr);
void upc_lock_init(upc_lock_t *ptr); /* UPC 1.0 */

/* ---- copies */
void upc_memcpy(shared void *restrict dst, shared const void *restrict src, size_t n);
void upc_memget(void *restrict dst, shared const void *restrict src, size_t n);
void upc_memput(shared void *restrict dst, const void *restrict src, size_t n);
void upc_memset(shared void *dst, int c, size_t n);

#ifndef BUPC_DISABLE_EXTENSIONS
# include <bupc_extensions.h>
#endif

#endif
