/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A way from one rank to another that limits the bytes on it: a transport with a congestion window.
 *
 * Owns: class Way. Used by collective.cc where the machine has a window. Calls: network.h, SimGrid.
 * The window is that of conduit udp before the first loss (src/net/udp/window/udp_cc.c): it begins
 * with `window_bytes`, grows by the acknowledged bytes while at least half of it is in use, to
 * `window_bytes_max`, and is never taken back. Messages leave in order, in packets. Packets that
 * the window allows at once are handed over in one turn of their rank, and wake the thread that
 * serves the lines once (udp_out_flush). They take the node's line one after the other; each one
 * that arrives is handed over alone, and wakes whom it comes to, unless that has its turn anyway. A
 * packet asks for an acknowledgement as udp_packet_asks says: four times a window, and where the
 * window is full. A requested acknowledgement, and that of each sixteenth packet, leaves at the end
 * of the receiver's turn, for all packets received by then in one frame; the rest `ack_delay_s`
 * later. Packets that go back take it along (udp_ops). The window opens when the acknowledgement
 * comes. While something is in flight, short messages wait for the end of their rank's turn and
 * share a packet (udp_gather.c). Half of the processors' work for messages, packets and bytes is
 * done at each end. Invariants: no more than the window is in flight, or one packet; lost packets
 * do not exist.
 */
#ifndef TMB_SIM_TRANSPORT_H
#define TMB_SIM_TRANSPORT_H

#include "network.h"
#include "simgrid_api.h"

#include <deque>

namespace sim {

class Way {
public:
  /* One end. */
  struct End {
    uint64_t node;
    Thread &rank;
  };
  Way(const Network &network, const End &from, const End &to);

  /* The other direction: messages there take acknowledgements along. */
  void set_back(Way *back) { back_ = back; }

  /* Send `bytes` in order behind the messages posted before; `mail` is put into the box when the
   * last of them arrives. Does not wait. */
  void post(simgrid::s4u::Mailbox *box, void *mail, double bytes);

private:
  struct Item {
    std::vector<std::pair<simgrid::s4u::Mailbox *, void *>> mails; /* messages of one packet */
    double bytes;
  };
  struct Packet {
    double bytes;
    bool last;          /* of its message */
    bool asks;          /* for an acknowledgement */
    double takes_along; /* bytes of the other direction that it acknowledges */
  };
  bool is_open(double bytes) const { return in_flight_ <= 0 || in_flight_ + bytes <= window_; }
  double half(double packets, double bytes, size_t messages) const;
  Item next();
  bool asks(double bytes);
  void take(Thread &rank, double seconds) const;
  void serve();
  void send(const Item &item);
  void hand_over(const Item &item, std::vector<Packet> &run, bool first);
  void move(const Item &item, const Packet &packet);
  void owe(bool at_once);
  void acknowledge();
  double take_answer();
  void release(double bytes);

  const Network &network_;
  End near_, far_;
  Way *back_ = nullptr;
  uint64_t owed_ = 0;              /* packets that the other end has not acknowledged */
  uint64_t answered_ = 0;          /* how often it has, with data or without */
  bool answering_ = false;         /* it does so as soon as it has its turn */
  double come_ = 0;                /* bytes that it has not acknowledged */
  double asked_ = 0;               /* bytes sent up to the last question for an acknowledgement, */
  double sent_ = 0, released_ = 0; /* at all, and up to the last that came */
  simgrid::s4u::Host *from_, *to_;
  double back_s_, window_, in_flight_ = 0, unasked_ = 0;
  bool serving_ = false;
  std::deque<Item> queue_;
  simgrid::s4u::MutexPtr mutex_;
  simgrid::s4u::ConditionVariablePtr acknowledged_;
};

} // namespace sim

#endif
