/* SPDX-License-Identifier: BSD-3-Clause */
/* upc_barrier and locks beside the calls of C that do the same (pair.h), for
 * study/compare/waits.py. */
#include <upc.h>

#include "pair.h"

static shared int counter;

int main(void) {
  upc_lock_t *lock = upc_all_lock_alloc();
  pair_begin();
  for (int k = 0; k <= pair_samples(); k++) {
    pair_measure(PAIR_BARRIER);
    pair_start();
    for (int i = pair_count(); i > 0; i--) upc_barrier;
    pair_stop();
  }
  pair_report("upc_barrier");
  for (int k = 0; k <= pair_samples(); k++) {
    pair_measure(PAIR_LOCK);
    pair_start();
    for (int i = pair_count(); i > 0; i--) {
      upc_lock(lock);
      counter++;
      upc_unlock(lock);
    }
    pair_stop();
  }
  pair_report("upc_lock");
  return 0;
}
