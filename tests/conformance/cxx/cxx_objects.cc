/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 8 */
/* mode: PAR */
/* again: TOMBOLO_CONDUIT=udp+TOMBOLO_PLACES=cyclic:2 */
/*
 * tombolo.hpp: collectives of strings, containers and types of the program, in the order of ranks;
 * several in progress; on parts of the job; teams of ranks that share memory (docs/CPP.md).
 */
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "check.h"
#include "checked.hpp"
#include "tombolo.hpp"

namespace {

using tombolo::job;
using tombolo::team;
using words = std::vector<std::string>;

/* Of each length another one: a rank that is taken for another is seen. */
std::string name(unsigned r) {
  return std::string(r % 3 + 1, static_cast<char>('a' + r % 26));
}

std::string all_names(const team &t) {
  std::string all;
  for (unsigned r = 0; r < t.size(); r++) all += name(r);
  return all;
}

void check_broadcast(const team &t) {
  for (unsigned root = 0; root < t.size(); root++) {
    const std::string large = name(root) + std::string(70000, 'x');
    CHECK(t.broadcast(t.rank() == root ? large : "", root) == large);
    CHECK(t.broadcast(text_value(name(t.rank())), root).text() == name(root));
    auto map = t.async_broadcast(std::map<int, words>{{int(t.rank()), {name(t.rank())}}}, root);
    const auto got = map.wait();
    CHECK(got.size() == 1 && got.begin()->first == int(root) &&
          got.begin()->second == words{name(root)});
  }
}

void check_reduce(const team &t) {
  const std::string mine = name(t.rank()), all = all_names(t);
  CHECK(t.all_reduce(mine) == all);
  CHECK(t.all_reduce(std::optional<std::string>(mine),
                     [](auto a, auto b) { return std::optional<std::string>(*a + *b); }) == all);
  const words pair = t.all_reduce(words{mine, "+"}); /* by element */
  CHECK(pair.size() == 2 && pair[0] == all && pair[1] == std::string(t.size(), '+'));
  for (unsigned root = 0; root < t.size(); root++)
    CHECK(t.reduce(mine, root) == (t.rank() == root ? all : ""));
  auto first = t.async_all_reduce(mine), second = t.async_all_reduce(mine + "/");
  CHECK(second.wait().size() == all.size() + t.size());
  CHECK(first.wait() == all);
}

void check_gather(const team &t) {
  words want;
  for (unsigned r = 0; r < t.size(); r++) want.push_back(name(r));
  CHECK(t.all_gather(name(t.rank())) == want);
  const unsigned last = t.size() - 1;
  CHECK(t.gather(name(t.rank()), last) == (t.rank() == last ? want : words()));
  CHECK_EQ(t.all_gather(words(t.rank(), "w")).size(), size_t(t.size()) * (t.size() - 1) / 2);
}

/* What an operator throws reaches all that wait for the result. */
void check_thrown(const team &t) {
  const std::string why = "as many on every member";
  auto one = t.async_reduce(words(t.rank() + 1), 0), all = t.async_all_reduce(words(t.rank() + 1));
  for (auto *const sum : {&one, &all}) {
    const bool fails = t.size() > 1 && (sum == &all || t.rank() == 0);
    const std::string text = text_of([&] { sum->wait(); });
    CHECK_EQ(text.find(why) != std::string::npos, fails);
  }
  t.barrier();
}

void check_local(const job &j) {
  const auto word = j.allocate<int>(1);
  const team near = j.world().split_local();
  CHECK_CMP(near.size(), >=, 1u);
  CHECK_EQ(near.jobrank(near.rank()), j.rank());
  gex_RankInfo_t *info;
  gex_Rank_t count;
  gex_System_QueryNbrhdInfo(&info, &count, nullptr);
  CHECK_EQ(near.size(), count);
  for (unsigned m = 0; m < near.size(); m++) CHECK_EQ(near.jobrank(m), info[m].gex_jobrank);
  near.barrier();
  j.barrier();
}

void check_on(const team &t) {
  check_broadcast(t);
  check_reduce(t);
  check_gather(t);
}

} // namespace

int main(int argc, char **argv) {
  return tombolo::run(argc, argv, [](job &j) {
    check_set_rank(j.rank());
    check_on(j.world());
    {
      const team half = j.world().split(int(j.rank() % 2), -int(j.rank()));
      check_on(half);
    }
    check_thrown(j.world());
    check_local(j);
    return check_done();
  });
}
