/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/tools/tools_annotations.h: compiler annotations (API reference 09, section 8).
 *
 * Owns GASNETT_INLINE ... GASNETT_IDENT, the prediction and assumption macros, and the
 * GASNETT_USE_* switches: each is 1 when the compiler has the feature unless the client defined it
 * before, 0 switches that feature off. Included by gasnet_tools.h after tools_config.h. Calls
 * gexx_tools_current_loc and gasnett_fatalerror (debug). Invariant: with every switch at 0 each
 * macro still compiles in the documented form; each evaluates its arguments once.
 */
#ifndef GEXX_TOOLS_ANNOTATIONS_H
#define GEXX_TOOLS_ANNOTATIONS_H

#include "tools_config.h"

/* Page gasnett_annotations: GASNet-Tools: words for the compiler.
 * Each word says something to compilers that understand it, and is empty or harmless elsewhere. A
 * program may define the switch of a feature, GASNETT_USE_*, as 0 before the header to do without
 * it.
 * [in] fn: name of the function that is declared.
 * [in] declarator: the declaration without attributes.
 * [in] fmtarg: number of the parameter that is the format.
 * [in] firstvararg: number of the first parameter that is formatted.
 * [in] e: an expression; evaluated once.
 * [in] cond: a condition that always holds.
 * [in] a1, a2, a3, a4, a5, a6, a7, a8: parameters that the function does not use.
 * [in] name: a name that is unique in the program.
 * [in] text: a string literal.
 * Names: GASNETT_USE_*: switch of the feature, 0 or 1;
 * GASNETT_INLINE: begins a function that is to be inlined;
 * GASNETT_NEVER_INLINE: a function that is not to be inlined;
 * GASNETT_RESTRICT: restrict, where the compiler has it;
 * GASNETT_FORMAT_PRINTF, GASNETT_FORMAT_PRINTF_FUNCPTR, GASNETT_FORMAT_PRINTF_FUNCPTR_ARG: a
 * function, or pointer to one, whose arguments printf formats;
 * GASNETT_NORETURN: the function does not return;
 * GASNETT_NORETURNP, GASNETT_MALLOCP, GASNETT_PUREP, GASNETT_CONSTP: empty, for compilers that
 * need a pragma;
 * GASNETT_MALLOC: the result is new memory;
 * GASNETT_PURE: the result depends on arguments and memory only;
 * GASNETT_CONST: the result depends on the arguments only;
 * GASNETT_HOT: the function runs often;
 * GASNETT_COLD: the function runs rarely;
 * GASNETT_DEPRECATED: a use draws a warning;
 * GASNETT_WARN_UNUSED_RESULT: a result that is not used draws a warning;
 * GASNETT_USED: the object is kept though nothing refers to it;
 * GASNETT_PREDICT_TRUE, GASNETT_PREDICT_FALSE: the expression, with a hint that it is mostly true
 * or false;
 * gasnett_constant_p: 1 when the compiler knows the value;
 * gasnett_unreachable: says that this place is never reached, checked in debug programs;
 * gasnett_assume: says that the condition holds, checked in debug programs;
 * GASNETT_FALLTHROUGH: a case that goes on with the next one on purpose;
 * GASNETT_UNUSED_ARGS*: the parameters are not used on purpose;
 * GASNETT_CURRENT_FUNCTION: name of the function;
 * GASNETT_BEGIN_EXTERNC, GASNETT_END_EXTERNC: around declarations of C;
 * GASNETT_EXTERNC: before one declaration of C
 * Completion: most are words for the compiler; nothing runs.
 * Threads: any thread, any context.
 * Errors: in debug programs gasnett_unreachable and gasnett_assume end the process with a message
 * that names the place.
 * Cost: none.
 * See: gasnett_config */

#ifdef __cplusplus
# define GASNETT_BEGIN_EXTERNC extern "C" {
# define GASNETT_END_EXTERNC   }
# define GASNETT_EXTERNC       extern "C"
#else
# define GASNETT_BEGIN_EXTERNC
# define GASNETT_END_EXTERNC
# define GASNETT_EXTERNC extern
#endif

#ifdef __has_attribute
# define GEXX_TOOLS_HAS_ATTRIBUTE(x) __has_attribute(x)
#else
# define GEXX_TOOLS_HAS_ATTRIBUTE(x) 0
#endif
#ifdef __has_builtin
# define GEXX_TOOLS_HAS_BUILTIN(x) __has_builtin(x)
#else
# define GEXX_TOOLS_HAS_BUILTIN(x) 0
#endif

/* --- switches --- */
#ifndef GASNETT_USE_GCC_ATTRIBUTE_ALWAYSINLINE
# define GASNETT_USE_GCC_ATTRIBUTE_ALWAYSINLINE 1
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_NOINLINE
# define GASNETT_USE_GCC_ATTRIBUTE_NOINLINE 1
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_MALLOC
# define GASNETT_USE_GCC_ATTRIBUTE_MALLOC 1
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_WARNUNUSEDRESULT
# define GASNETT_USE_GCC_ATTRIBUTE_WARNUNUSEDRESULT 1
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_USED
# define GASNETT_USE_GCC_ATTRIBUTE_USED 1
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_MAYALIAS
# define GASNETT_USE_GCC_ATTRIBUTE_MAYALIAS 1
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_NORETURN
# define GASNETT_USE_GCC_ATTRIBUTE_NORETURN 1
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_PURE
# define GASNETT_USE_GCC_ATTRIBUTE_PURE 1
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_CONST
# define GASNETT_USE_GCC_ATTRIBUTE_CONST 1
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_HOT
# define GASNETT_USE_GCC_ATTRIBUTE_HOT 1
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_COLD
# define GASNETT_USE_GCC_ATTRIBUTE_COLD 1
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_DEPRECATED
# define GASNETT_USE_GCC_ATTRIBUTE_DEPRECATED 1
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_FALLTHROUGH
# if GEXX_TOOLS_HAS_ATTRIBUTE(__fallthrough__)
#  define GASNETT_USE_GCC_ATTRIBUTE_FALLTHROUGH 1
# else
#  define GASNETT_USE_GCC_ATTRIBUTE_FALLTHROUGH 0
# endif
#endif
#ifndef GASNETT_USE_CXX11_ATTRIBUTE_FALLTHROUGH
# if defined(__cplusplus) && __cplusplus >= 201703L
#  define GASNETT_USE_CXX11_ATTRIBUTE_FALLTHROUGH 1
# else
#  define GASNETT_USE_CXX11_ATTRIBUTE_FALLTHROUGH 0
# endif
#endif
#ifndef GASNETT_USE_CXX11_ATTRIBUTE_CLANG__FALLTHROUGH
# define GASNETT_USE_CXX11_ATTRIBUTE_CLANG__FALLTHROUGH 0
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_FORMAT
# define GASNETT_USE_GCC_ATTRIBUTE_FORMAT 1
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_FORMAT_FUNCPTR
# define GASNETT_USE_GCC_ATTRIBUTE_FORMAT_FUNCPTR 1
#endif
#ifndef GASNETT_USE_GCC_ATTRIBUTE_FORMAT_FUNCPTR_ARG
# define GASNETT_USE_GCC_ATTRIBUTE_FORMAT_FUNCPTR_ARG 1
#endif
#ifndef GASNETT_USE_BUILTIN_CONSTANT_P
# define GASNETT_USE_BUILTIN_CONSTANT_P 1
#endif
#ifndef GASNETT_USE_BUILTIN_PREFETCH
# define GASNETT_USE_BUILTIN_PREFETCH 1
#endif
#ifndef GASNETT_USE_BUILTIN_EXPECT
# define GASNETT_USE_BUILTIN_EXPECT 1
#endif
#ifndef GASNETT_USE_BUILTIN_UNREACHABLE
# define GASNETT_USE_BUILTIN_UNREACHABLE 1
#endif
#ifndef GASNETT_USE_BUILTIN_ASSUME /* clang's builtin does not evaluate its argument: only on \
                                      request */
# define GASNETT_USE_BUILTIN_ASSUME 0
#endif
#ifndef GASNETT_USE_ASSUME
# define GASNETT_USE_ASSUME 1
#endif
#ifndef GASNETT_USE_RESTRICT_ON_TYPEDEFS
# define GASNETT_USE_RESTRICT_ON_TYPEDEFS 1
#endif
#ifndef GASNETT_USE_PRAGMA_GCC_DIAGNOSTIC
# define GASNETT_USE_PRAGMA_GCC_DIAGNOSTIC 1
#endif

/* GASNETT_USE_RESTRICT may be 0, 1, empty, or the keyword itself. */
#define GEXX_TOOLS_RESTRICT__IS
#define GEXX_TOOLS_RESTRICT_0_IS
#define GEXX_TOOLS_RESTRICT_1_IS            __restrict__
#define GEXX_TOOLS_RESTRICT_restrict_IS     __restrict__
#define GEXX_TOOLS_RESTRICT___restrict_IS   __restrict__
#define GEXX_TOOLS_RESTRICT___restrict___IS __restrict__
#define GEXX_TOOLS_RESTRICT_FOR_(how)       GEXX_TOOLS_RESTRICT_##how##_IS
#define GEXX_TOOLS_RESTRICT_FOR(how)        GEXX_TOOLS_RESTRICT_FOR_(how)
#ifndef GASNETT_USE_RESTRICT
# define GASNETT_USE_RESTRICT __restrict__
#endif
#define GASNETT_RESTRICT GEXX_TOOLS_RESTRICT_FOR(GASNETT_USE_RESTRICT)

/* --- attributes of functions and objects --- */
#if GEXX_TOOLS_DEBUG
# define GASNETT_INLINE(fn) static __attribute__((__unused__))
#elif GASNETT_USE_GCC_ATTRIBUTE_ALWAYSINLINE
# define GASNETT_INLINE(fn) static __inline__ __attribute__((__unused__, __always_inline__))
#else
# define GASNETT_INLINE(fn) static __inline__ __attribute__((__unused__))
#endif

#if GASNETT_USE_GCC_ATTRIBUTE_NOINLINE
# define GASNETT_NEVER_INLINE(fn, declarator) __attribute__((__noinline__)) declarator
#else
# define GASNETT_NEVER_INLINE(fn, declarator) declarator
#endif

#if GASNETT_USE_GCC_ATTRIBUTE_FORMAT
# define GASNETT_FORMAT_PRINTF(fn, fmtarg, firstvararg, declarator) \
  __attribute__((__format__(__printf__, fmtarg, firstvararg))) declarator
#else
# define GASNETT_FORMAT_PRINTF(fn, fmtarg, firstvararg, declarator) declarator
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_FORMAT_FUNCPTR
# define GASNETT_FORMAT_PRINTF_FUNCPTR(fn, fmtarg, firstvararg, declarator) \
  __attribute__((__format__(__printf__, fmtarg, firstvararg))) declarator
#else
# define GASNETT_FORMAT_PRINTF_FUNCPTR(fn, fmtarg, firstvararg, declarator) declarator
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_FORMAT_FUNCPTR_ARG
# define GASNETT_FORMAT_PRINTF_FUNCPTR_ARG(fn, fmtarg, firstvararg, declarator) \
  __attribute__((__format__(__printf__, fmtarg, firstvararg))) declarator
#else
# define GASNETT_FORMAT_PRINTF_FUNCPTR_ARG(fn, fmtarg, firstvararg, declarator) declarator
#endif

#if GASNETT_USE_GCC_ATTRIBUTE_NORETURN
# define GASNETT_NORETURN __attribute__((__noreturn__))
#else
# define GASNETT_NORETURN
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_MALLOC
# define GASNETT_MALLOC __attribute__((__malloc__))
#else
# define GASNETT_MALLOC
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_PURE
# define GASNETT_PURE __attribute__((__pure__))
#else
# define GASNETT_PURE
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_CONST
# define GASNETT_CONST __attribute__((__const__))
#else
# define GASNETT_CONST
#endif
/* For compilers that need a pragma after the declaration; gcc and clang need none. */
#define GASNETT_NORETURNP(fn)
#define GASNETT_MALLOCP(fn)
#define GASNETT_PUREP(fn)
#define GASNETT_CONSTP(fn)

#if GASNETT_USE_GCC_ATTRIBUTE_HOT
# define GASNETT_HOT __attribute__((__hot__))
#else
# define GASNETT_HOT
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_COLD
# define GASNETT_COLD __attribute__((__cold__))
#else
# define GASNETT_COLD
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_DEPRECATED
# define GASNETT_DEPRECATED __attribute__((__deprecated__))
#else
# define GASNETT_DEPRECATED
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_WARNUNUSEDRESULT
# define GASNETT_WARN_UNUSED_RESULT __attribute__((__warn_unused_result__))
#else
# define GASNETT_WARN_UNUSED_RESULT
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_USED
# define GASNETT_USED __attribute__((__used__))
#else
# define GASNETT_USED
#endif
#if GASNETT_USE_GCC_ATTRIBUTE_MAYALIAS
# define GEXX_TOOLS_MAY_ALIAS __attribute__((__may_alias__))
#else
# define GEXX_TOOLS_MAY_ALIAS
#endif

/* --- prediction and assumption --- */
#if GASNETT_USE_BUILTIN_EXPECT
# define GASNETT_PREDICT_TRUE(e)  __builtin_expect(!!(e), 1)
# define GASNETT_PREDICT_FALSE(e) __builtin_expect(!!(e), 0)
#else
# define GASNETT_PREDICT_TRUE(e)  (!!(e))
# define GASNETT_PREDICT_FALSE(e) (!!(e))
#endif

#if GASNETT_USE_BUILTIN_CONSTANT_P
# define gasnett_constant_p(e) __builtin_constant_p(e)
#else
# define gasnett_constant_p(e) 0
#endif

#if GEXX_TOOLS_DEBUG
# define gasnett_unreachable() \
  gexx_tools_unreachable(GASNETT_CURRENT_FUNCTION, __FILE__, __LINE__, "gasnett_unreachable()")
#elif GASNETT_USE_BUILTIN_UNREACHABLE
# define gasnett_unreachable() __builtin_unreachable()
#else
# define gasnett_unreachable() ((void)0)
#endif
#if GEXX_TOOLS_DEBUG
# define gasnett_assume(cond) \
  ((cond) ? (void)0 : gexx_tools_unreachable(GASNETT_CURRENT_FUNCTION, __FILE__, __LINE__, #cond))
#elif GASNETT_USE_ASSUME && GASNETT_USE_BUILTIN_ASSUME && GEXX_TOOLS_HAS_BUILTIN(__builtin_assume)
# define gasnett_assume(cond) __builtin_assume(cond)
#elif GASNETT_USE_ASSUME && GASNETT_USE_BUILTIN_UNREACHABLE
# define gasnett_assume(cond) ((cond) ? (void)0 : __builtin_unreachable())
#else
# define gasnett_assume(cond) ((void)(cond))
#endif

/* --- forms --- */
/* Supplies its own semicolon; stands before the next case label. */
#if defined(__cplusplus) && GASNETT_USE_CXX11_ATTRIBUTE_FALLTHROUGH
# define GASNETT_FALLTHROUGH [[fallthrough]];
#elif defined(__cplusplus) && GASNETT_USE_CXX11_ATTRIBUTE_CLANG__FALLTHROUGH
# define GASNETT_FALLTHROUGH [[clang::fallthrough]];
#elif GASNETT_USE_GCC_ATTRIBUTE_FALLTHROUGH
# define GASNETT_FALLTHROUGH __attribute__((__fallthrough__));
#else
# define GASNETT_FALLTHROUGH
#endif

#define GASNETT_UNUSED_ARGS1(a1)                 ((void)(a1))
#define GASNETT_UNUSED_ARGS2(a1, a2)             ((void)(a1), (void)(a2))
#define GASNETT_UNUSED_ARGS3(a1, a2, a3)         (GASNETT_UNUSED_ARGS2(a1, a2), (void)(a3))
#define GASNETT_UNUSED_ARGS4(a1, a2, a3, a4)     (GASNETT_UNUSED_ARGS3(a1, a2, a3), (void)(a4))
#define GASNETT_UNUSED_ARGS5(a1, a2, a3, a4, a5) (GASNETT_UNUSED_ARGS4(a1, a2, a3, a4), (void)(a5))
#define GASNETT_UNUSED_ARGS6(a1, a2, a3, a4, a5, a6) \
 (GASNETT_UNUSED_ARGS5(a1, a2, a3, a4, a5), (void)(a6))
#define GASNETT_UNUSED_ARGS7(a1, a2, a3, a4, a5, a6, a7) \
 (GASNETT_UNUSED_ARGS6(a1, a2, a3, a4, a5, a6), (void)(a7))
#define GASNETT_UNUSED_ARGS8(a1, a2, a3, a4, a5, a6, a7, a8) \
 (GASNETT_UNUSED_ARGS7(a1, a2, a3, a4, a5, a6, a7), (void)(a8))

#define GASNETT_CURRENT_FUNCTION __func__
/* A fresh string from malloc: "function at file:line"; the caller frees it. */
#define gasnett_current_loc      gexx_tools_current_loc(__func__, __FILE__, __LINE__)

/* Embeds a text in the object file; `name` must be unique in the program. */
#define GASNETT_IDENT(name, text)   \
 GASNETT_EXTERNC const char name[]; \
 const char name[] __attribute__((__used__)) = text

#ifdef __cplusplus
extern "C" {
#endif

/* Ends the process: `what`, which the client assumed at this place, does not hold. */
GEXX_API void gexx_tools_unreachable(const char *func, const char *file, int line, const char *what)
    __attribute__((__noreturn__, __cold__));
/* gasnett_current_loc's text, from malloc. */
GEXX_API char *gexx_tools_current_loc(const char *func, const char *file, int line);

#ifdef __cplusplus
}
#endif

#endif
