/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Target of non-contiguous transfers that come as messages, and of peer completion handlers.
 *
 * Owns: internal handlers PUT, PUT_NOTIFY, GET, COMPLETION. Called from progress, and by a thread
 * of the conduit. Calls: copy.c, list.c, am_stage, kit.h, tmb_up_am_later. PUT_NOTIFY is a put with
 * a completion handler. Invariants: the client's handler runs as a Medium reply without arguments,
 * after every byte of the put is in place here, and never in a thread of the conduit.
 */
#include "base/atomic.h"
#include "core/am/am.h"
#include "core/check.h"
#include "vis/vis.h"
#include "vis/wire.h"

#include <string.h>

/* ---- peer completion handlers */

/* Debug clients: how the handler was registered. */
static void check_handler(const struct tmb_am_in *in, uint8_t handler) {
  const unsigned index = TMB_ROUTE_TARGET(in->route);
  const gex_EP_t ep = index < GASNET_MAXEPS ? tmb_job.eps[index] : NULL;
  if (!ep || !ep->handler[handler].gex_fnptr) return; /* delivery of the message reports it */
  const gex_Flags_t flags = ep->handler[handler].gex_flags;
  if (flags != (GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY))
    tmb_fatal_nopos("a put of rank %u runs peer completion handler %u, whose registered gex_flags "
                    "are 0x%x; they must be GEX_FLAG_AM_MEDIUM|GEX_FLAG_AM_REPLY (0x%x)",
                    in->src, handler, flags, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY);
}

/* Run the client's handler as the reply that it is registered for. */
static void deliver(const struct tmb_am_in *in, uint8_t handler, void *payload, size_t nbytes) {
  if (TMB_UNLIKELY(tmb_job.debug)) check_handler(in, handler);
  const struct tmb_am_in reply = {.src = in->src,
                                  .category = TMB_AM_MEDIUM,
                                  .handler = handler,
                                  .is_reply = 1,
                                  .route = in->route,
                                  .payload = payload,
                                  .nbytes = nbytes};
  tmb_up_am_later(&reply);
}

static void on_completion(const struct tmb_am_in *in) {
  deliver(in, (uint8_t)in->args[0], in->payload, in->nbytes);
}

/* ---- the remote side of a piece */

/* Copy between packed data and the list that the wire describes. */
static void move_list(const struct tmb_am_in *in, const struct tmb_vis_head *h, const char *wire,
                      char *packed, bool unpack) {
  const size_t each = h->elem ? sizeof(uint64_t) : sizeof(struct tmb_vis_wire_vec);
  size_t left = (size_t)h->bytes;
  for (uint32_t i = 0; i < h->count; i++) {
    struct tmb_vis_wire_vec e = {0, i ? h->elem : h->first};
    memcpy(&e, wire + i * each, each);
    const size_t n = TMB_MIN((size_t)e.len, left);
    char *at = tmb_up_memory(in->src, e.addr, n);
    tmb_vis_bytes(unpack ? at : packed, unpack ? packed : at, n);
    packed += n;
    left -= n;
  }
}

/* See that a piece lies in the packed form of its shape, and the shape in memory that a message may
 * name. */
static void check_shape(const struct tmb_am_in *in, const struct tmb_vis_head *h,
                        const struct tmb_vis_shape *shape) {
  uint64_t total = shape->elem, extent = shape->elem, base = h->base;
  bool wrong = shape->elem == 0;
  for (uint32_t i = 0; i < shape->levels; i++) {
    const uint64_t count = shape->dim[i].count;
    int64_t span = 0;
    wrong |= count == 0 || __builtin_mul_overflow(total, count, &total) ||
             __builtin_mul_overflow(shape->dim[i].stride[TMB_VIS_DST], count - 1, &span) ||
             span == INT64_MIN ||
             __builtin_add_overflow(extent, (uint64_t)(span < 0 ? -span : span), &extent);
    if (span < 0) base += (uint64_t)span;
  }
  if (wrong || h->bytes > total || h->at > total - h->bytes) tmb_kit_malformed(in, "shape");
  (void)tmb_up_memory(in->src, base, extent);
}

/* Copy between packed data and the strided memory that the wire describes. */
static void move_shape(const struct tmb_am_in *in, const struct tmb_vis_head *h, const char *wire,
                       char *packed, bool unpack) {
  struct tmb_vis_shape shape;
  shape.elem = (size_t)h->elem;
  shape.levels = h->count;
  for (uint32_t i = 0; i < h->count; i++) {
    struct tmb_vis_wire_dim dim;
    memcpy(&dim, wire + i * sizeof dim, sizeof dim);
    shape.dim[i] = (struct tmb_vis_dim){(size_t)dim.count, {(ptrdiff_t)dim.stride, 0}};
  }
  check_shape(in, h, &shape);
  const struct tmb_vis_part part = {&shape, TMB_VIS_DST,   (char *)(uintptr_t)h->base,
                                    packed, (size_t)h->at, (size_t)h->bytes};
  if (unpack)
    tmb_vis_unpack(&part);
  else
    tmb_vis_pack(&part);
}

static void move(const struct tmb_am_in *in, const struct tmb_vis_head *h, const char *wire,
                 char *packed, bool unpack) {
  if (h->strided)
    move_shape(in, h, wire, packed, unpack);
  else
    move_list(in, h, wire, packed, unpack);
}

/* Take the head of a piece, and check that the parts of the message that it announces are there. in
 * carries: whether the data come along. */
static struct tmb_vis_head head_of(const struct tmb_am_in *in, bool carries) {
  struct tmb_vis_head h;
  memcpy(&h, in->payload, sizeof h);
  const size_t each = h.strided ? sizeof(struct tmb_vis_wire_dim)
                      : h.elem  ? sizeof(uint64_t)
                                : sizeof(struct tmb_vis_wire_vec);
  const size_t most = in->nbytes / each;
  if (h.count > most || (h.strided && h.count > TMB_VIS_LEVELS_MAX) ||
      h.bytes > TMB_AM_MEDIUM_BYTES_MAX || h.bytes > h.total ||
      sizeof h + tmb_vis_pad16(h.completion_bytes) + h.count * each + (carries ? h.bytes : 0) >
          in->nbytes)
    tmb_kit_malformed(in, "description");
  return h;
}

/* ---- handlers */

/* Put the data of a piece in place. Returns its head. */
static struct tmb_vis_head place(const struct tmb_am_in *in) {
  const struct tmb_vis_head h = head_of(in, true);
  move(in, &h, (const char *)in->payload + sizeof h + tmb_vis_pad16(h.completion_bytes),
       (char *)in->payload + in->nbytes - h.bytes, true);
  return h;
}

static void on_put(const struct tmb_am_in *in) {
  const struct tmb_vis_head h = place(in);
  tmb_kit_ack(in->src, h.owner, h.category);
}

static void on_put_notify(const struct tmb_am_in *in) {
  const struct tmb_vis_head h = place(in);
  if (h.handler && tmb_kit_last_piece(in->src, h.id, h.total, h.bytes))
    deliver(in, h.handler, (char *)in->payload + sizeof h, h.completion_bytes);
  tmb_kit_ack(in->src, h.owner, h.category);
}

static void on_get(const struct tmb_am_in *in) {
  const struct tmb_vis_head h = head_of(in, false);
  int32_t args[TMB_VIS_DATA_ARGS];
  tmb_kit_pack64(args, h.owner);
  tmb_kit_pack64(args + 2, h.at);
  tmb_kit_pack64(args + 4, h.index);
  tmb_kit_pack64(args + 6, h.skip);
  struct tmb_am_out data = {.peer = in->src,
                            .category = TMB_AM_MEDIUM,
                            .handler = TMB_KIT_VIS_DATA,
                            .nargs = TMB_VIS_DATA_ARGS,
                            .is_reply = 1,
                            .staged = -1,
                            .args = args,
                            .nbytes = (size_t)h.bytes};
  char small[512] TMB_ALIGNED(16);
  char *buffer = small;
  if (h.bytes > sizeof small) {
    buffer = tmb_up_am_stage(&data);
    if (!buffer) return; /* the conduit ends */
    data.filled = 1;
  }
  move(in, &h, (const char *)in->payload + sizeof h, buffer, false);
  data.src = buffer;
  (void)tmb_up_am_send(&data);
}

static const struct tmb_layer_handler handlers[] = {
    {TMB_KIT_VIS_PUT, TMB_TAKES_MEDIUM | TMB_BY_THREAD, 0, sizeof(struct tmb_vis_head), on_put},
    {TMB_KIT_VIS_PUT_NOTIFY, TMB_TAKES_MEDIUM | TMB_BY_THREAD_IF_ROOM, 0,
     sizeof(struct tmb_vis_head), on_put_notify},
    {TMB_KIT_VIS_GET, TMB_TAKES_MEDIUM | TMB_BY_THREAD, 0, sizeof(struct tmb_vis_head), on_get},
    {TMB_KIT_VIS_COMPLETION, TMB_TAKES_MEDIUM | TMB_BY_THREAD_IF_ROOM, 1, 0, on_completion},
    {0}};

const struct tmb_layer tmb_vis_serve_layer = {.name = "vis_serve", .handlers = handlers};
