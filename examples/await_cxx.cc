// SPDX-License-Identifier: BSD-3-Clause
// await_cxx.cc: coroutines of C++20 that get, call and wait, in the order in which they are
// written.
//
// Shows tombolo.hpp: co_await of a future, and functions that give one. Without coroutines in the
// compiler the program ends at once.
// Compile: tombolo c++ -std=c++20 await_cxx.cc -o await_cxx
// Run:     tombolo run -n 4 ./await_cxx
/* mode: SEQ */
/* ranks: 1 4 */
#include <tombolo.hpp>

#include <cstdio>

#ifdef __cpp_impl_coroutine

namespace {

using tombolo::future;

// The sum of n numbers of another rank: each get is awaited, and other work goes on meanwhile.
future<long> sum(tombolo::global_ptr<long> from, int n) {
  long all = 0;
  for (int i = 0; i < n; i++) all += co_await rget(from + i);
  co_return all;
}

// Two sums in progress at a time; then a function on the rank where the numbers are.
future<long> twice(const tombolo::job &job, tombolo::global_ptr<long> from) {
  const future<long> first = sum(from, 2), second = sum(from, 3);
  const long both = co_await first + co_await second;
  co_return co_await job.world().call(
      from.where(), [](long value) { return value + 1; }, both);
}

int start(tombolo::job &job) {
  const auto numbers = job.allocate<long>(3);
  for (int i = 0; i < 3; i++) numbers.local()[i] = i + 1;
  job.barrier();
  const long got = twice(job, numbers.on((job.rank() + 1) % job.size())).wait();
  job.barrier();
  if (job.rank() == 0) std::printf("the sums are %ld\n", got);
  return got == 10 ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  return tombolo::run(argc, argv, start);
}
#else
int main() {
  std::puts("coroutines need -std=c++20");
  return 0;
}
#endif
