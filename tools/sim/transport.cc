/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways with a congestion window, see transport.h.
 *
 * Owns: the size of a packet. Called by collective.cc. Calls: SimGrid. One actor serves a way while
 * something waits there; another one accompanies each packet, for its acknowledgement.
 */
#include "transport.h"

#include <algorithm>
#include <cmath>

namespace sim {
namespace {

namespace s4u = simgrid::s4u;

constexpr double PACKET_BYTES = 1400;
constexpr uint64_t OWED_MAX = 16; /* UDP_ACK_EVERY */
constexpr double ASKS = 4;        /* UDP_ASKS: for an acknowledgement, a window */
constexpr size_t RUN_MAX = 64;    /* UDP_OUT_MAX: packets handed over at once */
constexpr double LOOK_S = 2.5e-7; /* until a short message looks again whether others joined it */

} // namespace

Way::Way(const Network &network, const End &from, const End &to)
    : network_(network), near_(from), far_(to), from_(network.host(from.node)),
      to_(network.host(to.node)), back_s_(network.latency(to.node, from.node)),
      window_(network.machine().get("window_bytes")), mutex_(s4u::Mutex::create()),
      acknowledged_(s4u::ConditionVariable::create()) {}

void Way::post(s4u::Mailbox *box, void *mail, double bytes) {
  queue_.push_back({{{box, mail}}, bytes});
  if (serving_) return;
  serving_ = true;
  start_actor("way", from_, [this]() { serve(); });
}

/* At one end: half the time of so many packets, their bytes and messages. */
double Way::half(double packets, double bytes, size_t messages) const {
  const Machine &m = network_.machine();
  return (static_cast<double>(messages) * m.get("host_s_per_message") +
          packets * m.get("host_s_per_frame") + bytes * m.get("host_s_per_byte")) /
         2;
}

void Way::take(Thread &rank, double seconds) const {
  const Machine &m = network_.machine();
  network_.serve(
      rank, seconds,
      {m.get("host_s_per_sleep"), m.get("wake_after_s"), false, m.get("host_s_per_halt")});
}

/* The next message. Where something is in flight, a short one waits for others that fit into its
 * packet until its rank has nothing else to do (src/net/udp/ops/udp_gather.c). */
Way::Item Way::next() {
  const double short_bytes = PACKET_BYTES - queue_.front().bytes;
  while (in_flight_ > 0 && short_bytes >= 0 && near_.rank.asking > 0) {
    const std::unique_lock<s4u::Mutex> turn(*near_.rank.turn);
    s4u::this_actor::sleep_for(LOOK_S);
  }
  Item item = queue_.front();
  queue_.pop_front();
  while (in_flight_ > 0 && !queue_.empty() && item.bytes + queue_.front().bytes <= PACKET_BYTES) {
    item.bytes += queue_.front().bytes;
    item.mails.push_back(queue_.front().mails.front());
    queue_.pop_front();
  }
  return item;
}

/* Whether a packet, which is in flight now, asks for an acknowledgement: four times a window, and
 * where the window is full (udp_packet_asks). The end of a message does not: nobody waits there. */
bool Way::asks(double bytes) {
  const bool stops = in_flight_ + bytes > window_ && asked_ <= released_;
  sent_ += bytes;
  unasked_ += bytes;
  if (!stops && unasked_ < window_ / ASKS) return false;
  unasked_ = 0;
  asked_ = sent_;
  return true;
}

void Way::serve() {
  while (!queue_.empty()) send(next());
  serving_ = false;
}

/* The packets of a message, as the window allows: all that it allows are handed over at once. */
void Way::send(const Item &item) {
  const double packets = std::max(1.0, std::ceil(item.bytes / PACKET_BYTES));
  const double bytes = item.bytes / packets;
  for (double sent = 0; sent < packets;) {
    std::vector<Packet> run;
    const bool first = sent == 0;
    {
      std::unique_lock<s4u::Mutex> lock(*mutex_);
      while (!is_open(bytes)) acknowledged_->wait(lock);
      for (; sent < packets && run.size() < RUN_MAX && is_open(bytes); sent++) {
        in_flight_ += bytes;
        run.push_back({bytes, sent + 1 == packets, asks(bytes), 0});
      }
    }
    hand_over(item, run, first);
  }
}

void Way::hand_over(const Item &item, std::vector<Packet> &run, bool first) {
  const double ends = 2 * network_.machine().get("node_latency_s");
  const auto count = static_cast<double>(run.size());
  if (back_) run[0].takes_along = back_->take_answer();
  take(near_.rank, half(count, count * run[0].bytes, first ? item.mails.size() : 0));
  network_.frames().packets += count;
  network_.serve_line(count);
  for (const Packet &packet : run) {
    const double leaves = network_.take_line(near_.node, packet.bytes) + ends;
    start_actor("packet", from_, [this, item, packet, leaves]() {
      s4u::this_actor::sleep_until(leaves);
      move(item, packet);
    });
  }
}

void Way::move(const Item &item, const Packet &packet) {
  s4u::Comm::sendto(from_, to_, static_cast<uint64_t>(std::ceil(packet.bytes)));
  network_.serve_line(1);
  take(far_.rank, half(1, packet.bytes, packet.last ? item.mails.size() : 0));
  if (packet.last) {
    s4u::this_actor::set_host(to_);
    for (const auto &mail : item.mails) mail.first->put_init(mail.second, 1)->detach();
  }
  come_ += packet.bytes;
  owe(packet.asks);
  if (packet.takes_along > 0) back_->release(packet.takes_along);
  if (network_.machine().get("ack_delay_s") > 0) return;
  s4u::this_actor::sleep_for(back_s_);
  release(take_answer());
}

/* Acknowledges the packets received until now. Returns its bytes. */
double Way::take_answer() {
  const double bytes = come_;
  owed_ = 0;
  come_ = 0;
  answered_++;
  return bytes;
}

/* The acknowledgement of so many bytes has come. */
void Way::release(double bytes) {
  std::unique_lock<s4u::Mutex> lock(*mutex_);
  if (2 * in_flight_ >= window_)
    window_ = std::min(window_ + bytes, network_.machine().get("window_bytes_max"));
  in_flight_ -= bytes;
  released_ += bytes;
  acknowledged_->notify_all();
}

/* A packet is there: acknowledge it when this end next has its turn, or later if nothing goes back
 * meanwhile. */
void Way::owe(bool at_once) {
  const double delay = network_.machine().get("ack_delay_s");
  if (delay <= 0) return;
  const bool now = ++owed_ >= OWED_MAX || at_once;
  if (now ? answering_ : owed_ > 1) return; /* the first one's delay counts */
  answering_ = answering_ || now;
  const uint64_t before = answered_;
  start_actor("ack", to_, [this, now, before, delay]() {
    if (!now) s4u::this_actor::sleep_for(delay);
    if (now || (owed_ > 0 && answered_ == before)) acknowledge();
  });
}

/* The frame that goes back: for all packets that have come when it leaves. */
void Way::acknowledge() {
  const double half = network_.machine().get("host_s_per_frame") / 2;
  take(far_.rank, half);
  answering_ = false;
  if (!owed_) return; /* data have taken it along */
  const double bytes = take_answer();
  network_.frames().answers++;
  network_.serve_line(1);
  s4u::this_actor::sleep_for(back_s_);
  network_.serve_line(1);
  take(near_.rank, half);
  release(bytes);
}

} // namespace sim
