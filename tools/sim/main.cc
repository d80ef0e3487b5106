/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo sim`: simulated runs on described machines.
 *
 * Owns: the command line and the output. Called by tools/sim/sim.c. Calls: machine.cc, network.cc,
 * and one of ft.cc, collective.cc, links.cc. One simulation for each process, because SimGrid has
 * one engine; study/simulate.py runs many. Invariants: exit code 0, 1 when the simulation failed, 2
 * for arguments or files that the user can repair; then nothing is written to standard output.
 */
#include "experiments.h"

extern "C" {
#include "base/fmt.h"
}

#include <jansson.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <sys/stat.h>
#include <unistd.h>

namespace {

const char usage[] =
    "Usage: tombolo sim EXPERIMENT --machine NAME|FILE [OPTIONS]\n\n"
    "Simulates an experiment with SimGrid on a described machine, and prints its time.\n\n"
    "Experiments:\n"
    "  ft          a transform of NAS FT: --points 2048x1024x1024 --way WAY [--grid TYxTZ|1d]\n"
    "              WAY: slabs, signal, collective, packed (one-sided), slabs2, packed2 "
    "(two-sided);\n"
    "              --flows each|share: a flow for each pair of nodes, or one node with its share\n"
    "  collective  one of the library's schedules: --kind broadcast --bytes N\n"
    "              [--algorithm NAME[:RADIX[:SEGMENT]]] [--levels 1|2] [--native] [--times N] "
    "[--warm N]\n"
    "  links       a node to its neighbours: --links N --bytes N --way put|message [--count N]\n"
    "  message     two ranks: --bytes N --way put|message|signal|put-then-signal\n"
    "  machine     what is known about the machine, and from where\n"
    "  event       data with a notice from the first to the last rank: --way NOTICE --bytes N\n"
    "              NOTICE: queue, flag, atomic, signal, message\n"
    "  pipeline    a wavefront, point to point: --rows N --columns N [--group N]\n"
    "              --way NOTICE, or sync-all, sync-images\n"
    "  barrier     --algorithm interrupt, torus, binomial, dissemination or nodes\n"
    "  stencil     a star: --rows N --columns N --width RADIUS [--grid 1d] [--overlap 0|1]\n"
    "              --way as of pipeline\n"
    "  hydro       a step of hydrodynamics: --rows N --columns N --way as of pipeline\n"
    "              --blocking 1: puts are blocking, as in the C programs of study/apps\n"
    "  fetch-add   --kind hot|spread|next --algorithm owner|nic [--count N]\n"
    "  native      the machine's own: --kind broadcast|allreduce --algorithm tree|torus\n"
    "  start       a job, from the launcher's begin to the end of its first barrier\n"
    "  matmul, cholesky  --rows N --block N --way hand|collective|library\n\n"
    "  --machine NAME|FILE  torus, fat-tree, dragonfly, ethernet, aries, aries-manycore, or a\n"
    "                       machine file\n"
    "  --ranks N            number of ranks of the job\n"
    "  --set NAME=NUMBER    change a parameter of the machine; may be repeated\n"
    "  --loggp FILE         times of put, message and signal, as 'tombolo bench loggp --json FILE' "
    "writes them\n"
    "  --far                use the network group of FILE (loggp_far)\n"
    "  --json FILE          write the result as JSON; - is standard output\n\n"
    "study/simulate.py runs the standard set and draws it (docs/SIMULATION.md).\n";

const char MACHINES[] = "torus, fat-tree, dragonfly, ethernet, aries, aries-manycore, or a file";

struct Options {
  sim::Experiment experiment;
  std::string machine, loggp, json;
  bool far = false;
  std::vector<std::string> settings;
};

uint64_t number(const char *name, const std::string &text, uint64_t least) {
  char *end = nullptr;
  const unsigned long long value = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || text[0] == '-' || *end || value < least || value > UINT64_C(1) << 40)
    throw sim::Error(std::string(name) + " " + text + ": give a whole number from " +
                     std::to_string(least));
  return value;
}

void read_points(sim::Experiment &e, const std::string &text) {
  unsigned long long n[3];
  char rest;
  if (std::sscanf(text.c_str(), "%llux%llux%llu%c", &n[0], &n[1], &n[2], &rest) != 3 || !n[0] ||
      !n[1] || !n[2])
    throw sim::Error("--points " + text + ": give three lengths, as 2048x1024x1024");
  for (int d = 0; d < 3; d++) e.points[d] = n[d];
}

void read_grid(sim::Experiment &e, const std::string &text) {
  unsigned long long y, z;
  char rest;
  if (text == "1d") {
    e.one_dimension = true;
    return;
  }
  if (std::sscanf(text.c_str(), "%llux%llu%c", &y, &z, &rest) != 2 || !y || !z)
    throw sim::Error("--grid " + text + ": give TYxTZ, as 16x16, or 1d");
  e.grid[0] = y;
  e.grid[1] = z;
}

/* Refuses an option that does not exist, or lacks its value; names one of a similar name. */
[[noreturn]] void refuse(const std::string &name) {
  static const char *const known[] = {
      "--machine", "--loggp",   "--json",   "--way",   "--kind",    "--algorithm", "--flows",
      "--ranks",   "--bytes",   "--levels", "--links", "--count",   "--times",     "--warm",
      "--rows",    "--columns", "--group",  "--block", "--overlap", "--width",     "--blocking",
      "--points",  "--grid",    "--set",    "--far",   "--native",  "--help"};
  for (const char *option : known)
    if (option == name) throw sim::Error("option " + name + " needs a value");
  for (const char *option : known)
    if (tmb_fmt_edit_distance(name.c_str(), option) <= 2)
      throw sim::Error("there is no option " + name + "; did you mean " + option + "?");
  throw sim::Error("there is no option " + name + "; see 'tombolo sim --help'");
}

/* Take an option that has a value. Returns whether there is such a one. */
bool take(Options &o, const std::string &name, const std::string &value) {
  sim::Experiment &e = o.experiment;
  const std::map<std::string, std::string *> texts = {
      {"--machine", &o.machine}, {"--loggp", &o.loggp}, {"--json", &o.json},
      {"--way", &e.way},         {"--kind", &e.kind},   {"--algorithm", &e.algorithm},
      {"--flows", &e.flows}};
  const std::map<std::string, std::pair<uint64_t *, uint64_t>> numbers = {
      {"--ranks", {&e.ranks, 1}},         {"--bytes", {&e.bytes, 0}},
      {"--levels", {&e.levels, 1}},       {"--links", {&e.links, 1}},
      {"--count", {&e.count, 1}},         {"--times", {&e.times, 1}},
      {"--warm", {&e.warm, 0}},           {"--rows", {&e.app.rows, 1}},
      {"--columns", {&e.app.columns, 1}}, {"--group", {&e.app.group, 1}},
      {"--block", {&e.app.block, 1}},     {"--overlap", {&e.app.overlap, 0}},
      {"--width", {&e.app.width, 1}},     {"--blocking", {&e.app.blocking, 0}}};
  const auto text = texts.find(name);
  const auto count = numbers.find(name);
  if (text != texts.end())
    *text->second = value;
  else if (count != numbers.end())
    *count->second.first = number(name.c_str(), value, count->second.second);
  else if (name == "--points")
    read_points(e, value);
  else if (name == "--grid")
    read_grid(e, value);
  else if (name == "--set")
    o.settings.push_back(value);
  else
    return false;
  return true;
}

Options read_options(int argc, char **argv) {
  Options o;
  for (int i = 1; i < argc; i++) {
    std::string name = argv[i];
    const size_t equals = name.find('=');
    if (name == "--far")
      o.far = true;
    else if (name == "--native")
      o.experiment.native = true;
    else if (name[0] != '-' && o.experiment.name.empty())
      o.experiment.name = name;
    else if (equals != std::string::npos && name[0] == '-' &&
             take(o, name.substr(0, equals), name.substr(equals + 1)))
      continue;
    else if (i + 1 >= argc || !take(o, name, argv[++i]))
      refuse(name.substr(0, equals));
  }
  const std::string known = sim::experiment_names();
  if (o.experiment.name.empty()) throw sim::Error("no experiment: give " + known);
  if ((" " + known + ",").find(" " + o.experiment.name + ",") == std::string::npos)
    throw sim::Error("there is no experiment '" + o.experiment.name + "': give " + known);
  if (o.machine.empty()) throw sim::Error(std::string("no machine: give --machine ") + MACHINES);
  return o;
}

bool exists(const std::string &path) {
  struct stat found;
  return stat(path.c_str(), &found) == 0;
}

/* Folder of this program, which the command has found beside itself. */
std::string own_folder() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  const std::string self(path, length > 0 ? std::size_t(length) : 0);
  return self.substr(0, self.rfind('/') + 1);
}

/* A name is looked for in this program's installation, then in the tree that it was built from. */
std::string find_machine(const std::string &name) {
  if (name.find('/') != std::string::npos || exists(name)) return name;
  std::string tried;
  for (const std::string &folder :
       {own_folder() + TMB_SIM_MACHINES_INSTALLED, std::string(TMB_SIM_MACHINES)}) {
    const std::string path = folder + "/" + name + ".json";
    if (exists(path)) return path;
    tried += (tried.empty() ? "" : " nor ") + path;
  }
  throw sim::Error("--machine " + name + ": there is neither " + tried + "; give " + MACHINES);
}

void print_result(const sim::Result &result, const std::string &json) {
  json_t *root = json_object();
  for (const auto &text : result.texts)
    json_object_set_new(root, text.first.c_str(), json_string(text.second.c_str()));
  for (const auto &value : result.values)
    json_object_set_new(root, value.first.c_str(), json_real(value.second));
  if (json != "-") {
    for (const auto &text : result.texts)
      std::printf("%-18s %s\n", text.first.c_str(), text.second.c_str());
    for (const auto &value : result.values)
      std::printf("%-18s %.6g\n", value.first.c_str(), value.second);
  }
  int rc = 0;
  if (json == "-")
    rc = json_dumpf(root, stdout, JSON_INDENT(1) | JSON_SORT_KEYS), std::puts("");
  else if (!json.empty())
    rc = json_dump_file(root, json.c_str(), JSON_INDENT(1) | JSON_SORT_KEYS);
  json_decref(root);
  if (rc)
    throw sim::Error("--json " + json + ": cannot be written: " + std::strerror(errno) +
                     "; name a file in a folder that you may write to");
}

} // namespace

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (!std::strcmp(argv[i], "--help") || !std::strcmp(argv[i], "-h"))
      return std::fputs(usage, stdout) < 0;
  try {
    Options o = read_options(argc, argv);
    sim::Machine machine = sim::Machine::read(find_machine(o.machine));
    if (!o.loggp.empty()) machine.measure(o.loggp, o.far ? "loggp_far" : "loggp");
    for (const std::string &setting : o.settings) machine.set(setting);
    print_result(sim::run_experiment(machine, o.experiment), o.json);
    return 0;
  } catch (const sim::Error &e) {
    std::fprintf(stderr, "tombolo sim: %s\n", e.what());
    return 2;
  } catch (const std::exception &e) {
    std::fprintf(stderr, "tombolo sim: the simulation failed: %s\n", e.what());
    return 1;
  }
}
