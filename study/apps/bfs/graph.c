/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drawing of the graph, see graph.h.
 *
 * Owns: its arrays. Called by bfs.c. Calls nothing. Every edge is drawn twice on each rank: once to
 * count the neighbours of its vertices, once to note them.
 */
#include "graph.h"

#include "lib/mix.h"

#include <stdlib.h>

/* Vertices are renamed, so that hubs are anywhere: a bijection of numbers below 2^scale. */
static uint64_t rename_vertex(uint64_t v, int scale) {
  const uint64_t mask = ((uint64_t)1 << scale) - 1;
  v = (v * 0x9e3779b97f4a7c15u) & mask; /* odd factor */
  v ^= v >> (scale / 2 + 1);
  return (v * 0xd1342543de82ef95u + 12345) & mask;
}

static void edge(uint64_t number, int scale, uint64_t *from, uint64_t *to) {
  uint64_t random = mix_next(number), a = 0, b = 0;
  for (int bit = 0; bit < scale; bit++) {
    random = mix_next(random);
    const uint64_t share = random % 100;
    a = a << 1 | (share >= 76);                                /* 0.57 + 0.19 */
    b = b << 1 | ((share >= 57 && share < 76) || share >= 95); /* 0.19, 0.05 */
  }
  *from = rename_vertex(a, scale);
  *to = rename_vertex(b, scale);
}

/* One end of an edge, if it is this rank's: count it, or note the other end. */
static void end_of_edge(struct graph *g, uint64_t v, uint64_t other, bool counting) {
  if (graph_rank(g, v) != g->rank) return;
  const size_t n = graph_number(g, v);
  if (counting)
    g->first[n + 1]++;
  else
    g->neighbour[g->first[n]++] = other;
}

static void draw(struct graph *g, int scale, bool counting) {
  for (uint64_t k = 0; k < g->vertices * EDGES_A_VERTEX; k++) {
    uint64_t a, b;
    edge(k, scale, &a, &b);
    if (a == b) continue;
    end_of_edge(g, a, b, counting);
    end_of_edge(g, b, a, counting);
  }
}

double graph_bytes(int scale, int size) {
  const double own = (double)((uint64_t)1 << scale) / size + 1;
  return own * (2 * EDGES_A_VERTEX * sizeof(uint64_t) + 6 * sizeof(uint64_t));
}

bool graph_make(struct graph *g, int scale, int rank, int size) {
  *g = (struct graph){.rank = rank, .size = size, .vertices = (uint64_t)1 << scale};
  g->own = (size_t)((g->vertices + (uint64_t)size - 1 - (uint64_t)rank) / (uint64_t)size);
  g->first = calloc(g->own + 2, sizeof *g->first);
  if (!g->first) return false;
  draw(g, scale, true);
  for (size_t n = 0; n < g->own; n++) g->first[n + 1] += g->first[n];
  g->neighbour = malloc((g->first[g->own] + 1) * sizeof *g->neighbour);
  if (!g->neighbour) return false;
  draw(g, scale, false);
  for (size_t n = g->own; n > 0; n--) g->first[n] = g->first[n - 1]; /* each had become its end */
  g->first[0] = 0;
  return true;
}

void graph_free(struct graph *g) {
  free(g->first);
  free(g->neighbour);
}
