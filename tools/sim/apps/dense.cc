/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dense matrix multiplication and Cholesky factorization, see dense.h.
 *
 * Owns: how a panel goes along a row or column, and when each rank computes. Called by models.cc.
 * Calls: way.h. A rank that sends on by itself does so when it has the panel and does not compute.
 * A broadcast of a team goes down a binary tree in parts, and does not wait for ranks that compute.
 * Source of the multiplication: van de Geijn, Watts, SUMMA, Concurrency 9(4), 1997. Invariants:
 * step k's panels belong to row and column k modulo the side of the grid.
 */
#include "sim/apps/dense.h"

#include <algorithm>
#include <cmath>

namespace sim {
namespace {

constexpr double VALUE_BYTES = 8;

class Grid {
public:
  Grid(const Network &network, const DenseCase &c)
      : m_(network.machine()), c_(c), q_(c.side),
        ways_(network, c.way == Dense::LIBRARY ? Notice::MESSAGE : Notice::SIGNAL, false),
        free(q_ * q_, 0) {}

  double compute(double flops) const {
    return flops / (m_.get("gemm_fraction") * m_.get("flops_per_core"));
  }

  uint64_t rank(uint64_t i, uint64_t j) const { return i * q_ + j; }

  /* Send a panel from member `root` of a line of the grid to all others. in line: which row or
   * column; along: a row. Returns by member when the panel is there. */
  std::vector<double> send(uint64_t line, bool along, uint64_t root, double bytes) {
    std::vector<double> there(q_, 0);
    auto member = [&](uint64_t i) { return along ? rank(line, i) : rank(i, line); };
    there[root] = free[member(root)];
    if (q_ == 1) return there;
    if (c_.way == Dense::COLLECTIVE) return by_team(member(root), member((root + 1) % q_), bytes);
    for (uint64_t i = 0; i + 1 < q_; i++) {
      const uint64_t from = (root + i) % q_, to = (from + 1) % q_;
      const uint64_t a = member(from), b = member(to);
      const Message one = ways_.message(a, b, bytes, bytes);
      const double begin = std::max(free[a], there[from]) + one.start;
      /* A long two-sided message waits until its receiver does, and its sender for its end. */
      const bool asks = one.ask > 0;
      there[to] =
          (asks ? std::max(begin + one.ask, free[b]) + one.answer : begin + one.landed) + one.take;
      free[a] = asks ? there[to] - one.take : begin;
    }
    return there;
  }

private:
  /* A binary tree in parts: a rank sends each part twice. */
  std::vector<double> by_team(uint64_t root, uint64_t other, double bytes) {
    const double depth = std::ceil(std::log2(static_cast<double>(q_)));
    const Message head = ways_.message(root, other, 0, 0);
    const Message whole = ways_.message(root, other, bytes, bytes);
    const double hop = m_.get("am_send_s") + head.landed + m_.get("am_receive_s");
    free[root] += head.start;
    const double seconds = depth * hop + 2 * (whole.there() - head.there());
    return std::vector<double>(q_, free[root] + seconds);
  }

  const Machine &m_;
  const DenseCase &c_;
  uint64_t q_;
  Ways ways_;

public:
  std::vector<double> free; /* by rank */
};

/* Blocks from `first` on that member `i` of `side` has. */
double blocks_of(uint64_t first, uint64_t count, uint64_t i, uint64_t side) {
  const uint64_t begin = first + (i + side - first % side) % side;
  return begin < count ? static_cast<double>((count - begin + side - 1) / side) : 0;
}

} // namespace

DenseCase dense_make(const Network &network, uint64_t n, uint64_t block, const std::string &way) {
  const auto side =
      static_cast<uint64_t>(std::lround(std::sqrt(static_cast<double>(network.ranks()))));
  if (side * side != network.ranks())
    throw Error("--ranks " + std::to_string(network.ranks()) + ": give a square, as 256");
  if (n % (block * side))
    throw Error("--rows " + std::to_string(n) + ": give a multiple of --block times " +
                std::to_string(side) + ", as " + std::to_string(block * side * 8));
  static const std::pair<const char *, Dense> names[] = {
      {"hand", Dense::HAND}, {"collective", Dense::COLLECTIVE}, {"library", Dense::LIBRARY}};
  return {n, block, side, choose("--way", way, names)};
}

double matmul_seconds(const Network &network, const DenseCase &c) {
  Grid grid(network, c);
  const uint64_t q = c.side, steps = c.n / c.block;
  const double part = static_cast<double>(c.n / q), width = static_cast<double>(c.block);
  const double work = grid.compute(2 * part * part * width), bytes = part * width * VALUE_BYTES;
  std::vector<double> ready(q * q), before(q * q, 0);
  /* Where panels are sent one ahead, those of step k + 1 leave before step k is computed. */
  const bool ahead = c.way != Dense::LIBRARY;
  for (uint64_t k = 0; k <= steps; k++) {
    if (k < steps)
      for (uint64_t line = 0; line < q; line++) {
        const std::vector<double> a = grid.send(line, true, k % q, bytes);
        for (uint64_t j = 0; j < q; j++)
          ready[grid.rank(line, j)] = std::max(line ? ready[grid.rank(line, j)] : 0, a[j]);
      }
    for (uint64_t line = 0; k < steps && line < q; line++) {
      const std::vector<double> b = grid.send(line, false, k % q, bytes);
      for (uint64_t i = 0; i < q; i++)
        ready[grid.rank(i, line)] = std::max(ready[grid.rank(i, line)], b[i]);
    }
    const std::vector<double> &now = ahead ? before : ready;
    if (ahead ? k > 0 : k < steps)
      for (uint64_t r = 0; r < q * q; r++) grid.free[r] = std::max(grid.free[r], now[r]) + work;
    before = ready;
    std::fill(ready.begin(), ready.end(), 0);
  }
  return *std::max_element(grid.free.begin(), grid.free.end());
}

double cholesky_seconds(const Network &network, const DenseCase &c) {
  Grid grid(network, c);
  const uint64_t q = c.side, steps = c.n / c.block;
  const double b = static_cast<double>(c.block), bytes = b * b * VALUE_BYTES;
  for (uint64_t k = 0; k < steps; k++) {
    const uint64_t root = k % q;
    std::vector<double> ready(q * q, 0);
    grid.free[grid.rank(root, root)] += grid.compute(b * b * b / 3);
    const std::vector<double> corner = grid.send(root, false, root, bytes);
    for (uint64_t i = 0; i < q; i++) {
      double &at = grid.free[grid.rank(i, root)];
      at = std::max(at, corner[i]) + grid.compute(blocks_of(k + 1, steps, i, q) * b * b * b);
    }
    for (uint64_t i = 0; i < q; i++) {
      const double rows = blocks_of(k + 1, steps, i, q);
      if (rows <= 0) continue;
      const std::vector<double> there = grid.send(i, true, root, rows * bytes);
      for (uint64_t j = 0; j < q; j++) ready[grid.rank(i, j)] = there[j];
    }
    /* The transposed blocks come down the columns from the diagonal. */
    for (uint64_t j = 0; j < q; j++) {
      const double columns = blocks_of(k + 1, steps, j, q);
      if (columns <= 0) continue;
      double &begin = grid.free[grid.rank(j, j)];
      begin = std::max(begin, ready[grid.rank(j, j)]);
      const std::vector<double> there = grid.send(j, false, j, columns * bytes);
      for (uint64_t i = 0; i < q; i++)
        ready[grid.rank(i, j)] = std::max(ready[grid.rank(i, j)], there[i]);
    }
    for (uint64_t i = 0; i < q; i++)
      for (uint64_t j = 0; j < q; j++) {
        /* Half of the blocks, because the matrix is symmetric. */
        const double work =
            blocks_of(k + 1, steps, i, q) * blocks_of(k + 1, steps, j, q) * b * b * b;
        double &at = grid.free[grid.rank(i, j)];
        if (work > 0) at = std::max(at, ready[grid.rank(i, j)]) + grid.compute(work);
      }
  }
  return *std::max_element(grid.free.begin(), grid.free.end());
}

} // namespace sim
