/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and get where one side is device memory.
 *
 * Owns: handlers PUT, ACK, GET, DATA of kinds. Called by rma.c, vis. Calls: mk_move.h, internal
 * messages, op.h. When this process can access both sides, one copy does it. Otherwise copies are
 * staged and executed at each side's owner: a put is cut into Medium requests; the target's handler
 * moves the payload into its segment and acknowledges. A get is cut into Short requests, answered
 * by Medium replies. A message names the endpoint whose bound segment tells how memory is reached
 * there. Invariants: as in defaults_rma.c: every part is counted before it is sent, only the first
 * part of an immediate access may fail; the source has been read when a call returns.
 */
#include "base/error.h"
#include "core/check.h"
#include "core/event/op.h"
#include "core/failure/failure.h"
#include "core/mk/mk.h"
#include "core/mk/mk_move.h"

#include <stdlib.h>
#include <string.h>

/* Internal handlers: 28..31. Arguments:
 *   PUT  destination(0,1) op(2,3) category(4) endpoint(5)          ACK  op(0,1) category(2)
 *   GET  source(0,1) bytes(2) op(3,4) category(5) destination(6,7) endpoint(8) endpoint there(9)
 *   DATA op(0,1) category(2) destination(3,4) endpoint(5) */
enum { AM_PUT = 28, AM_ACK, AM_GET, AM_DATA };
enum { PUT_ARGS = 6, ACK_ARGS = 3, GET_ARGS = 10 };

static void *pointer(const int32_t *args) {
  return (void *)(uintptr_t)tmb_team_join64(args);
}

/* ---- owner's side */

void tmb_mk_send_ack(uint32_t peer, const int32_t *op, uint32_t category) {
  int32_t args[ACK_ARGS] = {op[0], op[1], (int32_t)category};
  struct tmb_am_out ack = {.peer = peer,
                           .handler = AM_ACK,
                           .nargs = ACK_ARGS,
                           .is_reply = 1,
                           .staged = -1,
                           .args = args};
  (void)tmb_up_am_send(&ack);
}

static void on_put(const struct tmb_am_in *in) {
  tmb_mk_move(tmb_mk_place_of(in->args[5], pointer(in->args)),
              (struct tmb_mk_place){NULL, in->payload}, in->nbytes);
  tmb_mk_send_ack(in->src, in->args + 2, (uint32_t)in->args[4]);
}

void tmb_mk_send_data(uint32_t peer, struct tmb_mk_place from, size_t nbytes, int32_t *args) {
  void *stage = from.kind ? tmb_mk_stage(nbytes) : from.addr;
  if (from.kind) tmb_mk_move((struct tmb_mk_place){NULL, stage}, from, nbytes);
  struct tmb_am_out data = {.peer = peer,
                            .category = TMB_AM_MEDIUM,
                            .handler = AM_DATA,
                            .nargs = TMB_MK_DATA_ARGS,
                            .is_reply = 1,
                            .staged = -1,
                            .args = args,
                            .src = stage,
                            .nbytes = nbytes};
  (void)tmb_up_am_send(&data);
  if (from.kind) free(stage);
}

static void on_get(const struct tmb_am_in *in) {
  const int32_t *a = in->args;
  int32_t args[TMB_MK_DATA_ARGS] = {a[3], a[4], a[5], a[6], a[7], a[9]};
  tmb_mk_send_data(in->src, tmb_mk_place_of(a[8], pointer(a)), (uint32_t)a[2], args);
}

/* ---- origin's side */

static void on_ack(const struct tmb_am_in *in) {
  TMB_TSAN_ACQUIRE(pointer(in->args));
  tmb_up_peer_done(pointer(in->args), (uint32_t)in->args[2], in->src);
}

static void on_data(const struct tmb_am_in *in) {
  TMB_TSAN_ACQUIRE(pointer(in->args));
  tmb_mk_move(tmb_mk_place_of(in->args[5], pointer(in->args + 3)),
              (struct tmb_mk_place){NULL, in->payload}, in->nbytes);
  tmb_up_peer_done(pointer(in->args), (uint32_t)in->args[2], in->src);
}

static const struct tmb_layer_handler handlers[] = {
    {AM_PUT, on_put}, {AM_ACK, on_ack}, {AM_GET, on_get}, {AM_DATA, on_data}, {0, NULL}};

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
  tmb_up_peer_more(p->a->op, category, out->peer);
  TMB_TSAN_RELEASE(p->a->op);
  const int rc = tmb_up_am_send(out);
  if (rc) tmb_up_peer_done(p->a->op, category, out->peer);
  return rc;
}

static int put_part(const struct part *p) {
  int32_t args[PUT_ARGS];
  const struct tmb_mk_place from =
      tmb_mk_place_of(p->a->tm->ep->index, (char *)p->a->local + p->at);
  tmb_team_args64(args, (uint64_t)(uintptr_t)p->a->remote + p->at);
  tmb_team_args64(args + 2, (uint64_t)(uintptr_t)p->a->op);
  args[4] = TMB_CAT_PUT;
  args[5] = p->remote_ep;
  void *stage = from.kind ? tmb_mk_stage(p->bytes) : from.addr;
  if (from.kind) tmb_mk_move((struct tmb_mk_place){NULL, stage}, from, p->bytes);
  struct tmb_am_out out = {.category = TMB_AM_MEDIUM,
                           .handler = AM_PUT,
                           .nargs = PUT_ARGS,
                           .args = args,
                           .src = stage,
                           .nbytes = p->bytes};
  const int rc = send_part(&out, p, TMB_CAT_PUT);
  if (from.kind) free(stage);
  return rc;
}

static int get_part(const struct part *p) {
  int32_t args[GET_ARGS];
  tmb_team_args64(args, (uint64_t)(uintptr_t)p->a->remote + p->at);
  args[2] = (int32_t)p->bytes;
  tmb_team_args64(args + 3, (uint64_t)(uintptr_t)p->a->op);
  args[5] = TMB_CAT_GET;
  tmb_team_args64(args + 6, (uint64_t)(uintptr_t)p->a->local + p->at);
  args[8] = p->remote_ep;
  args[9] = p->a->tm->ep->index;
  struct tmb_am_out out = {.handler = AM_GET, .nargs = GET_ARGS, .args = args};
  return send_part(&out, p, TMB_CAT_GET);
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
  for (; p.at < a->nbytes; p.at += p.bytes) {
    p.bytes = TMB_MIN(a->nbytes - p.at, (size_t)TMB_AM_MEDIUM_BYTES_MAX);
    if (a->is_get ? get_part(&p) : put_part(&p)) return TMB_AGAIN;
  }
  return 0;
}
