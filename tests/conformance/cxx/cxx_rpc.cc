/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 8 */
/* mode: PAR */
/*
 * rpc: values of many types and lengths, functions that communicate, wait and return futures,
 * exceptions, calls without an answer, teams, several threads; dist_object (docs/CPP.md).
 */
#include <bitset>
#include <chrono>
#include <complex>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <set>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <variant>

#include "check.h"
#include "checked.hpp"
#include "tombolo.hpp"

namespace {

using tombolo::dist_object;
using tombolo::future;
using tombolo::job;
using tombolo::rpc;

std::atomic<int> calls{0}; /* raised by others */

struct person {
  std::string name;
  std::map<std::string, std::vector<int>> marks;
  template <class A> void fields(A &archive) { archive(name, marks); }
};

int twice(int x) {
  return 2 * x;
}

/* The value comes back as it went. */
template <class T> bool same(unsigned to, const T &value) {
  return rpc(
             to, [](T v) { return v; }, value)
             .wait() == value;
}

void check_types(unsigned to) {
  using words = std::vector<std::string>;
  CHECK(same(to, words{"", "a", "bc"}));
  CHECK(same(to, std::vector<bool>{true, false, true}));
  CHECK(same(to, std::array<std::string, 2>{"x", "y"}));
  CHECK(same(to, std::make_tuple(1, std::string("t"), words{"u"})));
  CHECK(same(to, std::map<int, std::string>{{1, "one"}, {2, "two"}}));
  CHECK(same(to, std::unordered_map<std::string, std::set<int>>{{"s", {3, 1}}, {"e", {}}}));
  CHECK(same(to, std::deque<double>{1, 2.5}));
  CHECK(same(to, std::forward_list<std::string>{"f", "g"}) && same(to, std::forward_list<int>{}));
  CHECK(same(to, std::multimap<int, std::string>{{1, "a"}, {1, "b"}}));
  CHECK(same(to, std::multiset<int>{2, 2}) && same(to, std::unordered_set<long>{5}));
  CHECK(same(to, std::unordered_multimap<int, words>{{3, {"m"}}, {3, {}}}));
  CHECK(same(to, std::unordered_multiset<std::string>{"n", "n"}));
  CHECK(same(to, std::u16string(u"wide")) && same(to, std::bitset<70>(9)));
  CHECK(same(to, std::complex<double>(1, 2)) && same(to, std::chrono::seconds(4)));
  CHECK(same(to, std::list<std::pair<int, words>>{{4, {"l"}}}));
  CHECK(same(to, std::optional<std::string>("o")) && same(to, std::optional<std::string>()));
  CHECK(same(to, std::variant<int, std::string>("v")) && same(to, std::variant<int, char>(7)));
  const person p{"ann", {{"maths", {1, 2}}}};
  const auto name = [](person q) { return q.name + q.marks.begin()->first; };
  CHECK(rpc(to, name, p).wait() == "annmaths");
  CHECK(rpc(
            to, [](const text_value &c) { return text_value(c.text() + "!"); }, text_value("c"))
            .wait()
            .text() == "c!");
  CHECK_EQ(rpc(to, twice, 21).wait(), 42);
}

void check_lengths(unsigned to) {
  for (const size_t n : {size_t(0), size_t(1000), size_t(70000), size_t(3000000)}) {
    const std::string s(n, 'x');
    CHECK(same(to, s));
    const size_t count = n / 8;
    std::vector<double> v(count);
    for (size_t i = 0; i < v.size(); i++) v[i] = double(i);
    const auto sum = [](char, tombolo::elements<double> e) {
      double all = 0;
      for (const double x : e) all += x;
      return all;
    };
    CHECK_EQ(rpc(to, sum, 'c', tombolo::elements(v)).wait(),
             double(count) * (double(count) - 1) / 2 * (n > 0));
  }
}

/* What a function may do: start, wait, call, and return a future. */
void check_inside(const job &j, unsigned to) {
  const auto a = j.allocate<int>(1);
  a.local()[0] = int(j.rank()) + 5;
  j.barrier();
  const auto mine = a.on(j.rank());
  CHECK_EQ(rpc(
               to, [](tombolo::global_ptr<int> p) { return rget(p); }, mine)
               .wait(),
           int(j.rank()) + 5);
  const auto on = [](tombolo::global_ptr<int> p, unsigned from) {
    return get(p) + rpc(from, twice, 1).wait(); /* it waits for its caller */
  };
  CHECK_EQ(rpc(to, on, mine, j.rank()).wait(), int(j.rank()) + 7);
  const auto chain = [](unsigned from, tombolo::elements<int> e) {
    return rpc(from, twice, 4).then([e](int x) { return x + e[1]; }); /* e lives until then */
  };
  const std::vector<int> two{1, 2};
  CHECK_EQ(rpc(to, chain, j.rank(), tombolo::elements(two)).wait(), 10);
  j.barrier();
}

struct liar { /* announces more than it has */
  std::vector<int> v;
};

void check_errors(unsigned to) {
  const std::string who = "rank " + std::to_string(to) + ": ";
  auto f = rpc(to, []() -> int { throw std::runtime_error("bad"); });
  CHECK(text_of([&] { f.wait(); }) == who + "bad");
  auto later = rpc(to, [] { return rpc(0, []() -> int { throw std::runtime_error("far"); }); });
  CHECK(text_of([&] { later.wait(); }) == who + "rank 0: far");
  auto lie = rpc(
      to, [](const liar &l) { return l.v.size(); }, liar{});
  CHECK(text_of([&] { lie.wait(); }).find("1099511627776 elements") != std::string::npos);
}

void check_many(const job &j) {
  for (unsigned r = 0; r < j.size(); r++)
    for (int i = 0; i < 20; i++) tombolo::rpc_ff(r, [] { ++calls; });
  const int want = 20 * int(j.size());
  while (calls < want) tombolo::progress();
  CHECK_EQ(calls.load(), want);
  std::vector<std::thread> threads;
  threads.reserve(3);
  for (int t = 0; t < 3; t++)
    threads.emplace_back([&j] {
      for (unsigned i = 0; i < 50; i++) {
        const unsigned to = i % j.size();
        CHECK_EQ(rpc(to, twice, int(i)).wait(), 2 * int(i));
      }
    });
  for (auto &t : threads) t.join();
  j.barrier();
}

void check_dist(const job &j) {
  const unsigned right = (j.rank() + 1) % j.size();
  {
    if (j.rank() == 0) /* the others call before it is made */
      for (int i = 0; i < 100; i++) tombolo::progress();
    dist_object<std::string> d("of " + std::to_string(j.rank()));
    CHECK(d.fetch(right).wait() == "of " + std::to_string(right));
    const auto add = [](dist_object<std::string> &theirs, const std::string &more) {
      *theirs += more;
      return theirs->size();
    };
    CHECK_EQ(rpc(right, add, d, std::string("+++")).wait(),
             ("of " + std::to_string(right)).size() + 3);
    j.barrier();
    CHECK(*d == "of " + std::to_string(j.rank()) + "+++");
    dist_object<std::string> moved(std::move(d));
    j.barrier();
    CHECK(moved.fetch(right).wait() == "of " + std::to_string(right) + "+++");
    j.barrier();
  }
  const tombolo::team half = j.world().split(int(j.rank() % 2));
  const unsigned next = (half.rank() + 1) % half.size();
  dist_object<std::vector<int>> of_team(half, 2, int(j.rank()));
  CHECK_EQ(of_team.fetch(next).wait().at(1), int(half.jobrank(next)));
  CHECK_EQ(rpc(half, next, [] { return tombolo::rank(); }).wait(), half.jobrank(next));
  j.barrier();
}

/* Who waits in a collective call runs the calls of those that come to it later. */
void ask_first(const job &j) {
  if (j.rank() != 0) CHECK_EQ(rpc(0, [] { return tombolo::rank(); }).wait(), 0u);
}

void check_collective(job &j) {
  j.barrier();
  ask_first(j);
  {
    const tombolo::team all = j.world().split(0, -int(j.rank()));
    CHECK_EQ(all.rank(), j.size() - 1 - j.rank());
    ask_first(j);
  }
  ask_first(j);
  {
    const auto memory = j.allocate<int>(3);
    CHECK(memory.local() != nullptr);
    ask_first(j);
  }
  ask_first(j);
  {
    const tombolo::atomic_domain<int> domain(j.world());
    ask_first(j);
  }
  j.barrier();
}

} // namespace

template <> struct tombolo::serial<liar> {
  static void write(writer &out, const liar &) { out.write(uint64_t(1) << 40); }
  static liar read(reader &in) { return {in.read<std::vector<int>>()}; }
};

int main(int argc, char **argv) {
  return tombolo::run(argc, argv, [](job &j) {
    check_set_rank(j.rank());
    const unsigned right = (j.rank() + 1) % j.size();
    check_types(right);
    check_lengths(right);
    check_inside(j, right);
    check_errors(right);
    check_many(j);
    check_dist(j);
    check_collective(j);
    return check_done();
  });
}
