/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers, see way.h.
 *
 * Owns: which rank notifies which in each round. Called by experiments.cc and by the models that
 * meet. Calls: way.h. A rank's time after a round is the later of its own and of the awaited one; a
 * message costs as much as a short active message. The torus's barrier is after the rectangle
 * protocols of the machine's messaging layer: a packet along a line of nodes is left at each of
 * them; the ranks of a node count on a board there. Source of dissemination: Hensgen, Finkel,
 * Manber, Int. J. Parallel Program. 17(1), 1988. Invariants: all ranks enter at 0.
 */
#include "sim/apps/way.h"

#include <algorithm>
#include <numeric>

namespace sim {
namespace {

using Times = std::vector<double>;

/* Rounds of a dissemination: each rank waits for the one `reach` before it. Returns the end. */
double disseminate(const Network &network, const Ways &ways) {
  const uint64_t count = network.ranks();
  Times at(count, 0);
  for (uint64_t reach = 1; reach < count; reach *= 2) {
    Times next(count);
    for (uint64_t i = 0; i < count; i++) {
      const uint64_t from = (i + count - reach) % count;
      const bool near = network.near(from, i);
      const double sent = at[i] + ways.short_send(network.near(i, (i + reach) % count));
      const double notified = at[from] + ways.short_send(near) + ways.short_way(from, i);
      next[i] = std::max(sent, notified) + ways.short_take(near);
    }
    at = next;
  }
  return *std::max_element(at.begin(), at.end());
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
  return name.empty() ? Meeting::NODES : choose("--algorithm", name, names);
}

double meeting_seconds(const Network &network, Meeting kind) {
  const Machine &m = network.machine();
  const Ways ways(network, Notice::SIGNAL, false);
  if (network.ranks() == 1) return 0;
  const double board = m.get("near_latency_s");
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
  if (kind == Meeting::DISSEMINATION) return disseminate(network, ways);
  Times at(network.ranks(), 0);
  NodeBarrier(network).meet(at);
  return *std::max_element(at.begin(), at.end());
}

NodeBarrier::NodeBarrier(const Network &network)
    : cores_(std::min(network.machine().count("cores_per_node"), network.ranks())),
      nodes_((network.ranks() + cores_ - 1) / cores_),
      hand_(network.machine().get("near_latency_s")),
      wake_(network.machine().get("host_s_per_wake")),
      processors_(network.machine().count("shared_processors")), lead_(nodes_), next_(nodes_),
      order_(nodes_) {
  const Ways ways(network, Notice::SIGNAL, false);
  send_ = ways.short_send(false);
  take_ = ways.short_take(false);
  for (uint64_t reach = 1; reach < nodes_; reach *= 2) {
    way_.emplace_back(nodes_);
    for (uint64_t i = 0; i < nodes_; i++)
      way_.back()[i] = ways.short_way((i + nodes_ - reach) % nodes_ * cores_, i * cores_);
  }
  std::iota(order_.begin(), order_.end(), 0);
}

/* A leader knows of the last rank of its node a hand-over after that has come. */
void NodeBarrier::gather(const Times &at) const {
  for (uint64_t n = 0; n < nodes_; n++) {
    const uint64_t first = n * cores_, end = std::min<uint64_t>(first + cores_, at.size());
    double last = first + 1 < end ? *std::max_element(&at[first + 1], &at[end - 1] + 1) + hand_ : 0;
    lead_[n] = std::max(at[first], last);
  }
}

void NodeBarrier::disseminate() const {
  uint64_t reach = 1;
  for (const Times &way : way_) {
    for (uint64_t i = 0; i < nodes_; i++) {
      const double notified = lead_[(i + nodes_ - reach) % nodes_] + send_ + way[i];
      next_[i] = std::max(lead_[i] + send_, notified) + take_;
    }
    lead_.swap(next_);
    reach *= 2;
  }
}

/* A leader goes on at once, the other ranks of its node a hand-over later, or when a processor has
 * woken them. */
void NodeBarrier::release(Times &at) const {
  Times busy(processors_);
  if (processors_)
    std::stable_sort(order_.begin(), order_.end(),
                     [this](uint64_t a, uint64_t b) { return lead_[a] < lead_[b]; });
  for (const uint64_t n : order_) {
    const uint64_t first = n * cores_, end = std::min<uint64_t>(first + cores_, at.size());
    at[first] = lead_[n];
    for (uint64_t r = first + 1; r < end; r++) {
      at[r] = lead_[n] + hand_;
      if (!processors_) continue;
      double &free = *std::min_element(busy.begin(), busy.end());
      free = std::max(free, lead_[n]) + wake_;
      at[r] = std::max(at[r], free);
    }
  }
}

void NodeBarrier::meet(Times &at) const {
  if (at.size() < 2) return;
  gather(at);
  disseminate();
  release(at);
}

} // namespace sim
