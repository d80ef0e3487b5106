/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * <upc_collective.h>: collective operations (UPC 1.3 library section 7.3), the reductions to all of
 * older implementations, and upc_all_sort.
 *
 * Included by UPC programs. Functions: libtombolo-upc. Arguments are the same on all threads; a
 * missing IN or OUT part of the flags means ALLSYNC.
 */
#ifndef UPC_COLLECTIVE_H
#define UPC_COLLECTIVE_H

#include <stddef.h>
#include <upc_types.h>

#define UPC_FUNC         (1UL << 16)
#define UPC_NONCOMM_FUNC (1UL << 17)

void upc_all_broadcast(shared void *restrict dst, shared const void *restrict src, size_t nbytes,
                       upc_flag_t flags);
void upc_all_scatter(shared void *restrict dst, shared const void *restrict src, size_t nbytes,
                     upc_flag_t flags);
void upc_all_gather(shared void *restrict dst, shared const void *restrict src, size_t nbytes,
                    upc_flag_t flags);
void upc_all_gather_all(shared void *restrict dst, shared const void *restrict src, size_t nbytes,
                        upc_flag_t flags);
void upc_all_exchange(shared void *restrict dst, shared const void *restrict src, size_t nbytes,
                      upc_flag_t flags);
void upc_all_permute(shared void *restrict dst, shared const void *restrict src,
                     shared const int *restrict perm, size_t nbytes, upc_flag_t flags);
void upc_all_sort(shared void *A, size_t elem_size, size_t nelems, size_t blk_size,
                  int (*func)(shared void *, shared void *), upc_flag_t flags);

#define UPCR_REDUCTION(X, TYPE)                                                                  \
 void upc_all_reduce##X(shared void *restrict dst, shared const void *restrict src, upc_op_t op, \
                        size_t nelems, size_t blk_size, TYPE (*func)(TYPE, TYPE),                \
                        upc_flag_t flags);                                                       \
 void upc_all_prefix_reduce##X(shared void *restrict dst, shared const void *restrict src,       \
                               upc_op_t op, size_t nelems, size_t blk_size,                      \
                               TYPE (*func)(TYPE, TYPE), upc_flag_t flags);                      \
 void bupc_all_reduce_all##X(shared void *restrict dst, shared const void *restrict src,         \
                             upc_op_t op, size_t nelems, size_t blk_size,                        \
                             TYPE (*func)(TYPE, TYPE), upc_flag_t flags);
UPCR_REDUCTION(C, signed char)
UPCR_REDUCTION(UC, unsigned char)
UPCR_REDUCTION(S, short)
UPCR_REDUCTION(US, unsigned short)
UPCR_REDUCTION(I, int)
UPCR_REDUCTION(UI, unsigned int)
UPCR_REDUCTION(L, long)
UPCR_REDUCTION(UL, unsigned long)
UPCR_REDUCTION(F, float)
UPCR_REDUCTION(D, double)
UPCR_REDUCTION(LD, long double)
#undef UPCR_REDUCTION

#endif
