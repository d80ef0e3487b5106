/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A way from one rank to another that limits what is on it: a transport with a congestion window.
 *
 * Owns: class Way. Used by collective.cc where the machine has a window. Calls: network.h, SimGrid.
 * The window is that of conduit udp before the first loss (src/net/udp/window/udp_cc.c): it begins
 * with `window_bytes`, grows by what is acknowledged while at least half of it is in use, to
 * `window_bytes_max`, and is never taken back. Messages leave in order, in pieces of some packets.
 * All pieces of a node take its line one after the other, as they were handed over: the first of
 * two messages is there before the second one, and not both late. A piece is acknowledged when it
 * is there and one way back has passed. Half of the processors' work for a message and its bytes is
 * done before they leave, the other half when they are there. Invariants: no more than the window
 * is in flight, or one piece; lost packets do not exist.
 */
#ifndef TMB_SIM_TRANSPORT_H
#define TMB_SIM_TRANSPORT_H

#include "network.h"

#include <deque>
#include <simgrid/s4u.hpp>

namespace sim {

class Way {
public:
  /* in from, to: nodes. */
  Way(const Network &network, uint64_t from, uint64_t to);

  /* Send `bytes` in order behind what was posted before; `mail` is put into the box when the last
   * of them arrives. Does not wait. */
  void post(simgrid::s4u::Mailbox *box, void *mail, double bytes);

private:
  struct Item {
    simgrid::s4u::Mailbox *box;
    void *mail;
    double bytes;
  };
  void work(double bytes, bool message) const;
  void serve();
  void move(const Item &item, double bytes, bool last);

  const Network &network_;
  uint64_t node_;
  simgrid::s4u::Host *from_, *to_;
  double back_s_, window_, in_flight_ = 0;
  bool serving_ = false;
  std::deque<Item> queue_;
  simgrid::s4u::MutexPtr mutex_;
  simgrid::s4u::ConditionVariablePtr acknowledged_;
};

} // namespace sim

#endif
