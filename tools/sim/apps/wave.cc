/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The synchronised pipeline, see wave.h.
 *
 * Owns: the order of computing, sending and waiting of each rank. Called by experiments.cc. Calls:
 * way.h. Blocks of rows are the outer loop and ranks the inner one, so that the data that a rank
 * waits for have been computed before: 32768 rows on 16,384 ranks are 5e8 additions. Invariants:
 * SYNC_ALL needs as many steps more as there are ranks, because data are there only after the next
 * barrier.
 */
#include "sim/apps/wave.h"

#include "sim/apps/crowd.h"

#include <algorithm>

namespace sim {
namespace {

constexpr double VALUE_BYTES = 8;
constexpr double POINT_FLOPS = 2;  /* an addition and a subtraction */
constexpr double POINT_BYTES = 16; /* a point of the row is fetched and stored; the one above is in
                                      cache */

enum { LEFT, CORNER }; /* slots of notices */

struct Rank {
  double free, compute, busy, there, take;
  double send, way, meet; /* of the short messages by which it meets the next rank */
};

class Wave {
public:
  Wave(const Network &network, const WaveCase &c)
      : network_(network), c_(c), ways_(network, c.notice, c.blocking), ranks_(network.ranks()) {
    const uint64_t size = network.ranks();
    if (c.columns < 2 * size)
      throw Error("--columns " + std::to_string(c.columns) + ": each of " + std::to_string(size) +
                  " ranks needs two; give at least " + std::to_string(2 * size));
    if (c.rows < 2) throw Error("--rows " + std::to_string(c.rows) + ": give at least 2");
    for (uint64_t p = 0; p < size; p++) {
      const uint64_t count = c.columns * (p + 1) / size - c.columns * p / size;
      const double points = static_cast<double>(count * c.group);
      const Message out = p + 1 < size ? to(p, p + 1, values()) : Message{};
      const Message in = p > 0 ? to(p - 1, p, values()) : Message{};
      ranks_[p] = {
          0,          loop_seconds(network.machine(), POINT_FLOPS * points, POINT_BYTES * points),
          out.busy(), out.there(),
          in.take,    0,
          0,          0};
      if (p + 1 == size) break;
      const bool near = network.near(p, p + 1);
      ranks_[p].send = ways_.short_send(near);
      ranks_[p].meet = ways_.short_take(near);
      ranks_[p].way = ways_.short_way(p, p + 1);
    }
  }

  WaveResult run() {
    const uint64_t blocks = (c_.rows - 1 + c_.group - 1) / c_.group, last = ranks_.size() - 1;
    const double closing = last ? home(last) : 0;
    double longest = 0;
    for (const Rank &r : ranks_) longest = std::max(longest, r.compute);
    if (crowd_has(network_)) return run_crowd(blocks, longest);
    if (c_.notice == Notice::SYNC_ALL)
      return {in_steps(blocks), longest * blocks_of(blocks), 0, 0, 0, 0, 0};
    for (uint64_t k = 0; k < c_.times; k++) {
      for (uint64_t b = 0; b < blocks; b++) c_.notice == Notice::SYNC_IMAGES ? meet() : flow();
      ranks_[0].free = std::max(ranks_[0].free, ranks_[last].free + closing);
    }
    return {
        ranks_[0].free / static_cast<double>(c_.times), longest * blocks_of(blocks), 0, 0, 0, 0, 0};
  }

private:
  static double blocks_of(uint64_t blocks) { return static_cast<double>(blocks); }
  double values() const { return VALUE_BYTES * static_cast<double>(c_.group); }
  Message to(uint64_t from, uint64_t peer, double bytes) const {
    return ways_.message(from, peer, bytes, bytes);
  }

  /* From the last rank to the first one, until that goes on. */
  double home(uint64_t last) const {
    const Message m = to(last, 0, VALUE_BYTES);
    const bool near = network_.near(last, 0), meets = c_.notice == Notice::SYNC_IMAGES;
    return m.there() + m.take +
           (meets ? ways_.short_send(near) + ways_.short_way(last, 0) + ways_.short_take(near) : 0);
  }

  /* One block of all ranks, each notified by the one before. */
  void flow() {
    double notified = 0;
    for (Rank &r : ranks_) {
      const double done = std::max(r.free, notified) + r.take + r.compute;
      notified = done + r.there;
      r.free = done + r.busy;
    }
  }

  /* A row where sender and receiver meet: each notifies the other and waits for it. */
  void meet() {
    double notified = 0; /* the receiver of the last message has met its sender */
    for (uint64_t p = 0; p < ranks_.size(); p++) {
      Rank &r = ranks_[p];
      const double done = std::max(r.free, notified) + r.compute;
      r.free = done;
      if (p + 1 == ranks_.size()) break;
      const double mine = done + r.busy + r.send, other = ranks_[p + 1].free + r.send;
      notified = std::max(other, mine + r.way) + r.meet;
      r.free = std::max(mine, other + r.way) + r.meet;
    }
  }

  /* A block of a rank, if it has one in this step. */
  void act(Acts &acts, uint64_t p, uint64_t blocks, uint64_t step) const {
    const bool steps = c_.notice == Notice::SYNC_ALL;
    if (!steps || (step >= p && step - p < blocks)) {
      if (p > 0) crowd_await(acts, c_.notice, LEFT);
      acts.push_back({Do::COMPUTE, 0, 0, ranks_[p].compute});
      if (p + 1 < ranks_.size()) crowd_send(acts, c_.notice, {Do::PUT, p + 1, LEFT, values()});
    }
    if (steps) acts.push_back({Do::MEET, 0, 0, 0});
  }

  /* Ranks that share processors. */
  WaveResult run_crowd(uint64_t blocks, double longest) const {
    const uint64_t last = ranks_.size() - 1;
    const bool steps = c_.notice == Notice::SYNC_ALL;
    std::vector<Acts> acts(ranks_.size());
    for (uint64_t p = 0; p <= last; p++)
      for (uint64_t k = 0; k <= c_.times; k++) {
        if (k == 1) crowd_start(acts[p]);
        for (uint64_t s = 0; s < blocks + (steps ? last : 0); s++) act(acts[p], p, blocks, s);
        if (last && p == last) crowd_send(acts[p], c_.notice, {Do::PUT, 0, CORNER, VALUE_BYTES});
        if (steps) acts[p].push_back({Do::MEET, 0, 0, 0});
        if (last && p == 0) crowd_await(acts[p], c_.notice, CORNER);
      }
    const CrowdResult r = crowd_run(network_, acts, CORNER + 1);
    const double times = static_cast<double>(c_.times);
    return {r.seconds / times, longest * blocks_of(blocks),
            r.sleeps / times,  r.looks / times,
            r.frames / times,  r.work / times,
            r.line / times};
  }

  /* All iterations in steps, each of which ends with a barrier of all ranks. In its step a rank has
   * a block and tells the next one; without a block it enters the barrier at once. */
  double in_steps(uint64_t blocks) const {
    const NodeBarrier barrier(network_);
    const uint64_t size = ranks_.size();
    std::vector<double> at(size);
    for (uint64_t k = 0; k < c_.times; k++) {
      for (uint64_t step = 0; step < blocks + size - 1; step++) {
        const uint64_t end = std::min(step + 1, size);
        for (uint64_t p = step < blocks ? 0 : step - blocks + 1; p < end; p++)
          at[p] += ranks_[p].compute + ranks_[p].busy;
        barrier.meet(at);
      }
      if (size == 1) continue;
      at[size - 1] += to(size - 1, 0, VALUE_BYTES).busy();
      barrier.meet(at);
    }
    return at[0] / static_cast<double>(c_.times);
  }

  const Network &network_;
  const WaveCase &c_;
  Ways ways_;
  std::vector<Rank> ranks_;
};

} // namespace

WaveResult wave_run(const Network &network, const WaveCase &c) {
  return Wave(network, c).run();
}

} // namespace sim
