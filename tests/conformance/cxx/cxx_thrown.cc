/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* expect: 1 */
/* match: rank 0: the table is empty */
/* An exception that leaves the function of tombolo::run ends the job; rank and what() are printed.
 */
#include "tombolo.hpp"

int main(int argc, char **argv) {
  return tombolo::run(argc, argv, [](tombolo::job &job) {
    const tombolo::team half = job.world().split(0);
    if (job.rank() == 0) throw std::runtime_error("the table is empty");
    half.barrier(); /* which rank 0 never enters: it ends the job instead of waiting for others */
  });
}
