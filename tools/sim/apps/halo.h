/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges of halos on a described machine: the stencil and the hydrodynamics of study/apps.
 *
 * Owns: struct HaloCase, struct Phase. Called by models.cc. Calls: way.h. Ranks form a grid; in a
 * phase each computes, sends its edges to up to four neighbours and waits for theirs. Invariants: a
 * rank's time never goes back; ranks of a node share its link.
 */
#ifndef TMB_SIM_HALO_H
#define TMB_SIM_HALO_H

#include "sim/apps/way.h"

namespace sim {

/* One exchange and the computing after it. */
struct Phase {
  double flops, bytes;  /* of a cell: operations; bytes through the memory */
  double fields, depth; /* quantities of 8 bytes, and lines, that are exchanged */
};

struct HaloCase {
  uint64_t rows, columns; /* cells of the whole grid */
  bool one_dimension;     /* columns alone are divided */
  bool corners;           /* the four diagonal neighbours get their corners, too */
  bool overlap;           /* edges are computed and sent first, then the rest is computed */
  bool minimum;           /* each iteration ends with the smallest value of all ranks */
  bool blocking;          /* one neighbour after the other, each waited for */
  uint64_t times;         /* iterations */
  Notice notice;
  std::vector<Phase> phases; /* of one iteration */
};

struct HaloResult {
  double seconds; /* of one iteration, of the slowest rank */
  double compute; /* of these, its computing */
  double message; /* bytes of the longest message */
  double sleeps, looks, frames, work,
      line; /* of an iteration, see crowd.h; 0 where ranks share nothing */
};

/* The phases of the programs: a star of radius `width`; a step of hydrodynamics. */
std::vector<Phase> stencil_phases(uint64_t width);
std::vector<Phase> hydro_phases();

/* Simulate. Throws Error where ranks have too few cells. */
HaloResult halo_run(const Network &network, const HaloCase &c);

} // namespace sim

#endif
