/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The experiments of `tombolo sim`, see experiments.h.
 *
 * Owns: which result is called how, and the one SimGrid engine. Called by main.cc. Calls: ft.cc,
 * collective.cc, links.cc, apps/models.cc. Invariants: arguments are checked before the engine is
 * made, because it exists once in a process.
 */
#include "experiments.h"

#include "collective.h"
#include "ft.h"
#include "links.h"
#include "sim/apps/models.h"

#include <simgrid/version.h>

#include <chrono>
#include <cstdio>

#include <unistd.h>

namespace sim {
namespace {

namespace s4u = simgrid::s4u;

/* Nodes up to which each pair has a flow, unless --flows says otherwise. */
constexpr uint64_t EACH_NODES_MAX = 32;

/* A line on the terminal, each second, while a simulation runs: how far it is. Nothing in a pipe.
 * The remaining time is unknown before the end: the simulated time is the result. */
class Progress {
public:
  Progress() : shown_(isatty(STDERR_FILENO)) {
    if (shown_) s4u::Engine::on_time_advance_cb([this](double) { advance(); });
  }
  ~Progress() {
    if (shown_at_ != begun_) std::fputs("\r\033[K", stderr);
  }

private:
  using Clock = std::chrono::steady_clock;
  void advance() {
    const Clock::time_point now = Clock::now();
    if (now - shown_at_ < std::chrono::seconds(1)) return;
    shown_at_ = now;
    std::fprintf(stderr, "\r\033[Ksim: %.0f s, %.6g s of the job are simulated",
                 std::chrono::duration<double>(now - begun_).count(), s4u::Engine::get_clock());
    std::fflush(stderr);
  }
  const bool shown_;
  const Clock::time_point begun_ = Clock::now();
  Clock::time_point shown_at_ = begun_;
};

/* SimGrid takes options out of the arguments; it gets none. */
class Engine {
public:
  Engine() : engine_(&argc_, argv_) {}
  s4u::Engine &operator*() { return engine_; }

private:
  Progress progress_;
  int argc_ = 3;
  char name_[12] = "tombolo sim", log_[33] = "--log=root.threshold:error";
  char quiet_[33] = "--log=no_loc";
  char *argv_[4] = {name_, log_, quiet_, nullptr};
  s4u::Engine engine_;
};

/* The transform and its grid, from the arguments. */
FtCase ft_case(const Experiment &e) {
  FtCase c{};
  c.way = ft_way(e.way.empty() ? "slabs" : e.way);
  for (int d = 0; d < 3; d++) c.n[d] = e.points[d] ? e.points[d] : 64;
  if (!e.flows.empty() && e.flows != "each" && e.flows != "share")
    throw Error("--flows " + e.flows + ": give each or share");
  if (!e.grid[0]) {
    ft_grid(c, e.ranks, e.one_dimension);
    return c;
  }
  const std::string grid = std::to_string(e.grid[0]) + "x" + std::to_string(e.grid[1]);
  c.ty = e.grid[0];
  c.tz = e.grid[1];
  if (c.ty * c.tz != e.ranks)
    throw Error("--grid " + grid + ": it has " + std::to_string(c.ty * c.tz) +
                " places, --ranks says " + std::to_string(e.ranks) + "; make them equal");
  if (c.n[0] % c.ty || c.n[1] % c.ty || c.n[1] % c.tz || c.n[2] % c.tz)
    throw Error("--grid " + grid +
                ": its sides must divide the lengths of --points; leave it out "
                "to have one chosen");
  return c;
}

Result run_ft(const Machine &machine, const Experiment &e) {
  FtCase c = ft_case(e);
  Engine engine;
  Network network(*engine, machine, e.ranks);
  c.every = e.flows.empty() ? network.nodes() <= EACH_NODES_MAX : e.flows == "each";
  const FtResult r = ft_run(network, c);
  Result out;
  out.texts["flows"] = c.every ? "each" : "share";
  out.texts["grid"] = std::to_string(c.ty) + "x" + std::to_string(c.tz);
  out.values = {{"seconds", r.seconds},
                {"flops_per_s", r.flops / r.seconds},
                {"compute_s", r.compute_s},
                {"movement_s", r.movement_s},
                {"software_s", r.software_s},
                {"bisection_s", r.bisection_s},
                {"exchanged_bytes", r.bytes},
                {"delivered_bytes", r.delivered},
                {"messages_per_rank", r.messages},
                {"row_piece_bytes", r.piece_bytes[0]},
                {"column_piece_bytes", r.piece_bytes[1]},
                {"row_wire_s", r.wire_s[0]},
                {"column_wire_s", r.wire_s[1]}};
  return out;
}

/* A tree of the hardware: one wire to all. */
double native_broadcast(Network &network, uint64_t bytes) {
  const Machine &m = network.machine();
  if (m.get("tree_bytes_per_s") <= 0)
    throw Error("--native: machine " + m.name +
                " has no tree (tree_bytes_per_s is 0); leave it out");
  const Network::Wire tree =
      network.add_wire("tree", m.get("tree_bytes_per_s"), m.get("tree_latency_s"));
  start_actor("root", tree.from, [&]() {
    s4u::this_actor::sleep_for(m.get("put_overhead_s"));
    s4u::Comm::sendto(tree.from, tree.to, bytes ? bytes : 1);
    s4u::this_actor::sleep_for(m.get("put_done_s"));
  });
  s4u::Engine::get_instance()->run();
  return s4u::Engine::get_clock();
}

/* Puts of each rank into place at every other one: one node with its share of the network. */
double native_exchange(Network &network, uint64_t bytes) {
  const Machine &m = network.machine();
  const uint64_t size = network.ranks(), cores = m.count("cores_per_node");
  const double pair = static_cast<double>(cores * cores * bytes);
  const double node = pair * static_cast<double>(network.nodes() - 1);
  const double wire_s = network.drain([&](const std::function<void(const Flow &)> &add) {
    for (uint64_t a = 0; a < network.nodes(); a++)
      for (uint64_t b = 0; b < network.nodes(); b++) add({a, b, pair});
  });
  if (wire_s <= 0) throw Error("--ranks " + std::to_string(size) + ": one node; give more ranks");
  const Network::Wire wire =
      network.add_wire("share", node / wire_s, network.latency(0, network.nodes() / 2));
  start_actor("node", wire.from, [&]() {
    std::vector<s4u::CommPtr> moving;
    for (uint64_t i = 1; i < size; i++) {
      s4u::this_actor::sleep_for(m.get("put_overhead_s") + m.get("put_done_s"));
      moving.push_back(s4u::Comm::sendto_async(
          wire.from, wire.to, static_cast<uint64_t>(node / static_cast<double>(size - 1))));
    }
    for (const auto &comm : moving) comm->wait();
  });
  s4u::Engine::get_instance()->run();
  return s4u::Engine::get_clock();
}

Result run_collective(const Machine &machine, const Experiment &e) {
  const CollCase c{e.kind.empty() ? "broadcast" : e.kind,
                   e.algorithm,
                   e.bytes,
                   e.levels == 0 || e.levels == 2,
                   coll_means(e.way),
                   e.times,
                   e.warm};
  if (e.levels > 2) throw Error("--levels " + std::to_string(e.levels) + ": give 1 or 2");
  if (e.native && c.kind != "broadcast" && c.kind != "exchange")
    throw Error("--native --kind " + c.kind + ": give broadcast or exchange");
  Engine engine;
  Network network(*engine, machine, e.ranks);
  Result out;
  out.texts["kind"] = c.kind;
  out.values["bytes"] = static_cast<double>(e.bytes);
  if (e.native) {
    out.values["seconds"] = c.kind == "broadcast" ? native_broadcast(network, e.bytes)
                                                  : native_exchange(network, e.bytes);
    return out;
  }
  const CollResult r = coll_run(network, c);
  out.texts["algorithm"] = r.algorithm;
  out.values["seconds"] = r.seconds;
  out.values["messages"] = r.messages;
  if (network.machine().get("shared_processors") > 0) {
    out.values["sleeps"] = r.sleeps;
    out.values["line_sleeps"] = r.line_sleeps;
    out.values["work_s"] = r.work_s;
    out.values["line_work_s"] = r.line_work_s;
    out.values["packets"] = r.packets;
    out.values["answers"] = r.answers;
  }
  out.values["steps"] = r.steps;
  out.values["exchanged_bytes"] = r.sent;
  out.values["delivered_bytes"] = r.received;
  return out;
}

Result run_links(const Machine &machine, const Experiment &e) {
  const Trip way = trip_of(e.way);
  if (way != Trip::PUT && way != Trip::MESSAGE)
    throw Error("--way " + e.way + ": give put or message");
  Engine engine;
  Network network(*engine, machine, e.ranks);
  Result out;
  out.values["bytes"] = static_cast<double>(e.bytes);
  out.values["links"] = static_cast<double>(e.links);
  out.values["bytes_per_s"] = links_run(network, way, e.links, e.bytes, e.count);
  return out;
}

Result run_message(const Machine &machine, const Experiment &e) {
  const Trip way = trip_of(e.way);
  Engine engine;
  Network network(*engine, machine, e.ranks);
  Result out;
  out.values["bytes"] = static_cast<double>(e.bytes);
  out.values["seconds"] = trip_run(network, way, e.bytes);
  return out;
}

Result run_model(const Machine &machine, const Experiment &e) {
  Engine engine;
  Network network(*engine, machine, e.ranks);
  return model_run(network, e);
}

Result show_machine(const Machine &machine) {
  Result out;
  out.texts["title"] = machine.title;
  for (const auto &p : machine.parameters()) {
    out.values[p.first] = p.second.value;
    out.texts[p.first + "_source"] = p.second.source;
  }
  return out;
}

} // namespace

std::string experiment_names() {
  return "ft, collective, links, message, machine, " + model_names();
}

Result run_experiment(const Machine &machine, const Experiment &e) {
  Result result;
  if (e.name == "ft")
    result = run_ft(machine, e);
  else if (e.name == "collective")
    result = run_collective(machine, e);
  else if (e.name == "links")
    result = run_links(machine, e);
  else if (e.name == "message")
    result = run_message(machine, e);
  else if (e.name == "machine")
    result = show_machine(machine);
  else if (model_known(e.name))
    result = run_model(machine, e);
  else
    throw Error(e.name + ": no experiment; give " + experiment_names());
  result.texts["experiment"] = e.name;
  result.texts["machine"] = machine.name;
  result.texts["simulator"] = "SimGrid " + std::to_string(SIMGRID_VERSION_MAJOR) + "." +
                              std::to_string(SIMGRID_VERSION_MINOR);
  result.values["ranks"] = static_cast<double>(e.ranks);
  return result;
}

} // namespace sim
