/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit test of the verdict: which side of a broken connection is lost, by hosts that are heard.
 */
#include "base/unit_test.h"
#include "net/plugin/verdict.h"

#include <string.h>

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

TEST(majority_is_right) {
  assert_false(cut_off(0, "??s?h?h?")); /* three of four hosts are heard */
  assert_true(cut_off(2, "s???s?s?"));  /* its own alone */
  assert_true(cut_off(6, "s?h?s?s?") && cut_off(6, "ssshssss"));
}

TEST(half_with_rank_0_is_right) {
  assert_false(cut_off(0, "??s?????")); /* two hosts are known */
  assert_true(cut_off(2, "s???????"));
  assert_false(cut_off(4, "h?s???s?"));
  assert_true(cut_off(4, "s?h???s?"));
}

TEST(a_rank_speaks_for_its_host) {
  assert_false(cut_off(6, "shshssss")); /* one of two ranks is heard */
}

TEST(lost_hosts_do_not_count) {
  assert_false(cut_off(0, "??l?l?s?"));
  assert_true(cut_off(2, "l???s?s?"));
  assert_false(cut_off(2, "h???l?s?"));
}

TEST(the_first_of_a_host_is_known) {
  struct tmb_verdict v;
  assert_true(tmb_verdict_make(&v, two_each, 4, 1));
  assert_true(tmb_verdict_note(&v, 2, TMB_HOST_SILENT));
  assert_false(tmb_verdict_note(&v, 3, TMB_HOST_SILENT));
  assert_false(tmb_verdict_note(&v, 0, TMB_HOST_SILENT)); /* of its own host */
  tmb_verdict_free(&v);
}

int main(void) {
  return unit_run(NULL, NULL);
}
