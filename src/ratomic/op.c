/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations on atomic domains off the inline path: debug clients, unusual flags, messages.
 *
 * Owns: internal handlers ATOMIC and ATOMIC_DONE. Called by inline_ratomic.h.
 * Calls: apply.c, the conduit's atomics, internal Short messages, op.h. Operations that a conduit
 * does not offer, and those on ranks of this host that are not mapped, are messages. It names the
 * word, the operation and its operands, so the target needs no knowledge of the domain; its handler
 * performs the operation and replies with the value before. Operations on words of this process are
 * done in place: their mechanism is that of the handler. Of a domain that the network performs
 * (domain.c) everything goes to the conduit. Invariants: an operation is counted before its message
 * is sent; the result is stored before it is counted done.
 */
#include "core/op/op.h"
#include "base/error.h"
#include "core/am/kit.h"
#include "core/check.h"
#include "core/op/check_context.h"
#include "core/op/lost.h"
#include "core/op/record.h"
#include "core/op/thread.h"
#include "core/progress/peer.h"
#include "core/progress/progress.h"
#include "core/segment/check_range.h"
#include "core/segment/mk.h"
#include "core/segment/segment_table.h"
#include "ratomic/ratomic.h"

#include <gasnetex_ext.h>
#include <string.h>

#define MY_FLAGS (GEX_FLAG_AD_MY_RANK | GEX_FLAG_AD_MY_NBRHD)
#define AD_FLAGS                                                                                 \
 (GEX_FLAG_IMMEDIATE | MY_FLAGS | GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL | GEX_FLAG_RANK_IS_JOBRANK | \
  GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_OFFSET | GEX_FLAG_SELF_SEG_UNKNOWN |              \
  GEX_FLAG_SELF_SEG_SOME | GEX_FLAG_SELF_SEG_BOUND | GEX_FLAG_PEER_SEG_BOUND)

/* ---- messages. Request: word(0,1) type(2) opcode(3) operands(4..7) op(8,9) category(10)
 * result(11,12), result 0: not asked for. Reply: op(0,1) category(2) result(3,4) bytes(5) value
 * before(6,7). */
enum { OP_ARGS = 13, DONE_ARGS = 8 };

static bool exists(gex_DT_t dt, gex_OP_t opcode) {
  return __builtin_popcount(dt) == 1 && dt & TMB_RATOMIC_TYPES && __builtin_popcount(opcode) == 1 &&
         opcode & (TMB_RATOMIC_FETCHING | TMB_RATOMIC_PLAIN);
}

static void on_op(const struct tmb_am_in *in) {
  const int32_t *a = in->args;
  const void *const operand[2] = {a + 4, a + 6};
  int32_t args[DONE_ARGS] = {a[8], a[9], a[10], a[11], a[12]};
  const gex_DT_t dt = (gex_DT_t)a[2];
  const gex_OP_t opcode = (gex_OP_t)a[3];
  if (!exists(dt, opcode)) tmb_kit_malformed(in, "type or opcode");
  const struct tmb_ratomic_rmw rmw = {
      .dt = dt,
      .opcode = opcode,
      .addr = tmb_up_memory(in->src, tmb_kit_unpack64(a), tmb_ratomic_bytes(dt)),
      .operand = operand,
      .old = args + 6};
  tmb_ratomic_apply(&rmw);
  args[5] = (int32_t)tmb_ratomic_bytes(rmw.dt);
  tmb_kit_reply(in->src, TMB_KIT_ATOMIC_DONE, args, DONE_ARGS);
}

static void on_done(const struct tmb_am_in *in) {
  void *op = tmb_kit_unpack_ptr(in->args), *result = tmb_kit_unpack_ptr(in->args + 3);
  TMB_TSAN_ACQUIRE(op);
  if ((uint32_t)in->args[5] > 2 * sizeof *in->args) tmb_kit_malformed(in, "length");
  if (result) memcpy(result, in->args + 6, (size_t)in->args[5]);
  tmb_up_peer_done(op, (uint32_t)in->args[2], in->src);
}

/* For a conduit that takes atomic operations out of its packets, also while the client computes. */
static bool for_peer(void *addr, const struct tmb_net_atomic *a, void *old) {
  if (!exists(a->dt, a->opcode) || a->bytes != tmb_ratomic_bytes(a->dt)) return false;
  const void *const operand[2] = {&a->operand[0], &a->operand[1]};
  tmb_ratomic_apply(&(struct tmb_ratomic_rmw){
      .dt = a->dt, .opcode = a->opcode, .addr = addr, .operand = operand, .old = old});
  return true;
}

/* Other members may operate on this process before it makes any call on a domain, or without one.
 */
static const struct tmb_layer_handler handlers[] = {
    {TMB_KIT_ATOMIC, TMB_TAKES_SHORT | TMB_BY_THREAD, OP_ARGS, 0, on_op},
    {TMB_KIT_ATOMIC_DONE, TMB_TAKES_SHORT, DONE_ARGS, 0, on_done},
    {0}};

const struct tmb_layer tmb_ratomic_layer = {
    .name = "ratomic", .handlers = handlers, .atomic = for_peer};

/* ---- checks of debug clients */

/* Name of the public call, for messages. in dt: the one type of the call's suffix. */
static const char *name_of(gex_DT_t dt, bool nbi) {
  static const char *const name[][2] = {
#define GEXX_AD_INT(S, T, W) {"gex_AD_OpNB_" #S, "gex_AD_OpNBI_" #S},
#define GEXX_AD_REAL         GEXX_AD_INT
#include "tombolo/ratomic_types.def"
#undef GEXX_AD_INT
#undef GEXX_AD_REAL
  };
  return name[__builtin_ctz(dt)][nbi];
}

static void check_handle(const char *call, gex_AD_t ad, const struct gexx_ad_op *o) {
  tmb_check_context_at(call);
  if (!ad) tmb_fatal_nopos("%s: argument ad is GEX_AD_INVALID", call);
  if (ad->magic != TMB_MAGIC_AD)
    tmb_fatal_nopos("%s: argument ad (%p) is not the handle of an atomic domain", call, (void *)ad);
  if (ad->dt != o->dt)
    tmb_fatal_nopos("%s: argument ad has data type 0x%x, but the call is for 0x%x", call, ad->dt,
                    o->dt);
  if (__builtin_popcount(o->opcode) != 1)
    tmb_fatal_nopos("%s: argument opcode is 0x%x; exactly one opcode is needed", call, o->opcode);
  if (!(o->opcode & ad->ops))
    tmb_fatal_nopos("%s: argument opcode is 0x%x, but the domain was made for 0x%x", call,
                    o->opcode, ad->ops);
  tmb_check_flags(call, o->flags, AD_FLAGS);
  tmb_check_seg_flags(call, o->flags);
}

/* Debug clients: fatal when a flag of the call promises something false. */
static void check_promise(const char *call, gex_AD_t ad, const struct gexx_ad_op *o,
                          gex_Rank_t rank) {
  const uint32_t jobrank = tmb_jobrank(ad->tm, rank);
  if ((o->flags & MY_FLAGS) == MY_FLAGS)
    tmb_fatal_nopos("%s: argument flags is 0x%x: GEX_FLAG_AD_MY_RANK and GEX_FLAG_AD_MY_NBRHD "
                    "exclude each other",
                    call, o->flags);
  if ((o->flags & GEX_FLAG_AD_MY_RANK) && rank != ad->tm->rank)
    tmb_fatal_nopos("%s: argument flags is 0x%x, which promises that rank %u is the caller, which "
                    "has rank %u",
                    call, o->flags, rank, ad->tm->rank);
  if ((o->flags & GEX_FLAG_AD_MY_NBRHD) && tmb_nbrhd_of(jobrank) != tmb_nbrhd_of(tmb_job.rank))
    tmb_fatal_nopos("%s: argument flags is 0x%x, which promises that rank %u is in the caller's "
                    "neighbourhood, but it is not",
                    call, o->flags, rank);
}

static void check_memory(const char *call, gex_AD_t ad, const struct gexx_ad_op *o,
                         gex_Rank_t rank) {
  const size_t bytes = tmb_ratomic_bytes(o->dt);
  const struct tmb_peer_segment *s = tmb_segtab_at(ad->tm, rank);
  uintptr_t addr = (uintptr_t)o->addr;
  if ((o->flags & GEX_FLAG_PEER_SEG_OFFSET) && s) addr += s->base;
  if (addr % bytes)
    tmb_fatal_nopos("%s: argument tgt_addr (%p) is not aligned to %zu bytes", call, o->addr, bytes);
  tmb_check_remote(call, "tgt_addr", ad->tm, rank, (void *)addr, bytes);
  if (!(o->opcode & TMB_RATOMIC_FETCHING)) return;
  if (!(o->flags & GEX_FLAG_SELF_SEG_OFFSET) && !o->result)
    tmb_fatal_nopos("%s: argument result_p is NULL, but opcode 0x%x fetches a value", call,
                    o->opcode);
  if ((uintptr_t)o->result % bytes)
    tmb_fatal_nopos("%s: argument result_p (%p) is not aligned to %zu bytes", call, o->result,
                    bytes);
  tmb_check_local_ep(
      &(struct tmb_local_range){call, "result_p", ad->tm->ep, o->result, bytes, o->flags});
}

/* ---- entry points */

/* Rank in the team of the domain. */
static gex_Rank_t team_rank(const char *call, gex_AD_t ad, const struct gexx_ad_op *o) {
  if (!(o->flags & GEX_FLAG_RANK_IS_JOBRANK)) {
    if (TMB_UNLIKELY(tmb_job.debug)) tmb_check_tm_rank(call, ad->tm, o->rank);
    return o->rank;
  }
  TMB_CHECK(o->rank < tmb_job.size,
            "%s: argument tgt_rank is %u, but the job has %u ranks (0 to %u)", call, o->rank,
            tmb_job.size, tmb_job.size - 1);
  const gex_Rank_t rank = tmb_rank_of_jobrank(ad->tm, o->rank);
  TMB_CHECK(rank != GEX_RANK_INVALID,
            "%s: argument tgt_rank is %u, but that process has no member in the domain's team",
            call, o->rank);
  return rank;
}

/* Replace offsets, jobrank and, where nothing is fetched, the result. */
static void resolve(const char *call, gex_AD_t ad, struct gexx_ad_op *o) {
  const bool fetches = (o->opcode & TMB_RATOMIC_FETCHING) != 0;
  if (TMB_UNLIKELY(tmb_job.debug)) check_handle(call, ad, o);
  const gex_Rank_t rank = team_rank(call, ad, o);
  tmb_mk_refuse(call, ad->tm, rank);
  tmb_check_attached(call, "tgt_addr", ad->tm, rank, o->addr);
  if (TMB_UNLIKELY(tmb_job.debug)) {
    check_promise(call, ad, o, rank);
    check_memory(call, ad, o, rank);
  }
  o->rank = rank;
  if (o->flags & GEX_FLAG_PEER_SEG_OFFSET) o->addr = tmb_segtab_offset(ad->tm, rank, o->addr);
  if (!fetches)
    o->result = NULL;
  else if (o->flags & GEX_FLAG_SELF_SEG_OFFSET)
    o->result = tmb_segtab_self_offset(ad->tm->ep, o->result);
}

/* Performs a resolved operation here if it can be. */
static bool done_here(gex_AD_t ad, const struct gexx_ad_op *o) {
  const struct tmb_ad *d = tmb_ad_of(ad);
  if (d->offload) return false;
  intptr_t delta = d->delta[o->rank];
  if (delta == GEXX_UNMAPPED) delta = tmb_segtab_delta_of(ad->tm, o->rank); /* attached later */
  if (tmb_jobrank(ad->tm, o->rank) == tmb_job.rank) delta = 0;
  if (delta == GEXX_UNMAPPED) return false;
  uint64_t unused;
  const uint64_t begun = tmb_record_clock();
  gexx_ad_before(o->opcode, o->flags);
  tmb_ratomic_apply(
      &(struct tmb_ratomic_rmw){.dt = o->dt,
                                .opcode = o->opcode,
                                .addr = (void *)((uintptr_t)o->addr + (uintptr_t)delta),
                                .operand = o->operand,
                                .old = o->result ? o->result : &unused});
  const uint32_t peer = tmb_jobrank(ad->tm, o->rank);
  tmb_count(GEXX_STATS_ATOMIC, peer, tmb_ratomic_bytes(o->dt));
  tmb_record_operation(begun, TMB_WHAT_ATOMIC, peer, tmb_ratomic_bytes(o->dt), o->addr, NULL);
  return true;
}

/* One poll for so many operations that are done here: a client that repeats one of them until a
 * peer has changed the word, as for a lock, polls nowhere else, and the peer may need an answer
 * first. */
enum { UNPOLLED_MAX = 64 };

static void poll_now_and_then(uint32_t operations) {
  struct tmb_thread *t = tmb_thread();
  t->unpolled += operations;
  if (t->unpolled < UNPOLLED_MAX || t->context) return;
  t->unpolled = 0;
  tmb_poll();
}

static uint32_t category_of(gex_OP_t opcode) {
  return opcode == GEX_OP_SET ? TMB_CAT_PUT : opcode == GEX_OP_GET ? TMB_CAT_GET : TMB_CAT_RMW;
}

static int send_message(const struct tmb_net_atomic *a) {
  int32_t args[OP_ARGS] = {0};
  tmb_kit_pack_ptr(args, a->remote);
  args[2] = (int32_t)a->dt;
  args[3] = (int32_t)a->opcode;
  memcpy(args + 4, a->operand, sizeof a->operand);
  tmb_kit_pack_ptr(args + 8, a->op);
  args[10] = (int32_t)a->category;
  tmb_kit_pack_ptr(args + 11, a->result);
  struct tmb_am_out out = {.peer = a->peer,
                           .handler = TMB_KIT_ATOMIC,
                           .nargs = OP_ARGS,
                           .immediate = a->immediate,
                           .staged = -1,
                           .args = args};
  return tmb_kit_send_part(&out, a->op, a->category);
}

/* Sends a resolved operation. Returns 0, or TMB_AGAIN: nothing was done. */
static int send(gex_AD_t ad, const struct gexx_ad_op *o, struct tmb_op *op) {
  const size_t bytes = tmb_ratomic_bytes(o->dt);
  const uint64_t begun = tmb_record_clock();
  struct tmb_net_atomic a = {.peer = tmb_jobrank(ad->tm, o->rank),
                             .remote = o->addr,
                             .opcode = o->opcode,
                             .dt = o->dt,
                             .bytes = (uint32_t)bytes,
                             .result = o->result,
                             .op = op,
                             .category = category_of(o->opcode),
                             .immediate = (o->flags & GEX_FLAG_IMMEDIATE) != 0,
                             .offload = tmb_ad_of(ad)->offload};
  memcpy(&a.operand[0], o->operand[0], bytes);
  memcpy(&a.operand[1], o->operand[1], bytes);
  gexx_ad_before(o->opcode, o->flags);
  int rc = tmb_peer_atomic(&a);
  if (rc == TMB_E_UNSUPPORTED) rc = send_message(&a);
  if (rc) return tmb_poll_refused(rc);
  tmb_count(GEXX_STATS_ATOMIC, a.peer, bytes);
  tmb_record_operation(begun, TMB_WHAT_ATOMIC, a.peer, bytes, o->addr, op);
  return 0;
}

gex_Event_t gexx_ad_op_nb(gex_AD_t ad, const struct gexx_ad_op *asked) {
  struct gexx_ad_op o = *asked;
  resolve(name_of(o.dt, false), ad, &o);
  const uint32_t peer = tmb_jobrank(ad->tm, o.rank);
  const bool done = done_here(ad, &o);
  if (done) poll_now_and_then(1);
  if (done && tmb_peer_lost(peer)) return tmb_op_event(tmb_op_lost(category_of(o.opcode), peer));
  if (done)
    return TMB_UNLIKELY(tmb_job.live_events) ? tmb_op_event(tmb_op_new(TMB_OP_SINGLE, 0))
                                             : GEX_EVENT_INVALID;
  struct tmb_op *op = tmb_op_new(TMB_OP_SINGLE, 0);
  tmb_op_name(op, TMB_WHAT_ATOMIC, peer);
  if (send(ad, &o, op)) {
    tmb_op_free(op);
    return GEX_EVENT_NO_OP;
  }
  return tmb_op_event(op);
}

int gexx_ad_op_nbi(gex_AD_t ad, const struct gexx_ad_op *asked) {
  struct gexx_ad_op o = *asked;
  resolve(name_of(o.dt, true), ad, &o);
  struct tmb_op *op = tmb_thread_iop(tmb_thread());
  if (!done_here(ad, &o)) return send(ad, &o, op) ? 1 : 0;
  poll_now_and_then(1);
  const uint32_t peer = tmb_jobrank(ad->tm, o.rank);
  if (tmb_peer_lost(peer)) tmb_op_lose(op, category_of(o.opcode), peer);
  return 0;
}

const intptr_t *gexx_check_near_ad(struct gexx_ad_s *ad) {
  const struct tmb_ad *const d = tmb_ad_of(ad);
  return d->offload || !gexx_check_near(ad->tm) ? NULL : d->delta;
}

void gexx_check_polls(uint32_t operations) {
  poll_now_and_then(operations);
}
