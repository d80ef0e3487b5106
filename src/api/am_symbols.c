/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The numbered active-message names as real functions: gex_AM_RequestShort0 ..
 * gasnet_AMReplyLong16.
 *
 * Called by programs in languages that cannot use the macros of tombolo/am/am_numbered.h, and
 * through dlsym. Calls the unsuffixed public forms, so that packing is written once
 * (tombolo/am/inline_am.h). Expands am_symbols.def for each argument count.
 * Invariants: compiled without the numbered macros (GEXX_NO_NUMBERED); the count in a name is the
 * number of gex_AM_Arg_t parameters of that function.
 */
#define GASNET_PAR       1
#define GEXX_NO_NUMBERED 1
#include <gasnet.h>

#define TMB_CAT(a, b)     TMB_CAT_RAW(a, b)
#define TMB_CAT_RAW(a, b) a##b
#define TMB_N(name)       TMB_CAT(name, TMB_COUNT)
#define TMB_N_V2(name)    TMB_CAT(TMB_CAT(name, TMB_COUNT), _v2)

#define TMB_P0
#define TMB_P1  , gex_AM_Arg_t a0
#define TMB_P2  TMB_P1, gex_AM_Arg_t a1
#define TMB_P3  TMB_P2, gex_AM_Arg_t a2
#define TMB_P4  TMB_P3, gex_AM_Arg_t a3
#define TMB_P5  TMB_P4, gex_AM_Arg_t a4
#define TMB_P6  TMB_P5, gex_AM_Arg_t a5
#define TMB_P7  TMB_P6, gex_AM_Arg_t a6
#define TMB_P8  TMB_P7, gex_AM_Arg_t a7
#define TMB_P9  TMB_P8, gex_AM_Arg_t a8
#define TMB_P10 TMB_P9, gex_AM_Arg_t a9
#define TMB_P11 TMB_P10, gex_AM_Arg_t a10
#define TMB_P12 TMB_P11, gex_AM_Arg_t a11
#define TMB_P13 TMB_P12, gex_AM_Arg_t a12
#define TMB_P14 TMB_P13, gex_AM_Arg_t a13
#define TMB_P15 TMB_P14, gex_AM_Arg_t a14
#define TMB_P16 TMB_P15, gex_AM_Arg_t a15
#define TMB_A0
#define TMB_A1     , a0
#define TMB_A2     TMB_A1, a1
#define TMB_A3     TMB_A2, a2
#define TMB_A4     TMB_A3, a3
#define TMB_A5     TMB_A4, a4
#define TMB_A6     TMB_A5, a5
#define TMB_A7     TMB_A6, a6
#define TMB_A8     TMB_A7, a7
#define TMB_A9     TMB_A8, a8
#define TMB_A10    TMB_A9, a9
#define TMB_A11    TMB_A10, a10
#define TMB_A12    TMB_A11, a11
#define TMB_A13    TMB_A12, a12
#define TMB_A14    TMB_A13, a13
#define TMB_A15    TMB_A14, a14
#define TMB_A16    TMB_A15, a15

#define TMB_PARAMS TMB_CAT(TMB_P, TMB_COUNT)
#define TMB_ARGS   TMB_CAT(TMB_A, TMB_COUNT)

#define TMB_COUNT  0
#include "api/am_symbols.def"
#undef TMB_COUNT
#define TMB_COUNT 1
#include "api/am_symbols.def"
#undef TMB_COUNT
#define TMB_COUNT 2
#include "api/am_symbols.def"
#undef TMB_COUNT
#define TMB_COUNT 3
#include "api/am_symbols.def"
#undef TMB_COUNT
#define TMB_COUNT 4
#include "api/am_symbols.def"
#undef TMB_COUNT
#define TMB_COUNT 5
#include "api/am_symbols.def"
#undef TMB_COUNT
#define TMB_COUNT 6
#include "api/am_symbols.def"
#undef TMB_COUNT
#define TMB_COUNT 7
#include "api/am_symbols.def"
#undef TMB_COUNT
#define TMB_COUNT 8
#include "api/am_symbols.def"
#undef TMB_COUNT
#define TMB_COUNT 9
#include "api/am_symbols.def"
#undef TMB_COUNT
#define TMB_COUNT 10
#include "api/am_symbols.def"
#undef TMB_COUNT
#define TMB_COUNT 11
#include "api/am_symbols.def"
#undef TMB_COUNT
#define TMB_COUNT 12
#include "api/am_symbols.def"
#undef TMB_COUNT
#define TMB_COUNT 13
#include "api/am_symbols.def"
#undef TMB_COUNT
#define TMB_COUNT 14
#include "api/am_symbols.def"
#undef TMB_COUNT
#define TMB_COUNT 15
#include "api/am_symbols.def"
#undef TMB_COUNT
#define TMB_COUNT 16
#include "api/am_symbols.def"
#undef TMB_COUNT
