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

/* Whether an operation is one instruction. */
static bool is_one(const struct gexx_ad_op *op) {
  return (op->dt & (LONGS | GEX_DT_I32 | GEX_DT_U32)) && !(op->flags & SLOW_FLAGS) &&
         !(GEXX_AD_FETCHING(op->opcode) & GEXX_AD_LOOPS_INT);
}

static void perform(const struct gexx_ad_op *op, intptr_t delta) {
  void *const word = gexx_rma_local(delta, op->addr);
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

/* Records an operation, and does it. in page: of the word. */
static gex_Event_t do_here(const struct gexx_ad_op *op, uint32_t peer, intptr_t delta,
                           struct chk_page *page, uint32_t site) {
  const bool reads = op->opcode == GEX_OP_GET;
  const struct chk_range range = {peer, (uintptr_t)op->addr, bytes_of(op->dt),
                                  (reads ? 0 : CHK_WRITE) | CHK_ATOMIC | CHK_TRANSFER};
  if (CHK_UNLIKELY(chk_newest.event != GEX_EVENT_INVALID)) chk_keep_newest();
  chk_meet(&range);
  struct chk_access *const a = chk_opened(site, range.flags);
  uint64_t local = 0;
  if (op->opcode >= GEX_OP_FAND) {
    local = chk_result_begin(op->result, range.bytes, site);
    if (CHK_UNLIKELY(!local)) local = chk_local_side(&range, op->result, CHK_WRITE, site, true);
  }
  struct chk_shadow *const shadow = chk_shadow_of(page);
  chk_newest.given = chk_given_at(shadow, range.addr);
  chk_newest.op = (struct chk_pending){.remote = a->number,
                                       .local = local,
                                       .word = range.addr,
                                       .owner = peer,
                                       .category = category_of(op->opcode),
                                       .site = site};
  chk_lock(&page->lock);
  if (CHK_UNLIKELY(!chk_mark_few(a, page, shadow, &range))) chk_mark_in(a, page, &range);
  if (!reads) chk_word_gives(page, shadow, peer, range.addr, site);
  perform(op, delta);
  chk_unlock(&page->lock);
  if (!reads) chk_given(site);
  return chk_pend_newest();
}

/* Returns GEX_EVENT_NO_OP if the library is to do it. */
static gex_Event_t try_here(gex_AD_t ad, const struct gexx_ad_op *op, const void *pc) {
  if (!is_one(op)) return GEX_EVENT_NO_OP;
  gex_Event_t event = GEX_EVENT_NO_OP;
  chk_enter();
  const intptr_t delta = chk_near_ad(ad, op->rank);
  const uint32_t peer = chk_jobrank(ad->tm, op->rank);
  struct chk_page *const page =
      delta == GEXX_UNMAPPED ? NULL : chk_page_at(peer, (uintptr_t)op->addr, true);
  if (CHK_LIKELY(page)) {
    chk_ahead(chk_shadow_of(page), (uintptr_t)op->addr, gexx_rma_local(delta, op->addr));
    chk_ahead_given(chk_shadow_of(page), (uintptr_t)op->addr);
    event = do_here(op, peer, delta, page, chk_site("gex_AD_Op", pc));
  }
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
