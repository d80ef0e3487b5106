/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 8 */
/* again: TOMBOLO_CONDUIT=udp+TOMBOLO_PLACES=cyclic:2 */
/*
 * tombolo.hpp: atomic domains of every type with all operations, of a part of the job, with ends
 * and orders (docs/CPP.md).
 */
#include <atomic>
#include <string>
#include <type_traits>

#include "checked.hpp"

namespace {

using tombolo::atomic_domain;
using tombolo::atomic_op;
using tombolo::job;

constexpr int Times = 20;

/* Operations of one rank after each other on a word of the next. */
template <class T> void check_each(const job &j) {
  const auto a = j.allocate<T>(1);
  const atomic_domain<T> ad(j.world());
  const auto p = a.on((j.rank() + 1) % j.size());
  ad.store(p, T(7)).wait();
  CHECK_EQ(ad.load(p).wait(), 7);
  CHECK_EQ(ad.exchange(p, T(8), std::memory_order_acq_rel).wait(), 7);
  CHECK_EQ(ad.compare_exchange(p, T(7), T(9)).wait(), 8);
  CHECK_EQ(ad.compare_exchange(p, T(8), T(10)).wait(), 8);
  CHECK_EQ(ad.fetch_add(p, T(5)).wait(), 10);
  CHECK_EQ(ad.fetch_sub(p, T(3)).wait(), 15);
  CHECK_EQ(ad.fetch_mul(p, T(2)).wait(), 12);
  CHECK_EQ(ad.fetch_inc(p).wait(), 24);
  CHECK_EQ(ad.fetch_dec(p).wait(), 25);
  CHECK_EQ(ad.fetch_min(p, T(20)).wait(), 24);
  CHECK_EQ(ad.fetch_max(p, T(22)).wait(), 20);
  ad.add(p, T(1)).wait(); /* 23 */
  ad.sub(p, T(2)).wait();
  ad.mul(p, T(2), std::memory_order_release).wait(); /* 42 */
  ad.inc(p).wait();
  ad.dec(p).wait();
  ad.min(p, T(40)).wait();
  ad.max(p, T(41)).wait();
  CHECK_EQ(ad.load(p, std::memory_order_acquire).wait(), 41);
  if constexpr (std::is_integral_v<T>) {
    ad.store(p, T(12)).wait();
    CHECK_EQ(ad.fetch_bit_and(p, T(6)).wait(), 12);
    CHECK_EQ(ad.fetch_bit_or(p, T(3)).wait(), 4);
    CHECK_EQ(ad.fetch_bit_xor(p, T(1)).wait(), 7);
    ad.bit_or(p, T(8)).wait();
    ad.bit_and(p, T(10)).wait();
    ad.bit_xor(p, T(3)).wait();
    CHECK_EQ(ad.load(p).wait(), 9);
  }
  j.barrier();
}

/* All ranks on one word. */
template <class T> void check_together(const job &j) {
  const auto a = j.allocate<T>(2);
  const atomic_domain<T> ad(j.world(), {atomic_op::add, atomic_op::fetch_add, atomic_op::max});
  tombolo::promise<> all;
  int fetched = 0;
  for (int i = 0; i < Times; i++) {
    const std::memory_order o = std::memory_order_relaxed;
    ad.add(a.on(0), T(1), o, tombolo::on_done(all));
    all.require();
    ad.fetch_add(a.on(0), T(1), o, tombolo::on_done([&](T) {
                   fetched++;
                   all.fulfill();
                 }));
    ad.max(a.on(0) + 1, T(j.rank()) + 1).wait();
  }
  all.finish().wait();
  CHECK_EQ(fetched, Times);
  j.barrier();
  if (j.rank() == 0) CHECK(a.local()[0] == T(2 * Times * j.size()) && a.local()[1] == T(j.size()));
  j.barrier();
}

/* Ranks of a team in another order than in the job. */
void check_team(const job &j) {
  const tombolo::team half = j.world().split(int(j.rank() % 2), -int(j.rank()));
  const auto a = j.allocate<long>(1);
  {
    const atomic_domain<long> ad(half);
    for (unsigned m = 0; m < half.size(); m++) ad.fetch_inc(a.on(half.jobrank(m))).wait();
  }
  CHECK_EQ(a.local()[0], half.size());
  const std::string text =
      text_of([&] { const atomic_domain<float> wrong(j.world(), {atomic_op::bit_or}); });
  CHECK(text.find("bit operations") != std::string::npos);
  j.barrier();
}

} // namespace

int main(int argc, char **argv) {
  return run_checks(argc, argv,
                    {check_each<int>, check_each<unsigned>, check_each<long>, check_each<long long>,
                     check_each<unsigned long>, check_each<float>, check_each<double>,
                     check_together<long>, check_together<double>, check_together<float>,
                     check_team});
}
