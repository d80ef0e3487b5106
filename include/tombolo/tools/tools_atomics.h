/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/tools/tools_atomics.h: gasnett_atomic*, gasnett_strongatomic* (API reference 09, section
 * 4).
 *
 * Owns six families made from one list: generic, 32 and 64 bits, each plain ("weak": ordinary
 * memory accesses where only one thread can exist) and strong (always atomic). Each function also
 * exists as an exported symbol (atomic). Included by gasnet_tools.h. Calls the compiler's __atomic
 * builtins and tools_fences.h.
 *
 * How flags become code: WMB_PRE makes the operation a release, RMB_POST an acquire; what C11
 * orders cannot say (a fence after a store, a full fence) is a fence instruction, except that on
 * x86 an atomic read-modify-write is a full fence by itself. Flags are constants in practice, so
 * all tests on them fold away. The types may alias: an int32_t, uint32_t or float may be accessed
 * as gasnett_atomic32_t, likewise 64 bits.
 */
#ifndef GEXX_TOOLS_ATOMICS_H
#define GEXX_TOOLS_ATOMICS_H

#include "tools_annotations.h"
#include "tools_fences.h"

/* Page gasnett_atomic_read: GASNet-Tools: atomic operations on local memory.
 * Six families: gasnett_atomic_ (32 bits), gasnett_atomic32_ and gasnett_atomic64_ are plain
 * accesses in programs of one thread; gasnett_strongatomic_, gasnett_strongatomic32_ and
 * gasnett_strongatomic64_ are always atomic, so that processes may share the word. An int32_t,
 * uint32_t or float may be used as a gasnett_atomic32_t, 64 bits likewise.
 * [in,out] p: the word.
 * [in] val: the value.
 * [in] op: what is added or subtracted.
 * [in] oldval: value that the word must have.
 * [in] newval: value that it gets.
 * [in] flags: OR of GASNETT_ATOMIC_*: fences; a constant is fastest.
 * Names: gasnett_*_set: stores a value;
 * gasnett_*_read: the value;
 * gasnett_*_add: adds, and returns the new value;
 * gasnett_*_subtract: subtracts, and returns the new value;
 * gasnett_*_increment: adds 1;
 * gasnett_*_decrement: subtracts 1;
 * gasnett_*_decrement_and_test: subtracts 1, and returns 1 when the word is 0 then;
 * gasnett_*_compare_and_swap: stores newval if the word is oldval, and returns 1, else 0;
 * gasnett_*_swap: stores newval, and returns the value before;
 * gasnett_*_init: initialiser of a static word;
 * gasnett_atomic_signed: the value as a signed number;
 * gasnett_atomic_val_t: value of the family without a number;
 * gasnett_atomic_sval_t: the same, signed;
 * gasnett_*atomic*_t: a word;
 * GASNETT_ATOMIC_MAX: greatest value of a generic word;
 * GASNETT_ATOMIC_SIGNED_MIN: least signed value;
 * GASNETT_ATOMIC_SIGNED_MAX: greatest signed value;
 * GASNETT_HAVE_*: the operation exists;
 * GASNETT_ATOMIC_NONE: no fence;
 * GASNETT_ATOMIC_RMB_PRE: read fence before;
 * GASNETT_ATOMIC_WMB_PRE, GASNETT_ATOMIC_REL: write fence before, a release;
 * GASNETT_ATOMIC_MB_PRE: full fence before;
 * GASNETT_ATOMIC_RMB_POST, GASNETT_ATOMIC_ACQ: read fence behind, an acquire;
 * GASNETT_ATOMIC_WMB_POST: write fence behind;
 * GASNETT_ATOMIC_MB_POST: full fence behind;
 * GASNETT_ATOMIC_RMB_POST_IF_TRUE, GASNETT_ATOMIC_ACQ_IF_TRUE: acquire if the result is 1;
 * GASNETT_ATOMIC_RMB_POST_IF_FALSE, GASNETT_ATOMIC_ACQ_IF_FALSE: acquire if the result is 0;
 * GASNETT_STRONGATOMIC_NOT_SIGNALSAFE, GASNETT_STRONGATOMIC32_NOT_SIGNALSAFE,
 * GASNETT_STRONGATOMIC64_NOT_SIGNALSAFE: never defined, strong atomics work in signal handlers;
 * GASNETT_USING_GENERIC_ATOMICOPS: never defined, atomics are instructions
 * Completion: the operation is done when the call returns.
 * Threads: any thread, any context, also before the job is started.
 * Errors: none.
 * Cost: one instruction, and those of the fences.
 * See: gasnett_local_mb, gex_AD_OpNB_I32 */

/* Fence requests; OR them. */
#define GASNETT_ATOMIC_NONE               0
#define GASNETT_ATOMIC_RMB_PRE            1
#define GASNETT_ATOMIC_WMB_PRE            2
#define GASNETT_ATOMIC_MB_PRE             3
#define GASNETT_ATOMIC_RMB_POST           4
#define GASNETT_ATOMIC_WMB_POST           8
#define GASNETT_ATOMIC_MB_POST            12
#define GASNETT_ATOMIC_RMB_POST_IF_TRUE   16
#define GASNETT_ATOMIC_RMB_POST_IF_FALSE  32
#define GASNETT_ATOMIC_REL                GASNETT_ATOMIC_WMB_PRE
#define GASNETT_ATOMIC_ACQ                GASNETT_ATOMIC_RMB_POST
#define GASNETT_ATOMIC_ACQ_IF_TRUE        GASNETT_ATOMIC_RMB_POST_IF_TRUE
#define GASNETT_ATOMIC_ACQ_IF_FALSE       GASNETT_ATOMIC_RMB_POST_IF_FALSE

#define GASNETT_HAVE_ATOMIC_ADD_SUB       1
#define GASNETT_HAVE_ATOMIC_CAS           1
#define GASNETT_HAVE_STRONGATOMIC_ADD_SUB 1
#define GASNETT_HAVE_STRONGATOMIC_CAS     1

typedef uint32_t gasnett_atomic_val_t;
typedef int32_t gasnett_atomic_sval_t;
#define GASNETT_ATOMIC_MAX        UINT32_MAX
#define GASNETT_ATOMIC_SIGNED_MIN INT32_MIN
#define GASNETT_ATOMIC_SIGNED_MAX INT32_MAX
/* Sign-extends a value read from a generic atomic. */
#define gasnett_atomic_signed(val) \
 GEXX_NUMBER(gasnett_atomic_sval_t, GEXX_NUMBER(gasnett_atomic_val_t, val))

typedef struct {
  volatile uint32_t gexx_value;
} GEXX_TOOLS_MAY_ALIAS gasnett_atomic32_t;
typedef struct {
  volatile uint64_t gexx_value;
} GEXX_TOOLS_MAY_ALIAS gasnett_atomic64_t;
typedef gasnett_atomic32_t gasnett_atomic_t;
typedef gasnett_atomic_t gasnett_strongatomic_t;
typedef gasnett_atomic32_t gasnett_strongatomic32_t;
typedef gasnett_atomic64_t gasnett_strongatomic64_t;

/* Static initialisers only. */
/* clang-format off */
#define gasnett_atomic32_init(val) { GEXX_NUMBER(uint32_t, val) }
#define gasnett_atomic64_init(val) { GEXX_NUMBER(uint64_t, val) }
/* clang-format on */
#define gasnett_atomic_init(val)         gasnett_atomic32_init(val)
#define gasnett_strongatomic_init(val)   gasnett_atomic32_init(val)
#define gasnett_strongatomic32_init(val) gasnett_atomic32_init(val)
#define gasnett_strongatomic64_init(val) gasnett_atomic64_init(val)

/* --- flags to memory orders --- */
#define GEXX_ATOMIC_ANY_ACQ \
 (GASNETT_ATOMIC_RMB_POST | GASNETT_ATOMIC_RMB_POST_IF_TRUE | GASNETT_ATOMIC_RMB_POST_IF_FALSE)
#define GEXX_ATOMIC_FULL_PRE(flags) (((flags)&GASNETT_ATOMIC_MB_PRE) == GASNETT_ATOMIC_MB_PRE)
#define GEXX_ATOMIC_ORDER_LOAD(flags) \
 (((flags)&GEXX_ATOMIC_ANY_ACQ) ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED)
#define GEXX_ATOMIC_ORDER_STORE(flags) \
 (((flags)&GASNETT_ATOMIC_WMB_PRE) ? __ATOMIC_RELEASE : __ATOMIC_RELAXED)
#if defined(__x86_64__) || defined(__i386__)
/* Every order is the same locked instruction here; the strongest also orders the compiler. */
# define GEXX_ATOMIC_RMW_IS_FENCE 1
# define GEXX_ATOMIC_ORDER_RMW(flags)                                   \
  (((flags)&GASNETT_ATOMIC_MB_PRE) || ((flags)&GASNETT_ATOMIC_WMB_POST) \
       ? __ATOMIC_SEQ_CST                                               \
       : GEXX_ATOMIC_ORDER_LOAD(flags))
#else
# define GEXX_ATOMIC_RMW_IS_FENCE 0
# define GEXX_ATOMIC_ORDER_RMW(flags)                                          \
  (((flags)&GASNETT_ATOMIC_WMB_PRE)                                            \
       ? (((flags)&GEXX_ATOMIC_ANY_ACQ) ? __ATOMIC_ACQ_REL : __ATOMIC_RELEASE) \
       : GEXX_ATOMIC_ORDER_LOAD(flags))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Fences around a load or store; the order of the access itself covers REL of a store and ACQ of a
 * load. */
GEXX_TOOLS_INLINE void gexx_atomic_pre_load(int flags) {
  if (flags & GASNETT_ATOMIC_WMB_PRE)
    gasnett_local_mb();
  else if (flags & GASNETT_ATOMIC_RMB_PRE)
    gasnett_local_rmb();
}
GEXX_TOOLS_INLINE void gexx_atomic_pre_store(int flags) {
  if (GEXX_ATOMIC_FULL_PRE(flags))
    gasnett_local_mb();
  else if (flags & GASNETT_ATOMIC_RMB_PRE)
    gasnett_local_rmb();
}
GEXX_TOOLS_INLINE void gexx_atomic_post_load(int flags) {
  if (flags & GASNETT_ATOMIC_WMB_POST) gasnett_local_mb();
}
GEXX_TOOLS_INLINE void gexx_atomic_post_store(int flags) {
  if (flags & GASNETT_ATOMIC_WMB_POST)
    gasnett_local_mb();
  else if (flags & GEXX_ATOMIC_ANY_ACQ)
    gasnett_local_rmb();
}
GEXX_TOOLS_INLINE void gexx_atomic_pre_rmw(int flags) {
  if (!GEXX_ATOMIC_RMW_IS_FENCE) gexx_atomic_pre_store(flags);
}
GEXX_TOOLS_INLINE void gexx_atomic_post_rmw(int flags) {
  if (!GEXX_ATOMIC_RMW_IS_FENCE) gexx_atomic_post_load(flags);
}

/* The routines of a family that are made of others, see below. */
#define GEXX_ATOMIC_DEFINE_STEPS(X, T)                          \
 GEXX_TOOLS_INLINE void X##increment(T *p, int flags) {         \
  (void)X##add(p, 1, flags);                                    \
 }                                                              \
 GEXX_TOOLS_INLINE void X##decrement(T *p, int flags) {         \
  (void)X##subtract(p, 1, flags);                               \
 }                                                              \
 GEXX_TOOLS_INLINE int X##decrement_and_test(T *p, int flags) { \
  return X##subtract(p, 1, flags) == 0;                         \
 }

/*
 * One truly atomic family: X is its name up to the verb, T its type, V its value type.
 * set: store. read: load. increment, decrement: by one. decrement_and_test: non-zero iff the new
 * value is 0. add, subtract: return the new value. compare_and_swap: non-zero iff it stored newval;
 * never fails spuriously. swap: returns the previous value. Values wrap modulo the width. Threads:
 * any. Never blocks, never polls.
 */
#define GEXX_ATOMIC_DEFINE_TRUE(X, T, V)                                                           \
 GEXX_TOOLS_INLINE void X##set(T *p, V val, int flags) {                                           \
  gexx_atomic_pre_store(flags);                                                                    \
  __atomic_store_n(&p->gexx_value, val, GEXX_ATOMIC_ORDER_STORE(flags));                           \
  gexx_atomic_post_store(flags);                                                                   \
 }                                                                                                 \
 GEXX_TOOLS_INLINE V X##read(T *p, int flags) {                                                    \
  V val;                                                                                           \
  gexx_atomic_pre_load(flags);                                                                     \
  val = __atomic_load_n(&p->gexx_value, GEXX_ATOMIC_ORDER_LOAD(flags));                            \
  gexx_atomic_post_load(flags);                                                                    \
  return val;                                                                                      \
 }                                                                                                 \
 GEXX_TOOLS_INLINE V X##add(T *p, V op, int flags) {                                               \
  V val;                                                                                           \
  gexx_atomic_pre_rmw(flags);                                                                      \
  val = __atomic_add_fetch(&p->gexx_value, op, GEXX_ATOMIC_ORDER_RMW(flags));                      \
  gexx_atomic_post_rmw(flags);                                                                     \
  return val;                                                                                      \
 }                                                                                                 \
 GEXX_TOOLS_INLINE V X##subtract(T *p, V op, int flags) {                                          \
  V val;                                                                                           \
  gexx_atomic_pre_rmw(flags);                                                                      \
  val = __atomic_sub_fetch(&p->gexx_value, op, GEXX_ATOMIC_ORDER_RMW(flags));                      \
  gexx_atomic_post_rmw(flags);                                                                     \
  return val;                                                                                      \
 }                                                                                                 \
 GEXX_ATOMIC_DEFINE_STEPS(X, T)                                                                    \
 GEXX_TOOLS_INLINE int X##compare_and_swap(T *p, V oldval, V newval, int flags) {                  \
  int done;                                                                                        \
  gexx_atomic_pre_rmw(flags);                                                                      \
  done = __atomic_compare_exchange_n(&p->gexx_value, &oldval, newval, 0,                           \
                                     GEXX_ATOMIC_ORDER_RMW(flags), GEXX_ATOMIC_ORDER_LOAD(flags)); \
  gexx_atomic_post_rmw(flags);                                                                     \
  return done;                                                                                     \
 }                                                                                                 \
 GEXX_TOOLS_INLINE V X##swap(T *p, V newval, int flags) {                                          \
  V val;                                                                                           \
  gexx_atomic_pre_rmw(flags);                                                                      \
  val = __atomic_exchange_n(&p->gexx_value, newval, GEXX_ATOMIC_ORDER_RMW(flags));                 \
  gexx_atomic_post_rmw(flags);                                                                     \
  return val;                                                                                      \
 }

/* The family for a process with one thread: ordinary accesses, flags mean nothing. */
#define GEXX_ATOMIC_DEFINE_PLAIN(X, T, V)                                         \
 GEXX_TOOLS_INLINE void X##set(T *p, V val, int flags) {                          \
  (void)flags;                                                                    \
  p->gexx_value = val;                                                            \
 }                                                                                \
 GEXX_TOOLS_INLINE V X##read(T *p, int flags) {                                   \
  (void)flags;                                                                    \
  return p->gexx_value;                                                           \
 }                                                                                \
 GEXX_TOOLS_INLINE V X##add(T *p, V op, int flags) {                              \
  V val = p->gexx_value + op;                                                     \
  (void)flags;                                                                    \
  p->gexx_value = val;                                                            \
  return val;                                                                     \
 }                                                                                \
 GEXX_TOOLS_INLINE V X##subtract(T *p, V op, int flags) {                         \
  V val = p->gexx_value - op;                                                     \
  (void)flags;                                                                    \
  p->gexx_value = val;                                                            \
  return val;                                                                     \
 }                                                                                \
 GEXX_ATOMIC_DEFINE_STEPS(X, T)                                                   \
 GEXX_TOOLS_INLINE int X##compare_and_swap(T *p, V oldval, V newval, int flags) { \
  (void)flags;                                                                    \
  if (p->gexx_value != oldval) return 0;                                          \
  p->gexx_value = newval;                                                         \
  return 1;                                                                       \
 }                                                                                \
 GEXX_TOOLS_INLINE V X##swap(T *p, V newval, int flags) {                         \
  V val = p->gexx_value;                                                          \
  (void)flags;                                                                    \
  p->gexx_value = newval;                                                         \
  return val;                                                                     \
 }

#if GEXX_TOOLS_TRUE_ATOMICS
# define GEXX_ATOMIC_DEFINE_WEAK(X, T, V) GEXX_ATOMIC_DEFINE_TRUE(X, T, V)
#else
# define GEXX_ATOMIC_DEFINE_WEAK(X, T, V) GEXX_ATOMIC_DEFINE_PLAIN(X, T, V)
#endif

GEXX_ATOMIC_DEFINE_WEAK(gasnett_atomic_, gasnett_atomic_t, gasnett_atomic_val_t)
GEXX_ATOMIC_DEFINE_WEAK(gasnett_atomic32_, gasnett_atomic32_t, uint32_t)
GEXX_ATOMIC_DEFINE_WEAK(gasnett_atomic64_, gasnett_atomic64_t, uint64_t)
GEXX_ATOMIC_DEFINE_TRUE(gasnett_strongatomic_, gasnett_strongatomic_t, gasnett_atomic_val_t)
GEXX_ATOMIC_DEFINE_TRUE(gasnett_strongatomic32_, gasnett_strongatomic32_t, uint32_t)
GEXX_ATOMIC_DEFINE_TRUE(gasnett_strongatomic64_, gasnett_strongatomic64_t, uint64_t)

#ifdef __cplusplus
}
#endif

#endif
