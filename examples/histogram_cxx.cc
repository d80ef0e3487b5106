// SPDX-License-Identifier: BSD-3-Clause
// histogram_cxx.cc: a histogram over the ranks, in C++: each rank counts samples in the bins of
// all.
//
// Shows tombolo.hpp: atomic operations that report to a promise, a copy from many pieces with a
// signal to its owner, a chain of futures, and a reduction in the background. The number of samples
// is checked at the end.
// Compile: tombolo c++ histogram_cxx.cc -o histogram_cxx
// Run:     tombolo run -n 4 ./histogram_cxx
/* mode: SEQ */
/* ranks: 1 4 */
#include <tombolo.hpp>

#include <cstdio>
#include <vector>

namespace {

const size_t Bins = 16; // on each rank
const int Samples = 1000;

// Counts this rank's samples, wherever their bins are; all are on their way together.
void count(const tombolo::job &job, const tombolo::symmetric<long> &bins) {
  const tombolo::atomic_domain<long> atomics(job.world(), {tombolo::atomic_op::inc});
  tombolo::promise<> all;
  unsigned random = 12345 + job.rank();
  for (int i = 0; i < Samples; i++) {
    random = random * 1103515245 + 12345;
    const unsigned bin = (random >> 16) % unsigned(Bins * job.size());
    atomics.inc(bins.on(bin / unsigned(Bins)) + bin % unsigned(Bins), std::memory_order_relaxed,
                tombolo::on_done(all));
  }
  all.finish().wait();
} // the domain ends with a barrier

// Sends every second bin of this rank to rank 0, which learns of it by a signal.
void collect(const tombolo::job &job, const tombolo::symmetric<long> &bins) {
  const size_t half = Bins / 2;
  const auto rows = job.allocate<long>(half * job.size());
  const tombolo::signal_counter arrived;
  std::vector<tombolo::piece<long *>> even;
  for (size_t i = 0; i < Bins; i += 2) even.push_back({bins.local() + i, 1});
  const auto row = rows.on(0) + ptrdiff_t(half * job.rank());
  const auto sent = rcopy(even, std::vector<tombolo::piece<tombolo::global_ptr<long>>>{{row, half}},
                          tombolo::on_arrival(arrived), tombolo::on_done());
  if (job.rank() == 0) {
    arrived.wait(job.size());
    long sum = 0;
    for (const long n : rows) sum += n;
    std::printf("%ld samples in even bins\n", sum);
  }
  sent.wait();
  job.barrier();
}

int histogram(const tombolo::job &job) {
  const auto bins = job.allocate<long>(Bins);
  count(job, bins);
  long mine = 0;
  for (const long n : bins) mine += n;
  const auto right = job.world().async_all_reduce(mine).then(
      [&](long all) { return all == long(Samples) * long(job.size()); });
  collect(job, bins); // while the sum is made
  const bool ok = right.wait();
  if (job.rank() == 0) std::printf("%s\n", ok ? "ok" : "samples are missing");
  return ok ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  return tombolo::run(argc, argv, histogram);
}
