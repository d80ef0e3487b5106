/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/tools/tools_fences.h: memory fences between CPUs, compiler fence, spin hint (API
 * reference 09, section 3).
 *
 * Owns gasnett_local_*, gasnett_weak_*, gasnett_compiler_fence and gasnett_spinloop_hint; each also
 * exists as an exported symbol. Included by gasnet_tools.h and tools_atomics.h. Calls nothing. wmb
 * orders earlier stores before later loads too, so it is a full fence on x86 and aarch64. The
 * fences are instructions rather than __atomic_thread_fence where we know them: ThreadSanitizer
 * cannot see either, but refuses to compile the latter. Programs for the checker, which sees the
 * latter (`tombolo cc --check`), define GEXX_FENCES_SEEN.
 */
#ifndef GEXX_TOOLS_FENCES_H
#define GEXX_TOOLS_FENCES_H

#include "tools_config.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Page gasnett_local_mb: GASNet-Tools: memory fences.
 * Fences order memory accesses of this processor as others see them. The weak forms are empty in
 * programs of one thread.
 * Completion: the order holds when the call returns.
 * Threads: any thread, any context, also before the job is started.
 * Errors: none.
 * Cost: one instruction; gasnett_compiler_fence, and gasnett_local_rmb on x86, none.
 * See: gasnett_atomic_read */

/* Keeps the compiler from moving memory accesses across it; costs nothing at run time. */
GEXX_TOOLS_INLINE void gasnett_compiler_fence(void) {
  __asm__ __volatile__("" : : : "memory");
}

/* Full fence: no access moves across it in either direction. */
GEXX_TOOLS_INLINE void gasnett_local_mb(void) {
#if defined(GEXX_FENCES_SEEN)
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#elif defined(__x86_64__)
  __asm__ __volatile__("lock; orl $0,(%%rsp)" : : : "memory", "cc");
#elif defined(__i386__)
  __asm__ __volatile__("lock; orl $0,(%%esp)" : : : "memory", "cc");
#elif defined(__aarch64__)
  __asm__ __volatile__("dmb ish" : : : "memory");
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* Write fence: earlier stores are visible to every CPU before any later load or store. */
GEXX_TOOLS_INLINE void gasnett_local_wmb(void) {
  gasnett_local_mb();
}

/* Read fence: later loads see stores that had completed before it. */
GEXX_TOOLS_INLINE void gasnett_local_rmb(void) {
#if defined(GEXX_FENCES_SEEN)
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
#elif defined(__x86_64__) || defined(__i386__)
  gasnett_compiler_fence(); /* loads are never reordered with loads */
#elif defined(__aarch64__)
  __asm__ __volatile__("dmb ishld" : : : "memory");
#else
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

/* Fences for orders among threads of this process only: empty where there is but one thread. */
GEXX_TOOLS_INLINE void gasnett_weak_mb(void) {
#if GEXX_TOOLS_TRUE_ATOMICS
  gasnett_local_mb();
#endif
}
GEXX_TOOLS_INLINE void gasnett_weak_wmb(void) {
#if GEXX_TOOLS_TRUE_ATOMICS
  gasnett_local_wmb();
#endif
}
GEXX_TOOLS_INLINE void gasnett_weak_rmb(void) {
#if GEXX_TOOLS_TRUE_ATOMICS
  gasnett_local_rmb();
#endif
}

/* Hints to the CPU that this is a spin loop; also a compiler fence. */
GEXX_TOOLS_INLINE void gasnett_spinloop_hint(void) {
#if defined(__x86_64__) || defined(__i386__)
  __asm__ __volatile__("pause" : : : "memory");
#elif defined(__aarch64__)
  __asm__ __volatile__("yield" : : : "memory");
#else
  gasnett_compiler_fence();
#endif
}

#ifdef __cplusplus
}
#endif

#endif
