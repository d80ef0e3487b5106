/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and get where one side is device memory: staged copies, executed at each side's owner.
 *
 * Owns: handlers PUT, ACK, GET, DATA of kinds. Called by rma.c. Calls: plug-ins, internal messages,
 * op.h. A put is cut into Medium requests; the target's handler moves the payload into its segment
 * and acknowledges. A get is cut into Short requests, answered by Medium replies. A message names
 * the endpoint whose bound segment tells how memory is reached there; both ends in this process are
 * copied at once. Invariants: as in defaults_rma.c: every part is counted before it is sent, only
 * the first part of an immediate access may fail; the source has been read when a call returns.
 */
#include "base/error.h"
#include "core/check.h"
#include "core/mk.h"
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

/* Memory of this process: of a device, or of the host when kind is NULL. */
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

/* Copy at most TMB_AM_MEDIUM_BYTES_MAX bytes between two places of this process. */
static void move_part(struct place to, struct place from, size_t nbytes) {
  int rc = GASNET_OK;
  if (!to.kind && !from.kind) {
    memcpy(to.addr, from.addr, nbytes);
  } else if (!from.kind) {
    rc = to.kind->plugin->copy_in(to.kind->device, to.addr, from.addr, nbytes);
  } else if (!to.kind) {
    rc = from.kind->plugin->copy_out(from.kind->device, to.addr, from.addr, nbytes);
  } else if (to.kind == from.kind) {
    rc = to.kind->plugin->copy(to.kind->device, to.addr, from.addr, nbytes);
  } else {
    void *stage = stage_of(nbytes);
    rc = from.kind->plugin->copy_out(from.kind->device, stage, from.addr, nbytes);
    if (rc == GASNET_OK) rc = to.kind->plugin->copy_in(to.kind->device, to.addr, stage, nbytes);
    free(stage);
  }
  if (rc != GASNET_OK)
    tmb_fatal("the memory kind %s failed to copy %zu bytes from %p to %p (%s)",
              (to.kind ? to.kind : from.kind)->ops.name, nbytes, from.addr, to.addr,
              gasnet_ErrorName(rc));
}

/* ---- owner's side */

static void on_put(const struct tmb_am_in *in) {
  int32_t args[ACK_ARGS] = {in->args[2], in->args[3], in->args[4]};
  move_part(place_of(in->args[5], pointer(in->args)), (struct place){NULL, in->payload},
            in->nbytes);
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
  if (from.kind) move_part((struct place){NULL, stage}, from, nbytes);
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
  move_part(place_of(in->args[5], pointer(in->args + 3)), (struct place){NULL, in->payload},
            in->nbytes);
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
  if (from.kind) move_part((struct place){NULL, stage}, from, p->bytes);
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

/* Both sides are in this process. */
static void copy_part(const struct part *p) {
  const struct place near = place_of(p->a->tm->ep->index, (char *)p->a->local + p->at);
  const struct place far = place_of(p->remote_ep, (char *)p->a->remote + p->at);
  move_part(p->a->is_get ? near : far, p->a->is_get ? far : near, p->bytes);
}

int tmb_mk_rma(const struct tmb_mk_access *a) {
  const bool here = tmb_jobrank(a->tm, a->rank) == tmb_job.rank;
  struct part p = {.a = a, .remote_ep = tmb_ep_index(a->tm, a->rank)};
  for (; p.at < a->nbytes; p.at += p.bytes) {
    p.bytes = TMB_MIN(a->nbytes - p.at, (size_t)TMB_AM_MEDIUM_BYTES_MAX);
    if (here)
      copy_part(&p);
    else if (a->is_get ? get_part(&p) : put_part(&p))
      return TMB_AGAIN;
  }
  return 0;
}
