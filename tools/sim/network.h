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
#include "simgrid_api.h"

#include <deque>
#include <functional>
#include <unordered_map>

namespace sim {

/* A thread that sleeps where it has nothing to do: a rank, or the one that serves all lines. */
struct Thread {
  uint64_t sleeps = 0; /* how often it has been woken */
  double work_s = 0;   /* processor time that it has taken */
  double until = 0;    /* when the last work that it was given ends; while some waits: INFINITY */
  double looked = 0;   /* when it last began to look for work: then, and after each yield */
  bool runs = false;   /* it has a processor */
  bool spins = false;  /* it has one and no work: who wants the processor takes it */
  bool yields = false; /* one has: it looks again when a processor is free, and sleeps then */
  size_t home = 0;     /* the processor that it has, or had last */
  uint64_t asking = 0; /* pieces of work in progress */
  simgrid::s4u::MutexPtr turn = simgrid::s4u::Mutex::create(); /* one after the other */
};

/* Time to switch to a thread that has had nothing to do for longer than `after_s`. near: a rank of
 * its own node does. A yield gives the processor to ranks of this node, so that a rank that has
 * yielded to them polls again when they have had their turn, and does not sleep before. */
struct Wake {
  double seconds, after_s;
  bool near = false;
  double halt_s = 0; /* more of it where its processor has stood still */
};

/* Bytes that one node sends to another. */
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

  /* Processor time of a rank, or of the thread that serves the network for it: on the processors
   * that all nodes share, where the machine says that they do, else on one of its own. A shared
   * processor serves in the order of the calls, each one to its end: each is shorter than a time
   * slice of the kernel's. Each has a queue of its own, as the kernel has: who is woken takes one
   * that is free, else it waits for the one that it had. */
  void work(double seconds) const;

  /* Processor time of a thread. It keeps its processor while it has work, and then for
   * `wake.after_s`, unless another one wants it (src/core/progress/wait.c: ranks spin before they
   * sleep). One that has slept is switched to first. */
  void serve(Thread &thread, double seconds, const Wake &wake) const;

  /* So many frames come at once to the thread that serves all lines, or leave it. It has the
   * kernel's highest priority: where no processor is free, a rank stands still meanwhile. */
  void serve_line(double frames) const;
  const Thread &line_thread() const { return line_thread_; }

  /* Frames that the lines have carried: packets and acknowledgements. */
  struct Frames {
    double packets = 0, answers = 0;
  };
  Frames &frames() const { return frames_; }

  /* Occupy the line of a node to its switch, behind the packets handed over before. Returns when
   * `bytes` begin to leave. */
  double take_line(uint64_t node, double bytes) const;

  /* Hosts `from`, `to` of a wire of its own. Before the simulation begins. */
  struct Wire {
    simgrid::s4u::Host *from, *to;
  };
  Wire add_wire(const std::string &name, double bytes_per_s, double latency_s);

private:
  void build(simgrid::s4u::NetZone *root, uint64_t nodes);
  std::vector<unsigned long> shape(uint64_t nodes);
  const Machine &machine_;
  uint64_t ranks_, cores_;
  std::vector<simgrid::s4u::Host *> hosts_;
  std::vector<unsigned long> shape_;
  simgrid::s4u::NetZone *wires_ = nullptr;
  /* One of the processors that all nodes share. */
  struct Processor {
    simgrid::s4u::SemaphorePtr free = simgrid::s4u::Semaphore::create(1);
    uint64_t wanting = 0;                                       /* threads that wait for it */
    std::deque<std::pair<Thread *, double>> spinning, yielding; /* and for how long they look */
    double late_s = 0; /* time that the line's thread has taken from ranks */
  };
  Processor &choose(const Thread &thread) const;
  bool get_processor(Thread &thread) const;
  void leave(Thread &thread, double look_s) const;
  void look(Thread &thread, double look_s) const;
  void give_back(Processor &p) const;
  mutable std::vector<Processor> processors_; /* empty: none are shared */
  mutable Thread line_thread_;                /* never spins */
  mutable Frames frames_;
  mutable std::vector<double> lines_; /* by node: when its line is free */
  bool closed_ = true;
  bool holds_ = false; /* who spins keeps its processor, whoever wants it */
};

} // namespace sim

#endif
