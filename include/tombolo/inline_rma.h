/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/inline_rma.h: put and get (API 03), the part that runs in the caller.
 *
 * Included by gasnetex.h. Each inline is: mapped? copy and done; otherwise call the library's
 * checked form, which serves unmapped peers, unusual flags and every call of a debug client.
 * Invariants: no loop, no lock; a copy is fenced against the compiler on both sides, and the load
 * of a value is volatile and fenced behind, so that a loop of gets re-reads; on the mapped path the
 * operation is complete on return, hence the event is GEX_EVENT_INVALID. Addresses: `dest` of a put
 * and `src` of a get are in the owner's address space, inside its bound segment.
 */
#ifndef GEXX_INLINE_RMA_H
#define GEXX_INLINE_RMA_H

GEXX_CASTS_BEGIN
#ifdef __cplusplus
extern "C" {
#endif

/* Flags that the inlines leave to the library. */
#define GEXX_RMA_SLOW_FLAGS                                                         \
 (GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_OFFSET | GEX_FLAG_PEER_SEG_UNKNOWN | \
  GEX_FLAG_PEER_SEG_SOME)

/* Library forms: contracts of the gex_RMA_ calls with these endings. */
GEXX_API int gexx_rma_put(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
                          gex_Flags_t flags);
GEXX_API int gexx_rma_put_nbi(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src,
                              size_t nbytes, gex_Event_t *lc_opt, gex_Flags_t flags);
GEXX_API gex_Event_t gexx_rma_put_nb(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src,
                                     size_t nbytes, gex_Event_t *lc_opt, gex_Flags_t flags);
GEXX_API int gexx_rma_get(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes,
                          gex_Flags_t flags);
GEXX_API int gexx_rma_get_nbi(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes,
                              gex_Flags_t flags);
GEXX_API gex_Event_t gexx_rma_get_nb(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src,
                                     size_t nbytes, gex_Flags_t flags);
GEXX_API gex_RMA_Value_t gexx_rma_get_val(gex_TM_t tm, gex_Rank_t rank, void *src, size_t nbytes,
                                          gex_Flags_t flags);
GEXX_API int gexx_rma_put_val(gex_TM_t tm, gex_Rank_t rank, void *dest, gex_RMA_Value_t value,
                              size_t nbytes, gex_Flags_t flags);
GEXX_API int gexx_rma_put_nbi_val(gex_TM_t tm, gex_Rank_t rank, void *dest, gex_RMA_Value_t value,
                                  size_t nbytes, gex_Flags_t flags);
GEXX_API gex_Event_t gexx_rma_put_nb_val(gex_TM_t tm, gex_Rank_t rank, void *dest,
                                         gex_RMA_Value_t value, size_t nbytes, gex_Flags_t flags);

/* Offset from an address of (tm, rank) to ours; GEXX_UNMAPPED also where the library has to decide.
 * Read once for each operation: it changes when the peer is lost (ext_failure.h). */
GEXX_INLINE intptr_t gexx_rma_delta(gex_TM_t tm, gex_Rank_t rank) {
  return GEXX_DEBUG ? GEXX_UNMAPPED : __atomic_load_n(&tm->delta[rank], __ATOMIC_RELAXED);
}

/* Address in this process of an address of a mapped peer. */
GEXX_INLINE void *gexx_rma_local(intptr_t delta, const void *addr) {
  return (void *)((uintptr_t)addr + (uintptr_t)delta);
}

/* Whether a peer with this delta can be served by a copy here. */
GEXX_INLINE int gexx_rma_direct(intptr_t delta, gex_Flags_t flags) {
  return !GEXX_DEBUG && GEXX_LIKELY(delta != GEXX_UNMAPPED) && !(flags & GEXX_RMA_SLOW_FLAGS);
}

/* As gexx_rma_direct, for an access to an address. [in,out] addr: of the peer; becomes that of this
 * process. Segments of a host's ranks lie at the same addresses where they can, so the
 * branch is predicted, and the copy starts before the delta is there: loads that follow a store
 * whose address is not known yet would wait for it. */
GEXX_INLINE_ALWAYS int gexx_rma_reach(intptr_t delta, gex_Flags_t flags, void **addr) {
  if (GEXX_DEBUG || (flags & GEXX_RMA_SLOW_FLAGS)) return 0;
  if (GEXX_UNLIKELY(delta)) {
    if (GEXX_UNLIKELY(delta == GEXX_UNMAPPED)) return 0;
    *addr = gexx_rma_local(delta, *addr);
    __asm__("" : "+r"(*addr)); /* no addition in place of the branch */
  }
  return 1;
}

/* Integers at any address and in any object: each copy is one load and one store. */
typedef uint16_t gexx_any16_t __attribute__((__may_alias__, __aligned__(1)));
typedef uint32_t gexx_any32_t __attribute__((__may_alias__, __aligned__(1)));
typedef uint64_t gexx_any64_t __attribute__((__may_alias__, __aligned__(1)));

/* Copies nbytes, 0..7. Sizes 1, 2 and 4 take one store: a second store of the same bytes could undo
 * a change that the owner makes after the first. */
GEXX_INLINE_ALWAYS void gexx_rma_copy_below8(void *dest, const void *src, size_t nbytes) {
  const char *const from = (const char *)src;
  char *const to = (char *)dest;
  if (nbytes == 4) {
    *(gexx_any32_t *)dest = *(const gexx_any32_t *)src;
  } else if (nbytes > 4) {
    const uint32_t last = *(const gexx_any32_t *)(const void *)(from + nbytes - 4);
    *(gexx_any32_t *)dest = *(const gexx_any32_t *)src;
    *(gexx_any32_t *)(void *)(to + nbytes - 4) = last;
  } else if (nbytes) {
    if (nbytes > 1) *(gexx_any16_t *)dest = *(const gexx_any16_t *)src;
    if (nbytes != 2) to[nbytes - 1] = from[nbytes - 1];
  }
}

/* Copies nbytes, 9..64, by two or four moves; the last ones end where the bytes end. */
GEXX_INLINE_ALWAYS void gexx_rma_copy_to64(void *dest, const void *src, size_t nbytes) {
  const char *const from = (const char *)src, *const from_end = from + nbytes;
  char *const to = (char *)dest, *const to_end = to + nbytes;
  if (nbytes <= 16) {
    memcpy(to, from, 8);
    memcpy(to_end - 8, from_end - 8, 8);
    return;
  }
  memcpy(to, from, 16);
  if (nbytes > 32) {
    memcpy(to + 16, from + 16, 16);
    memcpy(to_end - 32, from_end - 32, 16);
  }
  memcpy(to_end - 16, from_end - 16, 16);
}

/* Copies nbytes, 0..64. */
GEXX_INLINE_ALWAYS void gexx_rma_copy_short(void *dest, const void *src, size_t nbytes) {
  if (nbytes == 8)
    *(gexx_any64_t *)dest = *(const gexx_any64_t *)src;
  else if (nbytes > 8)
    gexx_rma_copy_to64(dest, src, nbytes);
  else
    gexx_rma_copy_below8(dest, src, nbytes);
}

/* memcpy, called without the jump of the linkage table. */
#if defined(__clang__)
# define gexx_rma_memcpy memcpy
#else
extern void *gexx_rma_memcpy(void *dest, const void *src, size_t nbytes) __asm__("memcpy")
    __attribute__((__noplt__));
#endif

/* Copies nbytes (zero: neither address is used) between addresses of this process, between fences
 * against the compiler. Runtimes of languages pass the size of an element in a variable; up to 64
 * bytes no call is made for it. The operands are hidden from the compiler then: it would warn of
 * branches for sizes that an object cannot have, and make a string instruction of a large copy,
 * which takes longer to start than memcpy takes in all. */
GEXX_INLINE_ALWAYS void gexx_rma_copy(void *dest, const void *src, size_t nbytes) {
  GEXX_COMPILER_FENCE();
  if (!__builtin_constant_p(nbytes) || nbytes > 256) {
    __asm__("" : "+r"(dest), "+r"(src), "+r"(nbytes));
    if (GEXX_LIKELY(nbytes > 64)) /* short copies can spare a jump */
      (void)gexx_rma_memcpy(dest, src, nbytes);
    else
      gexx_rma_copy_short(dest, src, nbytes);
  } else if (nbytes) {
    memcpy(dest, src, nbytes);
  }
  GEXX_COMPILER_FENCE();
}

/* Bits that an integer of nbytes, 1..8, lies behind the start of a value in memory. */
GEXX_INLINE unsigned gexx_rma_val_shift(size_t nbytes) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return 64u - 8u * (unsigned)nbytes;
#else
  (void)nbytes;
  return 0;
#endif
}

/* A size that is compared with one constant after the other. Hidden in between: Clang would make a
 * jump by a table of them, which takes longer than the copy. */
GEXX_INLINE_ALWAYS size_t gexx_rma_size(size_t nbytes) {
  if (!__builtin_constant_p(nbytes)) __asm__("" : "+r"(nbytes));
  return nbytes;
}

/* Stores the low nbytes bytes of value in native order; 0..8. */
GEXX_INLINE void gexx_rma_store_val(void *dest, gex_RMA_Value_t value, size_t nbytes) {
  GEXX_COMPILER_FENCE();
  if (nbytes == 8) {
    *(gexx_any64_t *)dest = value;
  } else if (gexx_rma_size(nbytes) == 4) {
    *(gexx_any32_t *)dest = (uint32_t)value;
  } else if (gexx_rma_size(nbytes) == 2) {
    *(gexx_any16_t *)dest = (uint16_t)value;
  } else if (nbytes == 1) {
    *(char *)dest = (char)value;
  } else if (nbytes) {
    const gex_RMA_Value_t other = value << gexx_rma_val_shift(nbytes);
    gexx_rma_copy_below8(dest, &other, nbytes);
  }
  GEXX_COMPILER_FENCE();
}

/* Loads nbytes bytes, zero-extended; 0, 3, 5, 6 or 7: from two loads that may overlap. */
GEXX_INLINE gex_RMA_Value_t gexx_rma_load_other(const void *src, size_t nbytes) {
  const char *const from = (const char *)src;
  const unsigned other_bits = nbytes > 4 ? 8u * (unsigned)(nbytes - 4) : 8u;
  gex_RMA_Value_t first, last;
  if (!nbytes) return 0;
  first = nbytes > 4 ? *(const volatile gexx_any32_t *)src : *(const volatile gexx_any16_t *)src;
  last = nbytes > 4 ? *(const volatile gexx_any32_t *)(const void *)(from + nbytes - 4)
                    : *(const volatile unsigned char *)(from + 2);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return first << other_bits | last;
#else
  return first | last << (nbytes > 4 ? other_bits : 16u);
#endif
}

/* Loads nbytes bytes, zero-extended; 0..8. The load is volatile, so a loop reads again. */
GEXX_INLINE gex_RMA_Value_t gexx_rma_load_val(const void *src, size_t nbytes) {
  gex_RMA_Value_t value;
  if (nbytes == 8)
    value = *(const volatile gexx_any64_t *)src;
  else if (gexx_rma_size(nbytes) == 4)
    value = *(const volatile gexx_any32_t *)src;
  else if (gexx_rma_size(nbytes) == 2)
    value = *(const volatile gexx_any16_t *)src;
  else if (nbytes == 1)
    value = *(const volatile unsigned char *)src;
  else
    value = gexx_rma_load_other(src, nbytes);
  GEXX_COMPILER_FENCE();
  return value;
}

/* Page gex_RMA_PutNB: put and get.
 * A put copies local memory into the bound segment of a peer; a get copies from there. The peer
 * takes no part. Blocking forms return when the data are in place. NBI forms join the implicit
 * operations of the thread. NB forms return an event.
 * [in] value: the integer to store.
 * Completion: a put is complete when the data are in the memory of the peer, a get when they are
 * here. Local completion of a put means that src may be changed. Operations are not ordered among
 * each other: wait for one before the next one that must see it.
 * Threads: normal context, any thread; may poll, so that handlers may run.
 * Errors: addresses outside the bound segment end the process with a message that names them;
 * without GASNET_DEBUG that is not checked for mapped peers. A non-zero result or GEX_EVENT_NO_OP
 * comes with GEX_FLAG_IMMEDIATE only and means that nothing was done. Blocking forms return
 * GEXX_ERR_LOST when the peer is lost.
 * Cost: the copy alone when the peer shares memory with the caller. Otherwise the network's put or
 * get, or messages of up to 64 KiB, without help of the peer's program but for its polls.
 * See: gex_Event_Wait, gex_VIS_StridedPutNB, gexx_RMA_PutSignalNB, gex_AD_OpNB_I32,
 * gex_Segment_Attach */

/* Puts nbytes from local src to dest at (tm, rank); returns when the data are there.
 * Returns 0; non-zero only with GEX_FLAG_IMMEDIATE when nothing was done. Normal context; may poll.
 * Any thread. API 03.1. */
GEXX_INLINE_ALWAYS int gex_RMA_PutBlocking(gex_TM_t tm, gex_Rank_t rank, void *dest,
                                           const void *src, size_t nbytes, gex_Flags_t flags) {
  const intptr_t delta = gexx_rma_delta(tm, rank);
  void *here = dest;
  if (!gexx_rma_reach(delta, flags, &here)) return gexx_rma_put(tm, rank, dest, src, nbytes, flags);
  gexx_rma_copy(here, src, nbytes);
  return 0;
}

/* Puts without waiting; completion in category GEX_EC_PUT of the thread's implicit set or open
 * access region. [in] lc_opt: GEX_EVENT_NOW, DEFER or GROUP. Returns as PutBlocking. API 03.1,
 * 03.4. */
GEXX_INLINE_ALWAYS int gex_RMA_PutNBI(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src,
                                      size_t nbytes, gex_Event_t *lc_opt, gex_Flags_t flags) {
  const intptr_t delta = gexx_rma_delta(tm, rank);
  void *here = dest;
  if (!gexx_rma_reach(delta, flags, &here))
    return gexx_rma_put_nbi(tm, rank, dest, src, nbytes, lc_opt, flags);
  gexx_rma_copy(here, src, nbytes);
  return 0;
}

/* Puts without waiting; returns the root event of remote completion (GEX_EVENT_INVALID: complete;
 * GEX_EVENT_NO_OP only with GEX_FLAG_IMMEDIATE). [out] lc_opt: GEX_EVENT_NOW, DEFER, or where to
 * store the leaf of local completion. API 03.1, 03.4. */
GEXX_INLINE_ALWAYS GEXX_WARN_UNUSED gex_Event_t gex_RMA_PutNB(gex_TM_t tm, gex_Rank_t rank,
                                                              void *dest, const void *src,
                                                              size_t nbytes, gex_Event_t *lc_opt,
                                                              gex_Flags_t flags) {
  const intptr_t delta = gexx_rma_delta(tm, rank);
  void *here = dest;
  if (!gexx_rma_reach(delta, flags, &here))
    return gexx_rma_put_nb(tm, rank, dest, src, nbytes, lc_opt, flags);
  gexx_rma_copy(here, src, nbytes);
  if ((uintptr_t)lc_opt > (uintptr_t)GEX_EVENT_GROUP) *lc_opt = GEX_EVENT_INVALID;
  return GEX_EVENT_INVALID;
}

/* Gets nbytes from src at (tm, rank) to local dest; returns with the data. Note the argument order.
 * API 03.1. */
GEXX_INLINE_ALWAYS int gex_RMA_GetBlocking(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src,
                                           size_t nbytes, gex_Flags_t flags) {
  const intptr_t delta = gexx_rma_delta(tm, rank);
  void *here = src;
  if (!gexx_rma_reach(delta, flags, &here)) return gexx_rma_get(tm, dest, rank, src, nbytes, flags);
  gexx_rma_copy(dest, here, nbytes);
  return 0;
}

/* Gets without waiting; category GEX_EC_GET. API 03.1. */
GEXX_INLINE_ALWAYS int gex_RMA_GetNBI(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src,
                                      size_t nbytes, gex_Flags_t flags) {
  const intptr_t delta = gexx_rma_delta(tm, rank);
  void *here = src;
  if (!gexx_rma_reach(delta, flags, &here))
    return gexx_rma_get_nbi(tm, dest, rank, src, nbytes, flags);
  gexx_rma_copy(dest, here, nbytes);
  return 0;
}

/* Gets without waiting; returns the root event. API 03.1. */
GEXX_INLINE_ALWAYS GEXX_WARN_UNUSED gex_Event_t gex_RMA_GetNB(gex_TM_t tm, void *dest,
                                                              gex_Rank_t rank, void *src,
                                                              size_t nbytes, gex_Flags_t flags) {
  const intptr_t delta = gexx_rma_delta(tm, rank);
  void *here = src;
  if (!gexx_rma_reach(delta, flags, &here))
    return gexx_rma_get_nb(tm, dest, rank, src, nbytes, flags);
  gexx_rma_copy(dest, here, nbytes);
  return GEX_EVENT_INVALID;
}

/* Gets an integer of nbytes (1..8) bytes in native order, zero-extended; GEX_FLAG_IMMEDIATE is
 * ignored. API 03.2. */
GEXX_INLINE gex_RMA_Value_t gex_RMA_GetBlockingVal(gex_TM_t tm, gex_Rank_t rank, void *src,
                                                   size_t nbytes, gex_Flags_t flags) {
  const intptr_t delta = gexx_rma_delta(tm, rank);
  void *here = src;
  if (!gexx_rma_reach(delta, flags, &here)) return gexx_rma_get_val(tm, rank, src, nbytes, flags);
  return gexx_rma_load_val(here, nbytes);
}

/* Puts the low nbytes (1..8) bytes of value as an integer in native order; blocking. API 03.2. */
GEXX_INLINE int gex_RMA_PutBlockingVal(gex_TM_t tm, gex_Rank_t rank, void *dest,
                                       gex_RMA_Value_t value, size_t nbytes, gex_Flags_t flags) {
  const intptr_t delta = gexx_rma_delta(tm, rank);
  void *here = dest;
  if (!gexx_rma_reach(delta, flags, &here))
    return gexx_rma_put_val(tm, rank, dest, value, nbytes, flags);
  gexx_rma_store_val(here, value, nbytes);
  return 0;
}

/* Puts an integer; implicit completion, category GEX_EC_PUT. API 03.2. */
GEXX_INLINE int gex_RMA_PutNBIVal(gex_TM_t tm, gex_Rank_t rank, void *dest, gex_RMA_Value_t value,
                                  size_t nbytes, gex_Flags_t flags) {
  const intptr_t delta = gexx_rma_delta(tm, rank);
  void *here = dest;
  if (!gexx_rma_reach(delta, flags, &here))
    return gexx_rma_put_nbi_val(tm, rank, dest, value, nbytes, flags);
  gexx_rma_store_val(here, value, nbytes);
  return 0;
}

/* Puts an integer; returns a root event. API 03.2. */
GEXX_INLINE GEXX_WARN_UNUSED gex_Event_t gex_RMA_PutNBVal(gex_TM_t tm, gex_Rank_t rank, void *dest,
                                                          gex_RMA_Value_t value, size_t nbytes,
                                                          gex_Flags_t flags) {
  const intptr_t delta = gexx_rma_delta(tm, rank);
  void *here = dest;
  if (!gexx_rma_reach(delta, flags, &here))
    return gexx_rma_put_nb_val(tm, rank, dest, value, nbytes, flags);
  gexx_rma_store_val(here, value, nbytes);
  return GEX_EVENT_INVALID;
}

#ifdef __cplusplus
}
#endif
GEXX_CASTS_END

#endif
