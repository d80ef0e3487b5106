/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and get made of active messages, for conduits without remote memory access and for ranks of
 * this host whose memory is not mapped.
 *
 * Owns: internal handlers PUT, ACK, GET, DATA. Called by core. Calls: tmb_up_am_send and upcalls. A
 * put is cut into Medium requests, each acknowledged by a Short reply; a get into Short requests,
 * each answered by a Medium reply that carries the data. So the target's part runs when the target
 * polls. Invariants: every part is announced (tmb_up_peer_more) before it is sent and completed
 * once; only the first part of an immediate access may fail; 64-bit values travel as two arguments,
 * low half first.
 */
#include "base/atomic.h"
#include "base/compiler.h"
#include "base/error.h"
#include "base/log.h"
#include "net/defaults/defaults.h"

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

/* ---- target side of a put: dest(0,1) op(2,3) category(4); its acknowledgement: op(0,1)
 * category(2) */

enum { PUT_ARGS = 5, ACK_ARGS = 3 };

static void check(const struct tmb_am_in *in, uint8_t category, uint8_t nargs) {
  if (in->category != category || in->nargs != nargs) tmb_default_malformed(in, "arguments");
}

static void on_put(const struct tmb_am_in *in) {
  check(in, TMB_AM_MEDIUM, PUT_ARGS);
  memcpy(tmb_up_memory(in->src, join(in->args), in->nbytes), in->payload, in->nbytes);
  tmb_default_ack(in->src, join(in->args + 2), (uint32_t)in->args[4]);
}

static void on_ack(const struct tmb_am_in *in) {
  check(in, TMB_AM_SHORT, ACK_ARGS);
  tmb_up_peer_done(join_ptr(in->args), (uint32_t)in->args[2], in->src);
}

/* ---- target side of a get: src(0,1) bytes(2) op(3,4) category(5) dest(6,7), and with a signal:
 * signal(8,9) value(10,11) signal op(12) id(13) total(14,15) */

enum { GET_ARGS = 8, GET_SIGNAL_ARGS = 16, DATA_ARGS = 5 };

static void on_get(const struct tmb_am_in *in) {
  const bool signals = in->nargs == GET_SIGNAL_ARGS;
  check(in, TMB_AM_SHORT, signals ? GET_SIGNAL_ARGS : GET_ARGS);
  const uint32_t bytes = (uint32_t)in->args[2];
  if (bytes > TMB_AM_MEDIUM_BYTES_MAX) tmb_default_malformed(in, "length");
  void *const signal = signals ? tmb_up_memory(in->src, join(in->args + 8), 8) : NULL;
  struct tmb_am_out data = {.peer = in->src,
                            .category = TMB_AM_MEDIUM,
                            .handler = TMB_INTERNAL_DATA,
                            .nargs = DATA_ARGS,
                            .is_reply = 1,
                            .staged = -1,
                            .args = in->args + 3,
                            .src = bytes ? tmb_up_memory(in->src, join(in->args), bytes) : NULL,
                            .nbytes = bytes};
  (void)tmb_up_am_send(&data);
  if (signals && tmb_default_count(in->src, (uint32_t)in->args[13], join(in->args + 14), bytes))
    tmb_default_signal(signal, (uint32_t)in->args[12], join(in->args + 10));
}

static void on_data(const struct tmb_am_in *in) {
  check(in, TMB_AM_MEDIUM, DATA_ARGS);
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

int tmb_default_put(const struct tmb_rma *rma) {
  for (size_t at = 0; at < rma->nbytes; at += TMB_AM_MEDIUM_BYTES_MAX) {
    int32_t args[PUT_ARGS];
    split(args, (uint64_t)(uintptr_t)rma->remote + at);
    split(args + 2, (uint64_t)(uintptr_t)rma->op);
    args[4] = (int32_t)rma->category;
    struct tmb_am_out out = {.category = TMB_AM_MEDIUM,
                             .handler = TMB_INTERNAL_PUT,
                             .nargs = PUT_ARGS,
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

int tmb_default_get(const struct tmb_rma *rma) {
  return get_parts(rma, NULL);
}

int tmb_default_get_signal(const struct tmb_rma *rma, const struct tmb_signal *signal) {
  return get_parts(rma, signal);
}

void tmb_default_ack(uint32_t origin, uint64_t op, uint32_t category) {
  int32_t args[ACK_ARGS];
  split(args, op);
  args[2] = (int32_t)category;
  struct tmb_am_out ack = {.peer = origin,
                           .handler = TMB_INTERNAL_ACK,
                           .nargs = ACK_ARGS,
                           .is_reply = 1,
                           .staged = -1,
                           .args = args};
  (void)tmb_up_am_send(&ack);
}

void tmb_default_malformed(const struct tmb_am_in *in, const char *what) {
  tmb_fatal_nopos("a message of rank %u to internal handler %u is malformed (%s; %u arguments, %zu "
                  "bytes): the ranks run different versions of the library, or memory is damaged",
                  in->src, in->handler, what, in->nargs, in->nbytes);
}

void tmb_default_init(void) {
  tmb_up_set_internal(TMB_INTERNAL_PUT, on_put);
  tmb_up_set_internal(TMB_INTERNAL_ACK, on_ack);
  tmb_up_set_internal(TMB_INTERNAL_GET, on_get);
  tmb_up_set_internal(TMB_INTERNAL_DATA, on_data);
  tmb_default_frag_init();
}
