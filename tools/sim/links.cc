/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks, and a node with its neighbours, see links.h.
 *
 * Owns: the order of events of one message. Called by experiments.cc. Calls: SimGrid. A message
 * above the eager limit asks its receiver first; the data follow the answer. Invariants: WINDOW
 * messages are in progress to a neighbour.
 */
#include "links.h"

#include <algorithm>

namespace sim {
namespace {

namespace s4u = simgrid::s4u;

constexpr size_t WINDOW = 16;
constexpr double NOTICE_BYTES = 64;

void carry(const Network &n, s4u::Host *from, s4u::Host *to, double bytes) {
  if (from != to) s4u::this_actor::sleep_for(2 * n.machine().get("node_latency_s"));
  s4u::Comm::sendto(from, to, static_cast<uint64_t>(std::max(bytes, 1.0)));
}

/* Both ends of one message: the actor walks with it. */
void put(Network &n, s4u::Host *from, s4u::Host *to, double bytes) {
  s4u::this_actor::sleep_for(n.machine().get("put_overhead_s") +
                             bytes / n.machine().get("put_bytes_per_s"));
  carry(n, from, to, bytes);
}

void message(Network &n, s4u::Host *from, s4u::Host *to, double bytes) {
  const Machine &m = n.machine();
  const bool eager = bytes <= m.get("eager_bytes_max");
  const double copy = eager ? bytes / m.get("copy_bytes_per_s") : 0;
  s4u::this_actor::sleep_for(m.get("message_send_s") + copy);
  if (!eager) {
    carry(n, from, to, NOTICE_BYTES);
    s4u::this_actor::sleep_for(m.get("rendezvous_s"));
    carry(n, to, from, NOTICE_BYTES);
  }
  carry(n, from, to, bytes);
  s4u::this_actor::sleep_for(m.get("message_receive_s") + m.get("match_entry_s") + copy);
}

void trip(Network &n, Trip kind, double bytes) {
  s4u::Host *const from = n.host_of(0), *const to = n.host_of(n.ranks() - 1);
  const Machine &m = n.machine();
  switch (kind) {
  case Trip::PUT:
    put(n, from, to, bytes);
    carry(n, to, from, 1);
    s4u::this_actor::sleep_for(m.get("put_done_s"));
    break;
  case Trip::MESSAGE:
    message(n, from, to, bytes);
    message(n, to, from, 0);
    break;
  case Trip::SIGNAL:
    s4u::this_actor::sleep_for(m.get("signal_overhead_s") + bytes / m.get("put_bytes_per_s"));
    carry(n, from, to, bytes);
    break;
  case Trip::PUT_SIGNAL:
    put(n, from, to, bytes);
    carry(n, to, from, 1);
    s4u::this_actor::sleep_for(m.get("put_done_s"));
    put(n, from, to, 8);
    break;
  }
}

/* ---- a node and its neighbours */

/* The nodes nearest to node 0, so many as are asked for, each over another first link. */
std::vector<s4u::Host *> neighbours(const Network &n, uint64_t links) {
  std::vector<s4u::Host *> found;
  std::vector<const s4u::Link *> used;
  for (size_t hops = 1; hops <= 8 && found.size() < links; hops++)
    for (uint64_t node = 1; node < n.nodes() && found.size() < links; node++) {
      std::vector<s4u::Link *> route;
      double latency = 0;
      n.host(0)->route_to(n.host(node), route, &latency);
      if (route.size() != hops) continue;
      if (hops == 1 && std::find(used.begin(), used.end(), route[0]) != used.end()) continue;
      used.push_back(route[0]);
      found.push_back(n.host(node));
    }
  return found;
}

/* One message in progress at a time in each direction to each neighbour and place of the window. A
 * node has one processor for all its messages. */
struct Stream {
  Network &n;
  Trip way;
  double bytes;
  uint64_t count;
  s4u::Host *from, *to;
  s4u::MutexPtr core_from, core_to;
};

void work(const s4u::MutexPtr &core, double seconds) {
  core->lock();
  s4u::this_actor::sleep_for(seconds);
  core->unlock();
}

void stream(const Stream &s) {
  const Machine &m = s.n.machine();
  const bool eager = s.bytes <= m.get("eager_bytes_max");
  const double copy = eager ? s.bytes / m.get("copy_bytes_per_s") : 0;
  const double receive = m.get("message_receive_s") + copy + (eager ? 0 : m.get("rendezvous_s")) +
                         m.get("match_entry_s") * static_cast<double>(WINDOW) / 2;
  double latency = 0;
  std::vector<s4u::Link *> route;
  s.from->route_to(s.to, route, &latency);
  latency += 2 * m.get("node_latency_s");
  for (uint64_t i = 0; i < s.count; i++) {
    if (s.way == Trip::PUT) {
      work(s.core_from, m.get("put_overhead_s") + s.bytes / m.get("put_bytes_per_s"));
      carry(s.n, s.from, s.to, s.bytes);
      s4u::this_actor::sleep_for(latency);
      work(s.core_from, m.get("put_done_s"));
      continue;
    }
    work(s.core_from, m.get("message_send_s") + copy);
    if (!eager) {
      s4u::this_actor::sleep_for(latency);
      work(s.core_to, receive);
      s4u::this_actor::sleep_for(latency);
    }
    carry(s.n, s.from, s.to, s.bytes);
    if (eager) work(s.core_to, receive);
  }
}

} // namespace

Trip trip_of(const std::string &name) {
  static const std::pair<const char *, Trip> names[] = {{"put", Trip::PUT},
                                                        {"message", Trip::MESSAGE},
                                                        {"signal", Trip::SIGNAL},
                                                        {"put-then-signal", Trip::PUT_SIGNAL}};
  return name.empty() ? Trip::PUT : choose("--way", name, names);
}

double trip_run(Network &network, Trip kind, uint64_t bytes) {
  start_actor("trip", network.host(0), [&]() { trip(network, kind, static_cast<double>(bytes)); });
  s4u::Engine::get_instance()->run();
  return s4u::Engine::get_clock();
}

double links_run(Network &network, Trip way, uint64_t links, uint64_t bytes, uint64_t count) {
  const std::vector<s4u::Host *> to = neighbours(network, links);
  if (to.size() < links)
    throw Error("--links " + std::to_string(links) + ": node 0 has " + std::to_string(to.size()) +
                " neighbours in this job; give more ranks, or fewer links");
  const s4u::MutexPtr core = s4u::Mutex::create();
  const uint64_t each = (count + WINDOW - 1) / WINDOW;
  for (s4u::Host *peer : to) {
    const s4u::MutexPtr other = s4u::Mutex::create();
    for (size_t w = 0; w < WINDOW; w++) {
      const Stream out{network, way,  static_cast<double>(bytes), each, network.host(0), peer,
                       core,    other};
      const Stream in{network, way, static_cast<double>(bytes), each, peer, network.host(0),
                      other,   core};
      start_actor("out", out.from, [out]() { stream(out); });
      start_actor("in", in.from, [in]() { stream(in); });
    }
  }
  s4u::Engine::get_instance()->run();
  return static_cast<double>(links * bytes * each * WINDOW) / s4u::Engine::get_clock();
}

} // namespace sim
