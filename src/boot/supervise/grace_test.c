/* SPDX-License-Identifier: BSD-3-Clause */
/* Time that counts as had by a process. */
#include "base/unit_test.h"
#include "boot/supervise/grace.h"

TEST(waiting_for_a_processor) {
  struct tmb_grace p = {.seen_ns = 1000, .cpu_ns = 50};
  assert_int_equal(tmb_grace_check(&p, 2000, 'R', 50), 0);
  assert_int_equal(tmb_grace_check(&p, 3000, 'R', 250), 200);
  assert_int_equal(tmb_grace_check(&p, 4000, 'R', 9250), 1200); /* several threads */
}

TEST(asleep_or_unknown) {
  struct tmb_grace p = {.seen_ns = 1000};
  assert_int_equal(tmb_grace_check(&p, 2000, 'S', 0), 1000);
  assert_int_equal(tmb_grace_check(&p, 2500, 'T', 0), 1500);
  assert_int_equal(tmb_grace_check(&p, 3500, 0, 0), 2500);
  assert_int_equal(tmb_grace_check(&p, 3400, 'S', 0), 2500); /* a clock that was held */
}

int main(void) {
  return unit_run(NULL, NULL);
}
