/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shmem/atomic.h: atomic memory operations (OpenSHMEM 1.6, 9.7).
 *
 * Owns: prototypes, made from the lists of types. Included by shmem.h. Calls nothing. Invariant:
 * each routine has a form with a context in front, whose name begins with shmem_ctx_.
 */
#ifndef SHMEM_ATOMIC_H
#define SHMEM_ATOMIC_H

/* Page shmem_atomic_add: atomic memory operations.
 * Each routine changes or reads one symmetric word of a PE in one step. All contexts, and local
 * accesses by these routines and by waits, see it so.
 * [in] ctx: the context; without it the default context.
 * [in,out] dest: the word, symmetric, by its local address.
 * [in] source: the word that is read.
 * [in] cond: what the word must equal for compare_swap.
 * [in] value: the operand.
 * [out] fetch: where an nbi form stores the value before.
 * [in] pe: the PE, in the team of the context.
 * Completion: routines that fetch return with the value before. The others may return earlier;
 * shmem_quiet completes them, and the nbi forms.
 * Threads: any thread, as the thread level allows.
 * Errors: as shmem_put.
 * Cost: one instruction where the PE shares memory with the caller, else a message and its answer.
 * Example: examples/shmem/hash_table.c shmem_atomic_add(
 * See: shmem_put, shmem_quiet, shmem_wait_until
 * Names: shmem_*_atomic_fetch, shmem_*_atomic_set: read, write;
 * shmem_*_atomic_swap, shmem_*_atomic_compare_swap: exchange, always or where the word equals cond;
 * shmem_*_atomic_inc, shmem_*_atomic_add: add 1, add value;
 * shmem_*_atomic_and, shmem_*_atomic_or, shmem_*_atomic_xor: bitwise;
 * shmem_*_atomic_fetch_*: the same, and the value before;
 * shmem_*_atomic_*_nbi: the same without waiting */

#define SHMEM_DECLARE_(PRE, CTX, N, T)                                  \
 T PRE##N##_atomic_fetch(CTX const T *source, int pe);                  \
 void PRE##N##_atomic_set(CTX T *dest, T value, int pe);                \
 T PRE##N##_atomic_swap(CTX T *dest, T value, int pe);                  \
 void PRE##N##_atomic_fetch_nbi(CTX T *fetch, const T *source, int pe); \
 void PRE##N##_atomic_swap_nbi(CTX T *fetch, T *dest, T value, int pe);
#define SHMEM_DECLARE_BOTH_(N, T)            \
 SHMEM_DECLARE_(shmem_, SHMEM_NO_CTX_, N, T) \
 SHMEM_DECLARE_(shmem_ctx_, SHMEM_CTX_ARG_, N, T)
SHMEM_TYPES_AMO_EXT_(SHMEM_DECLARE_BOTH_)
#undef SHMEM_DECLARE_

#define SHMEM_DECLARE_(PRE, CTX, N, T)                                                  \
 T PRE##N##_atomic_compare_swap(CTX T *dest, T cond, T value, int pe);                  \
 T PRE##N##_atomic_fetch_inc(CTX T *dest, int pe);                                      \
 T PRE##N##_atomic_fetch_add(CTX T *dest, T value, int pe);                             \
 void PRE##N##_atomic_inc(CTX T *dest, int pe);                                         \
 void PRE##N##_atomic_add(CTX T *dest, T value, int pe);                                \
 void PRE##N##_atomic_compare_swap_nbi(CTX T *fetch, T *dest, T cond, T value, int pe); \
 void PRE##N##_atomic_fetch_inc_nbi(CTX T *fetch, T *dest, int pe);                     \
 void PRE##N##_atomic_fetch_add_nbi(CTX T *fetch, T *dest, T value, int pe);
SHMEM_TYPES_AMO_(SHMEM_DECLARE_BOTH_)
#undef SHMEM_DECLARE_

#define SHMEM_DECLARE_(PRE, CTX, N, T)                                       \
 T PRE##N##_atomic_fetch_and(CTX T *dest, T value, int pe);                  \
 T PRE##N##_atomic_fetch_or(CTX T *dest, T value, int pe);                   \
 T PRE##N##_atomic_fetch_xor(CTX T *dest, T value, int pe);                  \
 void PRE##N##_atomic_and(CTX T *dest, T value, int pe);                     \
 void PRE##N##_atomic_or(CTX T *dest, T value, int pe);                      \
 void PRE##N##_atomic_xor(CTX T *dest, T value, int pe);                     \
 void PRE##N##_atomic_fetch_and_nbi(CTX T *fetch, T *dest, T value, int pe); \
 void PRE##N##_atomic_fetch_or_nbi(CTX T *fetch, T *dest, T value, int pe);  \
 void PRE##N##_atomic_fetch_xor_nbi(CTX T *fetch, T *dest, T value, int pe);
SHMEM_TYPES_AMO_BIT_(SHMEM_DECLARE_BOTH_)
#undef SHMEM_DECLARE_
#undef SHMEM_DECLARE_BOTH_

#endif
