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

constexpr double PIECE_BYTES = 2 * 1400; /* two packets: receivers acknowledge every second one */

} // namespace

Way::Way(const Network &network, uint64_t from, uint64_t to)
    : network_(network), node_(from), from_(network.host(from)), to_(network.host(to)),
      back_s_(network.latency(to, from)), window_(network.machine().get("window_bytes")),
      mutex_(s4u::Mutex::create()), acknowledged_(s4u::ConditionVariable::create()) {}

void Way::post(s4u::Mailbox *box, void *mail, double bytes) {
  queue_.push_back({box, mail, bytes});
  if (serving_) return;
  serving_ = true;
  s4u::Actor::create("way", from_, [this]() { serve(); });
}

/* At one end: half of what a message and its bytes take. */
void Way::work(double bytes, bool message) const {
  const Machine &m = network_.machine();
  network_.work((bytes * m.get("host_s_per_byte") + (message ? m.get("host_s_per_message") : 0)) /
                2);
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
      work(bytes, i <= 1);
      const double leaves = network_.take_line(node_, bytes) + ends;
      const bool last = i >= pieces;
      s4u::Actor::create("piece", from_, [this, item, bytes, last, leaves]() {
        s4u::this_actor::sleep_until(leaves);
        move(item, bytes, last);
      });
    }
  }
  serving_ = false;
}

void Way::move(const Item &item, double bytes, bool last) {
  s4u::Comm::sendto(from_, to_, static_cast<uint64_t>(std::ceil(bytes)));
  work(bytes, last);
  if (last) {
    s4u::this_actor::set_host(to_);
    item.box->put_init(item.mail, 1)->detach();
  }
  s4u::this_actor::sleep_for(back_s_);
  std::unique_lock<s4u::Mutex> lock(*mutex_);
  if (2 * in_flight_ >= window_)
    window_ = std::min(window_ + bytes, network_.machine().get("window_bytes_max"));
  in_flight_ -= bytes;
  acknowledged_->notify_all();
}

} // namespace sim
