/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/tools/tools_ctype.h: character classification that takes any char (API reference 09,
 * section 12).
 *
 * Owns gasnett_isalnum ... gasnett_toupper: as the C library's, but a negative char is read as its
 * unsigned value instead of being undefined; EOF gives 0, or EOF for the conversions.
 * GASNETT_USE_CTYPE_WRAPPERS=0 maps the names to the C library itself. Included by gasnet_tools.h
 * except in LITE mode. Each also exists as an exported symbol.
 */
#ifndef GEXX_TOOLS_CTYPE_H
#define GEXX_TOOLS_CTYPE_H

#include "tools_config.h"

#include <ctype.h>

/* Page gasnett_isalnum: GASNet-Tools: kinds of characters.
 * As the calls of the C library without gasnett_, but a negative char is read as its unsigned
 * value.
 * [in] c: a char or an unsigned char, or EOF.
 * Names: GASNETT_USE_CTYPE_WRAPPERS: the program may define it as 0: the names are the C library's
 * calls;
 * gasnett_isascii: whether c is a 7-bit character;
 * gasnett_toascii: the low 7 bits of c;
 * gasnett_tolower, gasnett_toupper: as the C library's call, EOF gives EOF;
 * gasnett_is*: as the C library's call, EOF gives 0
 * Completion: the calls return at once.
 * Threads: any thread, any context.
 * Errors: none.
 * Cost: that of the C library's call.
 * See: gasnett_config */

#ifndef GASNETT_USE_CTYPE_WRAPPERS
# define GASNETT_USE_CTYPE_WRAPPERS 1
#endif

GEXX_CASTS_BEGIN
#ifdef __cplusplus
extern "C" {
#endif

/* In the C library only with POSIX features, so always ours: 7-bit test and truncation. */
GEXX_TOOLS_INLINE int gasnett_isascii(int c) {
  return (c & ~0x7f) == 0;
}
GEXX_TOOLS_INLINE int gasnett_toascii(int c) {
  return c & 0x7f;
}

#if GASNETT_USE_CTYPE_WRAPPERS
/* clang-format off */
#define GEXX_TOOLS_CTYPE(fn, eof) \
  GEXX_TOOLS_INLINE int gasnett_##fn(int c) { return c == EOF ? (eof) : fn((unsigned char)c); }
GEXX_TOOLS_CTYPE(isalnum, 0)
GEXX_TOOLS_CTYPE(isalpha, 0)
GEXX_TOOLS_CTYPE(isblank, 0)
GEXX_TOOLS_CTYPE(iscntrl, 0)
GEXX_TOOLS_CTYPE(isdigit, 0)
GEXX_TOOLS_CTYPE(isgraph, 0)
GEXX_TOOLS_CTYPE(islower, 0)
GEXX_TOOLS_CTYPE(isprint, 0)
GEXX_TOOLS_CTYPE(ispunct, 0)
GEXX_TOOLS_CTYPE(isspace, 0)
GEXX_TOOLS_CTYPE(isupper, 0)
GEXX_TOOLS_CTYPE(isxdigit, 0)
GEXX_TOOLS_CTYPE(tolower, EOF)
GEXX_TOOLS_CTYPE(toupper, EOF)
/* clang-format on */
#else
# define gasnett_isalnum(c)  isalnum(c)
# define gasnett_isalpha(c)  isalpha(c)
# define gasnett_isblank(c)  isblank(c)
# define gasnett_iscntrl(c)  iscntrl(c)
# define gasnett_isdigit(c)  isdigit(c)
# define gasnett_isgraph(c)  isgraph(c)
# define gasnett_islower(c)  islower(c)
# define gasnett_isprint(c)  isprint(c)
# define gasnett_ispunct(c)  ispunct(c)
# define gasnett_isspace(c)  isspace(c)
# define gasnett_isupper(c)  isupper(c)
# define gasnett_isxdigit(c) isxdigit(c)
# define gasnett_tolower(c)  tolower(c)
# define gasnett_toupper(c)  toupper(c)
#endif

#ifdef __cplusplus
}
#endif
GEXX_CASTS_END

#endif
