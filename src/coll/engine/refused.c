/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending data whose offer was refused, see send.h.
 *
 * Owns: struct tmb_coll_refused, in the list of its op. Called by the engine. Calls: the conduit's
 * am_send. A message has its own outgoing record, for the step at which the op stands may be half
 * sent. Invariants: messages are sent one after another, each in order, so that a receiver counts
 * their bytes as it does those of a step that is sent from the beginning.
 */
#include "coll/engine/send.h"

#include "base/container/list.h"
#include "base/log.h"
#include "core/progress/peer.h"

#include <stdlib.h>

#define WINDOW_CHUNKS 4u /* that one visit of progress sends for an op */

struct tmb_coll_refused {
  struct tmb_coll_refused *next;
  const struct tmb_step *step;
  uint64_t sent; /* bytes of the message that are sent, or were read */
  bool live;     /* `out` has begun to be sent */
  int32_t args[TMB_COLL_ARGS];
  struct tmb_am_out out;
};

/* The step that offered a message. */
static const struct tmb_step *step_of(const struct tmb_coll_op *op, uint32_t peer, uint32_t tag) {
  const struct tmb_sched *s = &op->plan->sched;
  for (uint32_t i = 0; i < op->at.pc; i++) {
    const struct tmb_step *step = &s->step[i];
    if (step->kind == TMB_STEP_SEND && step->peer == peer && step->tag == tag) return step;
  }
  tmb_bug("rank %u of the team refuses a message of a collective that was not offered", peer);
}

void tmb_refused_add(struct tmb_coll_op *op, uint32_t peer, uint32_t tag, uint64_t at) {
  struct tmb_coll_refused *r = calloc(1, sizeof *r);
  if (!r) tmb_fatal("out of memory for a message of a collective");
  r->step = step_of(op, peer, tag);
  r->sent = at;
  *TMB_LIST_END(&op->refused) = r;
}

/* Fill r->out with the next chunk. */
static void address(struct tmb_coll_op *op, struct tmb_coll_refused *r) {
  const struct tmb_step *step = r->step;
  tmb_coll_args(r->args, op, step->peer, step->tag, r->sent);
  r->out = (struct tmb_am_out){.peer = tmb_team_jobrank(op->team, step->peer),
                               .category = TMB_AM_MEDIUM,
                               .handler = TMB_KIT_COLL_DATA,
                               .nargs = TMB_COLL_ARGS,
                               .staged = -1,
                               .args = r->args,
                               .src = op->base[step->from] + step->from_at + r->sent,
                               .nbytes = TMB_MIN(step->bytes - r->sent, (uint64_t)op->chunk)};
  r->live = true;
}

void tmb_refused_send(struct tmb_coll_op *op) {
  struct tmb_coll_refused *r = op->refused;
  for (uint32_t k = 0; k < WINDOW_CHUNKS && r->sent < r->step->bytes; k++) {
    if (!r->live) address(op, r);
    const size_t bytes = r->out.nbytes;
    if (!tmb_peer_try(&r->out, "sending a message of a collective to")) return;
    r->live = false;
    r->sent += bytes;
    op->at.moves++;
  }
  if (r->sent < r->step->bytes) return;
  free(TMB_LIST_POP(&op->refused));
  if (--op->at.untaken == 0) op->at.offered = op->at.owed = 0;
}

void tmb_refused_drop(struct tmb_coll_op *op) {
  for (struct tmb_coll_refused *r; (r = TMB_LIST_POP(&op->refused)) != NULL; free(r))
    if (r->live) tmb_peer_release(&r->out);
}
