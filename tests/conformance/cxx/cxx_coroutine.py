#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 60
"""Coroutines of tombolo.hpp, compiled as C++20, on two ranks, mapped and by messages.

$TOMBOLO is the command, $TMB_BUILD the build tree, whose library the program is linked with.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../lib"))

from command import cxx_on_ranks

TEXT = """
#include <tombolo.hpp>
#ifndef __cpp_impl_coroutine
int main() { return 77; }
#else
using tombolo::future;
using tombolo::job;

int steps = 0;

future<long> sum(tombolo::global_ptr<long> p, int n) {
  long all = 0;
  for (int i = 0; i < n; i++) all += co_await rget(p + i);
  steps++;
  co_return all;
}
future<void> fails(const job &j) {
  co_await j.world().call(j.size() - 1, [] { throw std::runtime_error("there"); });
  steps += 1000; // not reached
}
future<int> outer(const job &j, tombolo::global_ptr<long> p) {
  co_await rput(p, 10L);
  future<long> first = sum(p, 3), second = sum(p, 2);
  const long both = co_await first + co_await second;
  const int there = co_await j.world().call(p.where(), [](long v) { return int(v) + 1; }, both);
  try {
    co_await fails(j);
  } catch (const tombolo::remote_error &) {
    steps += 10;
  }
  co_return there;
}

int main(int argc, char **argv) {
  return tombolo::run(argc, argv, [](job &j) {
    const auto a = j.allocate<long>(3);
    a.local()[1] = 1, a.local()[2] = 2;
    j.barrier();
    future<int> f = outer(j, a.on((j.rank() + 1) % j.size()));
    const int got = f.wait();
    { auto dropped = sum(a.on(0), 3); }
    j.barrier();
    if (got != 25 || steps < 12 || steps > 13) {
      std::fprintf(stderr, "got %d in %d steps, expected 25 in 12 or 13\\n", got, steps);
      return 1;
    }
    return 0;
  });
}
#endif
"""


if __name__ == "__main__":
    sys.exit(cxx_on_ranks(TEXT, 2, "-std=c++20", "-O1"))
