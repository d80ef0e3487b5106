/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shmem/overload.h: names without a type for C++, as shmem/generic.h has them for C11.
 *
 * Owns: templates, one for each plain type of the pointer that selects the routine. Included by
 * shmem.h in C++11 and later. Calls the typed routines. Invariants: the other arguments convert as
 * in a call of the typed routine; a type that no list has fits no template, and the compiler says
 * so; NULL is a status and an index array as in C.
 */
#ifndef SHMEM_OVERLOAD_H
#define SHMEM_OVERLOAD_H

/* Arguments convert here, not in the line of the client, which is to see no warning of it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wfloat-conversion"

/* Plain types: those of <stdint.h> are among them. */
#define SHMEM_PLAIN_WORD_(X) SHMEM_TYPES_SIGNED_(X) SHMEM_TYPES_UNSIGNED_(X)
#define SHMEM_PLAIN_WAIT_(X) SHMEM_PLAIN_WORD_(X) X(short, short) X(ushort, unsigned short)
#define SHMEM_PLAIN_EXT_(X)  SHMEM_PLAIN_WORD_(X) X(float, float) X(double, double)
#define SHMEM_PLAIN_RMA_(X) \
 SHMEM_PLAIN_EXT_(X)        \
 X(longdouble, long double) \
 X(char, char)              \
 X(schar, signed char)      \
 X(uchar, unsigned char)    \
 X(short, short)            \
 X(ushort, unsigned short)
#define SHMEM_PLAIN_SUM_(X) \
 SHMEM_PLAIN_RMA_(X) X(complexf, shmem_complexf_) X(complexd, shmem_complexd_)
#define SHMEM_PLAIN_BIT_(X) \
 SHMEM_TYPES_UNSIGNED_(X)   \
 X(int32, int)              \
 X(int64, SHMEM_INT64_PLAIN_)
#define SHMEM_PLAIN_BITS_(X) \
 SHMEM_PLAIN_BIT_(X)         \
 X(uchar, unsigned char)     \
 X(ushort, unsigned short)   \
 X(int8, signed char)        \
 X(int16, short)
#define SHMEM_PLAIN_OLD_(X)  SHMEM_TYPES_SIGNED_(X)
#define SHMEM_PLAIN_OLDX_(X) SHMEM_PLAIN_OLD_(X) X(float, float) X(double, double)

/* A template of the name shmem_OP. FIRST: parameters that select, `at` the last one; PASS: the same
 * as arguments; CALL: the typed routine. */
#define SHMEM_OVERLOAD_(OP, FIRST, PASS, CALL)                                \
 template <typename... Rest>                                                  \
 inline auto shmem_##OP(FIRST, Rest... rest)->decltype(CALL(PASS, rest...)) { \
  return CALL(PASS, rest...);                                                 \
 }
#define SHMEM_COMMA_      ,
#define SHMEM_PAIR_(a, b) a SHMEM_COMMA_ b
/* By a pointer; without a context and with one. */
#define SHMEM_BY_CTX_(OP, N, P)                                                 \
 SHMEM_OVERLOAD_(OP, P *at, at, shmem_##N##_##OP)                               \
 SHMEM_OVERLOAD_(OP, SHMEM_PAIR_(shmem_ctx_t ctx, P *at), SHMEM_PAIR_(ctx, at), \
                 shmem_ctx_##N##_##OP)
/* By a pointer; by a pointer after a team. */
#define SHMEM_BY_1ST_(OP, N, T) SHMEM_OVERLOAD_(OP, T *at, at, shmem_##N##_##OP)
#define SHMEM_BY_TEAM_(OP, N, T) \
 SHMEM_OVERLOAD_(OP, SHMEM_PAIR_(shmem_team_t team, T *at), SHMEM_PAIR_(team, at), shmem_##N##_##OP)
/* Arrays of words: where `status` is NULL, its type is known. */
#define SHMEM_BY_WORDS_(OP, N, T)                                                       \
 SHMEM_OVERLOAD_(OP, SHMEM_PAIR_(T *at, SHMEM_PAIR_(size_t nelems, const int *status)), \
                 SHMEM_PAIR_(at, SHMEM_PAIR_(nelems, status)), shmem_##N##_##OP)
#define SHMEM_BY_SOME_(OP, N, T)                                                                   \
 SHMEM_OVERLOAD_(OP,                                                                               \
                 SHMEM_PAIR_(T *at, SHMEM_PAIR_(size_t nelems,                                     \
                                                SHMEM_PAIR_(size_t *indices, const int *status))), \
                 SHMEM_PAIR_(at, SHMEM_PAIR_(nelems, SHMEM_PAIR_(indices, status))),               \
                 shmem_##N##_##OP)

/* Templates for each name of a list, as many as the macro says; also with _nbi behind it. */
#define SHMEM_EACH_2_(BY, N, T, a, b)   BY(a, N, T) BY(b, N, T)
#define SHMEM_EACH_3_(BY, N, T, a, ...) BY(a, N, T) SHMEM_EACH_2_(BY, N, T, __VA_ARGS__)
#define SHMEM_EACH_4_(BY, N, T, a, ...) BY(a, N, T) SHMEM_EACH_3_(BY, N, T, __VA_ARGS__)
#define SHMEM_EACH_5_(BY, N, T, a, ...) BY(a, N, T) SHMEM_EACH_4_(BY, N, T, __VA_ARGS__)
#define SHMEM_BOTH_(OP, N, T)           SHMEM_BY_CTX_(OP, N, T) SHMEM_BY_CTX_(OP##_nbi, N, T)

#define SHMEM_RMA_OF_(N, T)                                                             \
 SHMEM_EACH_3_(SHMEM_BOTH_, N, T, put, get, put_signal)                                 \
 SHMEM_EACH_5_(SHMEM_BY_CTX_, N, T, p, iput, iget, ibput, ibget)                        \
 SHMEM_BY_CTX_(g, N, const T)                                                           \
 SHMEM_EACH_5_(SHMEM_BY_TEAM_, N, T, broadcast, collect, fcollect, alltoall, alltoalls) \
 SHMEM_EACH_2_(SHMEM_BY_TEAM_, N, T, max_reduce, min_reduce)
SHMEM_PLAIN_RMA_(SHMEM_RMA_OF_)
#define SHMEM_SUM_OF_(N, T) \
 SHMEM_EACH_4_(SHMEM_BY_TEAM_, N, T, sum_reduce, prod_reduce, sum_inscan, sum_exscan)
SHMEM_PLAIN_SUM_(SHMEM_SUM_OF_)
#define SHMEM_BITS_OF_(N, T) SHMEM_EACH_3_(SHMEM_BY_TEAM_, N, T, and_reduce, or_reduce, xor_reduce)
SHMEM_PLAIN_BITS_(SHMEM_BITS_OF_)

#define SHMEM_EXT_OF_(N, T)                                       \
 SHMEM_BY_CTX_(atomic_fetch, N, const T)                          \
 SHMEM_EACH_2_(SHMEM_BY_CTX_, N, T, atomic_fetch_nbi, atomic_set) \
 SHMEM_BOTH_(atomic_swap, N, T)
SHMEM_PLAIN_EXT_(SHMEM_EXT_OF_)
#define SHMEM_WORD_OF_(N, T)                                                               \
 SHMEM_EACH_3_(SHMEM_BOTH_, N, T, atomic_compare_swap, atomic_fetch_inc, atomic_fetch_add) \
 SHMEM_EACH_2_(SHMEM_BY_CTX_, N, T, atomic_inc, atomic_add)
SHMEM_PLAIN_WORD_(SHMEM_WORD_OF_)
#define SHMEM_BIT_OF_(N, T)                                                            \
 SHMEM_EACH_3_(SHMEM_BOTH_, N, T, atomic_fetch_and, atomic_fetch_or, atomic_fetch_xor) \
 SHMEM_EACH_3_(SHMEM_BY_CTX_, N, T, atomic_and, atomic_or, atomic_xor)
SHMEM_PLAIN_BIT_(SHMEM_BIT_OF_)

#define SHMEM_WAIT_OF_(N, T)                                                              \
 SHMEM_EACH_2_(SHMEM_BY_1ST_, N, T, wait_until, test)                                     \
 SHMEM_EACH_4_(SHMEM_BY_WORDS_, N, T, wait_until_all, wait_until_any, test_all, test_any) \
 SHMEM_EACH_4_(SHMEM_BY_WORDS_, N, T, wait_until_all_vector, wait_until_any_vector,       \
               test_all_vector, test_any_vector)                                          \
 SHMEM_EACH_4_(SHMEM_BY_SOME_, N, T, wait_until_some, wait_until_some_vector, test_some,  \
               test_some_vector)
SHMEM_PLAIN_WAIT_(SHMEM_WAIT_OF_)

#define SHMEM_OLD_OF_(N, T) SHMEM_EACH_5_(SHMEM_BY_1ST_, N, T, cswap, finc, fadd, inc, add)
SHMEM_PLAIN_OLD_(SHMEM_OLD_OF_)
#define SHMEM_OLDX_OF_(N, T)      \
 SHMEM_BY_1ST_(fetch, N, const T) \
 SHMEM_EACH_2_(SHMEM_BY_1ST_, N, T, set, swap)
SHMEM_PLAIN_OLDX_(SHMEM_OLDX_OF_)
#pragma GCC diagnostic pop

inline int shmem_sync(shmem_team_t team) {
  return shmem_team_sync(team);
}
inline void shmem_signal_set(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe) {
  shmem_ctx_signal_set(ctx, sig_addr, signal, pe);
}
inline void shmem_signal_add(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe) {
  shmem_ctx_signal_add(ctx, sig_addr, signal, pe);
}

#endif
