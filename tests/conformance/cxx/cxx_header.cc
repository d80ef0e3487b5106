/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/*
 * tombolo.hpp: put and get through global_ptr, futures and their continuations, heap, signals,
 * strided copies, distributed_array, teams and reductions (docs/CPP.md).
 */
#include <array>

#include "checked.hpp"

namespace {

using tombolo::global_ptr;
using tombolo::job;

struct point {
  double x;
  int id;
};

unsigned right_of(const job &j) {
  return (j.rank() + 1) % j.size();
}
unsigned left_of(const job &j) {
  return (j.rank() + j.size() - 1) % j.size();
}

void check_pointers(const job &j) {
  const auto a = j.allocate<point>(8);
  const global_ptr<point> p = a.on(right_of(j)), none;
  CHECK_EQ(a.local()[7].id, 0);
  CHECK_EQ(p.where(), right_of(j));
  CHECK(p && !none);
  CHECK_EQ((p + 5) - p, 5);
  CHECK((p + 5) - 5 == p && p + 1 != p);
  CHECK(a.on(j.rank()).local() == a.local());
  CHECK(none.local() == nullptr);
  put(p + 2, point{2.5, int(j.rank())});
  CHECK_EQ(get(p + 2).id, int(j.rank()));
  p[3] = point{3.5, 7};
  p[4] = p[3];
  CHECK_EQ(static_cast<point>(p[4]).id, 7);
  if (point *near = p.local()) CHECK_EQ(near[4].id, 7);
  j.barrier();
  CHECK_EQ(a.local()[2].id, int(left_of(j)));
  CHECK_EQ(int(a.local()[3].x * 10), 35);
  j.barrier();
}

void check_futures(const job &j) {
  const auto a = j.allocate<long>(64);
  const auto p = a.on(right_of(j));
  std::vector<tombolo::future<void>> all;
  all.reserve(9);
  for (int i = 0; i < 8; i++) all.push_back(rput(p + i, 100L + i));
  const std::vector<long> more(24, 5);
  all.push_back(rput(p + 8, more));
  tombolo::wait_all(all);
  long sum = 0;
  auto chained = rget(p + 3).then([](long v) { return double(v) + 0.5; }).then([&](double v) {
    sum += long(v * 2);
  });
  chained.wait();
  CHECK_EQ(sum, 207);
  chained.wait();
  CHECK_EQ(sum, 207); /* a continuation runs once */
  std::array<long, 64> got{};
  auto f = rget(p, got.data(), got.size());
  while (!f.ready()) {}
  CHECK_EQ(got[7], 107);
  CHECK_EQ(got[31], 5);
  CHECK_EQ(got[32], 0);
  auto thrown = rget(p).then([](long v) -> long { throw std::runtime_error(std::to_string(v)); });
  std::string text;
  try {
    thrown.wait();
  } catch (const std::runtime_error &e) {
    text = e.what();
  }
  CHECK(text == "100");
  CHECK_EQ(tombolo::future<int>(4).then([](int v) { return v * v; }).wait(), 16);
  j.world().async_barrier().wait();
}

void check_heap(const job &j) {
  global_ptr<char> first;
  {
    const auto a = j.allocate<char>(100), b = j.allocate<char>(1);
    first = a.on(0);
    CHECK_CMP(b.on(0) - first, >=, 100);
    std::memset(a.local(), 1, 100);
  }
  const auto again = j.allocate<char>(130); /* the two free blocks have become one */
  CHECK(again.on(0) == first);
  CHECK_EQ(again.local()[50], 0);
  CHECK(text_of([&] { j.allocate<point>(SIZE_MAX / 4); }).find("heap_bytes") != std::string::npos);
}

void check_signals(const job &j) {
  const auto a = j.allocate<int>(1000);
  const tombolo::signal_counter full, empty;
  for (int step = 1; step <= 5; step++) {
    const std::vector<int> mine(1000, step * 10 + int(j.rank()));
    put_signal(a.on(right_of(j)), mine.data(), mine.size(), full);
    full.wait();
    CHECK_EQ(a.local()[999], step * 10 + int(left_of(j)));
    raise(empty, left_of(j));
    empty.wait();
  }
  CHECK(!full.try_wait());
  raise(full, j.rank(), 2);
  CHECK(!full.try_wait(3) && full.try_wait(2) && !full.try_wait());
  j.barrier();
}

void check_strided(const job &j) {
  const auto a = j.allocate<int>(60);
  int block[3][4], back[3][4] = {};
  for (int i = 0; i < 12; i++) block[i / 4][i % 4] = i + 1;
  const auto there = tombolo::view2d(a.on(right_of(j)) + 12, 3, 4, 10);
  copy(tombolo::view2d(&block[0][0], 3, 4, 4), there);
  copy(there, tombolo::view2d(&back[0][0], 3, 4, 4));
  CHECK(std::memcmp(block, back, sizeof block) == 0);
  j.barrier();
  for (int row = 0; row < 6; row++) {
    for (int col = 0; col < 10; col++) {
      const bool in = row >= 1 && row < 4 && col >= 2 && col < 6;
      CHECK_EQ(a.local()[row * 10 + col], in ? block[row - 1][col - 2] : 0);
    }
  }
  CHECK(text_of([&] { copy(there, tombolo::view2d(&back[0][0], 2, 4, 4)); }).find("3 x 4") !=
        std::string::npos);
  j.barrier();
}

/* Three dimensions, which the copy puts into another order, and back by a future. */
void check_cube(const job &j) {
  const auto a = j.allocate<int>(24);
  const auto p = a.on(right_of(j));
  int cube[2][3][4], back[2][3][4] = {};
  for (int i = 0; i < 24; i++) (&cube[0][0][0])[i] = i;
  const tombolo::view<int *, 3> here{&cube[0][0][0], {2, 3, 4}, {12, 4, 1}};
  const tombolo::view<global_ptr<int>, 3> turned{p, {2, 3, 4}, {1, 2, 6}};
  rcopy(here, turned).wait();
  rcopy(turned, tombolo::view<int *, 3>{&back[0][0][0], {2, 3, 4}, {12, 4, 1}}).wait();
  CHECK(std::memcmp(cube, back, sizeof cube) == 0);
  j.barrier();
  CHECK_EQ(a.local()[1 + 2 * 2 + 3 * 6], cube[1][2][3]);
  CHECK_EQ(a.local()[2], cube[0][1][0]);
  j.barrier();
}

void check_array(const job &j) {
  const size_t n = 10;
  tombolo::distributed_array<size_t> a(n);
  for (size_t i = j.rank(); i < n; i += j.size()) a[i] = i * i;
  j.barrier();
  size_t at = a.first(), seen = 0;
  for (const size_t v : a) {
    CHECK_EQ(v, at * at);
    at++;
    seen++;
  }
  CHECK_EQ(j.world().all_reduce(seen), n);
  for (size_t i = 0; i < n; i++) CHECK_EQ(static_cast<size_t>(a[i]), i * i);
  bool refused = false;
  try {
    a.at(n);
  } catch (const tombolo::error &) {
    refused = true;
  }
  CHECK(refused);
}

void check_teams(const job &j) {
  const tombolo::team &all = j.world();
  const unsigned n = j.size();
  CHECK_EQ(all.all_reduce(int(j.rank()), tombolo::maximum{}), int(n) - 1);
  CHECK_EQ(all.all_reduce(1u << j.rank(), std::bit_or<>{}), (1u << n) - 1);
  CHECK_EQ(all.all_reduce(short(2)), short(2 * n)); /* no data type of the library */
  const point last = all.all_reduce(point{1, int(j.rank())}, [](point a, point b) {
    return point{a.x + b.x, b.id};
  });
  CHECK_EQ(last.id, int(n) - 1); /* in the order of ranks */
  CHECK_EQ(unsigned(last.x), n);
  CHECK_EQ(all.broadcast(point{0, int(j.rank())}, n - 1).id, int(n) - 1);
  CHECK_EQ(all.all_gather(j.rank() * 3)[n - 1], (n - 1) * 3);
  const tombolo::team half = all.split(int(j.rank() % 2), -int(j.rank()));
  CHECK_EQ(half.size(), (n + 1 - j.rank() % 2) / 2);
  CHECK_EQ(half.jobrank(half.rank()), j.rank());
  CHECK_EQ(half.rank(), half.size() - 1 - j.rank() / 2); /* the key turns the order round */
  half.barrier();
}

} // namespace

int main(int argc, char **argv) {
  return run_checks(argc, argv,
                    {check_pointers, check_futures, check_heap, check_signals, check_strided,
                     check_cube, check_array, check_teams},
                    size_t(1) << 20);
}
