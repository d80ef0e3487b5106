/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * <bupc_collectivev.h>: collectives on values of private memory.
 *
 * Included by UPC programs. Calls: libtombolo-upc. TYPE is a scalar type for reductions, any type
 * for moves; the variable v is an lvalue; root -1 means all.
 */
#ifndef BUPC_COLLECTIVEV_H
#define BUPC_COLLECTIVEV_H

#include <stddef.h>
#include <upc_collective.h>
#include <upc_types.h>

/* Page bupc_allv_reduce: collectives on values of private memory in UPC.
 * They are macros with a value. [in] TYPE: a scalar type for reductions, any type for others.
 * [in] v: the value of this thread. [in] root: a thread, the same on all; -1: all threads.
 * [in] op: UPC_ADD or another operation. [in] src: values in the root's private memory, one for
 * each thread. [out] dst: private memory for a value of each thread. [in] tothread: the thread
 * that gets v.
 * Completion: at return.
 * Threads: collective.
 * Errors: an operation that the type does not have ends the job with a message.
 * Cost: one collective of the library.
 * See: upc_all_reduceI, upc_op_t */
#define BUPC_COLLECTIVEV_VERSION_MAJOR 1 /* version of this interface */
#define BUPC_COLLECTIVEV_VERSION_MINOR 2 /* version of this interface */

void upcr_allv_reduce(void *result, const void *value, int type, int root, upc_op_t op);
void upcr_allv_prefix(void *result, const void *value, int type, upc_op_t op);
void upcr_allv_broadcast(void *result, const void *value, size_t bytes, int root);
void upcr_allv_scatter(void *result, const void *src, size_t bytes, int root);
void upcr_allv_gather(void *dst, const void *value, size_t bytes, int root);
void upcr_allv_permute(void *result, const void *value, size_t bytes, int to);

#define UPCR_TYPE_CODE(TYPE)              \
 _Generic((TYPE)0, char                   \
          : UPC_CHAR, signed char         \
          : UPC_CHAR, unsigned char       \
          : UPC_UCHAR, short              \
          : UPC_SHORT, unsigned short     \
          : UPC_USHORT, int               \
          : UPC_INT, unsigned int         \
          : UPC_UINT, long                \
          : UPC_LONG, unsigned long       \
          : UPC_ULONG, long long          \
          : UPC_LLONG, unsigned long long \
          : UPC_ULLONG, float             \
          : UPC_FLOAT, double             \
          : UPC_DOUBLE, long double       \
          : UPC_LDOUBLE)

/* Gives the combination of all threads' values; also on threads other than root. */
#define bupc_allv_reduce(TYPE, v, root, op)                               \
 ({                                                                       \
TYPE upcr_a_ = (v), upcr_r_ = upcr_a_;                                    \
upcr_allv_reduce(&upcr_r_, &upcr_a_, UPCR_TYPE_CODE(TYPE), (root), (op)); \
upcr_r_;                                                                  \
 })
/* Gives the combination of all threads' values on each thread. */
#define bupc_allv_reduce_all(TYPE, v, op) bupc_allv_reduce(TYPE, v, -1, op)
/* Gives the combination of the values of threads 0 to this one. */
#define bupc_allv_prefix_reduce(TYPE, v, op)                      \
 ({                                                               \
TYPE upcr_a_ = (v), upcr_r_ = upcr_a_;                            \
upcr_allv_prefix(&upcr_r_, &upcr_a_, UPCR_TYPE_CODE(TYPE), (op)); \
upcr_r_;                                                          \
 })
/* Gives root's value. */
#define bupc_allv_broadcast(TYPE, v, root)                     \
 ({                                                            \
TYPE upcr_a_ = (v), upcr_r_;                                   \
upcr_allv_broadcast(&upcr_r_, &upcr_a_, sizeof(TYPE), (root)); \
upcr_r_;                                                       \
 })
/* Gives src[MYTHREAD] of root. */
#define bupc_allv_scatter(TYPE, root, src)                \
 ({                                                       \
TYPE upcr_r_;                                             \
upcr_allv_scatter(&upcr_r_, (src), sizeof(TYPE), (root)); \
upcr_r_;                                                  \
 })
/* Gives dst. Root's dst[i] becomes the value of thread i. */
#define bupc_allv_gather(TYPE, v, root, dst)               \
 ({                                                        \
TYPE upcr_a_ = (v), *upcr_d_ = (dst);                      \
upcr_allv_gather(upcr_d_, &upcr_a_, sizeof(TYPE), (root)); \
upcr_d_;                                                   \
 })
/* Gives dst. On all threads dst[i] becomes the value of thread i. */
#define bupc_allv_gather_all(TYPE, v, dst) bupc_allv_gather(TYPE, v, -1, dst)
/* Gives the value of the thread that named this one as tothread. */
#define bupc_allv_permute(TYPE, v, tothread)                     \
 ({                                                              \
TYPE upcr_a_ = (v), upcr_r_;                                     \
upcr_allv_permute(&upcr_r_, &upcr_a_, sizeof(TYPE), (tothread)); \
upcr_r_;                                                         \
 })

#ifndef MIN
/* The lesser of two values. [in] a: a value. [in] b: a value. */
# define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef MAX
/* The greater of two values. [in] a: a value. [in] b: a value. */
# define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

#endif
