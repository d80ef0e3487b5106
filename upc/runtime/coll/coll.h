/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll.h: common declarations of the collectives' files.
 *
 * Included by coll.c, reduce.c, ordered.c, sort.c and io.h. Calls: nothing. Invariants: the flags
 * are those of <upc_types.h>, which other implementations share.
 */
#ifndef UPCR_COLL_H
#define UPCR_COLL_H

#include "rt.h"

#include <upc_types.h>

enum { FLAG_IN_NOSYNC = UPC_IN_NOSYNC, FLAG_OUT_NOSYNC = UPC_OUT_NOSYNC };

#define OP_FUNC    (1UL << 16)
#define OP_NONCOMM (1UL << 17)

extern void upc_memcpy(upcr_pts_t dst, upcr_pts_t src, size_t n);
extern void upc_memget(void *dst, upcr_pts_t src, size_t n);
extern void upc_memput(upcr_pts_t dst, const void *src, size_t n);

/* Synchronise as the flags ask for, before and after. */
void rt_coll_enter(int flags);
void rt_coll_leave(int flags);

/* Element i of an array with a layout; block 0: indefinite. */
static inline upcr_pts_t rt_element(upcr_pts_t p, long i, size_t elem_bytes, size_t block) {
  if (block == 0) return upcr_add0(p, i * (long)elem_bytes);
  return block == 1 ? upcr_add1(p, i, elem_bytes) : upcr_addb(p, i, elem_bytes, block);
}

/* ---- ordered.c */
struct rt_array {
  upcr_pts_t p;
  size_t elem_bytes, block;
};
/* The first of `count` elements that are a thread's share where all get equally many. */
size_t rt_share_begin(size_t count, size_t thread);
/* Elements lo to hi - 1 of the array into the buffer in their order, or from there (store). */
void rt_array_range(const struct rt_array *a, size_t lo, size_t hi, void *buffer, bool store);
/* Memory; ends the job where there is none; what: the caller's purpose. */
void *rt_room(size_t bytes, const char *what);

/* A type that reductions are of: *a = *a op *b; func where op is OP_FUNC or OP_NONCOMM. */
typedef void rt_combine(void *a, const void *b, upc_op_t op, void (*func)(void));
struct rt_kind {
  size_t bytes;
  rt_combine *combine;
};
#endif
