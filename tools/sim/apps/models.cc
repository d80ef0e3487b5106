/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The models of applications as experiments, see models.h.
 *
 * Owns: the table of models. Called by experiments.cc. Calls: the other files of this folder.
 * Invariants: a result has `seconds`, or the unit at its name's end.
 */
#include "sim/apps/models.h"

#include "sim/apps/atomic.h"
#include "sim/apps/dense.h"
#include "sim/apps/halo.h"
#include "sim/apps/native.h"
#include "sim/apps/start.h"
#include "sim/apps/wave.h"

namespace sim {
namespace {

using Run = Result (*)(Network &, const Experiment &);

Result run_wave(Network &network, const Experiment &e) {
  const WaveResult r = wave_run(network, {e.app.rows, e.app.columns, e.app.group, e.times,
                                          notice_of(e.way), e.app.blocking > 0});
  Result out;
  out.values = {{"seconds", r.seconds},
                {"compute_s", r.compute},
                {"rows", static_cast<double>(e.app.rows)},
                {"columns", static_cast<double>(e.app.columns)},
                {"sleeps", r.sleeps},
                {"looks", r.looks},
                {"frames", r.frames},
                {"work_s", r.work},
                {"line_s", r.line}};
  return out;
}

/* One message with its notice, from the first rank to the last. */
Result run_event(Network &network, const Experiment &e) {
  const Notice notice = notice_of(e.way);
  if (notice == Notice::SYNC_ALL || notice == Notice::SYNC_IMAGES)
    throw Error("--way " + e.way + ": give queue, flag, atomic, signal or message");
  const Ways ways(network, notice, e.app.blocking > 0);
  const double bytes = static_cast<double>(e.bytes);
  const Message m = ways.message(0, network.ranks() - 1, bytes, bytes);
  Result out;
  out.values = {
      {"seconds", m.there() + m.take},
      {"sender_s", m.busy()},
      {"bytes", bytes},
      /* data, their completion, the notice; or the data alone; a rendezvous has two more */
      {"messages", m.ask > 0 || !m.alone() ? 3.0 : 1.0}};
  return out;
}

Result run_barrier(Network &network, const Experiment &e) {
  Result out;
  out.values["seconds"] = meeting_seconds(network, meeting_of(e.algorithm));
  return out;
}

Result halo_result(const HaloResult &r) {
  Result out;
  out.values = {{"seconds", r.seconds}, {"compute_s", r.compute}, {"message_bytes", r.message},
                {"sleeps", r.sleeps},   {"looks", r.looks},       {"frames", r.frames},
                {"work_s", r.work},     {"line_s", r.line}};
  return out;
}

HaloCase halo_case(const Experiment &e) {
  HaloCase c{};
  c.rows = e.app.rows;
  c.columns = e.app.columns;
  c.one_dimension = e.one_dimension;
  c.blocking = e.app.blocking > 0;
  c.times = e.times;
  c.notice = notice_of(e.way);
  return c;
}

Result run_stencil(Network &network, const Experiment &e) {
  HaloCase c = halo_case(e);
  c.overlap = e.app.overlap > 0;
  c.phases = stencil_phases(e.app.width);
  return halo_result(halo_run(network, c));
}

Result run_hydro(Network &network, const Experiment &e) {
  HaloCase c = halo_case(e);
  c.minimum = true;
  c.corners = true;
  c.phases = hydro_phases();
  return halo_result(halo_run(network, c));
}

Result run_atomic(Network &network, const Experiment &e) {
  const AtomicResult r =
      atomic_run(network, {atomic_place(e.kind), atomic_means(e.algorithm), e.count});
  Result out;
  out.values = {{"operations_per_s", r.rate}, {"seconds", r.latency}};
  return out;
}

Result run_native(Network &network, const Experiment &e) {
  Result out;
  out.values = {
      {"seconds", native_seconds(network, e.kind, e.algorithm, static_cast<double>(e.bytes))},
      {"bytes", static_cast<double>(e.bytes)}};
  return out;
}

DenseCase dense_case(const Network &network, const Experiment &e) {
  return dense_make(network, e.app.rows, e.app.block, e.way);
}

Result run_matmul(Network &network, const Experiment &e) {
  const DenseCase c = dense_case(network, e);
  const double n = static_cast<double>(c.n);
  Result out;
  out.values["seconds"] = matmul_seconds(network, c);
  out.values["flops_per_s"] = 2 * n * n * n / out.values["seconds"];
  return out;
}

Result run_cholesky(Network &network, const Experiment &e) {
  const DenseCase c = dense_case(network, e);
  const double n = static_cast<double>(c.n);
  Result out;
  out.values["seconds"] = cholesky_seconds(network, c);
  out.values["flops_per_s"] = n * n * n / 3 / out.values["seconds"];
  return out;
}

Result run_start(Network &network, const Experiment &) {
  const StartResult r = start_run(network);
  Result out;
  out.values = {{"seconds", r.seconds()}, {"agents_s", r.agents},   {"processes_s", r.processes},
                {"cards_s", r.cards},     {"barrier_s", r.barrier}, {"memory_bytes", r.memory}};
  return out;
}

const struct Model {
  const char *name;
  Run run;
} models[] = {{"pipeline", run_wave},   {"event", run_event},   {"barrier", run_barrier},
              {"stencil", run_stencil}, {"hydro", run_hydro},   {"fetch-add", run_atomic},
              {"native", run_native},   {"matmul", run_matmul}, {"cholesky", run_cholesky},
              {"start", run_start}};

} // namespace

bool model_known(const std::string &name) {
  for (const Model &model : models)
    if (name == model.name) return true;
  return false;
}

std::string model_names() {
  std::string names;
  for (const Model &model : models) names += std::string(names.empty() ? "" : ", ") + model.name;
  return names;
}

Result model_run(Network &network, const Experiment &e) {
  for (const Model &model : models)
    if (e.name == model.name) {
      Result out = model.run(network, e);
      if (!e.way.empty()) out.texts["way"] = e.way;
      if (!e.algorithm.empty()) out.texts["algorithm"] = e.algorithm;
      return out;
    }
  throw Error(e.name + ": no model; give " + model_names());
}

} // namespace sim
