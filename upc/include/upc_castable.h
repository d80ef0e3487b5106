/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * <upc_castable.h>: local addresses of other threads' memory (UPC 1.3 library, castability).
 *
 * Included by UPC programs. Functions: libtombolo-upc. All memory of a thread of this host can be
 * cast, unless shared memory is off.
 */
#ifndef UPC_CASTABLE_H
#define UPC_CASTABLE_H

#include <stddef.h>

/* Page upc_cast: local addresses of other threads' memory.
 * [in] ptr: a pointer-to-shared. [in] threadId: a thread.
 * Completion: at once.
 * Threads: any; not collective.
 * Errors: none: memory that is not mapped here gives null.
 * Cost: a few instructions.
 * See: upc_threadof, bupc_thread_distance */
/* Parts of a thread's memory. */
#define UPC_CASTABLE_ALL_ALLOC    1  /* memory of upc_all_alloc */
#define UPC_CASTABLE_GLOBAL_ALLOC 2  /* memory of upc_global_alloc */
#define UPC_CASTABLE_ALLOC        4  /* memory of upc_alloc */
#define UPC_CASTABLE_STATIC       8  /* static shared objects */
#define UPC_CASTABLE_ALL          15 /* all of these */

/* Result of upc_thread_info: sums of the constants above. */
typedef struct {
  int guaranteedCastable;
  int probablyCastable;
} upc_thread_info_t;

/* Returns the address of the object here; NULL: it lies on another host. */
void *upc_cast(const shared void *ptr);
/* Returns which memory of a thread can be cast. Both members are equal. */
upc_thread_info_t upc_thread_info(size_t threadId);

#endif
