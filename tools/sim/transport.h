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
 * done before they leave, the other half when they are there. What is measured for a byte has
 * all work for a packet in it, where each comes behind another one: who takes them takes several in
 * a turn. The first and the last packet of a message come alone: the sender, what serves the lines
 * and the receiver each have work for a frame, and may have to be woken. So does the
 * acknowledgement of a message, a frame of its own: for a long one at once, else `ack_delay_s`
 * later, if no message goes back before (src/net/udp/ops). While something is in flight, short
 * messages wait for the end of their rank's turn and share a packet (udp_gather.c). A window
 * shorter than 64 packets asks four times for an acknowledgement (udp_packet_asks). Invariants: no
 * more than the window is in flight, or one piece; lost packets do not exist.
 */
#ifndef TMB_SIM_TRANSPORT_H
#define TMB_SIM_TRANSPORT_H

#include "network.h"

#include <deque>
#include <simgrid/s4u.hpp>

namespace sim {

class Way {
public:
  /* One end. */
  struct End {
    uint64_t node;
    Thread &rank;
  };
  Way(const Network &network, const End &from, const End &to);

  /* The other direction: what goes there takes acknowledgements along. */
  void set_back(Way *back) { back_ = back; }

  /* Send `bytes` in order behind what was posted before; `mail` is put into the box when the last
   * of them arrives. Does not wait. */
  void post(simgrid::s4u::Mailbox *box, void *mail, double bytes);

private:
  struct Item {
    std::vector<std::pair<simgrid::s4u::Mailbox *, void *>> mails; /* messages of one packet */
    double bytes;
  };
  struct Piece {
    double bytes;
    bool first, last; /* of its message */
    bool is_long;     /* its message has several packets */
    bool asks;        /* for an acknowledgement before its message ends */
    bool alone() const { return first || last; }
  };
  double half(const Piece &piece, size_t messages) const;
  Item next();
  bool asks(double bytes);
  void take(Thread &rank, double seconds, bool alone) const;
  void serve();
  void move(const Item &item, const Piece &piece);
  void owe(bool at_once);
  void acknowledge();

  const Network &network_;
  End near_, far_;
  Way *back_ = nullptr;
  uint64_t owed_ = 0;     /* pieces that the other end has not acknowledged */
  uint64_t answered_ = 0; /* how often it has */
  simgrid::s4u::Host *from_, *to_;
  double back_s_, window_, in_flight_ = 0, unasked_ = 0;
  bool serving_ = false;
  std::deque<Item> queue_;
  simgrid::s4u::MutexPtr mutex_;
  simgrid::s4u::ConditionVariablePtr acknowledged_;
};

} // namespace sim

#endif
