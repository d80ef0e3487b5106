/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * <upc_castable.h>: local addresses of other threads' memory (UPC 1.3 library, castability).
 *
 * Included by UPC programs. Functions: libtombolo-upc. All memory of a thread on the same host can
 * be cast, unless shared memory is off.
 */
#ifndef UPC_CASTABLE_H
#define UPC_CASTABLE_H

#include <stddef.h>

#define UPC_CASTABLE_ALL_ALLOC    1
#define UPC_CASTABLE_GLOBAL_ALLOC 2
#define UPC_CASTABLE_ALLOC        4
#define UPC_CASTABLE_STATIC       8
#define UPC_CASTABLE_ALL          15

typedef struct {
  int guaranteedCastable;
  int probablyCastable;
} upc_thread_info_t;

void *upc_cast(const shared void *ptr);
upc_thread_info_t upc_thread_info(size_t threadId);

#endif
