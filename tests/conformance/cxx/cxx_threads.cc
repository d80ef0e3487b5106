/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 8 */
/* mode: PAR */
/* again: TOMBOLO_CONDUIT=udp+TOMBOLO_PLACES=cyclic:2 */
/*
 * tombolo.hpp with several threads a rank: continuations run in the thread that attached them,
 * executors, promises that other threads fulfil, threads that end (docs/CPP.md).
 */
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "checked.hpp"

namespace {

using tombolo::future;
using tombolo::job;

constexpr int Threads = 3;

template <class F> void in_threads(F f) {
  std::vector<std::thread> all;
  all.reserve(Threads);
  for (int t = 0; t < Threads; t++) all.emplace_back(f, t);
  for (auto &t : all) t.join();
}

/* Each thread starts transfers and calls, with continuations that count without an atomic. */
void check_home(const job &j) {
  const auto a = j.allocate<long>(Threads);
  const unsigned right = (j.rank() + 1) % j.size();
  std::atomic<int> wrong{0};
  in_threads([&](int t) {
    const auto me = std::this_thread::get_id();
    int seen = 0;
    const auto count = [&, me] {
      if (std::this_thread::get_id() != me) wrong++;
      seen++;
    };
    const auto p = a.on(right) + t;
    for (int i = 0; i < 20; i++) {
      static_cast<void>(rput(p, long(i)).then(count));
      static_cast<void>(j.world().call(right, [] { return 1; }).then([&](int) { count(); }));
      static_cast<void>(rget(p).then([&](long) { count(); }));
    }
    while (seen < 60) tombolo::progress();
  });
  CHECK_EQ(wrong.load(), 0);
  j.barrier();
}

/* A thread serves the others, and sleeps in between. */
void check_executor(const job &j) {
  tombolo::promise<tombolo::executor> started;
  tombolo::promise<> stop;
  std::thread server([&] {
    started.set_value(tombolo::this_executor());
    stop.get_future().wait();
  });
  const tombolo::executor there = started.get_future().wait();
  const auto id = server.get_id();
  CHECK(there != tombolo::this_executor());
  long served = 0; /* only the server touches it */
  std::atomic<int> posted{0};
  in_threads([&](int) {
    const auto me = std::this_thread::get_id();
    for (int i = 0; i < 10; i++) {
      const auto back = there.submit([&, id] { return served += std::this_thread::get_id() == id; })
                            .then([me](long) { return std::this_thread::get_id() == me; });
      if (!back.wait()) there.post([&] { served = -1000; });
      there.post([&] { posted++; });
    }
  });
  const auto sum = there.submit([&] { return j.world().call(0, [] { return 5; }); });
  CHECK_EQ(sum.wait(), 5);
  CHECK_EQ(there.submit([&] { return served; }).wait(), 10 * Threads);
  CHECK_EQ(posted.load(), 10 * Threads);
  stop.set_value();
  server.join();
  std::string text;
  try {
    there.post([] {});
  } catch (const tombolo::error &e) {
    text = e.what();
  }
  CHECK(text.find("has ended") != std::string::npos);
}

/* Threads that end run what waits for their operations; what waits for others fails. */
void check_ends(const job &j) {
  const auto a = j.allocate<long>(1);
  std::atomic<int> ran{0};
  tombolo::promise<int> late;
  future<int> left;
  in_threads([&](int t) {
    static_cast<void>(rget(a.on(j.size() - 1)).then([&](long) { ran++; }));
    static_cast<void>(j.world().call(0, [] {}).then([&] { ran++; }));
    if (!t) left = late.get_future().then([](int v) { return v; });
  });
  CHECK_EQ(ran.load(), 2 * Threads);
  late.set_value(4);
  const std::string text = text_of([&] { left.wait(); });
  CHECK(text.find("has ended") != std::string::npos);
  j.barrier();
}

} // namespace

int main(int argc, char **argv) {
  return run_checks(argc, argv, {check_home, check_executor, check_ends});
}
