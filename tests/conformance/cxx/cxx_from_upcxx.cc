/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/*
 * tombolo.hpp: the ten programs of docs/book/from-upcxx.md.
 */
#undef NDEBUG
#include <cassert>
#include <iostream>
#include <thread>

#include "tombolo.hpp"

namespace {

using namespace tombolo;

void hello(const job &j) {
  /* book: hello */
  std::cout << j.rank() << " of " << j.size() << std::endl; // in tombolo::run
  j.barrier();
  /* book end */
}

void array(const job &j) {
  /* book: array */
  dist_object<global_ptr<int>> all(new_array<int>(8));
  const auto right = all.fetch((j.rank() + 1) % j.size()).wait();
  rput(right, int(j.rank())).wait();
  j.barrier();
  delete_array(*all);
  /* book end */
}

void chain(const job &j) {
  /* book: chain */
  const auto all = j.allocate<int>(2);
  const auto p = all.on(j.rank());
  future<int> f = rget(p).then([=](int v) { return rput(p + 1, v + 1).then([=] { return v; }); });
  f.wait();
  /* book end */
}

void many(const job &j) {
  /* book: many */
  const auto place = j.allocate<int>(4);
  const auto p = place.on((j.rank() + 1) % j.size());
  promise<> all;
  for (int i = 0; i < 4; i++) rput(p + i, i, on_done(all));
  all.finish().wait();
  /* book end */
}

void join(const job &j) {
  /* book: join */
  const auto ints = j.allocate<int>(1);
  const auto reals = j.allocate<double>(1);
  future<int, double> both = when_all(rget(ints.on(0)), rget(reals.on(0)));
  both.then([](int a, double b) { assert(a + b == 0); }).wait();
  /* book end */
}

void call(const job &) {
  /* book: call */
  const int twice = rpc(
                        0, [](int v) { return 2 * v; }, 21)
                        .wait();
  assert(twice == 42);
  /* book end */
}

void announce(const job &j) {
  /* book: announce */
  const auto place = j.allocate<int>(3);
  const signal_counter arrived;
  const int data[3] = {1, 2, 3};
  rput(place.on((j.rank() + 1) % j.size()), data, 3, on_arrival(arrived));
  arrived.wait();
  assert(place.local()[2] == 3);
  /* book end */
}

void ticket(const job &j) {
  /* book: ticket */
  const auto counter = j.allocate<long>(1);
  const atomic_domain<long> ad(j.world(), {atomic_op::fetch_add});
  const long ticket = ad.fetch_add(counter.on(0), 1).wait();
  assert(ticket >= 0 && ticket < long(j.size()));
  /* book end */
}

void reduce(const job &j) {
  /* book: reduce */
  auto sum = j.world().async_all_reduce(1.5);
  progress();
  assert(sum.wait() == 1.5 * j.size());
  /* book end */
}

void thread(const job &) {
  /* book: thread */
  promise<executor> started;
  promise<> stop;
  std::thread worker([&] {
    started.set_value(this_executor());
    stop.get_future().wait();
  });
  const executor there = started.get_future().wait();
  assert(there.submit([] { return 7; }).wait() == 7);
  stop.set_value();
  worker.join();
  /* book end */
}

} // namespace

int main(int argc, char **argv) {
  return tombolo::run(argc, argv, [](const job &j) {
    for (const auto program :
         {hello, array, chain, many, join, call, announce, ticket, reduce, thread}) {
      program(j);
      j.barrier();
    }
  });
}
