/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machine as a SimGrid platform, and where the ranks of a job are on it.
 *
 * Owns: class Network. Used by ft.cc, collective.cc, links.cc. Calls: SimGrid (S4U). Ranks are
 * placed on nodes in order, cores_per_node on each. Routes are those of SimGrid's zones: shortest,
 * in the order of the dimensions in a torus. Invariants: one per process, because SimGrid has one
 * engine; a partition that does not close is a part of a torus twice as long in each dimension,
 * where no shortest route uses the closing links.
 */
#ifndef TMB_SIM_NETWORK_H
#define TMB_SIM_NETWORK_H

#include "machine.h"

#include <simgrid/s4u.hpp>

#include <functional>
#include <unordered_map>

namespace sim {

/* One that sleeps where it has nothing to do: a rank, or what serves all lines. */
struct Thread {
  uint64_t sleeps = 0;  /* how often it has been woken */
  double until = 0;     /* when the last work that it was given ends; while some waits: INFINITY */
  bool runs = false;    /* it has a processor */
  double look_s = 1e-6; /* so long it keeps that without work: a rank of a crowded host spins
                           (src/core/progress/wait.c) */
  uint64_t asking = 0;  /* how many pieces of work it has been given that have not ended */
  simgrid::s4u::MutexPtr turn = simgrid::s4u::Mutex::create(); /* one after the other */
};

/* What it takes to switch to one that has had nothing to do for longer than `after_s`. */
struct Wake {
  double seconds, after_s;
};

/* What one node sends to another. */
struct Flow {
  uint64_t from, to; /* nodes */
  double bytes;
};

class Network {
public:
  Network(simgrid::s4u::Engine &engine, const Machine &machine, uint64_t ranks);

  const Machine &machine() const { return machine_; }
  uint64_t ranks() const { return ranks_; }
  uint64_t nodes() const { return hosts_.size(); }
  uint64_t node_of(uint64_t rank) const { return rank / cores_; }
  bool near(uint64_t a, uint64_t b) const { return node_of(a) == node_of(b); }
  simgrid::s4u::Host *host(uint64_t node) const { return hosts_[node]; }
  simgrid::s4u::Host *host_of(uint64_t rank) const { return hosts_[node_of(rank)]; }
  double rail_bytes_per_s() const;

  /* Of a torus: its lengths without those of one node, and whether its ends are linked. Empty: the
   * machine is none. */
  const std::vector<unsigned long> &lengths() const { return shape_; }
  bool closed() const { return closed_; }

  /* Seconds in which the most loaded link carries all flows, at full rate. in each: calls its
   * argument with every flow. */
  double drain(const std::function<void(const std::function<void(const Flow &)> &)> &each) const;

  /* Seconds from the beginning of a message to its first byte there, with both ends and without
   * software. SimGrid's routes are without the ends: who starts a flow waits for them before. */
  double latency(uint64_t from, uint64_t to) const;

  /* Seconds to move half of `bytes` each way across the narrowest cut: a torus only, else 0. */
  double bisection(double bytes) const;

  /* Processor time of a rank, or of what serves the network for it: on the processors that all
   * nodes share, where the machine says that they do, else on one of its own. Shared processors
   * serve in the order of the calls, each one to its end: what is asked of them is shorter than a
   * time slice of the kernel's. */
  void work(double seconds) const;

  /* The same of a thread, which keeps its processor while it has work, and shortly after. One that
   * has slept is switched to first. */
  void serve(Thread &thread, double seconds, const Wake &wake) const;

  /* A frame comes to the thread that serves all lines, or leaves it. */
  void serve_line() const;
  const Thread &line_thread() const { return line_thread_; }

  /* Occupy the line of a node to its switch, behind what was handed over before. Returns when
   * `bytes` begin to leave. */
  double take_line(uint64_t node, double bytes) const;

  /* Hosts `from`, `to` of a wire of its own. Before the simulation begins. */
  struct Wire {
    simgrid::s4u::Host *from, *to;
  };
  Wire add_wire(const std::string &name, double bytes_per_s, double latency_s);

private:
  simgrid::s4u::NetZone *build(simgrid::s4u::NetZone *root, uint64_t nodes);
  std::vector<unsigned long> shape(uint64_t nodes);
  const Machine &machine_;
  uint64_t ranks_, cores_;
  std::vector<simgrid::s4u::Host *> hosts_;
  std::vector<unsigned long> shape_;
  simgrid::s4u::NetZone *wires_ = nullptr;
  void leave(Thread &thread) const;
  simgrid::s4u::SemaphorePtr processors_; /* those that are shared and free; null: none are */
  mutable Thread line_thread_;            /* never spins */
  mutable std::vector<double> lines_;     /* by node: when its line is free */
  bool closed_ = true;
};

} // namespace sim

#endif
