/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/am/am_each.h: counts the arguments of a macro, and casts each of them.
 *
 * Included by inline_am.h. Used by the unsuffixed active-message macros, in C and in C++. A cast
 * takes what a C++ template would refuse: an object that cannot be copied but can be converted, as
 * std::atomic<int>, and in C++98 a value of an enumeration without a name.
 * Invariants: 1 to 19 arguments; every argument is expanded once; no name but GEXX_*.
 */
#ifndef GEXX_AM_EACH_H
#define GEXX_AM_EACH_H

/* Compilers then warn neither of variadic macros in C++98 nor of a cast where a macro is used. */
#ifdef __cplusplus
# pragma GCC system_header
#endif

/* One argument of a message. */
#define GEXX_I(arg) (gex_AM_Arg_t)(arg)

#define GEXX_NARGS(...) \
 GEXX_NARGS_(__VA_ARGS__, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define GEXX_NARGS_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, \
                    a18, a19, a20, N, ...)                                                      \
 N
#define GEXX_PASTE(a, b)        GEXX_PASTE_(a, b)
#define GEXX_PASTE_(a, b)       a##b
#define GEXX_EACH(T, ...)       GEXX_PASTE(GEXX_EACH_, GEXX_NARGS(__VA_ARGS__))(T, __VA_ARGS__)
#define GEXX_EACH_1(T, a)       (T)(a)
#define GEXX_EACH_2(T, a, ...)  (T)(a), GEXX_EACH_1(T, __VA_ARGS__)
#define GEXX_EACH_3(T, a, ...)  (T)(a), GEXX_EACH_2(T, __VA_ARGS__)
#define GEXX_EACH_4(T, a, ...)  (T)(a), GEXX_EACH_3(T, __VA_ARGS__)
#define GEXX_EACH_5(T, a, ...)  (T)(a), GEXX_EACH_4(T, __VA_ARGS__)
#define GEXX_EACH_6(T, a, ...)  (T)(a), GEXX_EACH_5(T, __VA_ARGS__)
#define GEXX_EACH_7(T, a, ...)  (T)(a), GEXX_EACH_6(T, __VA_ARGS__)
#define GEXX_EACH_8(T, a, ...)  (T)(a), GEXX_EACH_7(T, __VA_ARGS__)
#define GEXX_EACH_9(T, a, ...)  (T)(a), GEXX_EACH_8(T, __VA_ARGS__)
#define GEXX_EACH_10(T, a, ...) (T)(a), GEXX_EACH_9(T, __VA_ARGS__)
#define GEXX_EACH_11(T, a, ...) (T)(a), GEXX_EACH_10(T, __VA_ARGS__)
#define GEXX_EACH_12(T, a, ...) (T)(a), GEXX_EACH_11(T, __VA_ARGS__)
#define GEXX_EACH_13(T, a, ...) (T)(a), GEXX_EACH_12(T, __VA_ARGS__)
#define GEXX_EACH_14(T, a, ...) (T)(a), GEXX_EACH_13(T, __VA_ARGS__)
#define GEXX_EACH_15(T, a, ...) (T)(a), GEXX_EACH_14(T, __VA_ARGS__)
#define GEXX_EACH_16(T, a, ...) (T)(a), GEXX_EACH_15(T, __VA_ARGS__)
#define GEXX_EACH_17(T, a, ...) (T)(a), GEXX_EACH_16(T, __VA_ARGS__)
#define GEXX_EACH_18(T, a, ...) (T)(a), GEXX_EACH_17(T, __VA_ARGS__)
#define GEXX_EACH_19(T, a, ...) (T)(a), GEXX_EACH_18(T, __VA_ARGS__)

/* first, a0, ... -> first, (T)(a0), ... */
#define GEXX_TAIL(T, ...)                                                                  \
 GEXX_NARGS_(__VA_ARGS__, GEXX_TAIL_N, GEXX_TAIL_N, GEXX_TAIL_N, GEXX_TAIL_N, GEXX_TAIL_N, \
             GEXX_TAIL_N, GEXX_TAIL_N, GEXX_TAIL_N, GEXX_TAIL_N, GEXX_TAIL_N, GEXX_TAIL_N, \
             GEXX_TAIL_N, GEXX_TAIL_N, GEXX_TAIL_N, GEXX_TAIL_N, GEXX_TAIL_N, GEXX_TAIL_N, \
             GEXX_TAIL_N, GEXX_TAIL_N, GEXX_TAIL_1, GEXX_TAIL_1)                           \
 (T, __VA_ARGS__)
#define GEXX_TAIL_1(T, first)      first
#define GEXX_TAIL_N(T, first, ...) first, GEXX_EACH(T, __VA_ARGS__)

#endif
