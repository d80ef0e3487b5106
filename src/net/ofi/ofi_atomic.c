/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote atomic operations, see ofi_rma.h.
 *
 * Owns: struct ofi_atomics, a part of the engine. Called by core through the table, by ofi.c and
 * ofi_receive.c. Calls: libfabric by its table, env->up->target, env->up->atomic, ofi_rma.c,
 * ofi_region.c, ofi_send.c. An operation is a message OFI_ATOMIC, which the owner's processor
 * performs where messages are received, also in the progress thread while the client computes. Of a
 * domain that the provider performs it is a fetching operation of libfabric: its completion says
 * that it is performed (fi_atomic(3)). Invariants: an operation is performed once; a message takes
 * a unit of credit, which its answer gives back; no operation of the provider becomes a message.
 */
#include "base/atomic.h"
#include "base/compiler.h"
#include "base/error.h"
#include "net/ofi/ofi_rma.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- by the owner's processor */

static int send(struct tmb_net *net, struct ofi_access *a, const struct tmb_net_atomic *atomic) {
  const struct ofi_rmw rmw = {.addr = a->remote,
                              .operand = {atomic->operand[0], atomic->operand[1]},
                              .opcode = atomic->opcode,
                              .dt = atomic->dt,
                              .bytes = atomic->bytes,
                              .access = (uint32_t)(a - net->access.all),
                              .serial = a->serial};
  a->signalled = true;
  return ofi_send_request(net, atomic->peer, OFI_ATOMIC, &rmw, sizeof rmw);
}

void ofi_atomic_serve(struct tmb_net *net, uint32_t src, void *payload) {
  struct ofi_rmw rmw;
  char text[160];
  memcpy(&rmw, payload, sizeof rmw);
  const struct tmb_net_atomic atomic = {.opcode = rmw.opcode,
                                        .dt = rmw.dt,
                                        .bytes = rmw.bytes,
                                        .operand = {rmw.operand[0], rmw.operand[1]}};
  uint64_t old = 0;
  const bool sized = rmw.bytes == sizeof(uint32_t) || rmw.bytes == sizeof(uint64_t);
  void *const word = sized ? net->env.up->target(src, rmw.addr, rmw.bytes) : NULL;
  if (!word || rmw.addr % rmw.bytes || !net->env.up->atomic(word, &atomic, &old)) {
    snprintf(text, sizeof text,
             "rank %u asks for atomic operation 0x%x on data type 0x%x at 0x%llx, which does not "
             "exist or is no word of a segment",
             src, rmw.opcode, rmw.dt, (unsigned long long)rmw.addr);
    ofi_fatal(net, text, FI_EINVAL);
  }
  rmw.operand[0] = old;
  memcpy(payload, &rmw, sizeof rmw);
}

/* ---- by the provider */

static const enum fi_datatype types[TMB_ATOMIC_TYPES] = {
    [TMB_ATOMIC_I32] = FI_INT32,  [TMB_ATOMIC_U32] = FI_UINT32, [TMB_ATOMIC_I64] = FI_INT64,
    [TMB_ATOMIC_U64] = FI_UINT64, [TMB_ATOMIC_FLT] = FI_FLOAT,  [TMB_ATOMIC_DBL] = FI_DOUBLE};
static const enum fi_op forms[TMB_ATOMIC_OPCODES] = {
    [TMB_ATOMIC_AND] = FI_BAND,         [TMB_ATOMIC_OR] = FI_BOR,
    [TMB_ATOMIC_XOR] = FI_BXOR,         [TMB_ATOMIC_ADD] = FI_SUM,
    [TMB_ATOMIC_SUB] = FI_SUM,          [TMB_ATOMIC_MULT] = FI_PROD,
    [TMB_ATOMIC_MIN] = FI_MIN,          [TMB_ATOMIC_MAX] = FI_MAX,
    [TMB_ATOMIC_INC] = FI_SUM,          [TMB_ATOMIC_DEC] = FI_SUM,
    [TMB_ATOMIC_SET] = FI_ATOMIC_WRITE, [TMB_ATOMIC_CAS] = FI_CSWAP,
    [TMB_ATOMIC_GET] = FI_ATOMIC_READ};
static const char *const type_names[TMB_ATOMIC_TYPES] = {"I32", "U32", "I64", "U64", "FLT", "DBL"};
static const char *const op_names[TMB_ATOMIC_OPCODES] = {
    "AND", "OR", "XOR", "ADD", "SUB", "MULT", "MIN", "MAX", "INC", "DEC", "SET", "CAS", "GET"};

static uint32_t bytes_of(uint32_t type) {
  return type == TMB_ATOMIC_I32 || type == TMB_ATOMIC_U32 || type == TMB_ATOMIC_FLT ? 4 : 8;
}

/* Number of an opcode, be it fetching or not. */
static uint32_t number_of(uint32_t opcode) {
  const uint32_t bit = (uint32_t)__builtin_ctz(opcode);
  return bit < 16 ? bit : bit - 16;
}

void ofi_atomics_query(const struct ofi_calls *calls, struct fid_domain *domain,
                       uint32_t can[TMB_ATOMIC_TYPES]) {
  for (uint32_t t = 0; t < TMB_ATOMIC_TYPES; t++) {
    can[t] = 0;
    for (uint32_t o = 0; o < TMB_ATOMIC_OPCODES; o++) {
      struct fi_atomic_attr attr = {0};
      const uint64_t flags = o == TMB_ATOMIC_CAS ? FI_COMPARE_ATOMIC : FI_FETCH_ATOMIC;
      if (calls->query_atomic(domain, types[t], forms[o], &attr, flags) == 0 && attr.count &&
          attr.size == bytes_of(t))
        can[t] |= 1u << o;
    }
  }
}

bool ofi_atomics_cover(const uint32_t can[TMB_ATOMIC_TYPES], uint32_t dt, uint32_t ops) {
  const uint32_t needed = (ops | ops >> 16) & 0xffff;
  return dt && needed && !(needed & ~can[__builtin_ctz(dt)]);
}

void ofi_atomics_open(struct tmb_net *net, bool good) {
  struct ofi_atomics *const s = &net->atomics;
  const struct ofi_memory *local = NULL;
  memset(s->can, 0, sizeof s->can);
  if (good) {
    tmb_lock_acquire_shared(&net->lock);
    if (net->mr_mode & FI_MR_LOCAL)
      local = ofi_memory_use(net, net->access.all, OFI_ACCESSES * sizeof *net->access.all);
    tmb_lock_release(&net->lock);
    if (local) s->desc = fi_mr_desc(local->mr[0]);
    if (local || !(net->mr_mode & FI_MR_LOCAL))
      ofi_atomics_query(net->calls, net->rail[0].domain, s->can);
  }
  _Static_assert(sizeof s->can <= sizeof(struct ofi_card), "a piece fits");
  const uint32_t(*all)[TMB_ATOMIC_TYPES] = ofi_gather(net, s->can, sizeof s->can);
  for (uint32_t i = 0; i < net->env.size; i++)
    for (uint32_t t = 0; t < TMB_ATOMIC_TYPES; t++) s->can[t] &= all[i][t];
  for (uint32_t t = 0; t < TMB_ATOMIC_TYPES; t++) s->any = s->any || s->can[t];
}

bool ofi_offloads(struct tmb_net *net, uint32_t dt, uint32_t ops) {
  return net->atomics.any && ofi_atomics_cover(net->atomics.can, dt, ops);
}

/* The operand of libfabric's operation: 1 for INC, the negative for SUB. */
static uint64_t operand_of(const struct tmb_net_atomic *atomic, uint32_t type, uint32_t op) {
  const bool one = op == TMB_ATOMIC_INC || op == TMB_ATOMIC_DEC;
  const bool negative = op == TMB_ATOMIC_SUB || op == TMB_ATOMIC_DEC;
  const float flt = 1;
  const double dbl = 1;
  uint64_t whole = atomic->operand[op == TMB_ATOMIC_CAS], word = one ? 1 : whole;
  if (bytes_of(type) == sizeof(uint32_t)) {
    uint32_t half;
    memcpy(&half, &whole, sizeof half);
    if (one && type == TMB_ATOMIC_FLT) memcpy(&half, &flt, sizeof half);
    if (one && type != TMB_ATOMIC_FLT) half = 1;
    if (negative) half = type == TMB_ATOMIC_FLT ? half ^ UINT32_C(1) << 31 : 0 - half;
    memcpy(&word, &half, sizeof half);
    return word;
  }
  if (one && type == TMB_ATOMIC_DBL) memcpy(&word, &dbl, sizeof word);
  if (negative) word = type == TMB_ATOMIC_DBL ? word ^ UINT64_C(1) << 63 : 0 - word;
  return word;
}

/* One line that names an operation. */
static void name(const struct tmb_net *net, const struct ofi_access *a, const char *why, char *text,
                 size_t bytes) {
  snprintf(text, bytes,
           "atomic operation %s on type %s at 0x%llx of rank %u fails (provider %s): %s; "
           "TOMBOLO_OFI_ATOMICS=no leaves it to the owner's processor",
           op_names[number_of(a->opcode)], type_names[__builtin_ctz(a->dt)],
           (unsigned long long)a->remote, a->op.peer, net->rail[0].info->fabric_attr->prov_name,
           why);
}

void ofi_atomic_failed(struct tmb_net *net, const struct ofi_op *op, int error) {
  const struct ofi_access *const a = (const struct ofi_access *)(const void *)op;
  char text[256];
  if (!a->atomic || a->lost || ofi_error_of_peer(error)) return;
  name(net, a, net->calls->error(error), text, sizeof text);
  if (a->op.peer == net->env.rank) ofi_fatal(net, text, error);
  net->env.up->print("ofi: %s", text);
}

static ssize_t issue(struct tmb_net *net, struct ofi_access *a, const struct ofi_region *region) {
  const uint32_t op = number_of(a->opcode);
  void *desc = net->atomics.desc;
  const struct fi_ioc operand = {&a->operand, 1}, compare = {&a->compare, 1};
  struct fi_ioc result = {&a->before, 1};
  const struct fi_rma_ioc remote = {
      .addr = a->remote - region->base + region->from, .count = 1, .key = region->key[0]};
  const struct fi_msg_atomic message = {.msg_iov = &operand,
                                        .desc = &desc,
                                        .iov_count = 1,
                                        .addr = net->rail[0].addr[a->op.peer],
                                        .rma_iov = &remote,
                                        .rma_iov_count = 1,
                                        .datatype = types[__builtin_ctz(a->dt)],
                                        .op = forms[op],
                                        .context = a};
  if (op == TMB_ATOMIC_CAS)
    return net->calls->compare_atomic(net->rail[0].ep, &message, &compare, &result, desc);
  return net->calls->fetch_atomic(net->rail[0].ep, &message, &result, desc);
}

/* Have the provider perform one. Returns 0 or TMB_AGAIN. */
static int offload(struct tmb_net *net, struct ofi_access *a, const struct tmb_net_atomic *atomic) {
  bool refused;
  char text[256];
  a->opcode = atomic->opcode;
  a->dt = atomic->dt;
  const struct ofi_region *region =
      ofi_region_need(net, atomic->peer, a->remote, a->nbytes, &refused);
  if (refused) {
    name(net, a, "its owner cannot register that memory, or it is in no segment", text,
         sizeof text);
    ofi_fatal(net, text, FI_EACCES);
  }
  if (!region) return TMB_AGAIN;
  a->compare = atomic->operand[0];
  a->operand = operand_of(atomic, (uint32_t)__builtin_ctz(atomic->dt), number_of(atomic->opcode));
  const ssize_t rc = issue(net, a, region);
  if (rc == -FI_EAGAIN || rc == -FI_ENOMEM) return TMB_AGAIN;
  if (rc) {
    name(net, a, net->calls->error((int)-rc), text, sizeof text);
    ofi_fatal(net, text, (int)-rc);
  }
  net->tx_busy++;
  return 0;
}

/* ---- the slot */

static int start(struct tmb_net *net, const struct tmb_net_atomic *atomic) {
  if (ofi_peer_of(net, atomic->peer)->broken)
    return atomic->offload ? TMB_AGAIN : TMB_E_UNSUPPORTED; /* until core knows that it is lost */
  struct ofi_access *a = ofi_access_take(net, atomic);
  if (!a) return TMB_AGAIN;
  const int rc = atomic->offload ? offload(net, a, atomic) : send(net, a, atomic);
  if (rc == 0) {
    ofi_access_count(net, a);
    return 0;
  }
  a->parts = 0;
  a->op.next = NULL;
  ofi_access_free(net, &a->op);
  return rc;
}

int ofi_atomic(struct tmb_net *net, const struct tmb_net_atomic *atomic) {
  tmb_lock_acquire_shared(&net->lock);
  const int rc = start(net, atomic);
  if (rc == 0) {
    tmb_count_rlx(&net->env.stats->sent, 1);
    tmb_count_rlx(&net->env.stats->packets_out, 1);
  }
  tmb_lock_release(&net->lock);
  return rc;
}
