/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/words.h: casts that clients expand, and the words of an address in two arguments of a
 * message.
 *
 * Included by helpers.h, with which existing clients expect these names. Includes the C header of
 * the types. Invariant: macros only. C++ clients get no warning of a cast in them, because
 * compilers take this file for a part of the system. A name that the client has defined is left
 * alone.
 */
#ifndef GEXX_WORDS_H
#define GEXX_WORDS_H

#ifdef __cplusplus
# pragma GCC system_header
#endif

#include <stdint.h>

#define GEXX_POINTER(value) ((void *)(value))

/* Page gasnet_words: an address or a number of 64 bits as two arguments of a message.
 * [in] hi, lo: the upper and the lower 32 bits.
 * [in] word: an address, or a number of 64 bits.
 * Names: GASNETI_MAKEWORD: the number of 64 bits;
 * GASNETI_HIWORD, GASNETI_LOWORD: its upper and its lower 32 bits, as a uint32_t
 * Completion: macros; nothing runs.
 * Threads: any thread.
 * Errors: none.
 * Cost: none. Each argument is evaluated once.
 * See: gasnet_helpers, gex_AM_RequestShort */
#ifndef GASNETI_MAKEWORD
# define GASNETI_MAKEWORD(hi, lo) ((uint64_t)(uint32_t)(hi) << 32 | (uint32_t)(lo))
#endif
#ifndef GASNETI_HIWORD
# define GASNETI_HIWORD(word) ((uint32_t)((uint64_t)(uintptr_t)(word) >> 32))
#endif
#ifndef GASNETI_LOWORD
# define GASNETI_LOWORD(word) ((uint32_t)(uintptr_t)(word))
#endif

#endif
