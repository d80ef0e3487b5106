/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 8 */
/* mode: PAR */
/* again: TOMBOLO_CONDUIT=udp+TOMBOLO_PLACES=cyclic:2 */
/*
 * tombolo.hpp: ends of puts and gets as arguments: futures, promises, functions here and there,
 * signals, other threads (docs/CPP.md).
 */
#include <array>
#include <thread>
#include <tuple>
#include <vector>

#include "check.h"
#include "tombolo.hpp"

namespace {

using tombolo::future;
using tombolo::job;
using tombolo::on_arrival;
using tombolo::on_done;
using tombolo::on_source;

constexpr size_t Many = 100000; /* more than one message */

struct world {
  tombolo::symmetric<long> a{Many};
  tombolo::signal_counter arrived;
  unsigned right, left;
};

int tells = 0;       /* calls that others made here */
long first_seen = 0; /* what the first element was then */
const long *mine = nullptr;

void tell(long expected) {
  first_seen = mine[0] == expected ? first_seen : -1;
  tells++;
}

/* A put with signal: the owner waits for the counter only. */
void check_signal(const job &j, const world &w) {
  std::vector<long> data(Many, 100 + long(j.rank()));
  rput(w.a.on(w.right), data.data(), Many, on_arrival(w.arrived)); /* data may be reused */
  data.assign(Many, -1);
  w.arrived.wait();
  CHECK(w.a.local()[0] == long(100 + w.left) && w.a.local()[Many - 1] == long(100 + w.left));
  j.barrier();

  data.assign(Many, 200 + long(j.rank()));
  const std::tuple<future<>, future<>> ends =
      rput(w.a.on(w.right), data.data(), Many, on_source(), on_done(), on_arrival(w.arrived, 3));
  const future<> reusable = std::get<0>(ends), complete = std::get<1>(ends);
  reusable.wait();
  data.assign(Many, -1);
  w.arrived.wait(3);
  CHECK(w.a.local()[0] == long(200 + w.left) && w.a.local()[Many - 1] == long(200 + w.left));
  complete.wait();
  CHECK(!w.arrived.try_wait());
  j.barrier();
}

void check_here(const job &j, const world &w) {
  const auto p = w.a.on(w.right);
  tombolo::promise<> all;
  int done = 0, reusable = 0;
  std::array<long, 3> data{long(j.rank()), 8, 9};
  rput(p, data.data(), 3, on_done(all), on_source([&] { reusable++; }));
  rput(p + 5, 77L, on_done([&] { done++; }));
  rput(p + 6, data.data(), 1, on_source(tombolo::blocking), on_done(all));
  all.finish().wait();
  while (!done || !reusable) tombolo::progress();
  CHECK(done == 1 && reusable == 1);
  rget(p + 5, on_done([&](long v) { done += int(v); }));
  tombolo::promise<long> value;
  rget(p + 1, on_done(value));
  CHECK_EQ(value.get_future().wait(), 8);
  CHECK_EQ(rget(p + 2, on_done()).wait(), 9);
  const tombolo::global_ptr<const long> fixed = p + 2;
  CHECK_EQ(rget(fixed, on_done()).wait(), 9);
  std::array<long, 1> copied{};
  rget(fixed, copied.data(), 1, on_done()).wait();
  CHECK_EQ(copied[0], 9);
  std::array<long, 2> back{};
  rget(p, back.data(), 2, on_done()).wait();
  CHECK(back[0] == data[0] && back[1] == 8);
  while (done != 78) tombolo::progress();

  tombolo::promise<> elsewhere;
  const auto me = std::this_thread::get_id();
  bool same = true;
  tombolo::promise<tombolo::executor> ready;
  std::thread other([&] {
    ready.set_value(tombolo::this_executor());
    elsewhere.get_future().wait();
  });
  rput(p + 5, 78L, on_done(ready.get_future().wait(), [&] {
         same = std::this_thread::get_id() == me;
         elsewhere.set_value();
       }));
  elsewhere.get_future().wait(); /* this thread makes the progress of its put */
  other.join();
  CHECK(!same);
  j.barrier();
}

/* Functions there run after the data are there. */
void check_there(const job &j, const world &w) {
  const long sent = 1000 + long(j.rank());
  std::vector<long> data(Many, sent);
  tombolo::promise<> all;
  rput(w.a.on(w.right), data.data(), Many, on_done(all), on_arrival(tell, sent));
  all.finish().wait();
  while (tells < 1) tombolo::progress();
  CHECK_EQ(tells, 1);
  CHECK_EQ(first_seen, 0);
  j.barrier();
  std::array<long, 4> block{1, 2, 3, 4};
  rcopy(tombolo::view2d(&block[0], 2, 2, 2), tombolo::view2d(w.a.on(w.right), 2, 2, 10),
        on_arrival(w.arrived), on_source())
      .wait();
  w.arrived.wait();
  CHECK(w.a.local()[1] == 2 && w.a.local()[10] == 3);
  j.barrier();
  rcopy(tombolo::view2d(w.a.on(w.right), 2, 2, 10), tombolo::view2d(&block[0], 2, 2, 2), on_done())
      .wait();
  CHECK(block[1] == 2 && block[2] == 3);
  j.barrier();
}

/* A function there has arguments as those of rpc, of any length, and may communicate and wait. */
void check_arrival(const job &j, const world &w) {
  tombolo::dist_object<std::string> said("");
  const std::string text(Many, 't');
  const auto hear = [](tombolo::dist_object<std::string> &mine_too, const std::string &t,
                       unsigned from) {
    *mine_too = t + std::to_string(tombolo::rpc(from, [] { return tombolo::rank(); }).wait());
    tells++;
  };
  tells = 0;
  rput(w.a.on(w.right), 5L, on_arrival(hear, said, text, j.rank()));
  while (tells < 1) tombolo::progress();
  CHECK(*said == text + std::to_string(w.left));
  CHECK_EQ(w.a.local()[0], 5);
  j.barrier();
}

} // namespace

int main(int argc, char **argv) {
  return tombolo::run(argc, argv, [](job &j) {
    check_set_rank(j.rank());
    world w;
    w.right = (j.rank() + 1) % j.size();
    w.left = (j.rank() + j.size() - 1) % j.size();
    mine = w.a.local();
    check_signal(j, w);
    check_here(j, w);
    check_there(j, w);
    check_arrival(j, w);
    return check_done();
  });
}
