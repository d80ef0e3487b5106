/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Payload to memory that is not mapped, with an action once all of it is there: AM Long,
 * put-with-signal.
 *
 * Owns: internal handlers FRAG (AM Long) and SIGNAL, and the table of incomplete payloads of this
 * process. Called by core. Calls: the upcalls. A payload is cut into Medium messages, each with the
 * whole header, so they may arrive in any order; the target copies a piece to its place and counts
 * bytes; the piece that completes the count runs the action: the handler of the Long, or the change
 * of the signal, and for a signal an acknowledgement by reply. A payload of one piece needs no
 * table entry. Invariants: (source, id) names a payload until its last piece; pieces of a reply are
 * replies, so they may be sent from a request handler; the action follows every byte in the
 * target's memory order (release).
 */
#include "base/atomic.h"
#include "base/error.h"
#include "base/log.h"
#include "net/defaults/defaults.h"

#include <string.h>

struct frag_head {
  uint64_t total, offset;
  uint64_t dest;              /* of the whole payload, in the target's space */
  uint64_t signal, value, op; /* of SIGNAL; op: 0 without acknowledgement */
  uint32_t id, category;      /* category: of op */
  uint8_t signal_op, handler, nargs, unused;
  int32_t args[TMB_AM_ARGS_MAX];
};
#define SMALL_BYTES     512 /* of a message on the stack, at most; chosen */
#define PIECE_BYTES_MAX (TMB_AM_MEDIUM_BYTES_MAX - sizeof(struct frag_head))

void tmb_default_signal(void *signal, uint32_t op, uint64_t value) {
  if (op == TMB_SIGNAL_SET)
    tmb_store_rel((uint64_t *)signal, value);
  else
    tmb_fetch_add_rel((uint64_t *)signal, value);
  tmb_up_signal(signal);
}

/* Take the header of a piece, and check that its fields fit together. */
static struct frag_head head_of(const struct tmb_am_in *in) {
  struct frag_head h;
  memcpy(&h, in->payload, sizeof h);
  const size_t bytes = in->nbytes - sizeof h;
  if (h.offset > h.total || bytes > h.total - h.offset) tmb_kit_malformed(in, "offset");
  if (h.nargs > TMB_AM_ARGS_MAX) tmb_kit_malformed(in, "arguments");
  return h;
}

/* Copy a piece to its place. Returns whether it was the last; out dest: of the whole payload. */
static bool take(const struct tmb_am_in *in, const struct frag_head *h, void **dest) {
  const size_t bytes = in->nbytes - sizeof *h;
  *dest = h->total ? tmb_up_memory(in->src, h->dest, h->total) : (void *)(uintptr_t)h->dest;
  if (bytes) memcpy((char *)*dest + h->offset, (const char *)in->payload + sizeof *h, bytes);
  return tmb_kit_last_piece(in->src, h->id, h->total, bytes);
}

static void on_frag(const struct tmb_am_in *in) {
  const struct frag_head h = head_of(in);
  void *dest;
  if (!take(in, &h, &dest)) return;
  const struct tmb_am_in done = {.src = in->src,
                                 .category = TMB_AM_LONG,
                                 .handler = h.handler,
                                 .nargs = h.nargs,
                                 .is_reply = in->is_reply,
                                 .route = in->route,
                                 .number = in->number,
                                 .args = h.args,
                                 .payload = dest,
                                 .nbytes = h.total};
  tmb_up_am_later(&done);
}

static void on_signal(const struct tmb_am_in *in) {
  const struct frag_head h = head_of(in);
  void *const signal = tmb_up_memory(in->src, h.signal, 8), *dest;
  if (!take(in, &h, &dest)) return;
  tmb_default_signal(signal, h.signal_op, h.value);
  if (h.op) tmb_kit_ack(in->src, h.op, h.category);
}

/* Send one piece, a large one from a staged buffer: there are few of these for all peers together.
 * Returns 0 or, for an immediate one, TMB_AGAIN. */
static int send_piece(struct tmb_am_out *out, const struct frag_head *h, const void *src,
                      size_t bytes) {
  char small[SMALL_BYTES];
  if (sizeof *h + bytes <= sizeof small) {
    memcpy(small, h, sizeof *h);
    if (bytes) memcpy(small + sizeof *h, src, bytes);
    out->src = small;
    out->nbytes = sizeof *h + bytes;
    return tmb_up_am_send(out);
  }
  char *buffer = tmb_up_am_stage(out);
  if (!buffer) return TMB_AGAIN;
  memcpy(buffer, h, sizeof *h);
  if (bytes) memcpy(buffer + sizeof *h, src, bytes);
  out->filled = 1;
  out->src = buffer;
  out->nbytes = sizeof *h + bytes;
  return tmb_up_am_send(out);
}

/* Send a whole payload, or with `resume` the parts that can be sent now. Else only the first piece
 * of an immediate one may fail. */
static int send_all(const struct tmb_am_out *like, struct frag_head *h, const void *src,
                    struct tmb_resume *resume) {
  struct tmb_resume number = {0}; /* of a Long */
  size_t at = resume ? resume->at : 0;
  h->id = resume && resume->started ? resume->id : tmb_kit_next_id();
  if (resume) *resume = (struct tmb_resume){at, h->id, true};
  do {
    const size_t bytes = TMB_MIN(h->total - at, (size_t)PIECE_BYTES_MAX);
    struct tmb_am_out out = {.peer = like->peer,
                             .category = TMB_AM_MEDIUM,
                             .handler = like->handler,
                             .is_reply = like->is_reply,
                             .route = like->route,
                             .immediate = resume || (like->immediate && at == 0),
                             .resume = like->handler == TMB_KIT_RMA_FRAG ? &number : NULL,
                             .staged = -1};
    h->offset = at;
    if (send_piece(&out, h, (const char *)src + at, bytes)) return TMB_AGAIN;
    at += bytes;
    if (resume) resume->at = at;
  } while (at < h->total);
  return 0;
}

int tmb_default_am_long(struct tmb_am_out *out) {
  struct frag_head h = {.total = out->nbytes,
                        .dest = (uint64_t)(uintptr_t)out->dest,
                        .handler = out->handler,
                        .nargs = out->nargs};
  memcpy(h.args, out->args, 4u * out->nargs);
  struct tmb_am_out like = *out;
  like.handler = TMB_KIT_RMA_FRAG;
  return send_all(&like, &h, out->src, NULL);
}

int tmb_default_put_signal(const struct tmb_rma *rma, const struct tmb_signal *signal) {
  struct frag_head h = {.total = rma->nbytes,
                        .dest = (uint64_t)(uintptr_t)rma->remote,
                        .signal = (uint64_t)(uintptr_t)signal->addr,
                        .value = signal->value,
                        .op = (uint64_t)(uintptr_t)rma->op,
                        .category = rma->category,
                        .signal_op = (uint8_t)signal->op};
  const struct tmb_am_out like = {
      .peer = rma->peer, .handler = TMB_KIT_RMA_SIGNAL, .immediate = rma->immediate};
  if (rma->op) tmb_up_peer_more(rma->op, rma->category, rma->peer);
  const int rc = send_all(&like, &h, rma->local, rma->resume);
  if (rc && rma->op) tmb_up_peer_done(rma->op, rma->category, rma->peer);
  return rc;
}

static const struct tmb_layer_handler handlers[] = {
    {TMB_KIT_RMA_FRAG, TMB_TAKES_MEDIUM | TMB_BY_THREAD_IF_ROOM, 0, sizeof(struct frag_head),
     on_frag},
    {TMB_KIT_RMA_SIGNAL, TMB_TAKES_MEDIUM | TMB_BY_THREAD, 0, sizeof(struct frag_head), on_signal},
    {0}};

const struct tmb_layer tmb_default_frag_layer = {.name = "defaults_frag", .handlers = handlers};
