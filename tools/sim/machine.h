/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Described machines: hosts, links and software for `tombolo sim`.
 *
 * Owns: struct Machine, the table of parameters, reading of machine files (JSON) and of the figures
 * of `tombolo bench loggp`. Called by main.cc; read by everything that simulates. Calls: jansson.
 * Invariants: every parameter has a value in its range and says where it comes from; an unknown
 * name, a missing one or a value out of range is an error that names key, value and remedy.
 */
#ifndef TMB_SIM_MACHINE_H
#define TMB_SIM_MACHINE_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sim {

/* A mistake that the user can repair: a file, an option. The text names key, value and remedy. */
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/* The kind of the name that an option has. An error names all of them. */
template <class Kind, size_t N>
Kind choose(const char *option, const std::string &name,
            const std::pair<const char *, Kind> (&kinds)[N]) {
  std::string all;
  size_t left = N;
  for (const auto &kind : kinds) {
    if (name == kind.first) return kind.second;
    all += kind.first + std::string(left == 1 ? "" : left == 2 ? " or " : ", ");
    left--;
  }
  throw Error(option + (" " + name) + ": give " + all);
}

struct Parameter {
  double value;
  std::string source;
};

enum class Topology { TORUS, FAT_TREE, DRAGONFLY, SWITCH };

class Machine {
public:
  std::string name, title;
  Topology topology = Topology::SWITCH;
  /* Torus: sizes of the partitions by number of nodes; others are made as near a cube as can be. */
  std::map<uint64_t, std::vector<unsigned long>> shapes;

  /* Read a machine file. in path: of JSON text, see docs/SIMULATION.md. Throws Error. */
  static Machine read(const std::string &path);

  /* Value of a parameter, which must be in the table. Units as in its name. */
  double get(const std::string &key) const;
  uint64_t count(const std::string &key) const { return static_cast<uint64_t>(get(key)); }
  const std::map<std::string, Parameter> &parameters() const { return parameters_; }

  /* Replace a parameter. in setting: NAME=VALUE of the command line. Throws Error. */
  void set(const std::string &setting);

  /* Replace the costs of put, message and signal by measured ones. in path: output of `tombolo
   * bench loggp --json`; group: "loggp" (one host) or "loggp_far" (through the network). */
  void measure(const std::string &path, const std::string &group);

private:
  void assign(const std::string &key, double value, const std::string &source,
              const std::string &where);
  std::map<std::string, Parameter> parameters_;
};

} // namespace sim

#endif
