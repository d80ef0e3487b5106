/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic operations: each acquires and releases its word.
 *
 * Owns: how many were done here since a poll. These are calls of the library (inline_ratomic.h).
 * Calls: access.c, word.c, pending.c, near.c. An operation on a word that is mapped here is done
 * here, under the lock of the word's page, if it is one instruction; all others are the library's.
 * Invariant: what an operation gives is in the word before another one can see that it was done.
 */
#include "check/runtime/chk.h"

#include <tombolo/check_hook.h>

#define POLLS      16u /* operations that are done here, before the library may poll */

#define SLOW_FLAGS (GEXX_AD_SLOW_FLAGS | GEX_FLAG_IMMEDIATE)
#define WORDS      (GEX_DT_I32 | GEX_DT_U32 | GEX_DT_FLT)
#define LONGS      (GEX_DT_I64 | GEX_DT_U64)

static uint32_t unpolled;

/* An address, or the offset in the segment of a rank that it is with this flag. */
static uintptr_t address(const void *at, uint32_t rank, gex_Flags_t is_offset) {
  const gasnet_seginfo_t *const all = is_offset ? chk_segments() : NULL;
  return (uintptr_t)at + (all ? (uintptr_t)all[rank].addr : 0);
}

static size_t bytes_of(gex_DT_t dt) {
  return dt & WORDS ? 4 : 8;
}

static gex_EC_t category_of(gex_OP_t opcode) {
  if (opcode == GEX_OP_GET) return GEX_EC_GET;
  return opcode == GEX_OP_SET ? GEX_EC_PUT : GEX_EC_RMW;
}

/* ---- by the library */

static struct chk_pending start(gex_AD_t ad, const struct gexx_ad_op *op, const void *pc) {
  const bool job = (op->flags & GEX_FLAG_RANK_IS_JOBRANK) != 0;
  const uint32_t peer = job ? op->rank : chk_jobrank(ad->tm, op->rank);
  const uintptr_t at = address(op->addr, peer, op->flags & GEX_FLAG_PEER_SEG_OFFSET);
  const uintptr_t result = address(op->result, chk.rank, op->flags & GEX_FLAG_SELF_SEG_OFFSET);
  const size_t bytes = bytes_of(op->dt);
  const bool reads = op->opcode == GEX_OP_GET;
  struct chk_pending p = {.word = at, .owner = peer, .category = category_of(op->opcode)};
  chk_enter();
  p.site = chk_site("gex_AD_Op", pc);
  p.remote = chk_touch(
      &(struct chk_range){peer, at, bytes, (reads ? 0 : CHK_WRITE) | CHK_ATOMIC | CHK_TRANSFER},
      p.site, true);
  if (op->opcode >= GEX_OP_FAND) /* it fetches */
    p.local = chk_local_side(&(struct chk_range){peer, at, bytes, 0}, (const void *)result,
                             CHK_WRITE, p.site, true);
  if (!reads) chk_word_give(peer, at, p.site, 0);
  chk_exit();
  return p;
}

/* ---- here */

/* Form of an operation, which a line's have in common most often. */
struct form {
  gex_OP_t opcode;
  gex_Flags_t flags;
};

/* What is known of a line's operations. */
struct line {
  const void *pc; /* NULL: nothing */
  struct form form;
  gex_DT_t dt;
  uint32_t site;
  gex_EC_t category;
  uint16_t access; /* CHK_WRITE... */
  bool fetches, reads;
  uint64_t epoch; /* of chk_epoch_of */
  uint32_t bytes, mask;
};

#define LINES 256u /* power of two */
static struct line lines[LINES];

/* Whether an operation is one instruction. */
static bool is_one(const struct gexx_ad_op *op) {
  return (op->dt & (LONGS | GEX_DT_I32 | GEX_DT_U32)) && !(op->flags & SLOW_FLAGS) &&
         !(GEXX_AD_FETCHING(op->opcode) & GEXX_AD_LOOPS_INT);
}

/* Fills in what is known of a line. Returns NULL if an operation is for the library. */
static __attribute__((noinline)) struct line *make_line(struct line *l, const struct gexx_ad_op *op,
                                                        const void *pc) {
  if (!is_one(op)) return NULL;
  const bool reads = op->opcode == GEX_OP_GET;
  *l = (struct line){.pc = pc,
                     .form = {op->opcode, op->flags},
                     .dt = op->dt,
                     .site = chk_site("gex_AD_Op", pc),
                     .category = category_of(op->opcode),
                     .access = (reads ? 0 : CHK_WRITE) | CHK_ATOMIC | CHK_TRANSFER,
                     .fetches = op->opcode >= GEX_OP_FAND,
                     .reads = reads,
                     .bytes = (uint32_t)bytes_of(op->dt)};
  l->mask = (1u << l->bytes) - 1;
  l->epoch = chk_epoch_of(l->site, l->access);
  if (!chk_site_stays(pc, l->site)) l->pc = NULL;
  return l;
}

static inline const struct line *line_of(const struct gexx_ad_op *op, const void *pc) {
  struct line *const l = &lines[chk_known_place(pc) & (LINES - 1)];
  const bool same = l->pc == pc && l->dt == op->dt && l->form.opcode == op->opcode;
  return CHK_LIKELY(same && l->form.flags == op->flags) ? l : make_line(l, op, pc);
}

static void perform(const struct gexx_ad_op *op, void *word) {
  const gex_OP_t opcode = GEXX_AD_FETCHING(op->opcode);
  const bool fetches = op->opcode >= GEX_OP_FAND;
  gexx_ad_before(op->opcode, op->flags);
  if (op->dt & LONGS) {
    const uint64_t *const a = op->operand[0], *const b = op->operand[1];
    const uint64_t old = gexx_ad_native_U64(word, opcode, *a, *b);
    if (fetches) *(uint64_t *)op->result = old;
  } else {
    const uint32_t *const a = op->operand[0], *const b = op->operand[1];
    const uint32_t old = gexx_ad_native_U32(word, opcode, *a, *b);
    if (fetches) *(uint32_t *)op->result = old;
  }
}

/* Whether each access of a granule is atomic, or there is none. */
static inline bool all_atomic(uint64_t word) {
  return !word || (word & CHK_ATOMIC);
}

/* Whether an access is a complete one of this rank, of the same kind and to the same bytes as that
 * of `word`, which comes behind it. */
static bool is_own_before(uint64_t before, uint64_t word) {
  if ((before ^ word) & (0xff00 | CHK_WRITE | CHK_ATOMIC)) return false;
  if (before & CHK_EPOCH) return chk_epoch_same(before, word);
  const struct chk_access *const a = chk_access_at(before >> 16);
  return a && a->rank == chk.rank && a->done != CHK_OPEN && !chk.each_thread;
}

/* As enter, in a copy of the granule's words. */
static bool enter_copy(uint64_t cell[CHK_SLOTS], uint64_t word) {
  if (CHK_LIKELY(chk_enter_cell(cell, word))) return true;
  if (!all_atomic(cell[0]) || !all_atomic(cell[1]) || !all_atomic(cell[2])) return false;
  uint32_t place = CHK_SLOTS;
  for (uint32_t k = CHK_SLOTS; k-- > 0;)
    if (!cell[k] || chk_all_met(cell[k])) place = k;
  for (uint32_t k = 0; k < CHK_SLOTS; k++)
    if (cell[k] && is_own_before(cell[k], word)) place = k;
  if (place == CHK_SLOTS) return false;
  cell[place] = word;
  return true;
}

/* Enters the word of an access in its granule, if all that is there was ordered by a barrier, or is
 * atomic and leaves room. Under the lock of the page. */
static __attribute__((noinline)) bool enter(struct chk_page *page, uint32_t i, uint64_t word) {
  uint64_t cell[CHK_SLOTS];
  chk_cell_load(page, i, cell);
  if (!enter_copy(cell, word)) return false;
  chk_cell_store(page, i, cell);
  return true;
}

/* Compares and enters an operation with a record, so that its result is known, too. Under the lock
 * of the page. */
static __attribute__((noinline)) void mark_record(const struct line *l, struct chk_page *page,
                                                  const struct chk_range *range) {
  const uint32_t i = range->addr % CHK_PAGE_BYTES / CHK_GRANULE,
                 mask = ((1u << l->bytes) - 1) << range->addr % CHK_GRANULE;
  struct chk_access *const a = chk_opened(l->site, l->access);
  a->addr = range->addr;
  a->bytes = range->bytes;
  a->owner = (uint16_t)range->owner;
  chk_newest.op.remote = a->number;
  page->shared = 1;
  chk_know_result();
  if (!chk_is_plain(page, i) || !enter(page, i, chk_word(a->number, mask, l->access)))
    chk_mark_in(a, page, range);
}

/* Compares and enters an operation, without a record if that is enough. Under the lock of the page.
 * in at: the first word of the granule. */
static inline void mark(const struct line *l, struct chk_page *page, uint64_t *at,
                        const struct chk_range *range) {
  const uint64_t clock = chk.clock[chk.rank] + !l->reads; /* at the end */
  const uint32_t i = range->addr % CHK_PAGE_BYTES / CHK_GRANULE, first = range->addr % CHK_GRANULE;
  const uint64_t word = chk_epoch_at(l->epoch, clock, l->mask << first);
  chk_newest.op.remote = 0;
  if (CHK_LIKELY(l->epoch && !chk.threads && clock <= CHK_EPOCH_CLOCK && chk_is_plain(page, i)) &&
      (CHK_LIKELY(chk_epoch_again(page, at, i, word)) || enter(page, i, word))) {
    page->shared = 1;
    chk_newest.epoch = word;
    chk.guard = chk_record_newest;
    return;
  }
  chk_newest.epoch = 0;
  mark_record(l, page, range);
}

/* The local side of an operation that fetches. Nobody asks for a result outside of segments, unless
 * another call comes, also of the program's loads and stores. */
static inline void begin_result(const struct gexx_ad_op *op, const struct line *l,
                                const struct chk_range *range) {
  const bool plain = !chk.open_here && !chk_segment_has(op->result);
  chk_newest.op.local = 0;
  chk_newest.result = plain ? op->result : NULL;
  chk_newest.bytes = l->bytes;
  if (CHK_UNLIKELY(tombolo_check_watch.files) && plain && chk.races)
    chk_watch_result((uintptr_t)op->result, l->bytes);
  if (CHK_LIKELY(plain)) return;
  chk_newest.op.local = chk_result_begin(op->result, l->bytes, l->site);
  if (!chk_newest.op.local)
    chk_newest.op.local = chk_local_side(range, op->result, CHK_WRITE, l->site, true);
}

/* Before what else there is to do. in word: in this process. */
static inline void come_ahead(const struct chk_hand *h, uintptr_t addr, const void *word) {
  chk_ahead(h->page, h->words + addr % CHK_PAGE_BYTES / CHK_GRANULE, word);
  __builtin_prefetch(chk_given_at(h->words, addr), 1);
}

/* Records an operation, and does it. in h: the page of the word; word: it, in this process. */
static inline gex_Event_t do_here(const struct gexx_ad_op *op, const struct line *l, uint32_t peer,
                                  void *word, const struct chk_hand *h) {
  const uintptr_t addr = (uintptr_t)op->addr;
  const struct chk_range range = {peer, addr, l->bytes, l->access};
  struct chk_page *const page = h->page;
  uint64_t *const given = chk_given_at(h->words, addr);
  uint64_t *const at = h->words + addr % CHK_PAGE_BYTES / CHK_GRANULE;
  if (CHK_UNLIKELY(chk_newest.event != GEX_EVENT_INVALID)) chk_keep_newest();
  if (CHK_UNLIKELY(chk.open_here)) chk_meet(&range);
  struct chk_newest *const n = &chk_newest; /* others of its op's fields are 0 */
  n->result = NULL;
  n->op.local = 0;
  if (CHK_LIKELY(l->fetches)) begin_result(op, l, &range);
  n->op.word = addr;
  n->op.owner = peer;
  n->op.category = l->category;
  n->op.site = l->site;
  n->given = given;
  chk_lock(&page->lock);
  mark(l, page, at, &range);
  if (CHK_LIKELY(!l->reads)) chk_word_gives(page, given, peer, addr, l->site);
  perform(op, word);
  chk_unlock(&page->lock);
  if (CHK_LIKELY(!l->reads)) chk_given(l->site);
  return chk_pend_newest();
}

/* Returns GEX_EVENT_NO_OP if the library is to do it. */
static inline gex_Event_t try_here(gex_AD_t ad, const struct gexx_ad_op *op, const void *pc) {
  gex_Event_t event = GEX_EVENT_NO_OP;
  const bool several = chk.threads;
  if (CHK_UNLIKELY(several)) chk_enter();
  const struct line *const l = line_of(op, pc);
  const intptr_t delta = l ? chk_near(CHK_DOMAIN, ad, op->rank) : GEXX_UNMAPPED;
  const bool here = delta != GEXX_UNMAPPED && !((uintptr_t)op->addr & (l->bytes - 1u));
  const uint32_t peer = CHK_LIKELY(here) ? chk_jobrank(ad->tm, op->rank) : 0;
  const struct chk_hand *const h =
      CHK_LIKELY(here) ? chk_hand_of(peer, (uintptr_t)op->addr, true) : NULL;
  void *const word = gexx_rma_local(delta, op->addr);
  if (CHK_LIKELY(h)) come_ahead(h, (uintptr_t)op->addr, word);
  if (CHK_LIKELY(!several)) chk_enter();
  if (CHK_LIKELY(h)) event = do_here(op, l, peer, word, h);
  chk_exit();
  if (event != GEX_EVENT_NO_OP && ++unpolled % POLLS == 0) gexx_check_polls(POLLS);
  return event;
}

/* ---- the calls */

gex_Event_t gexx_ad_op_nb(gex_AD_t ad, const struct gexx_ad_op *op) {
  if (!chk_on()) return chk_real.gexx_ad_op_nb(ad, op);
  const void *const pc = __builtin_return_address(0);
  const gex_Event_t event = try_here(ad, op, pc);
  if (CHK_LIKELY(event != GEX_EVENT_NO_OP)) return event;
  const struct chk_pending p = start(ad, op, pc);
  return chk_started(&p, chk_real.gexx_ad_op_nb(ad, op));
}

int gexx_ad_op_nbi(gex_AD_t ad, const struct gexx_ad_op *op) {
  if (!chk_on()) return chk_real.gexx_ad_op_nbi(ad, op);
  const struct chk_pending p = start(ad, op, __builtin_return_address(0));
  return chk_started_nbi(&p, chk_real.gexx_ad_op_nbi(ad, op));
}
