/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* expect: 1 */
/* match: (?s)rank 0: the table is empty.*look_up.*cxx_thrown.cc:1[0-9] */
/* An exception that leaves the function of tombolo::run ends the job; rank and what() are printed,
 * and the functions and lines that led to it.
 */
#include "tombolo.hpp"

/* Not inlined, and with something to clean up, which does not hide the place of the throw. */
__attribute__((noinline)) static int look_up(const std::string &name) {
  const std::vector<int> table(name.size());
  if (table.size() == 1) throw std::runtime_error("the table is empty");
  return table[1];
}

int main(int argc, char **argv) {
  return tombolo::run(argc, argv, [](tombolo::job &job) {
    const tombolo::team half = job.world().split(0);
    if (job.rank() == 0) return look_up("a");
    half.barrier(); /* which rank 0 never enters: it ends the job instead of waiting for others */
    return 0;
  });
}
