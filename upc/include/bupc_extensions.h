/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * <bupc_extensions.h>: extensions of UPC that programs know by their older names.
 *
 * Included by <upc.h> unless BUPC_DISABLE_EXTENSIONS is defined. Functions: libtombolo-upc. With
 * BUPC_USE_UPC_NAMESPACE defined before <upc.h>, many have names with upc_ as well.
 */
#ifndef BUPC_EXTENSIONS_H
#define BUPC_EXTENSIONS_H

#include <stddef.h>
#include <stdint.h>
#include <upc_nb.h>

/* ---- asynchronous copies */
typedef upc_handle_t bupc_handle_t;
#define BUPC_COMPLETE_HANDLE ((bupc_handle_t)0)

bupc_handle_t bupc_memcpy_async(shared void *dst, shared const void *src, size_t n);
bupc_handle_t bupc_memget_async(void *dst, shared const void *src, size_t n);
bupc_handle_t bupc_memput_async(shared void *dst, const void *src, size_t n);
bupc_handle_t bupc_memset_async(shared void *dst, int c, size_t n);
void bupc_memcpy_asynci(shared void *dst, shared const void *src, size_t n);
void bupc_memget_asynci(void *dst, shared const void *src, size_t n);
void bupc_memput_asynci(shared void *dst, const void *src, size_t n);
void bupc_memset_asynci(shared void *dst, int c, size_t n);
void bupc_waitsync(bupc_handle_t handle);
int bupc_trysync(bupc_handle_t handle);
void bupc_waitsynci(void);
int bupc_trysynci(void);
void bupc_waitsync_all(bupc_handle_t *handles, size_t count);
void bupc_waitsync_some(bupc_handle_t *handles, size_t count);
int bupc_trysync_all(bupc_handle_t *handles, size_t count);
int bupc_trysync_some(bupc_handle_t *handles, size_t count);
void bupc_begin_accessregion(void);
bupc_handle_t bupc_end_accessregion(void);

/* ---- data that do not lie together */
typedef struct {
  shared void *addr;
  size_t len;
} bupc_smemvec_t;
typedef struct {
  void *addr;
  size_t len;
} bupc_pmemvec_t;

#define BUPC_SG_DESIGN_A      1
#define BUPC_SG_DESIGN_B      1
#define BUPC_STRIDED_DESIGN_A 1
#define BUPC_STRIDED_DESIGN_B 1

/* RESULT: void or bupc_handle_t; D and S: how the destination and source are declared. */
#define UPCR_SCATTERED(RESULT, SUFFIX, KIND, DVEC, SVEC, D, S)                                \
 RESULT bupc_mem##KIND##_vlist##SUFFIX(size_t dstcount, DVEC const dst[], size_t srccount,    \
                                       SVEC const src[]);                                     \
 RESULT bupc_mem##KIND##_ilist##SUFFIX(size_t dstcount, D *const dst[], size_t dstlen,        \
                                       size_t srccount, S const *const src[], size_t srclen); \
 RESULT bupc_mem##KIND##_fstrided##SUFFIX(D *dst, size_t dstchunklen, size_t dstchunkstride,  \
                                          size_t dstchunkcount, S *src, size_t srcchunklen,   \
                                          size_t srcchunkstride, size_t srcchunkcount);       \
 RESULT bupc_mem##KIND##_strided##SUFFIX(D *dst, const size_t dststrides[], S *src,           \
                                         const size_t srcstrides[], const size_t count[],     \
                                         size_t stridelevels);
UPCR_SCATTERED(void, , cpy, bupc_smemvec_t, bupc_smemvec_t, shared void, shared void)
UPCR_SCATTERED(void, , put, bupc_smemvec_t, bupc_pmemvec_t, shared void, void)
UPCR_SCATTERED(void, , get, bupc_pmemvec_t, bupc_smemvec_t, void, shared void)
UPCR_SCATTERED(bupc_handle_t, _async, cpy, bupc_smemvec_t, bupc_smemvec_t, shared void, shared void)
UPCR_SCATTERED(bupc_handle_t, _async, put, bupc_smemvec_t, bupc_pmemvec_t, shared void, void)
UPCR_SCATTERED(bupc_handle_t, _async, get, bupc_pmemvec_t, bupc_smemvec_t, void, shared void)
#undef UPCR_SCATTERED

/* ---- semaphores */
typedef shared struct upcr_sem bupc_sem_t;
#define BUPC_SEM_BOOLEAN   1
#define BUPC_SEM_INTEGER   2
#define BUPC_SEM_SPRODUCER 4
#define BUPC_SEM_MPRODUCER 8
#define BUPC_SEM_SCONSUMER 16
#define BUPC_SEM_MCONSUMER 32
#define BUPC_SEM_MASK      63
#define BUPC_SEM_MAXVALUE  65535

bupc_sem_t *bupc_sem_alloc(int flags);
void bupc_sem_free(bupc_sem_t *s);
void bupc_sem_post(bupc_sem_t *s);
void bupc_sem_postN(bupc_sem_t *s, size_t n);
void bupc_sem_wait(bupc_sem_t *s);
void bupc_sem_waitN(bupc_sem_t *s, size_t n);
int bupc_sem_try(bupc_sem_t *s);
int bupc_sem_tryN(bupc_sem_t *s, size_t n);
void bupc_memput_signal(shared void *dst, const void *src, size_t nbytes, bupc_sem_t *s, size_t n);
void bupc_memput_signal_async(shared void *dst, const void *src, size_t nbytes, bupc_sem_t *s,
                              size_t n);

/* ---- atomics by name */
#define UPCR_ATOMIC_FORM(X, TYPE, FORM, P)                        \
 TYPE bupc_atomic##X##_read_##FORM(P);                            \
 void bupc_atomic##X##_set_##FORM(P, TYPE value);                 \
 TYPE bupc_atomic##X##_swap_##FORM(P, TYPE value);                \
 TYPE bupc_atomic##X##_mswap_##FORM(P, TYPE mask, TYPE value);    \
 TYPE bupc_atomic##X##_cswap_##FORM(P, TYPE oldval, TYPE newval); \
 TYPE bupc_atomic##X##_fetchadd_##FORM(P, TYPE value);            \
 TYPE bupc_atomic##X##_fetchand_##FORM(P, TYPE value);            \
 TYPE bupc_atomic##X##_fetchor_##FORM(P, TYPE value);             \
 TYPE bupc_atomic##X##_fetchxor_##FORM(P, TYPE value);            \
 TYPE bupc_atomic##X##_fetchnot_##FORM(P);
#define UPCR_ATOMIC(X, TYPE)                          \
 UPCR_ATOMIC_FORM(X, TYPE, strict, shared void *ptr)  \
 UPCR_ATOMIC_FORM(X, TYPE, relaxed, shared void *ptr) \
 UPCR_ATOMIC_FORM(X, TYPE, private, void *ptr)
UPCR_ATOMIC(I64, int64_t)
UPCR_ATOMIC(U64, uint64_t)
UPCR_ATOMIC(I32, int32_t)
UPCR_ATOMIC(U32, uint32_t)
UPCR_ATOMIC(I, int)
UPCR_ATOMIC(UI, unsigned int)
UPCR_ATOMIC(L, long)
UPCR_ATOMIC(UL, unsigned long)
#undef UPCR_ATOMIC
#undef UPCR_ATOMIC_FORM

/* 1 where two types, or the types of two expressions, are the same, layouts included; else 0. */
#define bupc_assert_type(a, b) __builtin_types_compatible_p(__typeof__(a), __typeof__(b))

/* ---- others */
void bupc_poll(void);
void upc_poll(void);

#define BUPC_DUMP_MIN_LENGTH 100
int bupc_dump_shared(shared const void *ptr, char *buf, int maxlen);
void *bupc_cast(shared const void *ptr);
int bupc_castable(shared const void *ptr);
int bupc_thread_castable(unsigned int thread);
shared void *bupc_inverse_cast(void *ptr);
shared void *bupc_local_to_shared(void *ptr, int thread, int phase);
shared void *bupc_ptradd(shared void *p, size_t blockelems, size_t elemsz, ptrdiff_t elemcount);

#define BUPC_THREADS_SAME     0
#define BUPC_THREADS_VERYNEAR 100
#define BUPC_THREADS_NEAR     200
#define BUPC_THREADS_FAR      300
#define BUPC_THREADS_VERYFAR  400
unsigned int bupc_thread_distance(int threadX, int threadY);
char *bupc_getenv(const char *name);
void bupc_all_free(shared void *ptr);
void bupc_all_lock_free(shared struct upcr_lock *lock);

typedef uint64_t bupc_tick_t;
#define BUPC_TICK_MIN ((bupc_tick_t)0)
#define BUPC_TICK_MAX ((bupc_tick_t)UINT64_MAX)
bupc_tick_t bupc_ticks_now(void);
uint64_t bupc_ticks_to_us(bupc_tick_t ticks);
uint64_t bupc_ticks_to_ns(bupc_tick_t ticks);
double bupc_tick_granularityus(void);
double bupc_tick_overheadus(void);

/* Tracing of an older implementation: accepted. */
#define bupc_trace_printf(parens)        ((void)0)
#define bupc_trace_setmask(mask)         ((void)(mask))
#define bupc_trace_getmask()             ""
#define bupc_stats_setmask(mask)         ((void)(mask))
#define bupc_stats_getmask()             ""
#define bupc_trace_settracelocal(enable) ((void)(enable))
#define bupc_trace_gettracelocal()       0

#ifdef BUPC_USE_UPC_NAMESPACE
# include <tombolo_upc_names.h>
#endif

#endif
