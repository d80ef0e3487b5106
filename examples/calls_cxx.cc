// SPDX-License-Identifier: BSD-3-Clause
// calls_cxx.cc: functions that run on other ranks, and the values that travel with them, in C++.
//
// Shows tombolo.hpp: calls with an answer, with an error and without either, elements that are read
// in the message, a type that writes its own bytes, signals without data.
// Compile: tombolo c++ calls_cxx.cc -o calls_cxx
// Run:     tombolo run -n 4 ./calls_cxx
/* mode: SEQ */
/* ranks: 1 2 4 */
#include <tombolo.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void check(bool right, const char *subject) {
  if (!right) throw std::logic_error(subject);
}

// An exception of the function comes back, with the rank.
void errors(tombolo::rank_t right) {
  const auto refuses = []() -> int { throw std::runtime_error("not today"); };
  try {
    tombolo::rpc(right, refuses).wait();
    check(false, "the call has thrown");
  } catch (const tombolo::remote_error &e) {
    check(std::string(e.what()).find("not today") != std::string::npos, "rank and text");
  }
}

// Elements go out of memory here, and are read in the message there: no copy in between.
void elements(tombolo::rank_t right) {
  const auto sum = [](tombolo::elements<double> values) {
    double all = 0;
    if (!values.empty())
      for (const double x : values) all += x; // from begin() to end()
    return all;
  };
  const std::vector<double> data(1000, 0.5);
  check(tombolo::rpc(right, sum, tombolo::elements<double>(data)).wait() == 500, "the sum");
}

// A type that writes its own bytes: their number, then the bytes at a multiple of 8.
struct picture {
  std::vector<unsigned char> pixels;
  void write(tombolo::writer &out) const {
    const uint64_t n = pixels.size();
    out.write(n);
    out.align(8);
    out.bytes(pixels.data(), pixels.size());
  }
  static picture read(tombolo::reader &in) {
    const size_t n = in.count(1); // elements of one byte; throws where there are fewer
    in.align(8);
    const char *const from = in.bytes(n);
    return {{from, from + n}};
  }
};
void pictures(tombolo::rank_t right) {
  const auto darker = [](picture p) {
    for (unsigned char &pixel : p.pixels) pixel /= 2;
    return p;
  };
  const picture half = tombolo::rpc(right, darker, picture{{10, 20, 30}}).wait();
  check(half.pixels == std::vector<unsigned char>{5, 10, 15}, "a picture and back");
}

// Calls that nobody waits for, and signals that carry nothing.
void one_way(const tombolo::job &job, tombolo::rank_t right) {
  const tombolo::dist_object<int> calls(0);
  const auto count = [](tombolo::dist_object<int> &theirs) { ++*theirs; };
  tombolo::rpc_ff(right, count, calls);
  while (*calls == 0) tombolo::progress();

  const tombolo::signal_counter s;
  raise(s, right, 2);
  while (!s.try_wait(2)) tombolo::progress();
  job.barrier();
}

int everything(const tombolo::job &job) {
  const tombolo::rank_t right = (job.rank() + 1) % job.size();
  errors(right);
  elements(right);
  pictures(right);
  one_way(job, right);
  if (job.rank() == 0) std::printf("ok: calls between %u ranks\n", job.size());
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  return tombolo::run(argc, argv, everything);
}
