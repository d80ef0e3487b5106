/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shmem/wait.h: point-to-point synchronisation (OpenSHMEM 1.6, 9.10).
 *
 * Owns: prototypes, made from the list of types. Included by shmem.h. Calls nothing. Invariant: a
 * wait acquires: what the peer wrote before the word is visible after it.
 */
#ifndef SHMEM_WAIT_H
#define SHMEM_WAIT_H

/* Page shmem_wait_until: waits and tests for symmetric words of this PE.
 * A wait returns when words compare as asked. A test says whether they do, and drives progress.
 * The forms for arrays leave out elements whose status is not 0.
 * [in] ivar, ivars: the word, the words, of this PE.
 * [in] nelems: words.
 * [out] indices: [nelems] which words compare as asked.
 * [in] status: [nelems] 0: the word counts; NULL: all count.
 * [in] cmp: SHMEM_CMP_EQ, NE, GT, GE, LT or LE.
 * [in] cmp_value, cmp_values: what each word is compared with: one value, or [nelems].
 * Completion: a wait returns when its condition holds; a test returns at once.
 * Threads: any thread, as the thread level allows; several may wait for one word.
 * Errors: a wait for a PE that is lost does not end by itself.
 * Cost: one load when the condition holds. A wait spins, yields, then sleeps until it is woken.
 * Example: examples/shmem/stencil.c shmem_signal_wait_until(
 * See: shmem_atomic_set, shmem_put
 * Names: shmem_*_wait_until, shmem_*_test: one word;
 * shmem_*_wait_until_all, shmem_*_test_all: all words;
 * shmem_*_wait_until_any, shmem_*_test_any: the index of one of them, SIZE_MAX: none;
 * shmem_*_wait_until_some, shmem_*_test_some: how many, and which;
 * shmem_*_vector: with a value for each word */

#define SHMEM_DECLARE_(N, T)                                                                      \
 void shmem_##N##_wait_until(T *ivar, int cmp, T cmp_value);                                      \
 int shmem_##N##_test(T *ivar, int cmp, T cmp_value);                                             \
 void shmem_##N##_wait_until_all(T *ivars, size_t nelems, const int *status, int cmp,             \
                                 T cmp_value);                                                    \
 size_t shmem_##N##_wait_until_any(T *ivars, size_t nelems, const int *status, int cmp,           \
                                   T cmp_value);                                                  \
 size_t shmem_##N##_wait_until_some(T *ivars, size_t nelems, size_t *indices, const int *status,  \
                                    int cmp, T cmp_value);                                        \
 void shmem_##N##_wait_until_all_vector(T *ivars, size_t nelems, const int *status, int cmp,      \
                                        const T *cmp_values);                                     \
 size_t shmem_##N##_wait_until_any_vector(T *ivars, size_t nelems, const int *status, int cmp,    \
                                          const T *cmp_values);                                   \
 size_t shmem_##N##_wait_until_some_vector(T *ivars, size_t nelems, size_t *indices,              \
                                           const int *status, int cmp, const T *cmp_values);      \
 int shmem_##N##_test_all(T *ivars, size_t nelems, const int *status, int cmp, T cmp_value);      \
 size_t shmem_##N##_test_any(T *ivars, size_t nelems, const int *status, int cmp, T cmp_value);   \
 size_t shmem_##N##_test_some(T *ivars, size_t nelems, size_t *indices, const int *status,        \
                              int cmp, T cmp_value);                                              \
 int shmem_##N##_test_all_vector(T *ivars, size_t nelems, const int *status, int cmp,             \
                                 const T *cmp_values);                                            \
 size_t shmem_##N##_test_any_vector(T *ivars, size_t nelems, const int *status, int cmp,          \
                                    const T *cmp_values);                                         \
 size_t shmem_##N##_test_some_vector(T *ivars, size_t nelems, size_t *indices, const int *status, \
                                     int cmp, const T *cmp_values);
SHMEM_TYPES_WAIT_(SHMEM_DECLARE_)
#undef SHMEM_DECLARE_

#endif
