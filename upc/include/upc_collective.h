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

/* Page upc_all_broadcast: move data between all threads of UPC.
 * [out] dst: shared memory that gets the data. [in] src: shared memory that the data come from;
 * it does not overlap dst. [in] nbytes: bytes of one block. [in] flags: UPC_IN_ and UPC_OUT_
 * values.
 * Completion: as the flags say (upc_op_t). Without flags, no thread returns before all are done.
 * Threads: collective; all threads give equal arguments.
 * Errors: a number in perm that is no thread ends the job with a message.
 * Cost: that of the collective of the library, which chooses its algorithm by size and distance.
 * See: upc_all_reduceI, upc_op_t, gex_Coll_BroadcastNB */
/* Copies the block at src to each thread's block of dst. */
void upc_all_broadcast(shared void *restrict dst, shared const void *restrict src, size_t nbytes,
                       upc_flag_t flags);
/* Copies block i at src, which lies on one thread, to the block of dst on thread i. */
void upc_all_scatter(shared void *restrict dst, shared const void *restrict src, size_t nbytes,
                     upc_flag_t flags);
/* Copies the block of src on thread i to block i at dst, which lies on one thread. */
void upc_all_gather(shared void *restrict dst, shared const void *restrict src, size_t nbytes,
                    upc_flag_t flags);
/* Copies the block of src on thread i to block i of dst on every thread. */
void upc_all_gather_all(shared void *restrict dst, shared const void *restrict src, size_t nbytes,
                        upc_flag_t flags);
/* Copies block i of src on thread j to block j of dst on thread i. */
void upc_all_exchange(shared void *restrict dst, shared const void *restrict src, size_t nbytes,
                      upc_flag_t flags);
/* Copies the block of src on thread i to the block of dst on thread perm[i]. [in] perm: one number
 * on each thread; each thread is named once. */
void upc_all_permute(shared void *restrict dst, shared const void *restrict src,
                     shared const int *restrict perm, size_t nbytes, upc_flag_t flags);

/* Page upc_all_sort: sort a shared array.
 * [in,out] A: the array. [in] elem_size: bytes of an element. [in] nelems: number of elements.
 * [in] blk_size: elements of a block; 0: all lie on one thread. [in] func: compares two
 * elements: below 0, 0 or above 0, as that of qsort. [in] flags: UPC_IN_ and UPC_OUT_ values.
 * Completion: as the flags say (upc_op_t).
 * Threads: collective; all threads give equal arguments.
 * Errors: no shared memory for a copy of the array ends the job with a message.
 * Cost: each thread sorts its part; then parts are merged. Needs as much shared memory as the
 * array.
 * See: upc_all_broadcast, study/apps */
/* Sorts the elements in place, the least first. */
void upc_all_sort(shared void *A, size_t elem_size, size_t nelems, size_t blk_size,
                  int (*func)(shared void *, shared void *), upc_flag_t flags);

/* Page upc_all_reduceI: reductions of shared arrays in UPC.
 * The letters at the end of a name are the type: C signed char, UC unsigned char, S short, US
 * unsigned short, I int, UI unsigned int, L long, UL unsigned long, F float, D double, LD long
 * double. [out] dst: shared memory that gets the result. [in] src: the array. [in] op: UPC_ADD,
 * UPC_MIN or another operation, UPC_FUNC or UPC_NONCOMM_FUNC. [in] nelems: number of elements.
 * [in] blk_size: elements of a block; 0: all lie on one thread. [in] func: the operation, if op
 * is UPC_FUNC or UPC_NONCOMM_FUNC. [in] flags: UPC_IN_ and UPC_OUT_ values.
 * Completion: as the flags say (upc_op_t). Without flags, no thread returns before all are done.
 * Threads: collective; all threads give equal arguments.
 * Errors: an operation that the type does not have ends the job with a message.
 * Cost: each thread reduces its part; then results are combined in the library's order.
 * Names: upc_all_reduce*: combines all elements; the result is one element at dst;
 * upc_all_prefix_reduce*: element i of dst is the combination of elements 0 to i of src;
 * bupc_all_reduce_all*: as upc_all_reduce, and dst gets the result on every thread
 * See: upc_all_broadcast, upc_op_t, bupc_allv_reduce */
#define UPC_FUNC         (1UL << 16) /* func, whose operands may change places */
#define UPC_NONCOMM_FUNC (1UL << 17) /* func, whose operands keep their order */

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
/* Reduces an array. */
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
