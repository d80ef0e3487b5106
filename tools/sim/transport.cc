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

} // namespace

Way::Way(const Network &network, const End &from, const End &to)
    : network_(network), near_(from), far_(to), from_(network.host(from.node)),
      to_(network.host(to.node)), back_s_(network.latency(to.node, from.node)),
      window_(network.machine().get("window_bytes")), mutex_(s4u::Mutex::create()),
      acknowledged_(s4u::ConditionVariable::create()) {}

void Way::post(s4u::Mailbox *box, void *mail, double bytes) {
  queue_.push_back({box, mail, bytes});
  if (serving_) return;
  serving_ = true;
  s4u::Actor::create("way", from_, [this]() { serve(); });
}

/* At one end: half of what a message and its bytes or its frame take. */
double Way::half(const Piece &piece, bool message) const {
  const Machine &m = network_.machine();
  return ((message ? m.get("host_s_per_message") : 0) +
          (piece.alone() ? m.get("host_s_per_frame") : 0) +
          piece.bytes * m.get("host_s_per_byte")) /
         2;
}

void Way::take(Thread &rank, double seconds, bool alone) const {
  const Machine &m = network_.machine();
  network_.serve(rank, seconds, {alone ? m.get("host_s_per_sleep") : 0, m.get("wake_after_s")});
}

void Way::serve() {
  const double ends = 2 * network_.machine().get("node_latency_s");
  while (!queue_.empty()) {
    const Item item = queue_.front();
    queue_.pop_front();
    const double pieces = std::max(1.0, std::ceil(item.bytes / PIECE_BYTES));
    const double bytes = item.bytes / pieces;
    for (double i = 1; i <= pieces; i++) {
      {
        std::unique_lock<s4u::Mutex> lock(*mutex_);
        while (in_flight_ > 0 && in_flight_ + bytes > window_) acknowledged_->wait(lock);
        in_flight_ += bytes;
      }
      if (back_) back_->owed_ = 0; /* it takes along what this end owes */
      const Piece piece{bytes, i <= 1, i >= pieces, item.bytes > PACKET_BYTES};
      take(near_.rank, half(piece, piece.first), piece.alone());
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
  take(far_.rank, half(piece, piece.last), piece.alone());
  if (piece.last) {
    s4u::this_actor::set_host(to_);
    item.box->put_init(item.mail, 1)->detach();
  }
  if (piece.last) owe(piece.is_long);
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
