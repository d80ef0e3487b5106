/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The synchronised pipeline (study/apps/pipeline) on a described machine.
 *
 * Owns: struct WaveCase, struct WaveResult. Called by experiments.cc. Calls: way.h. Columns are
 * divided among the ranks; a rank computes `group` rows when the last values of its left neighbour
 * are there. Invariants: each rank has at least two columns; a rank's time never goes back.
 */
#ifndef TMB_SIM_WAVE_H
#define TMB_SIM_WAVE_H

#include "sim/apps/way.h"

namespace sim {

struct WaveCase {
  uint64_t rows, columns, group;
  uint64_t times; /* iterations; the corner goes back after each */
  Notice notice;
  bool blocking; /* flags, see class Ways */
};

struct WaveResult {
  double seconds; /* of one iteration */
  double compute; /* of the rank that computes longest */
  double sleeps, looks, frames, work,
      line; /* of an iteration, see crowd.h; 0 where ranks share nothing */
};

WaveResult wave_run(const Network &network, const WaveCase &c);

} // namespace sim

#endif
