/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * async_barrier().wait() of C++ beside the barrier of C.
 *
 * Owns: the row cxx_barrier. Called by study/compare/waits.py. Calls: tombolo.hpp, pair.h.
 * Invariants: each sample of C++ follows one of C at once.
 */
#include <tombolo.hpp>

#include "pair.h"

int main(int argc, char **argv) {
  tombolo::job job(argc, argv);
  pair_begin();
  for (int k = 0; k <= pair_samples(); k++) {
    pair_measure(PAIR_BARRIER);
    pair_start();
    for (int i = pair_count(); i > 0; i--) job.world().async_barrier().wait();
    pair_stop();
  }
  pair_report("cxx_barrier");
}
