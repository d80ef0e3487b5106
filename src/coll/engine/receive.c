/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receiving in a schedule, see receive.h.
 *
 * Owns nothing. Called by the engine under the lock of collectives. Calls: pull.h, apply.h, the
 * stash, the conduit's am_send for the answer to an offer. An element larger than a message is put
 * together before it is combined; data read in the sender's memory are combined in pieces that fit
 * a first-level cache. Invariants: data go where their receive says only while that is open;
 * otherwise they are kept in the stash.
 */
#include "coll/engine/receive.h"

#include "base/log.h"
#include "core/progress/peer.h"

#include <stdlib.h>
#include <string.h>

/* Bytes; they bound memory and the time of one call, and were chosen, not measured:
 * most that one call of the progress hook reads; one request, two of them ahead; one read of data
 * to be combined, so that it stays in the first-level cache. */
#define PULL_PIECE   (1u << 20)
#define ASK_BYTES    (128u << 10)
#define BOUNCE_BYTES (32u << 10)

void *tmb_coll_grown(void *old, size_t bytes, const char *name) {
  free(old);
  void *p = aligned_alloc(64, TMB_ALIGN_UP(bytes, (size_t)64));
  if (!p) tmb_fatal("out of memory for %s of a collective (%zu bytes)", name, bytes);
  return p;
}

uint32_t tmb_recv_match(struct tmb_coll_op *op, uint32_t src, uint32_t tag) {
  const struct tmb_sched *s = &op->plan->sched;
  uint32_t i = op->at.hint < s->recvs ? op->at.hint : 0;
  for (uint32_t k = 0; k < s->recvs; k++) {
    const struct tmb_step *step = &s->step[s->recv_step[i]];
    if (step->peer == src && step->tag == tag) {
      op->at.hint = i;
      return s->recv_step[i];
    }
    if (++i == s->recvs) i = 0;
  }
  return UINT32_MAX;
}

/* Parts of an element larger than a message: collect. Returns the element when all are there. */
static char *assemble(struct tmb_coll_op *op, const struct tmb_step *step, const char *data,
                      size_t at, size_t bytes) {
  const uint32_t recvs = op->plan->sched.recvs;
  if (!op->assembly) op->assembly = calloc(recvs, sizeof *op->assembly);
  if (!op->assembly) tmb_fatal("out of memory for the receives of a collective");
  char **whole = &op->assembly[step->recv];
  if (!*whole) *whole = tmb_coll_grown(NULL, step->bytes, "an element");
  memcpy(*whole + at, data, bytes);
  if (op->got[step->recv] + bytes < step->bytes) return NULL;
  char *const element = *whole;
  *whole = NULL;
  return element;
}

/* Count bytes of a receive that have arrived. */
static void account(struct tmb_coll_op *op, uint32_t index, size_t bytes) {
  const struct tmb_step *step = &op->plan->sched.step[index];
  uint64_t *got = &op->got[step->recv];
  *got += bytes;
  if (*got < step->bytes) return;
  op->at.hint = step->recv + 1;
  if (index < op->at.posted_end) op->at.waiting--;
}

/* ---- combining */

/* Combine operands of a step, `at` bytes from its beginning. in after: the step that follows.
 * Returns whether that is now: a client's function is called later, and `after` kept for that. */
static bool combine(struct tmb_coll_op *op, const struct tmb_step *step, uint64_t at, char *message,
                    size_t bytes, const struct tmb_coll_applies *after) {
  char *const to = tmb_coll_place(op, step->to, step->to_at + at);
  const char *const own = tmb_coll_place(op, step->from, step->from_at + at);
  const bool right = step->flags & TMB_STEP_RIGHT;
  if (TMB_LIKELY(op->reducer.loop != NULL)) {
    tmb_reduce_apply(&op->reducer, to, own, message, bytes, right);
    return true;
  }
  op->apply.reducer = &op->reducer;
  op->apply.event = op->event;
  op->apply.to = to;
  op->apply.own = own;
  op->apply.message = message;
  op->apply.bytes = bytes;
  op->apply.right = right;
  op->applies = *after;
  tmb_apply_post(&op->apply);
  return false;
}

/*
 * Operands of a client's function are kept until its turn, so their sender is asked for two units
 * at first, and for one more whenever one has been combined; for all where the receive opens only
 * after this rank's own sends, or is asked for long before: those who send it could wait for each
 * other.
 */
static bool is_asked_by_parts(const struct tmb_coll_op *op, const struct tmb_step *step) {
  return op->reducer.user && step->kind == TMB_STEP_RECV_REDUCE && (step->flags & TMB_STEP_GATED) &&
         !(step->flags & TMB_STEP_ASK) && step->open != UINT32_MAX && op->chunk >= op->reducer.elem;
}

/* Whole messages, so that no element is cut. */
static uint64_t ask_unit(const struct tmb_coll_op *op) {
  return (uint64_t)op->chunk * TMB_MAX(ASK_BYTES / op->chunk, 1u);
}

uint64_t tmb_recv_first_ask(struct tmb_coll_op *op, const struct tmb_step *ready) {
  const uint32_t index = tmb_recv_match(op, ready->peer, ready->tag);
  if (index == UINT32_MAX || !is_asked_by_parts(op, &op->plan->sched.step[index]))
    return ready->bytes;
  return TMB_MIN(ready->bytes, 2 * ask_unit(op));
}

/* Bytes of a receive have been combined, from `before` on. */
static void ask_more(struct tmb_coll_op *op, uint32_t index, uint64_t before) {
  const struct tmb_step *step = &op->plan->sched.step[index];
  const uint64_t unit = ask_unit(op), asked = (before / unit + 2) * unit;
  const uint64_t next = (op->got[step->recv] / unit + 2) * unit;
  if (next == asked || asked >= step->bytes) return;
  op->at.asking = index + 1;
  op->ask_at = TMB_MIN(next, step->bytes);
}

void tmb_recv_apply_step(struct tmb_coll_op *op, const struct tmb_step *step) {
  const struct tmb_coll_applies after = {.index = UINT32_MAX};
  struct tmb_step same = *step; /* to = from + to */
  same.from = step->to;
  same.from_at = step->to_at;
  (void)combine(op, &same, 0, tmb_coll_place(op, step->from, step->from_at), step->bytes, &after);
}

void tmb_recv_applied(struct tmb_coll_op *op, bool made) {
  if (op->applies.kept) tmb_stash_free(op->applies.kept);
  free(op->applies.memory);
  op->applies.kept = NULL;
  op->applies.memory = NULL;
  if (!made) return;
  if (op->applies.index == UINT32_MAX) {
    op->at.pc++;
    return;
  }
  const struct tmb_step *step = &op->plan->sched.step[op->applies.index];
  const uint64_t before = op->got[step->recv];
  if (op->applies.pulled) op->pulled += op->applies.bytes;
  account(op, op->applies.index, op->applies.bytes);
  if (is_asked_by_parts(op, step)) ask_more(op, op->applies.index, before);
}

/* More data than this rank's arguments say. */
_Noreturn TMB_COLD static void mismatch(const struct tmb_coll_op *op, const struct tmb_step *step,
                                        size_t bytes) {
  tmb_fatal_nopos(
      "collective %u of a team of %u ranks (%s): rank %u of the team sends %zu bytes or "
      "more where this rank, %u, expects %zu; all ranks must make the same calls in the "
      "same order with the same lengths",
      op->seq, op->team->head.size, tmb_coll_kind_name(op->plan->shape.kind), step->peer, bytes,
      op->team->head.rank, (size_t)step->bytes);
}

bool tmb_recv_touches(const struct tmb_coll_op *op, const struct tmb_step *step, uint8_t bits) {
  const bool same = op->base[TMB_BUF_SRC] == op->base[TMB_BUF_DST];
  const uint8_t both = 1u << TMB_BUF_SRC | 1u << TMB_BUF_DST;
  if (same && (bits & both)) bits |= both;
  return bits >> step->to & 1;
}

bool tmb_recv_is_open(const struct tmb_coll_op *op, uint32_t index) {
  const struct tmb_step *step = &op->plan->sched.step[index];
  return index < op->at.posted_end || step->open == 0 ||
         (step->open <= op->at.round && !tmb_recv_touches(op, step, op->at.owed));
}

bool tmb_recv_is_deferred(const struct tmb_coll_op *op, uint32_t index) {
  return op->reducer.user && op->plan->sched.step[index].kind == TMB_STEP_RECV_REDUCE;
}

bool tmb_recv_deliver(struct tmb_coll_op *op, uint32_t index, char *data, size_t at, size_t bytes,
                      struct tmb_stash *kept) {
  const struct tmb_step *step = &op->plan->sched.step[index];
  if (TMB_UNLIKELY(bytes > step->bytes || at > step->bytes - bytes)) mismatch(op, step, at + bytes);
  struct tmb_coll_applies after = {.index = index, .bytes = bytes, .kept = kept};
  if (step->kind == TMB_STEP_RECV) {
    char *const to = tmb_coll_place(op, step->to, step->to_at + at);
    if (to != data) memcpy(to, data, bytes);
  } else if (TMB_LIKELY(op->chunk >= op->reducer.elem)) {
    if (!combine(op, step, at, data, bytes, &after)) return false;
  } else {
    after.memory = assemble(op, step, data, at, bytes);
    if (after.memory && !combine(op, step, 0, after.memory, step->bytes, &after)) return false;
    free(after.memory);
  }
  account(op, index, bytes);
  return true;
}

/* ---- reading offered data */

bool tmb_recv_may_pull(struct tmb_coll_op *op, const struct tmb_stash *m) {
  const uint32_t index = tmb_recv_match(op, m->src, m->tag);
  if (index == UINT32_MAX)
    tmb_bug("a collective's message from rank %u of the team names no receive", m->src);
  const struct tmb_step *step = &op->plan->sched.step[index];
  if (TMB_UNLIKELY(step->bytes != m->at)) mismatch(op, step, m->at);
  return tmb_recv_is_open(op, index) || step->round == op->at.round;
}

/* Combine a piece with this rank's data. Returns whether that is done, as combine; also not when
 * the piece cannot be read. */
static bool pull_reduce(struct tmb_coll_op *op, uint32_t index, uint64_t at, size_t bytes) {
  const struct tmb_coll_applies after = {.index = index, .bytes = bytes, .pulled = true};
  const struct tmb_step *step = &op->plan->sched.step[index];
  const uint32_t peer = tmb_team_jobrank(op->team, step->peer);
  const struct tmb_stash *m = op->at.pull;
  const bool right = step->flags & TMB_STEP_RIGHT;
  char *from = tmb_pull_mapped(peer, m->address + at, bytes);
  if (!from || (right && op->reducer.user)) { /* which would overwrite it */
    if (op->bounce_capacity < bytes) {
      op->bounce = tmb_coll_grown(op->bounce, bytes, "the pieces");
      op->bounce_capacity = bytes;
    }
    from = op->bounce;
    op->at.pull_refused = !tmb_pull_read(peer, m->pid, m->address + at, from, bytes, false);
    if (op->at.pull_refused && at && op->chunk < op->reducer.elem)
      tmb_fatal("rank %u does not allow its memory to be read in the middle of a reduction of "
                "elements of %zu "
                "bytes; set TOMBOLO_COLL_DIRECT=0",
                peer, op->reducer.elem);
    if (op->at.pull_refused) return false;
  }
  return combine(op, step, at, from, bytes, &after);
}

/* Read the message of op->at.pull into kept memory. Returns false when that is refused. */
static bool pull_kept(struct tmb_coll_op *op, uint32_t peer, uint64_t bytes) {
  struct tmb_coll_team *ct = op->team->coll;
  const struct tmb_stash *m = op->at.pull;
  const struct tmb_stash like = {
      .seq = m->seq, .src = m->src, .tag = m->tag, .kind = TMB_KIT_COLL_DATA};
  struct tmb_stash *kept = tmb_stash_add(ct, &like, bytes);
  if (tmb_pull_read(peer, m->pid, m->address, kept->payload, bytes, false)) return true;
  tmb_stash_free(tmb_stash_take(ct, &like));
  return false;
}

/* Read a piece of op->at.pull, or all of it into kept memory if its receive is not open; sets
 * op->at.pull_refused when that cannot be done. */
static void pull_piece(struct tmb_coll_op *op, uint32_t index) {
  const struct tmb_stash *m = op->at.pull;
  const struct tmb_step *step = &op->plan->sched.step[index];
  const uint32_t peer = tmb_team_jobrank(op->team, step->peer);
  const uint64_t at = op->pulled, left = step->bytes - at;
  size_t bytes = TMB_MIN(left, (uint64_t)PULL_PIECE);
  if (!tmb_recv_is_open(op, index)) {
    bytes = left;
    op->at.pull_refused = !pull_kept(op, peer, bytes);
    if (op->at.pull_refused) return;
  } else if (step->kind == TMB_STEP_RECV) {
    char *to = tmb_coll_place(op, step->to, step->to_at + at);
    op->at.pull_refused =
        !tmb_pull_read(peer, m->pid, m->address + at, to, bytes, tmb_pull_past(&op->plan->shape));
    if (op->at.pull_refused) return;
    account(op, index, bytes);
  } else {
    const size_t elem = op->reducer.elem;
    const size_t most = elem > BOUNCE_BYTES ? elem : BOUNCE_BYTES - BOUNCE_BYTES % elem;
    bytes = TMB_MIN(left, (uint64_t)most);
    if (!pull_reduce(op, index, at, bytes)) return;
    account(op, index, bytes);
  }
  op->pulled = at + bytes;
}

/* Send a sender of this op a message about its data. Returns false when there are no resources now.
 */
static bool notify(const struct tmb_coll_op *op, uint32_t peer, uint32_t tag, uint8_t handler,
                   uint64_t at) {
  int32_t args[TMB_COLL_ARGS];
  tmb_coll_args(args, op, peer, tag, at);
  struct tmb_am_out out = {.peer = tmb_team_jobrank(op->team, peer),
                           .category = TMB_AM_SHORT,
                           .handler = handler,
                           .nargs = TMB_COLL_ARGS,
                           .staged = -1,
                           .args = args};
  return tmb_peer_try(&out, "sending a message of a collective to");
}

bool tmb_recv_ask(struct tmb_coll_op *op) {
  const struct tmb_step *step = &op->plan->sched.step[op->at.asking - 1];
  if (!notify(op, step->peer, step->tag, TMB_KIT_COLL_READY, op->ask_at)) return false;
  op->at.asking = 0;
  op->at.moves++;
  return true;
}

/* Notify the sender of op->at.pull that it has been read, or that the rest must be sent. Returns
 * false when there are no resources now. */
static bool notify_sender(const struct tmb_coll_op *op) {
  return notify(op, op->at.pull->src, op->at.pull->tag,
                op->at.pull_refused ? TMB_KIT_COLL_REFUSED : TMB_KIT_COLL_TAKEN, op->pulled);
}

void tmb_recv_pull(struct tmb_coll_op *op) {
  struct tmb_coll_team *ct = op->team->coll;
  for (uint64_t budget = PULL_PIECE; budget && budget <= PULL_PIECE;) {
    if (!op->at.pull) {
      struct tmb_stash *m = tmb_stash_offer(ct, op, tmb_recv_may_pull);
      if (!m) return;
      op->at.pull = tmb_stash_take(ct, m);
      op->pulled = 0;
    }
    const uint32_t index = tmb_recv_match(op, op->at.pull->src, op->at.pull->tag);
    const uint64_t before = op->pulled, all = op->plan->sched.step[index].bytes;
    if (before < all && !op->at.pull_refused) pull_piece(op, index);
    op->at.moves++;
    if (tmb_coll_applies(op)) return;
    budget -= op->pulled - before;
    if (op->pulled < all && !op->at.pull_refused) continue;
    if (!notify_sender(op)) return;
    tmb_stash_free(op->at.pull);
    op->at.pull = NULL;
    op->at.pull_refused = false;
  }
}
