/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rates of remote fetch-and-add, see atomic.h.
 *
 * Owns: the events of an operation: begun, at the executor, back. Called by models.cc. Calls:
 * network.h. Events are taken in the order of their times from a heap. Executors are processors of
 * ranks, or adapters of nodes; a processor also begins and ends its own rank's operations.
 * Invariants: ranks of the owner's node use its memory where processors execute; where adapters do,
 * they go through the adapter, because the two do not exclude each other.
 */
#include "sim/apps/atomic.h"

#include <algorithm>
#include <queue>

namespace sim {
namespace {

constexpr double WORD_BYTES = 8;

enum class Step { BEGIN, EXECUTE, END };

struct Event {
  double at;
  uint64_t number; /* among equal times the first made is the first taken */
  Step step;
  uint64_t rank, owner;
  bool operator<(const Event &other) const {
    return at != other.at ? at > other.at : number > other.number;
  }
};

class Atomic {
public:
  Atomic(const Network &network, const AtomicCase &c)
      : network_(network), c_(c), m_(network.machine()), free_(network.ranks()),
        left_(network.ranks(), c.count), begun_(network.ranks()) {
    if (nic() && m_.get("nic_atomic_s") <= 0)
      throw Error("--algorithm nic: adapters of machine " + m_.name +
                  " have no atomic operations (nic_atomic_s is 0); give owner");
  }

  AtomicResult run() {
    const uint64_t size = network_.ranks();
    for (uint64_t r = 0; r < size; r++) add(0, Step::BEGIN, r, 0);
    while (!events_.empty()) {
      const Event e = events_.top();
      events_.pop();
      if (e.step == Step::BEGIN) begin(e);
      if (e.step == Step::EXECUTE) execute(e);
      if (e.step == Step::END) end(e);
    }
    const double all = static_cast<double>(size * c_.count);
    return {all / last_, spent_ / all};
  }

private:
  bool nic() const { return c_.means == Executor::NIC; }

  void add(double at, Step step, uint64_t rank, uint64_t owner) {
    events_.push({at, number_++, step, rank, owner});
  }

  /* Occupy an executor. Returns when it is done. */
  double occupy(uint64_t which, double from, double seconds) {
    free_[which] = std::max(free_[which], from) + seconds;
    return free_[which];
  }

  uint64_t draw(uint64_t rank) {
    if (c_.place == Place::HOT) return 0;
    if (c_.place == Place::NEXT) return (rank + m_.count("cores_per_node")) % network_.ranks();
    state_ = state_ * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state_ >> 33) % network_.ranks();
  }

  double way(uint64_t a, uint64_t b) {
    const uint64_t from = network_.node_of(a), to = network_.node_of(b);
    if (from == to) return nic() ? 2 * m_.get("node_latency_s") : m_.get("near_latency_s");
    const auto known = latencies_.emplace(from * network_.nodes() + to, 0);
    if (known.second)
      known.first->second = network_.latency(from, to) + WORD_BYTES / network_.rail_bytes_per_s();
    return known.first->second;
  }

  void begin(const Event &e) {
    begun_[e.rank] = e.at;
    const uint64_t owner = draw(e.rank);
    double sent = e.at + m_.get("put_overhead_s");
    if (!nic()) {
      const bool near = network_.near(e.rank, owner);
      sent = occupy(e.rank, e.at, near ? 0 : m_.get("am_send_s"));
    }
    add(sent + way(e.rank, owner), Step::EXECUTE, e.rank, owner);
  }

  void execute(const Event &e) {
    double done;
    if (nic()) {
      done = occupy(network_.node_of(e.owner), e.at, m_.get("nic_atomic_s"));
    } else if (network_.near(e.rank, e.owner)) {
      done = e.at; /* by itself, in the owner's memory */
    } else {
      done = occupy(e.owner, e.at, m_.get("am_receive_s") + m_.get("am_send_s"));
    }
    add(done + way(e.owner, e.rank), Step::END, e.rank, e.owner);
  }

  void end(const Event &e) {
    double done = e.at + m_.get("put_done_s");
    if (!nic()) {
      const bool near = network_.near(e.rank, e.owner);
      done = occupy(e.rank, e.at, near ? 0 : m_.get("am_receive_s"));
    }
    spent_ += done - begun_[e.rank];
    last_ = std::max(last_, done);
    if (--left_[e.rank]) add(done, Step::BEGIN, e.rank, 0);
  }

  const Network &network_;
  const AtomicCase &c_;
  const Machine &m_;
  std::priority_queue<Event> events_;
  std::vector<double> free_; /* executors: ranks, or nodes */
  std::vector<uint64_t> left_;
  std::vector<double> begun_;
  std::unordered_map<uint64_t, double> latencies_;
  uint64_t number_ = 0, state_ = 1;
  double spent_ = 0, last_ = 0;
};

} // namespace

Place atomic_place(const std::string &name) {
  static const std::pair<const char *, Place> names[] = {
      {"hot", Place::HOT}, {"spread", Place::SPREAD}, {"next", Place::NEXT}};
  return name.empty() ? Place::HOT : choose("--kind", name, names);
}

Executor atomic_means(const std::string &name) {
  static const std::pair<const char *, Executor> names[] = {{"owner", Executor::OWNER},
                                                            {"nic", Executor::NIC}};
  return name.empty() ? Executor::OWNER : choose("--algorithm", name, names);
}

AtomicResult atomic_run(const Network &network, const AtomicCase &c) {
  return Atomic(network, c).run();
}

} // namespace sim
