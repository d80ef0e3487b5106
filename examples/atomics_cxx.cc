// SPDX-License-Identifier: BSD-3-Clause
// atomics_cxx.cc: every atomic operation on words of one rank that all ranks change, in C++.
//
// Shows tombolo.hpp: a domain, operations with and without the value before, orders, a lock by
// compare_exchange.
// Compile: tombolo c++ atomics_cxx.cc -o atomics_cxx
// Run:     tombolo run -n 4 ./atomics_cxx
/* mode: SEQ */
/* ranks: 1 2 4 */
#include <tombolo.hpp>

#include <atomic>
#include <cstdio>
#include <stdexcept>

namespace {

using tombolo::global_ptr;

constexpr long Rounds = 100;

void check(bool right, const char *subject) {
  if (!right) throw std::logic_error(subject);
}

// Counters that all ranks change; each word belongs to this domain until the last barrier.
void counters(const tombolo::job &job) {
  const tombolo::atomic_domain<long> words(job.world());
  const auto memory = job.allocate<long>(8);
  const global_ptr<long> sum = memory.on(0), least = sum + 1, most = sum + 2, product = sum + 3;
  if (job.rank() == 0) words.store(product, 1).wait();
  job.barrier();

  const long mine = job.rank() + 1;
  for (long i = 0; i < Rounds; i++) words.add(sum, 3).wait();
  for (long i = 0; i < Rounds; i++) words.sub(sum, 1).wait();
  words.inc(sum).wait();
  words.dec(sum).wait();
  words.min(least, -mine).wait();
  words.max(most, mine).wait();
  words.mul(product, 2).wait();
  job.barrier();

  const long all = job.size();
  check(words.load(sum).wait() == 2 * Rounds * all, "add, sub, inc, dec");
  check(words.load(least).wait() == -all && words.load(most).wait() == all, "min, max");
  check(words.load(product).wait() == 1L << job.size(), "mul");
  job.barrier();
}

// The forms that give the value before, on a word that only this rank changes.
void values_before(const tombolo::job &job) {
  const tombolo::atomic_domain<int> words(job.world());
  const auto memory = job.allocate<int>(1);
  const global_ptr<int> p = memory.on((job.rank() + 1) % job.size());
  check(words.fetch_add(p, 7).wait() == 0 && words.fetch_sub(p, 1).wait() == 7, "fetch_add, _sub");
  check(words.fetch_mul(p, 2).wait() == 6 && words.exchange(p, 5).wait() == 12, "fetch_mul");
  check(words.fetch_inc(p).wait() == 5 && words.fetch_dec(p).wait() == 6, "fetch_inc, fetch_dec");
  check(words.fetch_min(p, 3).wait() == 5 && words.fetch_max(p, 9).wait() == 3, "fetch_min, _max");
  check(words.load(p).wait() == 9, "load");
  job.barrier();
}

// Flags as bits of a word: each rank sets its own.
void bits(const tombolo::job &job) {
  const tombolo::atomic_domain<unsigned> flags(job.world());
  const auto memory = job.allocate<unsigned>(1);
  const global_ptr<unsigned> p = memory.on(0);
  if (job.size() > 32) tombolo::job::abort("a word of flags has 32 bits; start at most 32 ranks");
  const unsigned mine = 1U << job.rank();
  flags.bit_or(p, mine).wait();
  check((flags.fetch_bit_or(p, mine).wait() & mine) != 0, "on");
  flags.bit_xor(p, mine).wait();
  check((flags.fetch_bit_xor(p, mine).wait() & mine) == 0, "off, and on again");
  flags.bit_and(p, ~mine).wait();
  check((flags.fetch_bit_and(p, ~mine).wait() & mine) == 0, "off");
  job.barrier();
  check(flags.load(p).wait() == 0, "all bits are off");
  job.barrier();
}

// A lock: a rank takes it by 0 -> 1 with order acquire, and returns it with order release.
void lock(const tombolo::job &job) {
  using tombolo::atomic_op;
  const tombolo::atomic_domain<int> locks(job.world(),
                                          {atomic_op::compare_exchange, atomic_op::store});
  const auto memory = job.allocate<int>(2);
  const global_ptr<int> taken = memory.on(0), data = taken + 1;
  for (int i = 0; i < 10; i++) {
    while (locks.compare_exchange(taken, 0, 1, std::memory_order_acquire).wait() != 0)
      tombolo::progress();
    put(data, get(data) + 1); // one rank at a time
    locks.store(taken, 0, std::memory_order_release).wait();
  }
  job.barrier();
  check(get(data) == 10 * int(job.size()), "the data under the lock");
  job.barrier();
}

int everything(const tombolo::job &job) {
  counters(job);
  values_before(job);
  bits(job);
  lock(job);
  if (job.rank() == 0) std::printf("ok: atomics of %u ranks\n", job.size());
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  return tombolo::run(argc, argv, everything);
}
