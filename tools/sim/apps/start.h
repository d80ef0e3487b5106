/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The start of a job: agents, processes, their messages to each other, memory.
 *
 * Owns: the declaration of start.cc. Called by models.cc. Calls: network.h, way.h. Invariants:
 * times are sums of the machine's parameters.
 */
#ifndef TMB_SIM_START_H
#define TMB_SIM_START_H

#include "sim/network.h"

namespace sim {

/* Seconds from the launcher's begin until all ranks have left their first barrier, in steps that
 * follow each other; and the memory of a rank. */
struct StartResult {
  double agents;    /* an agent runs on each node */
  double processes; /* all ranks have joined, but for the exchange among them */
  double cards;     /* each rank knows all others: once to join, once for their segments */
  double barrier;
  double memory; /* bytes of a rank */

  double seconds() const { return agents + processes + cards + barrier; }
};

/* in network: of all ranks. Throws Error where the machine does not describe it. */
StartResult start_run(const Network &network);

} // namespace sim

#endif
