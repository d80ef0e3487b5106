/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 8 */
/* again: TOMBOLO_CONDUIT=udp+TOMBOLO_PLACES=cyclic:2 */
/*
 * tombolo.hpp: copies between pieces of different and of equal lengths, with ends, and lists that
 * are refused (docs/CPP.md).
 */
#include <string>
#include <vector>

#include "check.h"
#include "checked.hpp"
#include "tombolo.hpp"

namespace {

using tombolo::equal_pieces;
using tombolo::global_ptr;
using tombolo::job;
using tombolo::piece;
using longs = std::vector<long>;
using here_list = std::vector<piece<long *>>;
using there_list = std::vector<piece<global_ptr<long>>>;

constexpr size_t Room = 4000;

void check_different(const job &j, const tombolo::symmetric<long> &a) {
  const auto p = a.on((j.rank() + 1) % j.size());
  longs v(Room), back(Room, -1);
  for (size_t i = 0; i < Room; i++) v[i] = long(i) + 1;
  const tombolo::signal_counter arrived;
  rcopy(here_list{{&v[0], 3}, {&v[10], 1}, {&v[1000], 1500}},
        there_list{{p + 5, 2}, {p + 50, 1502}}, tombolo::on_arrival(arrived), tombolo::on_done())
      .wait();
  arrived.wait();
  const long *const m = a.local();
  CHECK(m[4] == 0 && m[5] == 1 && m[6] == 2 && m[7] == 0);
  CHECK(m[50] == 3 && m[51] == 11 && m[52] == 1001 && m[1551] == 2500 && m[1552] == 0);
  rcopy(there_list{{p + 5, 2}, {p + 50, 3}}, here_list{{&back[1], 4}, {&back[100], 1}}).wait();
  CHECK(back[0] == -1 && back[1] == 1 && back[3] == 3 && back[4] == 11 && back[5] == -1);
  CHECK_EQ(back[100], 1001);
  int heard = 0;
  rcopy(there_list{{p + 5, 1}}, here_list{{&back[0], 1}}, tombolo::on_done([&] { heard++; }));
  while (!heard) tombolo::progress();
  CHECK_EQ(back[0], 1);
  rcopy(here_list{}, there_list{}).wait();
  const longs fixed{70};
  rcopy(std::vector<piece<const long *>>{{fixed.data(), 1}}, there_list{{p, 1}}).wait();
  j.barrier();
  CHECK_EQ(m[0], 70);
  j.barrier();
}

void check_equal(const job &j, const tombolo::symmetric<long> &a) {
  const auto p = a.on((j.rank() + 1) % j.size());
  longs v{1, 2, 3, 4, 5, 6, 7, 8}, back(8, -1);
  rcopy(equal_pieces<long *>{{&v[0], &v[6]}, 2},
        equal_pieces<global_ptr<long>>{{p + 30, p + 20, p + 25, p + 22}, 1})
      .wait();
  j.barrier();
  const long *const m = a.local();
  CHECK(m[30] == 1 && m[20] == 2 && m[25] == 7 && m[22] == 8 && m[21] == 0);
  rcopy(equal_pieces<global_ptr<long>>{{p + 20, p + 30}, 1}, equal_pieces<long *>{{&back[3]}, 2})
      .wait();
  CHECK(back[3] == 2 && back[4] == 1 && back[5] == -1);
  rcopy(equal_pieces<global_ptr<long>>{{p + 20}, 1}, equal_pieces<long *>{{&back[6]}, 1},
        tombolo::on_done())
      .wait();
  CHECK_EQ(back[6], 2);
  j.barrier();
}

void check_refused(const job &j, const tombolo::symmetric<long> &a) {
  longs v(2);
  std::string text = text_of([&] {
    rcopy(here_list{{&v[0], 2}}, there_list{{a.on(0), 1}}).wait();
  });
  CHECK(text.find("2 elements do not fill pieces of 1") != std::string::npos);
  if (j.size() == 1) return;
  try {
    rcopy(here_list{{&v[0], 2}}, there_list{{a.on(0), 1}, {a.on(1), 1}}).wait();
  } catch (const tombolo::error &e) {
    text = e.what();
  }
  CHECK(text.find("on the ranks 0 and 1") != std::string::npos);
}

} // namespace

int main(int argc, char **argv) {
  return tombolo::run(argc, argv, [](job &j) {
    check_set_rank(j.rank());
    const auto a = j.allocate<long>(Room);
    check_different(j, a);
    check_equal(j, a);
    check_refused(j, a);
    j.barrier();
    return check_done();
  });
}
