/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shmem/inline.h: put, get and atomics for PEs whose memory is mapped here, without a call.
 *
 * Owns: inline bodies of put, get, p, g, the nbi forms of put and get, and atomics but for their
 * nbi forms. Included by shmem.h where the compiler optimises, unless SHMEM_NO_INLINE is defined.
 * Calls: the routines of the library where the gate of the PE does not let an address through.
 * Invariants: a body serves inlining only (gnu_inline): the address of a routine, and a call that
 * is not inlined, are those of the library, and a program may define the routine itself. The
 * library leaves closed gates in the table when a routine is interposed (a profiling library), with
 * SHMEM_DEBUG and while events are recorded, so that each call reaches the library. Programs
 * contain this code: a change of the table, or of a gate, needs a new name.
 */
#ifndef SHMEM_INLINE_H
#define SHMEM_INLINE_H

/* In front of the symmetric memory of each PE, in it and of use to all: bytes that inline code may
 * reach, of the memory, and of the data segment of the program, which is its beginning. 0: it must
 * call the library. Puts must, while threads of the PE may sleep until words change. A put that
 * reads its limit just before such a thread begins to sleep wakes nobody; the first sleeps are
 * short. */
struct shmem_gate_ {
  uintptr_t put, put_statics, get, get_statics;
  uint32_t waiters; /* threads that may sleep */
};
#define SHMEM_GATE_BYTES_   64
#define SHMEM_GATE_(memory) ((struct shmem_gate_ *)(void *)((memory)-SHMEM_GATE_BYTES_))

/* The PEs that a context reaches: the first field of what shmem_ctx_t points at. An entry is the
 * memory of a PE as mapped in this process, or an address behind a gate of zeros. */
struct shmem_reach_ {
  char *const *puts; /* [size] */
  char *const *gets; /* [size] for gets and atomics; none where they must drive progress, because
                        some PE is not mapped */
  uint32_t size;     /* PEs of its team; 0: all calls reach the library */
};
#define SHMEM_INLINE_PES_ 512 /* PEs that inline code reaches by the default context */
struct shmem_inline_ {
  uintptr_t base;         /* symmetric memory of this PE */
  uintptr_t statics_away; /* base less the address of the program's data segment */
  char *puts[SHMEM_INLINE_PES_], *gets[SHMEM_INLINE_PES_]; /* as in struct shmem_reach_ */
};
extern struct shmem_inline_ shmem_inline_table_;
/* Wakes the threads of a PE that wait for words. */
void shmem_inline_wake_(shmem_ctx_t ctx, int pe);

#ifndef SHMEM_INLINE_TABLE_ONLY_ /* the library needs no bodies */

# define SHMEM_BODY_ extern __inline__ __attribute__((__gnu_inline__))
# define SHMEM_HELP_ extern __inline__ __attribute__((__gnu_inline__, __always_inline__))

/* Finds the memory of a PE. Returns 0 where the context does not reach it. in gets: for a get or an
 * atomic. */
SHMEM_HELP_ int shmem_memory_(shmem_ctx_t ctx, int gets, int pe, char **memory) {
  *memory = NULL; /* for gcc 12, which warns of an unset variable */
  if (ctx == SHMEM_CTX_DEFAULT) {
    if ((uint32_t)pe >= SHMEM_INLINE_PES_) return 0;
    *memory = (gets ? shmem_inline_table_.gets : shmem_inline_table_.puts)[(uint32_t)pe];
  } else {
    const struct shmem_reach_ *const reach = (const struct shmem_reach_ *)(const void *)ctx;
    if (ctx == SHMEM_CTX_INVALID || (uint32_t)pe >= reach->size) return 0;
    *memory = (gets ? reach->gets : reach->puts)[(uint32_t)pe];
  }
  return 1;
}

/* Finds an object of a PE. Returns 0 where the library must be called. out memory: of the PE;
 * offset: of the object in it. */
SHMEM_HELP_ int shmem_find_(shmem_ctx_t ctx, const void *object, int pe, char **memory,
                            uintptr_t *offset) {
  *offset = (uintptr_t)object - shmem_inline_table_.base;
  if (__builtin_expect(!shmem_memory_(ctx, 1, pe, memory), 0)) return 0;
  if (__builtin_expect(*offset < SHMEM_GATE_(*memory)->get, 1)) return 1;
  *offset += shmem_inline_table_.statics_away;
  return __builtin_expect(*offset < SHMEM_GATE_(*memory)->get_statics, 1) != 0;
}

/* A size that the compiler does not know is mostly that of one word. The compiler must not judge by
 * the sizes of objects what the test excludes. */
SHMEM_HELP_ void shmem_copy_(void *to, const void *from, size_t bytes) {
  __asm__ __volatile__("" : : : "memory");
  if (__builtin_constant_p(bytes)) {
    __builtin_memcpy(to, from, bytes);
  } else {
    __asm__ __volatile__("" : "+r"(to), "+r"(from));
    if (bytes == sizeof(uint64_t))
      __builtin_memcpy(to, from, sizeof(uint64_t));
    else
      __builtin_memcpy(to, from, bytes);
  }
  __asm__ __volatile__("" : : : "memory");
}

/* A condition that holds about as often as not: both paths stay in the loop of the caller. */
# define SHMEM_EVEN_(e) (e)
# ifdef __has_builtin
#  if __has_builtin(__builtin_expect_with_probability)
#   undef SHMEM_EVEN_
#   define SHMEM_EVEN_(e) __builtin_expect_with_probability(e, 1, 0.4)
#  endif
# endif

/* Puts, or gets, `bytes`. Returns 0 where the library must be called. in,out object: of the PE; it
 * is made again for that call, so that no register keeps it; here: of this PE. */
SHMEM_HELP_ int shmem_move_(shmem_ctx_t ctx, int gets, const void **object, void *here,
                            size_t bytes, int pe) {
  char *memory;
  uintptr_t away;
  __asm__("" : "=r"(away) : "0"((uintptr_t)*object - shmem_inline_table_.base));
  if (__builtin_expect(shmem_memory_(ctx, gets, pe, &memory), 1)) {
    const struct shmem_gate_ *const gate = SHMEM_GATE_(memory);
    int found = 1;
    if (SHMEM_EVEN_(away >= (gets ? gate->get : gate->put))) {
      away += shmem_inline_table_.statics_away;
      found = away < (gets ? gate->get_statics : gate->put_statics);
    }
    if (__builtin_expect(found, 1)) {
      shmem_copy_(gets ? here : memory + away, gets ? memory + away : here, bytes);
      return 1;
    }
    away -= shmem_inline_table_.statics_away;
  }
  *object = (const void *)(away + *(volatile uintptr_t *)&shmem_inline_table_.base);
  return 0;
}

/* Wakes a PE that may wait for a word that an atomic has just changed. */
SHMEM_HELP_ void shmem_wake_(shmem_ctx_t ctx, char *memory, int pe) {
  if (__builtin_expect(__atomic_load_n(&SHMEM_GATE_(memory)->waiters, __ATOMIC_RELAXED) != 0, 0))
    shmem_inline_wake_(ctx, pe);
}

/* The routine NAME of the library, by another name: a body must not call itself. A function of its
 * own around it, because clang inlines no body that seems to. */
# define SHMEM_CALL_(RET, RETURN, NAME, PARAMS, ARGS)               \
  RET NAME##_call_ PARAMS __asm__(#NAME) __attribute__((__cold__)); \
  SHMEM_HELP_ RET NAME##_far_ PARAMS {                              \
   RETURN NAME##_call_ ARGS;                                        \
  }

/* FORM: PLAIN, or CTX for routines with a context: parameter, argument, the context itself. */
# define SHMEM_PARAM_PLAIN_
# define SHMEM_PARAM_CTX_ shmem_ctx_t ctx,
# define SHMEM_PASS_PLAIN_
# define SHMEM_PASS_CTX_ ctx,
# define SHMEM_OF_PLAIN_ SHMEM_CTX_DEFAULT
# define SHMEM_OF_CTX_   ctx

/* BYTES: of an element. */
# define SHMEM_INLINE_PUT_(NAME, FORM, T, BYTES)                                                  \
  SHMEM_CALL_(void, , NAME,                                                                       \
              (SHMEM_PARAM_##FORM##_ T * dest, const T *source, size_t nelems, int pe),           \
              (SHMEM_PASS_##FORM##_ dest, source, nelems, pe))                                    \
  SHMEM_BODY_ void NAME(SHMEM_PARAM_##FORM##_ T *dest, const T *source, size_t nelems, int pe) {  \
   const void *to = dest;                                                                         \
   if (!shmem_move_(SHMEM_OF_##FORM##_, 0, &to, (void *)(uintptr_t)source, nelems * (BYTES), pe)) \
    NAME##_far_(SHMEM_PASS_##FORM##_(T *)(uintptr_t) to, source, nelems, pe);                     \
  }
# define SHMEM_INLINE_GET_(NAME, FORM, T, BYTES)                                                 \
  SHMEM_CALL_(void, , NAME,                                                                      \
              (SHMEM_PARAM_##FORM##_ T * dest, const T *source, size_t nelems, int pe),          \
              (SHMEM_PASS_##FORM##_ dest, source, nelems, pe))                                   \
  SHMEM_BODY_ void NAME(SHMEM_PARAM_##FORM##_ T *dest, const T *source, size_t nelems, int pe) { \
   const void *from = source;                                                                    \
   if (!shmem_move_(SHMEM_OF_##FORM##_, 1, &from, dest, nelems * (BYTES), pe))                   \
    NAME##_far_(SHMEM_PASS_##FORM##_ dest, (const T *)from, nelems, pe);                         \
  }
# define SHMEM_INLINE_BLOCK_(NAME, FORM, T, E, BYTES)   \
  SHMEM_INLINE_PUT_(NAME##put##E, FORM, T, BYTES)       \
  SHMEM_INLINE_GET_(NAME##get##E, FORM, T, BYTES)       \
  SHMEM_INLINE_PUT_(NAME##put##E##_nbi, FORM, T, BYTES) \
  SHMEM_INLINE_GET_(NAME##get##E##_nbi, FORM, T, BYTES)
# define SHMEM_INLINE_VALUE_(NAME, FORM, T)                                        \
  SHMEM_CALL_(void, , NAME##p, (SHMEM_PARAM_##FORM##_ T * dest, T value, int pe),  \
              (SHMEM_PASS_##FORM##_ dest, value, pe))                              \
  SHMEM_BODY_ void NAME##p(SHMEM_PARAM_##FORM##_ T *dest, T value, int pe) {       \
   const void *to = dest;                                                          \
   if (!shmem_move_(SHMEM_OF_##FORM##_, 0, &to, &value, sizeof value, pe))         \
    NAME##p##_far_(SHMEM_PASS_##FORM##_(T *)(uintptr_t) to, value, pe);            \
  }                                                                                \
  SHMEM_CALL_(T, return, NAME##g, (SHMEM_PARAM_##FORM##_ const T *source, int pe), \
              (SHMEM_PASS_##FORM##_ source, pe))                                   \
  SHMEM_BODY_ T NAME##g(SHMEM_PARAM_##FORM##_ const T *source, int pe) {           \
   const void *from = source;                                                      \
   T value;                                                                        \
   if (!shmem_move_(SHMEM_OF_##FORM##_, 1, &from, &value, sizeof value, pe))       \
    value = NAME##g##_far_(SHMEM_PASS_##FORM##_(const T *) from, pe);              \
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
   char *memory;                                                                           \
   if (__builtin_expect(shmem_find_(SHMEM_OF_##FORM##_, dest, pe, &memory, &offset), 1)) { \
    T *const at = (T *)(void *)(memory + offset);                                          \
    SHMEM_BEFORE_##KIND##_(T) DO(T);                                                       \
    shmem_wake_(SHMEM_OF_##FORM##_, memory, pe);                                           \
    return SHMEM_RESULT_##KIND##_;                                                         \
   }                                                                                       \
   SHMEM_RETURN_##KIND##_ NAME##_far_(SHMEM_PASS_##FORM##_ dest, SHMEM_GIVE_##ARGS##_ pe); \
  }
# define SHMEM_INLINE_READ_(NAME, FORM, T)                                                  \
  SHMEM_CALL_(T, return, NAME, (SHMEM_PARAM_##FORM##_ const T *source, int pe),             \
              (SHMEM_PASS_##FORM##_ source, pe))                                            \
  SHMEM_BODY_ T NAME(SHMEM_PARAM_##FORM##_ const T *source, int pe) {                       \
   uintptr_t offset;                                                                        \
   char *memory;                                                                            \
   T before;                                                                                \
   if (__builtin_expect(!shmem_find_(SHMEM_OF_##FORM##_, source, pe, &memory, &offset), 0)) \
    return NAME##_far_(SHMEM_PASS_##FORM##_ source, pe);                                    \
   __atomic_load((const T *)(const void *)(memory + offset), &before, __ATOMIC_SEQ_CST);    \
   return before;                                                                           \
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
# define SHMEM_INLINE_BOTH_(N, T, OP, ARGS, DO)           \
  SHMEM_INLINE_FORMS_(N, T, _fetch_##OP, ARGS, FETCH, DO) \
  SHMEM_INLINE_FORMS_(N, T, _##OP, ARGS, CHANGE, DO)
# define SHMEM_INLINE_(N, T)                                          \
  SHMEM_INLINE_FORMS_(N, T, _compare_swap, 2, FETCH, SHMEM_DO_CSWAP_) \
  SHMEM_INLINE_BOTH_(N, T, inc, 0, SHMEM_DO_INC_)                     \
  SHMEM_INLINE_BOTH_(N, T, add, 1, SHMEM_DO_ADD_)
SHMEM_TYPES_AMO_(SHMEM_INLINE_)
# undef SHMEM_INLINE_
# define SHMEM_INLINE_(N, T)                      \
  SHMEM_INLINE_BOTH_(N, T, and, 1, SHMEM_DO_AND_) \
  SHMEM_INLINE_BOTH_(N, T, or, 1, SHMEM_DO_OR_)   \
  SHMEM_INLINE_BOTH_(N, T, xor, 1, SHMEM_DO_XOR_)
SHMEM_TYPES_AMO_BIT_(SHMEM_INLINE_)
# undef SHMEM_INLINE_

#endif

#endif
