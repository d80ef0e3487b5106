// SPDX-License-Identifier: BSD-3-Clause
// Seeded races of C++ with futures, promises, remote calls, signals and threads: one case each, for
// tests/check/findings.py, compiled with `tombolo c++ --check`. Lines that race end with a comment
// `race: CASE`, those of correct cases have none. Run with 3 ranks; the argument is the case.
#include "three_ranks.hpp"

#include <thread>
#include <vector>

namespace {

using namespace tombolo;

// The continuation of one put says nothing of another one.
CASE(other_future) {
  if (me == 1) {
    auto first = rput(at[0], v, 4); // race: other_future
    rput(at[0] + 8, v, 4).then([] { raise(*counter, 0); }).wait();
    first.wait();
  }
  if (me == 0) counter->wait();
  if (me == 0) sink = mine[1]; // race: other_future
}
CASE(promise_too_early) {
  promise<> p;
  if (me == 1) {
    rput(at[2], v, 4, on_source(p)); // race: promise_too_early
    p.finish().wait();
    raise(*counter, 2);
  }
  if (me == 2) counter->wait();
  if (me == 2) sink = mine[2]; // race: promise_too_early
}
// The caller does not wait for what its call does.
CASE(call_not_waited) {
  if (me != 1) return;
  auto done = rpc(the_job->world(), 0, [] { mine[5] = 1; }); // race: call_not_waited
  sink = at[0][5];                                           // race: call_not_waited
  done.wait();
}
CASE(call_and_other) {
  if (me == 1) rpc(the_job->world(), 0, [] { mine[5] = 1; }).wait(); // race: call_and_other
  if (me == 2) put(at[0] + 5, 4L);                                   // race: call_and_other
  the_job->world().barrier();
}
CASE(arrival_of_other) {
  if (me == 1) {
    auto first = rput(at[0] + 4, v, 2); // race: arrival_of_other
    rput(at[0], v, 2, on_arrival(*counter));
    first.wait();
  }
  if (me == 0) counter->wait();
  if (me == 0) sink = mine[0] + mine[4]; // race: arrival_of_other
}
CASE(other_thread) {
  if (me) return;
  std::thread t([] { put(at[1] + 3, 4L); }); // race: other_thread
  put(at[1] + 3, 5L);                        // race: other_thread
  t.join();
}
CASE(reduced_by_root) {
  if (me == 1) put(at[2], 1L); // race: reduced_by_root
  (void)the_job->world().reduce(1L, 0);
  if (me == 2) sink = mine[0]; // race: reduced_by_root
}

// ---- correct

CASE(ok_futures) {
  const rank_t next = (me + 1) % 3;
  for (int i = 0; i < 5; i++) {
    std::vector<future<>> all;
    for (int k = 0; k < 4; k++) all.push_back(rput(at[next] + k, v + k, 1));
    when_all(all).then([next] { raise(*counter, next); }).wait();
    counter->wait();
    mine[1]++;
    rget(at[me], v, 4).then([] { sink = v[3]++; }).wait();
    the_job->world().barrier();
  }
}
CASE(ok_promises) {
  for (int i = 0; i < 5; i++) {
    promise<> p;
    if (me) {
      rput(at[0] + me, v, 1, on_done(p));
      rput(at[0] + 4 + me, v, 1, on_done(p));
      p.finish().wait();
      raise(*counter, 0);
    } else {
      counter->wait(2);
      mine[1] = mine[2] + mine[5] + mine[6];
    }
    the_job->world().barrier();
  }
}
CASE(ok_calls) {
  for (int i = 0; i < 5; i++) {
    if (me == 1) {
      put(at[2], 4L);
      rpc(the_job->world(), 0, [] { mine[5]++; }).wait();
      sink = at[0][5];
    }
    if (me == 2)
      rpc(the_job->world(), 0, [] { return mine[6]++; }).then([](long was) { v[0] = was; }).wait();
    the_job->world().barrier();
    if (me == 2) sink = mine[0]++;
    the_job->world().barrier();
  }
}
CASE(ok_call_chain) {
  if (me == 0) {
    put(at[2], 5L);
    rpc(the_job->world(), 1, [] {
      return rpc(the_job->world(), 2, [] { return mine[0]++; });
    }).wait();
    sink = at[2][0];
  }
  the_job->world().barrier();
}
CASE(ok_arrival) {
  for (int i = 0; i < 5; i++) {
    if (me == 1) {
      rput(at[0], v, 2, on_arrival(*counter));
      rput(at[0] + 4 + 2 * i, v, 2, on_arrival([i] { mine[4 + 2 * i]++; }));
    }
    if (me == 0) counter->wait();
    if (me == 0) mine[0] += mine[1];
    the_job->world().barrier();
    if (me == 2) sink = at[0][0];
    the_job->world().barrier();
  }
}
CASE(ok_threads) {
  if (me) return;
  promise<> ready;
  ready.require();
  std::thread t([ready] {
    put(at[1] + 3, 4L);
    mine[3] = 1;
    ready.fulfill();
  });
  ready.finish().wait();
  put(at[1] + 3, 5L);
  mine[3]++;
  t.join();
}
CASE(ok_roots) {
  for (rank_t root = 0; root < 3; root++) {
    if (me != root) put(at[root] + me, 1L);
    (void)the_job->world().reduce(1L, root);
    if (me == root) mine[(root + 1) % 3]++;
    (void)the_job->world().broadcast(1L, root);
    sink = at[root][(root + 1) % 3];
    (void)the_job->world().all_to_all(std::vector<long>(3));
  }
}

} // namespace
