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

#define BUPC_COLLECTIVEV_VERSION_MAJOR 1
#define BUPC_COLLECTIVEV_VERSION_MINOR 2

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

#define bupc_allv_reduce(TYPE, v, root, op)                               \
 ({                                                                       \
TYPE upcr_a_ = (v), upcr_r_ = upcr_a_;                                    \
upcr_allv_reduce(&upcr_r_, &upcr_a_, UPCR_TYPE_CODE(TYPE), (root), (op)); \
upcr_r_;                                                                  \
 })
#define bupc_allv_reduce_all(TYPE, v, op) bupc_allv_reduce(TYPE, v, -1, op)
#define bupc_allv_prefix_reduce(TYPE, v, op)                      \
 ({                                                               \
TYPE upcr_a_ = (v), upcr_r_ = upcr_a_;                            \
upcr_allv_prefix(&upcr_r_, &upcr_a_, UPCR_TYPE_CODE(TYPE), (op)); \
upcr_r_;                                                          \
 })
#define bupc_allv_broadcast(TYPE, v, root)                     \
 ({                                                            \
TYPE upcr_a_ = (v), upcr_r_;                                   \
upcr_allv_broadcast(&upcr_r_, &upcr_a_, sizeof(TYPE), (root)); \
upcr_r_;                                                       \
 })
#define bupc_allv_scatter(TYPE, root, src)                \
 ({                                                       \
TYPE upcr_r_;                                             \
upcr_allv_scatter(&upcr_r_, (src), sizeof(TYPE), (root)); \
upcr_r_;                                                  \
 })
#define bupc_allv_gather(TYPE, v, root, dst)               \
 ({                                                        \
TYPE upcr_a_ = (v), *upcr_d_ = (dst);                      \
upcr_allv_gather(upcr_d_, &upcr_a_, sizeof(TYPE), (root)); \
upcr_d_;                                                   \
 })
#define bupc_allv_gather_all(TYPE, v, dst) bupc_allv_gather(TYPE, v, -1, dst)
#define bupc_allv_permute(TYPE, v, tothread)                     \
 ({                                                              \
TYPE upcr_a_ = (v), upcr_r_;                                     \
upcr_allv_permute(&upcr_r_, &upcr_a_, sizeof(TYPE), (tothread)); \
upcr_r_;                                                         \
 })

#ifndef MIN
# define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef MAX
# define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

#endif
