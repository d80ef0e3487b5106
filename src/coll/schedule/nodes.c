/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Grouping ranks by node, see nodes.h.
 *
 * Owns nothing. Called by plan.c and tests. Calls: libc. Invariants: a pure function of the labels,
 * so that all members of a team see equal nodes.
 */
#include "coll/schedule/nodes.h"

#include <stdlib.h>

/* Number the nodes in the order of their first ranks. in number: [labels], all 0. Returns how many.
 */
static uint32_t number(uint32_t *node, uint32_t *of, const uint32_t *label, uint32_t size) {
  uint32_t count = 0;
  for (uint32_t r = 0; r < size; r++) {
    if (!of[label[r]]) of[label[r]] = ++count;
    node[r] = of[label[r]] - 1;
  }
  return count;
}

/* Fill start and member from node; `next` has room for a word for each node. */
static void sort(struct tmb_coll_nodes *n, uint32_t size, uint32_t *next) {
  for (uint32_t i = 0; i <= n->count; i++) n->start[i] = 0;
  for (uint32_t r = 0; r < size; r++) n->start[n->node[r] + 1]++;
  for (uint32_t i = 0; i < n->count; i++) {
    if (n->start[i + 1] > n->largest) n->largest = n->start[i + 1];
    n->start[i + 1] += n->start[i];
    next[i] = n->start[i];
  }
  n->ranges = true;
  for (uint32_t r = 0; r < size; r++) {
    const uint32_t at = next[n->node[r]]++;
    n->member[at] = r;
    n->ranges &= at == r;
  }
}

struct tmb_coll_nodes *tmb_coll_nodes_make(const uint32_t *label, uint32_t size, uint32_t labels) {
  uint32_t *of = calloc((size_t)labels + 1, sizeof *of);
  uint32_t *node = malloc(((size_t)size + 1) * sizeof *node);
  struct tmb_coll_nodes *n = NULL;
  if (!of || !node) goto done;
  const uint32_t count = number(node, of, label, size);
  n = malloc(sizeof *n + ((size_t)2 * size + count + 1) * sizeof(uint32_t));
  if (!n) goto done;
  *n = (struct tmb_coll_nodes){.count = count, .node = (uint32_t *)(n + 1)};
  n->member = n->node + size;
  n->start = n->member + size;
  for (uint32_t r = 0; r < size; r++) n->node[r] = node[r];
  sort(n, size, of);
done:
  free(of);
  free(node);
  return n;
}
