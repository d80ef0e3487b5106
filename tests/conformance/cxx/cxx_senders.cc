/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* again: TOMBOLO_CONDUIT=udp+TOMBOLO_PLACES=cyclic:2 */
/*
 * tombolo.hpp: senders over puts, gets and remote calls, with errors and with several at once;
 * views, as those of std::mdspan (docs/CPP.md).
 */
#include "check.h"
#include "tombolo.hpp"

namespace {

using tombolo::as_sender;
using tombolo::job;
using tombolo::sync_wait;

unsigned right_of(const job &j) {
  return (j.rank() + 1) % j.size();
}

void check_chain(const job &j) {
  const auto a = j.allocate<long>(4);
  const auto p = a.on(right_of(j));
  const auto sum =
      sync_wait(as_sender(rput(p, 20L)) | tombolo::let_value([=] { return as_sender(rget(p)); }) |
                tombolo::then([](long v) { return v + 0.5; }));
  CHECK_EQ(int(sum.value() * 10), 205);
  CHECK(sync_wait(tombolo::just()).has_value());
  CHECK_EQ(sync_wait(tombolo::just(4) | tombolo::then([](int v) { return v * v; })).value(), 16);
  j.barrier();
}

void check_all(const job &j) {
  const auto a = j.allocate<long>(3);
  a.local()[0] = 10 + j.rank(), a.local()[1] = 2;
  j.barrier();
  const auto p = a.on(right_of(j));
  const auto both = sync_wait(tombolo::when_all(as_sender(rget(p)), as_sender(rget(p + 1)),
                                                as_sender(rput(p + 2, 7L)), tombolo::just(3)));
  CHECK_EQ(std::get<0>(*both), long(10 + right_of(j)));
  CHECK_EQ(std::get<1>(*both) + std::get<3>(*both), 5);
  j.barrier();
  CHECK_EQ(a.local()[2], 7);
  j.barrier();
}

/* A call on another rank, with a number that lives until the second call has ended. */
void check_calls(const job &j) {
  const tombolo::team &world = j.world();
  const unsigned to = right_of(j);
  const auto got =
      sync_wait(tombolo::on_member(
                    world, to, [](int x) { return 2 * x + int(tombolo::rank()); }, 50) |
                tombolo::let_value([&world, to](int &v) {
                  return tombolo::on_member(
                             world, to, [](int x) { return x + 1; }, v) |
                         tombolo::then([&v](int x) { return x == v + 1 ? x : -1; });
                }));
  CHECK_EQ(*got, int(101 + to));
  int seen = 0;
  for (int i = 0; i < 10; i++)
    tombolo::start_detached(tombolo::on_member(world, to, [] { return 1; }) |
                            tombolo::then([&seen](int n) { seen += n; }));
  while (tombolo::drive()) {}
  CHECK_EQ(seen, 10);
  j.barrier();
}

void check_errors(const job &j) {
  const auto thrower = [&j] {
    return tombolo::on_member(j.world(), right_of(j),
                              []() -> int { throw std::runtime_error("there"); });
  };
  std::string text;
  try {
    sync_wait(thrower() | tombolo::then([](int v) { return v + 1; }));
  } catch (const tombolo::remote_error &e) {
    text = e.what();
  }
  CHECK(text.find(": there") != std::string::npos);
  CHECK_EQ(*sync_wait(thrower() | tombolo::upon_error([](std::exception_ptr) { return -5; })), -5);
  int met = 0;
  try {
    sync_wait(tombolo::when_all(thrower(), tombolo::just(1)) |
              tombolo::then([&](auto) { met = 9; }));
  } catch (const tombolo::remote_error &) {
    met++;
  }
  CHECK_EQ(met, 1);
  try {
    sync_wait(tombolo::just() | tombolo::then([]() -> int { throw 5; }));
  } catch (int e) {
    met += e;
  }
  CHECK_EQ(met, 6);
  j.barrier();
}

/* What std::mdspan offers, for a compiler that has none: 2 dimensions, columns first. */
struct like_mdspan {
  int *data;
  static constexpr size_t rank() { return 2; }
  int *data_handle() const { return data; }
  size_t extent(size_t d) const { return d ? 4 : 3; }
  size_t stride(size_t d) const { return d ? 3 : 1; }
};

void check_views(const job &j) {
  const auto a = j.allocate<int>(2 * 3 * 4);
  const auto remote = tombolo::row_major(a.on(right_of(j)), 2, 3, 4);
  int block[12];
  for (int i = 0; i < 12; i++) block[i] = i;
  copy(tombolo::as_view(like_mdspan{block}), remote.at(0, 1)); /* into the second plane */
  CHECK_EQ(static_cast<int>(remote(1, 2, 3)), 2 + 3 * 3);
  remote(0, 0, 1) = 77;
  j.barrier();
  const auto mine = local(tombolo::row_major(a.on(j.rank()), 2, 3, 4));
  CHECK(mine.base == a.local() && mine.size() == 24 && !mine.empty() && mine.rank() == 3);
  CHECK_EQ(mine(0, 0, 1), 77);
  CHECK_EQ(mine(1, 2, 3), 11);
  CHECK_EQ(mine.at(0, 1).transposed()(3, 2), 11);
  const auto odd = mine.slice(2, 3, 2, -2); /* columns 3 and 1 */
  CHECK(odd.extent(2) == 2 && odd.stride(2) == -2);
  CHECK_EQ(odd(1, 2, 1), mine(1, 2, 1));
  int pair[2] = {};
  copy(remote.slice(2, 3, 2, -2).at(0, 1).at(0, 2), tombolo::row_major(&pair[0], 2));
  CHECK(pair[0] == 11 && pair[1] == 5);
  int refused = 0;
  try {
    mine.slice(1, 2, 2);
  } catch (const tombolo::error &e) {
    refused += std::strstr(e.what(), "do not lie in dimension 1 of 3") != nullptr;
  }
  try {
    mine.slice(0, 0, 2, -1);
  } catch (const tombolo::error &) {
    refused++;
  }
  CHECK_EQ(refused, 2);
  j.barrier();
}

} // namespace

int main(int argc, char **argv) {
  return tombolo::run(argc, argv, [](job &j) {
    check_set_rank(j.rank());
    check_chain(j);
    check_all(j);
    check_calls(j);
    check_errors(j);
    check_views(j);
    return check_done();
  });
}
