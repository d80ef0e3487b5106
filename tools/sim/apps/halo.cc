/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges of halos, see halo.h.
 *
 * Owns: the order of computing, packing, sending and waiting of each rank. Called by models.cc.
 * Calls: way.h. Where the notice is a message of its own, a rank starts the data of all
 * neighbours, waits until all are complete, and then sends the notices. All messages that leave a
 * node in a phase are on its link at once and take as long as their sum. Invariants: a long
 * message of two-sided ranks moves when its receiver waits, unless the machine's message_progress
 * is 2.
 */
#include "sim/apps/halo.h"

#include "sim/apps/crowd.h"

#include <algorithm>
#include <cmath>

namespace sim {
namespace {

constexpr double VALUE_BYTES = 8;
constexpr size_t SIDES_MAX = 8;

struct Side {
  uint64_t peer;
  size_t back;  /* index of this side among the peer's sides */
  double cells; /* 0: a corner, of depth x depth cells */
  bool packed;  /* not contiguous: copied into a buffer and out of one */
};

struct Rank {
  uint64_t wide, high;
  std::vector<Side> sides;
  double free = 0, computed = 0;
  double flushed = 0;         /* when buffers of the last exchange may be used again */
  double posted = 0;          /* SYNC_IMAGES: when it notified all neighbours */
  std::vector<double> there;  /* by side: when the neighbour's notice is here */
  std::vector<double> answer; /* by side: a long message's time from this rank's answer */
};

class Halo {
public:
  Halo(const Network &network, const HaloCase &c)
      : network_(network), c_(c), m_(network.machine()), ways_(network, c.notice, c.blocking),
        barrier_(network), ranks_(network.ranks()), next_(network.ranks()) {
    divide();
    for (uint64_t r = 0; r < ranks_.size(); r++) join(r);
    for (uint64_t r = 0; r < ranks_.size(); r++) find_backs(r);
  }

  HaloResult run() {
    if (crowd_has(network_)) return run_crowd();
    for (uint64_t k = 0; k < c_.times; k++) {
      for (const Phase &phase : c_.phases) one(phase);
      if (c_.minimum) all_meet();
    }
    const Rank &last = *std::max_element(
        ranks_.begin(), ranks_.end(), [](const Rank &a, const Rank &b) { return a.free < b.free; });
    const double times = static_cast<double>(c_.times);
    return {last.free / times, last.computed / times, longest_, 0, 0, 0, 0, 0};
  }

private:
  /* Lines and columns of ranks as the programs divide: study/apps/stencil as square as it can be,
   * study/apps/hydro (with corners) with the shortest sides between ranks, and of two such with the
   * fewer columns. */
  void choose_grid() {
    const uint64_t size = ranks_.size();
    double best = INFINITY;
    for (uint64_t px = 1; px <= size; px++) {
      if (size % px) continue;
      const uint64_t py = size / px;
      const double sides = static_cast<double>(c_.rows * (px - 1) + c_.columns * (py - 1));
      if (c_.one_dimension ? px < size : c_.corners ? sides >= best : py > px || py <= py_)
        continue;
      best = sides;
      px_ = px;
      py_ = py;
    }
  }

  void divide() {
    const uint64_t size = ranks_.size();
    py_ = 0;
    choose_grid();
    if (c_.columns < px_ || c_.rows < py_)
      throw Error("--rows " + std::to_string(c_.rows) + " --columns " + std::to_string(c_.columns) +
                  ": ranks form a grid of " + std::to_string(py_) + " x " + std::to_string(px_) +
                  "; give at least one cell for each");
    for (uint64_t r = 0; r < size; r++) {
      const uint64_t x = r % px_, y = r / px_;
      ranks_[r].wide = c_.columns * (x + 1) / px_ - c_.columns * x / px_;
      ranks_[r].high = c_.rows * (y + 1) / py_ - c_.rows * y / py_;
    }
  }

  /* Sides of a rank in the order in which the programs send. */
  void join(uint64_t r) {
    static const int ways[][2] = {{-1, 0},  {1, 0},  {0, -1}, {0, 1},
                                  {-1, -1}, {1, -1}, {-1, 1}, {1, 1}};
    const uint64_t x = r % px_, y = r / px_;
    for (const auto &way : ways) {
      /* Below 0 they become the largest numbers. */
      const uint64_t to_x = x + static_cast<uint64_t>(way[0]),
                     to_y = y + static_cast<uint64_t>(way[1]);
      const bool corner = way[0] && way[1];
      if (to_x >= px_ || to_y >= py_ || (corner && !c_.corners)) continue;
      const uint64_t cells = corner ? 0 : way[0] ? ranks_[r].high : ranks_[r].wide;
      /* Columns are contiguous where they alone are divided, as in Fortran; else lines are. */
      const bool packed = way[0] && !(c_.one_dimension && !corner);
      ranks_[r].sides.push_back({to_y * px_ + to_x, 0, static_cast<double>(cells), packed});
    }
    ranks_[r].there.resize(ranks_[r].sides.size());
    ranks_[r].answer.resize(ranks_[r].sides.size());
  }

  /* Where a rank is among the sides of its neighbours. */
  void find_backs(uint64_t r) {
    for (Side &side : ranks_[r].sides) {
      const std::vector<Side> &its = ranks_[side.peer].sides;
      while (its[side.back].peer != r) side.back++;
    }
  }

  double bytes(const Side &side, const Phase &phase) const {
    const double cells = side.cells > 0 ? side.cells : phase.depth;
    return cells * phase.fields * phase.depth * VALUE_BYTES;
  }

  /* Bytes that each node sends to others in a phase. */
  std::vector<double> leaving(const Phase &phase) const {
    std::vector<double> sum(network_.nodes());
    for (uint64_t r = 0; r < ranks_.size(); r++)
      for (const Side &side : ranks_[r].sides)
        if (!network_.near(r, side.peer)) sum[network_.node_of(r)] += bytes(side, phase);
    return sum;
  }

  double packing(const Rank &r, const Phase &phase) const {
    double sum = 0;
    for (const Side &side : r.sides)
      if (side.packed) sum += bytes(side, phase);
    return sum / m_.get("copy_bytes_per_s");
  }

  double seconds(const Phase &phase, double cells) const {
    return loop_seconds(m_, phase.flops * cells, phase.bytes * cells);
  }

  void compute(Rank &r, const Phase &phase, double cells) const {
    r.free += seconds(phase, cells);
    r.computed += seconds(phase, cells);
  }

  /* Data of all sides, the computation meanwhile, notices. Peers get the times in next_. */
  void send(uint64_t index, const Phase &phase, double rest, double wire) {
    Rank &r = ranks_[index];
    double known = 0;
    std::vector<Message> out;
    for (const Side &side : r.sides) {
      const double own = bytes(side, phase);
      longest_ = std::max(longest_, own);
      out.push_back(ways_.message(index, side.peer, own, wire));
      r.free += out.back().start;
      known = std::max(known, r.free + out.back().known);
      Rank &peer = ranks_[side.peer];
      peer.there[side.back] = r.free + (out.back().ask > 0 ? out.back().ask : out.back().landed);
      peer.answer[side.back] = out.back().answer;
    }
    compute(r, phase, rest);
    if (c_.notice == Notice::SIGNAL || c_.notice == Notice::MESSAGE) return;
    r.free = std::max(r.free, known);
    r.posted = r.free;
    for (size_t i = 0; i < out.size(); i++) {
      const bool near = network_.near(index, r.sides[i].peer);
      r.posted += ways_.short_send(near);
      r.free += out[i].notice;
      ranks_[r.sides[i].peer].there[r.sides[i].back] = r.free + out[i].way;
    }
  }

  /* Data, one neighbour after the other, each until all is known. */
  void send_each(uint64_t index, const Phase &phase, double wire) {
    Rank &r = ranks_[index];
    for (const Side &side : r.sides) {
      const double own = bytes(side, phase);
      const Message m = ways_.message(index, side.peer, own, wire);
      longest_ = std::max(longest_, own);
      ranks_[side.peer].there[side.back] = r.free + m.there();
      r.free += m.busy();
    }
    r.posted = r.free;
  }

  double wait(uint64_t index, const Phase &phase, double wire) const {
    const Rank &r = ranks_[index];
    double now = c_.notice == Notice::SYNC_IMAGES ? r.posted : r.free;
    for (size_t i = 0; i < r.sides.size(); i++) {
      const uint64_t peer = r.sides[i].peer;
      if (c_.notice == Notice::SYNC_IMAGES) {
        now = std::max(now, ranks_[peer].posted + ways_.short_way(peer, index)) +
              ways_.short_take(network_.near(peer, index));
        continue;
      }
      double there = r.there[i];
      /* A request that came while it computed is answered now. */
      if (r.answer[i] > 0)
        there = (m_.get("message_progress") == 2 ? there : std::max(there, r.free)) + r.answer[i];
      now = std::max(now, there);
      now += ways_.message(peer, index, bytes(r.sides[i], phase), wire).take;
    }
    return now + packing(r, phase);
  }

  void one(const Phase &phase) {
    const std::vector<double> shared = leaving(phase);
    for (uint64_t i = 0; i < ranks_.size(); i++) {
      Rank &r = ranks_[i];
      const double cells = static_cast<double>(r.wide * r.high);
      double edge = 0;
      for (const Side &side : r.sides) edge += side.cells * phase.depth;
      const double first = c_.overlap && !c_.blocking ? std::min(edge, cells) : cells;
      compute(r, phase, first);
      r.free += packing(r, phase);
      const double wire = shared[network_.node_of(i)];
      c_.blocking ? send_each(i, phase, wire) : send(i, phase, cells - first, wire);
    }
    for (uint64_t i = 0; i < ranks_.size(); i++)
      next_[i] = wait(i, phase, shared[network_.node_of(i)]);
    for (uint64_t i = 0; i < ranks_.size(); i++) ranks_[i].free = next_[i];
    if (c_.notice == Notice::SYNC_ALL) all_meet();
  }

  /* One exchange of a rank, side after side, and the computing. */
  void act(Acts &acts, uint64_t index, const Phase &phase) {
    const Rank &r = ranks_[index];
    const double cells = static_cast<double>(r.wide * r.high);
    double edge = 0;
    for (const Side &side : r.sides) edge += side.cells * phase.depth;
    const double first = c_.overlap && !c_.blocking ? std::min(edge, cells) : cells;
    acts.push_back({Do::COMPUTE, 0, 0, seconds(phase, first) + 2 * packing(r, phase)});
    for (const Side &side : r.sides) {
      longest_ = std::max(longest_, bytes(side, phase));
      crowd_send(acts, c_.notice, {Do::PUT, side.peer, side.back, bytes(side, phase)});
    }
    if (first < cells) acts.push_back({Do::COMPUTE, 0, 0, seconds(phase, cells - first)});
    if (c_.notice == Notice::SYNC_ALL) acts.push_back({Do::MEET, 0, 0, 0});
    for (size_t i = 0; i < r.sides.size(); i++) crowd_await(acts, c_.notice, i);
  }

  /* Ranks that share processors. */
  HaloResult run_crowd() {
    std::vector<Acts> acts(ranks_.size());
    double compute = 0;
    for (uint64_t i = 0; i < ranks_.size(); i++)
      for (uint64_t k = 0; k <= c_.times; k++) {
        if (k == 1) crowd_start(acts[i]);
        for (const Phase &phase : c_.phases) act(acts[i], i, phase);
        if (c_.minimum) acts[i].push_back({Do::MEET, 0, 0, 0});
      }
    const CrowdResult r = crowd_run(network_, acts, SIDES_MAX);
    const double times = static_cast<double>(c_.times);
    for (const Act &a : acts[0])
      if (a.what == Do::COMPUTE) compute += a.amount;
    return {r.seconds / times, compute / (times + 1), longest_,       r.sleeps / times,
            r.looks / times,   r.frames / times,      r.work / times, r.line / times};
  }

  void all_meet() {
    for (size_t i = 0; i < ranks_.size(); i++) next_[i] = ranks_[i].free;
    barrier_.meet(next_);
    for (size_t i = 0; i < ranks_.size(); i++) ranks_[i].free = next_[i];
  }

  const Network &network_;
  const HaloCase &c_;
  const Machine &m_;
  Ways ways_;
  NodeBarrier barrier_;
  std::vector<Rank> ranks_;
  std::vector<double> next_;
  uint64_t px_ = 1, py_ = 1;
  double longest_ = 0;
};

} // namespace

std::vector<Phase> stencil_phases(uint64_t width) {
  const double r = static_cast<double>(width);
  /* `in` is read, then read and increased; `out` is read and written. */
  return {{8 * r + 2, 5 * VALUE_BYTES, 1, r}};
}

std::vector<Phase> hydro_phases() {
  /* Operations and doubles through the memory of a cell, counted in study/apps/hydro: state, time
   * step and Lagrangian step; then in each direction the remap of cells and that of nodes. */
  const Phase lagrange = {160, 57 * VALUE_BYTES, 4, 2}, nodes = {80, 26 * VALUE_BYTES, 1, 1};
  const Phase first = {60, 21 * VALUE_BYTES, 4, 2}, second = {60, 21 * VALUE_BYTES, 5, 2};
  return {lagrange, first, nodes, second, nodes};
}

HaloResult halo_run(const Network &network, const HaloCase &c) {
  return Halo(network, c).run();
}

} // namespace sim
