/* SPDX-License-Identifier: BSD-3-Clause */
/* Time that counts as had by a process. */
#include "boot/supervise/grace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void waiting_for_a_processor(void **state) {
  (void)state;
  struct tmb_grace p = {.seen_ns = 1000, .cpu_ns = 50};
  assert_int_equal(tmb_grace_check(&p, 2000, 'R', 50), 0);
  assert_int_equal(tmb_grace_check(&p, 3000, 'R', 250), 200);
  assert_int_equal(tmb_grace_check(&p, 4000, 'R', 9250), 1200); /* several threads */
}

static void asleep_or_unknown(void **state) {
  (void)state;
  struct tmb_grace p = {.seen_ns = 1000};
  assert_int_equal(tmb_grace_check(&p, 2000, 'S', 0), 1000);
  assert_int_equal(tmb_grace_check(&p, 2500, 'T', 0), 1500);
  assert_int_equal(tmb_grace_check(&p, 3500, 0, 0), 2500);
  assert_int_equal(tmb_grace_check(&p, 3400, 'S', 0), 2500); /* a clock that was held */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(waiting_for_a_processor),
                                     cmocka_unit_test(asleep_or_unknown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
