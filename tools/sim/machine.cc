/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading described machines, see machine.h.
 *
 * Owns: the table of parameters with ranges and defaults. Called by main.cc. Calls: jansson.
 * Invariants: a parameter with a default may be left out; it then says so as its source. Values
 * are in bytes, seconds, and counts, as the end of the name says.
 */
#include "machine.h"

#include <jansson.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <sstream>

namespace sim {
namespace {

const double NEEDED = std::numeric_limits<double>::quiet_NaN();

struct Row {
  const char *name;
  double least, most, fallback; /* fallback NEEDED: the file must have it */
};

const Row rows[] = {
    /* nodes */
    {"cores_per_node", 1, 4096, NEEDED},
    {"flops_per_core", 1e6, 1e15, NEEDED},
    {"fft_fraction", 1e-3, 1, NEEDED},
    {"loop_fraction", 1e-4, 1, 0.1}, /* of a core's speed, that a simple loop reaches */
    {"gemm_fraction", 1e-3, 1, 0.8}, /* for a library's matrix product */
    {"memory_bytes_per_s", 1e6, 1e15, NEEDED},
    {"near_latency_s", 0, 1, NEEDED},
    {"near_bytes_per_s", 1e6, 1e15, NEEDED},
    /* links */
    {"link_bytes_per_s", 1e3, 1e15, NEEDED},
    {"link_latency_s", 0, 10, NEEDED},
    {"node_latency_s", 0, 10, 0},
    {"rails", 1, 64, 1},
    {"torus_closes_nodes", 1, 1e9, 1},
    {"switch_nodes", 1, 4096, 16},
    {"switch_up", 1, 4096, 16},
    {"group_switches", 1, 4096, 8},
    {"global_links", 1, 4096, 1},
    /* transport of collectives; 0: no window, processors of its own for each rank, no work */
    {"window_bytes", 0, 1e12, 0},
    {"window_bytes_max", 1, 1e12, 1e12},
    {"shared_processors", 0, 4096, 0},
    {"host_s_per_byte", 0, 1, 0},
    {"host_s_per_message", 0, 1, 0},
    {"host_s_per_near_message", 0, 1, 0},
    {"host_s_per_wake", 0, 1, 0},
    {"host_s_per_frame", 0, 1, 0},
    {"host_s_per_sleep", 0, 1, 0},
    {"host_s_per_halt", 0, 1, 0}, /* more, where the processor has stood still */
    {"line_s_per_frame", 0, 1, 0},
    {"line_s_per_sleep", 0, 1, 0},
    {"line_s_per_halt", 0, 1, 0},
    {"ack_delay_s", 0, 1, 0}, /* 0: acknowledgements are not frames */
    {"wake_after_s", 0, 1, 0},
    {"spin_holds", 0, 1, 0},
    /* one-sided */
    {"put_overhead_s", 0, 1, NEEDED},
    {"put_done_s", 0, 1, 0},
    {"put_bytes_per_s", 1e3, 1e18, 1e18},
    {"put_overlaps", 0, 1, 1},
    {"signal_overhead_s", 0, 1, NEEDED},
    {"nic_atomic_s", 0, 1, 0}, /* 0: the owner's processor executes atomic operations */
    {"am_send_s", 0, 1, NEEDED},
    {"am_receive_s", 0, 1, NEEDED},
    {"copy_bytes_per_s", 1e3, 1e18, NEEDED},
    /* two-sided */
    {"message_send_s", 0, 1, NEEDED},
    {"message_receive_s", 0, 1, NEEDED},
    {"match_entry_s", 0, 1, NEEDED},
    {"eager_bytes_max", 0, 1e12, NEEDED},
    {"rendezvous_s", 0, 1, NEEDED},
    {"message_progress", 0, 2, 0},
    /* start of a job; process_s 0: not described */
    {"agent_s", 0, 100, 0},
    {"agent_children", 1, 1024, 32},
    {"process_s", 0, 10, 0},
    {"join_s", 0, 10, 0},
    {"join_peer_s", 0, 1, 0},
    {"card_bytes", 0, 1e6, 0},
    {"rank_bytes", 0, 1e12, 0},
    {"peer_bytes", 0, 1e9, 0},
    /* native collectives; 0: none */
    {"tree_bytes_per_s", 0, 1e15, 0},
    {"tree_latency_s", 0, 1, 0},
    {"barrier_s", 0, 1, 0},
};

const Row *row_of(const std::string &name) {
  for (const Row &row : rows)
    if (name == row.name) return &row;
  return nullptr;
}

/* The known name that shares the longest beginning with a wrong one. */
std::string nearest(const std::string &name) {
  size_t best = 0;
  std::string found = rows[0].name;
  for (const Row &row : rows) {
    const std::string known = row.name;
    size_t same = 0;
    while (same < known.size() && same < name.size() && known[same] == name[same]) same++;
    if (same <= best) continue;
    best = same;
    found = known;
  }
  return found;
}

std::string number(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

struct JsonFree {
  void operator()(json_t *json) const { json_decref(json); }
};
using Json = std::unique_ptr<json_t, JsonFree>;

Json load(const std::string &path, const char *remedy) {
  json_error_t error;
  Json root(json_load_file(path.c_str(), 0, &error));
  if (!root)
    throw Error(path + ":" + std::to_string(error.line) + ": " + error.text + "; " + remedy);
  if (!json_is_object(root.get())) throw Error(path + ": no JSON object; " + remedy);
  return root;
}

std::string text_of(json_t *object, const char *key, const std::string &where) {
  const char *text = json_string_value(json_object_get(object, key));
  if (!text || !text[0])
    throw Error(where + ": " + key + " is missing or no text; give it, as \"" + key +
                "\": \"...\"");
  return text;
}

Topology topology_of(const std::string &name, const std::string &path) {
  if (name == "torus") return Topology::TORUS;
  if (name == "fat-tree") return Topology::FAT_TREE;
  if (name == "dragonfly") return Topology::DRAGONFLY;
  if (name == "switch") return Topology::SWITCH;
  throw Error(path + ": topology: " + name + ": give torus, fat-tree, dragonfly or switch");
}

std::map<uint64_t, std::vector<unsigned long>> shapes_of(json_t *object, const std::string &path) {
  std::map<uint64_t, std::vector<unsigned long>> shapes;
  const char *key;
  json_t *list;
  json_object_foreach(object, key, list) {
    std::vector<unsigned long> shape;
    uint64_t nodes = 1;
    for (size_t i = 0; i < json_array_size(list); i++) {
      const json_int_t length = json_integer_value(json_array_get(list, i));
      shape.push_back(static_cast<unsigned long>(std::max<json_int_t>(length, 0)));
      nodes *= shape.back();
    }
    if (shape.size() != 3 || std::to_string(nodes) != key)
      throw Error(path + ": shapes." + key + ": give three lengths whose product is " + key);
    shapes[nodes] = shape;
  }
  return shapes;
}

/* Median of the samples of one figure of `tombolo bench`; negative when it is not there. */
double median_of(json_t *root, const std::string &group, const std::string &name) {
  size_t i;
  json_t *figure;
  json_array_foreach(json_object_get(root, "figures"), i, figure) {
    const char *in = json_string_value(json_object_get(figure, "group"));
    const char *what = json_string_value(json_object_get(figure, "name"));
    if (in && what && group == in && name == what)
      return json_number_value(json_object_get(figure, "median"));
  }
  return -1;
}

} // namespace

void Machine::assign(const std::string &key, double value, const std::string &source,
                     const std::string &where) {
  const Row *row = row_of(key);
  if (!row)
    throw Error(where + ": " + key + " is no parameter; did you mean " + nearest(key) + "?");
  if (!(value >= row->least && value <= row->most))
    throw Error(where + ": " + key + ": " + number(value) + ": give a number from " +
                number(row->least) + " to " + number(row->most));
  parameters_[key] = {value, source};
}

Machine Machine::read(const std::string &path) {
  const Json root = load(path, "give a machine file, see docs/SIMULATION.md");
  Machine m;
  m.name = text_of(root.get(), "name", path);
  m.title = text_of(root.get(), "title", path);
  m.topology = topology_of(text_of(root.get(), "topology", path), path);
  m.shapes = shapes_of(json_object_get(root.get(), "shapes"), path);
  const char *key;
  json_t *entry;
  json_object_foreach(json_object_get(root.get(), "parameters"), key, entry) {
    const std::string where = path + ": parameters." + key;
    if (!row_of(key)) throw Error(where + " is no parameter; did you mean " + nearest(key) + "?");
    json_t *value = json_object_get(entry, "value");
    if (!json_is_number(value))
      throw Error(where + ": value is missing or no number; write {\"value\": NUMBER, \"source\": "
                          "\"where it comes from\"}");
    m.assign(key, json_number_value(value), text_of(entry, "source", where), path);
  }
  for (const Row &row : rows) {
    if (m.parameters_.count(row.name)) continue;
    if (std::isnan(row.fallback))
      throw Error(path + ": parameters." + row.name + " is missing; add it, with its source");
    m.parameters_[row.name] = {row.fallback, "default"};
  }
  return m;
}

double Machine::get(const std::string &key) const {
  return parameters_.at(key).value;
}

void Machine::set(const std::string &setting) {
  const size_t at = setting.find('=');
  char *end = nullptr;
  const std::string text = at == std::string::npos ? "" : setting.substr(at + 1);
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end)
    throw Error("--set " + setting + ": give NAME=NUMBER, as --set put_overhead_s=1e-6");
  assign(setting.substr(0, at), value, "--set " + setting, "--set");
}

void Machine::measure(const std::string &path, const std::string &group) {
  const Json root = load(path, "give what `tombolo bench loggp --json FILE` wrote");
  const struct {
    const char *figure, *key;
  } names[] = {{"put_overhead", "put_overhead_s"},
               {"signal_overhead", "signal_overhead_s"},
               {"message_overhead", "am_send_s"}};
  for (const auto &n : names) {
    const double ns = median_of(root.get(), group, n.figure);
    if (ns < 0)
      throw Error(path + ": " + group + " " + n.figure +
                  " is missing; run `tombolo bench loggp` again");
    assign(n.key, ns * 1e-9, path + ": " + group + " " + n.figure, path);
  }
  /* The time between messages that the sender does not need, the receiver does. */
  const double gap = median_of(root.get(), group, "message_gap");
  assign("am_receive_s", std::max(gap * 1e-9, 0.0), path + ": " + group + " message_gap", path);
  const double latency = median_of(root.get(), group, "signal_latency");
  const double spent = get("signal_overhead_s");
  assign("node_latency_s", std::max(latency * 1e-9 - spent - get("link_latency_s"), 0.0),
         path + ": " + group + " signal_latency less overhead and link_latency_s", path);
}

} // namespace sim
