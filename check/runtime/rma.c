/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and get, alone and with a signal.
 *
 * Owns nothing. These are calls of the library (inline_rma.h, inline_notify.h), which the inline
 * forms reach because the library says while a check is on that no memory is mapped. Each records
 * the access at the peer and the one to local memory, calls the library, and leaves to pending.c
 * what lasts longer. Invariants: an access is recorded before it begins; a blocking one ends when
 * the call returns. A put with a signal is ordered for the rank that takes the signal, whether or
 * not its origin has waited for it.
 */
#include "check/runtime/chk.h"

/* Addresses that mean something else, see gasnet_fwd.h. */
#define OFFSETS ((gex_Flags_t)(GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_OFFSET))

/* One transfer. */
struct transfer {
  gex_TM_t tm;
  gex_Rank_t rank;
  bool is_get, lasts;         /* it may go on when the call has returned */
  const void *remote, *local; /* local NULL: a value */
  size_t bytes;
  gex_Flags_t flags;
  const gex_Event_t *lc; /* of a put that lasts */
};

/* Address of an offset in the segment of a rank; NULL: not known. */
static const void *address(uint32_t jobrank, const void *offset) {
  const gasnet_seginfo_t *const all = chk_segments();
  return all ? (const char *)all[jobrank].addr + (uintptr_t)offset : NULL;
}

static const void *local_of(const struct transfer *t) {
  return t->flags & GEX_FLAG_SELF_SEG_OFFSET ? address(chk.rank, t->local) : t->local;
}

static bool may_be_strict(const struct transfer *t) {
  return CHK_UNLIKELY(chk.all_strict) && t->bytes <= 8;
}

/* The side at the peer. in more: CHK_WRITE, CHK_SIGNALS. */
static uint64_t touch_remote(const struct transfer *t, uint32_t peer, uintptr_t at, uint32_t site,
                             uint32_t more) {
  const bool strict = chk_strict(), put = (more & CHK_WRITE) != 0;
  const bool word =
      put && (chk.words || may_be_strict(t)) && t->bytes <= 8 && !(more & CHK_SIGNALS);
  const bool lasts = t->lasts || (t->flags & GEX_FLAG_IMMEDIATE) || (more & CHK_SIGNALS);
  const uint32_t flags = CHK_TRANSFER | more | (strict || may_be_strict(t) ? CHK_ATOMIC : 0);
  const uint64_t number =
      chk_touch(&(struct chk_range){peer, at, t->bytes, flags}, site, lasts || strict || word);
  if (strict)
    chk_strict_word(peer, at, site, put ? number : 0);
  else if (word)
    chk_word_give(peer, at, site, number);
  return number;
}

/* Record both sides. Returns what is to end. */
static struct chk_pending begin(const struct transfer *t, uint32_t site, uint32_t more) {
  const uint32_t peer = chk_jobrank(t->tm, t->rank);
  const void *const at = t->flags & GEX_FLAG_PEER_SEG_OFFSET ? address(peer, t->remote) : t->remote;
  const bool lasts = t->lasts || (t->flags & GEX_FLAG_IMMEDIATE);
  struct chk_pending p = {.category = t->is_get ? GEX_EC_GET : GEX_EC_PUT, .site = site};
  const uint32_t write = t->is_get ? 0 : CHK_WRITE;
  if (at) p.remote = touch_remote(t, peer, (uintptr_t)at, site, write | more);
  if (at && t->is_get && may_be_strict(t)) {
    p.word = (uintptr_t)at;
    p.owner = peer;
  }
  const bool here = lasts && (t->is_get || (t->lasts && chk_source_lasts(t->lc)));
  p.local = chk_local_side(&(struct chk_range){peer, (uintptr_t)at, t->bytes, 0}, local_of(t),
                           t->is_get ? CHK_WRITE : 0, site, here);
  return p;
}

static struct chk_pending start(const struct transfer *t, const char *call, const void *pc) {
  chk_enter();
  const struct chk_pending p = begin(t, chk_site(call, pc), 0);
  chk_exit();
  return p;
}

/* As start, of a transfer that is not in memory yet, as one that start_near has left. */
static __attribute__((noinline)) struct chk_pending start_far(struct transfer t, const char *call,
                                                              const void *pc) {
  return start(&t, call, pc);
}

#define SLOW_FLAGS (GEXX_RMA_SLOW_FLAGS | GEX_FLAG_IMMEDIATE)
#define NEAR_BYTES 64u

/* Whether a blocking transfer is the usual one of a few bytes, whose local side is not recorded. */
static inline bool is_usual(const struct transfer *t) {
  const bool puts_give = chk.words || chk.all_strict || chk_strict();
  return t->bytes - 1 < NEAR_BYTES && !(t->flags & SLOW_FLAGS) && !CHK_UNLIKELY(puts_give) &&
         !chk.open_here && (!t->local || !chk_segment_has(t->local)) &&
         (uintptr_t)t->remote % CHK_PAGE_BYTES + t->bytes <= CHK_PAGE_BYTES;
}

/* The word of an access of one granule; 0: it needs a record. */
static inline uint64_t word_of(const struct chk_range *range, const char *call, const void *pc) {
  struct chk_known *const k = &chk_known[chk_known_place(pc)];
  const uint32_t first = range->addr % CHK_GRANULE;
  const uint64_t clock = chk.clock[chk.rank];
  if (first + range->bytes > CHK_GRANULE || chk.threads || clock > CHK_EPOCH_CLOCK) return 0;
  if (CHK_UNLIKELY(k->pc != pc || k->call != call)) return 0; /* chk_site is to find it */
  if (CHK_UNLIKELY(!k->epoch) && k->site - 1 < CHK_RUNTIME - 1)
    k->epoch = chk_epoch_of(k->site, range->flags);
  const uint32_t mask = ((1u << range->bytes) - 1) << first;
  return k->epoch ? chk_epoch_at(k->epoch, clock, mask) : 0;
}

/* Records a blocking transfer that is a copy here. Returns what to add to the peer's address, or
 * GEXX_UNMAPPED: it is for the library, and not recorded. It orders nothing, so that loads and
 * stores of before are entered later. */
static inline __attribute__((always_inline)) intptr_t start_any(const struct transfer *t,
                                                                const char *call, const void *pc) {
  intptr_t delta = GEXX_UNMAPPED;
  if (!chk_may_delay()) chk_guard();
  if (CHK_LIKELY(is_usual(t))) delta = chk_near(CHK_TEAM, t->tm, t->rank);
  const uint32_t flags = CHK_TRANSFER | (t->is_get ? 0 : CHK_WRITE);
  const struct chk_range range = {chk_jobrank(t->tm, t->rank), (uintptr_t)t->remote, t->bytes,
                                  flags};
  const struct chk_hand *const h =
      delta == GEXX_UNMAPPED ? NULL : chk_hand_of(range.owner, range.addr, true);
  if (CHK_LIKELY(h)) {
    struct chk_page *const page = h->page;
    uint64_t *const first = h->words + range.addr % CHK_PAGE_BYTES / CHK_GRANULE;
    chk_ahead(page, first, gexx_rma_local(delta, t->remote));
    const uint64_t word = word_of(&range, call, pc);
    struct chk_delayed *const d = chk_delay(page, range.owner, first, word);
    d->addr = range.addr;
    d->site = CHK_LIKELY(word) ? 0 : chk_site(call, pc);
    d->bytes = (uint16_t)range.bytes;
    d->flags = (uint16_t)flags;
    if (CHK_UNLIKELY(chk.threads))
      chk_enter_once(d);
    else
      chk_delay_end();
  }
  chk_exit();
  return h ? delta : GEXX_UNMAPPED;
}

/* As start_any, for one that start_once has left. */
static __attribute__((noinline)) intptr_t start_slow(struct transfer t, const char *call,
                                                     const void *pc) {
  return start_any(&t, call, pc);
}

/* Whether a transfer is one of bytes of one granule, whose local side is not recorded. */
static inline bool is_simple(const struct transfer *t) {
  const bool short_one = (uintptr_t)t->remote % CHK_GRANULE + (t->bytes - 1) < CHK_GRANULE;
  const bool here = (uintptr_t)t->local - chk.own.base < chk.own.bytes;
  return chk_may_delay() && !chk.unusual && !chk.open_here && !chk_strict() &&
         !(t->flags & SLOW_FLAGS) && short_one && !here;
}

/* As start_any, of bytes of one granule where nothing else was accessed, by a line that is known.
 * Most are. */
static inline __attribute__((always_inline)) intptr_t start_once(const struct transfer *t,
                                                                 const char *call, const void *pc) {
  const struct chk_known *const k = &chk_known[chk_known_place(pc)];
  const uintptr_t addr = (uintptr_t)t->remote;
  const bool known = k->pc == pc && k->call == call && k->epoch;
  if (CHK_UNLIKELY(!known || !is_simple(t))) return GEXX_UNMAPPED;
  const intptr_t delta = chk_near(CHK_TEAM, t->tm, t->rank);
  const uint32_t peer = chk_jobrank(t->tm, t->rank);
  const struct chk_hand *const h = chk_hand_here(peer, addr);
  if (CHK_UNLIKELY(!h || delta == GEXX_UNMAPPED)) return GEXX_UNMAPPED;
  struct chk_page *const page = h->page;
  uint64_t *const first = h->words + addr % CHK_PAGE_BYTES / CHK_GRANULE;
  chk_ahead(page, first, gexx_rma_local(delta, t->remote));
  const uint64_t clock = chk.clock[chk.rank];
  const uint32_t mask = (0xffu >> (CHK_GRANULE - t->bytes)) << addr % CHK_GRANULE;
  const uint64_t word = chk_epoch_at(k->epoch, clock, mask);
  if (CHK_UNLIKELY(clock > CHK_EPOCH_CLOCK)) return GEXX_UNMAPPED;
  (void)chk_delay(page, peer, first, word);
  chk_delay_end();
  return delta;
}

/* As start_any. Inlined, so that what is known of a call is. */
static inline __attribute__((always_inline)) intptr_t start_near(const struct transfer *t,
                                                                 const char *call, const void *pc) {
  const intptr_t delta = start_once(t, call, pc);
  return CHK_LIKELY(delta != GEXX_UNMAPPED) ? delta : start_slow(*t, call, pc);
}

/* The end of a call that returns when it is complete, or refused. Returns rc. */
static int settled(const struct chk_pending *p, int rc, gex_Flags_t flags) {
  (void)chk_started(p, rc && (flags & GEX_FLAG_IMMEDIATE) ? GEX_EVENT_NO_OP : GEX_EVENT_INVALID);
  return rc;
}

#define SETTLED(call)    return settled(&p, call, flags)

#define START(call, ...) start(&(struct transfer){__VA_ARGS__}, call, __builtin_return_address(0))

/* Whether a call is to be checked: not one that the library makes itself. */
#define OUTER            (chk_on() && !chk_inner(__builtin_return_address(0)))

int gexx_rma_put(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
                 gex_Flags_t flags) {
  if (!OUTER) return chk_real.gexx_rma_put(tm, rank, dest, src, nbytes, flags);
  const struct transfer t = {tm, rank, false, false, dest, src, nbytes, flags, NULL};
  const void *const pc = __builtin_return_address(0);
  const intptr_t delta = start_near(&t, "gex_RMA_PutBlocking", pc);
  if (delta != GEXX_UNMAPPED) {
    gexx_rma_copy(gexx_rma_local(delta, dest), src, nbytes);
    return 0;
  }
  const struct chk_pending p = start_far(t, "gex_RMA_PutBlocking", pc);
  SETTLED(chk_real.gexx_rma_put(tm, rank, dest, src, nbytes, flags));
}

CHK_DEFINE(int, gexx_rma_put_nbi,
           (gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
            gex_Event_t *lc_opt, gex_Flags_t flags),
           (tm, rank, dest, src, nbytes, lc_opt, flags), CHK_STARTED_NBI,
           START("gex_RMA_PutNBI", tm, rank, false, true, dest, src, nbytes, flags, lc_opt))

CHK_DEFINE(gex_Event_t, gexx_rma_put_nb,
           (gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
            gex_Event_t *lc_opt, gex_Flags_t flags),
           (tm, rank, dest, src, nbytes, lc_opt, flags), CHK_STARTED,
           START("gex_RMA_PutNB", tm, rank, false, true, dest, src, nbytes, flags, lc_opt))

int gexx_rma_get(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes,
                 gex_Flags_t flags) {
  if (!OUTER) return chk_real.gexx_rma_get(tm, dest, rank, src, nbytes, flags);
  const struct transfer t = {tm, rank, true, false, src, dest, nbytes, flags, NULL};
  const void *const pc = __builtin_return_address(0);
  const intptr_t delta = start_near(&t, "gex_RMA_GetBlocking", pc);
  if (delta != GEXX_UNMAPPED) {
    gexx_rma_copy(dest, gexx_rma_local(delta, src), nbytes);
    return 0;
  }
  const struct chk_pending p = start_far(t, "gex_RMA_GetBlocking", pc);
  SETTLED(chk_real.gexx_rma_get(tm, dest, rank, src, nbytes, flags));
}

CHK_DEFINE(int, gexx_rma_get_nbi,
           (gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes, gex_Flags_t flags),
           (tm, dest, rank, src, nbytes, flags), CHK_STARTED_NBI,
           START("gex_RMA_GetNBI", tm, rank, true, true, src, dest, nbytes, flags, NULL))

CHK_DEFINE(gex_Event_t, gexx_rma_get_nb,
           (gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes, gex_Flags_t flags),
           (tm, dest, rank, src, nbytes, flags), CHK_STARTED,
           START("gex_RMA_GetNB", tm, rank, true, true, src, dest, nbytes, flags, NULL))

gex_RMA_Value_t gexx_rma_get_val(gex_TM_t tm, gex_Rank_t rank, void *src, size_t nbytes,
                                 gex_Flags_t flags) {
  if (!chk_on()) return chk_real.gexx_rma_get_val(tm, rank, src, nbytes, flags);
  const struct transfer t = {tm,  rank, true, false, src, NULL, nbytes, flags & ~GEX_FLAG_IMMEDIATE,
                             NULL};
  const void *const pc = __builtin_return_address(0);
  const intptr_t delta = start_near(&t, "gex_RMA_GetBlockingVal", pc);
  if (delta != GEXX_UNMAPPED) return gexx_rma_load_val(gexx_rma_local(delta, src), nbytes);
  const struct chk_pending p = start_far(t, "gex_RMA_GetBlockingVal", pc);
  const gex_RMA_Value_t value = chk_real.gexx_rma_get_val(tm, rank, src, nbytes, flags);
  (void)chk_started(&p, GEX_EVENT_INVALID);
  return value;
}

int gexx_rma_put_val(gex_TM_t tm, gex_Rank_t rank, void *dest, gex_RMA_Value_t value, size_t nbytes,
                     gex_Flags_t flags) {
  if (!chk_on()) return chk_real.gexx_rma_put_val(tm, rank, dest, value, nbytes, flags);
  const struct transfer t = {tm, rank, false, false, dest, NULL, nbytes, flags, NULL};
  const void *const pc = __builtin_return_address(0);
  const intptr_t delta = start_near(&t, "gex_RMA_PutBlockingVal", pc);
  if (delta != GEXX_UNMAPPED) {
    gexx_rma_store_val(gexx_rma_local(delta, dest), value, nbytes);
    return 0;
  }
  const struct chk_pending p = start_far(t, "gex_RMA_PutBlockingVal", pc);
  SETTLED(chk_real.gexx_rma_put_val(tm, rank, dest, value, nbytes, flags));
}

CHK_DEFINE(int, gexx_rma_put_nbi_val,
           (gex_TM_t tm, gex_Rank_t rank, void *dest, gex_RMA_Value_t value, size_t nbytes,
            gex_Flags_t flags),
           (tm, rank, dest, value, nbytes, flags), CHK_STARTED_NBI,
           START("gex_RMA_PutNBIVal", tm, rank, false, true, dest, NULL, nbytes, flags, NULL))

CHK_DEFINE(gex_Event_t, gexx_rma_put_nb_val,
           (gex_TM_t tm, gex_Rank_t rank, void *dest, gex_RMA_Value_t value, size_t nbytes,
            gex_Flags_t flags),
           (tm, rank, dest, value, nbytes, flags), CHK_STARTED,
           START("gex_RMA_PutNBVal", tm, rank, false, true, dest, NULL, nbytes, flags, NULL))

/* ---- with a signal */

static struct chk_pending start_signal(const struct gexx_signal_op *op, bool is_get, bool lasts,
                                       const char *call, const void *pc) {
  const struct transfer t = {op->tm,    op->rank,   is_get,    lasts,     op->remote,
                             op->local, op->nbytes, op->flags, op->lc_opt};
  const uint32_t peer = chk_jobrank(op->tm, op->rank);
  const void *const word =
      op->flags & GEX_FLAG_PEER_SEG_OFFSET ? address(peer, op->sig_addr) : op->sig_addr;
  chk_enter();
  const uint32_t site = chk_site(call, pc);
  const struct chk_pending p = begin(&t, site, CHK_SIGNALS);
  if (word) chk_word_give(peer, (uintptr_t)word, site, p.remote);
  chk_exit();
  return p;
}

int gexx_put_signal(const struct gexx_signal_op *op) {
  if (!chk_on()) return chk_real.gexx_put_signal(op);
  struct chk_pending p =
      start_signal(op, false, false, "gexx_RMA_PutSignalBlocking", __builtin_return_address(0));
  const int rc = chk_real.gexx_put_signal(op);
  if (!rc) p.remote = 0; /* it returns at local completion: the signal alone says more */
  return settled(&p, rc, op->flags);
}

CHK_DEFINE(int, gexx_put_signal_nbi, (const struct gexx_signal_op *op), (op), CHK_STARTED_NBI,
           start_signal(op, false, true, "gexx_RMA_PutSignalNBI", __builtin_return_address(0)))

CHK_DEFINE(gex_Event_t, gexx_put_signal_nb, (const struct gexx_signal_op *op), (op), CHK_STARTED,
           start_signal(op, false, true, "gexx_RMA_PutSignalNB", __builtin_return_address(0)))

CHK_DEFINE(int, gexx_get_signal_nbi, (const struct gexx_signal_op *op), (op), CHK_STARTED_NBI,
           start_signal(op, true, true, "gexx_RMA_GetSignalNBI", __builtin_return_address(0)))

CHK_DEFINE(gex_Event_t, gexx_get_signal_nb, (const struct gexx_signal_op *op), (op), CHK_STARTED,
           start_signal(op, true, true, "gexx_RMA_GetSignalNB", __builtin_return_address(0)))
