/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit test of the numbers of chunks: a collective of as many chunks as a row has slots finds room
 * for all of them at once, whatever came before it, so that members need not take turns in the
 * middle of it. The test plays the members, of ranks that outnumber processors and do not sleep.
 */
#include "base/unit_test.h"
#include "coll/shared/shared_row.h"

#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 3 };

static struct tmb_team team[MEMBERS];
static struct tmb_coll_shared shared[MEMBERS];
static struct tmb_shared_row *rows[MEMBERS];

static int start(void **state) {
  (void)state;
  memset(shared, 0, sizeof shared);
  tmb_job.wait.crowded = true; /* nobody is woken who does not ask for it */
  for (uint32_t m = 0; m < MEMBERS; m++) {
    rows[m] = aligned_alloc(4096, TMB_SHARED_ROW_BYTES);
    if (!rows[m]) return -1;
    memset(rows[m], 0, TMB_SHARED_ROW_BYTES);
    shared[m].row = rows;
    team[m].head.rank = m;
    team[m].head.size = MEMBERS;
  }
  return 0;
}

static int end(void **state) {
  (void)state;
  tmb_job.wait.crowded = false;
  for (uint32_t m = 0; m < MEMBERS; m++) free(rows[m]);
  return 0;
}

/* A member is at a collective of so many chunks. Returns the number of the first. */
static uint64_t begin(uint32_t m, uint64_t chunks) {
  const uint64_t first = tmb_row_begin(&shared[m], chunks);
  shared[m].next = first + chunks;
  tmb_row_skip(&team[m], &shared[m], first);
  return first;
}

/* All members do a collective; the long ones show all before they read. */
static void run(uint64_t chunks, bool small) {
  uint64_t first[MEMBERS];
  for (uint32_t m = 0; m < MEMBERS; m++) first[m] = begin(m, chunks);
  for (uint32_t m = 0; m < MEMBERS; m++) {
    assert_int_equal(first[m], first[0]);
    for (uint64_t i = 0; i < chunks; i++)
      assert_true(tmb_row_has_room(&team[m], &shared[m], first[m] + i, small));
  }
  for (uint32_t m = 0; m < MEMBERS; m++) {
    for (uint64_t i = 0; i < chunks; i++) tmb_row_count_read(&team[m], &shared[m]);
    assert_int_equal(shared[m].read, shared[m].next);
  }
}

TEST_BETWEEN(room_for_all, start, end) {
  for (uint64_t before = 0; before < TMB_SHARED_SLOTS; before++) {
    for (uint64_t i = 0; i < before; i++) run(1, true);
    run(TMB_SHARED_SLOTS, false);
    run(TMB_SHARED_SLOTS, false);
  }
}

/* Short ones follow each other without a gap. */
TEST_BETWEEN(no_gaps, start, end) {
  for (uint64_t i = 0; i < 100; i++) {
    assert_int_equal(tmb_row_begin(&shared[0], 1), 2 * i);
    run(1, true);
    run(1, true);
  }
}

int main(void) {
  return unit_run(NULL, NULL);
}
