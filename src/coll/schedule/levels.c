/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two levels of a team, see levels.h.
 *
 * Owns nothing. Called by the two-level forms. Calls: libc. Invariants: costs the number of nodes
 * in time and memory, not that of members.
 */
#include "coll/schedule/levels.h"

#include <stdlib.h>

bool tmb_levels_make(struct tmb_levels *l, struct tmb_sched *s, const struct tmb_coll_shape *c,
                     uint32_t root) {
  const struct tmb_coll_nodes *map = c->nodes;
  const uint32_t node = map->node[c->rank];
  *l = (struct tmb_levels){.map = map,
                           .mine = map->member + map->start[node],
                           .count = map->start[node + 1] - map->start[node],
                           .node = node};
  l->leader = malloc(map->count * sizeof *l->leader);
  if (!l->leader) {
    s->failed = true;
    return false;
  }
  for (uint32_t i = 0; i < map->count; i++)
    l->leader[i] = map->member[root == TMB_LEAD_LAST ? map->start[i + 1] - 1 : map->start[i]];
  if (root < c->size) l->leader[map->node[root]] = root;
  for (uint32_t i = 0; i < l->count; i++) {
    if (l->mine[i] == c->rank) l->rank = i;
    if (l->mine[i] == l->leader[node]) l->head = i;
  }
  l->leads = l->rank == l->head;
  return true;
}

void tmb_levels_free(struct tmb_levels *l) {
  free(l->leader);
}

struct tmb_coll_shape tmb_levels_inside(const struct tmb_coll_shape *c, const struct tmb_levels *l,
                                        uint32_t phase) {
  struct tmb_coll_shape p = *c;
  p.size = l->count;
  p.rank = l->rank;
  p.root = l->head;
  p.group = l->mine;
  p.tag = c->tag + phase * TMB_TAG_PHASE;
  p.nodes = NULL;
  return p;
}

bool tmb_levels_board(struct tmb_sched *s, const struct tmb_coll_shape *p, uint32_t kind) {
  if (!p->board || p->size == 1) return false;
  tmb_sched_board(s, kind, p->root, p->dst, p->src, p->bytes);
  return true;
}

struct tmb_coll_shape tmb_levels_among(const struct tmb_coll_shape *c, const struct tmb_levels *l,
                                       uint32_t phase) {
  struct tmb_coll_shape p = *c;
  p.size = l->map->count;
  p.rank = l->node;
  p.root = l->map->node[c->root];
  p.group = l->leader;
  p.tag = c->tag + phase * TMB_TAG_PHASE;
  p.nodes = NULL;
  return p;
}
