/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and get made of active messages, for conduits without remote memory access and for ranks of
 * this host whose memory is not mapped.
 *
 * Owns: internal handlers PUT, GET, GET_SIGNAL, DATA. Called by core. Calls: core/am/kit.h. A put
 * is cut into Medium requests, each acknowledged by a Short reply; a get into Short requests, each
 * answered by a Medium reply that carries the data. The target's part runs when it polls, or in a
 * thread of the conduit. Invariants: every part is counted before it is sent and completed once;
 * only the first part of an immediate access may fail.
 */
#include "base/atomic.h"
#include "base/compiler.h"
#include "base/error.h"
#include "base/log.h"
#include "net/defaults/defaults.h"

#include <string.h>

/* ---- target side of a put: dest(0,1) op(2,3) category(4) */

enum { PUT_ARGS = 5 };

static void on_put(const struct tmb_am_in *in) {
  memcpy(tmb_up_memory(in->src, tmb_kit_unpack64(in->args), in->nbytes), in->payload, in->nbytes);
  tmb_kit_ack(in->src, tmb_kit_unpack64(in->args + 2), (uint32_t)in->args[4]);
}

/* ---- target side of a get: src(0,1) bytes(2) op(3,4) category(5) dest(6,7), and with a signal:
 * signal(8,9) value(10,11) signal op(12) id(13) total(14,15) */

enum { GET_ARGS = 8, GET_SIGNAL_ARGS = 16, DATA_ARGS = 5 };

/* Answer with the data. Returns how many bytes they are. */
static uint32_t answer(const struct tmb_am_in *in) {
  const uint32_t bytes = (uint32_t)in->args[2];
  if (bytes > TMB_AM_MEDIUM_BYTES_MAX) tmb_kit_malformed(in, "length");
  const struct tmb_am_out data = {
      .handler = TMB_KIT_RMA_DATA,
      .nargs = DATA_ARGS,
      .args = in->args + 3,
      .src = bytes ? tmb_up_memory(in->src, tmb_kit_unpack64(in->args), bytes) : NULL,
      .nbytes = bytes};
  tmb_kit_reply_data(in->src, &data);
  return bytes;
}

static void on_get(const struct tmb_am_in *in) {
  (void)answer(in);
}

static void on_get_signal(const struct tmb_am_in *in) {
  void *const signal = tmb_up_memory(in->src, tmb_kit_unpack64(in->args + 8), 8);
  const uint32_t bytes = answer(in);
  if (tmb_kit_last_piece(in->src, (uint32_t)in->args[13], tmb_kit_unpack64(in->args + 14), bytes))
    tmb_default_signal(signal, (uint32_t)in->args[12], tmb_kit_unpack64(in->args + 10));
}

static void on_data(const struct tmb_am_in *in) {
  memcpy(tmb_kit_unpack_ptr(in->args + 3), in->payload, in->nbytes);
  tmb_up_peer_done(tmb_kit_unpack_ptr(in->args), (uint32_t)in->args[2], in->src);
}

/* ---- origin */

static int send_part(struct tmb_am_out *out, const struct tmb_rma *rma, size_t at) {
  out->peer = rma->peer;
  out->staged = -1;
  out->immediate = rma->immediate && at == 0;
  return tmb_kit_send_part(out, rma->op, rma->category);
}

int tmb_default_put(const struct tmb_rma *rma) {
  for (size_t at = 0; at < rma->nbytes; at += TMB_AM_MEDIUM_BYTES_MAX) {
    int32_t args[PUT_ARGS];
    tmb_kit_pack64(args, (uint64_t)(uintptr_t)rma->remote + at);
    tmb_kit_pack_ptr(args + 2, rma->op);
    args[4] = (int32_t)rma->category;
    struct tmb_am_out out = {.category = TMB_AM_MEDIUM,
                             .handler = TMB_KIT_RMA_PUT,
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
  const uint32_t id = signal ? tmb_kit_next_id() : 0;
  size_t at = 0;
  while (at < rma->nbytes || (signal && rma->nbytes == 0 && at == 0)) {
    const size_t bytes = TMB_MIN(rma->nbytes - at, (size_t)TMB_AM_MEDIUM_BYTES_MAX);
    int32_t args[GET_SIGNAL_ARGS];
    tmb_kit_pack64(args, (uint64_t)(uintptr_t)rma->remote + at);
    args[2] = (int32_t)bytes;
    tmb_kit_pack_ptr(args + 3, rma->op);
    args[5] = (int32_t)rma->category;
    tmb_kit_pack64(args + 6, (uint64_t)(uintptr_t)rma->local + at);
    if (signal) {
      tmb_kit_pack_ptr(args + 8, signal->addr);
      tmb_kit_pack64(args + 10, signal->value);
      args[12] = (int32_t)signal->op;
      args[13] = (int32_t)id;
      tmb_kit_pack64(args + 14, rma->nbytes);
    }
    struct tmb_am_out out = {.handler = signal ? TMB_KIT_RMA_GET_SIGNAL : TMB_KIT_RMA_GET,
                             .nargs = signal ? GET_SIGNAL_ARGS : GET_ARGS,
                             .args = args};
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

static const struct tmb_layer_handler handlers[] = {
    {TMB_KIT_RMA_PUT, TMB_TAKES_MEDIUM | TMB_BY_THREAD, PUT_ARGS, 0, on_put},
    {TMB_KIT_RMA_GET, TMB_TAKES_SHORT | TMB_BY_THREAD, GET_ARGS, 0, on_get},
    {TMB_KIT_RMA_GET_SIGNAL, TMB_TAKES_SHORT | TMB_BY_THREAD, GET_SIGNAL_ARGS, 0, on_get_signal},
    {TMB_KIT_RMA_DATA, TMB_TAKES_MEDIUM, DATA_ARGS, 0, on_data},
    {0}};

const struct tmb_layer tmb_default_layer = {.name = "defaults", .handlers = handlers};
