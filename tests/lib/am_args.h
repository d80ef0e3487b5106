/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists for programs that write code for every argument count 0..16: TEST_EACH_NARGS(X) expands
 * X(0) .. X(16); TEST_PARAMS_n is ", gex_AM_Arg_t a0, ..."; TEST_NAMES_n is ", a0, ...";
 * TEST_ARGS_n is ", ARG(0), ..." for a macro ARG(i) of the program. TEST_CALL(f, ...) calls f,
 * which may be a macro, once these lists are expanded.
 */
#ifndef TMB_TEST_AM_ARGS_H
#define TMB_TEST_AM_ARGS_H

#define TEST_CALL(f, ...) f(__VA_ARGS__)

#define TEST_PARAMS_0
#define TEST_PARAMS_1  , gex_AM_Arg_t a0
#define TEST_PARAMS_2  TEST_PARAMS_1, gex_AM_Arg_t a1
#define TEST_PARAMS_3  TEST_PARAMS_2, gex_AM_Arg_t a2
#define TEST_PARAMS_4  TEST_PARAMS_3, gex_AM_Arg_t a3
#define TEST_PARAMS_5  TEST_PARAMS_4, gex_AM_Arg_t a4
#define TEST_PARAMS_6  TEST_PARAMS_5, gex_AM_Arg_t a5
#define TEST_PARAMS_7  TEST_PARAMS_6, gex_AM_Arg_t a6
#define TEST_PARAMS_8  TEST_PARAMS_7, gex_AM_Arg_t a7
#define TEST_PARAMS_9  TEST_PARAMS_8, gex_AM_Arg_t a8
#define TEST_PARAMS_10 TEST_PARAMS_9, gex_AM_Arg_t a9
#define TEST_PARAMS_11 TEST_PARAMS_10, gex_AM_Arg_t a10
#define TEST_PARAMS_12 TEST_PARAMS_11, gex_AM_Arg_t a11
#define TEST_PARAMS_13 TEST_PARAMS_12, gex_AM_Arg_t a12
#define TEST_PARAMS_14 TEST_PARAMS_13, gex_AM_Arg_t a13
#define TEST_PARAMS_15 TEST_PARAMS_14, gex_AM_Arg_t a14
#define TEST_PARAMS_16 TEST_PARAMS_15, gex_AM_Arg_t a15

#define TEST_NAMES_0
#define TEST_NAMES_1  , a0
#define TEST_NAMES_2  TEST_NAMES_1, a1
#define TEST_NAMES_3  TEST_NAMES_2, a2
#define TEST_NAMES_4  TEST_NAMES_3, a3
#define TEST_NAMES_5  TEST_NAMES_4, a4
#define TEST_NAMES_6  TEST_NAMES_5, a5
#define TEST_NAMES_7  TEST_NAMES_6, a6
#define TEST_NAMES_8  TEST_NAMES_7, a7
#define TEST_NAMES_9  TEST_NAMES_8, a8
#define TEST_NAMES_10 TEST_NAMES_9, a9
#define TEST_NAMES_11 TEST_NAMES_10, a10
#define TEST_NAMES_12 TEST_NAMES_11, a11
#define TEST_NAMES_13 TEST_NAMES_12, a12
#define TEST_NAMES_14 TEST_NAMES_13, a13
#define TEST_NAMES_15 TEST_NAMES_14, a14
#define TEST_NAMES_16 TEST_NAMES_15, a15

#define TEST_ARGS_0
#define TEST_ARGS_1  , ARG(0)
#define TEST_ARGS_2  TEST_ARGS_1, ARG(1)
#define TEST_ARGS_3  TEST_ARGS_2, ARG(2)
#define TEST_ARGS_4  TEST_ARGS_3, ARG(3)
#define TEST_ARGS_5  TEST_ARGS_4, ARG(4)
#define TEST_ARGS_6  TEST_ARGS_5, ARG(5)
#define TEST_ARGS_7  TEST_ARGS_6, ARG(6)
#define TEST_ARGS_8  TEST_ARGS_7, ARG(7)
#define TEST_ARGS_9  TEST_ARGS_8, ARG(8)
#define TEST_ARGS_10 TEST_ARGS_9, ARG(9)
#define TEST_ARGS_11 TEST_ARGS_10, ARG(10)
#define TEST_ARGS_12 TEST_ARGS_11, ARG(11)
#define TEST_ARGS_13 TEST_ARGS_12, ARG(12)
#define TEST_ARGS_14 TEST_ARGS_13, ARG(13)
#define TEST_ARGS_15 TEST_ARGS_14, ARG(14)
#define TEST_ARGS_16 TEST_ARGS_15, ARG(15)

#define TEST_EACH_NARGS(X) \
 X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16)

#endif
