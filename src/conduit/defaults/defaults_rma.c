/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and get made of active messages, for conduits without remote memory access and for
 * TOMBOLO_SHM_MAP=0.
 *
 * Owns: internal handlers PUT, ACK, GET, DATA. Called through the put and get slots. Calls:
 * tmb_up_am_send and upcalls. A put is cut into Medium requests, each acknowledged by a Short
 * reply; a get into Short requests, each answered by a Medium reply that carries the data. So the
 * target's part runs when the target polls. Invariants: every part is announced (tmb_up_peer_more)
 * before it is sent and completed once; only the first part of an immediate access may fail; 64-bit
 * values travel as two arguments, low half first.
 */
#include "base/atomic.h"
#include "base/compiler.h"
#include "base/error.h"
#include "base/log.h"
#include "conduit/conduit.h"
#include "conduit/defaults/defaults.h"

#include <string.h>

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
  tmb_default_ack(in->src, join(in->args + 2), (uint32_t)in->args[4]);
}

static void on_ack(const struct tmb_am_in *in) {
  tmb_up_peer_done(join_ptr(in->args), (uint32_t)in->args[2], in->src);
}

/* ---- target side of a get: src(0,1) bytes(2) op(3,4) category(5) dest(6,7), and with a signal:
 * signal(8,9) value(10,11) signal op(12) id(13) total(14,15) */

enum { GET_ARGS = 8, GET_SIGNAL_ARGS = 16 };

static void on_get(const struct tmb_am_in *in) {
  struct tmb_am_out data = {.peer = in->src,
                            .category = TMB_AM_MEDIUM,
                            .handler = TMB_INTERNAL_DATA,
                            .nargs = 5,
                            .is_reply = 1,
                            .staged = -1,
                            .args = in->args + 3,
                            .src = join_ptr(in->args),
                            .nbytes = (uint32_t)in->args[2]};
  (void)tmb_up_am_send(&data);
  if (in->nargs == GET_SIGNAL_ARGS &&
      tmb_default_count(in->src, (uint32_t)in->args[13], join(in->args + 14), data.nbytes))
    tmb_default_signal(join_ptr(in->args + 8), (uint32_t)in->args[12], join(in->args + 10));
}

static void on_data(const struct tmb_am_in *in) {
  memcpy(join_ptr(in->args + 3), in->payload, in->nbytes);
  tmb_up_peer_done(join_ptr(in->args), (uint32_t)in->args[2], in->src);
}

/* ---- origin */

/* Send one part; withdraw its announcement when an immediate one finds no resources. */
static int send_part(struct tmb_am_out *out, const struct tmb_rma *rma, size_t at) {
  out->peer = rma->peer;
  out->staged = -1;
  out->immediate = rma->immediate && at == 0;
  tmb_up_peer_more(rma->op, rma->category, rma->peer);
  const int rc = tmb_up_am_send(out);
  if (rc) tmb_up_peer_done(rma->op, rma->category, rma->peer);
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
                             .handler = TMB_INTERNAL_PUT,
                             .nargs = 5,
                             .args = args,
                             .src = (const char *)rma->local + at,
                             .nbytes = TMB_MIN(rma->nbytes - at, (size_t)TMB_AM_MEDIUM_BYTES_MAX)};
    if (send_part(&out, rma, at)) return TMB_AGAIN;
  }
  return 0;
}

/* Get, and with `signal` its change at the owner after the last part was read. */
static int get_parts(const struct tmb_rma *rma, const struct tmb_signal *signal) {
  const uint32_t id = signal ? tmb_default_next_id() : 0;
  size_t at = 0;
  while (at < rma->nbytes || (signal && rma->nbytes == 0 && at == 0)) {
    const size_t bytes = TMB_MIN(rma->nbytes - at, (size_t)TMB_AM_MEDIUM_BYTES_MAX);
    int32_t args[GET_SIGNAL_ARGS];
    split(args, (uint64_t)(uintptr_t)rma->remote + at);
    args[2] = (int32_t)bytes;
    split(args + 3, (uint64_t)(uintptr_t)rma->op);
    args[5] = (int32_t)rma->category;
    split(args + 6, (uint64_t)(uintptr_t)rma->local + at);
    if (signal) {
      split(args + 8, (uint64_t)(uintptr_t)signal->addr);
      split(args + 10, signal->value);
      args[12] = (int32_t)signal->op;
      args[13] = (int32_t)id;
      split(args + 14, rma->nbytes);
    }
    struct tmb_am_out out = {
        .handler = TMB_INTERNAL_GET, .nargs = signal ? GET_SIGNAL_ARGS : GET_ARGS, .args = args};
    if (send_part(&out, rma, at)) return TMB_AGAIN;
    at += bytes ? bytes : 1;
  }
  return 0;
}

static int default_get(struct tmb_conduit *c, const struct tmb_rma *rma) {
  (void)c;
  return get_parts(rma, NULL);
}

static int default_get_signal(struct tmb_conduit *c, const struct tmb_rma *rma,
                              const struct tmb_signal *signal) {
  (void)c;
  return get_parts(rma, signal);
}

/* ---- control words: index(0) value(1,2) */

static void on_flag(const struct tmb_am_in *in) {
  tmb_store_rel(tmb_up_flag_word((uint32_t)in->args[0]), join(in->args + 1));
}

static void default_flag_post(struct tmb_conduit *c, uint32_t peer, uint32_t index,
                              uint64_t value) {
  (void)c;
  int32_t args[3] = {(int32_t)index};
  split(args + 1, value);
  struct tmb_am_out out = {
      .peer = peer, .handler = TMB_INTERNAL_FLAG, .nargs = 3, .staged = -1, .args = args};
  (void)tmb_up_am_send(&out);
}

static void default_notify(struct tmb_conduit *c, uint32_t peer) {
  tmb_bug("conduit %p maps rank %u but cannot wake it", (void *)c, peer);
}

static bool default_notify_unindexed(struct tmb_conduit *c, uint32_t peer) {
  default_notify(c, peer);
  return true;
}

static void default_expect_loss(struct tmb_conduit *c, uint64_t *offset, uint64_t *stride) {
  (void)c;
  *offset = *stride = 0;
}

static int default_lost(struct tmb_conduit *c, uint32_t peer) {
  (void)c, (void)peer;
  return 0;
}

void tmb_default_ack(uint32_t origin, uint64_t op, uint32_t category) {
  int32_t args[3];
  split(args, op);
  args[2] = (int32_t)category;
  struct tmb_am_out ack = {.peer = origin,
                           .handler = TMB_INTERNAL_ACK,
                           .nargs = 3,
                           .is_reply = 1,
                           .staged = -1,
                           .args = args};
  (void)tmb_up_am_send(&ack);
}

/* Before put_signal and get_signal are filled. */
static void complete_notify(struct tmb_conduit_ops *ops) {
  if (!ops->notify != !ops->notify_unindexed)
    tmb_bug("conduit %s fills one of notify and notify_unindexed", ops->name);
  ops->signals_told = !ops->put_signal && !ops->get_signal &&
                      (!ops->notify || (ops->index_area && ops->index_begin));
  if (ops->notify) return;
  ops->notify = default_notify;
  ops->notify_unindexed = default_notify_unindexed;
}

/* What nothing else can be built from, or what core calls without asking whether it is there. */
static void check_mandatory(const struct tmb_conduit_ops *ops) {
  const struct {
    const char *name;
    bool there;
  } slot[] = {
      {"open", ops->open},           {"close", ops->close},           {"am_send", ops->am_send},
      {"am_stage", ops->am_stage},   {"am_release", ops->am_release}, {"progress", ops->progress},
      {"sleep", ops->sleep},         {"wake_self", ops->wake_self},   {"attach", ops->attach},
      {"flag_word", ops->flag_word},
  };
  for (size_t i = 0; i < TMB_ARRAY_LEN(slot); i++)
    if (!slot[i].there) tmb_bug("conduit %s lacks the mandatory slot %s", ops->name, slot[i].name);
}

void tmb_conduit_complete(struct tmb_conduit_ops *ops) {
  check_mandatory(ops);
  complete_notify(ops);
  tmb_up_set_internal(TMB_INTERNAL_PUT, on_put);
  tmb_up_set_internal(TMB_INTERNAL_ACK, on_ack);
  tmb_up_set_internal(TMB_INTERNAL_GET, on_get);
  tmb_up_set_internal(TMB_INTERNAL_DATA, on_data);
  tmb_up_set_internal(TMB_INTERNAL_FLAG, on_flag);
  tmb_default_frag_init();
  if (!ops->put_signal) ops->put_signal = tmb_default_put_signal;
  if (!ops->get_signal) ops->get_signal = default_get_signal;
  if (!ops->am_long) ops->am_long = tmb_default_am_long;
  if (!ops->flag_post) ops->flag_post = default_flag_post;
  if (!ops->expect_loss) ops->expect_loss = default_expect_loss;
  if (!ops->lost) ops->lost = default_lost;
  if (!ops->put) ops->put = default_put;
  if (!ops->get) ops->get = default_get;
}
