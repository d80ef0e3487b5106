/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending a step's message, see send.h.
 *
 * Owns: op->out, the message that an op tries to send, and op->at.sent and op->at.granted, how much
 * of a step has been sent and may be sent. Called by the engine, under the lock of collectives.
 * Calls: tmb_peer_send. Invariants: op->at.live says that op->out is filled and not yet sent; a
 * retry sends that message.
 */
#include "coll/engine/send.h"

#include "coll/engine/pull.h"
#include "coll/engine/receive.h"
#include "core/progress/peer.h"

#define WINDOW_CHUNKS 4u /* most chunks of one op that one call of the progress hook sends */

/* Fill op->out for the message of a step. */
static void address(struct tmb_coll_op *op, const struct tmb_step *step, uint64_t at) {
  int32_t *a = op->args;
  tmb_coll_args(a, op, step->peer, step->tag, at);
  op->out = (struct tmb_am_out){.peer = tmb_team_jobrank(op->team, step->peer),
                                .nargs = TMB_COLL_ARGS,
                                .staged = -1,
                                .args = a};
  op->at.live = true;
}

/* Try to send op->out. */
static bool transmit(struct tmb_coll_op *op) {
  if (!tmb_peer_try(&op->out, "sending a message of a collective to")) return false;
  op->at.live = false;
  return true;
}

/* Fill op->out for a message about a step. */
static void notice(struct tmb_coll_op *op, const struct tmb_step *step, uint8_t handler,
                   uint64_t bytes) {
  address(op, step, bytes);
  op->out.category = TMB_AM_SHORT;
  op->out.handler = handler;
}

bool tmb_send_ready(struct tmb_coll_op *op, const struct tmb_step *step) {
  if (!op->at.live) {
    const uint64_t bytes = tmb_recv_first_ask(op, step);
    struct tmb_coll_target place = {.keyed = false};
    if (bytes == step->bytes && tmb_direct_place(op, step, &place)) {
      notice(op, step, TMB_KIT_COLL_PLACE, bytes);
      op->out.nargs = TMB_COLL_PLACE_ARGS;
      op->args[8] = place.keyed;
      tmb_kit_pack64(op->args + 9, place.address);
      tmb_kit_pack64(op->args + 11, place.key.key);
    } else {
      notice(op, step, TMB_KIT_COLL_READY, bytes);
    }
  }
  return transmit(op);
}

bool tmb_send_offer(struct tmb_coll_op *op, const struct tmb_step *step) {
  if (!op->at.live) {
    notice(op, step, TMB_KIT_COLL_OFFER, step->bytes);
    op->out.nargs = TMB_COLL_OFFER_ARGS;
    op->args[8] = tmb_job.pid;
    tmb_kit_pack64(op->args + 9,
                   (uint64_t)(uintptr_t)tmb_coll_place(op, step->from, step->from_at));
  }
  if (!transmit(op)) return false;
  op->at.untaken++;
  op->at.offered |= (uint8_t)(1u << step->from);
  return true;
}

/* Whether the message of a gated step may be sent: its receiver has said READY. */
static bool allowed(struct tmb_coll_op *op, const struct tmb_step *step) {
  if (!(step->flags & TMB_STEP_GATED) || op->at.sent < op->at.granted || op->at.live) return true;
  const struct tmb_stash like = {
      .seq = op->seq, .src = step->peer, .tag = step->tag, .kind = TMB_KIT_COLL_READY};
  for (struct tmb_stash *m; (m = tmb_stash_take(op->team->coll, &like)) != NULL;
       tmb_stash_free(m)) {
    op->at.granted = TMB_MIN(TMB_MAX(op->at.granted, m->at), step->bytes);
    if (m->at == step->bytes) op->at.place = m->place; /* else the lengths differ */
  }
  return op->at.sent < op->at.granted;
}

/* Whether a gated step that may be sent is offered. Only whole: of a part its receiver keeps what
 * it asks for. */
static bool offers(const struct tmb_coll_op *op, const struct tmb_step *step) {
  if (op->at.live) return op->out.handler == TMB_KIT_COLL_OFFER;
  return op->at.sent == 0 && op->at.granted == step->bytes &&
         tmb_pull_saves(tmb_team_jobrank(op->team, step->peer),
                        tmb_coll_place(op, step->from, step->from_at), step->bytes);
}

/* Bytes of the next message of a step, at most: twice as many where each message costs both sides
 * calls of the kernel, and the receiver combines none while the next one comes. */
static uint64_t chunk_of(const struct tmb_coll_op *op, const struct tmb_step *step) {
  const bool twice = (step->flags & TMB_STEP_GATED) && !op->reducer.elem &&
                     2 * op->chunk <= TMB_AM_MEDIUM_BYTES_MAX &&
                     tmb_peer_takes_whole(tmb_team_jobrank(op->team, step->peer));
  return twice ? 2 * op->chunk : op->chunk;
}

bool tmb_send_data(struct tmb_coll_op *op, const struct tmb_step *step, bool *again) {
  const bool gated = step->flags & TMB_STEP_GATED;
  if (gated && allowed(op, step) && offers(op, step)) {
    if (!tmb_send_offer(op, step)) return false;
    op->at.granted = 0;
    return true;
  }
  if (op->at.place.address || tmb_direct_onward(op, step)) {
    const enum tmb_direct result = tmb_direct_send(op, step);
    if (result == TMB_DIRECT_AGAIN) return false;
    op->at.place.address = 0;
    if (result == TMB_DIRECT_LEFT) {
      op->at.granted = 0;
      return true;
    }
  }
  for (uint32_t k = 0; op->at.sent < step->bytes; k++) {
    *again = allowed(op, step);
    if (!*again || k == WINDOW_CHUNKS) return false;
    if (!op->at.live) {
      address(op, step, op->at.sent);
      op->out.category = TMB_AM_MEDIUM;
      op->out.handler = TMB_KIT_COLL_DATA;
      op->out.src = tmb_coll_place(op, step->from, step->from_at + op->at.sent);
      op->out.nbytes =
          TMB_MIN((gated ? op->at.granted : step->bytes) - op->at.sent, chunk_of(op, step));
    }
    const size_t bytes = op->out.nbytes;
    if (!transmit(op)) return false;
    op->at.sent += bytes;
  }
  op->at.sent = op->at.granted = 0;
  return true;
}
