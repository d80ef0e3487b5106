/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machine's own collectives, see native.h.
 *
 * Owns: their formulas. Called by models.cc. Calls: network.h. The tree network combines and copies
 * in its hardware, at the rate of a link. On the torus a packet is left at each node of a line, and
 * the root sends parts of the vector over all of its links at once, each along another order of the
 * dimensions (the rectangle protocols of the machine's messaging layer). The ranks of a node copy
 * from the one that communicates. Invariants: all ranks enter at 0.
 */
#include "sim/apps/native.h"

#include <algorithm>

namespace sim {
namespace {

/* Seconds from the start along one line of nodes after the other, without data. */
double lines(const Network &network) {
  const Machine &m = network.machine();
  double seconds = 0;
  for (const unsigned long length : network.lengths())
    seconds +=
        m.get("put_overhead_s") + 2 * m.get("node_latency_s") +
        static_cast<double>(network.closed() ? length / 2 : length - 1) * m.get("link_latency_s");
  return seconds;
}

/* Bytes a second out of a node over all of its links; the root of a mesh is at its corner. */
double all_links(const Network &network) {
  const double links = static_cast<double>(network.lengths().size()) * (network.closed() ? 2 : 1);
  return links * network.rail_bytes_per_s();
}

double over_tree(const Machine &m, const std::string &kind, double bytes) {
  const double up = kind == "allreduce" ? m.get("tree_latency_s") : 0;
  const double rate = std::min(m.get("tree_bytes_per_s"), m.get("near_bytes_per_s"));
  return m.get("put_overhead_s") + up + m.get("tree_latency_s") + bytes / rate +
         m.get("put_done_s");
}

double over_torus(const Network &network, const std::string &kind, double bytes) {
  const Machine &m = network.machine();
  const double rate = std::min(all_links(network), m.get("near_bytes_per_s"));
  const double once = lines(network) + bytes / rate + m.get("put_done_s");
  if (kind == "broadcast") return once;
  /* Parts are added up along the lines, then all parts go to all. */
  return 2 * once + bytes / m.get("copy_bytes_per_s");
}

} // namespace

double native_seconds(const Network &network, const std::string &kind, const std::string &net,
                      double bytes) {
  const Machine &m = network.machine();
  if (kind != "broadcast" && kind != "allreduce")
    throw Error("--kind " + kind + ": give broadcast or allreduce");
  if (net != "tree" && net != "torus") throw Error("--algorithm " + net + ": give tree or torus");
  if (net == "tree" && m.get("tree_bytes_per_s") <= 0)
    throw Error("--algorithm tree: machine " + m.name +
                " has no tree (tree_bytes_per_s is 0); give another machine");
  if (net == "torus" && network.lengths().empty())
    throw Error("--algorithm torus: machine " + m.name + " is none; give another machine");
  /* Into and out of the node's other ranks: a hand-over, and where data are added up a copy. */
  const double cores = std::min(m.get("cores_per_node"), static_cast<double>(network.ranks()));
  const double within =
      cores > 1
          ? (kind == "allreduce"
                 ? 2 * m.get("near_latency_s") + (cores - 1) * bytes / m.get("copy_bytes_per_s")
                 : m.get("near_latency_s"))
          : 0;
  if (network.nodes() == 1) return within;
  return within + (net == "tree" ? over_tree(m, kind, bytes) : over_torus(network, kind, bytes));
}

} // namespace sim
