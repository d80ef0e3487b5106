/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 8 */
/* mode: PAR */
/* again: TOMBOLO_CONDUIT=udp+TOMBOLO_PLACES=cyclic:2 */
/*
 * tombolo.hpp: futures with several values, chains, flattening, joins, promises, exceptions, waits
 * with a time, and continuations that nobody waits for (docs/CPP.md).
 */
#include <chrono>
#include <memory>
#include <string>
#include <tuple>

#include "check.h"
#include "checked.hpp"
#include "tombolo.hpp"

namespace {

using namespace std::chrono_literals;
using tombolo::future;
using tombolo::job;
using tombolo::make_future;
using tombolo::promise;
using tombolo::when_all;

unsigned right_of(const job &j) {
  return (j.rank() + 1) % j.size();
}

void check_values() {
  CHECK_EQ(make_future(3).wait(), 3);
  CHECK(make_future(3, std::string("x")).wait() == std::make_tuple(3, std::string("x")));
  CHECK_EQ(make_future(3, 4).then([](int a, int b) { return a * b; }).wait(), 12);
  const future<> none;
  CHECK(none.test());
  const future<void> same = none.then([] {});
  CHECK(same.ready());
  CHECK_EQ(make_future(5).then([](int a) { return make_future(a + 1); }).wait(), 6);
  CHECK_EQ(*make_future(std::make_unique<int>(7)).wait(), 7);
  future<int> copied = make_future(8);
  const future<int> copy = copied;
  copied = make_future(9);
  CHECK_EQ(copied.wait() + copy.wait(), 17);
  CHECK(text_of([] { future<int>().wait(); }).find("no operation") != std::string::npos);
}

void check_promises() {
  promise<int> p;
  const future<int> f = p.get_future(), next = f.then([](int v) { return v + 1; });
  CHECK(!f.ready() && !next.ready() && !f.wait_for(2ms));
  p.require(2);
  p.set_value(40);
  p.fulfill();
  CHECK(!f.ready());
  p.fulfill();
  CHECK(f.wait_for(1s));
  CHECK_EQ(f.wait() + next.wait(), 81);
  CHECK(text_of([&] { p.fulfill(); }).find("require()") != std::string::npos);
  CHECK(text_of([] { promise<int>().finish().wait(); }).find("set_value()") != std::string::npos);

  promise<> failing;
  int ran = 0;
  const future<int> after = failing.get_future().then([&] { return ++ran; });
  failing.set_exception(std::make_exception_ptr(std::runtime_error("bad")));
  CHECK(text_of([&] { after.wait(); }) == "bad" && ran == 0);
  CHECK(text_of([&] { when_all(after, make_future(1)).wait(); }) == "bad");
  CHECK(text_of([] { make_future(1).then([](int) { throw std::runtime_error("f"); }).wait(); }) ==
        "f");
}

void check_flat() {
  promise<> outer;
  promise<int, char> inner;
  const future<int, char> both = outer.get_future().then([&] { return inner.get_future(); });
  static_cast<void>(outer.finish());
  CHECK(!both.ready());
  inner.set_value(3, 'c');
  CHECK(both.wait() == std::make_tuple(3, 'c'));
}

void check_joins(const job &j) {
  const auto a = j.allocate<long>(512);
  a.local()[0] = 10 + j.rank(), a.local()[1] = 2;
  j.barrier();
  const auto p = a.on(right_of(j));
  const auto all = when_all(rget(p), rput(p + 2, 7L), 'x', rget(p + 1));
  CHECK(all.wait() == std::make_tuple(long(10 + right_of(j)), 'x', 2L));
  promise<> last;
  const future<int> joined =
      when_all(last.get_future(), make_future(4)).then([](int v) { return 2 * v; });
  CHECK(!joined.ready());
  static_cast<void>(last.finish());
  CHECK_EQ(joined.wait(), 8);

  future<> many; /* a chain of any length */
  for (int i = 0; i < 20000; i++)
    many = when_all(many, i % 64 ? future<>() : rput(p + 8 + i / 64, long(i)));
  many.wait();
  std::vector<future<>> list;
  list.reserve(10);
  for (int i = 0; i < 10; i++) list.push_back(rput(p + 400 + i, long(i)));
  when_all(std::move(list)).wait();
  std::vector<future<long>> reads{rget(p + 400), last.get_future().then([] { return 1L; }),
                                  rget(p)};
  const long right = 10 + right_of(j);
  CHECK((when_all(reads).wait() == std::vector<long>{0, 1, right}));
  promise<long> late;
  reads.push_back(late.get_future());
  const auto values = when_all(reads); /* of an lvalue, and not ready */
  CHECK(!values.test());
  late.set_value(3);
  CHECK((values.wait() == std::vector<long>{0, 1, right, 3}));
  CHECK(when_all(std::vector<future<int, char>>{make_future(1, 'x')}).wait()[0] ==
        std::make_tuple(1, 'x'));
  when_all(std::vector<future<void>>(2)).wait();
  reads[1] = tombolo::make_failed<long>(std::make_exception_ptr(std::runtime_error("second")));
  CHECK(text_of([&] { when_all(reads).wait(); }) == "second");
  j.barrier();
  CHECK(a.local()[2] == 7 && a.local()[409] == 9);
  j.barrier();
}

/* A long chain behind a promise: neither its run nor its end is a recursion. */
void check_long() {
  promise<int> first;
  future<int> f = first.get_future();
  for (int i = 0; i < 20000; i++) f = std::move(f).then([](int v) { return v + 1; });
  first.set_value(0);
  CHECK_EQ(f.wait(), 20000);
}

/* Continuations run although their futures are dropped, in progress() and at the end of the job. */
int dropped = 0;
void check_dropped(const job &j) {
  const auto a = j.allocate<long>(1);
  const int n = 100;
  int seen = 0;
  for (int i = 0; i < n; i++)
    static_cast<void>(rget(a.on(right_of(j))).then([&seen](long v) { seen += int(v) + 1; }));
  while (seen < n) tombolo::progress();
  CHECK_EQ(seen, n);
  long buffer = 5;
  { auto waits = rget(a.on(right_of(j)), &buffer, 1); } /* its buffer may end here */
  CHECK_EQ(buffer, 0);
  j.barrier();
  struct at_end {
    ~at_end() {
      if (dropped != 1) std::abort();
    }
  };
  static at_end check;
  static_cast<void>(j.world().call(right_of(j), [] {}).then([] { dropped++; }));
}

} // namespace

int main(int argc, char **argv) {
  return tombolo::run(argc, argv, [](job &j) {
    check_set_rank(j.rank());
    check_values();
    check_promises();
    check_flat();
    check_joins(j);
    check_long();
    check_dropped(j);
    return check_done();
  });
}
