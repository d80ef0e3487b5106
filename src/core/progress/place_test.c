/* SPDX-License-Identifier: BSD-3-Clause */
/* Which processor belongs to a rank: another one for each rank of a host, and of hosts that share a
 * machine. */
#include "core/progress/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint32_t home(uint32_t host, uint32_t here, uint32_t index, uint32_t size) {
  const struct tmb_boot boot = {
      .size = size, .here = here, .here_index = index, .places = {.host = host}};
  return tmb_place_home(&boot);
}

/* Ranks of one host, and of hosts that are pretended on one: their numbers. */
static void one_machine(void **state) {
  (void)state;
  for (uint32_t r = 0; r < 3; r++) {
    assert_int_equal(home(0, 3, r, 3), r);
    assert_int_equal(home(r, 3, r, 3), r);
  }
}

/* Two hosts that are namespaces of one machine: all ranks differ. */
static void namespaces(void **state) {
  (void)state;
  uint32_t taken = 0;
  for (uint32_t host = 0; host < 2; host++)
    for (uint32_t i = 0; i < 2; i++) taken |= 1u << home(host, 2, i, 4) % 4;
  assert_int_equal(taken, 0xf);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(one_machine), cmocka_unit_test(namespaces)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
