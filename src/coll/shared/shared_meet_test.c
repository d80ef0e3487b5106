/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit test of the words in which members count themselves at a chunk: which one is the last, from
 * when on all have come, and that chunks which share a head are distinguished. The test plays the
 * members by turns.
 */
#include "base/unit_test.h"
#include "coll/shared/shared_meet.h"

#include <stdlib.h>
#include <string.h>

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

/* All members come to a chunk; `last` is the last one. */
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

TEST_BETWEEN(last_closes, start, end) {
  meet(0, 3);
  meet(1, 0);
  meet(TMB_SHARED_HEADS - 1, 4);
}

/* The next chunk of a head finds the word of the one before, and begins to count again. */
TEST_BETWEEN(heads_are_used_again, start, end) {
  uint32_t who;
  for (uint64_t number = 7; number < 7 + 4 * TMB_SHARED_HEADS; number += TMB_SHARED_HEADS) {
    meet(number, 2);
    assert_false(tmb_meet_closed(&shared, number + TMB_SHARED_HEADS, &who));
  }
}

/* A member that is ahead counts at the next chunk, not at the one that others are coming to. */
TEST_BETWEEN(chunks_are_apart, start, end) {
  uint32_t who;
  assert_false(tmb_meet_arrive(&shared, 20, 2));
  assert_false(tmb_meet_arrive(&shared, 21, 2));
  assert_false(tmb_meet_closed(&shared, 20, &who));
  assert_true(tmb_meet_arrive(&shared, 20, 2));
  tmb_meet_close(&shared, 20, 1);
  assert_true(tmb_meet_closed(&shared, 20, &who));
  assert_false(tmb_meet_closed(&shared, 21, &who));
}

/* The layout has 32 bits of a number. */
TEST_BETWEEN(numbers_wrap, start, end) {
  meet(UINT32_MAX - 1, 1);
  meet(UINT32_MAX, 1);
  meet((uint64_t)UINT32_MAX + 1, 1);
}

int main(void) {
  return unit_run(NULL, NULL);
}
