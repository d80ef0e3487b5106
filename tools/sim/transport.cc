/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways with a congestion window, see transport.h.
 *
 * Owns: the size of a piece. Called by collective.cc. Calls: SimGrid. One actor serves a way while
 * something waits there; another one accompanies each piece, for its acknowledgement.
 */
#include "transport.h"

#include <algorithm>
#include <cmath>

namespace sim {
namespace {

namespace s4u = simgrid::s4u;

constexpr double PACKET_BYTES = 1400;
constexpr double PIECE_BYTES = 2 * PACKET_BYTES;
constexpr uint64_t OWED_MAX = 16; /* UDP_ACK_EVERY */
constexpr double ASKS = 4;        /* UDP_ASKS: for an acknowledgement, a window */

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
  s4u::Actor::create("way", from_, [this]() { serve(); });
}

/* At one end: half of what messages and their bytes or their frame take. in messages: how many. */
double Way::half(const Piece &piece, size_t messages) const {
  const Machine &m = network_.machine();
  return (static_cast<double>(messages) * m.get("host_s_per_message") +
          (piece.alone() ? m.get("host_s_per_frame") : 0) +
          piece.bytes * m.get("host_s_per_byte")) /
         2;
}

void Way::take(Thread &rank, double seconds, bool alone) const {
  const Machine &m = network_.machine();
  network_.serve(rank, seconds, {alone ? m.get("host_s_per_sleep") : 0, m.get("wake_after_s")});
}

/* The next message. Where something is in flight, a short one waits for others that fit into its
 * packet until its rank has nothing else to do (src/net/udp/ops/udp_gather.c). */
Way::Item Way::next() {
  const double short_bytes = PACKET_BYTES - queue_.front().bytes;
  while (in_flight_ > 0 && short_bytes >= 0 && near_.rank.asking > 0) {
    const std::unique_lock<s4u::Mutex> turn(*near_.rank.turn);
    s4u::this_actor::sleep_for(near_.rank.look_s / 4);
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

/* Whether a piece asks for an acknowledgement before its message ends. What is measured for a byte
 * has one for each OWED_MAX packets in it: only a window that is shorter asks more often. */
bool Way::asks(double bytes) {
  const double every = PACKET_BYTES * std::ceil(window_ / ASKS / PACKET_BYTES);
  unasked_ += bytes;
  if (unasked_ < every || every >= OWED_MAX * PACKET_BYTES) return false;
  unasked_ -= every;
  return true;
}

void Way::serve() {
  const double ends = 2 * network_.machine().get("node_latency_s");
  while (!queue_.empty()) {
    const Item item = next();
    const double pieces = std::max(1.0, std::ceil(item.bytes / PIECE_BYTES));
    const double bytes = item.bytes / pieces;
    for (double i = 1; i <= pieces; i++) {
      {
        std::unique_lock<s4u::Mutex> lock(*mutex_);
        while (in_flight_ > 0 && in_flight_ + bytes > window_) acknowledged_->wait(lock);
        in_flight_ += bytes;
      }
      if (back_) back_->owed_ = 0; /* it takes along what this end owes */
      const bool is_long = item.bytes > PACKET_BYTES, ask = asks(bytes);
      const Piece piece{bytes, i <= 1, i >= pieces, is_long, is_long && ask};
      take(near_.rank, half(piece, piece.first ? item.mails.size() : 0), piece.alone());
      if (piece.alone()) network_.serve_line();
      const double leaves = network_.take_line(near_.node, bytes) + ends;
      s4u::Actor::create("piece", from_, [this, item, piece, leaves]() {
        s4u::this_actor::sleep_until(leaves);
        move(item, piece);
      });
    }
  }
  serving_ = false;
}

void Way::move(const Item &item, const Piece &piece) {
  s4u::Comm::sendto(from_, to_, static_cast<uint64_t>(std::ceil(piece.bytes)));
  if (piece.alone()) network_.serve_line();
  take(far_.rank, half(piece, piece.last ? item.mails.size() : 0), piece.alone());
  if (piece.last) {
    s4u::this_actor::set_host(to_);
    for (const auto &mail : item.mails) mail.first->put_init(mail.second, 1)->detach();
  }
  if (piece.last || piece.asks) owe(piece.is_long);
  s4u::this_actor::sleep_for(back_s_);
  std::unique_lock<s4u::Mutex> lock(*mutex_);
  if (2 * in_flight_ >= window_)
    window_ = std::min(window_ + piece.bytes, network_.machine().get("window_bytes_max"));
  in_flight_ -= piece.bytes;
  acknowledged_->notify_all();
}

/* A message is there: acknowledge it, or do so later if nothing goes back meanwhile. */
void Way::owe(bool at_once) {
  const double delay = network_.machine().get("ack_delay_s");
  if (delay <= 0) return;
  const bool now = ++owed_ >= OWED_MAX || at_once;
  if (!now && owed_ > 1) return; /* the first one's delay counts */
  const uint64_t before = answered_;
  s4u::Actor::create("ack", to_, [this, now, before, delay]() {
    if (!now) s4u::this_actor::sleep_for(delay);
    if (now || (owed_ > 0 && answered_ == before)) acknowledge();
  });
}

/* The frame that goes back. */
void Way::acknowledge() {
  const double half = network_.machine().get("host_s_per_frame") / 2;
  owed_ = 0;
  answered_++;
  take(far_.rank, half, true);
  network_.serve_line();
  s4u::this_actor::sleep_for(back_s_);
  network_.serve_line();
  take(near_.rank, half, true);
}

} // namespace sim
