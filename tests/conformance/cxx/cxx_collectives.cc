/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 8 */
/* again: TOMBOLO_CONDUIT=udp+TOMBOLO_PLACES=cyclic:2 */
/*
 * tombolo.hpp: every kind of collective as a future and blocking, of values and vectors, with
 * operators of the library and of the program, many in progress, on parts of the job
 * (docs/CPP.md).
 */
#include <string>
#include <vector>

#include "check.h"
#include "checked.hpp"
#include "tombolo.hpp"

namespace {

using tombolo::future;
using tombolo::job;
using tombolo::team;
using longs = std::vector<long>;

struct pair { /* a map x -> a * x + b; its composition depends on the order */
  long a, b;
};
pair compose(pair f, pair g) {
  return {f.a * g.a % 1009, (g.a * f.b + g.b) % 1009};
}

longs numbers(size_t n, long first) {
  longs v(n);
  for (size_t i = 0; i < n; i++) v[i] = first + long(i);
  return v;
}

/* All kinds are in progress together; n elements of a vector. */
void check_all(const team &t, size_t n) {
  const long me = long(t.rank()), all = long(t.size());
  const unsigned last = t.size() - 1;
  auto barrier = t.async_barrier();
  auto cast = t.async_broadcast(me + 5, last);
  auto cast_many = t.async_broadcast(numbers(n, me), last);
  auto sum = t.async_all_reduce(me + 1);
  auto most = t.async_reduce(numbers(n, me), last, tombolo::maximum());
  auto order = t.async_all_reduce(pair{me + 2, 3}, compose);
  auto scan = t.async_scan(numbers(n, me));
  auto before = t.async_exclusive_scan(pair{me + 2, 3}, pair{1, 0}, compose);
  auto gathered = t.async_gather(numbers(n, me * 1000), 0);
  auto everywhere = t.async_all_gather(2 * me);
  auto part = t.async_scatter(t.rank() == last ? numbers(n * t.size(), 7) : longs(), n, last);
  auto exchanged = t.async_all_to_all(numbers(n * t.size(), me * 10000));
  auto reduced = t.async_reduce_scatter(numbers(n * t.size(), me));
  barrier.wait();
  CHECK_EQ(cast.wait(), long(last) + 5);
  CHECK(cast_many.wait() == numbers(n, last));
  CHECK_EQ(sum.wait(), all * (all + 1) / 2);
  CHECK(most.wait() == (t.rank() == last ? numbers(n, last) : longs()));
  pair want{1, 0}, prefix{1, 0};
  for (long r = 0; r < all; r++) {
    if (r == me) prefix = want;
    want = compose(want, {r + 2, 3});
  }
  const pair got = order.wait(), earlier = before.wait();
  CHECK(got.a == want.a && got.b == want.b);
  CHECK(earlier.a == prefix.a && earlier.b == prefix.b);
  const longs scanned = scan.wait(), mine = part.wait(), rows = exchanged.wait(),
              sums = reduced.wait(), everyone = everywhere.wait(), at_root = gathered.wait();
  CHECK_EQ(at_root.size(), t.rank() ? 0 : n * t.size());
  for (size_t i = 0; i < at_root.size(); i++)
    CHECK_EQ(at_root[i], long(i / n) * 1000 + long(i % n));
  for (size_t i = 0; i < n; i++) {
    CHECK_EQ(scanned[i], me * (me + 1) / 2 + (me + 1) * long(i));
    CHECK_EQ(mine[i], 7 + me * long(n) + long(i));
    CHECK_EQ(sums[i], all * (all - 1) / 2 + all * (me * long(n) + long(i)));
  }
  for (size_t i = 0; i < rows.size(); i++)
    CHECK_EQ(rows[i], long(i / n) * 10000 + me * long(n) + long(i % n));
  for (long r = 0; r < all; r++) CHECK_EQ(everyone[size_t(r)], 2 * r);
}

void check_blocking(const team &t) {
  const long me = long(t.rank()), all = long(t.size());
  CHECK_EQ(t.reduce(me, 0), t.rank() ? 0 : all * (all - 1) / 2);
  CHECK_EQ(t.scan(2.5) * 2, 5 * (me + 1));
  CHECK_EQ(t.exclusive_scan(me + 1, -1L, tombolo::maximum()), me ? me : -1);
  CHECK_EQ(t.gather('x', 0).size(), t.rank() ? 0 : size_t(all));
  CHECK(t.scatter(t.rank() ? longs() : numbers(size_t(all), 0), 1, 0)[0] == me);
  CHECK_EQ(t.all_to_all(numbers(size_t(all), 0)).back(), me);
  CHECK_EQ(t.reduce_scatter(numbers(size_t(all), 0), tombolo::maximum())[0], me);
  long pair_of_sums[2] = {me, 1};
  t.all_reduce(pair_of_sums, 2);
  CHECK(pair_of_sums[0] == all * (all - 1) / 2 && pair_of_sums[1] == all);
  { const auto dropped = t.async_all_reduce(numbers(1000, me)); }
  long after = 0;
  t.async_all_reduce(me).then([&](long v) { after = v; }).wait();
  CHECK_EQ(after, all * (all - 1) / 2);
  CHECK(t.async_all_reduce(longs()).wait().empty());
  const std::string text = text_of([&] {
    if (all > 1) static_cast<void>(t.async_all_to_all(longs(size_t(all) + 1)));
  });
  CHECK(all == 1 || text.find("no equal blocks") != std::string::npos);
}

} // namespace

int main(int argc, char **argv) {
  return tombolo::run(argc, argv, [](job &j) {
    check_set_rank(j.rank());
    for (const size_t n : {size_t(1), size_t(3), size_t(900)}) check_all(j.world(), n);
    check_blocking(j.world());
    const team half = j.world().split(int(j.rank() % 2), -int(j.rank()));
    check_all(half, 5);
    j.barrier();
    return check_done();
  });
}
