/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * <upc_atomic.h>: atomic operations (UPC 1.3 library, atomics).
 *
 * Included by UPC programs. Functions: libtombolo-upc. Operations are atomic with each other within
 * a domain; fetch, op1 and op2 point to private memory.
 */
#ifndef UPC_ATOMIC_H
#define UPC_ATOMIC_H

#include <stddef.h>
#include <upc_types.h>

#define UPC_GET   (1UL << 9)
#define UPC_SET   (1UL << 10)
#define UPC_CSWAP (1UL << 11)
#define UPC_SUB   (1UL << 12)
#define UPC_INC   (1UL << 13)
#define UPC_DEC   (1UL << 14)

typedef int upc_atomichint_t;
#define UPC_ATOMIC_HINT_DEFAULT    0
#define UPC_ATOMIC_HINT_LATENCY    1
#define UPC_ATOMIC_HINT_THROUGHPUT 2

#define UPC_ATOMIC_SUCCESS         0

typedef shared struct upcr_atomicdomain upc_atomicdomain_t;

upc_atomicdomain_t *upc_all_atomicdomain_alloc(upc_type_t type, upc_op_t ops,
                                               upc_atomichint_t hints);
void upc_all_atomicdomain_free(upc_atomicdomain_t *domain);
void upc_atomic_strict(upc_atomicdomain_t *domain, void *restrict fetch_ptr, upc_op_t op,
                       shared void *restrict target, const void *restrict operand1,
                       const void *restrict operand2);
void upc_atomic_relaxed(upc_atomicdomain_t *domain, void *restrict fetch_ptr, upc_op_t op,
                        shared void *restrict target, const void *restrict operand1,
                        const void *restrict operand2);
int upc_atomic_isfast(upc_type_t type, upc_op_t ops, shared void *addr);

#endif
