/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A large random graph with few hubs, divided among ranks.
 *
 * Owns: struct graph. Called by bfs.c. Calls nothing. Edges as the Graph500 benchmark draws them
 * (D. Chakrabarti, Y. Zhan, C. Faloutsos, "R-MAT: a recursive model for graph mining", SDM 2004,
 * with 0.57, 0.19, 0.19, 0.05); each rank draws all and keeps those at its vertices. Vertex v
 * belongs to rank v % size, where it has number v / size.
 */
#ifndef TMB_BFS_GRAPH_H
#define TMB_BFS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EDGES_A_VERTEX 16

struct graph {
  int rank, size;
  uint64_t vertices; /* of all ranks, a power of 2 */
  size_t own;        /* of this rank */
  size_t *first;     /* [own + 1] into neighbour[] */
  uint64_t *neighbour;
};

static inline int graph_rank(const struct graph *g, uint64_t v) {
  return (int)(v % (uint64_t)g->size);
}

static inline size_t graph_number(const struct graph *g, uint64_t v) {
  return (size_t)(v / (uint64_t)g->size);
}

static inline uint64_t graph_vertex(const struct graph *g, size_t number) {
  return (uint64_t)number * (uint64_t)g->size + (uint64_t)g->rank;
}

/* Bytes of one rank's part of such a graph and of its search, about. */
double graph_bytes(int scale, int size);

/* Draw a graph of 2^scale vertices. Returns false without memory. */
bool graph_make(struct graph *g, int scale, int rank, int size);
void graph_free(struct graph *g);

#endif
