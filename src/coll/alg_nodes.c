/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two-level forms: inside the nodes, and among one leader of each.
 *
 * Owns nothing. Called through select.c's table when there is a node map. Calls: the one-level
 * algorithms over groups. The idea: N. Karonis et al., "Exploiting hierarchy in parallel computer
 * networks to optimize collective operation performance", IPDPS 2000,
 * doi:10.1109/IPDPS.2000.846009. Invariants: a node's leader is its lowest rank, except that the
 * root leads its own node; groups are ascending by rank, so that any numbering of ranks works; the
 * shape given is that of a whole team (no group). Reductions need an operator that commutes,
 * because nodes may hold any ranks.
 */
#include "coll/alg.h"

#include "base/compiler.h"

#include <stdlib.h>

/* The groups that a member sees. */
struct levels {
  uint32_t *mine, *leader; /* [mine_count], [leader_count] team ranks */
  uint32_t mine_count, leader_count;
  uint32_t my_rank;     /* in `mine` */
  uint32_t head;        /* index in `mine` of the node's leader */
  uint32_t leader_rank; /* in `leader`; UINT32_MAX when this member leads nothing */
};

/* in lead: team rank that leads its node, UINT32_MAX for none. Returns false without memory. */
static bool levels_make(struct levels *l, const struct tmb_coll_shape *c, uint32_t lead) {
  *l = (struct levels){.leader_rank = UINT32_MAX};
  l->mine = malloc(c->size * sizeof *l->mine);
  l->leader = malloc(c->size * sizeof *l->leader);
  char *seen = calloc(c->size, 1); /* by node: node numbers are below the size */
  if (!l->mine || !l->leader || !seen) {
    free(l->mine);
    free(l->leader);
    free(seen);
    return false;
  }
  for (uint32_t r = 0; r < c->size; r++) {
    const uint32_t node = c->node[r];
    const bool leads = lead < c->size && c->node[lead] == node ? r == lead : !seen[node];
    seen[node] = 1;
    if (leads) {
      if (r == c->rank) l->leader_rank = l->leader_count;
      l->leader[l->leader_count++] = r;
    }
    if (node != c->node[c->rank]) continue;
    if (leads) l->head = l->mine_count;
    if (r == c->rank) l->my_rank = l->mine_count;
    l->mine[l->mine_count++] = r;
  }
  free(seen);
  return true;
}

static void levels_free(struct levels *l) {
  free(l->mine);
  free(l->leader);
}

/* The shape of a phase inside the node. */
static struct tmb_coll_shape inside(const struct tmb_coll_shape *c, const struct levels *l,
                                    uint32_t phase) {
  struct tmb_coll_shape p = *c;
  p.size = l->mine_count;
  p.rank = l->my_rank;
  p.root = l->head;
  p.group = l->mine;
  p.tag = phase * TMB_TAG_PHASE;
  return p;
}

/* The shape of a phase among leaders. in root: team rank. */
static struct tmb_coll_shape among(const struct tmb_coll_shape *c, const struct levels *l,
                                   uint32_t phase, uint32_t root) {
  struct tmb_coll_shape p = *c;
  p.size = l->leader_count;
  p.rank = l->leader_rank;
  p.root = 0;
  for (uint32_t i = 0; i < l->leader_count; i++)
    if (l->leader[i] == root) p.root = i;
  p.group = l->leader;
  p.tag = phase * TMB_TAG_PHASE;
  return p;
}

static bool leads(const struct levels *l) {
  return l->leader_rank != UINT32_MAX;
}

void tmb_alg_bcast_nodes(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  struct levels l;
  if (!levels_make(&l, c, c->root)) {
    s->failed = true;
    return;
  }
  struct tmb_coll_shape p = among(c, &l, 0, c->root);
  if (leads(&l)) tmb_alg_bcast_knomial(s, &p);
  p = inside(c, &l, 1);
  p.src = c->dst; /* the leader has it there, the root, too */
  tmb_sched_next(s);
  tmb_alg_bcast_knomial(s, &p);
  levels_free(&l);
}

void tmb_alg_reduce_nodes(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  struct levels l;
  if (!levels_make(&l, c, c->root)) {
    s->failed = true;
    return;
  }
  struct tmb_coll_shape p = inside(c, &l, 0);
  if (leads(&l) && c->rank != c->root) p.dst = tmb_sched_tmp(s, c->bytes);
  const struct tmb_ref acc = p.dst;
  tmb_alg_reduce_binomial(s, &p);
  tmb_sched_next(s);
  p = among(c, &l, 1, c->root);
  p.src = acc;
  if (leads(&l)) tmb_alg_reduce_binomial(s, &p);
  levels_free(&l);
}

void tmb_alg_allreduce_nodes(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  struct levels l;
  if (!levels_make(&l, c, UINT32_MAX)) {
    s->failed = true;
    return;
  }
  struct tmb_coll_shape p = inside(c, &l, 0);
  tmb_alg_reduce_binomial(s, &p);
  tmb_sched_next(s);
  p = among(c, &l, 1, 0);
  p.src = c->dst;
  if (leads(&l)) tmb_alg_allreduce_halving(s, &p);
  tmb_sched_next(s);
  p = inside(c, &l, 2);
  p.src = c->dst;
  tmb_alg_bcast_knomial(s, &p);
  levels_free(&l);
}

/* Leaders pass the blocks of whole nodes around a ring. */
static void node_ring(struct tmb_sched *s, const struct tmb_coll_shape *c, const struct levels *l) {
  const struct tmb_coll_shape p = among(c, l, 1, 0);
  for (uint32_t k = 0; k + 1 < p.size; k++) {
    const uint32_t out = c->node[l->leader[tmb_coll_up(&p, p.rank, p.size - k)]];
    const uint32_t in = c->node[l->leader[tmb_coll_up(&p, p.rank, p.size - k - 1)]];
    tmb_sched_next(s);
    for (uint32_t r = 0; r < c->size; r++) {
      struct tmb_msg m = {.tag = r, .at = tmb_ref_at(c->dst, r * c->bytes), .bytes = c->bytes};
      if (c->node[r] == out) {
        m.peer = tmb_coll_up(&p, p.rank, 1);
        tmb_sched_send(s, &p, m);
      } else if (c->node[r] == in) {
        m.peer = tmb_coll_up(&p, p.rank, p.size - 1);
        m.flags = TMB_STEP_EARLY;
        tmb_sched_recv(s, &p, m);
      }
    }
  }
}

void tmb_alg_allgather_nodes(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  struct levels l;
  if (!levels_make(&l, c, UINT32_MAX)) {
    s->failed = true;
    return;
  }
  struct tmb_coll_shape p = inside(c, &l, 0);
  if (leads(&l)) {
    tmb_sched_copy(s, tmb_ref_at(c->dst, c->rank * c->bytes), c->src, c->bytes);
    for (uint32_t i = 0; i < l.mine_count; i++)
      if (i != l.head)
        tmb_sched_recv(s, &p,
                       (struct tmb_msg){i, 0, tmb_ref_at(c->dst, l.mine[i] * c->bytes), c->bytes,
                                        TMB_STEP_EARLY});
    node_ring(s, c, &l);
  } else {
    tmb_sched_send(s, &p, (struct tmb_msg){l.head, 0, c->src, c->bytes, 0});
  }
  tmb_sched_next(s);
  p = inside(c, &l, 2);
  p.bytes = c->size * c->bytes;
  p.src = c->dst;
  tmb_alg_bcast_knomial(s, &p);
  levels_free(&l);
}

void tmb_alg_sync_nodes(struct tmb_sched *s, const struct tmb_coll_shape *c) {
  struct levels l;
  if (!levels_make(&l, c, UINT32_MAX)) {
    s->failed = true;
    return;
  }
  const struct tmb_ref byte = tmb_sched_tmp(s, c->size);
  struct tmb_coll_shape p = inside(c, &l, 0);
  p.src = byte;
  p.dst = byte;
  p.bytes = 1;
  tmb_alg_gather_flat(s, &p);
  tmb_sched_next(s);
  p = among(c, &l, 1, 0);
  if (leads(&l)) tmb_alg_sync(s, &p);
  tmb_sched_next(s);
  p = inside(c, &l, 2);
  p.src = p.dst = byte;
  p.bytes = 1;
  tmb_alg_bcast_knomial(s, &p);
  levels_free(&l);
}
