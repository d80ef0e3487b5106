/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduction to all members.
 *
 * Owns nothing. Called through select.c's table and by two-level forms. Calls: schedule.h, the flat
 * forms of reduce and broadcast. Recursive doubling, and recursive vector halving with distance
 * doubling followed by recursive doubling (Rabenseifner): R. Rabenseifner, "Optimization of
 * Collective Reduction Operations", ICCS 2004, LNCS 3036, doi:10.1007/978-3-540-24685-5_1. Ring: P.
 * Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", J.
 * Parallel Distrib. Comput. 69(2), 2009, doi:10.1016/j.jpdc.2008.09.002. Sizes that are no power of
 * two: fold.h; the members that sit out get the result in the end. Invariants: partners hold
 * neighbouring ranges of ranks, so operands stay in order; both partners compute one expression, or
 * one computes it for both, so results are equal bits.
 */
#include "coll/algorithms/alg.h"

#include "base/compiler.h"
#include "coll/algorithms/fold.h"

#define TAG_FOLD   (TMB_TAG_PHASE / 2)
#define TAG_UNFOLD (TAG_FOLD + 1)
#define TAG_GATHER 64u

void tmb_alg_allreduce_flat(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  struct tmb_coll_shape p = *c;
  p.root = 0;
  tmb_alg_reduce_flat(s, &p);
  p.src = c->dst;
  p.tag += TMB_TAG_PHASE;
  tmb_sched_next(s);
  tmb_alg_bcast_flat(s, &p);
}

/* First step for sizes that are no power of two (fold.h): a member that sits out sends its
 * vector, its partner combines it with its own. Returns where this member's vector is now: in dst
 * once anything was combined, else in src. */
static struct tmb_ref begin(struct tmb_sched *s, const struct tmb_coll_shape *c,
                            const struct tmb_fold *f) {
  if (c->size == 1) tmb_sched_copy(s, c->dst, c->src, c->bytes);
  if (f->rank == UINT32_MAX)
    tmb_sched_send(s, c, (struct tmb_msg){c->rank + 1, TAG_FOLD, c->src, c->bytes, 0});
  if (f->rank == UINT32_MAX || c->rank >= 2 * f->rem) return c->src;
  tmb_sched_combine(s, c, (struct tmb_msg){c->rank - 1, TAG_FOLD, c->dst, c->bytes, TMB_STEP_FREE},
                    c->src);
  tmb_sched_next(s);
  return c->dst;
}

static void finish(struct tmb_sched *s, const struct tmb_coll_shape *c, const struct tmb_fold *f) {
  tmb_sched_next(s);
  if (f->rank == UINT32_MAX)
    tmb_sched_recv(s, c,
                   (struct tmb_msg){c->rank + 1, TAG_UNFOLD, c->dst, c->bytes, TMB_STEP_FREE});
  else if (c->rank < 2 * f->rem)
    tmb_sched_send(s, c, (struct tmb_msg){c->rank - 1, TAG_UNFOLD, c->dst, c->bytes, 0});
}

void tmb_alg_allreduce_doubling(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  const struct tmb_fold f = tmb_fold_of(c);
  struct tmb_ref local = begin(s, c, &f);
  uint32_t tag = 0;
  for (uint32_t mask = 1; mask < f.power && f.rank != UINT32_MAX; mask <<= 1, tag++) {
    const uint32_t partner = f.rank ^ mask;
    struct tmb_msg m = {tmb_fold_member(&f, partner), tag, local, c->bytes, 0};
    tmb_sched_next(s);
    tmb_sched_send(s, c, m);
    m.at = c->dst;
    m.flags = partner > f.rank ? TMB_STEP_RIGHT : 0;
    tmb_sched_combine(s, c, m, local);
    local = c->dst;
  }
  finish(s, c, &f);
}

/* A range of elements. */
struct range {
  uint64_t first, end;
};

/* The message with range r of dst. */
static struct tmb_msg part(const struct tmb_coll_shape *c, struct range r, uint32_t peer,
                           uint32_t tag) {
  return (struct tmb_msg){peer, tag, tmb_ref_at(c->dst, r.first * c->elem),
                          (r.end - r.first) * c->elem, 0};
}

/* Send range r of the vector at `from`. */
static void send_part(struct tmb_sched *s, const struct tmb_coll_shape *c, struct tmb_msg m,
                      struct tmb_ref from) {
  m.at = tmb_ref_at(from, m.at.at - c->dst.at);
  tmb_sched_send(s, c, m);
}

/* Split r; out mine, theirs: the halves that this member and its partner keep. */
static void split(struct range r, bool upper, struct range *mine, struct range *theirs) {
  const uint64_t middle = r.first + (r.end - r.first) / 2;
  const struct range low = {r.first, middle}, high = {middle, r.end};
  *mine = upper ? high : low;
  *theirs = upper ? low : high;
}

void tmb_alg_allreduce_halving(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  const struct tmb_fold f = tmb_fold_of(c);
  struct range mine[33] = {{0, c->bytes / c->elem}}, theirs[33];
  uint32_t level = 0;
  struct tmb_ref local = begin(s, c, &f);
  if (f.rank == UINT32_MAX) {
    finish(s, c, &f);
    return;
  }
  for (; UINT32_C(1) << level < f.power; level++) {
    const uint32_t partner = f.rank ^ UINT32_C(1) << level;
    split(mine[level], partner < f.rank, &mine[level + 1], &theirs[level]);
    tmb_sched_next(s);
    send_part(s, c, part(c, theirs[level], tmb_fold_member(&f, partner), level), local);
    struct tmb_msg in = part(c, mine[level + 1], tmb_fold_member(&f, partner), level);
    in.flags = TMB_STEP_FREE | (partner > f.rank ? TMB_STEP_RIGHT : 0);
    tmb_sched_combine(s, c, in, tmb_ref_at(local, in.at.at - c->dst.at));
    local = c->dst;
  }
  while (level-- > 0) {
    const uint32_t partner = f.rank ^ UINT32_C(1) << level;
    tmb_sched_next(s);
    tmb_sched_send(s, c,
                   part(c, mine[level + 1], tmb_fold_member(&f, partner), TAG_GATHER + level));
    struct tmb_msg in = part(c, theirs[level], tmb_fold_member(&f, partner), TAG_GATHER + level);
    in.flags = TMB_STEP_FREE;
    tmb_sched_recv(s, c, in);
  }
  finish(s, c, &f);
}

/* Block i of the vector, cut at elements into c->size blocks. */
static struct range block(const struct tmb_coll_shape *c, uint32_t i) {
  const uint64_t count = c->bytes / c->elem, each = (count + c->size - 1) / c->size;
  return (struct range){TMB_MIN(i * each, count), TMB_MIN((i + UINT64_C(1)) * each, count)};
}

void tmb_alg_allreduce_ring(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  const uint32_t next = tmb_coll_up(c, c->rank, 1), previous = tmb_coll_up(c, c->rank, c->size - 1);
  if (c->size == 1) tmb_sched_copy(s, c->dst, c->src, c->bytes);
  for (uint32_t k = 0; k + 1 < c->size; k++) {
    const uint32_t out = tmb_coll_up(c, c->rank, c->size - k);
    tmb_sched_next(s);
    send_part(s, c, part(c, block(c, out), next, k), k ? c->dst : c->src);
    struct tmb_msg in = part(c, block(c, tmb_coll_up(c, out, c->size - 1)), previous, k);
    in.flags = TMB_STEP_EARLY;
    tmb_sched_combine(s, c, in, tmb_ref_at(c->src, in.at.at - c->dst.at));
  }
  for (uint32_t k = 0; k + 1 < c->size; k++) {
    const uint32_t out = tmb_coll_up(c, c->rank, c->size - k + 1);
    tmb_sched_next(s);
    tmb_sched_send(s, c, part(c, block(c, out), next, c->size + k));
    struct tmb_msg in = part(c, block(c, tmb_coll_up(c, out, c->size - 1)), previous, c->size + k);
    in.flags = TMB_STEP_EARLY;
    tmb_sched_recv(s, c, in);
  }
}
