/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machine as a SimGrid platform, see network.h.
 *
 * Owns: the shapes of partitions, the zones. Called by main.cc. Calls: SimGrid. The network model
 * is the plain flow model (CM02): flows share links in max-min fashion, at full rate; factors that
 * SimGrid fits to TCP are switched off.
 */
#include "network.h"

#include <algorithm>
#include <cmath>

namespace sim {
namespace {

namespace s4u = simgrid::s4u;
using Coordinates = std::vector<unsigned long>;

/* Three lengths, as equal as can be, with room for all nodes. */
Coordinates near_cube(uint64_t nodes) {
  Coordinates best;
  uint64_t best_room = UINT64_MAX;
  const auto root = static_cast<uint64_t>(std::cbrt(static_cast<double>(nodes)) + 1e-9);
  for (uint64_t a = std::max<uint64_t>(root, 1); a >= 1 && a + 2 > root; a--)
    for (uint64_t b = a; b * b <= (nodes + a - 1) / a + 2 * b; b++) {
      const uint64_t c = (nodes + a * b - 1) / (a * b);
      if (c < b && b > a) break;
      if (a * b * c >= best_room) continue;
      best_room = a * b * c;
      best = {a, b, c};
    }
  return best;
}

bool inside(const Coordinates &at, const Coordinates &shape) {
  for (size_t d = 0; d < at.size(); d++)
    if (at[d] >= shape[d]) return false;
  return true;
}

} // namespace

double Network::rail_bytes_per_s() const {
  return machine_.get("link_bytes_per_s") * machine_.get("rails");
}

std::vector<unsigned long> Network::shape(uint64_t nodes) {
  const auto known = machine_.shapes.find(nodes);
  std::vector<unsigned long> lengths =
      known != machine_.shapes.end() ? known->second : near_cube(nodes);
  /* SimGrid has no dimension of one node. */
  lengths.erase(std::remove(lengths.begin(), lengths.end(), 1ul), lengths.end());
  if (lengths.empty()) lengths.push_back(2);
  return lengths;
}

void Network::build(s4u::NetZone *root, uint64_t nodes) {
  std::vector<std::pair<unsigned long, s4u::Host *>> made;
  Coordinates whole;
  ClusterParts parts;
  parts.host = [&](s4u::NetZone *zone, const Coordinates &at, unsigned long id) {
    s4u::Host *host = add_host(zone, "n" + std::to_string(id))->seal();
    const bool used = shape_.empty() ? made.size() < nodes : inside(at, shape_);
    if (used) made.emplace_back(id, host);
    return host;
  };
  parts.link = [&](s4u::NetZone *zone, const Coordinates &, unsigned long id) {
    return add_link(zone, "near" + std::to_string(id), machine_.get("near_bytes_per_s"))
        ->set_latency(machine_.get("near_latency_s"))
        ->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE)
        ->seal();
  };
  parts.bytes_per_s = rail_bytes_per_s();
  parts.latency_s = machine_.get("link_latency_s");
  const auto per_switch = static_cast<unsigned>(machine_.count("switch_nodes"));
  const auto switches = static_cast<unsigned>((nodes + per_switch - 1) / per_switch);
  s4u::NetZone *zone = nullptr;
  switch (machine_.topology) {
  case Topology::TORUS:
    shape_ = shape(nodes);
    closed_ = nodes >= machine_.count("torus_closes_nodes");
    for (const unsigned long length : shape_) whole.push_back(closed_ ? length : 2 * length);
    zone = add_torus(root, parts, whole);
    break;
  case Topology::FAT_TREE: {
    const auto up = static_cast<unsigned>(machine_.count("switch_up"));
    const auto all = static_cast<unsigned>(nodes);
    zone = add_fat_tree(root, parts,
                        switches > 1 ? TreeLevels{{per_switch, switches}, {1, up}}
                                     : TreeLevels{{all}, {1}});
    break;
  }
  case Topology::DRAGONFLY: {
    /* Each group has a link to each other one, at another switch: as many switches as groups. */
    unsigned in_group = static_cast<unsigned>(machine_.count("group_switches"));
    while (static_cast<uint64_t>(in_group) * in_group * per_switch < nodes) in_group++;
    const unsigned groups = std::max(1u, (switches + in_group - 1) / in_group);
    const auto global = static_cast<unsigned>(machine_.count("global_links"));
    zone = add_dragonfly(root, parts, {{groups, global}, {in_group, 1}, per_switch});
    break;
  }
  case Topology::SWITCH:
    zone = add_fat_tree(root, parts, {{static_cast<unsigned>(nodes)}, {1}});
    break;
  }
  zone->seal(); /* from version 4 of SimGrid on, the hosts are made here */
  std::sort(made.begin(), made.end());
  for (const auto &m : made) hosts_.push_back(m.second);
  if (hosts_.size() > nodes) hosts_.resize(nodes);
}

Network::Network(s4u::Engine &engine, const Machine &machine, uint64_t ranks)
    : machine_(machine), ranks_(ranks), cores_(machine.count("cores_per_node")) {
  s4u::Engine::set_config("network/model:CM02");
  s4u::Engine::set_config("network/TCP-gamma:0");
  s4u::Engine::set_config("network/crosstraffic:0");
  s4u::Engine::set_config("network/weight-S:0");
  s4u::Engine::set_config("network/loopback-bw", machine.get("near_bytes_per_s"));
  s4u::Engine::set_config("network/loopback-lat", machine.get("near_latency_s"));
  s4u::Engine::set_config("network/bandwidth-factor:1");
  s4u::Engine::set_config("network/latency-factor:1");
  s4u::Engine::set_config("surf/precision", 1e-12);
  s4u::Engine::set_config("contexts/stack-size", 128);
  s4u::NetZone *root = root_zone(engine);
  wires_ = add_zone(root, "wires");
  holds_ = machine.count("spin_holds");
  if (machine.count("shared_processors")) processors_.resize(machine.count("shared_processors"));
  build(root, (ranks + cores_ - 1) / cores_);
  lines_.resize(hosts_.size());
}

void Network::work(double seconds) const {
  if (seconds <= 0) return;
  Thread once;
  if (processors_.empty()) return s4u::this_actor::sleep_for(seconds);
  serve(once, seconds, {0, 0});
}

namespace {

template <typename List, typename Is> void take_out(List &list, Is is) {
  list.erase(std::remove_if(list.begin(), list.end(), is), list.end());
}

} // namespace

/* A thread that wakes takes a processor that is free, else it waits for the one that it had. */
Network::Processor &Network::choose(const Thread &thread) const {
  Processor &home = processors_[thread.home];
  if (!home.free->would_block()) return home;
  for (Processor &p : processors_)
    if (!p.free->would_block()) return p;
  return home;
}

/* Returns whether it stood still until now. */
bool Network::get_processor(Thread &thread) const {
  const auto is = [&thread](const std::pair<Thread *, double> &t) { return t.first == &thread; };
  if (thread.spins) take_out(processors_[thread.home].spinning, is);
  if (thread.yields) take_out(processors_[thread.home].yielding, is);
  thread.spins = thread.yields = false;
  if (thread.runs) return false;
  Processor &p = choose(thread);
  const bool stood = !p.free->would_block();
  thread.home = static_cast<size_t>(&p - processors_.data());
  if (p.free->would_block() && !p.spinning.empty() && !holds_) {
    Thread *const other = p.spinning.front().first;
    p.yielding.push_back(p.spinning.front());
    p.spinning.pop_front();
    other->runs = other->spins = false;
    other->yields = true;
  } else {
    p.wanting++;
    p.free->acquire();
    p.wanting--;
  }
  thread.runs = true;
  return stood;
}

/* A processor is free: for one that wants it, or one that has yielded it. */
void Network::give_back(Processor &p) const {
  if (p.wanting || p.yielding.empty()) return p.free->release();
  const auto next = p.yielding.front();
  p.yielding.pop_front();
  next.first->yields = false;
  next.first->runs = true;
  look(*next.first, next.second);
}

void Network::serve(Thread &thread, double seconds, const Wake &wake) const {
  if (processors_.empty()) return work(seconds);
  if (seconds <= 0 && wake.seconds <= 0) return;
  const bool yields = wake.near && thread.yields;
  const double since = wake.near ? thread.looked : thread.until;
  const bool slept = !yields && since + wake.after_s < s4u::Engine::get_clock();
  thread.until = thread.looked = INFINITY;
  thread.asking++;
  thread.turn->lock();
  const double halt_s = get_processor(thread) ? wake.halt_s : 0;
  if (slept && wake.seconds > 0) thread.sleeps++;
  const double takes = seconds + (slept ? wake.seconds + halt_s : 0);
  const double late = processors_[thread.home].late_s;
  thread.work_s += takes;
  processors_[thread.home].late_s = 0;
  s4u::this_actor::sleep_for(takes + late);
  thread.turn->unlock();
  if (--thread.asking == 0) leave(thread, wake.after_s);
}

/* A thread has nothing to do: it looks for a moment whether more has come, and gives its processor
 * away, at once to one that wants it, unless it holds it while it spins. */
void Network::leave(Thread &thread, double look_s) const {
  Processor &p = processors_[thread.home];
  thread.until = thread.looked = s4u::Engine::get_clock();
  if ((holds_ || !p.wanting) && look_s > 0) return look(thread, look_s);
  thread.runs = false;
  if (look_s > 0) {
    thread.yields = true;
    p.yielding.push_back({&thread, look_s});
  }
  give_back(p);
}

void Network::look(Thread &thread, double look_s) const {
  const double begin = thread.looked = s4u::Engine::get_clock();
  thread.spins = true;
  processors_[thread.home].spinning.push_back({&thread, look_s});
  start_actor("leave", s4u::this_actor::get_host(), [this, &thread, begin, look_s]() {
    s4u::this_actor::sleep_for(look_s);
    if (thread.looked != begin || !thread.spins) return;
    thread.spins = thread.runs = false;
    Processor &p = processors_[thread.home];
    take_out(p.spinning,
             [&thread](const std::pair<Thread *, double> &t) { return t.first == &thread; });
    give_back(p);
  });
}

void Network::serve_line(double frames) const {
  const double takes = frames * machine_.get("line_s_per_frame") / 2;
  const double wake = machine_.get("line_s_per_sleep");
  if (processors_.empty() || takes + wake <= 0) return;
  Processor &p = processors_[0];
  Thread &line = line_thread_;
  const bool slept = line.until < s4u::Engine::get_clock();
  line.until = INFINITY;
  line.asking++;
  line.turn->lock();
  const double halt = p.free->would_block() ? 0 : machine_.get("line_s_per_halt");
  const double seconds = takes + (slept ? wake + halt : 0);
  if (slept) line.sleeps++;
  line.work_s += seconds;
  if (p.free->would_block() && p.spinning.empty()) p.late_s += seconds;
  s4u::this_actor::sleep_for(seconds);
  line.turn->unlock();
  if (--line.asking == 0) line.until = s4u::Engine::get_clock();
}

double Network::take_line(uint64_t node, double bytes) const {
  const double begin = std::max(lines_[node], s4u::Engine::get_clock());
  lines_[node] = begin + bytes / rail_bytes_per_s();
  return begin;
}

Network::Wire Network::add_wire(const std::string &name, double bytes_per_s, double latency_s) {
  s4u::Host *from = add_host(wires_, name + ".from");
  s4u::Host *to = add_host(wires_, name + ".to");
  const s4u::Link *link = add_link(wires_, name, bytes_per_s)->set_latency(latency_s)->seal();
  sim::add_route(wires_, from, to, link);
  return {from, to};
}

double
Network::drain(const std::function<void(const std::function<void(const Flow &)> &)> &each) const {
  std::unordered_map<const s4u::Link *, double> load;
  std::vector<s4u::Link *> route;
  each([&](const Flow &flow) {
    if (flow.from == flow.to) return;
    double latency = 0;
    route.clear();
    hosts_[flow.from]->route_to(hosts_[flow.to], route, &latency);
    for (const s4u::Link *link : route) load[link] += flow.bytes;
  });
  double seconds = 0;
  for (const auto &l : load) seconds = std::max(seconds, l.second / l.first->get_bandwidth());
  return seconds;
}

double Network::latency(uint64_t from, uint64_t to) const {
  if (from == to) return machine_.get("near_latency_s");
  std::vector<s4u::Link *> route;
  double seconds = 0;
  hosts_[from]->route_to(hosts_[to], route, &seconds);
  return seconds + 2 * machine_.get("node_latency_s");
}

double Network::bisection(double bytes) const {
  if (shape_.empty()) return 0;
  unsigned long longest = 1, all = 1;
  for (const unsigned long length : shape_) {
    longest = std::max(longest, length);
    all *= length;
  }
  const double links = static_cast<double>(all / longest) * (closed_ ? 2 : 1);
  return bytes / 2 / 2 / (links * rail_bytes_per_s());
}

} // namespace sim
