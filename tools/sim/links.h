/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks, and a node with its neighbours: times and bandwidth by size of the message.
 *
 * Owns: the declarations of links.cc. Called by experiments.cc. Calls: network.h. Invariants: the
 * results for one message are the sum of its costs, so that they can be computed by hand.
 */
#ifndef TMB_SIM_LINKS_H
#define TMB_SIM_LINKS_H

#include "network.h"

namespace sim {

/* PUT: until it is known to be complete. MESSAGE: send, receive, and an empty answer. SIGNAL: put
 * with signal, until the target knows. PUT_SIGNAL: a put, and when it is complete a put of a flag,
 * until the target knows. */
enum class Trip { PUT, MESSAGE, SIGNAL, PUT_SIGNAL };

/* The trip of a name: put, message, signal, put-then-signal. Throws Error. */
Trip trip_of(const std::string &name);

/* Seconds of one message from rank 0 to the last rank. */
double trip_run(Network &network, Trip trip, uint64_t bytes);

/* Bytes a second that leave node 0 when it sends `count` messages to each of `links` neighbours and
 * gets as many back, with one core. Way PUT or MESSAGE. */
double links_run(Network &network, Trip way, uint64_t links, uint64_t bytes, uint64_t count);

} // namespace sim

#endif
