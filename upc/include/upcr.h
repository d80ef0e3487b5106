/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * upcr.h: the library's calls in the C that `tombolo upcc` makes of UPC.
 *
 * Included in front of every UPC source, and by the run-time library; a program does not name it.
 * Owns the representation of pointers-to-shared, their arithmetic (UPC 1.3 section 6.4.2 and 6.4.3)
 * and the short paths of reads and writes. Invariants: includes nothing but upcr_access.h, which
 * has the reads and writes, so that a program sees only the headers that it asks for. A
 * pointer-to-shared is an integer: the offset in the thread's memory, the phase, the thread; null
 * is 0. In the packed form these are 34, 20 and 10 of 64 bits; with UPCR_WIDE, for large jobs, 64,
 * 32 and 32 of 128 bits, and the program is linked with libtombolo-upc-wide. The phase is 0
 * wherever the block size is 0 or 1. A thread whose memory is not mapped here has no base address
 * and is served by a call.
 */
#ifndef UPCR_H
#define UPCR_H

#ifndef UPCR_RUNTIME
# pragma GCC system_header /* a program's warnings are of its own text */
# ifdef __CHAR_UNSIGNED__
#  pragma tombolo unsigned_char /* for the translator: char has no negative values */
# endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifdef UPCR_WIDE
__extension__ typedef unsigned __int128 upcr_pts_t;
# define UPCR_THREAD_BITS 32
# define UPCR_PHASE_BITS  32
# define UPCR_ADDR_BITS   47
# define UPCR_THREADS_MAX 0x40000000
#else
typedef __UINT64_TYPE__ upcr_pts_t;
# define UPCR_THREAD_BITS 10
# define UPCR_PHASE_BITS  20
# define UPCR_ADDR_BITS   34
# define UPCR_THREADS_MAX (1 << UPCR_THREAD_BITS)
#endif

#define UPCR_ADDR_SHIFT  (UPCR_THREAD_BITS + UPCR_PHASE_BITS)
#define UPCR_THREAD_MASK (((upcr_pts_t)1 << UPCR_THREAD_BITS) - 1)
#define UPCR_PHASE_MASK  ((((upcr_pts_t)1 << UPCR_PHASE_BITS) - 1) << UPCR_THREAD_BITS)

#define UPCR_INLINE      static __inline__ __attribute__((__always_inline__, __unused__))
/* At -O0 nothing is inlined that need not be, and of inline functions those that nobody calls are
 * left out: else they take two thirds of the compiler's time. */
#ifdef __OPTIMIZE__
# define UPCR_ACCESSED static __attribute__((__noinline__, __unused__))
#else
# define UPCR_ACCESSED static __inline__ __attribute__((__unused__))
#endif
#define UPCR_CALLED UPCR_ACCESSED __attribute__((__pure__))
#define UPCR_SELDOM __attribute__((__cold__))

/* A shared object of a program. The compiler puts a pointer to each into the section upc_objects;
 * the address is filled at start. */
struct upcr_object {
  upcr_pts_t *address;
  const char *name;
  unsigned long bytes; /* that every thread keeps */
  const void *data;    /* initial values in order, or null */
  unsigned long count, elem_bytes, block;
};

#ifdef UPCR_RUNTIME
extern int upcr_threads, upcr_mythread, upcr_threads_shift;
extern long upcr_threads_inverse;
#else
extern const int upcr_mythread;
extern const int upcr_threads_shift; /* log2 of the number of threads, -1: it is no power of two */
extern const long upcr_threads_inverse; /* 2^62 / THREADS */
# ifdef UPCR_STATIC_THREADS
enum { upcr_threads = UPCR_STATIC_THREADS };
# else
extern const int upcr_threads;
# endif
#endif
/* Each object asks for the symbol of its form of pointers, which the library of the other form has
 * not: so the linker refuses to mix them. */
#ifdef UPCR_WIDE
# define UPCR_POINTERS upcr_pointers_wide
#else
# define UPCR_POINTERS upcr_pointers_packed
#endif
extern const char UPCR_POINTERS;
#if defined __UPC__ && !defined UPCR_RUNTIME
static const char *const upcr_form_asked __attribute__((used)) = &UPCR_POINTERS;
#endif
extern int upcr_in_forall; /* the body of a controlling upc_forall is being executed */
extern unsigned upcr_poll_credit;
extern unsigned upcr_in_flight; /* far puts that are not complete yet */
/* Address here of each thread's memory, or null; it never changes. */
#ifdef UPCR_WIDE
# ifdef UPCR_RUNTIME
extern char **upcr_base;
# else
extern char *const *const upcr_base;
# endif
#elif defined UPCR_RUNTIME
extern char *upcr_base[UPCR_THREADS_MAX];
#else
extern char *const upcr_base[UPCR_THREADS_MAX];
#endif

/* Accesses to memory that is not mapped here. `from`: where the program makes the access, for
 * traces: the return address of a call that the program does not leave by. */
UPCR_SELDOM unsigned long upcr_far_get(upcr_pts_t p, unsigned long bytes, const void *from);
UPCR_SELDOM void upcr_far_put(upcr_pts_t p, unsigned long value, unsigned long bytes,
                              const void *from);
UPCR_SELDOM void upcr_far_put_joined(upcr_pts_t p, unsigned long value, unsigned long bytes,
                                     const void *from);
UPCR_SELDOM void upcr_far_getn(void *dest, upcr_pts_t p, unsigned long bytes);
UPCR_SELDOM void upcr_far_putn(upcr_pts_t p, const void *src, unsigned long bytes);
/* upc_memget and upc_memput by other names: calls of any length. */
void upcr_memget(void *dst, upcr_pts_t src, unsigned long n);
void upcr_memput(upcr_pts_t dst, const void *src, unsigned long n);
#ifdef UPCR_RUNTIME /* the caller is the run-time library, which is no place in the program */
void rt_far_getn(void *dest, upcr_pts_t p, unsigned long bytes);
void rt_far_putn(upcr_pts_t p, const void *src, unsigned long bytes);
void rt_far_complete(void);
# define UPCR_FAR_GETN     rt_far_getn
# define UPCR_FAR_PUTN     rt_far_putn
# define UPCR_FAR_COMPLETE rt_far_complete
# define UPCR_FROM         ((const void *)0)
#else
# define UPCR_FAR_GETN     upcr_far_getn
# define UPCR_FAR_PUTN     upcr_far_putn
# define UPCR_FAR_COMPLETE upcr_far_complete
# define UPCR_FROM         __builtin_return_address(0)
#endif
/* Behind a call that is to return here: nothing is done, but the call is no jump. */
#define UPCR_RETURNS __asm__ __volatile__("")
unsigned long upcr_getbits(upcr_pts_t p, unsigned long first, int width, int is_signed,
                           int is_strict);
unsigned long upcr_putbits(upcr_pts_t p, unsigned long first, int width, int is_signed,
                           int is_strict, unsigned long value);
/* Distributes initial values over a shared object. */
void upcr_spread(upcr_pts_t p, const void *data, unsigned long count, unsigned long elem_bytes,
                 unsigned long block);
/* All far puts of this thread are complete. */
void upcr_far_complete(void);
void *upcr_local_slow(upcr_pts_t p);
void upcr_poll_slow(void);
/* Ends the job unless THREADS is the number that a file was compiled for. */
void upcr_check_threads(int compiled);
void upcr_notify(int has_value, int value);
void upcr_wait(int has_value, int value);
void upcr_barrier(int has_value, int value);

/* ---- parts of a pointer-to-shared */

UPCR_INLINE int upcr_threadof(upcr_pts_t p) {
  return (int)(p & UPCR_THREAD_MASK);
}
UPCR_INLINE unsigned long upcr_phaseof(upcr_pts_t p) {
  return (unsigned long)((p & UPCR_PHASE_MASK) >> UPCR_THREAD_BITS);
}
UPCR_INLINE unsigned long upcr_addrfield(upcr_pts_t p) {
  return (unsigned long)(p >> UPCR_ADDR_SHIFT);
}
UPCR_INLINE upcr_pts_t upcr_nophase(upcr_pts_t p) {
  return p & ~UPCR_PHASE_MASK;
}
UPCR_INLINE upcr_pts_t upcr_make(unsigned long addr, unsigned long phase, unsigned long thread) {
  return (upcr_pts_t)addr << UPCR_ADDR_SHIFT | (upcr_pts_t)phase << UPCR_THREAD_BITS | thread;
}
UPCR_INLINE int upcr_eq(upcr_pts_t a, upcr_pts_t b) {
  return ((a ^ b) & ~UPCR_PHASE_MASK) == 0;
}
/* Member of a structure; the second form where the structure has a phase. */
UPCR_INLINE upcr_pts_t upcr_field(upcr_pts_t p, unsigned long offset) {
  return p + ((upcr_pts_t)offset << UPCR_ADDR_SHIFT);
}
UPCR_INLINE upcr_pts_t upcr_fieldb(upcr_pts_t p, unsigned long offset) {
  return upcr_field(upcr_nophase(p), offset);
}

/* ---- arithmetic */

/* Floor division, b > 0; *rest is not negative. Where b is a constant power of two, no division. */
UPCR_INLINE long upcr_divide(long a, long b, long *rest) {
  long q;
  if (__builtin_constant_p(b) && (b & (b - 1)) == 0) {
    *rest = a & (b - 1);
    return a >> __builtin_ctzl((unsigned long)b);
  }
  if (__builtin_constant_p(b) || ((unsigned long)a | (unsigned long)b) >> 32) {
    q = a / b;
    q -= a - q * b < 0;
  } else {
    q = (unsigned)a / (unsigned)b;
  }
  *rest = a - q * b;
  return q;
}

/* Splits the number of a block into its row and its thread. */
UPCR_INLINE long upcr_row(long g, long *thread) {
#ifndef UPCR_STATIC_THREADS
  if (__builtin_expect(upcr_threads_shift >= 0, 1)) {
    *thread = g & (upcr_threads - 1);
    return g >> upcr_threads_shift;
  }
#endif
  return upcr_divide(g, upcr_threads, thread);
}

/* The row of a block that a pointer-to-shared may point to: floor(g / THREADS). The inverse is
 * 2^62 / THREADS, rounded, so (g + 1/2) / THREADS is exact enough while |g| * THREADS < 2^61, and
 * an offset of 34 bits has fewer blocks. No branch and no division, which every access would have
 * in its code. */
UPCR_INLINE long upcr_row_near(long g) {
#if defined UPCR_STATIC_THREADS || defined UPCR_WIDE
  long thread;
  return upcr_row(g, &thread);
#else
  return (long)(((__int128)(4 * g + 2) * upcr_threads_inverse) >> 64);
#endif
}
/* Row for pointers that go on from their own value, so that steps wait for each other: a branch,
 * but sooner there where THREADS is a power of two. */
UPCR_INLINE long upcr_row_soon(long g) {
#if !defined UPCR_STATIC_THREADS && !defined UPCR_WIDE
  if (__builtin_expect(upcr_threads_shift >= 0, 1)) return g >> upcr_threads_shift;
#endif
  return upcr_row_near(g);
}

UPCR_INLINE upcr_pts_t upcr_add0(upcr_pts_t p, long bytes) {
  return p + ((upcr_pts_t)bytes << UPCR_ADDR_SHIFT);
}
/* One element on: no row to be found. */
UPCR_INLINE upcr_pts_t upcr_next1(upcr_pts_t p, unsigned long elem_bytes) {
  if (upcr_threadof(p) + 1 < upcr_threads) return p + 1;
  return upcr_add0(p & ~UPCR_THREAD_MASK, (long)elem_bytes);
}
UPCR_INLINE upcr_pts_t upcr_nextb(upcr_pts_t p, unsigned long elem_bytes, unsigned long block) {
  const unsigned long phase = upcr_phaseof(p);
  if (phase + 1 < block)
    return upcr_add0(p, (long)elem_bytes) + ((upcr_pts_t)1 << UPCR_THREAD_BITS);
  const long back = (long)(phase * elem_bytes);
  if (upcr_threadof(p) + 1 < upcr_threads) return upcr_add0(upcr_nophase(p), -back) + 1;
  return upcr_add0(upcr_nophase(p) & ~UPCR_THREAD_MASK, (long)(block * elem_bytes) - back);
}
UPCR_INLINE upcr_pts_t upcr_add1(upcr_pts_t p, long k, unsigned long elem_bytes) {
  if (__builtin_constant_p(k) && k == 1) return upcr_next1(p, elem_bytes);
  const long g = (long)(p & UPCR_THREAD_MASK) + k, row = upcr_row_soon(g);
  return (p & ~UPCR_THREAD_MASK) +
         ((upcr_pts_t)((unsigned long)row * elem_bytes) << UPCR_ADDR_SHIFT) +
         (upcr_pts_t)(g - row * upcr_threads);
}
UPCR_INLINE upcr_pts_t upcr_addb(upcr_pts_t p, long k, unsigned long elem_bytes,
                                 unsigned long block) {
  if (__builtin_constant_p(k) && k == 1) return upcr_nextb(p, elem_bytes, block);
  const long phase = (long)upcr_phaseof(p);
  long new_phase;
  const long blocks = upcr_divide(phase + k, (long)block, &new_phase);
  const long g = (long)(p & UPCR_THREAD_MASK) + blocks, row = upcr_row_soon(g);
  const long elems = new_phase - phase + row * (long)block;
  return ((p & ~(UPCR_THREAD_MASK | UPCR_PHASE_MASK)) +
          ((upcr_pts_t)((unsigned long)elems * elem_bytes) << UPCR_ADDR_SHIFT)) |
         (upcr_pts_t)new_phase << UPCR_THREAD_BITS | (upcr_pts_t)(g - row * upcr_threads);
}
/* As calls, for copies of loops that seldom run: less for the C compiler to do. */
UPCR_CALLED upcr_pts_t upcr_add1_called(upcr_pts_t p, long k, unsigned long elem_bytes) {
  return upcr_add1(p, k, elem_bytes);
}
UPCR_CALLED upcr_pts_t upcr_addb_called(upcr_pts_t p, long k, unsigned long elem_bytes,
                                        unsigned long block) {
  return upcr_addb(p, k, elem_bytes, block);
}
/* Elements from q to p. */
UPCR_INLINE long upcr_sub(upcr_pts_t p, upcr_pts_t q, unsigned long elem_bytes,
                          unsigned long block) {
  const long elem = (long)elem_bytes;
  if (block == 0) return ((long)upcr_addrfield(p) - (long)upcr_addrfield(q)) / elem;
  const long phase_p = (long)upcr_phaseof(p), phase_q = (long)upcr_phaseof(q);
  const long rows =
      ((long)upcr_addrfield(p) - phase_p * elem - ((long)upcr_addrfield(q) - phase_q * elem)) /
      ((long)block * elem);
  const long blocks = rows * upcr_threads + upcr_threadof(p) - upcr_threadof(q);
  return blocks * (long)block + phase_p - phase_q;
}
/* Whether integer affinity i is this thread's. */
UPCR_INLINE int upcr_mine(long i) {
  long thread;
  upcr_row(i, &thread);
  return thread == upcr_mythread;
}

/* At the end of an upc_forall that is left by return, goto or break. */
UPCR_INLINE void upcr_leave(const int *before) {
  upcr_in_forall = *before;
}

/* The first block from `block` on that is this thread's: once a loop. */
UPCR_CALLED long upcr_first_from(long block) {
  long thread;
  upcr_row(block, &thread);
  return block + (upcr_mythread >= thread ? 0 : upcr_threads) + upcr_mythread - thread;
}
/* First index of this thread, from the block of `unit` indices on that holds index i. */
UPCR_INLINE long upcr_first(long i, long unit) {
  long rest;
  return upcr_first_from(upcr_divide(i, unit, &rest));
}
/* The last such block up to the one that holds index i. */
UPCR_INLINE long upcr_last(long i, long unit) {
  return upcr_first(i - (upcr_threads - 1) * unit, unit);
}
/* Whether a loop's variable cannot count from `first` to `end`, the index behind its last one: it
 * holds `held` in its place, or numbers below 0 are compared as unsigned ones. */
UPCR_INLINE int upcr_endless(long first, long end, long held, int is_signed) {
  return held != end || (!is_signed && (first < 0 || end < 0));
}
UPCR_CALLED long upcr_row_of(long block) {
  long thread;
  return upcr_row(block, &thread);
}
/* Number of the next n blocks that are this thread's, which has the first. */
UPCR_CALLED long upcr_rounds(long n) {
  return n > 0 ? upcr_row_of(n + upcr_threads - 1) : 0;
}
/* The remainder of a by b > 0: from 0 to b - 1. */
UPCR_CALLED long upcr_rest(long a, long b) {
  const long rest = a % b;
  return rest < 0 ? rest + b : rest;
}
/* Where a loop ends that counts up by `step` while it is below `stop`, or down while above. */
UPCR_CALLED long upcr_end(long first, long stop, long step, int down) {
  const long distance = down ? first - stop : stop - first;
  if (step <= 0 || distance <= 0) return first;
  const long all = ((distance - 1) / step + 1) * step;
  return down ? first - all : first + all;
}
/* Of indices `step` apart, in blocks of one: how far this thread's are apart, counted in them, and
 * the first from index v on, or -1. */
UPCR_CALLED long upcr_period(long step) {
  long a = upcr_threads, b = upcr_rest(step, a);
  while (b) {
    const long rest = a % b;
    a = b;
    b = rest;
  }
  return upcr_threads / a;
}
UPCR_CALLED long upcr_first_step(long v, long step) {
  const long by = upcr_rest(step, upcr_threads), period = upcr_period(step);
  long thread = upcr_rest(v, upcr_threads);
  for (long k = 0; k < period; k++) {
    if (thread == upcr_mythread) return k;
    thread += by - (thread + by >= upcr_threads ? upcr_threads : 0);
  }
  return -1;
}
UPCR_INLINE long upcr_clamp(long v, long low, long high) {
  return v < low ? low : v > high ? high : v;
}
/* Elements from the beginning of p's row of blocks to p. */
UPCR_INLINE long upcr_offset_of(upcr_pts_t p, long block) {
  return upcr_threadof(p) * block + (long)upcr_phaseof(p);
}

/* ---- local addresses */

/* Null where the memory is not mapped here. */
UPCR_INLINE char *upcr_mapped(upcr_pts_t p) {
  char *base = upcr_base[upcr_threadof(p)];
  return base ? base + upcr_addrfield(p) : base;
}
UPCR_INLINE void *upcr_local(upcr_pts_t p) {
  char *base = upcr_base[upcr_threadof(p)];
  if (__builtin_expect(p == 0 || !base, 0)) return upcr_local_slow(p);
  return base + upcr_addrfield(p);
}

/* ---- memory model (UPC 1.3 section 5.1.2.3 and B.3) */

/* Relaxed puts to memory that is not mapped here are in progress when they return; here they end.
 */
UPCR_INLINE void upcr_complete(void) {
  if (__builtin_expect(upcr_in_flight != 0, 0)) UPCR_FAR_COMPLETE();
}
/* All earlier accesses of this thread are complete; also the compiler's. */
UPCR_INLINE void upcr_fence(void) {
  upcr_complete();
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
/* A thread that does nothing but spin on this has to serve the others now and then. */
UPCR_INLINE void upcr_serve(void) {
  if (__builtin_expect(--upcr_poll_credit == 0, 0)) upcr_poll_slow();
}
UPCR_INLINE void upcr_fence_statement(void) {
  upcr_fence();
  upcr_serve();
}
UPCR_INLINE void upcr_before_strict_put(void) {
  upcr_complete();
  __atomic_thread_fence(__ATOMIC_RELEASE);
}
UPCR_INLINE void upcr_before_strict_get(void) {
  upcr_fence();
  upcr_serve();
}
UPCR_INLINE void upcr_after_strict_get(void) {
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

#include "upcr_access.h"

#ifndef UPCR_RUNTIME
/* ---- functions of <upc.h> that are a few instructions */
UPCR_INLINE unsigned long upc_threadof(upcr_pts_t p) {
  return (unsigned long)upcr_threadof(p);
}
UPCR_INLINE unsigned long upc_phaseof(upcr_pts_t p) {
  return upcr_phaseof(p);
}
UPCR_INLINE unsigned long upc_addrfield(upcr_pts_t p) {
  return upcr_addrfield(p);
}
UPCR_INLINE upcr_pts_t upc_resetphase(upcr_pts_t p) {
  return upcr_nophase(p);
}
# if defined __OPTIMIZE__ && !defined UPCR_CHECK
/* Whether a copy is one of a number, of which the size may be in a variable: one load and one
 * store, between fences against the compiler, as a call would be. */
UPCR_INLINE int upcr_copied_number(char *to, const char *from, unsigned long n) {
  __asm__ __volatile__("" ::: "memory");
  if (n == 8)
    upcr_store8(to, upcr_load8(from));
  else if (n == 4)
    upcr_store4(to, upcr_load4(from));
  __asm__ __volatile__("" ::: "memory");
  return n == 8 || n == 4;
}
UPCR_INLINE void upc_memget(void *dst, upcr_pts_t src, unsigned long n) {
  const char *from = upcr_mapped(src);
  if (__builtin_expect(from != 0, 1) && upcr_copied_number((char *)dst, from, n))
    upcr_serve();
  else
    upcr_memget(dst, src, n);
}
/* The calls of upc_memget in a function. left: how many until it serves again. It serves at its
 * begin, too, for a function may copy once and be called in a loop. A counter in memory would have
 * each copy wait for the one before. */
UPCR_INLINE unsigned upcr_copies_begin(void) {
  upcr_serve();
  return 64;
}
UPCR_INLINE void upcr_memget_counted(unsigned *left, void *dst, upcr_pts_t src, unsigned long n) {
  const char *from = upcr_mapped(src);
  if (__builtin_expect(from == 0, 0) || !upcr_copied_number((char *)dst, from, n)) {
    upcr_memget(dst, src, n);
  } else if (__builtin_expect(--*left == 0, 0)) {
    upcr_poll_slow();
    *left = 64;
  }
}
UPCR_INLINE void upc_memput(upcr_pts_t dst, const void *src, unsigned long n) {
  char *to = upcr_mapped(dst);
  if (__builtin_expect(to == 0, 0) || !upcr_copied_number(to, (const char *)src, n))
    upcr_memput(dst, src, n);
}
# else
UPCR_INLINE unsigned upcr_copies_begin(void) {
  return 0;
}
UPCR_INLINE void upcr_memget_counted(unsigned *left, void *dst, upcr_pts_t src, unsigned long n) {
  (void)left;
  upcr_memget(dst, src, n);
}
# endif
#endif

#ifdef __cplusplus
}
#endif

#endif
