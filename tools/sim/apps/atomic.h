/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rates of remote fetch-and-add on a described machine.
 *
 * Owns: struct AtomicCase, struct AtomicResult. Called by models.cc. Calls: way.h. Each rank does
 * one operation after the other. Invariants: the unit that executes operations on a word does one
 * at a time; equal cases give equal results, also where words are drawn at random.
 */
#ifndef TMB_SIM_ATOMIC_H
#define TMB_SIM_ATOMIC_H

#include "sim/network.h"

namespace sim {

/* HOT: all ranks use a word of rank 0. SPREAD: one of any rank, drawn at random. NEXT: of the equal
 * rank of the next node. */
enum class Place { HOT, SPREAD, NEXT };

/* OWNER: the owner's processor, in a handler. NIC: the adapter of the owner's node. */
enum class Executor { OWNER, NIC };

struct AtomicCase {
  Place place;
  Executor means;
  uint64_t count; /* operations of each rank */
};

struct AtomicResult {
  double rate;    /* operations a second, of all ranks */
  double latency; /* seconds of one, in the mean */
};

Place atomic_place(const std::string &name);
Executor atomic_means(const std::string &name);

AtomicResult atomic_run(const Network &network, const AtomicCase &c);

} // namespace sim

#endif
