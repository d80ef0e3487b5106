/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast and reductions of GASNet-EX, and the argument checks of all collectives.
 *
 * Owns nothing. Called by clients. Calls: engine.h. API reference 06. Invariants: the calls differ
 * only in the struct tmb_coll_call that they fill; a message of a check names the function, the
 * argument, its value and the allowed values.
 */
#include "coll/calls/call.h"
#include "coll/calls/start.h"

#include "core/check.h"
#include "core/op/check_context.h"

#define OPS_INTEGER (GEX_OP_AND | GEX_OP_OR | GEX_OP_XOR)

/* Programs that work elsewhere pass sizeof(dt) here: only a note. */
static void check_elem(const struct tmb_coll_call *call, const struct tmb_coll_operands *o,
                       size_t elem) {
  if (elem != o->dt_sz)
    tmb_advise(TMB_ADVICE_OPERANDS,
               "%s: argument dt_sz is %zu, but an element of dt 0x%x has %zu bytes; %zu is used",
               call->name, o->dt_sz, o->dt, elem, elem);
}

static void user_operands(struct tmb_coll_call *call, const struct tmb_coll_operands *o) {
  if (!o->user_op)
    tmb_fatal_nopos("%s: argument user_op is NULL, but op is GEX_OP_USER%s; pass a function",
                    call->name, o->op == GEX_OP_USER_NC ? "_NC" : "");
  if (!o->dt_sz)
    tmb_fatal_nopos("%s: argument dt_sz is 0; pass the bytes of an element", call->name);
  const size_t fixed = tmb_reduce_type_bytes(o->dt);
  if (o->dt != GEX_DT_USER && fixed == 0)
    tmb_fatal_nopos("%s: argument dt is 0x%x, which is not a data type", call->name, o->dt);
  if (fixed) check_elem(call, o, fixed);
  call->reducer = (struct tmb_reducer){o->user_op, NULL, o->user_cdata, fixed ? fixed : o->dt_sz};
  call->commutes = o->op == GEX_OP_USER;
}

static void builtin_operands(struct tmb_coll_call *call, const struct tmb_coll_operands *o) {
  if (!tmb_reduce_builtin(o->dt, o->op, &call->reducer)) {
    if (o->dt == GEX_DT_USER)
      tmb_fatal_nopos("%s: argument op is 0x%x; with GEX_DT_USER it must be GEX_OP_USER or USER_NC",
                      call->name, o->op);
    if (!tmb_reduce_type_bytes(o->dt))
      tmb_fatal_nopos("%s: argument dt is 0x%x, which is not a data type", call->name, o->dt);
    if (o->op & OPS_INTEGER)
      tmb_fatal_nopos("%s: argument op is 0x%x, which is defined for integers only; dt is 0x%x",
                      call->name, o->op, o->dt);
    tmb_fatal_nopos("%s: argument op is 0x%x; reductions take GEX_OP_ADD, MULT, MIN, MAX, AND, OR, "
                    "XOR, USER and USER_NC",
                    call->name, o->op);
  }
  check_elem(call, o, call->reducer.elem);
  call->commutes = true;
}

void tmb_coll_operands(struct tmb_coll_call *call, const struct tmb_coll_operands *o) {
  if (o->op == GEX_OP_USER || o->op == GEX_OP_USER_NC)
    user_operands(call, o);
  else
    builtin_operands(call, o);
  call->operands = (uint16_t)((unsigned)__builtin_ctz(o->dt) << 8 | (unsigned)__builtin_ctz(o->op));
  if (!o->dt_cnt)
    tmb_advise(TMB_ADVICE_OPERANDS, "%s: argument dt_cnt is 0; at least one element is reduced",
               call->name);
  if (TMB_UNLIKELY(__builtin_mul_overflow(call->reducer.elem, o->dt_cnt, &call->bytes)))
    tmb_fatal_nopos("%s: dt_sz %zu times dt_cnt %zu is more than memory can hold", call->name,
                    call->reducer.elem, o->dt_cnt);
}

static bool writes(const struct tmb_coll_call *call) {
  return (call->kind != TMB_COLL_REDUCE && call->kind != TMB_COLL_GATHER &&
          call->kind != TMB_COLL_GATHERV) ||
         call->tm->rank == call->root;
}

static bool reads(const struct tmb_coll_call *call) {
  return (call->kind != TMB_COLL_BROADCAST && call->kind != TMB_COLL_SCATTER &&
          call->kind != TMB_COLL_SCATTERV) ||
         call->tm->rank == call->root;
}

void tmb_coll_check(const struct tmb_coll_call *call, gex_Flags_t flags) {
  const char *name = call->name;
  tmb_check_context_at(name);
  tmb_check_tm(name, call->tm, false);
  tmb_check_flags(name, flags, 0);
  if (call->root >= call->tm->size)
    tmb_fatal_nopos("%s: argument root is %u, but the team has %u ranks (0 to %u)", name,
                    call->root, call->tm->size, call->tm->size - 1);
  if (!call->bytes) return;
  if (writes(call) && !call->dst)
    tmb_fatal_nopos("%s: argument dst is NULL with %zu bytes to write", name, call->bytes);
  if (reads(call) && !call->src)
    tmb_fatal_nopos("%s: argument src is NULL with %zu bytes to read", name, call->bytes);
}

static gex_Event_t start(const struct tmb_coll_call *call, gex_Flags_t flags) {
  if (TMB_UNLIKELY(tmb_job.debug)) tmb_coll_check(call, flags);
  return tmb_coll_start(call, NULL);
}

static gex_Event_t reduce(struct tmb_coll_call call, struct tmb_coll_operands operands,
                          gex_Flags_t flags) {
  tmb_coll_operands(&call, &operands);
  return start(&call, flags);
}

/* Fields of a call, from the arguments that all have. */
#define CALL(NAME, KIND) .name = "gex_Coll_" NAME, .tm = tm, .kind = KIND, .dst = dst, .src = src

gex_Event_t gex_Coll_BroadcastNB(gex_TM_t tm, gex_Rank_t root, void *dst, const void *src,
                                 size_t nbytes, gex_Flags_t flags) {
  return start(&(struct tmb_coll_call){CALL("BroadcastNB", TMB_COLL_BROADCAST), .root = root,
                                       .bytes = nbytes},
               flags);
}

gex_Event_t gex_Coll_ReduceToOneNB(gex_TM_t tm, gex_Rank_t root, void *dst, const void *src,
                                   gex_DT_t dt, size_t dt_sz, size_t dt_cnt, gex_OP_t op,
                                   gex_Coll_ReduceFn_t user_op, void *user_cdata,
                                   gex_Flags_t flags) {
  return reduce((struct tmb_coll_call){CALL("ReduceToOneNB", TMB_COLL_REDUCE), .root = root},
                (struct tmb_coll_operands){dt, dt_sz, dt_cnt, op, user_op, user_cdata}, flags);
}

gex_Event_t gex_Coll_ReduceToAllNB(gex_TM_t tm, void *dst, const void *src, gex_DT_t dt,
                                   size_t dt_sz, size_t dt_cnt, gex_OP_t op,
                                   gex_Coll_ReduceFn_t user_op, void *user_cdata,
                                   gex_Flags_t flags) {
  return reduce((struct tmb_coll_call){CALL("ReduceToAllNB", TMB_COLL_ALLREDUCE)},
                (struct tmb_coll_operands){dt, dt_sz, dt_cnt, op, user_op, user_cdata}, flags);
}
