/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The start of a job, see start.h.
 *
 * Owns: its formulas. Called by models.cc. Calls: way.h. The launcher starts an agent on each node,
 * agents start others where there are more than agent_children. Each agent starts its ranks, which
 * share the processors of the node. Nodes exchange the cards of their ranks in log2 rounds of
 * doubled length. Invariants: nothing is fitted; a machine's file says where each cost comes from.
 */
#include "sim/apps/start.h"

#include "sim/apps/way.h"

#include <algorithm>

namespace sim {
namespace {

/* Levels of the tree of agents below the launcher. */
uint64_t levels(uint64_t nodes, uint64_t children) {
  uint64_t levels = 0;
  for (uint64_t reached = 1, level = 1; reached < nodes; levels++)
    reached += level = std::min(level * children, nodes);
  return levels;
}

/* Number of ranks that follow each other on a processor; 1 where each has its own. */
double turns(const Network &network) {
  const double shared = network.machine().get("shared_processors");
  return shared > 0 ? std::max(1.0, static_cast<double>(network.ranks()) / shared) : 1;
}

/* One exchange of the cards of all nodes. */
double exchange(const Network &network, const Ways &ways) {
  const Machine &m = network.machine();
  const uint64_t nodes = network.nodes(), cores = m.count("cores_per_node");
  double seconds = 0;
  for (uint64_t reach = 1; reach < nodes; reach *= 2) {
    const uint64_t ranks = std::min(reach, nodes - reach) * cores;
    seconds += ways.short_send(false) + ways.short_way(0, std::min(cores, network.ranks() - 1)) +
               ways.short_take(false) +
               static_cast<double>(ranks) * m.get("card_bytes") / m.get("link_bytes_per_s");
  }
  return seconds;
}

} // namespace

StartResult start_run(const Network &network) {
  const Machine &m = network.machine();
  if (m.get("process_s") <= 0)
    throw Error(
        "start: machine " + m.name +
        " does not say what a process costs (process_s is 0); give ethernet, or a file that "
        "does");
  const Ways ways(network, Notice::SIGNAL, false);
  const double ranks = static_cast<double>(network.ranks());
  const double rank = m.get("process_s") + m.get("join_s") + ranks * m.get("join_peer_s");
  StartResult r{};
  r.agents =
      m.get("agent_s") * static_cast<double>(levels(network.nodes(), m.count("agent_children")));
  r.processes = turns(network) * rank;
  r.cards = 2 * exchange(network, ways);
  r.barrier = meeting_seconds(network, Meeting::NODES);
  r.memory = m.get("rank_bytes") + ranks * m.get("peer_bytes");
  return r;
}

} // namespace sim
