/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compiler vocabulary: attributes, branch hints and small arithmetic helpers.
 *
 * Owns: nothing at run time. Included by every internal header and source.
 * Calls: nothing; needs only the compiler (gcc or clang).
 * Invariants: no function-like macro here evaluates an argument for its side effects twice, except
 * TMB_MIN and TMB_MAX, whose arguments must be free of side effects.
 */
#ifndef TMB_BASE_COMPILER_H
#define TMB_BASE_COMPILER_H

#include <stddef.h>
#include <stdint.h>

#define TMB_PRINTF(fmt_arg, first_arg) __attribute__((format(printf, fmt_arg, first_arg)))
#define TMB_COLD                       __attribute__((cold, noinline))
/* Runs in each turn of a rank that waits where ranks outnumber processors. The linker puts all of
 * these side by side: after a switch the processor must look up each page again. */
#define TMB_HOT                        __attribute__((hot))
#define TMB_NOINLINE                   __attribute__((noinline))
/* A function that runs when the library is loaded: before the constructors of clients, which may
 * start the job, also where the library is linked statically. */
#define TMB_AT_LOAD                    __attribute__((constructor(101)))
#define TMB_ALWAYS_INLINE              __attribute__((always_inline)) inline
#define TMB_UNUSED                     __attribute__((unused))
#define TMB_ALIGNED(bytes)             __attribute__((aligned(bytes)))
#define TMB_WEAK                       __attribute__((weak))
/* A variable of the library that files of the library alone use: they address it directly, where
 * otherwise each function loads its address first. */
#define TMB_HIDDEN                     __attribute__((visibility("hidden")))
/* Gives a symbol of the library default visibility: the library is built with hidden visibility. */
#define TMB_EXPORT                     __attribute__((visibility("default")))

/* A function whose reads may race on purpose. */
#define TMB_NO_TSAN                    __attribute__((no_sanitize("thread")))

/*
 * Declare to the thread sanitizer an order that another process provides (a buffer or slot comes
 * back through it): accesses before TMB_TSAN_RELEASE(p) are visible after TMB_TSAN_ACQUIRE(p).
 */
#if defined(__SANITIZE_THREAD__)
void __tsan_acquire(void *addr);
void __tsan_release(void *addr);
# define TMB_TSAN_ACQUIRE(p) __tsan_acquire((void *)(uintptr_t)(p))
# define TMB_TSAN_RELEASE(p) __tsan_release((void *)(uintptr_t)(p))
#else
# define TMB_TSAN_ACQUIRE(p) ((void)0)
# define TMB_TSAN_RELEASE(p) ((void)0)
#endif

/*
 * Names the lock that guards a variable, checked by clang -Wthread-safety (test lint.locks); empty
 * for other compilers. A lock is an lvalue that is in scope: C has no names for the fields of the
 * struct that is being declared.
 */
#if defined(__clang__)
# define TMB_LOCK_ATTRIBUTE(...) __attribute__((__VA_ARGS__))
#else
# define TMB_LOCK_ATTRIBUTE(...)
#endif
#define TMB_CAPABILITY(name)        TMB_LOCK_ATTRIBUTE(capability(name))
#define TMB_GUARDED_BY(lock)        TMB_LOCK_ATTRIBUTE(guarded_by(lock))
#define TMB_REQUIRES(...)           TMB_LOCK_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define TMB_ACQUIRE(...)            TMB_LOCK_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define TMB_RELEASE(...)            TMB_LOCK_ATTRIBUTE(release_capability(__VA_ARGS__))
#define TMB_TRY_ACQUIRE(...)        TMB_LOCK_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
/* A function that clang does not understand; say why. */
#define TMB_NO_LOCK_CHECK           TMB_LOCK_ATTRIBUTE(no_thread_safety_analysis)

#define TMB_LIKELY(cond)            __builtin_expect(!!(cond), 1)
#define TMB_UNLIKELY(cond)          __builtin_expect(!!(cond), 0)

#define TMB_CACHE_LINE              64

#define TMB_MIN(a, b)               ((a) < (b) ? (a) : (b))
#define TMB_MAX(a, b)               ((a) > (b) ? (a) : (b))
#define TMB_ARRAY_LEN(a)            (sizeof(a) / sizeof((a)[0]))

/* Round up or down to a multiple of `unit`, which must be a power of two. */
#define TMB_ALIGN_UP(value, unit)   (((value) + (unit)-1) & ~((unit)-1))
#define TMB_ALIGN_DOWN(value, unit) ((value) & ~((unit)-1))
#define TMB_IS_POW2(value)          ((value) != 0 && ((value) & ((value)-1)) == 0)

#define TMB_STRINGIFY_RAW(x)        #x
#define TMB_STRINGIFY(x)            TMB_STRINGIFY_RAW(x)

#endif
