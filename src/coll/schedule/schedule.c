/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Building schedules, see schedule.h.
 *
 * Owns: the growth of the arrays. Called by the algorithms, and by whoever builds a schedule (seal,
 * free). Calls: libc. Invariants: after a failed allocation every emission is ignored and seal
 * reports it, so that algorithms need not check; sealing is stable inside each class of steps; the
 * READY of a gated receive is added by sealing, at the head of the receive's round.
 */
#include "coll/schedule/schedule.h"

#include "base/compiler.h"
#include "coll/schedule/shape.h"

#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN 16u

struct tmb_ref tmb_sched_tmp(struct tmb_sched *s, uint64_t bytes) {
  const struct tmb_ref ref = {TMB_BUF_TMP, s->tmp_bytes};
  s->tmp_bytes += TMB_ALIGN_UP(bytes, UINT64_C(64));
  return ref;
}

void tmb_sched_next(struct tmb_sched *s) {
  if (s->count && s->step[s->count - 1].round == s->round) s->round++;
}

static void emit(struct tmb_sched *s, struct tmb_step step) {
  if (step.bytes == 0 || s->failed) return;
  if (s->count == s->capacity) {
    const uint32_t capacity = s->capacity ? 2 * s->capacity : CAPACITY_MIN;
    struct tmb_step *more = realloc(s->step, capacity * sizeof *more);
    if (!more) {
      s->failed = true;
      return;
    }
    s->step = more;
    s->capacity = capacity;
  }
  step.round = s->round;
  step.open = step.flags & TMB_STEP_EARLY  ? 0
              : step.flags & TMB_STEP_FREE ? step.round
                                           : UINT32_MAX;
  s->step[s->count++] = step;
}

/* Merge a copy with the step before it if that is a copy that ends where this one begins.
 * Returns whether it did. */
static bool extend_copy(struct tmb_sched *s, struct tmb_ref to, struct tmb_ref from,
                        uint64_t bytes) {
  struct tmb_step *last = s->count ? &s->step[s->count - 1] : NULL;
  if (!last || last->round != s->round || last->kind != TMB_STEP_COPY || to.buf == from.buf ||
      last->to != to.buf || last->to_at + last->bytes != to.at || last->from != from.buf ||
      last->from_at + last->bytes != from.at)
    return false;
  last->bytes += bytes;
  return true;
}

void tmb_sched_copy(struct tmb_sched *s, struct tmb_ref to, struct tmb_ref from, uint64_t bytes) {
  if (to.buf == from.buf && to.at == from.at) return;
  if (extend_copy(s, to, from, bytes)) return;
  emit(s, (struct tmb_step){.kind = TMB_STEP_COPY,
                            .to = (uint8_t)to.buf,
                            .from = (uint8_t)from.buf,
                            .to_at = to.at,
                            .from_at = from.at,
                            .bytes = bytes});
}

void tmb_sched_reduce(struct tmb_sched *s, struct tmb_ref to, struct tmb_ref from, uint64_t bytes,
                      unsigned flags) {
  emit(s, (struct tmb_step){.kind = TMB_STEP_REDUCE,
                            .flags = (uint8_t)flags,
                            .to = (uint8_t)to.buf,
                            .from = (uint8_t)from.buf,
                            .to_at = to.at,
                            .from_at = from.at,
                            .bytes = bytes});
}

void tmb_sched_board(struct tmb_sched *s, uint32_t kind, uint32_t root, struct tmb_ref to,
                     struct tmb_ref from, uint64_t bytes) {
  tmb_sched_next(s);
  emit(s, (struct tmb_step){.kind = TMB_STEP_BOARD,
                            .to = (uint8_t)to.buf,
                            .from = (uint8_t)from.buf,
                            .peer = root,
                            .tag = kind,
                            .to_at = to.at,
                            .from_at = from.at,
                            .bytes = bytes});
  s->boards += bytes != 0;
  tmb_sched_next(s);
}

static struct tmb_step message(const struct tmb_coll_shape *c, const struct tmb_msg *m,
                               enum tmb_step_kind kind) {
  const uint32_t peer = tmb_coll_member(c, m->peer);
  const bool pulled = m->bytes > c->pull && !(c->far && c->far[peer]);
  const unsigned gated = m->bytes > c->eager && !(m->flags & TMB_STEP_UNGATED) ? TMB_STEP_GATED : 0;
  const unsigned flags =
      pulled ? (m->flags & ~(unsigned)TMB_STEP_GATED) | TMB_STEP_PULL : m->flags | gated;
  return (struct tmb_step){.kind = (uint8_t)kind,
                           .flags = (uint8_t)flags,
                           .to = (uint8_t)m->at.buf,
                           .from = (uint8_t)m->at.buf,
                           .peer = peer,
                           .tag = c->tag + m->tag,
                           .to_at = m->at.at,
                           .from_at = m->at.at,
                           .bytes = m->bytes};
}

void tmb_sched_send(struct tmb_sched *s, const struct tmb_coll_shape *c, struct tmb_msg m) {
  emit(s, message(c, &m, TMB_STEP_SEND));
}

void tmb_sched_recv(struct tmb_sched *s, const struct tmb_coll_shape *c, struct tmb_msg m) {
  emit(s, message(c, &m, TMB_STEP_RECV));
}

void tmb_sched_combine(struct tmb_sched *s, const struct tmb_coll_shape *c, struct tmb_msg m,
                       struct tmb_ref local) {
  struct tmb_step step = message(c, &m, TMB_STEP_RECV_REDUCE);
  step.from = (uint8_t)local.buf;
  step.from_at = local.at;
  emit(s, step);
}

void tmb_sched_recv_reduce(struct tmb_sched *s, const struct tmb_coll_shape *c, struct tmb_msg m) {
  tmb_sched_combine(s, c, m, m.at);
}

static bool receives(const struct tmb_step *step) {
  return step->kind >= TMB_STEP_RECV;
}

/* Append the READY steps of the gated receives first..end-1 that go out early, or that do not. */
static void order_ready(struct tmb_sched *out, const struct tmb_sched *s, uint32_t first,
                        uint32_t end, bool early) {
  for (uint32_t i = first; i < end; i++) {
    struct tmb_step ready = s->step[i];
    if (!receives(&ready) || !(ready.flags & TMB_STEP_GATED)) continue;
    if (!(ready.flags & TMB_STEP_ASK) == early) continue;
    ready.kind = TMB_STEP_READY;
    ready.round = s->step[first].round;
    out->step[out->count++] = ready;
  }
}

/* Append one round, in order, to `out`. in first, end: its steps in s. */
static void order_round(struct tmb_sched *out, const struct tmb_sched *s, uint32_t first,
                        uint32_t end) {
  order_ready(out, s, first, end, false);
  for (uint32_t i = first; i < end; i++)
    if (!receives(&s->step[i])) out->step[out->count++] = s->step[i];
  for (uint32_t i = first; i < end; i++) {
    if (!receives(&s->step[i])) continue;
    out->recv_step[out->recvs] = out->count;
    out->step[out->count] = s->step[i];
    out->step[out->count++].recv = out->recvs++;
  }
}

int tmb_sched_seal(struct tmb_sched *s) {
  uint32_t recvs = 0, ready = 0;
  if (s->failed) return -1;
  for (uint32_t i = 0; i < s->count; i++) {
    if (!receives(&s->step[i])) continue;
    recvs++;
    if (s->step[i].flags & TMB_STEP_GATED) ready++;
  }
  struct tmb_sched out = *s;
  out.count = out.recvs = 0;
  out.capacity = s->count + ready;
  out.step = malloc((out.capacity + 1) * sizeof *out.step);
  out.recv_step = malloc((recvs + 1) * sizeof *out.recv_step);
  if (!out.step || !out.recv_step) {
    free(out.step);
    free(out.recv_step);
    s->failed = true;
    return -1;
  }
  order_ready(&out, s, 0, s->count, true);
  for (uint32_t i = 0, end; i < s->count; i = end) {
    for (end = i; end < s->count && s->step[end].round == s->step[i].round;) end++;
    order_round(&out, s, i, end);
  }
  free(s->step);
  *s = out;
  return 0;
}

void tmb_sched_free(struct tmb_sched *s) {
  free(s->step);
  free(s->recv_step);
  *s = (struct tmb_sched){0};
}
