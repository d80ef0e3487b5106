/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The experiments of `tombolo sim`: input and output of each.
 *
 * Owns: struct Experiment, struct Result. Called by main.cc; defined in experiments.cc. Calls:
 * ft.h, collective.h, links.h. Invariants: equal arguments give equal results, to the last bit.
 */
#ifndef TMB_SIM_EXPERIMENTS_H
#define TMB_SIM_EXPERIMENTS_H

#include "machine.h"

namespace sim {

/* Sizes of the applications' models. */
struct AppSizes {
  uint64_t rows = 1000, columns = 1000, group = 1, block = 64, overlap = 1, width = 1, blocking = 0;
};

/* Values of the command line; 0 and empty: not given. */
struct Experiment {
  std::string name, way, kind, algorithm, flows;
  uint64_t points[3] = {0, 0, 0}, grid[2] = {0, 0};
  uint64_t ranks = 2, bytes = 8, levels = 0, links = 1, count = 64, times = 1, warm = 0;
  bool one_dimension = false, native = false;
  AppSizes app;
};

/* Values are in seconds, bytes, flops and counts, as the end of the name says. */
struct Result {
  std::map<std::string, std::string> texts;
  std::map<std::string, double> values;
};

/* All experiments, for messages. */
std::string experiment_names();

/* Simulate once. Throws Error for mistakes that the user can repair. Once in a process. */
Result run_experiment(const Machine &machine, const Experiment &e);

} // namespace sim

#endif
