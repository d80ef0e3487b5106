/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit test of the work of members in shared memory where ranks outnumber processors: the last of a
 * processor knows that it is, and of the members of an all-gather only the last wakes the others.
 * The test plays the members by turns: it changes its rank, and which processor runs it
 * (sched_getcpu is its own). It plays the last rank of a measurement, too, whenever the first reads
 * the clock, which is its own as well (clock_gettime).
 */
#include "base/unit_test.h"
#include "core/shared.h"

#include "core/team.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Of the measurement, in ns: a reading of the clock, the last rank's start, an interruption. */
enum { MEMBERS = 4, READ_NS = 100, LATE_NS = 20000000, PAUSE_NS = 2000000 };

static int processor;
static struct tmb_team team;
static struct tmb_near_ctl *doors;

int sched_getcpu(void) {
  return processor;
}

static struct {
  struct tmb_shared_row *row; /* NULL: the clock is the system's */
  uint64_t ns, last, reads;   /* the trip in progress, and readings of the clock in it */
  uint64_t pause_trip, pause_read;
} played;

int clock_gettime(clockid_t id, struct timespec *t) {
  struct tmb_shared_row *const row = played.row;
  if (!row) return (int)syscall(SYS_clock_gettime, id, t);
  played.reads = row->ask.word == played.last ? played.reads + 1 : 1;
  played.last = row->ask.word;
  played.ns += READ_NS;
  if (played.last == played.pause_trip && played.reads == played.pause_read) played.ns += PAUSE_NS;
  if (played.ns > LATE_NS) row->answer.word = played.last;
  *t = (struct timespec){.tv_sec = (time_t)(played.ns / 1000000000),
                         .tv_nsec = (long)(played.ns % 1000000000)};
  return 0;
}

/* A team of MEMBERS ranks of this host; nobody of it runs but this process. */
static int start(void **state) {
  static uint32_t near_of[MEMBERS] = {0, 1, 2, 3};
  static struct tmb_shared_card cards[2 * MEMBERS];
  const size_t bytes = MEMBERS * TMB_SHARED_ROW_BYTES;
  (void)state;
  memset(&team, 0, sizeof team);
  team.head.size = MEMBERS;
  team.shared = true;
  team.calls = &team.own_calls;
  tmb_job.size = MEMBERS;
  tmb_job.near_of = near_of;
  tmb_job.wait.crowded = true;
  memset(cards, 0, sizeof cards);
  tmb_job.cards = cards;
  tmb_job.rows_stride = TMB_SHARED_ROW_BYTES;
  tmb_job.rows = aligned_alloc(4096, bytes);
  doors = aligned_alloc(4096, 4096);
  if (!tmb_job.rows || !doors) return -1;
  memset(tmb_job.rows, 0, bytes);
  memset(doors, 0, 4096);
  tmb_job.near.arena = (char *)doors;
  return 0;
}

static int end(void **state) {
  (void)state;
  free(tmb_job.rows);
  free(doors);
  return 0;
}

/* A member comes to a barrier on a processor. */
static bool last_on(int cpu, uint64_t number) {
  processor = cpu;
  return tmb_shared_last_here(&team, TMB_MEETING_BARRIER, number);
}

TEST_BETWEEN(last_of_each_processor, start, end) {
  for (int i = 0; i < MEMBERS; i++) assert_false(last_on(i % 2, 1)); /* nothing is known yet */
  for (uint64_t number = 2; number < 5; number++) {
    assert_false(last_on(0, number));
    assert_false(last_on(1, number));
    assert_true(last_on(1, number));
    assert_true(last_on(0, number));
  }
}

TEST_BETWEEN(members_move, start, end) {
  for (int i = 0; i < MEMBERS; i++) (void)last_on(i % 2, 1);
  assert_false(last_on(0, 2)); /* one of processor 1 has come to processor 0, which cannot know */
  assert_true(last_on(0, 2));
  assert_true(last_on(0, 2));
  assert_false(last_on(1, 2)); /* which still waits for it */
  assert_true(last_on(1, 3));
  assert_false(last_on(0, 3));
  assert_false(last_on(0, 3));
  assert_true(last_on(0, 3));
}

TEST_BETWEEN(kinds_are_apart, start, end) {
  (void)last_on(0, 7);
  (void)last_on(0, 7);
  processor = 0;
  assert_false(tmb_shared_last_here(&team, TMB_MEETING_NAMED, 3));
  assert_true(tmb_shared_last_here(&team, TMB_MEETING_NAMED, 4));
  assert_false(last_on(0, 8));
  assert_true(last_on(0, 8));
  assert_false(last_on((int)TMB_SHARED_CPUS, 9)); /* shares the word of processor 0 */
  assert_true(last_on(0, 9));
}

/* Contribution of a member to the next all-gather. */
static void contribute(uint32_t rank, uint64_t number) {
  struct tmb_team_gathering g;
  uint64_t mine = 100 * number + rank;
  team.head.rank = tmb_job.rank = rank;
  team.own_calls.gathers = number;
  tmb_team_gather_begin(&g, &team, &mine, sizeof mine);
  if (rank + 1 != MEMBERS) {
    assert_false(tmb_team_gather_step(&g));
    return;
  }
  uint64_t all[MEMBERS];
  assert_true(tmb_team_gather_step(&g));
  assert_true(tmb_team_gather_end(&g, all));
  for (uint32_t r = 0; r < MEMBERS; r++) assert_int_equal(all[r], 100 * number + r);
}

TEST_BETWEEN(the_last_wakes_all, start, end) {
  for (uint64_t number = 0; number < 3; number++) {
    for (uint32_t r = 0; r < MEMBERS; r++) {
      for (uint32_t i = 0; i < MEMBERS; i++) doors[i].door.sleeping = TMB_NEAR_IN_FUTEX;
      contribute(r, number);
      for (uint32_t i = 0; i < MEMBERS; i++)
        assert_int_equal(doors[i].door.sleeping,
                         r + 1 == MEMBERS && i != r ? TMB_NEAR_AWAKE : TMB_NEAR_IN_FUTEX);
    }
  }
}

/* A member has shown its contribution and is about to count itself: no member continues before. */
TEST_BETWEEN(shown_is_not_counted, start, end) {
  struct tmb_team_gathering g;
  uint64_t mine = 0;
  team.head.rank = tmb_job.rank = 0;
  team.own_calls.gathers = 0;
  tmb_team_gather_begin(&g, &team, &mine, sizeof mine);
  for (uint32_t r = 1; r < MEMBERS; r++) {
    assert_false(tmb_team_gather_step(&g));
    tmb_store_rel(&tmb_shared_card(&team, r, 0)->number, 1u);
  }
  assert_false(tmb_team_gather_step(&g));
  tmb_fetch_add_rel(&tmb_shared_row(&team, 0)->gathered.word, MEMBERS - 1);
  assert_true(tmb_team_gather_step(&g));
}

/* Everybody reads the cards of everybody: those of the primordial team lie side by side, so that a
 * page has those of many members. */
TEST_BETWEEN(cards_side_by_side, start, end) {
  for (uint32_t r = 0; r < MEMBERS; r++)
    for (uint64_t number = 0; number < 2; number++) {
      const char *const card = (char *)tmb_shared_card(&team, r, number);
      const size_t at = (size_t)(card - (char *)tmb_shared_card(&team, 0, 0));
      assert_int_equal(at, (2 * r + number) * sizeof(struct tmb_shared_card));
    }
}

/* Measure with a last rank that starts late, and with an interruption. Returns the most time in ns
 * of a write. */
static uint64_t measured(uint64_t pause_trip, uint64_t pause_read) {
  tmb_job.nbrhd.size = MEMBERS;
  tmb_job.near_memory = tmb_job.wait.crowded = false;
  tmb_job.rank = 0;
  memset(tmb_job.rows, 0, TMB_SHARED_ROW_BYTES);
  memset(&played, 0, sizeof played);
  played.pause_trip = pause_trip;
  played.pause_read = pause_read;
  played.row = (struct tmb_shared_row *)(void *)tmb_job.rows;
  tmb_shared_init();
  played.row = NULL;
  assert_int_not_equal(tmb_shared_handoff_ns(), 0);
  return tmb_shared_write_ns();
}

/* Readings of the clock between two trips: in the wait, at its end, at the next start, after the
 * next write. Trips 1 to 64 are of the hand-off, 65 to 68 of the ordinary copy. */
TEST_BETWEEN(measured_beside_load, start, end) {
  const uint64_t write_ns = measured(0, 0);
  assert_int_equal(write_ns, READ_NS);
  for (uint64_t trip = 60; trip < 72; trip++)
    for (uint64_t read = 1; read <= 4; read++) assert_int_equal(measured(trip, read), write_ns);
}

int main(void) {
  return unit_run(NULL, NULL);
}
