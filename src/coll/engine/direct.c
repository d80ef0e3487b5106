/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long data between hosts from memory to memory, see send.h.
 *
 * Owns: op->direct, the Longs of an op that are on their way. Called by the engine, under the lock
 * of collectives. Calls: tmb_peer_try_long, core/segment/segment.h. Invariants: an entry of the
 * list has begun to be sent, and is tried again with the same arguments until the conduit has read
 * its source; a place is named once, for all bytes of its receive.
 */

#include "coll/engine/send.h"

#include "base/container/list.h"
#include "base/error.h"
#include "base/log.h"
#include "coll/engine/receive.h"
#include "core/progress/peer.h"
#include "core/segment/segment.h"

#include <stdlib.h>

#define BYTES_MIN (32u << 10) /* shorter data are copied into messages; chosen */

struct tmb_coll_direct {
  struct tmb_coll_direct *next;
  int32_t args[TMB_COLL_ARGS];
  struct tmb_resume resume;
  struct tmb_net_key key;
  struct tmb_am_out out;
};

/* Memory of this rank that the conduit knows. */
struct tmb_coll_exposed {
  struct tmb_coll_exposed *next;
  struct tmb_net_key key;
};

/* Open private memory as a place. */
static bool open_private(struct tmb_coll_op *op, char *at, size_t bytes,
                         struct tmb_coll_target *place) {
  if (!tmb_target_open(op, at, bytes)) return false;
  op->at.places++;
  struct tmb_coll_exposed *e = malloc(sizeof *e);
  if (!e) return true;
  place->keyed = tmb_peer_expose(at, bytes, &e->key);
  if (place->keyed) {
    place->key = e->key;
    TMB_LIST_PUSH(&op->exposed, e);
  } else {
    free(e);
  }
  return true;
}

/* Bytes of the message of which a receive is the first segment: the others follow it in memory. */
static uint64_t whole_of(const struct tmb_coll_op *op, uint32_t index) {
  const struct tmb_sched *s = &op->plan->sched;
  const struct tmb_step *const first = &s->step[index];
  uint64_t bytes = first->bytes;
  for (uint32_t i = index + 1; i < s->count; i++) {
    const struct tmb_step *step = &s->step[i];
    if (step->kind == TMB_STEP_RECV && step->peer == first->peer && step->to == first->to &&
        step->to_at == first->to_at + bytes && (step->flags & TMB_STEP_UNGATED) && !step->open)
      bytes += step->bytes;
  }
  return bytes;
}

bool tmb_direct_place(struct tmb_coll_op *op, const struct tmb_step *ready,
                      struct tmb_coll_target *place) {
  *place = (struct tmb_coll_target){.keyed = false};
  if (ready->bytes < BYTES_MIN || !tmb_peer_has_long(tmb_team_jobrank(op->team, ready->peer)))
    return false;
  const uint32_t index = tmb_recv_match(op, ready->peer, ready->tag);
  if (index == UINT32_MAX || !tmb_recv_is_open(op, index)) return false;
  const struct tmb_step *step = &op->plan->sched.step[index];
  char *const at = tmb_coll_place(op, step->to, step->to_at);
  if (step->kind != TMB_STEP_RECV) return false;
  const uint64_t bytes = whole_of(op, index);
  if (!tmb_segment_holds(at, bytes) && !open_private(op, at, bytes, place)) return false;
  place->address = (uint64_t)(uintptr_t)at;
  return true;
}

bool tmb_direct_onward(struct tmb_coll_op *op, const struct tmb_step *step) {
  if (TMB_LIKELY(!(step->flags & TMB_STEP_UNGATED)) || op->at.live || op->at.sent) return false;
  for (uint32_t i = 0; i < op->at.onwards; i++) {
    const struct tmb_coll_onward *o = &op->onward[i];
    if (o->peer != step->peer) continue;
    op->at.place = o->place;
    op->at.place.address += step->from_at - o->from_at;
    return true;
  }
  return false;
}

/* The first segment of a message is on its way to op->at.place. */
static void remember(struct tmb_coll_op *op, const struct tmb_step *step) {
  if ((step->flags & TMB_STEP_UNGATED) || op->at.onwards == TMB_COLL_ONWARD) return;
  op->onward[op->at.onwards++] = (struct tmb_coll_onward){step->peer, step->from_at, op->at.place};
}

static enum tmb_direct try(struct tmb_coll_direct *d) {
  d->out.resume = &d->resume;
  switch (tmb_peer_try_long(&d->out, "sending a message of a collective to")) {
  case 0: return TMB_DIRECT_LEFT;
  case TMB_AGAIN: return TMB_DIRECT_AGAIN;
  default: return TMB_DIRECT_REFUSED;
  }
}

enum tmb_direct tmb_direct_send(struct tmb_coll_op *op, const struct tmb_step *step) {
  struct tmb_coll_direct d = {.key = op->at.place.key};
  tmb_coll_args(d.args, op, step->peer, step->tag, 0);
  d.out = (struct tmb_am_out){.peer = tmb_team_jobrank(op->team, step->peer),
                              .category = TMB_AM_LONG,
                              .handler = TMB_KIT_COLL_DATA,
                              .nargs = TMB_COLL_ARGS,
                              .unmapped = 1,
                              .patient = 1,
                              .staged = -1,
                              .args = d.args,
                              .src = tmb_coll_place(op, step->from, step->from_at),
                              .nbytes = step->bytes,
                              .dest = (void *)(uintptr_t)op->at.place.address,
                              .key = op->at.place.keyed ? &d.key : NULL};
  const enum tmb_direct result = try(&d);
  if (result == TMB_DIRECT_LEFT || d.resume.started) remember(op, step);
  if (result != TMB_DIRECT_AGAIN || !d.resume.started) return result;
  struct tmb_coll_direct *kept = malloc(sizeof *kept);
  if (!kept) tmb_fatal("out of memory for a message of a collective");
  *kept = d;
  kept->out.args = kept->args;
  if (d.out.key) kept->out.key = &kept->key;
  TMB_LIST_PUSH(&op->direct, kept);
  op->at.untaken++;
  op->at.offered |= (uint8_t)(1u << step->from);
  return TMB_DIRECT_LEFT;
}

void tmb_direct_continue(struct tmb_coll_op *op) {
  for (struct tmb_coll_direct **at = &op->direct; *at;) {
    if (try(*at) == TMB_DIRECT_AGAIN) {
      at = &(*at)->next;
      continue;
    }
    free(TMB_LIST_POP(at));
    op->at.moves++;
    if (--op->at.untaken == 0) op->at.offered = op->at.owed = 0;
  }
}

void tmb_direct_end(struct tmb_coll_op *op) {
  while (op->direct) free(TMB_LIST_POP(&op->direct));
  if (op->at.places) tmb_target_close(op);
  for (struct tmb_coll_exposed *e; (e = TMB_LIST_POP(&op->exposed)) != NULL; free(e))
    tmb_peer_conceal(&e->key);
}
