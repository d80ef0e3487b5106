/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cost of one message with its notification, by the way of notifying.
 *
 * Owns: enum Notice, struct Message, class Ways. Used by all models of this folder. Calls:
 * network.h for latencies. A way that needs a second message for the notice waits until the data
 * are known to be complete before it sends the notice. Invariants: times are sums of the machine's
 * parameters, so that they can be computed by hand; nothing here is fitted.
 */
#ifndef TMB_SIM_WAY_H
#define TMB_SIM_WAY_H

#include "sim/network.h"

namespace sim {

/* SYNC_ALL: put, then a barrier of all ranks. SYNC_IMAGES: put, then both ends meet. QUEUE: put,
 * then a two-sided message that the target finds in a queue. FLAG: put, then a put of a flag.
 * ATOMIC: put, then an atomic operation on a counter. SIGNAL: the put carries the notice. MESSAGE:
 * send and receive. */
enum class Notice { SYNC_ALL, SYNC_IMAGES, QUEUE, FLAG, ATOMIC, SIGNAL, MESSAGE };

/* The notice of a name: sync-all, sync-images, queue, flag, atomic, signal, message. Throws Error.
 */
Notice notice_of(const std::string &name);

/* A message with its notice. All times in seconds. */
struct Message {
  double start;  /* sender's processor, until the data are in flight */
  double landed; /* from then until the data are there */
  double known;  /* from then until the sender knows it; 0: it need not know */
  double notice; /* then, sender's processor for the notice; 0: the data carry it */
  double rest;   /* then, until the sender knows that a blocking notice is there */
  double way;    /* from then until the notice is there */
  double take;   /* receiver's processor for the notice */
  double ask;    /* long MESSAGE: from the end of start until its request is there; else 0 */
  double answer; /* long MESSAGE: from the receiver's answer until the data are there */

  bool alone() const { return notice <= 0 && known <= 0; } /* one message is all */
  /* Sender's processor in all, when it waits for completion. */
  double busy() const { return start + known + notice + rest; }
  /* From the beginning until the receiver can see the notice. */
  double there() const { return alone() ? start + landed : start + known + notice + way; }
};

class Ways {
public:
  /* in blocking: a flag is put by a blocking put. */
  Ways(const Network &network, Notice notice, bool blocking);

  /* A message between two ranks. in bytes: data; wire: bytes that share the link with it, at least
   * `bytes`. */
  Message message(uint64_t from, uint64_t to, double bytes, double wire) const;

  /* Processor time of starting and of taking a short message, as a barrier has it. */
  double short_send(bool near) const;
  double short_take(bool near) const;
  /* One way of a short message, without processor time. */
  double short_way(uint64_t from, uint64_t to) const;

private:
  Message far(double latency, double bytes, double wire) const;
  Message close(double bytes) const;
  void add_notice(Message &m, double latency, bool near) const;
  double latency(uint64_t from, uint64_t to) const;

  const Network &network_;
  const Machine &m_;
  Notice notice_;
  bool blocking_;
  mutable std::unordered_map<uint64_t, double> latencies_; /* by pair of nodes */
};

/* Seconds of a simple loop on one core of a node of which all cores work. in flops, bytes: of one
 * core; bytes go through the memory. */
double loop_seconds(const Machine &machine, double flops, double bytes);

/* Barriers. INTERRUPT: a wire of its own. TORUS: a node's ranks gather, nodes meet along one
 * dimension after the other. BINOMIAL: up and down a tree of ranks. DISSEMINATION: log2 rounds of
 * all ranks. NODES: class NodeBarrier. */
enum class Meeting { INTERRUPT, TORUS, BINOMIAL, DISSEMINATION, NODES };
Meeting meeting_of(const std::string &name);

/* Seconds of a barrier that all ranks enter together. Throws Error where the machine has none. */
double meeting_seconds(const Network &network, Meeting kind);

/* The library's barrier (src/core/team/barrier.c): ranks of a node count in one word, leaders of
 * nodes disseminate, a leader releases its node. Ranks may enter at different times: one that is
 * late delays only those that must hear of it. Where processors serve all ranks they wake one rank
 * after the other, in the order in which nodes are released. */
class NodeBarrier {
public:
  explicit NodeBarrier(const Network &network);

  /* inout at: [ranks] when each enters; then when each goes on. */
  void meet(std::vector<double> &at) const;

private:
  void gather(const std::vector<double> &at) const;
  void disseminate() const;
  void release(std::vector<double> &at) const;

  uint64_t cores_, nodes_;
  double hand_, send_, take_, wake_;
  size_t processors_;
  std::vector<std::vector<double>> way_;    /* by round and leader: a message from its peer */
  mutable std::vector<double> lead_, next_; /* by node: when its leader has come so far */
  mutable std::vector<uint64_t> order_;
};

} // namespace sim

#endif
