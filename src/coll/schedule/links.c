/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chains and trees of pipelined algorithms, see links.h.
 *
 * Owns nothing. Called by alg_bcast.c and alg_reduce.c. Calls: levels.c. In a binary tree a member
 * comes before those below it, and these are a range of ranks counted from the root: neighbours,
 * which are near each other in most networks, are below one another, and a reduction keeps the
 * order of ranks. The numbering is that of one tree of the two in P. Sanders, J. Speck, J. Traeff,
 * Parallel Computing 35, 2009, doi:10.1016/j.parco.2009.09.001. Invariants: see links.h.
 */
#include "coll/schedule/links.h"

#include "coll/schedule/levels.h"

/* Neighbours of a member, counted from the root. */
struct place {
  uint32_t above, below[2], count;
};

static struct place place_in_chain(uint32_t vrank, uint32_t size) {
  return (struct place){vrank - 1, {vrank + 1, 0}, vrank + 1 < size};
}

static struct place place_in_tree(uint32_t vrank, uint32_t size) {
  uint32_t first = 0, end = size, above = 0; /* [first, end): the subtree whose root is first */
  while (first != vrank) {
    const uint32_t second = first + 1 + (end - first) / 2;
    above = first;
    if (vrank < second) {
      first++;
      end = second;
    } else {
      first = second;
    }
  }
  const uint32_t second = first + 1 + (end - first) / 2;
  return (struct place){above, {first + 1, second}, (first + 1 < end) + (second < end)};
}

/* Add the neighbours in the group of a shape. */
static void add(struct tmb_coll_links *l, const struct tmb_coll_shape *c, uint32_t root,
                enum tmb_links_form form) {
  const uint32_t vrank = tmb_coll_up(c, c->rank, c->size - root);
  const struct place place =
      form == TMB_LINKS_CHAIN ? place_in_chain(vrank, c->size) : place_in_tree(vrank, c->size);
  if (vrank) {
    l->top = false;
    l->above = tmb_coll_member(c, tmb_coll_up(c, place.above, root));
  }
  for (uint32_t i = 0; i < place.count; i++)
    l->below[l->count++] = tmb_coll_member(c, tmb_coll_up(c, place.below[i], root));
}

bool tmb_coll_links_make(struct tmb_coll_links *l, struct tmb_sched *s,
                         const struct tmb_coll_shape *c, uint32_t root, enum tmb_links_form form,
                         bool by_nodes) {
  struct tmb_levels levels;
  *l = (struct tmb_coll_links){.top = true};
  if (!by_nodes || !c->nodes) {
    add(l, c, root, form);
    return true;
  }
  if (!tmb_levels_make(&levels, s, c, root)) return false;
  const struct tmb_coll_shape among = tmb_levels_among(c, &levels, 0);
  const struct tmb_coll_shape inside = tmb_levels_inside(c, &levels, 0);
  if (levels.leads) add(l, &among, c->nodes->node[root], form);
  l->board = c->board && inside.size > 1;
  l->head = inside.root;
  if (!c->board) add(l, &inside, inside.root, TMB_LINKS_TREE);
  tmb_levels_free(&levels);
  return true;
}
