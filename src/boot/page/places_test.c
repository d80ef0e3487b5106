/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of places: reading placements, and the table of a rank.
 */

#include "base/error.h"
#include "base/unit_test.h"
#include "boot/page/places.h"

#include <string.h>

static void expect(const char *text, uint32_t size, const uint32_t *host_of, uint32_t hosts) {
  uint32_t got[16], count = 99;
  char why[128] = "";
  assert_int_equal(tmb_places_parse(text, size, got, &count, why, sizeof why), TMB_OK);
  assert_int_equal(count, hosts);
  assert_memory_equal(got, host_of, size * sizeof *got);
}

TEST(reads_placements) {
  expect(NULL, 3, (uint32_t[]){0, 0, 0}, 1);
  expect("", 3, (uint32_t[]){0, 0, 0}, 1);
  expect("1", 2, (uint32_t[]){0, 0}, 1);
  expect("2", 4, (uint32_t[]){0, 0, 1, 1}, 2);
  expect("2", 5, (uint32_t[]){0, 0, 0, 1, 1}, 2);
  expect("3", 7, (uint32_t[]){0, 0, 0, 1, 1, 2, 2}, 3);
  expect("4", 2, (uint32_t[]){0, 1}, 2);
  expect("cyclic:3", 7, (uint32_t[]){0, 1, 2, 0, 1, 2, 0}, 3);
  expect("cyclic:9", 2, (uint32_t[]){0, 1}, 2);
  expect("0,1,0,2", 4, (uint32_t[]){0, 1, 0, 2}, 3);
  /* any numbers: hosts are named by their lowest rank */
  expect("7,1000000,7,3,3", 5, (uint32_t[]){0, 1, 0, 2, 2}, 3);
}

static void refuse(const char *text, uint32_t size, const char *part) {
  uint32_t got[16], count;
  char why[128] = "";
  assert_int_equal(tmb_places_parse(text, size, got, &count, why, sizeof why), TMB_E_ARG);
  assert_non_null(strstr(why, part));
}

TEST(refuses_what_is_no_placement) {
  refuse("two", 2, "neither");
  refuse("0", 2, "neither");
  refuse("-2", 2, "neither");
  refuse("cyclic:", 2, "neither");
  refuse("block:2", 2, "neither");
  refuse("0,1", 3, "fewer");
  refuse("0,1,1", 2, "more");
  refuse("0,,1", 3, "host of rank 1");
  refuse("0,-1,1", 3, "host of rank 1");
  refuse("0,1x,1", 3, "host of rank 1");
}

TEST(knows_who_is_near) {
  const uint32_t host_of[] = {0, 1, 0, 2, 1, 1};
  struct tmb_places p;
  assert_int_equal(tmb_places_open(&p, 4, 6, host_of), TMB_OK);
  assert_int_equal(p.size, 6);
  assert_int_equal(p.hosts, 3);
  assert_int_equal(p.host, 1);
  assert_int_equal(p.near_count, 3);
  assert_int_equal(p.near_index, 1);
  assert_memory_equal(p.near_rank, ((uint32_t[]){1, 4, 5}), 3 * sizeof(uint32_t));
  assert_memory_equal(p.near_of, ((uint32_t[]){0, 0, 1, 0, 1, 2}), 6 * sizeof(uint32_t));
  assert_true(tmb_places_near(&p, 5));
  assert_false(tmb_places_near(&p, 0));
  tmb_places_close(&p);
  assert_null(p.host_of);

  assert_int_equal(tmb_places_open(&p, 2, 3, NULL), TMB_OK);
  assert_int_equal(p.hosts, 1);
  assert_int_equal(p.near_count, 3);
  assert_int_equal(p.near_index, 2);
  tmb_places_close(&p);
}

int main(void) {
  return unit_run(NULL, NULL);
}
