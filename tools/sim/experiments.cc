/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The experiments of `tombolo sim`, see experiments.h.
 *
 * Owns: which result is called how, and the one SimGrid engine. Called by main.cc. Calls: ft.cc,
 * collective.cc, links.cc. Invariants: arguments are checked before the engine is made, because it
 * exists once in a process.
 */
#include "experiments.h"

#include "ft.h"

#include <simgrid/version.h>

namespace sim {
namespace {

namespace s4u = simgrid::s4u;

/* Nodes up to which each pair has a flow, unless --flows says otherwise. */
constexpr uint64_t EACH_NODES_MAX = 32;

/* SimGrid takes options out of the arguments; it gets none. */
class Engine {
public:
  Engine() : engine_(&argc_, argv_) {}
  s4u::Engine &operator*() { return engine_; }

private:
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

} // namespace

Result run_experiment(const Machine &machine, const Experiment &e) {
  Result result;
  if (e.name == "ft")
    result = run_ft(machine, e);
  else
    throw Error(e.name + ": no experiment; give ft, collective, links, message or machine");
  result.texts["experiment"] = e.name;
  result.texts["machine"] = machine.name;
  result.texts["simulator"] = "SimGrid " + std::to_string(SIMGRID_VERSION_MAJOR) + "." +
                              std::to_string(SIMGRID_VERSION_MINOR);
  result.values["ranks"] = static_cast<double>(e.ranks);
  return result;
}

} // namespace sim
