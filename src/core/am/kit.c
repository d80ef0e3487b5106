/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kit of internal messages, see kit.h.
 *
 * Owns: the handler of acknowledgements, tmb_job.pieces: numbers of transfers, and the table of
 * those of which pieces are missing. Called by all modules that send internal messages. Calls:
 * tmb_up_am_send and the upcalls that count parts. Invariants: the table is guarded by its lock; an
 * entry's `missing` is above 0; an entry goes with its last piece or with its sender.
 */
#include "core/am/kit.h"

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/container/list.h"
#include "base/log.h"
#include "core/job.h"
#include "net/up.h"

#include <stdlib.h>

struct tmb_incomplete {
  struct tmb_incomplete *next;
  uint64_t missing; /* bytes */
  uint32_t src, id;
};

/* ---- replies and parts. ACK: op(0,1) category(2) */

enum { ACK_ARGS = 3 };

void tmb_kit_reply(uint32_t origin, enum tmb_kit_handler handler, const int32_t *args,
                   uint32_t nargs) {
  struct tmb_am_out out = {.peer = origin,
                           .category = TMB_AM_SHORT,
                           .handler = (uint8_t)handler,
                           .nargs = (uint8_t)nargs,
                           .is_reply = 1,
                           .staged = -1,
                           .args = args};
  (void)tmb_up_am_send(&out);
}

void tmb_kit_reply_data(uint32_t origin, const struct tmb_am_out *like) {
  struct tmb_am_out out = *like;
  out.peer = origin;
  out.category = TMB_AM_MEDIUM;
  out.is_reply = 1;
  out.staged = -1;
  (void)tmb_up_am_send(&out);
}

void tmb_kit_ack(uint32_t origin, uint64_t op, uint32_t category) {
  int32_t args[ACK_ARGS] = {0, 0, (int32_t)category};
  tmb_kit_pack64(args, op);
  tmb_kit_reply(origin, TMB_KIT_ACK, args, ACK_ARGS);
}

static void on_ack(const struct tmb_am_in *in) {
  void *op = tmb_kit_unpack_ptr(in->args);
  TMB_TSAN_ACQUIRE(op);
  tmb_up_peer_done(op, (uint32_t)in->args[2], in->src);
}

int tmb_kit_send_part(struct tmb_am_out *out, void *op, uint32_t category) {
  if (!op) return tmb_up_am_send(out);
  tmb_up_peer_more(op, category, out->peer);
  TMB_TSAN_RELEASE(op);
  const int rc = tmb_up_am_send(out);
  if (rc) tmb_up_peer_done(op, category, out->peer);
  return rc;
}

/* ---- pieces */

/* Checked by clang: only under the lock. */
TMB_REQUIRES(tmb_job.pieces.lock) static inline struct tmb_pieces *pieces(void) {
  return &tmb_job.pieces;
}

uint32_t tmb_kit_next_id(void) {
  return tmb_fetch_add_rlx(&tmb_job.pieces.last_id, 1);
}

static uint32_t bucket_of(uint32_t src, uint32_t id) {
  return (src * 31u + id) & (TMB_PIECE_BUCKETS - 1);
}

/* The place that points to the transfer, or to NULL where it belongs. */
TMB_REQUIRES(tmb_job.pieces.lock) static struct tmb_incomplete **find(uint32_t src, uint32_t id) {
  struct tmb_incomplete **p = &pieces()->bucket[bucket_of(src, id)];
  while (*p && ((*p)->id != id || (*p)->src != src)) p = &(*p)->next;
  return p;
}

TMB_REQUIRES(tmb_job.pieces.lock) static void drop(struct tmb_incomplete **p) {
  pieces()->count--;
  free(TMB_LIST_POP(p));
}

bool tmb_kit_last_piece(uint32_t src, uint32_t id, uint64_t total, uint64_t bytes) {
  if (bytes == total) return true;
  tmb_lock_acquire(&tmb_job.pieces.lock);
  struct tmb_incomplete **p = find(src, id);
  if (!*p) {
    *p = malloc(sizeof **p);
    if (!*p) tmb_fatal("out of memory for a transfer from rank %u", src);
    **p = (struct tmb_incomplete){NULL, total, src, id};
    pieces()->count++;
  }
  (*p)->missing -= bytes;
  const bool last = (*p)->missing == 0;
  if (last) drop(p);
  tmb_lock_release(&tmb_job.pieces.lock);
  return last;
}

size_t tmb_kit_incomplete(void) {
  tmb_lock_acquire(&tmb_job.pieces.lock);
  const size_t count = pieces()->count;
  tmb_lock_release(&tmb_job.pieces.lock);
  return count;
}

/* All messages of the rank have been handled: missing pieces will never come. */
static void on_lost(uint32_t jobrank) {
  tmb_lock_acquire(&tmb_job.pieces.lock);
  for (uint32_t b = 0; b < TMB_PIECE_BUCKETS; b++)
    for (struct tmb_incomplete **p = &pieces()->bucket[b]; *p;)
      if ((*p)->src == jobrank)
        drop(p);
      else
        p = &(*p)->next;
  tmb_lock_release(&tmb_job.pieces.lock);
}

static const struct tmb_layer_handler handlers[] = {
    {TMB_KIT_ACK, TMB_TAKES_SHORT, ACK_ARGS, 0, on_ack}, {0}};

const struct tmb_layer tmb_kit_layer = {.name = "kit", .handlers = handlers, .peer_lost = on_lost};
