/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and get where one side is device memory.
 *
 * Owns: handlers PUT, ACK, GET, DATA of kinds. Called by rma.c, vis. Calls: plug-ins, mk_peer.h,
 * internal messages, op.h. Where this process reaches both sides (its own memory, mapped host
 * memory, attached device memory of a peer), one copy does it. Otherwise copies are staged and
 * executed at each side's owner: a put is cut into Medium requests; the target's handler moves the
 * payload into its segment and acknowledges. A get is cut into Short requests, answered by Medium
 * replies. A message names the endpoint whose bound segment tells how memory is reached there.
 * Invariants: as in defaults_rma.c: every part is counted before it is sent, only
 * the first part of an immediate access may fail; the source has been read when a call returns.
 */
#include "base/error.h"
#include "core/bound.h"
#include "core/check.h"
#include "core/mk.h"
#include "core/mk_peer.h"
#include "core/op.h"

#include <tombolo/mk_plugin.h>

#include <stdlib.h>
#include <string.h>

/* Internal handlers: 28..31. Arguments:
 *   PUT  destination(0,1) op(2,3) category(4) endpoint(5)          ACK  op(0,1) category(2)
 *   GET  source(0,1) bytes(2) op(3,4) category(5) destination(6,7) endpoint(8) endpoint there(9)
 *   DATA op(0,1) category(2) destination(3,4) endpoint(5) */
enum { AM_PUT = 28, AM_ACK, AM_GET, AM_DATA };
enum { PUT_ARGS = 6, ACK_ARGS = 3, GET_ARGS = 10, DATA_ARGS = 6 };

static void *pointer(const int32_t *args) {
  return (void *)(uintptr_t)tmb_team_join64(args);
}

#define STAGE_BYTES (1u << 20) /* of host memory between two devices */

/* Memory that this process reaches: of a device, or of the host when kind is NULL. */
struct place {
  struct gexx_mk_s *kind;
  void *addr;
};

static struct place place_of(int32_t ep, void *addr) {
  return (struct place){tmb_mk_device(tmb_job.eps[ep]->segment), addr};
}

static void *stage_of(size_t nbytes) {
  void *stage = malloc(nbytes);
  if (!stage) tmb_fatal("out of memory for a copy of %zu bytes of device memory", nbytes);
  return stage;
}

_Noreturn TMB_COLD static void fail(const struct gexx_mk_s *kind, const struct place *to,
                                    const struct place *from, size_t nbytes) {
  tmb_fatal("the memory kind %s failed to copy %zu bytes from %p to %p: %s", kind->ops.name, nbytes,
            from->addr, to->addr, tmb_mk_reason(kind->plugin));
}

/* Between two devices that cannot copy to each other. */
static void move_staged(struct place to, struct place from, size_t nbytes) {
  const size_t most = TMB_MIN(nbytes, (size_t)STAGE_BYTES);
  char *stage = stage_of(most);
  for (size_t at = 0, n; at < nbytes; at += n) {
    n = TMB_MIN(nbytes - at, most);
    if (from.kind->plugin->copy_out(from.kind->device, stage, (char *)from.addr + at, n))
      fail(from.kind, &to, &from, nbytes);
    if (to.kind->plugin->copy_in(to.kind->device, (char *)to.addr + at, stage, n))
      fail(to.kind, &to, &from, nbytes);
  }
  free(stage);
}

/* Copy between two places that this process reaches. */
static void move(struct place to, struct place from, size_t nbytes) {
  int rc = GASNET_OK;
  if (!to.kind && !from.kind)
    memcpy(to.addr, from.addr, nbytes);
  else if (!from.kind)
    rc = to.kind->plugin->copy_in(to.kind->device, to.addr, from.addr, nbytes);
  else if (!to.kind)
    rc = from.kind->plugin->copy_out(from.kind->device, to.addr, from.addr, nbytes);
  else if (to.kind == from.kind)
    rc = to.kind->plugin->copy(to.kind->device, to.addr, from.addr, nbytes);
  else if (to.kind->plugin == from.kind->plugin && to.kind->plugin->copy_across)
    rc = to.kind->plugin->copy_across(to.kind->device, to.addr, from.kind->device, from.addr,
                                      nbytes);
  else
    move_staged(to, from, nbytes);
  if (rc != GASNET_OK) fail(to.kind ? to.kind : from.kind, &to, &from, nbytes);
}

/* ---- owner's side */

static void on_put(const struct tmb_am_in *in) {
  int32_t args[ACK_ARGS] = {in->args[2], in->args[3], in->args[4]};
  move(place_of(in->args[5], pointer(in->args)), (struct place){NULL, in->payload}, in->nbytes);
  struct tmb_am_out ack = {.peer = in->src,
                           .handler = AM_ACK,
                           .nargs = ACK_ARGS,
                           .is_reply = 1,
                           .staged = -1,
                           .args = args};
  (void)tmb_up_am_send(&ack);
}

static void on_get(const struct tmb_am_in *in) {
  const int32_t *a = in->args;
  const struct place from = place_of(a[8], pointer(a));
  const size_t nbytes = (uint32_t)a[2];
  int32_t args[DATA_ARGS] = {a[3], a[4], a[5], a[6], a[7], a[9]};
  void *stage = from.kind ? stage_of(nbytes) : from.addr;
  if (from.kind) move((struct place){NULL, stage}, from, nbytes);
  struct tmb_am_out data = {.peer = in->src,
                            .category = TMB_AM_MEDIUM,
                            .handler = AM_DATA,
                            .nargs = DATA_ARGS,
                            .is_reply = 1,
                            .staged = -1,
                            .args = args,
                            .src = stage,
                            .nbytes = nbytes};
  (void)tmb_up_am_send(&data);
  if (from.kind) free(stage);
}

/* ---- origin's side */

static void on_ack(const struct tmb_am_in *in) {
  TMB_TSAN_ACQUIRE(pointer(in->args));
  tmb_up_op_done(pointer(in->args), (uint32_t)in->args[2]);
}

static void on_data(const struct tmb_am_in *in) {
  TMB_TSAN_ACQUIRE(pointer(in->args));
  move(place_of(in->args[5], pointer(in->args + 3)), (struct place){NULL, in->payload}, in->nbytes);
  tmb_up_op_done(pointer(in->args), (uint32_t)in->args[2]);
}

__attribute__((constructor)) static void install(void) {
  tmb_up_set_internal(AM_PUT, on_put);
  tmb_up_set_internal(AM_ACK, on_ack);
  tmb_up_set_internal(AM_GET, on_get);
  tmb_up_set_internal(AM_DATA, on_data);
}

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
  tmb_up_op_more(p->a->op, category);
  TMB_TSAN_RELEASE(p->a->op);
  const int rc = tmb_up_am_send(out);
  if (rc) tmb_up_op_done(p->a->op, category);
  return rc;
}

static int put_part(const struct part *p) {
  int32_t args[PUT_ARGS];
  const struct place from = place_of(p->a->tm->ep->index, (char *)p->a->local + p->at);
  tmb_team_args64(args, (uint64_t)(uintptr_t)p->a->remote + p->at);
  tmb_team_args64(args + 2, (uint64_t)(uintptr_t)p->a->op);
  args[4] = TMB_CAT_PUT;
  args[5] = p->remote_ep;
  void *stage = from.kind ? stage_of(p->bytes) : from.addr;
  if (from.kind) move((struct place){NULL, stage}, from, p->bytes);
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

/* The remote side, where this process reaches it without the owner: out far. */
static bool reach(const struct tmb_mk_access *a, struct place *far) {
  const uint32_t jobrank = tmb_jobrank(a->tm, a->rank);
  const gex_EP_Index_t ep = tmb_ep_index(a->tm, a->rank);
  if (jobrank == tmb_job.rank) {
    *far = place_of(ep, a->remote);
    return true;
  }
  if (tmb_mk_remote(a->tm, a->rank))
    return tmb_mk_peer_reach(
        &(struct tmb_mk_far){jobrank, ep, a->remote, tmb_mk_device(a->tm->ep->segment)}, &far->kind,
        &far->addr);
  const gex_TM_t host = &tmb_job.ep.pair[ep];
  if (!tmb_bound_maps(host, jobrank, a->remote, a->nbytes)) return false;
  *far = (struct place){NULL, gexx_rma_local(host, jobrank, a->remote)};
  return true;
}

int tmb_mk_rma(const struct tmb_mk_access *a) {
  struct part p = {.a = a, .remote_ep = tmb_ep_index(a->tm, a->rank)};
  struct place far;
  if (reach(a, &far)) {
    const struct place near = place_of(a->tm->ep->index, a->local);
    move(a->is_get ? near : far, a->is_get ? far : near, a->nbytes);
    return 0;
  }
  for (; p.at < a->nbytes; p.at += p.bytes) {
    p.bytes = TMB_MIN(a->nbytes - p.at, (size_t)TMB_AM_MEDIUM_BYTES_MAX);
    if (a->is_get ? get_part(&p) : put_part(&p)) return TMB_AGAIN;
  }
  return 0;
}
