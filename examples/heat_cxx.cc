// SPDX-License-Identifier: BSD-3-Clause
// heat_cxx.cc: heat in a rod, in C++: each rank has a piece, and neighbours put their edge cells.
//
// Shows tombolo.hpp: a job that main runs, symmetric memory, put with a signal, a reduction, a
// remote call. Heat is conserved, which is checked at the end.
// Compile: tombolo c++ heat_cxx.cc -o heat_cxx
// Run:     tombolo run -n 4 ./heat_cxx
/* mode: SEQ */
/* ranks: 1 4 */
#include <tombolo.hpp>

#include <cmath>
#include <cstdio>

namespace {

const size_t Cells = 200; // on each rank; cells 0 and Cells + 1 are copies of the neighbours' edges
const int Steps = 500;

// Sends this rank's edge cells, and waits for those of its neighbours.
void exchange(const tombolo::job &job, const tombolo::symmetric<double> &rod, bool odd,
              const tombolo::signal_counter &from_left, const tombolo::signal_counter &from_right) {
  const size_t at = odd ? Cells + 2 : 0; // two copies: who is a step ahead writes the other one
  const double *mine = rod.local() + at;
  const bool left = job.rank() > 0, right = job.rank() + 1 < job.size();
  // book: signals
  if (left) put_signal(rod.on(job.rank() - 1) + at + Cells + 1, mine + 1, 1, from_right);
  if (right) put_signal(rod.on(job.rank() + 1) + at, mine + Cells, 1, from_left);
  if (left) from_left.wait();
  if (right) from_right.wait();
  // book end
  double *own = rod.local() + at;
  if (!left) own[0] = own[1]; // ends of the rod are insulated
  if (!right) own[Cells + 1] = own[Cells];
}

int heat(const tombolo::job &job) {
  // book: allocate
  const auto rod = job.allocate<double>(2 * (Cells + 2));
  const tombolo::signal_counter from_left, from_right;
  // book end
  if (job.rank() == 0) rod.local()[1] = 1000; // all heat is at the left end
  for (int step = 0; step < Steps; step++) {
    exchange(job, rod, step % 2, from_left, from_right);
    const double *now = rod.local() + (step % 2 ? Cells + 2 : 0);
    double *next = rod.local() + (step % 2 ? 0 : Cells + 2);
    for (size_t i = 1; i <= Cells; i++)
      next[i] = now[i] + 0.4 * (now[i - 1] - 2 * now[i] + now[i + 1]);
  }
  double mine = 0;
  for (size_t i = 1; i <= Cells; i++) mine += rod.local()[i];
  // book: reduce
  const double all = job.world().all_reduce(mine);
  // book end

  // Rank 0 asks the last rank how warm its first cell is.
  const auto warmth = [](const double *cell) { return *cell; };
  if (job.rank() == 0) {
    // book: call
    const auto first = rod.on(job.size() - 1) + 1;
    const double far = job.world().call(job.size() - 1, warmth, first.address()).wait();
    // book end
    std::printf("%s: %.6f of heat, %g in the first cell of rank %u\n",
                std::fabs(all - 1000) < 1e-6 ? "ok" : "FAILED", all, far, job.size() - 1);
  }
  return std::fabs(all - 1000) < 1e-6 ? 0 : 1;
}

} // namespace

// book: main
int main(int argc, char **argv) {
  return tombolo::run(argc, argv, heat);
}
// book end
