/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library's schedules on a described machine, message by message.
 *
 * Owns: struct CollCase, struct CollResult. Called by experiments.cc. Calls: network.h, plan.h.
 * Each rank is an actor that runs its own schedule by the rules of src/coll/engine/engine.h.
 * Invariants: receivers get the sent data, byte for byte.
 */
#ifndef TMB_SIM_COLLECTIVE_H
#define TMB_SIM_COLLECTIVE_H

#include "network.h"

namespace sim {

/* Transfer of a collective's data. AM: as the library does, by active messages that are copied at
 * both ends. PUT: puts with signal, into place. MESSAGE: send and receive. */
enum class Means { AM, PUT, MESSAGE };

struct CollCase {
  std::string kind, algorithm; /* see plan.h */
  uint64_t bytes;
  bool two_levels;
  Means means;
  uint64_t times; /* one after the other, each with the next root; at least 1 */
  uint64_t warm;  /* done before these, and not counted */
};

struct CollResult {
  std::string algorithm;
  double seconds; /* of one, in the mean, until the last rank has done it */
  double messages, sent, received, steps;
  double sleeps, line_sleeps; /* all: how often ranks, and the thread that serves the lines, were
                               * woken */
  double work_s, line_work_s; /* all: processor time of them */
  double packets, answers;    /* all: frames on the lines, see network.h */
};

/* The means of a name: am, put, message. Throws Error. */
Means coll_means(const std::string &name);

CollResult coll_run(Network &network, const CollCase &c);

} // namespace sim

#endif
