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

/* Page bupc_memput_async: copies of UPC that do not wait, by older names.
 * [in] dst: where the bytes go. [in] src: where they come from; neither may be used until the
 * copy is complete. [in] n: bytes. [in] c: the byte that is written. [in] handle: of a copy; it
 * must not be used again once the copy is complete. [in,out] handles: of copies; those that are
 * complete become BUPC_COMPLETE_HANDLE. [in] count: number of handles.
 * Completion: of the forms with async by a call with their handle; of those with asynci by
 * bupc_waitsynci or bupc_trysynci.
 * Threads: the calling thread alone.
 * Errors: a pointer-to-shared that points to no shared memory ends the job with a message.
 * Cost: on the same host a memcpy, complete at once; between hosts a put or get of the network.
 * See: upc_memput_nb, bupc_memput_strided, gex_RMA_PutNB */
typedef upc_handle_t bupc_handle_t;             /* a copy in progress */
#define BUPC_COMPLETE_HANDLE ((bupc_handle_t)0) /* the handle of a complete copy */

/* Begins to copy n bytes within shared memory, from shared memory, to it, or to set n bytes to c.
 * Returns a handle. */
bupc_handle_t bupc_memcpy_async(shared void *dst, shared const void *src, size_t n);
bupc_handle_t bupc_memget_async(void *dst, shared const void *src, size_t n);
bupc_handle_t bupc_memput_async(shared void *dst, const void *src, size_t n);
bupc_handle_t bupc_memset_async(shared void *dst, int c, size_t n);
/* Begins such a copy without a handle. */
void bupc_memcpy_asynci(shared void *dst, shared const void *src, size_t n);
void bupc_memget_asynci(void *dst, shared const void *src, size_t n);
void bupc_memput_asynci(shared void *dst, const void *src, size_t n);
void bupc_memset_asynci(shared void *dst, int c, size_t n);
/* Waits until the copy is complete. */
void bupc_waitsync(bupc_handle_t handle);
/* Returns 1 if the copy is complete, else 0. */
int bupc_trysync(bupc_handle_t handle);
/* Waits until all copies of this thread without a handle are complete. */
void bupc_waitsynci(void);
/* Returns 1 if all copies of this thread without a handle are complete, else 0. */
int bupc_trysynci(void);
/* Waits until all copies are complete. */
void bupc_waitsync_all(bupc_handle_t *handles, size_t count);
/* Waits until at least one of the copies is complete. */
void bupc_waitsync_some(bupc_handle_t *handles, size_t count);
/* Returns 1 if all copies are complete, else 0. */
int bupc_trysync_all(bupc_handle_t *handles, size_t count);
/* Returns 1 if at least one copy is complete, or none is in progress, else 0. */
int bupc_trysync_some(bupc_handle_t *handles, size_t count);
/* Begins a region: copies without a handle that begin in it get one together. */
void bupc_begin_accessregion(void);
/* Ends the region. Returns the handle of its copies. */
bupc_handle_t bupc_end_accessregion(void);

/* Page bupc_memput_strided: copies of UPC whose data do not lie together.
 * [in] dstcount: number of pieces of the destination. [in] srccount: number of pieces of the
 * source. [in] dst: the destination, or its pieces. [in] src: the source, or its pieces; both
 * have the same number of bytes. [in] dstlen: bytes of each piece of the destination.
 * [in] srclen: bytes of each piece of the source. [in] dstchunklen: bytes of each chunk of the
 * destination. [in] dstchunkstride: bytes from one chunk of the destination to the next.
 * [in] dstchunkcount: chunks of the destination. [in] srcchunklen: bytes of each chunk of the
 * source. [in] srcchunkstride: bytes from one chunk of the source to the next.
 * [in] srcchunkcount: chunks of the source. [in] dststrides: stridelevels strides of the
 * destination in bytes, the smallest first. [in] srcstrides: those of the source. [in] count:
 * stridelevels + 1 numbers: bytes that lie together, then repetitions at each stride.
 * [in] stridelevels: number of strides.
 * Completion: at return; the forms with async return a handle that is complete.
 * Threads: the calling thread alone.
 * Errors: a pointer-to-shared that points to no shared memory ends the job with a message.
 * Cost: a copy for each piece that lies together.
 * Names: bupc_mem*_vlist*: pieces of any length; bupc_mem*_ilist*: pieces of one length;
 * bupc_mem*_fstrided*: pieces of one length and one distance; bupc_mem*_strided*: boxes in
 * arrays of several dimensions
 * See: bupc_memput_async, gex_VIS_StridedPutNB */
/* A piece of shared memory. */
typedef struct {
  shared void *addr;
  size_t len; /* in bytes */
} bupc_smemvec_t;
/* A piece of private memory. */
typedef struct {
  void *addr;
  size_t len; /* in bytes */
} bupc_pmemvec_t;

/* 1: these calls are there, in both forms of their drafts. */
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
/* Copies within shared memory (memcpy), to it (memput) or from it (memget). */
UPCR_SCATTERED(void, , cpy, bupc_smemvec_t, bupc_smemvec_t, shared void, shared void)
UPCR_SCATTERED(void, , put, bupc_smemvec_t, bupc_pmemvec_t, shared void, void)
UPCR_SCATTERED(void, , get, bupc_pmemvec_t, bupc_smemvec_t, void, shared void)
UPCR_SCATTERED(bupc_handle_t, _async, cpy, bupc_smemvec_t, bupc_smemvec_t, shared void, shared void)
UPCR_SCATTERED(bupc_handle_t, _async, put, bupc_smemvec_t, bupc_pmemvec_t, shared void, void)
UPCR_SCATTERED(bupc_handle_t, _async, get, bupc_pmemvec_t, bupc_smemvec_t, void, shared void)
#undef UPCR_SCATTERED

/* Page bupc_sem_wait: semaphores of UPC, and puts that post one.
 * A semaphore belongs to the thread that makes it. That thread alone waits; all may post.
 * [in] s: a semaphore. [in] n: how many; above 1 it needs BUPC_SEM_INTEGER. [in] flags: one of
 * each pair of constants, joined by |; 0: BUPC_SEM_INTEGER and BUPC_SEM_MPRODUCER. [in] dst:
 * memory of the semaphore's thread. [in] src: private memory. [in] nbytes: bytes.
 * Completion: what a thread has written before a post is seen by the thread that takes it.
 * Threads: the calling thread alone; not collective.
 * Errors: a wait by another thread than the owner, and data for another thread than the
 * semaphore's, end the job with a message.
 * Cost: on the same host a post is one atomic operation; between hosts one message, which
 * carries the data, too.
 * See: upc_lock, gexx_Sem_Wait, tombolo-why(1) */
typedef shared struct upcr_sem bupc_sem_t; /* a semaphore */
#define BUPC_SEM_BOOLEAN   1               /* posts merge: the value is 0 or 1 */
#define BUPC_SEM_INTEGER   2               /* posts add up */
#define BUPC_SEM_SPRODUCER 4               /* one thread posts */
#define BUPC_SEM_MPRODUCER 8               /* any thread posts */
#define BUPC_SEM_SCONSUMER 16              /* one thread waits */
#define BUPC_SEM_MCONSUMER 32              /* taken as BUPC_SEM_SCONSUMER: the owner waits */
#define BUPC_SEM_MASK      63              /* all of these flags */
#define BUPC_SEM_MAXVALUE  65535           /* the most that posts may add up to */

/* Makes a semaphore of the calling thread, with the value 0. Returns it. */
bupc_sem_t *bupc_sem_alloc(int flags);
/* Frees a semaphore. Any thread may do so, once. */
void bupc_sem_free(bupc_sem_t *s);
/* Adds 1 to the value. */
void bupc_sem_post(bupc_sem_t *s);
/* Adds n to the value. */
void bupc_sem_postN(bupc_sem_t *s, size_t n);
/* Waits until the value is 1 or more, and takes 1. */
void bupc_sem_wait(bupc_sem_t *s);
/* Waits until the value is n or more, and takes n. */
void bupc_sem_waitN(bupc_sem_t *s, size_t n);
/* Takes 1 if the value is 1 or more. Returns 1 if it did, else 0. */
int bupc_sem_try(bupc_sem_t *s);
/* Takes n if the value is n or more. Returns 1 if it did, else 0. */
int bupc_sem_tryN(bupc_sem_t *s, size_t n);
/* Copies nbytes to dst, and then posts n. At return src may be used again. */
void bupc_memput_signal(shared void *dst, const void *src, size_t nbytes, bupc_sem_t *s, size_t n);
/* Begins to copy nbytes to dst; then n are posted. src must not change until the thread that takes
 * the post has answered. */
void bupc_memput_signal_async(shared void *dst, const void *src, size_t nbytes, bupc_sem_t *s,
                              size_t n);

/* Page bupc_atomicI64_fetchadd_strict: atomic operations of UPC by name.
 * A name has the type (I64, U64, I32, U32: int64_t and the like; I, UI, L, UL: int, unsigned
 * int, long, unsigned long), the operation and its order: strict, relaxed, or private for memory
 * of the calling thread. [in,out] ptr: the object. [in] value: the operand. [in] mask: the bits
 * that are replaced. [in] oldval: the value that is expected. [in] newval: the value that is
 * written if oldval is there.
 * Completion: at return.
 * Threads: the calling thread alone.
 * Errors: a pointer-to-shared that points to no shared memory ends the job with a message.
 * Cost: on the same host an instruction of the processor; between hosts a round trip.
 * Names: bupc_atomic*_read_*: returns the value; bupc_atomic*_set_*: writes;
 * bupc_atomic*_swap_*: writes and returns the old value; bupc_atomic*_mswap_*: replaces the bits
 * of mask and returns the old value; bupc_atomic*_cswap_*: writes newval if oldval is there, and
 * returns the old value; bupc_atomic*_fetchadd_*: adds and returns the old value;
 * bupc_atomic*_fetchand_*: and, bit by bit; returns the old value; bupc_atomic*_fetchor_*: or,
 * bit by bit; returns the old value; bupc_atomic*_fetchxor_*: exclusive or, bit by bit; returns
 * the old value; bupc_atomic*_fetchnot_*: inverts all bits and returns the old value
 * See: upc_atomic_strict, gex_AD_OpNB_U64 */
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
/* Performs the operation of its name on the object. */
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

/* Page bupc_poll: other extensions of UPC.
 * [in] ptr: an address, as the call says.
 * Completion: at return.
 * Threads: any; not collective, but for bupc_all_free and bupc_all_lock_free.
 * Errors: none, but for those of upc_all_free and upc_all_lock_free.
 * Cost: a few instructions; bupc_poll runs the handlers of messages that have come.
 * Example: examples/upc/library.upc bupc_poll
 * See: upc_threadof, upc_cast, upc_ticks_now */
/* Gives 1 where two types, or the types of two expressions, are the same, layouts included; else 0.
 * [in] a: a type or an expression. [in] b: a type or an expression. */
#define bupc_assert_type(a, b) __builtin_types_compatible_p(__typeof__(a), __typeof__(b))

/* Serves messages of other threads. A loop that waits and makes no call needs it. */
void bupc_poll(void);
void upc_poll(void);

#define BUPC_DUMP_MIN_LENGTH 100 /* the least maxlen of bupc_dump_shared */
/* Writes the parts of a pointer-to-shared to buf as text. Returns 0; -1 if maxlen is below
 * BUPC_DUMP_MIN_LENGTH. [out] buf: gets the text. [in] maxlen: bytes of buf. */
int bupc_dump_shared(shared const void *ptr, char *buf, int maxlen);
/* Returns the address of the object here; NULL where it is not mapped. */
void *bupc_cast(shared const void *ptr);
/* Returns 1 if bupc_cast gives an address, or ptr is null; else 0. */
int bupc_castable(shared const void *ptr);
/* Returns 1 if the memory of a thread is mapped here, else 0. [in] thread: the thread. */
int bupc_thread_castable(unsigned int thread);
/* Returns the pointer-to-shared of an address here, with phase 0; null: it is no shared memory. */
shared void *bupc_inverse_cast(void *ptr);
/* Returns the pointer to another thread's memory at the place that ptr has in this thread's. [in]
 * thread: the other thread. [in] phase: of the result. */
shared void *bupc_local_to_shared(void *ptr, int thread, int phase);
/* Returns a pointer elemcount elements further in an array. [in] p: a pointer-to-shared. [in]
 * blockelems: elements of a block; 0: indefinite. [in] elemsz: bytes of an element. [in] elemcount:
 * elements; may be negative. */
shared void *bupc_ptradd(shared void *p, size_t blockelems, size_t elemsz, ptrdiff_t elemcount);

/* Distances that bupc_thread_distance gives. */
#define BUPC_THREADS_SAME     0   /* one thread */
#define BUPC_THREADS_VERYNEAR 100 /* the memory of both threads is mapped here */
#define BUPC_THREADS_NEAR     200 /* not used */
#define BUPC_THREADS_FAR      300 /* the memory of one of them is not mapped here */
#define BUPC_THREADS_VERYFAR  400 /* not used */
/* Returns how far two threads are from each other. [in] threadX: a thread. [in] threadY: a thread.
 */
unsigned int bupc_thread_distance(int threadX, int threadY);
/* Returns the variable's value in the environment of the job, or NULL. [in] name: the variable. */
char *bupc_getenv(const char *name);
/* Frees an object once all threads have called this, as upc_all_free. */
void bupc_all_free(shared void *ptr);
/* Frees a lock once all threads have called this, as upc_all_lock_free. [in] lock: the lock. */
void bupc_all_lock_free(shared struct upcr_lock *lock);

/* Page bupc_ticks_now: a clock for UPC programs, by older names.
 * [in] ticks: a difference of two ticks.
 * Completion: at once.
 * Threads: any; not collective.
 * Errors: none.
 * Cost: a reading of the processor's counter.
 * Example: examples/upc/library.upc bupc_ticks_now
 * See: upc_ticks_now, gasnett_ticks_now */
typedef uint64_t bupc_tick_t;                   /* a time in ticks */
#define BUPC_TICK_MIN ((bupc_tick_t)0)          /* the least time */
#define BUPC_TICK_MAX ((bupc_tick_t)UINT64_MAX) /* the greatest time */
/* Returns the present tick. */
bupc_tick_t bupc_ticks_now(void);
/* Returns the microseconds of ticks. */
uint64_t bupc_ticks_to_us(bupc_tick_t ticks);
/* Returns the nanoseconds of ticks. */
uint64_t bupc_ticks_to_ns(bupc_tick_t ticks);
/* Returns the microseconds between two ticks that differ. */
double bupc_tick_granularityus(void);
/* Returns the microseconds that bupc_ticks_now takes. */
double bupc_tick_overheadus(void);

/* Page bupc_trace_printf: calls for the tracing of an older implementation.
 * They are accepted and do nothing. `tombolo run --trace` records without them. [in] parens:
 * arguments of printf in brackets. [in] mask: letters of events. [in] enable: 0 or 1.
 * Completion: at once.
 * Threads: any; not collective.
 * Errors: none.
 * Cost: none.
 * Example: examples/upc/library.upc static void trace(
 * See: pupc_control, tombolo-view(1) */
/* Does nothing. The calls with get in their name give an empty text or 0. */
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
