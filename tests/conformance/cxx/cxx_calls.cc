/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* mode: PAR */
/*
 * Remote calls of tombolo.hpp: arguments and results of several types, captures, exceptions that
 * come back, limits, calls through a split team (docs/CPP.md).
 */
#include "check.h"
#include "checked.hpp"
#include "tombolo.hpp"

namespace {

using tombolo::job;

int calls = 0; /* raised by others */

struct named {
  std::string name;
  std::vector<int> values;
};

} // namespace

template <> struct tombolo::serial<named> {
  static void write(writer &out, const named &v) { out(v.name, v.values); }
  static named read(reader &in) {
    std::string name = in.read<std::string>();
    return {std::move(name), in.read<std::vector<int>>()};
  }
};

namespace {

int twice(int x) {
  return 2 * x;
}

void check_values(const job &j, unsigned to) {
  const tombolo::team &all = j.world();
  const int mine = int(j.rank()) + 40;
  CHECK_EQ(all.call(
                  to, [](int a, double b) { return a + int(b); }, 3, 4.0)
               .wait(),
           7);
  CHECK_EQ(all.call(
                  to, [mine](int a) { return a + mine; }, 2)
               .wait(),
           mine + 2);
  CHECK_EQ(all.call(to, [] { return tombolo::rank(); }).wait(), to);
  CHECK_EQ(all.call(to, [] { return 4; }).then(twice).wait(), 8);
  const auto join = [](std::string a, const std::vector<std::string> &b) {
    for (const auto &x : b) a += x;
    return a;
  };
  CHECK(all.call(to, join, std::string("a"), std::vector<std::string>{"", "bc", "d"}).wait() ==
        "abcd");
  const named back = all.call(
                            to,
                            [](named v) {
                              v.values.push_back(int(v.name.size()));
                              return v;
                            },
                            named{"four", {1, 2}})
                         .wait();
  CHECK(back.name == "four" && back.values.size() == 3 && back.values[2] == 4);
}

void check_many(const job &j) {
  std::vector<tombolo::future<void>> all;
  for (unsigned r = 0; r < j.size(); r++)
    for (int i = 0; i < 20; i++) all.push_back(j.world().call(r, [] { ++calls; }));
  tombolo::wait_all(all);
  all.clear();
  {
    auto dropped = j.world().call(0, [] { ++calls; });
  } /* nobody waits for it */
  j.barrier();
  if (j.rank() == 0)
    GASNET_BLOCKUNTIL(__atomic_load_n(&calls, __ATOMIC_RELAXED) == int(21 * j.size()));
  else
    CHECK_EQ(calls, int(20 * j.size()));
}

void check_errors(const job &j, unsigned to) {
  const tombolo::team &all = j.world();
  auto f = all.call(
      to, [](int v) -> int { throw std::runtime_error("bad " + std::to_string(v)); }, 5);
  CHECK(text_of([&] { f.wait(); }) == "rank " + std::to_string(to) + ": bad 5");
  CHECK(text_of([&] { f.wait(); }) == "rank " + std::to_string(to) + ": bad 5");
  CHECK(text_of([&] { all.call(to, [] { throw 1; }).wait(); }).find("no std::exc") !=
        std::string::npos);
  const std::string large(1 << 24, 'x');
  CHECK(text_of([&] {
          all.call(
                 to, [](const std::string &s) { return s.size(); }, large)
              .wait();
        }).find("limit") != std::string::npos);
  auto result = all.call(to, [] { return std::string(1 << 24, 'y'); });
  CHECK(text_of([&] { result.wait(); }).find("limit") != std::string::npos);
}

} // namespace

int main(int argc, char **argv) {
  return tombolo::run(argc, argv, [](job &j) {
    check_set_rank(j.rank());
    for (unsigned to = 0; to < j.size(); to++) check_values(j, to);
    check_many(j);
    check_errors(j, (j.rank() + 1) % j.size());
    const tombolo::team half = j.world().split(int(j.rank() % 2));
    const unsigned last = half.size() - 1;
    CHECK_EQ(half.call(last, [] { return tombolo::rank(); }).wait(), half.jobrank(last));
    j.barrier();
    return check_done();
  });
}
