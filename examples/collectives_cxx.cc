// SPDX-License-Identifier: BSD-3-Clause
// collectives_cxx.cc: every collective of a team, as a blocking call and as a future, in C++.
//
// Shows tombolo.hpp: values, vectors and objects in collectives, teams of a host, operations of a
// program's own.
// Compile: tombolo c++ collectives_cxx.cc -o collectives_cxx
// Run:     tombolo run -n 4 ./collectives_cxx
/* mode: SEQ */
/* ranks: 1 2 4 */
#include <tombolo.hpp>

#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

void check(bool right, const char *subject) {
  if (!right) throw std::logic_error(subject);
}

// The value of one member for all, and of all members for one or for all.
void broadcast_and_gather(const tombolo::team &team) {
  const long me = team.rank(), size = team.size();
  check(team.broadcast(me + 5, 0) == 5, "broadcast of a number");
  check(team.broadcast(std::string("rank ") + std::to_string(me), 0) == "rank 0", "of an object");

  const std::vector<long> all = team.all_gather(me);
  check(long(all.size()) == size && all.back() == size - 1, "all_gather");
  const std::vector<long> at_root = team.gather(me * me, 0);
  check(me != 0 || at_root.back() == (size - 1) * (size - 1), "gather");

  std::vector<long> parts; // two elements for each member; only the root's count
  if (me == 0)
    for (long i = 0; i < 2 * size; i++) parts.push_back(i);
  check(team.scatter(parts, 2, 0) == std::vector<long>{2 * me, 2 * me + 1}, "scatter");
}

// Sums, and what a program defines: an operation keeps the order of ranks.
void reductions(const tombolo::team &team) {
  const long me = team.rank(), size = team.size();
  check(team.all_reduce(me) == size * (size - 1) / 2, "all_reduce");
  check(team.reduce(me, 0, tombolo::maximum()) == (me == 0 ? size - 1 : 0), "reduce");
  check(team.scan(1L) == me + 1 && team.exclusive_scan(1L, 0L) == me, "scan, exclusive_scan");

  const auto last = [](long, long right) { return right; };
  check(team.all_reduce(me, last) == size - 1, "an operation of one's own");
  const std::string digits = team.all_reduce(std::to_string(me));
  check(long(digits.size()) == size && digits[0] == '0', "of strings: one after the other");
}

// Blocks for each member.
void blocks(const tombolo::team &team) {
  const long me = team.rank(), size = team.size();
  std::vector<long> block(static_cast<size_t>(size), me);
  const std::vector<long> from_all = team.all_to_all(block);
  for (long j = 0; j < size; j++) check(from_all[static_cast<size_t>(j)] == j, "all_to_all");
  check(team.reduce_scatter(block)[0] == size * (size - 1) / 2, "reduce_scatter");
}

// All of them at a time, as futures; every member begins them in one order.
void in_background(const tombolo::team &team) {
  const long me = team.rank(), size = team.size();
  const std::vector<long> block(static_cast<size_t>(size), 1);
  auto value = team.async_broadcast(me, 0);
  auto sum = team.async_all_reduce(me);
  auto root_sum = team.async_reduce(1L, 0);
  auto before = team.async_scan(1L);
  auto without = team.async_exclusive_scan(1L);
  auto all = team.async_all_gather(me);
  auto at_root = team.async_gather(me, 0);
  auto part = team.async_scatter(block, 1, 0);
  auto turned = team.async_all_to_all(block);
  auto summed = team.async_reduce_scatter(block);
  // other work
  check(value.wait() == 0 && sum.wait() == size * (size - 1) / 2, "async_broadcast");
  check(root_sum.wait() == (me == 0 ? size : 0), "async_reduce");
  check(before.wait() == me + 1 && without.wait() == me, "async_scan");
  check(long(all.wait().size()) == size, "async_all_gather");
  check(long(at_root.wait().size()) == (me == 0 ? size : 0), "async_gather");
  check(part.wait()[0] == 1 && turned.wait() == block, "async_scatter, async_all_to_all");
  check(summed.wait()[0] == size, "async_reduce_scatter");
}

// Teams: of a colour, and of the ranks whose memory is mapped here.
void teams(const tombolo::job &job) {
  const tombolo::team near = job.world().split_local();
  check(near.size() >= 1 && near.jobrank(near.rank()) == job.rank(), "split_local, jobrank");
  const tombolo::team half = job.world().split(int(job.rank() % 2));
  reductions(half);
  check(gex_TM_QuerySize(half.handle()) == half.size(), "handle is for the C interface");
}

int everything(const tombolo::job &job) {
  broadcast_and_gather(job.world());
  reductions(job.world());
  blocks(job.world());
  in_background(job.world());
  teams(job);
  if (job.rank() == 0) std::printf("ok: collectives of %u ranks\n", job.size());
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  return tombolo::run(argc, argv, everything);
}
