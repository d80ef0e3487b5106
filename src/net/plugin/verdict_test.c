/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit test of the verdict: which side of a broken connection is lost, by hosts that are heard.
 */
#include "net/plugin/verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = 8 };
static const uint32_t two_each[RANKS] = {0, 0, 1, 1, 2, 2, 3, 3};

/* in states: a letter for each rank: '?' unknown, 'l' lost, 's' silent, 'h' heard. */
static bool cut_off(uint32_t rank, const char *states) {
  struct tmb_verdict v;
  assert_true(tmb_verdict_make(&v, two_each, 4, rank));
  for (uint32_t i = 0; i < RANKS; i++) {
    const char *const letter = strchr("?lsh", states[i]);
    assert_non_null(letter);
    if (states[i] != '?') tmb_verdict_note(&v, i, (enum tmb_host_state)(letter - "?lsh"));
  }
  const bool result = tmb_verdict_cut_off(&v);
  tmb_verdict_free(&v);
  return result;
}

static void majority_is_right(void **state) {
  (void)state;
  assert_false(cut_off(0, "??s?h?h?")); /* three of four hosts are heard */
  assert_true(cut_off(2, "s???s?s?"));  /* its own alone */
  assert_true(cut_off(6, "s?h?s?s?") && cut_off(6, "ssshssss"));
}

static void half_with_rank_0_is_right(void **state) {
  (void)state;
  assert_false(cut_off(0, "??s?????")); /* two hosts are known */
  assert_true(cut_off(2, "s???????"));
  assert_false(cut_off(4, "h?s???s?"));
  assert_true(cut_off(4, "s?h???s?"));
}

static void a_rank_speaks_for_its_host(void **state) {
  (void)state;
  assert_false(cut_off(6, "shshssss")); /* one of two ranks is heard */
}

static void lost_hosts_do_not_count(void **state) {
  (void)state;
  assert_false(cut_off(0, "??l?l?s?"));
  assert_true(cut_off(2, "l???s?s?"));
  assert_false(cut_off(2, "h???l?s?"));
}

static void the_first_of_a_host_is_known(void **state) {
  (void)state;
  struct tmb_verdict v;
  assert_true(tmb_verdict_make(&v, two_each, 4, 1));
  assert_true(tmb_verdict_note(&v, 2, TMB_HOST_SILENT));
  assert_false(tmb_verdict_note(&v, 3, TMB_HOST_SILENT));
  assert_false(tmb_verdict_note(&v, 0, TMB_HOST_SILENT)); /* of its own host */
  tmb_verdict_free(&v);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(majority_is_right),
      cmocka_unit_test(half_with_rank_0_is_right),
      cmocka_unit_test(a_rank_speaks_for_its_host),
      cmocka_unit_test(lost_hosts_do_not_count),
      cmocka_unit_test(the_first_of_a_host_is_known),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
