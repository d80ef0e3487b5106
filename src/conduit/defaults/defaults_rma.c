/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and get made of active messages, for conduits without remote memory access and for
 * TOMBOLO_SHM_MAP=0.
 *
 * Owns: internal handlers PUT, ACK, GET, DATA. Called through the put and get slots. Calls:
 * tmb_up_am_send and upcalls. A put is cut into Medium requests, each acknowledged by a Short
 * reply; a get into Short requests, each answered by a Medium reply that carries the data. So the
 * target's part runs when the target polls. Invariants: every part is announced (tmb_up_op_more)
 * before it is sent and completed once; only the first part of an immediate access may fail; 64-bit
 * values travel as two arguments, low half first.
 */
#include "base/compiler.h"
#include "base/error.h"
#include "base/log.h"
#include "conduit/conduit.h"

#include <string.h>

enum { INTERNAL_PUT = 1, INTERNAL_ACK, INTERNAL_GET, INTERNAL_DATA };

static void split(int32_t *args, uint64_t v) {
  args[0] = (int32_t)(uint32_t)v;
  args[1] = (int32_t)(uint32_t)(v >> 32);
}

static uint64_t join(const int32_t *args) {
  return (uint64_t)(uint32_t)args[0] | (uint64_t)(uint32_t)args[1] << 32;
}

static void *join_ptr(const int32_t *args) {
  return (void *)(uintptr_t)join(args);
}

/* ---- target side of a put: dest(0,1) op(2,3) category(4) */

static void on_put(const struct tmb_am_in *in) {
  memcpy(join_ptr(in->args), in->payload, in->nbytes);
  struct tmb_am_out ack = {.peer = in->src,
                           .handler = INTERNAL_ACK,
                           .nargs = 3,
                           .is_reply = 1,
                           .staged = -1,
                           .args = in->args + 2};
  (void)tmb_up_am_send(&ack);
}

static void on_ack(const struct tmb_am_in *in) {
  tmb_up_op_done(join_ptr(in->args), (uint32_t)in->args[2]);
}

/* ---- target side of a get: src(0,1) bytes(2) op(3,4) category(5) dest(6,7) */

static void on_get(const struct tmb_am_in *in) {
  struct tmb_am_out data = {.peer = in->src,
                            .category = TMB_AM_MEDIUM,
                            .handler = INTERNAL_DATA,
                            .nargs = 5,
                            .is_reply = 1,
                            .staged = -1,
                            .args = in->args + 3,
                            .src = join_ptr(in->args),
                            .nbytes = (uint32_t)in->args[2]};
  (void)tmb_up_am_send(&data);
}

static void on_data(const struct tmb_am_in *in) {
  memcpy(join_ptr(in->args + 3), in->payload, in->nbytes);
  tmb_up_op_done(join_ptr(in->args), (uint32_t)in->args[2]);
}

/* ---- origin */

/* Send one part; withdraw its announcement when an immediate one finds no resources. */
static int send_part(struct tmb_am_out *out, const struct tmb_rma *rma, size_t at) {
  out->peer = rma->peer;
  out->staged = -1;
  out->immediate = rma->immediate && at == 0;
  tmb_up_op_more(rma->op, rma->category);
  const int rc = tmb_up_am_send(out);
  if (rc) tmb_up_op_done(rma->op, rma->category);
  return rc;
}

static int default_put(struct tmb_conduit *c, const struct tmb_rma *rma) {
  (void)c;
  for (size_t at = 0; at < rma->nbytes; at += TMB_AM_MEDIUM_BYTES_MAX) {
    int32_t args[5];
    split(args, (uint64_t)(uintptr_t)rma->remote + at);
    split(args + 2, (uint64_t)(uintptr_t)rma->op);
    args[4] = (int32_t)rma->category;
    struct tmb_am_out out = {.category = TMB_AM_MEDIUM,
                             .handler = INTERNAL_PUT,
                             .nargs = 5,
                             .args = args,
                             .src = (const char *)rma->local + at,
                             .nbytes = TMB_MIN(rma->nbytes - at, (size_t)TMB_AM_MEDIUM_BYTES_MAX)};
    if (send_part(&out, rma, at)) return TMB_AGAIN;
  }
  return 0;
}

static int default_get(struct tmb_conduit *c, const struct tmb_rma *rma) {
  (void)c;
  for (size_t at = 0; at < rma->nbytes; at += TMB_AM_MEDIUM_BYTES_MAX) {
    int32_t args[8];
    split(args, (uint64_t)(uintptr_t)rma->remote + at);
    args[2] = (int32_t)TMB_MIN(rma->nbytes - at, (size_t)TMB_AM_MEDIUM_BYTES_MAX);
    split(args + 3, (uint64_t)(uintptr_t)rma->op);
    args[5] = (int32_t)rma->category;
    split(args + 6, (uint64_t)(uintptr_t)rma->local + at);
    struct tmb_am_out out = {.handler = INTERNAL_GET, .nargs = 8, .args = args};
    if (send_part(&out, rma, at)) return TMB_AGAIN;
  }
  return 0;
}

void tmb_conduit_complete(struct tmb_conduit_ops *ops) {
  if (!ops->open || !ops->close || !ops->am_send || !ops->progress)
    tmb_bug("conduit %s lacks a mandatory slot", ops->name);
  tmb_up_set_internal(INTERNAL_PUT, on_put);
  tmb_up_set_internal(INTERNAL_ACK, on_ack);
  tmb_up_set_internal(INTERNAL_GET, on_get);
  tmb_up_set_internal(INTERNAL_DATA, on_data);
  if (!ops->put) ops->put = default_put;
  if (!ops->get) ops->get = default_get;
}
