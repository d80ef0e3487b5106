/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit test of the words in which members count themselves at a chunk: which one is the last, from
 * when on all have come, and that chunks which share a head are distinguished. The test plays the
 * members by turns.
 */
#include "coll/shared/shared_meet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MEMBERS = 5 };

static struct tmb_coll_shared shared;

static int start(void **state) {
  static struct tmb_shared_row *rows[1];
  (void)state;
  rows[0] = aligned_alloc(4096, TMB_SHARED_ROW_BYTES);
  if (!rows[0]) return -1;
  memset(rows[0], 0, TMB_SHARED_ROW_BYTES);
  shared.row = rows;
  return 0;
}

static int end(void **state) {
  (void)state;
  free(shared.row[0]);
  return 0;
}

/* All come to a chunk; `last` is the last one. */
static void meet(uint64_t number, uint32_t last) {
  uint32_t who = UINT32_MAX;
  for (uint32_t i = 1; i < MEMBERS; i++) {
    assert_false(tmb_meet_arrive(&shared, number, MEMBERS));
    assert_false(tmb_meet_closed(&shared, number, &who));
  }
  assert_true(tmb_meet_arrive(&shared, number, MEMBERS));
  assert_false(tmb_meet_closed(&shared, number, &who)); /* the last one may still combine */
  tmb_meet_close(&shared, number, last);
  assert_true(tmb_meet_closed(&shared, number, &who));
  assert_int_equal(who, last);
}

static void last_closes(void **state) {
  (void)state;
  meet(0, 3);
  meet(1, 0);
  meet(TMB_SHARED_HEADS - 1, 4);
}

/* The next chunk of a head finds the word of the one before, and begins to count again. */
static void heads_are_used_again(void **state) {
  uint32_t who;
  (void)state;
  for (uint64_t number = 7; number < 7 + 4 * TMB_SHARED_HEADS; number += TMB_SHARED_HEADS) {
    meet(number, 2);
    assert_false(tmb_meet_closed(&shared, number + TMB_SHARED_HEADS, &who));
  }
}

/* A member that is ahead counts at the next chunk, not at the one that others are coming to. */
static void chunks_are_apart(void **state) {
  uint32_t who;
  (void)state;
  assert_false(tmb_meet_arrive(&shared, 20, 2));
  assert_false(tmb_meet_arrive(&shared, 21, 2));
  assert_false(tmb_meet_closed(&shared, 20, &who));
  assert_true(tmb_meet_arrive(&shared, 20, 2));
  tmb_meet_close(&shared, 20, 1);
  assert_true(tmb_meet_closed(&shared, 20, &who));
  assert_false(tmb_meet_closed(&shared, 21, &who));
}

/* The layout has 32 bits of a number. */
static void numbers_wrap(void **state) {
  (void)state;
  meet(UINT32_MAX - 1, 1);
  meet(UINT32_MAX, 1);
  meet((uint64_t)UINT32_MAX + 1, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(last_closes, start, end),
      cmocka_unit_test_setup_teardown(heads_are_used_again, start, end),
      cmocka_unit_test_setup_teardown(chunks_are_apart, start, end),
      cmocka_unit_test_setup_teardown(numbers_wrap, start, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
