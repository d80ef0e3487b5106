/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/helpers.h: general names that existing clients expect to find after gasnetex.h or
 * gasnet_tools.h.
 *
 * Owns nothing that Tombolo itself uses: MIN, MAX, stringify and concat helpers, PRI* for size_t,
 * and a few autoconf-style facts (API reference 00, section 2.3). Included by gasnetex.h and
 * gasnet_tools.h. Includes the C headers that clients lean on. Each name is left alone when the
 * client has defined it already. MIN and MAX stay usable in constant expressions and so evaluate
 * the chosen argument twice.
 */
#ifndef GEXX_HELPERS_H
#define GEXX_HELPERS_H

#ifdef __cplusplus
# ifndef __STDC_FORMAT_MACROS
#  define __STDC_FORMAT_MACROS 1
# endif
# ifndef __STDC_LIMIT_MACROS
#  define __STDC_LIMIT_MACROS 1
# endif
# ifndef __STDC_CONSTANT_MACROS
#  define __STDC_CONSTANT_MACROS 1
# endif
#endif
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "tombolo/words.h"

/* Page gasnet_helpers: names that programs expect after the headers.
 * Each is left alone where the program has defined it before.
 * [in] x, y, a, b: arguments of the macro.
 * [in] cond: the condition.
 * Names: MIN: the smaller of two values;
 * MAX: the greater of two values;
 * _STRINGIFY, _STRINGIFY_HELPER: a string literal of the argument, expanded;
 * _CONCAT, _CONCAT_HELPER: both arguments, expanded, as one word;
 * if_pf: if, and a hint that the condition is rarely true;
 * if_pt: if, and a hint that it is mostly true;
 * PRI*SZ: format of printf for a size_t;
 * PRIuPTR, PRIdPTR, PRIxPTR: formats of inttypes.h;
 * HAVE_PTHREAD_H, HAVE_MMAP, HAVE_PTHREAD_SETCONCURRENCY: 1, the system has it;
 * HAVE_SRAND_DETERMINISTIC: never defined;
 * SIZEOF_INT, SIZEOF_LONG, SIZEOF_VOID_P: bytes of the type
 * Completion: macros; nothing runs.
 * Threads: any thread.
 * Errors: none.
 * Cost: none. MIN and MAX evaluate one argument twice.
 * See: gasnett_config */

#ifndef MIN
# define MIN(x, y) ((x) < (y) ? (x) : (y))
#endif
#ifndef MAX
# define MAX(x, y) ((x) > (y) ? (x) : (y))
#endif

#ifndef _STRINGIFY
# define _STRINGIFY_HELPER(x) # x
# define _STRINGIFY(x)        _STRINGIFY_HELPER(x)
#endif
#ifndef _CONCAT
# define _CONCAT_HELPER(a, b) a##b
# define _CONCAT(a, b)        _CONCAT_HELPER(a, b)
#endif

/* `if` with a hint: rarely true, mostly true. May be followed by else. */
#ifndef if_pf
# define if_pf(cond) if (__builtin_expect(!!(cond), 0))
#endif
#ifndef if_pt
# define if_pt(cond) if (__builtin_expect(!!(cond), 1))
#endif

#ifndef PRIuSZ
# define PRIuSZ "zu"
#endif
#ifndef PRIdSZ
# define PRIdSZ "zd"
#endif
#ifndef PRIiSZ
# define PRIiSZ "zi"
#endif
#ifndef PRIoSZ
# define PRIoSZ "zo"
#endif
#ifndef PRIXSZ
# define PRIXSZ "zX"
#endif
#ifndef PRIxSZ
# define PRIxSZ "zx"
#endif

/* True of every system that Tombolo runs on; HAVE_SRAND_DETERMINISTIC stays undefined. */
#ifndef HAVE_PTHREAD_H
# define HAVE_PTHREAD_H 1
#endif
#ifndef HAVE_MMAP
# define HAVE_MMAP 1
#endif
#ifndef HAVE_PTHREAD_SETCONCURRENCY
# define HAVE_PTHREAD_SETCONCURRENCY 1
#endif

#ifndef SIZEOF_INT
# define SIZEOF_INT __SIZEOF_INT__
#endif
#ifndef SIZEOF_LONG
# define SIZEOF_LONG __SIZEOF_LONG__
#endif
#ifndef SIZEOF_VOID_P
# define SIZEOF_VOID_P __SIZEOF_POINTER__
#endif

#endif
