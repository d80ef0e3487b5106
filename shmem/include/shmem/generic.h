/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shmem/generic.h: names without a type, by generic selection of C11.
 *
 * Owns: macros. Included by shmem.h in C11 and later. Calls the typed routines. Invariants: a
 * first argument of type shmem_ctx_t selects the form with a context; a type that no list has
 * selects nothing, and the compiler says so. Type names are those of the plain types of C, so that
 * int32_t selects the routine of int.
 */
#ifndef SHMEM_GENERIC_H
#define SHMEM_GENERIC_H

#define SHMEM_1ST_(a, ...)    (a)
#define SHMEM_2ND_(a, b, ...) (b)
/* Arguments that no type of the list fits are passed to this: one struct, so no call fits it. */
struct shmem_no_such_type_;
void shmem_no_such_type_(struct shmem_no_such_type_ *unfit);

/* An association for each type of a list: T * selects PRE##N##POST, also T const * and volatile. */
#define SHMEM_PICK_(PRE, N, T, POST) \
 T * : PRE##N##POST, const T * : PRE##N##POST, volatile T * : PRE##N##POST,
#define SHMEM_ASSOC_(LIST, PRE, POST) SHMEM_ASSOC_##LIST##_(PRE, POST)
#define SHMEM_ASSOC_WORD_(PRE, POST)          \
 SHMEM_PICK_(PRE, int, int, POST)             \
 SHMEM_PICK_(PRE, long, long, POST)           \
 SHMEM_PICK_(PRE, longlong, long long, POST)  \
 SHMEM_PICK_(PRE, uint, unsigned int, POST)   \
 SHMEM_PICK_(PRE, ulong, unsigned long, POST) \
 SHMEM_PICK_(PRE, ulonglong, unsigned long long, POST)
#define SHMEM_ASSOC_SHORT_(PRE, POST) \
 SHMEM_ASSOC_WORD_(PRE, POST)         \
 SHMEM_PICK_(PRE, short, short, POST) \
 SHMEM_PICK_(PRE, ushort, unsigned short, POST)
#define SHMEM_ASSOC_EXT_(PRE, POST)   \
 SHMEM_ASSOC_WORD_(PRE, POST)         \
 SHMEM_PICK_(PRE, float, float, POST) \
 SHMEM_PICK_(PRE, double, double, POST)
#define SHMEM_ASSOC_RMA_(PRE, POST)              \
 SHMEM_ASSOC_EXT_(PRE, POST)                     \
 SHMEM_PICK_(PRE, longdouble, long double, POST) \
 SHMEM_PICK_(PRE, char, char, POST)              \
 SHMEM_PICK_(PRE, schar, signed char, POST)      \
 SHMEM_PICK_(PRE, uchar, unsigned char, POST)    \
 SHMEM_PICK_(PRE, short, short, POST)            \
 SHMEM_PICK_(PRE, ushort, unsigned short, POST)
#define SHMEM_ASSOC_SUM_(PRE, POST)               \
 SHMEM_ASSOC_RMA_(PRE, POST)                      \
 SHMEM_PICK_(PRE, complexf, float _Complex, POST) \
 SHMEM_PICK_(PRE, complexd, double _Complex, POST)
#define SHMEM_ASSOC_BIT_(PRE, POST)                    \
 SHMEM_PICK_(PRE, uint, unsigned int, POST)            \
 SHMEM_PICK_(PRE, ulong, unsigned long, POST)          \
 SHMEM_PICK_(PRE, ulonglong, unsigned long long, POST) \
 SHMEM_PICK_(PRE, int32, int, POST)                    \
 SHMEM_PICK_(PRE, int64, SHMEM_INT64_PLAIN_, POST)
#define SHMEM_ASSOC_BITS_(PRE, POST)            \
 SHMEM_ASSOC_BIT_(PRE, POST)                    \
 SHMEM_PICK_(PRE, uchar, unsigned char, POST)   \
 SHMEM_PICK_(PRE, ushort, unsigned short, POST) \
 SHMEM_PICK_(PRE, int8, signed char, POST)      \
 SHMEM_PICK_(PRE, int16, short, POST)
#define SHMEM_ASSOC_OLD_(PRE, POST) \
 SHMEM_PICK_(PRE, int, int, POST)   \
 SHMEM_PICK_(PRE, long, long, POST) \
 SHMEM_PICK_(PRE, longlong, long long, POST)
#define SHMEM_ASSOC_OLDX_(PRE, POST)  \
 SHMEM_ASSOC_OLD_(PRE, POST)          \
 SHMEM_PICK_(PRE, float, float, POST) \
 SHMEM_PICK_(PRE, double, double, POST)

/* By the first argument, or, where that is a context, by the second. */
#define SHMEM_CTX_GENERIC_(LIST, POST, ...)                                                      \
 _Generic(SHMEM_1ST_(__VA_ARGS__, 0), SHMEM_ASSOC_(LIST, shmem_, POST) shmem_ctx_t               \
          : _Generic(SHMEM_2ND_(__VA_ARGS__, 0, 0), SHMEM_ASSOC_(LIST, shmem_ctx_, POST) default \
                     : shmem_no_such_type_))(__VA_ARGS__)
/* By the first argument; by the second. */
#define SHMEM_1ST_GENERIC_(LIST, POST, ...)                                    \
 _Generic(SHMEM_1ST_(__VA_ARGS__, 0), SHMEM_ASSOC_(LIST, shmem_, POST) default \
          : shmem_no_such_type_)(__VA_ARGS__)
#define SHMEM_2ND_GENERIC_(LIST, POST, ...)                                       \
 _Generic(SHMEM_2ND_(__VA_ARGS__, 0, 0), SHMEM_ASSOC_(LIST, shmem_, POST) default \
          : shmem_no_such_type_)(__VA_ARGS__)

#define shmem_put(...)            SHMEM_CTX_GENERIC_(RMA, _put, __VA_ARGS__)
#define shmem_get(...)            SHMEM_CTX_GENERIC_(RMA, _get, __VA_ARGS__)
#define shmem_put_nbi(...)        SHMEM_CTX_GENERIC_(RMA, _put_nbi, __VA_ARGS__)
#define shmem_get_nbi(...)        SHMEM_CTX_GENERIC_(RMA, _get_nbi, __VA_ARGS__)
#define shmem_p(...)              SHMEM_CTX_GENERIC_(RMA, _p, __VA_ARGS__)
#define shmem_g(...)              SHMEM_CTX_GENERIC_(RMA, _g, __VA_ARGS__)
#define shmem_iput(...)           SHMEM_CTX_GENERIC_(RMA, _iput, __VA_ARGS__)
#define shmem_iget(...)           SHMEM_CTX_GENERIC_(RMA, _iget, __VA_ARGS__)
#define shmem_ibput(...)          SHMEM_CTX_GENERIC_(RMA, _ibput, __VA_ARGS__)
#define shmem_ibget(...)          SHMEM_CTX_GENERIC_(RMA, _ibget, __VA_ARGS__)
#define shmem_put_signal(...)     SHMEM_CTX_GENERIC_(RMA, _put_signal, __VA_ARGS__)
#define shmem_put_signal_nbi(...) SHMEM_CTX_GENERIC_(RMA, _put_signal_nbi, __VA_ARGS__)
#define shmem_signal_set(...)                     \
 _Generic(SHMEM_1ST_(__VA_ARGS__, 0), shmem_ctx_t \
          : shmem_ctx_signal_set, default         \
          : shmem_signal_set)(__VA_ARGS__)
#define shmem_signal_add(...)                     \
 _Generic(SHMEM_1ST_(__VA_ARGS__, 0), shmem_ctx_t \
          : shmem_ctx_signal_add, default         \
          : shmem_signal_add)(__VA_ARGS__)

#define shmem_atomic_fetch(...)        SHMEM_CTX_GENERIC_(EXT, _atomic_fetch, __VA_ARGS__)
#define shmem_atomic_set(...)          SHMEM_CTX_GENERIC_(EXT, _atomic_set, __VA_ARGS__)
#define shmem_atomic_swap(...)         SHMEM_CTX_GENERIC_(EXT, _atomic_swap, __VA_ARGS__)
#define shmem_atomic_compare_swap(...) SHMEM_CTX_GENERIC_(WORD, _atomic_compare_swap, __VA_ARGS__)
#define shmem_atomic_fetch_inc(...)    SHMEM_CTX_GENERIC_(WORD, _atomic_fetch_inc, __VA_ARGS__)
#define shmem_atomic_fetch_add(...)    SHMEM_CTX_GENERIC_(WORD, _atomic_fetch_add, __VA_ARGS__)
#define shmem_atomic_inc(...)          SHMEM_CTX_GENERIC_(WORD, _atomic_inc, __VA_ARGS__)
#define shmem_atomic_add(...)          SHMEM_CTX_GENERIC_(WORD, _atomic_add, __VA_ARGS__)
#define shmem_atomic_fetch_and(...)    SHMEM_CTX_GENERIC_(BIT, _atomic_fetch_and, __VA_ARGS__)
#define shmem_atomic_fetch_or(...)     SHMEM_CTX_GENERIC_(BIT, _atomic_fetch_or, __VA_ARGS__)
#define shmem_atomic_fetch_xor(...)    SHMEM_CTX_GENERIC_(BIT, _atomic_fetch_xor, __VA_ARGS__)
#define shmem_atomic_and(...)          SHMEM_CTX_GENERIC_(BIT, _atomic_and, __VA_ARGS__)
#define shmem_atomic_or(...)           SHMEM_CTX_GENERIC_(BIT, _atomic_or, __VA_ARGS__)
#define shmem_atomic_xor(...)          SHMEM_CTX_GENERIC_(BIT, _atomic_xor, __VA_ARGS__)
#define shmem_atomic_fetch_nbi(...)    SHMEM_CTX_GENERIC_(EXT, _atomic_fetch_nbi, __VA_ARGS__)
#define shmem_atomic_swap_nbi(...)     SHMEM_CTX_GENERIC_(EXT, _atomic_swap_nbi, __VA_ARGS__)
#define shmem_atomic_compare_swap_nbi(...) \
 SHMEM_CTX_GENERIC_(WORD, _atomic_compare_swap_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_inc_nbi(...) SHMEM_CTX_GENERIC_(WORD, _atomic_fetch_inc_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_add_nbi(...) SHMEM_CTX_GENERIC_(WORD, _atomic_fetch_add_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_and_nbi(...) SHMEM_CTX_GENERIC_(BIT, _atomic_fetch_and_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_or_nbi(...)  SHMEM_CTX_GENERIC_(BIT, _atomic_fetch_or_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_xor_nbi(...) SHMEM_CTX_GENERIC_(BIT, _atomic_fetch_xor_nbi, __VA_ARGS__)

#define shmem_wait_until(...)           SHMEM_1ST_GENERIC_(SHORT, _wait_until, __VA_ARGS__)
#define shmem_wait_until_all(...)       SHMEM_1ST_GENERIC_(SHORT, _wait_until_all, __VA_ARGS__)
#define shmem_wait_until_any(...)       SHMEM_1ST_GENERIC_(SHORT, _wait_until_any, __VA_ARGS__)
#define shmem_wait_until_some(...)      SHMEM_1ST_GENERIC_(SHORT, _wait_until_some, __VA_ARGS__)
#define shmem_wait_until_all_vector(...) \
 SHMEM_1ST_GENERIC_(SHORT, _wait_until_all_vector, __VA_ARGS__)
#define shmem_wait_until_any_vector(...) \
 SHMEM_1ST_GENERIC_(SHORT, _wait_until_any_vector, __VA_ARGS__)
#define shmem_wait_until_some_vector(...) \
 SHMEM_1ST_GENERIC_(SHORT, _wait_until_some_vector, __VA_ARGS__)
#define shmem_test(...)             SHMEM_1ST_GENERIC_(SHORT, _test, __VA_ARGS__)
#define shmem_test_all(...)         SHMEM_1ST_GENERIC_(SHORT, _test_all, __VA_ARGS__)
#define shmem_test_any(...)         SHMEM_1ST_GENERIC_(SHORT, _test_any, __VA_ARGS__)
#define shmem_test_some(...)        SHMEM_1ST_GENERIC_(SHORT, _test_some, __VA_ARGS__)
#define shmem_test_all_vector(...)  SHMEM_1ST_GENERIC_(SHORT, _test_all_vector, __VA_ARGS__)
#define shmem_test_any_vector(...)  SHMEM_1ST_GENERIC_(SHORT, _test_any_vector, __VA_ARGS__)
#define shmem_test_some_vector(...) SHMEM_1ST_GENERIC_(SHORT, _test_some_vector, __VA_ARGS__)

#define shmem_broadcast(...)        SHMEM_2ND_GENERIC_(RMA, _broadcast, __VA_ARGS__)
#define shmem_collect(...)          SHMEM_2ND_GENERIC_(RMA, _collect, __VA_ARGS__)
#define shmem_fcollect(...)         SHMEM_2ND_GENERIC_(RMA, _fcollect, __VA_ARGS__)
#define shmem_alltoall(...)         SHMEM_2ND_GENERIC_(RMA, _alltoall, __VA_ARGS__)
#define shmem_alltoalls(...)        SHMEM_2ND_GENERIC_(RMA, _alltoalls, __VA_ARGS__)
#define shmem_and_reduce(...)       SHMEM_2ND_GENERIC_(BITS, _and_reduce, __VA_ARGS__)
#define shmem_or_reduce(...)        SHMEM_2ND_GENERIC_(BITS, _or_reduce, __VA_ARGS__)
#define shmem_xor_reduce(...)       SHMEM_2ND_GENERIC_(BITS, _xor_reduce, __VA_ARGS__)
#define shmem_max_reduce(...)       SHMEM_2ND_GENERIC_(RMA, _max_reduce, __VA_ARGS__)
#define shmem_min_reduce(...)       SHMEM_2ND_GENERIC_(RMA, _min_reduce, __VA_ARGS__)
#define shmem_sum_reduce(...)       SHMEM_2ND_GENERIC_(SUM, _sum_reduce, __VA_ARGS__)
#define shmem_prod_reduce(...)      SHMEM_2ND_GENERIC_(SUM, _prod_reduce, __VA_ARGS__)
#define shmem_sum_inscan(...)       SHMEM_2ND_GENERIC_(SUM, _sum_inscan, __VA_ARGS__)
#define shmem_sum_exscan(...)       SHMEM_2ND_GENERIC_(SUM, _sum_exscan, __VA_ARGS__)
#define shmem_sync(...)                            \
 _Generic(SHMEM_1ST_(__VA_ARGS__, 0), shmem_team_t \
          : shmem_team_sync, default               \
          : shmem_sync)(__VA_ARGS__)

#define shmem_fetch(...) SHMEM_1ST_GENERIC_(OLDX, _fetch, __VA_ARGS__)
#define shmem_set(...)   SHMEM_1ST_GENERIC_(OLDX, _set, __VA_ARGS__)
#define shmem_swap(...)  SHMEM_1ST_GENERIC_(OLDX, _swap, __VA_ARGS__)
#define shmem_cswap(...) SHMEM_1ST_GENERIC_(OLD, _cswap, __VA_ARGS__)
#define shmem_finc(...)  SHMEM_1ST_GENERIC_(OLD, _finc, __VA_ARGS__)
#define shmem_fadd(...)  SHMEM_1ST_GENERIC_(OLD, _fadd, __VA_ARGS__)
#define shmem_inc(...)   SHMEM_1ST_GENERIC_(OLD, _inc, __VA_ARGS__)
#define shmem_add(...)   SHMEM_1ST_GENERIC_(OLD, _add, __VA_ARGS__)

#endif
