/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchange of ghost cells and nodes with up to eight neighbours, and walls.
 *
 * Owns: struct halo. Called by hydro.c. Calls: links.h, grid.h. A group of quantities goes to each
 * neighbour as one message through buffers. Invariant: what lies in the segment lies there twice,
 * by parity of the exchange: a neighbour can be one exchange ahead, not two, because it needs this
 * rank's halos.
 */
#ifndef TMB_HYDRO_HALO_H
#define TMB_HYDRO_HALO_H

#include "grid.h"

#define SIDES          8
#define HALO_FIELD_MAX 5

/* Quantities that are exchanged together. */
struct halo_group {
  int depth, count;
  enum quantity field[HALO_FIELD_MAX];
};

struct halo {
  struct job *job;
  struct grid *grid;
  struct job_link links[SIDES];
  double *pack[SIDES]; /* messages in flight, by parity */
  size_t slot;         /* doubles of the largest message */
  long exchanges;
};

/* Bytes of segment that it needs; the same on all ranks. */
size_t halo_bytes(const struct grid *g);

/* Buffers; false if there is no memory for them. */
bool halo_allocate(struct halo *halo, struct job *job, struct grid *grid);
void halo_free(struct halo *halo);

/* Begin with the links of job->way. */
void halo_open(struct halo *halo);

/* Fill the ghosts of a group. */
void halo_exchange(struct halo *halo, const struct halo_group *group);

/* Fill those beyond the walls of a grid; halo_exchange does it, too. */
void halo_walls(struct grid *g, const struct halo_group *group);

#endif
