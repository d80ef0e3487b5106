// SPDX-License-Identifier: BSD-3-Clause
// Seeded races of two threads of a rank in C++, one case each, for tests/check/findings.py:
// compiled with `tombolo c++ --check`. Lines that race end with a comment `race: CASE`, those of
// correct cases have none. Run with 3 ranks; the argument is the case.
#include "three_ranks.hpp"

#include <atomic>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

namespace {

CASE(two_threads) {
  if (me) return;
  std::thread t([] { mine[0] = 1; }); // race: two_threads
  mine[0] = 2;                        // race: two_threads
  t.join();
}
CASE(two_puts) {
  if (me) return;
  std::thread t([] { tombolo::put(at[1], 1L); }); // race: two_puts
  tombolo::put(at[1], 2L);                        // race: two_puts
  t.join();
}
CASE(future_early) {
  if (me) return;
  std::promise<void> said;
  std::thread t([&] {
    said.set_value();
    mine[0] = 1; // race: future_early
  });
  said.get_future().wait();
  sink = mine[0]; // race: future_early
  t.join();
}

// ---- correct: nothing may be found

CASE(ok_locks) {
  if (me) return;
  std::mutex m;
  std::shared_mutex s;
  const auto add = [&] {
    for (int i = 0; i < 50; i++) {
      {
        const std::lock_guard<std::mutex> held(m);
        tombolo::put(at[1], mine[0]++);
      }
      const std::unique_lock<std::shared_mutex> held(s);
      mine[1]++;
    }
  };
  std::thread t(add), u(add);
  add();
  t.join();
  u.join();
  const std::shared_lock<std::shared_mutex> held(s);
  sink = mine[0] + mine[1];
}
CASE(ok_condition) {
  if (me) return;
  std::mutex m;
  std::condition_variable c;
  bool ready = false;
  std::thread t([&] {
    mine[0] = 1;
    const std::lock_guard<std::mutex> held(m);
    ready = true;
    c.notify_one();
  });
  {
    std::unique_lock<std::mutex> held(m);
    c.wait(held, [&] { return ready; });
  }
  mine[0] = 2;
  t.join();
}
CASE(ok_futures) {
  if (me) return;
  for (int i = 0; i < 20; i++) {
    auto result = std::async(std::launch::async, [] { return mine[0]++; });
    sink = result.get();
    mine[0]++;
    std::promise<long> promise;
    auto said = promise.get_future();
    std::thread t([&] {
      mine[1]++;
      promise.set_value(7);
    });
    sink = said.get();
    mine[1]++;
    t.join();
  }
}
long *made() {
  static long *const here = (mine[0] = 5, mine);
  return here;
}
CASE(ok_once) {
  if (me) return;
  std::once_flag once;
  const auto use = [&] {
    std::call_once(once, [] { mine[1] = 3; });
    sink = mine[1] + *made();
  };
  std::thread t(use), u(use);
  use();
  t.join();
  u.join();
}
CASE(ok_atomic) {
  if (me) return;
  std::atomic<int> turn{0};
  const auto play = [&](int who) {
    for (int i = 0; i < 20; i++) {
      while (turn.load(std::memory_order_acquire) != who) std::this_thread::yield();
      mine[0]++;
      tombolo::put(at[2], mine[0]);
      turn.store(1 - who, std::memory_order_release);
    }
  };
  std::thread t(play, 1);
  play(0);
  t.join();
}
// The last owner ends what both have used.
struct user {
  ~user() { mine[0] = 0; }
};
CASE(ok_shared_ptr) {
  if (me) return;
  auto one = std::make_shared<user>();
  std::thread t([other = one]() mutable {
    mine[0] = 1;
    other.reset();
  });
  sink = mine[1];
  one.reset();
  t.join();
}
// Memory that another thread has given back.
CASE(ok_allocate) {
  if (me) return;
  std::vector<std::thread> all;
  for (int t = 0; t < 3; t++)
    all.emplace_back([] {
      for (int i = 0; i < 30; i++) {
        const auto p = tombolo::new_<long>(i);
        *p.local() += 1;
        tombolo::delete_(p);
      }
    });
  for (auto &t : all) t.join();
}
// Continuations run in the thread that waits for them, or to which they were sent.
CASE(ok_futures_of_ours) {
  if (me) return;
  std::atomic<bool> ends{false};
  std::promise<tombolo::executor> ready;
  std::thread t([&] {
    ready.set_value(tombolo::this_executor());
    while (!ends) tombolo::progress();
    mine[0]++;
  });
  const auto there = ready.get_future().get();
  for (int i = 0; i < 20; i++) {
    mine[0]++;
    there.submit([] { return mine[0]++; }).wait();
    tombolo::rput(at[1], mine[0]).then([] { mine[1]++; }).wait();
  }
  mine[0]++;
  ends = true;
  t.join();
}

} // namespace
