/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* again: TOMBOLO_CONDUIT=udp+TOMBOLO_PLACES=cyclic:2 */
/*
 * tombolo.hpp: views, as those of std::mdspan, and their copies (docs/CPP.md).
 */
#include "checked.hpp"

namespace {

using tombolo::job;

unsigned right_of(const job &j) {
  return (j.rank() + 1) % j.size();
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
  const auto a = j.allocate<int>(24);
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
  const std::string text = text_of([&] { mine.slice(1, 2, 2); });
  CHECK(text.find("do not lie in dimension 1 of 3") != std::string::npos);
  CHECK(!text_of([&] { mine.slice(0, 0, 2, -1); }).empty());
  j.barrier();
}

} // namespace

int main(int argc, char **argv) {
  return run_checks(argc, argv, {check_views});
}
