/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shmem/inline.h: put, get and atomics for PEs whose memory is mapped here, without a call.
 *
 * Owns: inline bodies of put, get, p, g, the nbi forms of put and get, and atomics but for their
 * nbi forms. Included by shmem.h where the compiler optimises, unless SHMEM_NO_INLINE is defined.
 * Calls: the routines of the library where the table shmem_inline_table_ does not hold the address.
 * Invariants: a body serves inlining only (gnu_inline): the address of a routine, and a call that
 * is not inlined, are those of the library, and a program may define the routine itself. The
 * library leaves the table empty when a routine is interposed (a profiling library), with
 * SHMEM_DEBUG and while events are recorded, so that each call reaches the library. Programs
 * contain this code: a change of the table needs a new name.
 */
#ifndef SHMEM_INLINE_H
#define SHMEM_INLINE_H

/* Symmetric memory of a PE, as mapped in this process. */
struct shmem_place_ {
  char *here;
  uintptr_t bytes; /* 0: inline code must call the library */
};
/* The PEs that a context reaches: the first field of what shmem_ctx_t points at. */
struct shmem_reach_ {
  const struct shmem_place_ *puts;  /* [size] */
  const struct shmem_place_ *reads; /* [size] for gets and atomics: empty where they must drive
                                       progress, because some PE is not mapped */
  uint32_t size;                    /* PEs of its team */
};
struct shmem_inline_ {
  struct shmem_reach_ world;
  uintptr_t base;                   /* symmetric memory of this PE */
  uintptr_t statics, statics_bytes; /* data segment of the program, which is its beginning */
  uintptr_t spare[4];
};
extern struct shmem_inline_ shmem_inline_table_;
/* Wakes the threads of a PE that wait for words. */
void shmem_inline_wake_(shmem_ctx_t ctx, int pe);
/* Bytes in front of a PE's memory: there is the word that says how many of its threads wait. */
#define SHMEM_WAITERS_ 64

#ifndef SHMEM_INLINE_TABLE_ONLY_ /* the library needs no bodies */

# define SHMEM_BODY_ extern __inline__ __attribute__((__gnu_inline__))
# define SHMEM_HELP_ extern __inline__ __attribute__((__gnu_inline__, __always_inline__))

SHMEM_HELP_ const struct shmem_reach_ *shmem_reach_(shmem_ctx_t ctx) {
  return (uintptr_t)ctx > (uintptr_t)SHMEM_CTX_DEFAULT
             ? (const struct shmem_reach_ *)(const void *)ctx
             : &shmem_inline_table_.world;
}

/* Finds an object of a PE. Returns 0 where the library must be called. out offset: of the object in
 * the memory of the PE. */
SHMEM_HELP_ int shmem_find_(const struct shmem_place_ *place, const void *object,
                            uintptr_t *offset) {
  const uintptr_t bytes = place->bytes;
  *offset = (uintptr_t)object - shmem_inline_table_.base;
  if (*offset >= bytes) { /* static variables are as likely as the heap */
    *offset = (uintptr_t)object - shmem_inline_table_.statics;
    if (__builtin_expect(!bytes || *offset >= shmem_inline_table_.statics_bytes, 0)) return 0;
  }
  return 1;
}

/* Whether a context reaches a PE. */
SHMEM_HELP_ int shmem_reaches_(shmem_ctx_t ctx, int pe) {
  return ctx != SHMEM_CTX_INVALID && (uint32_t)pe < shmem_reach_(ctx)->size;
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

/* Wakes a PE that may wait for what was just written to its memory. */
SHMEM_HELP_ void shmem_wake_(shmem_ctx_t ctx, char *memory, int pe) {
  if (__builtin_expect(
          __atomic_load_n((uint32_t *)(void *)(memory - SHMEM_WAITERS_), __ATOMIC_RELAXED) != 0, 0))
    shmem_inline_wake_(ctx, pe);
}

/* Returns whether the put is done. */
SHMEM_HELP_ int shmem_put_near_(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes,
                                int pe) {
  const struct shmem_place_ *place;
  char *here;
  uintptr_t offset;
  if (__builtin_expect(!shmem_reaches_(ctx, pe), 0)) return 0;
  place = &shmem_reach_(ctx)->puts[(uint32_t)pe];
  if (__builtin_expect(!shmem_find_(place, dest, &offset), 0)) return 0;
  here = place->here;
  shmem_copy_(here + offset, source, bytes);
  shmem_wake_(ctx, here, pe);
  return 1;
}

/* Returns whether the get is done. */
SHMEM_HELP_ int shmem_get_near_(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes,
                                int pe) {
  const struct shmem_place_ *place;
  uintptr_t offset;
  if (__builtin_expect(!shmem_reaches_(ctx, pe), 0)) return 0;
  place = &shmem_reach_(ctx)->reads[(uint32_t)pe];
  if (__builtin_expect(!shmem_find_(place, source, &offset), 0)) return 0;
  shmem_copy_(dest, place->here + offset, bytes);
  return 1;
}

/* The memory of a PE for an atomic; NULL: the library must be called. */
SHMEM_HELP_ char *shmem_atomic_near_(shmem_ctx_t ctx, const void *object, int pe,
                                     uintptr_t *offset) {
  const struct shmem_place_ *place;
  char *here;
  if (__builtin_expect(!shmem_reaches_(ctx, pe), 0)) return NULL;
  place = &shmem_reach_(ctx)->reads[(uint32_t)pe];
  if (__builtin_expect(!shmem_find_(place, object, offset), 0)) return NULL;
  here = place->here;
  if (!here) __builtin_unreachable(); /* so the caller makes no second test */
  return here;
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

/* Atomics. ARGS: number of operands; KIND: FETCH or CHANGE; DO: gives the word before. */
# define SHMEM_TAKE_0_(T)
# define SHMEM_TAKE_1_(T) T value,
# define SHMEM_TAKE_2_(T) T cond, T value,
# define SHMEM_GIVE_0_
# define SHMEM_GIVE_1_         value,
# define SHMEM_GIVE_2_         cond, value,
# define SHMEM_TYPE_FETCH_(T)  T
# define SHMEM_TYPE_CHANGE_(T) void
# define SHMEM_RETURN_FETCH_   return
# define SHMEM_RETURN_CHANGE_
# define SHMEM_BEFORE_FETCH_(T)  const T before =
# define SHMEM_BEFORE_CHANGE_(T) (void)
# define SHMEM_RESULT_FETCH_     before
# define SHMEM_RESULT_CHANGE_

# define SHMEM_INLINE_ATOMIC_(NAME, FORM, T, ARGS, KIND, DO)                               \
  SHMEM_CALL_(SHMEM_TYPE_##KIND##_(T), SHMEM_RETURN_##KIND##_, NAME,                       \
              (SHMEM_PARAM_##FORM##_ T * dest, SHMEM_TAKE_##ARGS##_(T) int pe),            \
              (SHMEM_PASS_##FORM##_ dest, SHMEM_GIVE_##ARGS##_ pe))                        \
  SHMEM_BODY_ SHMEM_TYPE_##KIND##_(T)                                                      \
      NAME(SHMEM_PARAM_##FORM##_ T *dest, SHMEM_TAKE_##ARGS##_(T) int pe) {                \
   uintptr_t offset;                                                                       \
   char *const memory = shmem_atomic_near_(SHMEM_OF_##FORM##_, dest, pe, &offset);         \
   if (__builtin_expect(memory != NULL, 1)) {                                              \
    T *const at = (T *)(void *)(memory + offset);                                          \
    SHMEM_BEFORE_##KIND##_(T) DO(T);                                                       \
    shmem_wake_(SHMEM_OF_##FORM##_, memory, pe);                                           \
    return SHMEM_RESULT_##KIND##_;                                                         \
   }                                                                                       \
   SHMEM_RETURN_##KIND##_ NAME##_far_(SHMEM_PASS_##FORM##_ dest, SHMEM_GIVE_##ARGS##_ pe); \
  }
# define SHMEM_INLINE_READ_(NAME, FORM, T)                                                       \
  SHMEM_CALL_(T, return, NAME, (SHMEM_PARAM_##FORM##_ const T *source, int pe),                  \
              (SHMEM_PASS_##FORM##_ source, pe))                                                 \
  SHMEM_BODY_ T NAME(SHMEM_PARAM_##FORM##_ const T *source, int pe) {                            \
   uintptr_t offset;                                                                             \
   const char *const memory = shmem_atomic_near_(SHMEM_OF_##FORM##_, source, pe, &offset);       \
   T before;                                                                                     \
   if (__builtin_expect(memory == NULL, 0)) return NAME##_far_(SHMEM_PASS_##FORM##_ source, pe); \
   __atomic_load((const T *)(const void *)(memory + offset), &before, __ATOMIC_SEQ_CST);         \
   return before;                                                                                \
  }

# define SHMEM_DO_SWAP_(T)                              \
  __extension__({                                       \
T old_;                                                 \
__atomic_exchange(at, &value, &old_, __ATOMIC_SEQ_CST); \
old_;                                                   \
  })
# define SHMEM_DO_CSWAP_(T)                                                           \
  __extension__({                                                                     \
T old_ = cond;                                                                        \
__atomic_compare_exchange_n(at, &old_, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
old_;                                                                                 \
  })
# define SHMEM_DO_SET_(T) __atomic_store(at, &value, __ATOMIC_SEQ_CST)
# define SHMEM_DO_INC_(T) __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST)
# define SHMEM_DO_ADD_(T) __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST)
# define SHMEM_DO_AND_(T) __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST)
# define SHMEM_DO_OR_(T)  __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST)
# define SHMEM_DO_XOR_(T) __atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST)

# define SHMEM_INLINE_FORMS_(N, T, OP, ARGS, KIND, DO)                   \
  SHMEM_INLINE_ATOMIC_(shmem_##N##_atomic##OP, PLAIN, T, ARGS, KIND, DO) \
  SHMEM_INLINE_ATOMIC_(shmem_ctx_##N##_atomic##OP, CTX, T, ARGS, KIND, DO)
# define SHMEM_INLINE_(N, T)                                 \
  SHMEM_INLINE_READ_(shmem_##N##_atomic_fetch, PLAIN, T)     \
  SHMEM_INLINE_READ_(shmem_ctx_##N##_atomic_fetch, CTX, T)   \
  SHMEM_INLINE_FORMS_(N, T, _swap, 1, FETCH, SHMEM_DO_SWAP_) \
  SHMEM_INLINE_FORMS_(N, T, _set, 1, CHANGE, SHMEM_DO_SET_)
SHMEM_TYPES_AMO_EXT_(SHMEM_INLINE_)
# undef SHMEM_INLINE_
# define SHMEM_INLINE_(N, T)                                          \
  SHMEM_INLINE_FORMS_(N, T, _compare_swap, 2, FETCH, SHMEM_DO_CSWAP_) \
  SHMEM_INLINE_FORMS_(N, T, _fetch_inc, 0, FETCH, SHMEM_DO_INC_)      \
  SHMEM_INLINE_FORMS_(N, T, _fetch_add, 1, FETCH, SHMEM_DO_ADD_)      \
  SHMEM_INLINE_FORMS_(N, T, _inc, 0, CHANGE, SHMEM_DO_INC_)           \
  SHMEM_INLINE_FORMS_(N, T, _add, 1, CHANGE, SHMEM_DO_ADD_)
SHMEM_TYPES_AMO_(SHMEM_INLINE_)
# undef SHMEM_INLINE_
# define SHMEM_INLINE_(N, T)                                     \
  SHMEM_INLINE_FORMS_(N, T, _fetch_and, 1, FETCH, SHMEM_DO_AND_) \
  SHMEM_INLINE_FORMS_(N, T, _fetch_or, 1, FETCH, SHMEM_DO_OR_)   \
  SHMEM_INLINE_FORMS_(N, T, _fetch_xor, 1, FETCH, SHMEM_DO_XOR_) \
  SHMEM_INLINE_FORMS_(N, T, _and, 1, CHANGE, SHMEM_DO_AND_)      \
  SHMEM_INLINE_FORMS_(N, T, _or, 1, CHANGE, SHMEM_DO_OR_)        \
  SHMEM_INLINE_FORMS_(N, T, _xor, 1, CHANGE, SHMEM_DO_XOR_)
SHMEM_TYPES_AMO_BIT_(SHMEM_INLINE_)
# undef SHMEM_INLINE_

#endif

#endif
