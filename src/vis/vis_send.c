/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Origin of non-contiguous transfers to peers that are not mapped: cuts them into pieces, packs,
 * sends, and unpacks the reply.
 *
 * Owns: the records of gets in flight, internal handler DATA. Called by vis.c. Calls:
 * am_stage, am_send, copy.c, list.c, op.h through the upcalls. Pieces are written into the message
 * buffer in place; small ones go without a buffer. All pieces are sent at once, as fast as buffers
 * come free. Invariants: a piece is counted before it is sent and
 * completed once; only the first piece of an immediate transfer may fail; a record outlives its
 * last piece; data of a get are unpacked before its part is completed.
 */
#include "base/atomic.h"
#include "base/error.h"
#include "core/am/am.h"
#include "core/check.h"
#include "vis/vis.h"
#include "vis/wire.h"

#include <stdlib.h>
#include <string.h>

#define SMALL_BYTES 1024 /* messages up to here are put together on the stack */
#define ENTRY_BYTES 16   /* at most, of a list's entry on the wire */

/* A get in flight: where its data go. */
struct record {
  void *op;
  uint64_t left; /* pieces sent and not answered, plus 1 while more may be sent; atomic */
  bool strided;
  char *base;
  union {
    struct tmb_vis_list list;
    struct tmb_vis_shape shape;
  };
};

/* A transfer that is being cut. */
struct cut {
  const struct tmb_vis *v;
  struct record *record;              /* gets */
  struct tmb_vis_cursor near, remote; /* lists: local and remote place */
  size_t at;                          /* bytes cut so far */
  uint32_t id;
};

/* ---- putting a piece together */

static size_t put_dims(const struct cut *c, char *to) {
  const struct tmb_vis *v = c->v;
  for (uint32_t i = 0; i < v->shape->levels; i++) {
    const struct tmb_vis_dim *dim = &v->shape->dim[i];
    const struct tmb_vis_wire_dim wire = {dim->count, dim->stride[tmb_vis_remote(v)]};
    memcpy(to + i * sizeof wire, &wire, sizeof wire);
  }
  return v->shape->levels * sizeof(struct tmb_vis_wire_dim);
}

/* Describe remote entries from the cursor on, for as many bytes as fit. in room: for entries, and
 * with_data also for their data. Returns bytes of the description. */
static size_t put_entries(struct cut *c, struct tmb_vis_head *h, char *to, size_t room,
                          bool with_data) {
  const bool vec = c->remote.list->vec != NULL;
  const size_t each = vec ? sizeof(struct tmb_vis_wire_vec) : sizeof(uint64_t);
  const size_t most = with_data ? room : TMB_AM_MEDIUM_BYTES_MAX;
  size_t used = 0;
  char *addr;
  for (size_t there; (there = tmb_vis_next(&c->remote, &addr));) {
    const size_t taken = used + each + 16 + (with_data ? (size_t)h->bytes : 0);
    if (taken >= room || h->bytes >= most) break;
    const size_t n =
        TMB_MIN(there, TMB_MIN(most - (size_t)h->bytes, with_data ? room - taken : there));
    const struct tmb_vis_wire_vec wire = {(uint64_t)(uintptr_t)addr, n};
    memcpy(to + used, &wire, each);
    if (!h->count) h->first = n;
    used += each;
    h->count++;
    h->bytes += n;
    tmb_vis_skip(&c->remote, n);
  }
  return tmb_vis_pad16(used);
}

/* Write head, payload of the completion handler and description of the next piece to a buffer of
 * `room` bytes. Returns their length; h->bytes of data belong to the piece. */
static size_t describe(struct cut *c, struct tmb_vis_head *h, char *buffer, size_t room) {
  const struct tmb_vis *v = c->v;
  const bool put = !v->is_get;
  size_t used = sizeof *h;
  if (put && v->completion.handler) {
    if (v->completion.nbytes) memcpy(buffer + used, v->completion.payload, v->completion.nbytes);
    used += tmb_vis_pad16(v->completion.nbytes);
    h->handler = v->completion.handler;
    h->completion_bytes = (uint16_t)v->completion.nbytes;
  }
  if (v->strided) {
    h->strided = 1;
    h->base = (uint64_t)(uintptr_t)v->base[tmb_vis_remote(v)];
    h->elem = v->shape->elem;
    h->count = v->shape->levels;
    used += put_dims(c, buffer + used);
    h->bytes = TMB_MIN(v->bytes - c->at, put ? room - used : (size_t)TMB_AM_MEDIUM_BYTES_MAX);
  } else {
    const struct tmb_vis_list *remote = c->remote.list;
    h->elem = remote->vec ? 0 : remote->len;
    used += put_entries(c, h, buffer + used, room - used, put);
  }
  memcpy(buffer, h, sizeof *h);
  return used;
}

/* Append a put's data. */
static void pack(struct cut *c, const struct tmb_vis_head *h, char *to) {
  const struct tmb_vis *v = c->v;
  if (v->strided)
    tmb_vis_pack(&(struct tmb_vis_part){v->shape, TMB_VIS_SRC, v->base[TMB_VIS_SRC], to,
                                        (size_t)h->at, (size_t)h->bytes});
  else
    tmb_vis_list_pack(&c->near, to, (size_t)h->bytes);
}

/* Upper limit of the length in bytes of one message that would carry all that is left; SIZE_MAX
 * when it is certainly too long for the stack. */
static size_t message_bytes_max(const struct cut *c) {
  const struct tmb_vis *v = c->v;
  const size_t entries = v->strided ? v->shape->levels : c->remote.list->count - c->remote.index;
  const size_t data = v->is_get ? 0 : v->bytes - c->at;
  if (entries > SMALL_BYTES || data > SMALL_BYTES) return SIZE_MAX;
  return sizeof(struct tmb_vis_head) + v->completion.nbytes + 64 + entries * ENTRY_BYTES + data;
}

/* Cut and send one piece. Returns 0, or TMB_AGAIN for an immediate one without resources. */
static int send_piece(struct cut *c) {
  const struct tmb_vis *v = c->v;
  char small[SMALL_BYTES] TMB_ALIGNED(16);
  struct tmb_am_out out = {.peer = tmb_jobrank(v->tm, v->rank),
                           .category = TMB_AM_MEDIUM,
                           .handler = v->is_get               ? TMB_KIT_VIS_GET
                                      : v->completion.handler ? TMB_KIT_VIS_PUT_NOTIFY
                                                              : TMB_KIT_VIS_PUT,
                           .route = tmb_am_route(v->tm, v->rank),
                           .immediate = (v->flags & GEX_FLAG_IMMEDIATE) && c->at == 0,
                           .staged = -1};
  const bool is_small = message_bytes_max(c) <= sizeof small;
  char *buffer = is_small ? small : tmb_up_am_stage(&out);
  if (!buffer) return TMB_AGAIN;
  struct tmb_vis_head h = {.owner = (uint64_t)(uintptr_t)(v->is_get ? (void *)c->record : v->op),
                           .at = c->at,
                           .index = c->near.index,
                           .skip = c->near.skip,
                           .total = v->bytes,
                           .id = c->id,
                           .category = TMB_CAT_PUT};
  out.nbytes = describe(c, &h, buffer, is_small ? sizeof small : TMB_AM_MEDIUM_BYTES_MAX);
  if (!v->is_get) {
    pack(c, &h, buffer + out.nbytes);
    out.nbytes += (size_t)h.bytes;
  } else if (!v->strided) {
    tmb_vis_list_advance(&c->near, (size_t)h.bytes);
  }
  out.src = buffer;
  out.filled = !is_small;
  const uint32_t category = v->is_get ? TMB_CAT_GET : TMB_CAT_PUT;
  if (v->is_get) tmb_fetch_add_rlx(&c->record->left, 1);
  const int rc = tmb_kit_send_part(&out, v->op, category);
  if (rc) return rc;
  c->at += (size_t)h.bytes;
  return 0;
}

/* ---- gets */

static struct record *new_record(const struct tmb_vis *v) {
  struct record *r = malloc(sizeof *r);
  if (!r) tmb_fatal("out of memory for a get in flight");
  r->op = v->op;
  r->left = 1;
  r->strided = v->strided;
  r->base = v->base[TMB_VIS_DST];
  if (v->strided)
    r->shape = *v->shape;
  else
    r->list = v->list[TMB_VIS_DST];
  return r;
}

static void release(struct record *r) {
  if (tmb_fetch_sub_acq_rel(&r->left, 1) == 1) free(r);
}

static void on_data(const struct tmb_am_in *in) {
  struct record *r = (struct record *)(uintptr_t)tmb_kit_unpack64(in->args);
  void *op = r->op;
  if (r->strided) {
    tmb_vis_unpack(&(struct tmb_vis_part){&r->shape, TMB_VIS_DST, r->base, in->payload,
                                          (size_t)tmb_kit_unpack64(in->args + 2), in->nbytes});
  } else {
    struct tmb_vis_cursor to = {&r->list, (size_t)tmb_kit_unpack64(in->args + 4),
                                (size_t)tmb_kit_unpack64(in->args + 6)};
    tmb_vis_list_unpack(&to, in->payload, in->nbytes);
  }
  release(r);
  tmb_up_peer_done(op, TMB_CAT_GET, in->src);
}

/* ---- entry points */

int tmb_vis_send(const struct tmb_vis *v) {
  const unsigned remote = tmb_vis_remote(v);
  struct cut c = {.v = v,
                  .near = {&v->list[!remote], 0, 0},
                  .remote = {&v->list[remote], 0, 0},
                  .id = v->completion.handler ? tmb_kit_next_id() : 0};
  if (v->is_get) c.record = new_record(v);
  int rc = 0;
  while (rc == 0 && c.at < v->bytes) rc = send_piece(&c);
  if (rc) /* only the first piece can fail, and nothing refers to the record */
    free(c.record);
  else if (v->is_get)
    release(c.record);
  return rc;
}

void tmb_vis_send_completion(const struct tmb_vis *v) {
  const int32_t args[1] = {v->completion.handler};
  struct tmb_am_out out = {.peer = tmb_jobrank(v->tm, v->rank),
                           .category = TMB_AM_MEDIUM,
                           .handler = TMB_KIT_VIS_COMPLETION,
                           .nargs = 1,
                           .route = tmb_am_route(v->tm, v->rank),
                           .staged = -1,
                           .args = args,
                           .src = v->completion.payload,
                           .nbytes = v->completion.nbytes};
  (void)tmb_up_am_send(&out);
}

static const struct tmb_layer_handler handlers[] = {
    {TMB_KIT_VIS_DATA, TMB_TAKES_MEDIUM, TMB_VIS_DATA_ARGS, 0, on_data}, {0}};

const struct tmb_layer tmb_vis_layer = {.name = "vis", .handlers = handlers};
