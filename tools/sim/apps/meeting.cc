/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers, see way.h.
 *
 * Owns: which rank notifies which in each round. Called by experiments.cc and by the models that
 * meet. Calls: way.h. A rank's time after a round is the later of its own and of what it waits for;
 * a message costs what a short active message costs. The torus's barrier is after the rectangle
 * protocols of the machine's messaging layer: a packet along a line of nodes is left at each of
 * them; the ranks of a node count on a board there. Source of dissemination: Hensgen, Finkel,
 * Manber, Int. J. Parallel Program. 17(1), 1988. Invariants: all ranks enter at 0.
 */
#include "sim/apps/way.h"

#include <algorithm>

namespace sim {
namespace {

using Times = std::vector<double>;

/* One rank after the other notifies its node's first rank, or is notified by it: a tree inside the
 * node.
 */
double inside(const Network &network, const Ways &ways) {
  const uint64_t cores = std::min(network.machine().count("cores_per_node"), network.ranks());
  double seconds = 0;
  for (uint64_t reach = 1; reach < cores; reach *= 2)
    seconds += ways.short_send(true) + ways.short_way(0, 0) + ways.short_take(true);
  return seconds;
}

/* Round of a dissemination: each of `at` waits for the one `reach` before it; member i is rank
 * i * stride. */
void disseminate(const Network &network, const Ways &ways, Times &at, uint64_t stride) {
  const uint64_t count = at.size();
  for (uint64_t reach = 1; reach < count; reach *= 2) {
    Times next(count);
    for (uint64_t i = 0; i < count; i++) {
      const uint64_t from = (i + count - reach) % count, a = from * stride, b = i * stride;
      const bool near = network.near(a, b);
      const double sent = at[i] + ways.short_send(network.near(b, (i + reach) % count * stride));
      const double notified = at[from] + ways.short_send(near) + ways.short_way(a, b);
      next[i] = std::max(sent, notified) + ways.short_take(near);
    }
    at = next;
  }
}

/* Up to rank 0 and down again; children of rank i are i + 2^k below its lowest set bit. */
double binomial(const Network &network, const Ways &ways) {
  const uint64_t size = network.ranks();
  Times at(size, 0);
  auto hop = [&](uint64_t a, uint64_t b) {
    const bool near = network.near(a, b);
    at[a] += ways.short_send(near);
    at[b] = std::max(at[b], at[a] + ways.short_way(a, b)) + ways.short_take(near);
  };
  uint64_t top = 1;
  while (top < size) top *= 2;
  for (uint64_t step = 1; step < top; step *= 2)
    for (uint64_t parent = 0; parent + step < size; parent += 2 * step) hop(parent + step, parent);
  for (uint64_t step = top / 2; step >= 1; step /= 2)
    for (uint64_t parent = 0; parent + step < size; parent += 2 * step) hop(parent, parent + step);
  return *std::max_element(at.begin(), at.end());
}

/* Along each dimension a node sends one packet that all nodes of the line get; it waits for one of
 * each of them. */
double along_lines(const Network &network) {
  const Machine &m = network.machine();
  double seconds = 0;
  for (const unsigned long length : network.lengths()) {
    const double hops = static_cast<double>(network.closed() ? length / 2 : length - 1);
    seconds += m.get("put_overhead_s") + 2 * m.get("node_latency_s") +
               hops * m.get("link_latency_s") + m.get("am_receive_s");
  }
  return seconds;
}

} // namespace

Meeting meeting_of(const std::string &name) {
  static const std::pair<const char *, Meeting> names[] = {
      {"interrupt", Meeting::INTERRUPT},
      {"torus", Meeting::TORUS},
      {"binomial", Meeting::BINOMIAL},
      {"dissemination", Meeting::DISSEMINATION},
      {"nodes", Meeting::NODES}};
  if (name.empty()) return Meeting::NODES;
  for (const auto &n : names)
    if (name == n.first) return n.second;
  throw Error("--algorithm " + name + ": give interrupt, torus, binomial, dissemination or nodes");
}

double meeting_seconds(const Network &network, Meeting kind) {
  const Machine &m = network.machine();
  const Ways ways(network, Notice::SIGNAL, false);
  if (network.ranks() == 1) return 0;
  const double node = inside(network, ways), board = m.get("near_latency_s");
  if (kind == Meeting::INTERRUPT) {
    if (m.get("barrier_s") <= 0)
      throw Error("--algorithm interrupt: machine " + m.name +
                  " has no such network (barrier_s is 0); give another algorithm");
    return 2 * board + m.get("barrier_s");
  }
  if (kind == Meeting::TORUS) {
    if (network.lengths().empty())
      throw Error("--algorithm torus: machine " + m.name + " is none; give another algorithm");
    return 2 * board + (network.nodes() > 1 ? along_lines(network) : 0);
  }
  if (kind == Meeting::BINOMIAL) return binomial(network, ways);
  const bool levels = kind == Meeting::NODES;
  const uint64_t stride = levels ? std::min(m.count("cores_per_node"), network.ranks()) : 1;
  Times at((network.ranks() + stride - 1) / stride, 0);
  disseminate(network, ways, at, stride);
  return (levels ? 2 * node : 0) + *std::max_element(at.begin(), at.end());
}

} // namespace sim
