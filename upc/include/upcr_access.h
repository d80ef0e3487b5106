/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * upcr_access.h: reads and writes of shared memory, in the C that `tombolo upcc` makes of UPC.
 *
 * Included by upcr.h. Owns upcr_get and upcr_put with the ends 1, 2, 4, 8 (bytes), f, d, p (float,
 * double, pointer-to-shared), n (any) for the kind; then `s` if strict; or the place, if not the
 * pointer alone: _0 bytes behind it, _1 elements behind it in blocks of one, _b in blocks of
 * `block`, _a1 and _ab those in an array, which begins with thread 0 and phase 0; then _called for
 * a call, in copies of loops that seldom run: less for the C compiler to do.
 * Invariants: a program has thousands of these, so each is as few statements as possible, without a
 * branch but for memory that is not mapped here, which is served by a call.
 */
#ifndef UPCR_ACCESS_H
#define UPCR_ACCESS_H

#define UPCR_LIST(...) __VA_ARGS__

/* In programs that are compiled with --check, the checker hears of strict accesses: 1 a write, 2 a
 * read, 0 its end. */
#ifdef UPCR_CHECK
void gexx_check_strict(int how);
# define UPCR_STRICT(how) gexx_check_strict(how)
#else
# define UPCR_STRICT(how) ((void)0)
#endif

/* Relaxed puts to memory that is not mapped here, one behind the other, travel together; at -O0
 * each travels as it is written. */
#ifdef __OPTIMIZE__
# define UPCR_FAR_PUT upcr_far_put_joined
#else
# define UPCR_FAR_PUT upcr_far_put
#endif

/* Thread and offset of a place. */
#define UPCR_AT(p)                     \
 const long thread = upcr_threadof(p); \
 const unsigned long at = upcr_addrfield(p)
#define UPCR_AT_0(p, bytes)            \
 const long thread = upcr_threadof(p); \
 const unsigned long at = upcr_addrfield(p) + (unsigned long)(bytes)
/* Block `first` of a row of blocks at `begin`, and `bytes` into it. */
#define UPCR_AT_BLOCK(first, begin, block_bytes, bytes) \
 const long row = upcr_row_near(first);                 \
 const long thread = (first)-row * upcr_threads;        \
 const unsigned long at = (begin) + (unsigned long)row * (block_bytes) + (unsigned long)(bytes)
#define UPCR_AT_1(p, k, size, bytes)           \
 const long block_at = upcr_threadof(p) + (k); \
 UPCR_AT_BLOCK(block_at, upcr_addrfield(p), size, bytes)
#define UPCR_AT_a1(p, k, size, bytes) UPCR_AT_BLOCK(k, upcr_addrfield(p), size, bytes)
#define UPCR_AT_b(p, k, size, block, bytes)                                               \
 const long phase = (long)upcr_phaseof(p);                                                \
 long rest;                                                                               \
 const long block_at = upcr_threadof(p) + upcr_divide(phase + (k), (long)(block), &rest); \
 UPCR_AT_BLOCK(block_at, upcr_addrfield(p), (block) * (size),                             \
               (rest - phase) * (long)(size) + (bytes))
#define UPCR_AT_ab(p, k, size, block, bytes)                  \
 const long block_at = (long)((unsigned long)(k) / (block));  \
 UPCR_AT_BLOCK(block_at, upcr_addrfield(p), (block) * (size), \
               (unsigned long)(k) % (block) * (size) + (unsigned long)(bytes))

/* A read and a write of one kind, of the place that a form gives. */
#define UPCR_FORM(NAME, T, FORM, PARAMETERS, ARGUMENTS)                            \
 UPCR_INLINE T upcr_get##NAME##FORM(UPCR_LIST PARAMETERS) {                        \
  UPCR_AT##FORM ARGUMENTS;                                                         \
  const char *base = upcr_base[thread];                                            \
  if (__builtin_expect(base != 0, 1)) return upcr_load##NAME(base + at);           \
  const T value = upcr_far_get##NAME(at, thread);                                  \
  UPCR_RETURNS;                                                                    \
  return value;                                                                    \
 }                                                                                 \
 UPCR_INLINE void upcr_put##NAME##FORM(UPCR_LIST PARAMETERS, T value) {            \
  UPCR_AT##FORM ARGUMENTS;                                                         \
  char *base = upcr_base[thread];                                                  \
  if (__builtin_expect(base != 0, 1)) {                                            \
   upcr_store##NAME(base + at, value);                                             \
  } else {                                                                         \
   upcr_far_put##NAME(at, thread, value);                                          \
   UPCR_RETURNS;                                                                   \
  }                                                                                \
 }                                                                                 \
 UPCR_ACCESSED T upcr_get##NAME##FORM##_called(UPCR_LIST PARAMETERS) {             \
  UPCR_AT##FORM ARGUMENTS;                                                         \
  const char *base = upcr_base[thread];                                            \
  if (__builtin_expect(base != 0, 1)) return upcr_load##NAME(base + at);           \
  return upcr_far_get_from##NAME(at, thread, UPCR_FROM);                           \
 }                                                                                 \
 UPCR_ACCESSED void upcr_put##NAME##FORM##_called(UPCR_LIST PARAMETERS, T value) { \
  UPCR_AT##FORM ARGUMENTS;                                                         \
  char *base = upcr_base[thread];                                                  \
  if (__builtin_expect(base != 0, 1))                                              \
   upcr_store##NAME(base + at, value);                                             \
  else                                                                             \
   upcr_far_put_from##NAME(at, thread, value, UPCR_FROM);                          \
 }

/* The far accesses as the inline forms call them: each is at a place of the program. */
#define UPCR_FAR(NAME, T)                                                                    \
 UPCR_ACCESSED UPCR_SELDOM T upcr_far_get##NAME(unsigned long at, long thread) {             \
  return upcr_far_get_from##NAME(at, thread, UPCR_FROM);                                     \
 }                                                                                           \
 UPCR_ACCESSED UPCR_SELDOM void upcr_far_put##NAME(unsigned long at, long thread, T value) { \
  upcr_far_put_from##NAME(at, thread, value, UPCR_FROM);                                     \
 }

#define UPCR_FORMS(NAME, T)                                                             \
 UPCR_FAR(NAME, T)                                                                      \
 UPCR_FORM(NAME, T, , (upcr_pts_t p), (p))                                              \
 UPCR_FORM(NAME, T, _0, (upcr_pts_t p, long bytes), (p, bytes))                         \
 UPCR_FORM(NAME, T, _1, (upcr_pts_t p, long k, unsigned long size, long bytes),         \
           (p, k, size, bytes))                                                         \
 UPCR_FORM(NAME, T, _a1, (upcr_pts_t p, long k, unsigned long size, long bytes),        \
           (p, k, size, bytes))                                                         \
 UPCR_FORM(NAME, T, _b,                                                                 \
           (upcr_pts_t p, long k, unsigned long size, unsigned long block, long bytes), \
           (p, k, size, block, bytes))                                                  \
 UPCR_FORM(NAME, T, _ab,                                                                \
           (upcr_pts_t p, long k, unsigned long size, unsigned long block, long bytes), \
           (p, k, size, block, bytes))                                                  \
 UPCR_INLINE T upcr_get##NAME##s(upcr_pts_t p) {                                        \
  upcr_before_strict_get();                                                             \
  UPCR_STRICT(2);                                                                       \
  const T value = upcr_get##NAME(p);                                                    \
  UPCR_STRICT(0);                                                                       \
  upcr_after_strict_get();                                                              \
  return value;                                                                         \
 }                                                                                      \
 UPCR_INLINE void upcr_put##NAME##s(upcr_pts_t p, T value) {                            \
  upcr_before_strict_put();                                                             \
  UPCR_STRICT(1);                                                                       \
  upcr_put##NAME(p, value);                                                             \
  upcr_fence();                                                                         \
  UPCR_STRICT(0);                                                                       \
 }

/* Members of packed structures may lie anywhere. Where the compiler therefore takes bytes one by
 * one, as on RISC-V, an object in its usual place is read and written whole, so that it is not
 * torn. */
#ifdef __riscv
# define UPCR_IS_WHOLE(AT, T) ((unsigned long)(AT) % sizeof(T) == 0)
#else
# define UPCR_IS_WHOLE(AT, T) 0
#endif

/* Accesses to a type T that has the size of the integer I. */
#define UPCR_ACCESS(NAME, T, I)                                                           \
 typedef T upcr_mem##NAME __attribute__((__may_alias__, __aligned__(1)));                 \
 typedef T upcr_whole##NAME __attribute__((__may_alias__));                               \
 UPCR_INLINE T upcr_load##NAME(const char *at) {                                          \
  if (UPCR_IS_WHOLE(at, T)) return *(const upcr_whole##NAME *)(const void *)at;           \
  return *(const upcr_mem##NAME *)(const void *)at;                                       \
 }                                                                                        \
 UPCR_INLINE void upcr_store##NAME(char *at, T value) {                                   \
  if (UPCR_IS_WHOLE(at, T))                                                               \
   *(upcr_whole##NAME *)(void *)at = value;                                               \
  else                                                                                    \
   *(upcr_mem##NAME *)(void *)at = value;                                                 \
 }                                                                                        \
 UPCR_INLINE T upcr_far_get_from##NAME(unsigned long at, long thread, const void *from) { \
  const union {                                                                           \
   I i;                                                                                   \
   T t;                                                                                   \
  } u = {(I)upcr_far_get(upcr_make(at, 0, (unsigned long)thread), sizeof(T), from)};      \
  return u.t;                                                                             \
 }                                                                                        \
 UPCR_INLINE void upcr_far_put_from##NAME(unsigned long at, long thread, T value,         \
                                          const void *from) {                             \
  union {                                                                                 \
   I i;                                                                                   \
   T t;                                                                                   \
  } u;                                                                                    \
  u.t = value;                                                                            \
  UPCR_FAR_PUT(upcr_make(at, 0, (unsigned long)thread), u.i, sizeof(T), from);            \
 }                                                                                        \
 UPCR_FORMS(NAME, T)
UPCR_ACCESS(1, unsigned char, unsigned char)
UPCR_ACCESS(2, unsigned short, unsigned short)
UPCR_ACCESS(4, unsigned, unsigned)
UPCR_ACCESS(8, unsigned long, unsigned long)
UPCR_ACCESS(f, float, unsigned)
UPCR_ACCESS(d, double, unsigned long)

/* ---- pointers-to-shared in shared memory */

#ifdef UPCR_WIDE
typedef unsigned long upcr_word __attribute__((__may_alias__));
/* A pointer that becomes another one from null is never seen in part: its address is written last
 * and read first. */
UPCR_INLINE upcr_pts_t upcr_loadp(const char *from) {
  const upcr_word *at = (const upcr_word *)(const void *)from;
  const unsigned long address = __atomic_load_n(at + 1, __ATOMIC_ACQUIRE);
  return (upcr_pts_t)address << UPCR_ADDR_SHIFT | __atomic_load_n(at, __ATOMIC_RELAXED);
}
UPCR_INLINE void upcr_storep(char *to, upcr_pts_t value) {
  upcr_word *at = (upcr_word *)(void *)to;
  __atomic_store_n(at, (unsigned long)value, __ATOMIC_RELAXED);
  __atomic_store_n(at + 1, upcr_addrfield(value), __ATOMIC_RELEASE);
}
/* Pointers-to-shared of this form are large, and so are served as any type; traces do not know
 * their place. */
UPCR_INLINE upcr_pts_t upcr_far_get_fromp(unsigned long at, long thread, const void *from) {
  upcr_pts_t value = 0;
  (void)from;
  UPCR_FAR_GETN(&value, upcr_make(at, 0, (unsigned long)thread), sizeof value);
  return value;
}
UPCR_INLINE void upcr_far_put_fromp(unsigned long at, long thread, upcr_pts_t value,
                                    const void *from) {
  (void)from;
  UPCR_FAR_PUTN(upcr_make(at, 0, (unsigned long)thread), &value, sizeof value);
}
UPCR_FORMS(p, upcr_pts_t)
#else
UPCR_ACCESS(p, upcr_pts_t, unsigned long)
#endif

/* ---- any type */

UPCR_INLINE void upcr_getn(void *dest, upcr_pts_t p, unsigned long bytes) {
  const char *at = upcr_mapped(p);
  if (__builtin_expect(at != 0, 1)) {
    __builtin_memcpy(dest, at, bytes);
  } else {
    UPCR_FAR_GETN(dest, p, bytes);
    UPCR_RETURNS;
  }
}
UPCR_INLINE void upcr_putn(upcr_pts_t p, const void *src, unsigned long bytes) {
  char *at = upcr_mapped(p);
  if (__builtin_expect(at != 0, 1)) {
    __builtin_memcpy(at, src, bytes);
  } else {
    UPCR_FAR_PUTN(p, src, bytes);
    UPCR_RETURNS;
  }
}
UPCR_INLINE void upcr_getns(void *dest, upcr_pts_t p, unsigned long bytes) {
  upcr_before_strict_get();
  UPCR_STRICT(2);
  upcr_getn(dest, p, bytes);
  UPCR_STRICT(0);
  upcr_after_strict_get();
}
UPCR_INLINE void upcr_putns(upcr_pts_t p, const void *src, unsigned long bytes) {
  upcr_before_strict_put();
  UPCR_STRICT(1);
  upcr_putn(p, src, bytes);
  upcr_fence();
  UPCR_STRICT(0);
}

#endif
