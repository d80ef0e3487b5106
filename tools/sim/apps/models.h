/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The models of applications as experiments of `tombolo sim`.
 *
 * Owns: the mapping of experiments to models, and the names of results. Called by experiments.cc.
 * Calls: the models of this folder. Invariants: arguments that a model does not know are refused
 * with the remedy.
 */
#ifndef TMB_SIM_MODELS_H
#define TMB_SIM_MODELS_H

#include "sim/experiments.h"
#include "sim/network.h"

namespace sim {

/* Whether an experiment is a model; the names of all, for messages. */
bool model_known(const std::string &name);
std::string model_names();

/* Run it. in network: of e.ranks ranks. Throws Error. */
Result model_run(Network &network, const Experiment &e);

} // namespace sim

#endif
