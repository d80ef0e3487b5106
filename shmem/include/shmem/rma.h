/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shmem/rma.h: put and get (OpenSHMEM 1.6, 9.5 and 9.6), puts with a signal (9.8).
 *
 * Owns: prototypes, made from the list of types. Included by shmem.h. Calls nothing. Invariant:
 * each routine has a form with a context in front, whose name begins with shmem_ctx_.
 */
#ifndef SHMEM_RMA_H
#define SHMEM_RMA_H

/* Page shmem_put: put and get.
 * A put copies local memory to a symmetric object of a PE; a get copies from there. Forms: typed
 * (shmem_TYPE_put), by bits of an element (shmem_putSIZE), in bytes (shmem_putmem). With a
 * context the name begins with shmem_ctx_ and the context is the first argument. C11 programs
 * write shmem_put for all typed forms.
 * [in] ctx: the context; without it the default context.
 * [out] dest: of a put, the symmetric object, by its local address; of a get, local memory.
 * [in] source: of a get, the symmetric object, by its local address; of a put, local memory.
 * [in] nelems: elements; 0 is allowed.
 * [in] dst, sst: from one element, or block, of dest or source to the next, in elements.
 * [in] bsize, nblocks: elements of a block; blocks.
 * [in] value: what to store.
 * [in] pe: the PE, in the team of the context.
 * [in] sig_addr: the signal, symmetric; [in] signal: its operand.
 * [in] sig_op: SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD.
 * [in] cmp, cmp_value: what a signal is compared with.
 * Completion: a put returns when source may be changed; shmem_quiet completes it. A get returns
 * with the data. The nbi forms return at once; shmem_quiet completes them. A signal changes after
 * the data of its put are in place.
 * Threads: any thread, as the thread level allows.
 * Errors: an address that is not symmetric, or a PE that does not exist, ends the program with a
 * message that names function, argument and value.
 * Cost: a copy where the PE shares memory with the caller, else an operation of the network.
 * See: shmem_atomic_add, shmem_quiet, shmem_wait_until
 * Names: shmem_*put*_signal, shmem_*put*_signal_nbi: a put, and a signal after it;
 * shmem_*put*_nbi, shmem_*get*_nbi: without waiting;
 * shmem_*ibput*, shmem_*ibget*: blocks of elements apart from each other;
 * shmem_*iput*, shmem_*iget*: elements apart from each other;
 * shmem_*put[0-9]*, shmem_*get[0-9]*: elements of this many bits;
 * shmem_*putmem, shmem_*getmem: bytes;
 * shmem_*_put, shmem_*_get: nelems elements;
 * shmem_*_p, shmem_*_g: one element by value;
 * shmem_signal_fetch: the value of a signal of this PE;
 * shmem_*signal_set, shmem_*signal_add: a signal without data;
 * shmem_signal_wait_until: waits until a signal of this PE compares as asked, and returns it */

#define SHMEM_DECLARE_BLOCK_(NAME, CTX, TYPE, ELEMS)                                       \
 void NAME##_put##ELEMS(CTX TYPE *dest, const TYPE *source, size_t nelems, int pe);        \
 void NAME##_get##ELEMS(CTX TYPE *dest, const TYPE *source, size_t nelems, int pe);        \
 void NAME##_put##ELEMS##_nbi(CTX TYPE *dest, const TYPE *source, size_t nelems, int pe);  \
 void NAME##_get##ELEMS##_nbi(CTX TYPE *dest, const TYPE *source, size_t nelems, int pe);  \
 void NAME##_put##ELEMS##_signal(CTX TYPE *dest, const TYPE *source, size_t nelems,        \
                                 uint64_t *sig_addr, uint64_t signal, int sig_op, int pe); \
 void NAME##_put##ELEMS##_signal_nbi(CTX TYPE *dest, const TYPE *source, size_t nelems,    \
                                     uint64_t *sig_addr, uint64_t signal, int sig_op, int pe);
#define SHMEM_DECLARE_STRIDED_(NAME, CTX, TYPE, ELEMS)                                      \
 void NAME##_iput##ELEMS(CTX TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst,  \
                         size_t nelems, int pe);                                            \
 void NAME##_iget##ELEMS(CTX TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst,  \
                         size_t nelems, int pe);                                            \
 void NAME##_ibput##ELEMS(CTX TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, \
                          size_t bsize, size_t nblocks, int pe);                            \
 void NAME##_ibget##ELEMS(CTX TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, \
                          size_t bsize, size_t nblocks, int pe);
#define SHMEM_DECLARE_VALUE_(NAME, CTX, TYPE)       \
 void NAME##_p(CTX TYPE *dest, TYPE value, int pe); \
 TYPE NAME##_g(CTX const TYPE *source, int pe);

#define SHMEM_DECLARE_(N, T)                                \
 SHMEM_DECLARE_BLOCK_(shmem_##N, SHMEM_NO_CTX_, T, )        \
 SHMEM_DECLARE_BLOCK_(shmem_ctx_##N, SHMEM_CTX_ARG_, T, )   \
 SHMEM_DECLARE_STRIDED_(shmem_##N, SHMEM_NO_CTX_, T, )      \
 SHMEM_DECLARE_STRIDED_(shmem_ctx_##N, SHMEM_CTX_ARG_, T, ) \
 SHMEM_DECLARE_VALUE_(shmem_##N, SHMEM_NO_CTX_, T)          \
 SHMEM_DECLARE_VALUE_(shmem_ctx_##N, SHMEM_CTX_ARG_, T)
SHMEM_TYPES_RMA_(SHMEM_DECLARE_)
#undef SHMEM_DECLARE_

#define SHMEM_DECLARE_(BITS, BYTES)                          \
 SHMEM_DECLARE_BLOCK_(shmem, SHMEM_NO_CTX_, void, BITS)      \
 SHMEM_DECLARE_BLOCK_(shmem_ctx, SHMEM_CTX_ARG_, void, BITS) \
 SHMEM_DECLARE_STRIDED_(shmem, SHMEM_NO_CTX_, void, BITS)    \
 SHMEM_DECLARE_STRIDED_(shmem_ctx, SHMEM_CTX_ARG_, void, BITS)
SHMEM_SIZES_(SHMEM_DECLARE_)
#undef SHMEM_DECLARE_
SHMEM_DECLARE_BLOCK_(shmem, SHMEM_NO_CTX_, void, mem)
SHMEM_DECLARE_BLOCK_(shmem_ctx, SHMEM_CTX_ARG_, void, mem)

uint64_t shmem_signal_fetch(const uint64_t *sig_addr);
uint64_t shmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value);
void shmem_signal_set(uint64_t *sig_addr, uint64_t signal, int pe);
void shmem_signal_add(uint64_t *sig_addr, uint64_t signal, int pe);
void shmem_ctx_signal_set(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe);
void shmem_ctx_signal_add(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe);

#endif
