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

/* Page upc_atomic_strict: atomic operations of UPC.
 * [in] domain: made for the operation and the type of target. [in] type: UPC_INT, UPC_DOUBLE or
 * another type with 4 or 8 bytes, or UPC_PTS. [in] ops: the operations, joined by |. [in] hints:
 * a value UPC_ATOMIC_HINT_; it changes nothing. [out] fetch_ptr: gets the old value; may be
 * NULL. [in] op: UPC_ADD, UPC_CSWAP or another operation. [in,out] target: the object that is
 * changed. [in] operand1: the operand; of UPC_CSWAP the expected value. [in] operand2: of
 * UPC_CSWAP the new value. [in] addr: an object.
 * Completion: an operation is complete when the call returns.
 * Threads: the calls with all in their name are collective, the others are called by one thread.
 * Errors: an operation or a type that the domain was not made for ends the job with a message,
 * and so does a type without atomic operations.
 * Cost: on the same host an instruction of the processor; between hosts a round trip.
 * See: upc_lock, upc_op_t, bupc_atomicI64_fetchadd_strict */
/* Operations beside UPC_ADD and the like. */
#define UPC_GET   (1UL << 9)  /* read */
#define UPC_SET   (1UL << 10) /* write */
#define UPC_CSWAP (1UL << 11) /* write operand2 if operand1 is there */
#define UPC_SUB   (1UL << 12) /* subtract */
#define UPC_INC   (1UL << 13) /* add one */
#define UPC_DEC   (1UL << 14) /* subtract one */

typedef int upc_atomichint_t;        /* preference of a program */
#define UPC_ATOMIC_HINT_DEFAULT    0 /* no preference */
#define UPC_ATOMIC_HINT_LATENCY    1 /* short times of single operations */
#define UPC_ATOMIC_HINT_THROUGHPUT 2 /* many operations a second */

#define UPC_ATOMIC_SUCCESS         0 /* a result of older drafts of the standard */

typedef shared struct upcr_atomicdomain upc_atomicdomain_t; /* a domain */

/* Makes a domain. Returns it. */
upc_atomicdomain_t *upc_all_atomicdomain_alloc(upc_type_t type, upc_op_t ops,
                                               upc_atomichint_t hints);
/* Frees a domain. Null is ignored. */
void upc_all_atomicdomain_free(upc_atomicdomain_t *domain);
/* Operates on target, in order with all accesses of the thread. */
void upc_atomic_strict(upc_atomicdomain_t *domain, void *restrict fetch_ptr, upc_op_t op,
                       shared void *restrict target, const void *restrict operand1,
                       const void *restrict operand2);
/* Operates on target as a relaxed access. */
void upc_atomic_relaxed(upc_atomicdomain_t *domain, void *restrict fetch_ptr, upc_op_t op,
                        shared void *restrict target, const void *restrict operand1,
                        const void *restrict operand2);
/* Returns 1 if operations on addr need no network, else 0. */
int upc_atomic_isfast(upc_type_t type, upc_op_t ops, shared void *addr);

#endif
