/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* mode: PAR */
/* hash_map and queue of tombolo.hpp: all ranks change the same keys and push to all ranks. */
#include "checked.hpp"

namespace {

using tombolo::job;

void check_map(const job &j) {
  tombolo::hash_map<std::string, long> map;
  const int keys = 30;
  std::vector<tombolo::future<void>> all;
  all.reserve(keys);
  const auto add = [](long a, int b) { return a + b; };
  for (int k = 0; k < keys; k++) all.push_back(map.update("key " + std::to_string(k), add, k));
  tombolo::wait_all(all);
  j.barrier();
  CHECK_EQ(j.world().all_reduce(map.local_size()), keys);
  long sum = 0;
  map.for_each_local([&](const std::string &, long v) { sum += v; });
  CHECK_EQ(j.world().all_reduce(sum), long(j.size()) * keys * (keys - 1) / 2);
  CHECK_EQ(map.find("key 7").wait().value_or(-1), 7L * j.size());
  CHECK(!map.find("none").wait());
  const int first = map.insert("new", long(j.rank())).wait();
  CHECK_EQ(j.world().all_reduce(first), 1); /* one rank has added it */
  map.assign("of " + std::to_string(j.rank()), 5).wait();
  CHECK_EQ(map.find("of " + std::to_string(j.rank())).wait().value_or(0), 5);
  j.barrier();
  CHECK_EQ(j.world().all_reduce(int(map.erase("new").wait())), 1);
  CHECK(!map.find("new").wait());
}

void check_spread(const job &j) {
  tombolo::hash_map<int, int> map, other;
  for (int k = int(j.rank()); k < 200; k += int(j.size())) map.insert(k * 4, k).wait();
  j.barrier();
  const unsigned half = 200 / j.size() / 2;
  CHECK_CMP(map.local_size(), >, half); /* multiples do not gather on one rank */
  CHECK_EQ(other.local_size(), 0);
  CHECK_EQ(map.owner(8), j.world().broadcast(map.owner(8), 0));
}

void check_queue(const job &j) {
  tombolo::queue<std::pair<unsigned, int>> q;
  for (int i = 0; i < 10; i++)
    for (unsigned r = 0; r < j.size(); r++) q.push(r, {j.rank(), i}).wait();
  std::vector<int> next(j.size());
  for (unsigned i = 0; i < 10 * j.size(); i++) {
    const auto got = q.pop();
    CHECK_EQ(got.second, next[got.first]);
    next[got.first]++;
  }
  j.barrier();
  CHECK(!q.try_pop());
  q.push(j.rank(), {1, 2}).wait();
  CHECK_EQ(q.try_pop()->second, 2);
}

} // namespace

int main(int argc, char **argv) {
  return run_checks(argc, argv, {check_map, check_spread, check_queue});
}
