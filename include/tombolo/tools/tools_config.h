/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/tools/tools_config.h: thread mode of a tools client, versions and configuration names.
 *
 * Owns GASNETT_THREAD_SAFE, _THREAD_SINGLE and _LITE_MODE (exactly one is 1 afterwards),
 * GASNETT_THREAD_MODEL, version and configuration macros (API reference 09, section 1) and the
 * compile-time system facts of section 11. Included first by gasnet_tools.h. Internal results:
 * GEXX_TOOLS_DEBUG (0 or 1), GEXX_TOOLS_TRUE_ATOMICS (0 or 1: several threads can exist),
 * GEXX_TOOLS_TRUE_MUTEXES (0 or 1), GEXX_TOOLS_INLINE (linkage of the inline functions:
 * src/api/tools_symbols.c redefines it to export one real symbol for each).
 */
#ifndef GEXX_TOOLS_CONFIG_H
#define GEXX_TOOLS_CONFIG_H

#include "gasnet_config.h"
#include "gasnet_portable_platform.h"
#include "tombolo/abi.h"
#include "tombolo/helpers.h"

/* Page gasnett_config: GASNet-Tools: how a program is compiled, and facts of the build.
 * A program may include gasnet_tools.h alone. It defines at most one of GASNETT_THREAD_SAFE,
 * GASNETT_THREAD_SINGLE and GASNETT_LITE_MODE. With GASNET_SEQ, GASNET_PARSYNC or GASNET_PAR the
 * mode follows from that.
 * Names: GASNETT_THREAD_SAFE: several threads may use the tools;
 * GASNETT_THREAD_SINGLE: one thread uses them;
 * GASNETT_LITE_MODE: timers, fences and annotations alone;
 * GASNETT_THREAD_MODEL: PAR, SEQ or LITE;
 * GASNETT_USE_TRUE_MUTEXES: the program may define it: 1, locks are real also in a program of one
 * thread;
 * GASNETI_FORCE_PIC: accepted, without effect;
 * GASNETT_DEBUG_CONFIG: debug or nodebug;
 * GASNETT_SPEC_VERSION_MAJOR, GASNETT_SPEC_VERSION_MINOR: version of the tools' specification;
 * GASNETT_RELEASE_VERSION_*: the release, as GASNET_RELEASE_VERSION_*;
 * GASNETT_TIMER_CONFIG: where ticks come from;
 * GASNETT_MEMBAR_CONFIG: how fences are made;
 * GASNETT_ATOMIC_CONFIG, GASNETT_ATOMIC32_CONFIG, GASNETT_ATOMIC64_CONFIG: how atomics are made;
 * GASNETT_PTR_CONFIG: 64bit or 32bit;
 * GASNETT_CONFIG_STRING: all of this as one string;
 * GASNETT_SYSTEM_TUPLE: processor and system;
 * GASNETT_CONFIGURE_ARGS: options of the build;
 * GASNETT_CONFIGURE_MISMATCH: defined when the compiler is another one than that of the library;
 * GASNETT_PLATFORM_COMPILER_*: the compiler of the library, as PLATFORM_COMPILER_*;
 * GASNETT_CACHE_LINE_BYTES: bytes of a cache line;
 * GASNETT_PAGESHIFT: logarithm of GASNETT_PAGESIZE;
 * GASNETT_PAGESIZE: bytes of a page;
 * GASNETT_LINKCONFIG_IDIOTCHECK: a variable that only this library defines;
 * _INCLUDED_GASNET_TOOLS_H: defined when gasnet_tools.h was included
 * See: gasnet_config, platform */

/* --- mode --- */
#ifdef GASNETT_THREAD_SAFE
# undef GASNETT_THREAD_SAFE
# define GASNETT_THREAD_SAFE 1
#endif
#ifdef GASNETT_THREAD_SINGLE
# undef GASNETT_THREAD_SINGLE
# define GASNETT_THREAD_SINGLE 1
#endif
#ifdef GASNETT_LITE_MODE
# undef GASNETT_LITE_MODE
# define GASNETT_LITE_MODE 1
#endif

#if defined(GASNETT_THREAD_SAFE) + defined(GASNETT_THREAD_SINGLE) + defined(GASNETT_LITE_MODE) > 1
# error "Define at most one of GASNETT_THREAD_SAFE, GASNETT_THREAD_SINGLE and GASNETT_LITE_MODE."
#endif
#if defined(GASNETT_THREAD_SAFE) && (defined(GASNET_SEQ) || defined(GASNET_PARSYNC))
# error "GASNETT_THREAD_SAFE contradicts GASNET_SEQ and GASNET_PARSYNC: use GASNET_PAR or drop it."
#endif
#if defined(GASNETT_THREAD_SINGLE) && defined(GASNET_PAR)
# error "GASNETT_THREAD_SINGLE contradicts GASNET_PAR: use GASNET_SEQ or drop it."
#endif
#if defined(GASNETT_LITE_MODE) && \
    (defined(GASNET_SEQ) || defined(GASNET_PARSYNC) || defined(GASNET_PAR))
# error "GASNETT_LITE_MODE is for clients without a conduit: drop it, or GASNET_SEQ/PARSYNC/PAR."
#endif

#if !defined(GASNETT_THREAD_SAFE) && !defined(GASNETT_THREAD_SINGLE) && !defined(GASNETT_LITE_MODE)
# if defined(GASNET_PAR)
#  define GASNETT_THREAD_SAFE 1
# elif defined(GASNET_SEQ) || defined(GASNET_PARSYNC)
#  define GASNETT_THREAD_SINGLE 1
# elif defined(_REENTRANT) || defined(_THREAD_SAFE) || defined(PTHREAD_MUTEX_INITIALIZER)
#  define GASNETT_THREAD_SAFE 1
# else
#  define GASNETT_THREAD_SINGLE 1
# endif
#endif

#if defined(GASNETT_LITE_MODE)
# define GASNETT_THREAD_MODEL LITE
#elif defined(GASNETT_THREAD_SAFE)
# define GASNETT_THREAD_MODEL PAR
#else
# define GASNETT_THREAD_MODEL SEQ
#endif

#if defined(GASNETT_THREAD_SINGLE) && !defined(GASNET_PARSYNC)
# define GEXX_TOOLS_TRUE_ATOMICS 0
#else
# define GEXX_TOOLS_TRUE_ATOMICS 1
#endif

#if defined(GASNETT_USE_TRUE_MUTEXES)
# define GEXX_TOOLS_TRUE_MUTEXES (GASNETT_USE_TRUE_MUTEXES + 0)
#elif defined(GASNETT_THREAD_SAFE)
# define GEXX_TOOLS_TRUE_MUTEXES 1
#else
# define GEXX_TOOLS_TRUE_MUTEXES 0
#endif
#if defined(GASNETT_THREAD_SAFE) && !GEXX_TOOLS_TRUE_MUTEXES
# error "GASNETT_USE_TRUE_MUTEXES=0 contradicts a threaded build: drop it."
#endif

#if defined(GASNET_DEBUG) && (GASNET_DEBUG + 0)
# define GEXX_TOOLS_DEBUG     1
# define GASNETT_DEBUG_CONFIG debug
#else
# define GEXX_TOOLS_DEBUG     0
# define GASNETT_DEBUG_CONFIG nodebug
#endif

#if defined(GASNETT_THREAD_SAFE) || GEXX_TOOLS_TRUE_MUTEXES
# include <pthread.h>
#endif

#ifndef GEXX_TOOLS_INLINE
# define GEXX_TOOLS_INLINE static __inline__ __attribute__((__unused__, __always_inline__))
#endif

/* --- versions --- */
#define GASNETT_SPEC_VERSION_MAJOR    1
#define GASNETT_SPEC_VERSION_MINOR    20
#define GASNETT_RELEASE_VERSION_MAJOR GASNET_RELEASE_VERSION_MAJOR
#define GASNETT_RELEASE_VERSION_MINOR GASNET_RELEASE_VERSION_MINOR
#define GASNETT_RELEASE_VERSION_PATCH GASNET_RELEASE_VERSION_PATCH

/* --- configuration tokens --- */
#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__)
# define GASNETT_TIMER_CONFIG timers_native
#else
# define GASNETT_TIMER_CONFIG timers_posixrt
#endif
#define GASNETT_MEMBAR_CONFIG membars_native
#if GEXX_TOOLS_TRUE_ATOMICS
# define GASNETT_ATOMIC_CONFIG   atomics_native
# define GASNETT_ATOMIC32_CONFIG atomic32_native
# define GASNETT_ATOMIC64_CONFIG atomic64_native
#else
# define GASNETT_ATOMIC_CONFIG   atomics_none
# define GASNETT_ATOMIC32_CONFIG atomic32_none
# define GASNETT_ATOMIC64_CONFIG atomic64_none
#endif
#ifdef PLATFORM_ARCH_64
# define GASNETT_PTR_CONFIG 64bit
#else
# define GASNETT_PTR_CONFIG 32bit
#endif

/* clang-format off */
#define GEXX_TOOLS_RELEASE_STR                                                                     \
 GEXX_PLATFORM_DOTTED(GASNETT_RELEASE_VERSION_MAJOR, GASNETT_RELEASE_VERSION_MINOR,                \
                      GASNETT_RELEASE_VERSION_PATCH)
#define GEXX_TOOLS_SPEC_STR                                                                        \
 GEXX_PLATFORM_STR(GASNETT_SPEC_VERSION_MAJOR) "." GEXX_PLATFORM_STR(GASNETT_SPEC_VERSION_MINOR)
#define GEXX_TOOLS_CONFIG_COMMON                                                                   \
 "RELEASE=" GEXX_TOOLS_RELEASE_STR ",SPEC=" GEXX_TOOLS_SPEC_STR                                    \
 ",PTR=" GEXX_PLATFORM_STR(GASNETT_PTR_CONFIG) "," GEXX_PLATFORM_STR(GASNETT_DEBUG_CONFIG) ","     \
 GEXX_PLATFORM_STR(GASNETT_THREAD_MODEL) "," GEXX_PLATFORM_STR(GASNETT_TIMER_CONFIG) ","           \
 GEXX_PLATFORM_STR(GASNETT_MEMBAR_CONFIG)
#ifdef GASNETT_LITE_MODE
# define GASNETT_CONFIG_STRING GEXX_TOOLS_CONFIG_COMMON
#else
# define GASNETT_CONFIG_STRING                                                                     \
  GEXX_TOOLS_CONFIG_COMMON "," GEXX_PLATFORM_STR(GASNETT_ATOMIC_CONFIG) ","                        \
  GEXX_PLATFORM_STR(GASNETT_ATOMIC32_CONFIG) "," GEXX_PLATFORM_STR(GASNETT_ATOMIC64_CONFIG)
#endif
/* clang-format on */

/*
 * Identity of the build. A build fragment (.mak, .pc) may pass what the library was built with as
 * -D flags; without them the compiler in use is named, which is right whenever client and library
 * share a compiler.
 */
#ifndef GASNETT_SYSTEM_TUPLE
# define GASNETT_SYSTEM_TUPLE \
  GEXX_PLATFORM_STR(PLATFORM_ARCH_FAMILYNAME) "-" GEXX_PLATFORM_STR(PLATFORM_OS_FAMILYNAME)
#endif
#ifndef GASNETT_CONFIGURE_ARGS
# define GASNETT_CONFIGURE_ARGS GASNETI_CONFIGURE_ARGS
#endif
#ifdef GASNETT_PLATFORM_COMPILER_ID
# if GASNETT_PLATFORM_COMPILER_ID != PLATFORM_COMPILER_ID || \
     (defined(GASNETT_PLATFORM_COMPILER_VERSION) &&          \
      GASNETT_PLATFORM_COMPILER_VERSION != PLATFORM_COMPILER_VERSION)
#  define GASNETT_CONFIGURE_MISMATCH 1
# endif
#else
# define GASNETT_PLATFORM_COMPILER_ID PLATFORM_COMPILER_ID
#endif
#ifndef GASNETT_PLATFORM_COMPILER_IDSTR
# define GASNETT_PLATFORM_COMPILER_IDSTR PLATFORM_COMPILER_IDSTR
#endif
#ifndef GASNETT_PLATFORM_COMPILER_FAMILYID
# define GASNETT_PLATFORM_COMPILER_FAMILYID PLATFORM_COMPILER_FAMILYID
#endif
#ifndef GASNETT_PLATFORM_COMPILER_VERSION
# define GASNETT_PLATFORM_COMPILER_VERSION PLATFORM_COMPILER_VERSION
#endif

/* --- system facts, compile-time --- */
#if defined(PLATFORM_ARCH_POWERPC)
# define GASNETT_CACHE_LINE_BYTES  128
# define GEXX_TOOLS_PAGESHIFT_DFLT 16
#else
# define GASNETT_CACHE_LINE_BYTES  64
# define GEXX_TOOLS_PAGESHIFT_DFLT 12
#endif
#ifndef GASNETT_PAGESHIFT /* a kernel with other pages: -DGASNETT_PAGESHIFT=16, as for the library \
                           */
# define GASNETT_PAGESHIFT GEXX_TOOLS_PAGESHIFT_DFLT
#endif
#define GASNETT_PAGESIZE              (1 << GASNETT_PAGESHIFT)

/*
 * A variable of the library whose name says that headers and library belong together: a client that
 * refers to it does not link with the library of another implementation. All modes share one.
 */
#define GASNETT_LINKCONFIG_IDIOTCHECK gexx_tools_linkconfig_2025_8_0
#ifdef __cplusplus
extern "C" {
#endif
GEXX_API extern int gexx_tools_linkconfig_2025_8_0;
#ifdef __cplusplus
}
#endif

#endif
