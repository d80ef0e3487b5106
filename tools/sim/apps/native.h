/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machine's own collectives: over its tree network, and over all links of a torus.
 *
 * Owns: the declaration of native.cc. Called by models.cc. Calls: network.h. Invariants: times are
 * sums of the machine's parameters; a machine without the network is refused.
 */
#ifndef TMB_SIM_NATIVE_H
#define TMB_SIM_NATIVE_H

#include "sim/network.h"

namespace sim {

/* Seconds of a collective of all ranks. in kind: broadcast, allreduce; net: tree, torus; bytes: of
 * the vector. Throws Error. */
double native_seconds(const Network &network, const std::string &kind, const std::string &net,
                      double bytes);

} // namespace sim

#endif
