/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Named-order atomic operations: the only means by which the library touches shared words.
 *
 * Owns nothing. Included by every layer. Calls only compiler built-ins.
 * An operation that publishes is a point of injected preemption (preempt.h). Invariants: the memory
 * order is part of the name (rlx, acq, rel, acq_rel, seq), so that every ordering can be searched
 * for; pointers are to naturally aligned 1, 2, 4 or 8 byte integers or pointers; words in shared
 * memory are lock-free on every supported processor.
 */
#ifndef TMB_BASE_ATOMIC_H
#define TMB_BASE_ATOMIC_H

#include "base/preempt.h"

#include <stdint.h>

/* An update that is a point of injected preemption. */
#define TMB_PUBLISH(what, name, p, v, order) \
 (TMB_PREEMPT_POINT(name), __atomic_##what((p), (v), order))

#define tmb_load_rlx(p)         __atomic_load_n((p), __ATOMIC_RELAXED)
#define tmb_load_acq(p)         __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define tmb_load_seq(p)         __atomic_load_n((p), __ATOMIC_SEQ_CST)
#define tmb_store_rlx(p, v)     __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define tmb_store_rel(p, v)     TMB_PUBLISH(store_n, "store_rel", p, v, __ATOMIC_RELEASE)
#define tmb_xchg_acq(p, v)      __atomic_exchange_n((p), (v), __ATOMIC_ACQUIRE)
#define tmb_xchg_acq_rel(p, v)  TMB_PUBLISH(exchange_n, "xchg_acq_rel", p, v, __ATOMIC_ACQ_REL)
/* Add where one thread at a time writes, as under a lock; others read whole words. A locked
 * instruction costs as much as twenty others. */
#define tmb_count_rlx(p, v)     tmb_store_rlx((p), tmb_load_rlx(p) + (v))
#define tmb_fetch_add_rlx(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define tmb_fetch_add_rel(p, v) TMB_PUBLISH(fetch_add, "fetch_add_rel", p, v, __ATOMIC_RELEASE)
#define tmb_fetch_add_acq_rel(p, v) \
 TMB_PUBLISH(fetch_add, "fetch_add_acq_rel", p, v, __ATOMIC_ACQ_REL)
#define tmb_fetch_sub_rel(p, v) TMB_PUBLISH(fetch_sub, "fetch_sub_rel", p, v, __ATOMIC_RELEASE)
#define tmb_fetch_sub_acq_rel(p, v) \
 TMB_PUBLISH(fetch_sub, "fetch_sub_acq_rel", p, v, __ATOMIC_ACQ_REL)
#define tmb_fetch_or_acq_rel(p, v) TMB_PUBLISH(fetch_or, "fetch_or_acq_rel", p, v, __ATOMIC_ACQ_REL)
#define tmb_fetch_or_seq(p, v)     TMB_PUBLISH(fetch_or, "fetch_or_seq", p, v, __ATOMIC_SEQ_CST)
#define tmb_xchg_seq(p, v)         TMB_PUBLISH(exchange_n, "xchg_seq", p, v, __ATOMIC_SEQ_CST)
#define tmb_fetch_and_acq_rel(p, v) \
 TMB_PUBLISH(fetch_and, "fetch_and_acq_rel", p, v, __ATOMIC_ACQ_REL)

/* Compare and swap; on failure *expected is the value found. Weak forms may fail spuriously. */
#define tmb_cas_rlx(p, expected, v) \
 __atomic_compare_exchange_n((p), (expected), (v), 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
#define tmb_cas_weak_rel(p, expected, v) \
 (TMB_PREEMPT_POINT("cas_weak_rel"),     \
  __atomic_compare_exchange_n((p), (expected), (v), 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
#define tmb_cas_acq(p, expected, v) \
 __atomic_compare_exchange_n((p), (expected), (v), 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)
#define tmb_cas_acq_rel(p, expected, v) \
 (TMB_PREEMPT_POINT("cas_acq_rel"),     \
  __atomic_compare_exchange_n((p), (expected), (v), 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))

#define tmb_cas_seq(p, expected, v) \
 (TMB_PREEMPT_POINT("cas_seq"),     \
  __atomic_compare_exchange_n((p), (expected), (v), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))

#define tmb_fence_acq()      __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define tmb_fence_rel()      __atomic_thread_fence(__ATOMIC_RELEASE)
#define tmb_fence_seq()      __atomic_thread_fence(__ATOMIC_SEQ_CST)

/* Orders only the compiler. */
#define tmb_fence_compiler() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Hints to the processor that this is a spin loop. */
static inline void tmb_cpu_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield" ::: "memory");
#else
  tmb_fence_compiler();
#endif
}

/* Whether each atomic update is a full fence, so that an update which would change nothing may be
 * replaced by a fence and a load. On ARM and RISC-V it is not: later accesses may come before the
 * update's store (docs/MEMORY_ORDERS.md, ratomic_same). */
#if defined(__x86_64__)
# define TMB_UPDATES_FENCE 1
#else
# define TMB_UPDATES_FENCE 0
#endif

/* Asks the cache for the line at p, in a state in which it can be written. */
static inline void tmb_prefetch_write(const void *p) {
#if defined(__x86_64__)
  /* The built-in would emit a read prefetch unless the target has prefetchw enabled; where it
   * lacks it, it is a no-op. */
  __asm__ __volatile__("prefetchw %0" : : "m"(*(const char *)p));
#else
  __builtin_prefetch(p, 1, 3);
#endif
}

#endif
