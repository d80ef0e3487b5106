/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shmem/inline.h: put and get for PEs whose memory is mapped here, without a call.
 *
 * Owns: inline bodies of put, get, p, g and the nbi forms. Included by shmem.h where the compiler
 * optimises, unless SHMEM_NO_INLINE is defined. Calls: the routines of the library where the table
 * shmem_inline_ does not hold the address. Invariants: a body serves inlining only (gnu_inline):
 * the address of a routine, and a call that is not inlined, are those of the library, and a
 * program may define the routine itself. The library leaves the table empty when a routine is
 * interposed (a profiling library), with SHMEM_DEBUG and while events are recorded, so that each
 * call reaches the library. Programs contain this code: a change of the table needs a new name.
 */
#ifndef SHMEM_INLINE_H
#define SHMEM_INLINE_H

/* The PEs that a context reaches: the first fields of what shmem_ctx_t points at. */
struct shmem_reach_ {
  char **here;   /* [size] symmetric memory of each PE, as mapped in this process; NULL: nowhere */
  uint32_t size; /* PEs of its team */
};
struct shmem_inline_ {
  struct shmem_reach_ world;
  uintptr_t base, bytes;            /* symmetric memory of this PE; bytes 0: the table is empty */
  uintptr_t statics, statics_bytes; /* data segment of the program, which is its beginning */
  uintptr_t waiters;                /* offset of the word that says how many threads wait */
  uintptr_t polls;                  /* not 0: reads must drive progress */
  uintptr_t spare[4];
};
extern struct shmem_inline_ shmem_inline_;
/* Wakes the threads of a PE that wait for words. */
void shmem_inline_wake_(shmem_ctx_t ctx, int pe);

#ifndef SHMEM_INLINE_TABLE_ONLY_ /* the library needs no bodies */

# define SHMEM_BODY_ extern __inline__ __attribute__((__gnu_inline__))
# define SHMEM_HELP_ extern __inline__ __attribute__((__gnu_inline__, __always_inline__))

SHMEM_HELP_ const struct shmem_reach_ *shmem_reach_(shmem_ctx_t ctx) {
  return (uintptr_t)ctx > (uintptr_t)SHMEM_CTX_DEFAULT
             ? (const struct shmem_reach_ *)(const void *)ctx
             : &shmem_inline_.world;
}

/* Where the symmetric memory of a PE is mapped; NULL: the library must be called. out offset: of
 * the object. */
SHMEM_HELP_ char *shmem_memory_(shmem_ctx_t ctx, const void *object, int pe, uintptr_t *offset) {
  const struct shmem_reach_ *reach = shmem_reach_(ctx);
  if (__builtin_expect(ctx == SHMEM_CTX_INVALID || (uint32_t)pe >= reach->size, 0)) return NULL;
  *offset = (uintptr_t)object - shmem_inline_.base;
  if (__builtin_expect(*offset >= shmem_inline_.bytes, 0)) {
    *offset = (uintptr_t)object - shmem_inline_.statics;
    if (__builtin_expect(*offset >= shmem_inline_.statics_bytes, 0)) return NULL;
  }
  return reach->here[pe];
}

/* Most sizes that are not known to the compiler are those of one word. */
SHMEM_HELP_ void shmem_copy_(void *to, const void *from, size_t bytes) {
  __asm__ __volatile__("" : "+r"(to), "+r"(from) : : "memory"); /* hides sizes of objects */
  if (!__builtin_constant_p(bytes) && bytes == sizeof(uint64_t))
    __builtin_memcpy(to, from, sizeof(uint64_t));
  else
    __builtin_memcpy(to, from, bytes);
  __asm__ __volatile__("" : : : "memory");
}

/* Returns whether the put is done. */
SHMEM_HELP_ int shmem_put_near_(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes,
                                int pe) {
  uintptr_t offset;
  char *const memory = shmem_memory_(ctx, dest, pe, &offset);
  if (__builtin_expect(!memory, 0)) return 0;
  shmem_copy_(memory + offset, source, bytes);
  if (__builtin_expect(__atomic_load_n((uint32_t *)(void *)(memory + shmem_inline_.waiters),
                                       __ATOMIC_RELAXED) != 0,
                       0))
    shmem_inline_wake_(ctx, pe);
  return 1;
}

/* Returns whether the get is done. */
SHMEM_HELP_ int shmem_get_near_(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes,
                                int pe) {
  uintptr_t offset;
  const char *const memory = shmem_memory_(ctx, source, pe, &offset);
  if (__builtin_expect(!memory || shmem_inline_.polls, 0)) return 0;
  shmem_copy_(dest, memory + offset, bytes);
  return 1;
}

/* The routine NAME of the library, by another name: a body must not call itself. A function of its
 * own around it, because clang inlines no body that seems to. */
# define SHMEM_CALL_(RET, RETURN, NAME, PARAMS, ARGS) \
  RET NAME##_call_ PARAMS __asm__(#NAME);             \
  SHMEM_HELP_ RET NAME##_far_ PARAMS {                \
   RETURN NAME##_call_ ARGS;                          \
  }

/* FORM: PLAIN, or CTX for routines with a context: parameter, argument, the context itself. */
# define SHMEM_PARAM_PLAIN_
# define SHMEM_PARAM_CTX_ shmem_ctx_t ctx,
# define SHMEM_PASS_PLAIN_
# define SHMEM_PASS_CTX_ ctx,
# define SHMEM_OF_PLAIN_ SHMEM_CTX_DEFAULT
# define SHMEM_OF_CTX_   ctx

/* WHICH: put or get; BYTES: of an element. */
# define SHMEM_INLINE_MOVE_(NAME, FORM, T, BYTES, WHICH)                                         \
  SHMEM_CALL_(void, , NAME,                                                                      \
              (SHMEM_PARAM_##FORM##_ T * dest, const T *source, size_t nelems, int pe),          \
              (SHMEM_PASS_##FORM##_ dest, source, nelems, pe))                                   \
  SHMEM_BODY_ void NAME(SHMEM_PARAM_##FORM##_ T *dest, const T *source, size_t nelems, int pe) { \
   if (!shmem_##WHICH##_near_(SHMEM_OF_##FORM##_, dest, source, nelems * (BYTES), pe))           \
    NAME##_far_(SHMEM_PASS_##FORM##_ dest, source, nelems, pe);                                  \
  }
# define SHMEM_INLINE_BLOCK_(NAME, FORM, T, E, BYTES)         \
  SHMEM_INLINE_MOVE_(NAME##put##E, FORM, T, BYTES, put)       \
  SHMEM_INLINE_MOVE_(NAME##get##E, FORM, T, BYTES, get)       \
  SHMEM_INLINE_MOVE_(NAME##put##E##_nbi, FORM, T, BYTES, put) \
  SHMEM_INLINE_MOVE_(NAME##get##E##_nbi, FORM, T, BYTES, get)
# define SHMEM_INLINE_VALUE_(NAME, FORM, T)                                        \
  SHMEM_CALL_(void, , NAME##p, (SHMEM_PARAM_##FORM##_ T * dest, T value, int pe),  \
              (SHMEM_PASS_##FORM##_ dest, value, pe))                              \
  SHMEM_BODY_ void NAME##p(SHMEM_PARAM_##FORM##_ T *dest, T value, int pe) {       \
   if (!shmem_put_near_(SHMEM_OF_##FORM##_, dest, &value, sizeof value, pe))       \
    NAME##p##_far_(SHMEM_PASS_##FORM##_ dest, value, pe);                          \
  }                                                                                \
  SHMEM_CALL_(T, return, NAME##g, (SHMEM_PARAM_##FORM##_ const T *source, int pe), \
              (SHMEM_PASS_##FORM##_ source, pe))                                   \
  SHMEM_BODY_ T NAME##g(SHMEM_PARAM_##FORM##_ const T *source, int pe) {           \
   T value;                                                                        \
   if (!shmem_get_near_(SHMEM_OF_##FORM##_, &value, source, sizeof value, pe))     \
    value = NAME##g##_far_(SHMEM_PASS_##FORM##_ source, pe);                       \
   return value;                                                                   \
  }

# define SHMEM_INLINE_(N, T)                                 \
  SHMEM_INLINE_BLOCK_(shmem_##N##_, PLAIN, T, , sizeof(T))   \
  SHMEM_INLINE_BLOCK_(shmem_ctx_##N##_, CTX, T, , sizeof(T)) \
  SHMEM_INLINE_VALUE_(shmem_##N##_, PLAIN, T)                \
  SHMEM_INLINE_VALUE_(shmem_ctx_##N##_, CTX, T)
SHMEM_TYPES_RMA_(SHMEM_INLINE_)
# undef SHMEM_INLINE_
# define SHMEM_INLINE_(BITS, BYTES)                     \
  SHMEM_INLINE_BLOCK_(shmem_, PLAIN, void, BITS, BYTES) \
  SHMEM_INLINE_BLOCK_(shmem_ctx_, CTX, void, BITS, BYTES)
SHMEM_SIZES_(SHMEM_INLINE_)
SHMEM_INLINE_(mem, 1)
# undef SHMEM_INLINE_

#endif

#endif
