/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cost of one message with its notification, see way.h.
 *
 * Owns: which parameters of the machine a way adds up. Called by the models of this folder. Calls:
 * network.h. A message between nodes has the costs of links.cc; inside a node the sender copies the
 * data itself and starting costs no more than a hand-over. Invariants: 64 bytes are on the wire
 * where a message has no data.
 */
#include "sim/apps/way.h"

#include <algorithm>
#include <cmath>

namespace sim {
namespace {

constexpr double NOTICE_BYTES = 64;
constexpr double FLAG_BYTES = 8;

} // namespace

Notice notice_of(const std::string &name) {
  static const std::pair<const char *, Notice> names[] = {
      {"sync-all", Notice::SYNC_ALL}, {"sync-images", Notice::SYNC_IMAGES},
      {"queue", Notice::QUEUE},       {"flag", Notice::FLAG},
      {"atomic", Notice::ATOMIC},     {"signal", Notice::SIGNAL},
      {"message", Notice::MESSAGE}};
  return name.empty() ? Notice::SIGNAL : choose("--way", name, names);
}

double loop_seconds(const Machine &machine, double flops, double bytes) {
  const double cores = machine.get("cores_per_node");
  return std::max(flops / (machine.get("loop_fraction") * machine.get("flops_per_core")),
                  bytes / (machine.get("memory_bytes_per_s") / cores));
}

Ways::Ways(const Network &network, Notice notice, bool blocking)
    : network_(network), m_(network.machine()), notice_(notice), blocking_(blocking) {}

double Ways::latency(uint64_t from, uint64_t to) const {
  const uint64_t a = network_.node_of(from), b = network_.node_of(to);
  if (a == b) return m_.get("near_latency_s");
  const auto known = latencies_.emplace(a * network_.nodes() + b, 0);
  if (known.second) known.first->second = network_.latency(a, b);
  return known.first->second;
}

double Ways::short_send(bool near) const {
  return near ? std::min(m_.get("am_send_s"), m_.get("near_latency_s")) : m_.get("am_send_s");
}

double Ways::short_take(bool near) const {
  return near ? std::min(m_.get("am_receive_s"), m_.get("near_latency_s")) : m_.get("am_receive_s");
}

double Ways::short_way(uint64_t from, uint64_t to) const {
  const bool near = network_.near(from, to);
  return latency(from, to) +
         NOTICE_BYTES / (near ? m_.get("near_bytes_per_s") : network_.rail_bytes_per_s());
}

/* The second message: after the data are known to be there. */
void Ways::add_notice(Message &m, double latency, bool near) const {
  const double limit = near ? m_.get("near_latency_s") : INFINITY;
  const double wire = near ? m_.get("near_bytes_per_s") : network_.rail_bytes_per_s();
  switch (notice_) {
  case Notice::QUEUE:
    m.notice = std::min(m_.get("message_send_s"), limit);
    m.way = latency + NOTICE_BYTES / wire;
    m.take = std::min(m_.get("message_receive_s"), limit) + m_.get("match_entry_s");
    break;
  case Notice::FLAG:
    m.notice = std::min(m_.get("put_overhead_s"), limit);
    m.way = latency + FLAG_BYTES / wire;
    if (blocking_ && !near) m.rest = m.way + latency + m_.get("put_done_s");
    break;
  case Notice::ATOMIC:
    m.notice = std::min(m_.get("put_overhead_s"), limit);
    m.way = latency + FLAG_BYTES / wire + (near ? 0 : m_.get("nic_atomic_s"));
    /* Without an adapter that can, the target's processor does it. */
    m.take = near || m_.get("nic_atomic_s") > 0 ? 0 : m_.get("am_receive_s");
    break;
  default: break; /* SYNC_ALL, SYNC_IMAGES: the model meets */
  }
}

Message Ways::far(double latency, double bytes, double wire) const {
  const double rate = network_.rail_bytes_per_s();
  const double put = bytes / m_.get("put_bytes_per_s");
  Message m{};
  m.landed = latency + wire / rate;
  if (notice_ == Notice::SIGNAL) {
    m.start = m_.get("signal_overhead_s") + put;
  } else if (notice_ == Notice::MESSAGE) {
    const bool eager = bytes <= m_.get("eager_bytes_max");
    const double copy = eager ? bytes / m_.get("copy_bytes_per_s") : 0;
    m.start = m_.get("message_send_s") + copy;
    m.take = m_.get("message_receive_s") + m_.get("match_entry_s") + copy;
    if (eager) return m;
    m.ask = latency + NOTICE_BYTES / rate;
    m.answer = m_.get("rendezvous_s") + m.ask + m.landed;
    m.landed += 2 * m.ask + m_.get("rendezvous_s");
  } else {
    m.start = m_.get("put_overhead_s") + put;
    m.known = m.landed + latency + m_.get("put_done_s");
    add_notice(m, latency, false);
  }
  return m;
}

/* Inside a node the sender's processor copies: stored data are there. */
Message Ways::close(double bytes) const {
  const double hand = m_.get("near_latency_s");
  Message m{};
  m.landed = hand;
  if (notice_ == Notice::MESSAGE) {
    const double copy = bytes / m_.get("copy_bytes_per_s");
    m.start = std::min(m_.get("message_send_s"), hand) + copy;
    m.take = std::min(m_.get("message_receive_s"), hand) + m_.get("match_entry_s") + copy;
    return m;
  }
  const char *start = notice_ == Notice::SIGNAL ? "signal_overhead_s" : "put_overhead_s";
  m.start = std::min(m_.get(start), hand) + bytes / m_.get("near_bytes_per_s");
  if (notice_ != Notice::SIGNAL) add_notice(m, hand, true);
  return m;
}

Message Ways::message(uint64_t from, uint64_t to, double bytes, double wire) const {
  if (network_.near(from, to)) return close(bytes);
  return far(latency(from, to), bytes, std::max(bytes, wire));
}

} // namespace sim
