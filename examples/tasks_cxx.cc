// SPDX-License-Identifier: BSD-3-Clause
// tasks_cxx.cc: rank 0 hands out tasks by queues; the others work and send results back, in C++.
//
// Shows tombolo.hpp: queues between ranks, a type of one's own in messages (serial), teams, the
// operators minimum and maximum, work beside progress.
// Compile: tombolo c++ tasks_cxx.cc -o tasks_cxx
// Run:     tombolo run -n 4 ./tasks_cxx
/* mode: SEQ */
/* ranks: 1 2 4 */
#include <tombolo.hpp>

#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

struct task {
  std::string name;
  std::vector<int> numbers;
};

// How a task travels.
template <> struct tombolo::serial<task> {
  static void write(tombolo::writer &out, const task &t) { out(t.name, t.numbers); }
  static task read(tombolo::reader &in) {
    std::string name = in.read<std::string>();
    return {std::move(name), in.read<std::vector<int>>()};
  }
};

namespace {

constexpr int Tasks = 12;

long sum_of(const task &t) {
  long sum = 0;
  for (const int number : t.numbers) sum += number;
  return sum;
}

// Each rank has a queue of tasks; rank 0 has one of results, too.
int farm(const tombolo::job &job) {
  tombolo::queue<task> tasks;
  tombolo::queue<long> results;
  if (job.rank() == 0)
    for (int i = 0; i < Tasks; i++)
      tasks.push(unsigned(i) % job.size(), task{"task " + std::to_string(i), {i, i, i}}).wait();
  job.barrier();

  while (const std::optional<task> mine = tasks.try_pop()) results.push(0, sum_of(*mine)).wait();

  long sum = 0;
  if (job.rank() == 0)
    for (int i = 0; i < Tasks; i++) sum += results.pop();
  job.barrier();
  return job.rank() != 0 || sum == 3L * Tasks * (Tasks - 1) / 2 ? 0 : 1;
}

// The ranks with an even number, and those with an odd one, each find their least and greatest.
int halves(const tombolo::job &job) {
  const tombolo::team half = job.world().split(int(job.rank() % 2));
  const long least = half.all_reduce(long(job.rank()), tombolo::minimum());
  const long most = half.all_reduce(long(job.rank()), tombolo::maximum());
  return least == long(job.rank() % 2) && most == least + 2L * (half.size() - 1) ? 0 : 1;
}

// Computes, and now and then lets the library run what has arrived.
int beside_progress(const tombolo::job &job) {
  const auto everybody = job.world().async_barrier();
  long steps = 0;
  while (!everybody.ready()) {
    steps++; // a part of the work
    tombolo::progress();
  }
  return steps < 0;
}

int everything(const tombolo::job &job) {
  const int wrong = farm(job) + halves(job) + beside_progress(job);
  if (job.rank() == 0) std::printf("%s: %d tasks\n", wrong ? "wrong" : "ok", Tasks);
  return wrong;
}

} // namespace

int main(int argc, char **argv) {
  return tombolo::run(argc, argv, everything);
}
