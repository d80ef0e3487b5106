// SPDX-License-Identifier: BSD-3-Clause
// views_cxx.cc: columns, blocks and scattered pieces of a matrix on another rank, in C++.
//
// Shows tombolo.hpp: views with strides, their slices, copies between views, and lists of pieces
// that are one operation.
// Compile: tombolo c++ views_cxx.cc -o views_cxx
// Run:     tombolo run -n 4 ./views_cxx
/* mode: SEQ */
/* ranks: 1 2 4 */
#include <tombolo.hpp>

#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <vector>

namespace {

using tombolo::global_ptr;

constexpr size_t Rows = 6, Columns = 8;

void check(bool right, const char *subject) {
  if (!right) throw std::logic_error(subject);
}

// A column and a block of the right neighbour's matrix, by one copy each.
void columns_and_blocks(const tombolo::symmetric<int> &matrix, tombolo::rank_t right) {
  const auto theirs = tombolo::row_major(matrix.on(right), Rows, Columns);
  std::vector<int> column(Rows);
  copy(theirs.at(1, 3), tombolo::row_major(column.data(), Rows)); // index 3 of dimension 1
  for (size_t r = 0; r < Rows; r++) check(column[r] == int(r * 10 + 3), "a column");

  int block[2][3];
  const auto part = theirs.slice(0, 4, 2).slice(1, 0, 3, 2); // rows 4, 5; columns 0, 2, 4
  rcopy(part, tombolo::view2d(&block[0][0], 2, 3, 3)).wait();
  check(block[1][2] == 54 && part.extent(1) == 3 && part.stride(1) == 2, "a block");
  check(!part.empty() && part.size() == 6, "its size");
}

// A transposed copy: the strides of both sides are free.
void transposed(const tombolo::symmetric<int> &matrix, tombolo::rank_t right) {
  const auto theirs = tombolo::row_major(matrix.on(right), Rows, Columns);
  std::vector<int> turned(Rows * Columns);
  const auto mine = tombolo::row_major(turned.data(), Columns, Rows);
  copy(theirs.transposed(), mine);
  check(mine(7, 5) == 57 && theirs(5, 7) == 57, "row 5, column 7");
}

// What has the members of std::mdspan is a view, too.
struct square {
  global_ptr<int> data;
  size_t side;
  static constexpr size_t rank() { return 2; }
  global_ptr<int> data_handle() const { return data; }
  size_t extent(size_t) const { return side; }
  ptrdiff_t stride(size_t d) const { return d == 0 ? ptrdiff_t(Columns) : 1; }
};
void own_type(const tombolo::symmetric<int> &matrix, tombolo::rank_t right) {
  const auto corner = tombolo::as_view(square{matrix.on(right), 2});
  check(corner.size() == 4 && corner(1, 1) == 11, "as_view");
}

// Pieces here and there, which may differ: as many elements on both sides.
void pieces(const tombolo::symmetric<int> &matrix, tombolo::rank_t right) {
  using tombolo::piece;
  const global_ptr<int> p = matrix.on(right);
  int head = 0, rest[4] = {};
  rcopy(std::vector<piece<global_ptr<int>>>{{p, 2}, {p + 9, 3}},
        std::vector<piece<int *>>{{&head, 1}, {rest, 4}})
      .wait();
  check(head == 0 && rest[0] == 1 && rest[1] == 11 && rest[3] == 13, "pieces");

  std::vector<int> pairs(4);
  rcopy(tombolo::equal_pieces<global_ptr<int>>{{p + 2, p + 18}, 2},
        tombolo::equal_pieces<int *>{{pairs.data()}, 4})
      .wait();
  check(pairs == std::vector<int>{2, 3, 22, 23}, "pieces of one length");
}

int everything(const tombolo::job &job) {
  const auto matrix = job.allocate<int>(Rows * Columns);
  for (size_t r = 0; r < Rows; r++)
    for (size_t c = 0; c < Columns; c++) matrix.local()[r * Columns + c] = int(r * 10 + c);
  job.barrier();
  const tombolo::rank_t right = (job.rank() + 1) % job.size();
  columns_and_blocks(matrix, right);
  transposed(matrix, right);
  own_type(matrix, right);
  pieces(matrix, right);
  job.barrier();
  if (job.rank() == 0) std::printf("ok: views of %u matrices\n", job.size());
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  return tombolo::run(argc, argv, everything);
}
