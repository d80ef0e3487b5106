/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and get where one side is device memory.
 *
 * Owns: handlers PUT, GET, DATA of kinds. Called by rma.c, vis. Calls: mk_move.h, kit.h,
 * op.h. When this process can access both sides, one copy does it. Where interfaces of the network
 * reach device memory, the conduit does it (by_network). Otherwise copies are staged and executed
 * at each side's owner: a put is cut into Medium requests; the target's handler moves the payload
 * into its segment and acknowledges. A get is cut into Short requests, answered by Medium replies.
 * A message names the endpoint whose bound segment says how memory is reached there. Data of a
 * device pass through a buffer of mk_stage.h: a message has been copied out of it when it is sent,
 * so the next piece is copied from the device while the last one travels. Invariants: as in
 * defaults_rma.c: every part is counted before it is sent, only the first part of an immediate
 * access may fail; the source has been read when a call returns, unless the client has said that it
 * need not be (deferred).
 */
#include "base/error.h"
#include "core/am/kit.h"
#include "core/check.h"
#include "core/mk/mk_move.h"
#include "core/op/lost.h"
#include "core/op/op.h"
#include "core/progress/peer.h"
#include "core/segment/mk.h"
#include "net/net.h"

#include <string.h>

/* Arguments:
 *   PUT  destination(0,1) op(2,3) category(4) endpoint(5)
 *   GET  source(0,1) bytes(2) op(3,4) category(5) destination(6,7) endpoint(8) endpoint there(9)
 *   DATA op(0,1) category(2) destination(3,4) endpoint(5) */
enum { PUT_ARGS = 6, GET_ARGS = 10 };

/* A buffer with bytes of a device, for tmb_mk_stage_put. */
static void *staged(struct tmb_mk_place from, size_t nbytes) {
  void *stage = tmb_mk_stage_take(from.kind);
  tmb_mk_move((struct tmb_mk_place){NULL, stage}, from, nbytes);
  tmb_mk_stage_filled();
  return stage;
}

/* ---- owner's side */

static void on_put(const struct tmb_am_in *in) {
  tmb_mk_move(tmb_mk_place_named(in, in->args[5], tmb_kit_unpack64(in->args), in->nbytes),
              (struct tmb_mk_place){NULL, in->payload}, in->nbytes);
  tmb_kit_ack(in->src, tmb_kit_unpack64(in->args + 2), (uint32_t)in->args[4]);
}

void tmb_mk_send_data(uint32_t peer, struct tmb_mk_place from, size_t nbytes, int32_t *args) {
  void *stage = from.kind ? staged(from, nbytes) : from.addr;
  const struct tmb_am_out data = {.handler = TMB_KIT_MK_DATA,
                                  .nargs = TMB_MK_DATA_ARGS,
                                  .args = args,
                                  .src = stage,
                                  .nbytes = nbytes};
  tmb_kit_reply_data(peer, &data);
  if (from.kind) tmb_mk_stage_put(stage);
}

static void on_get(const struct tmb_am_in *in) {
  const int32_t *a = in->args;
  int32_t args[TMB_MK_DATA_ARGS] = {a[3], a[4], a[5], a[6], a[7], a[9]};
  const uint32_t bytes = (uint32_t)a[2];
  if (bytes > TMB_AM_MEDIUM_BYTES_MAX) tmb_kit_malformed(in, "length");
  tmb_mk_send_data(in->src, tmb_mk_place_named(in, a[8], tmb_kit_unpack64(a), bytes), bytes, args);
}

/* ---- origin's side */

static void on_data(const struct tmb_am_in *in) {
  TMB_TSAN_ACQUIRE(tmb_kit_unpack_ptr(in->args));
  tmb_mk_move(tmb_mk_place_of(in->args[5], tmb_kit_unpack_ptr(in->args + 3)),
              (struct tmb_mk_place){NULL, in->payload}, in->nbytes);
  tmb_up_peer_done(tmb_kit_unpack_ptr(in->args), (uint32_t)in->args[2], in->src);
}

static const struct tmb_layer_handler handlers[] = {
    {TMB_KIT_MK_PUT, TMB_TAKES_MEDIUM, PUT_ARGS, 0, on_put},
    {TMB_KIT_MK_GET, TMB_TAKES_SHORT, GET_ARGS, 0, on_get},
    {TMB_KIT_MK_DATA, TMB_TAKES_MEDIUM, TMB_MK_DATA_ARGS, 0, on_data},
    {0}};

const struct tmb_layer tmb_mk_layer = {.name = "mk", .handlers = handlers};

/* A part of an access: bytes at an offset. */
struct part {
  const struct tmb_mk_access *a;
  size_t at, bytes;
  int32_t remote_ep;
};

static int send_part(struct tmb_am_out *out, const struct part *p, uint32_t category) {
  out->peer = tmb_jobrank(p->a->tm, p->a->rank);
  out->staged = -1;
  out->immediate = p->a->immediate && p->at == 0;
  return tmb_kit_send_part(out, p->a->op, category);
}

static int put_part(const struct part *p) {
  int32_t args[PUT_ARGS];
  const struct tmb_mk_place from =
      tmb_mk_place_of(p->a->tm->ep->index, (char *)p->a->local + p->at);
  tmb_kit_pack64(args, (uint64_t)(uintptr_t)p->a->remote + p->at);
  tmb_kit_pack_ptr(args + 2, p->a->op);
  args[4] = TMB_CAT_PUT;
  args[5] = p->remote_ep;
  void *stage = from.kind ? staged(from, p->bytes) : from.addr;
  struct tmb_am_out out = {.category = TMB_AM_MEDIUM,
                           .handler = TMB_KIT_MK_PUT,
                           .nargs = PUT_ARGS,
                           .args = args,
                           .src = stage,
                           .nbytes = p->bytes};
  const int rc = send_part(&out, p, TMB_CAT_PUT);
  if (from.kind) tmb_mk_stage_put(stage);
  return rc;
}

static int get_part(const struct part *p) {
  int32_t args[GET_ARGS];
  tmb_kit_pack64(args, (uint64_t)(uintptr_t)p->a->remote + p->at);
  args[2] = (int32_t)p->bytes;
  tmb_kit_pack_ptr(args + 3, p->a->op);
  args[5] = TMB_CAT_GET;
  tmb_kit_pack64(args + 6, (uint64_t)(uintptr_t)p->a->local + p->at);
  args[8] = p->remote_ep;
  args[9] = p->a->tm->ep->index;
  struct tmb_am_out out = {.handler = TMB_KIT_MK_GET, .nargs = GET_ARGS, .args = args};
  return send_part(&out, p, TMB_CAT_GET);
}

/* By the network, where its interfaces reach both sides. Returns 0, TMB_AGAIN, or
 * TMB_E_UNSUPPORTED with nothing done. */
static int by_network(const struct tmb_mk_access *a) {
  struct tmb_net_memory memory;
  if (!tmb_job.net || !tmb_job.net->device_rma || (!a->is_get && !a->deferred))
    return TMB_E_UNSUPPORTED;
  const struct tmb_mk_place near = tmb_mk_place_of(a->tm->ep->index, a->local);
  if (near.kind && !tmb_mk_network(near.kind, &memory)) return TMB_E_UNSUPPORTED;
  const struct tmb_rma rma = {.peer = tmb_jobrank(a->tm, a->rank),
                              .remote = a->remote,
                              .local = a->local,
                              .nbytes = a->nbytes,
                              .op = a->op,
                              .category = a->is_get ? TMB_CAT_GET : TMB_CAT_PUT,
                              .immediate = a->immediate};
  return tmb_peer_device_rma(&rma, a->is_get);
}

int tmb_mk_rma(const struct tmb_mk_access *a) {
  struct part p = {.a = a, .remote_ep = tmb_ep_index(a->tm, a->rank)};
  struct tmb_mk_place far;
  if (tmb_mk_map_remote(a, &far)) {
    const struct tmb_mk_place near = tmb_mk_place_of(a->tm->ep->index, a->local);
    const uint32_t peer = tmb_jobrank(a->tm, a->rank);
    tmb_mk_move(a->is_get ? near : far, a->is_get ? far : near, a->nbytes);
    if (tmb_peer_lost(peer)) tmb_op_lose(a->op, a->is_get ? TMB_CAT_GET : TMB_CAT_PUT, peer);
    return 0;
  }
  const int rc = by_network(a);
  if (rc != TMB_E_UNSUPPORTED) return rc;
  for (; p.at < a->nbytes; p.at += p.bytes) {
    p.bytes = TMB_MIN(a->nbytes - p.at, (size_t)TMB_AM_MEDIUM_BYTES_MAX);
    if (a->is_get ? get_part(&p) : put_part(&p)) return TMB_AGAIN;
  }
  return 0;
}
