/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Team objects from inside: memory returned over many cycles, messages that precede their team,
 * numbers that are never used again, the small all-gather of one member.
 */
#include "base/unit_test.h"
#include "core/am/kit.h"
#include "core/check.h"
#include "core/op/op.h"
#include "core/team.h"
#include "net/up.h"

#include <stdlib.h>
#include <string.h>

static gex_TM_t job_tm;

static int start(void **state) {
  (void)state;
  gex_Client_t client;
  gex_EP_t ep;
  return gex_Client_Init(&client, &ep, &job_tm, "TEAMTEST", NULL, NULL, 0);
}

static gex_TM_t make(void) {
  gex_TM_t tm = GEX_TM_INVALID;
  assert_int_equal(gex_TM_Split(&tm, job_tm, 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH), 1);
  return tm;
}

TEST(cycles_return_memory) {
  const struct tmb_team_stats before = tmb_team_stats();
  uint64_t live, slots_before, slots;
  tmb_op_stats(&live, &slots_before);
  for (int i = 0; i < 20000; i++) {
    const gex_TM_t tm = make();
    gex_Coll_BarrierBlocking(tm, 0);
    assert_int_equal(gex_TM_Destroy(tm, NULL, 0), 0);
  }
  const struct tmb_team_stats after = tmb_team_stats();
  assert_int_equal(after.made - before.made, 20000);
  assert_int_equal(after.freed - before.freed, 20000);
  assert_int_equal(after.bytes, before.bytes);
  assert_int_equal(after.parked, 0);
  tmb_op_stats(&live, &slots);
  assert_cmp(slots, <=, slots_before + 512);
}

TEST(many_live_teams_are_found) {
  enum { MANY = 3000 };
  static gex_TM_t tm[MANY];
  for (int i = 0; i < MANY; i++) tm[i] = make();
  for (int i = 0; i < MANY; i++) {
    struct tmb_team *team = tmb_team_of(tm[i]);
    assert_ptr_equal(tmb_team_find(team->uid, 0, NULL), team);
    assert_int_equal(tmb_team_local_members(team->uid), 1);
    assert_null(tmb_team_find(team->uid, 1, NULL));
    if (i) assert_int_not_equal(team->uid, tmb_team_of(tm[i - 1])->uid);
  }
  for (int i = MANY; i-- > 0;) (void)gex_TM_Destroy(tm[i], NULL, GEX_FLAG_GLOBALLY_QUIESCED);
}

/* ---- a message before its team */

enum { EARLY = TMB_KIT_TEST };
static uint64_t early_uid;
static int early_runs, early_found;
static char early_seen[16];

static void on_early(const struct tmb_am_in *in) {
  struct tmb_team *team = tmb_team_find(early_uid, 0, in);
  early_runs++;
  if (!team) return;
  early_found++;
  assert_int_equal(in->args[0], 77);
  assert_int_equal(in->nbytes, sizeof early_seen);
  memcpy(early_seen, in->payload, sizeof early_seen);
}

/* Of many messages: each says which of its team's it is. */
static int32_t counted;

static void on_counted(const struct tmb_am_in *in) {
  assert_int_equal(in->args[0], counted++);
}

static void park_numbered(uint64_t uid, int32_t number, const struct tmb_am_in *like) {
  struct tmb_am_in in = *like;
  in.nargs = 1;
  in.args = &number;
  assert_null(tmb_team_find(uid, 0, &in));
}

TEST(early_messages_wait_for_their_team) {
  int32_t args[1] = {77};
  char payload[16] = "fifteen letters";
  const struct tmb_am_in in = {.category = TMB_AM_MEDIUM,
                               .handler = EARLY,
                               .nargs = 1,
                               .args = args,
                               .payload = payload,
                               .nbytes = sizeof payload};
  tmb_up_set_internal(EARLY, on_early);
  early_uid = tmb_team_uid() + 1; /* of the next team that this process proposes */
  tmb_up_am(&in);
  assert_int_equal(tmb_team_stats().parked, 0); /* nobody makes a team: it is for one that was */
  early_runs = 0;
  tmb_team_making(true);
  tmb_up_am(&in);
  assert_int_equal(early_runs, 1);
  assert_int_equal(early_found, 0);
  assert_int_equal(tmb_team_stats().parked, 1);
  memset(payload, 0, sizeof payload); /* the message has been copied */
  const gex_TM_t tm = make();
  assert_int_equal(tmb_team_of(tm)->uid, early_uid);
  assert_int_equal(early_runs, 2);
  assert_int_equal(early_found, 1);
  assert_string_equal(early_seen, "fifteen letters");
  assert_int_equal(tmb_team_stats().parked, 0);
  (void)gex_TM_Destroy(tm, NULL, 0);
  tmb_up_am(&in); /* its team is no more */
  assert_int_equal(tmb_team_stats().parked, 1);
  tmb_team_making(false);
  assert_int_equal(tmb_team_stats().parked, 0);
}

/* Messages for many teams that are not there yet, each received without a search of the others. */
TEST(many_early_messages_keep_their_order) {
  enum { TEAMS = 40, EACH = 50 };
  const struct tmb_am_in in = {.category = TMB_AM_SHORT, .handler = EARLY, .nargs = 0};
  tmb_up_set_internal(EARLY, on_counted);
  tmb_team_making(true);
  const uint64_t first = tmb_team_uid() + 1;
  for (int i = 0; i < EACH; i++)
    for (uint64_t k = 0; k < TEAMS; k++) park_numbered(first + k, i, &in);
  assert_int_equal(tmb_team_stats().parked, TEAMS * EACH);
  for (uint64_t k = 0; k < TEAMS; k++) {
    counted = 0;
    const gex_TM_t tm = make();
    assert_int_equal(tmb_team_of(tm)->uid, first + k);
    assert_int_equal(counted, EACH);
    (void)gex_TM_Destroy(tm, NULL, 0);
  }
  assert_int_equal(tmb_team_stats().parked, 0);
  tmb_team_making(false);
}

TEST(references_keep_a_team) {
  const gex_TM_t tm = make();
  struct tmb_team *team = tmb_team_of(tm);
  const uint64_t freed = tmb_team_stats().freed;
  tmb_team_hold(team);
  (void)gex_TM_Destroy(tm, NULL, 0);
  assert_int_equal(tmb_team_stats().freed, freed);
  const struct tmb_am_in in = {.category = TMB_AM_SHORT};
  assert_null(tmb_team_find(team->uid, 0, NULL));
  assert_ptr_equal(tmb_team_find(team->uid, 0, &in), team); /* messages still do */
  const uint64_t uid = team->uid;
  tmb_team_release(team);
  assert_int_equal(tmb_team_stats().freed, freed + 1);
  assert_null(tmb_team_find(uid, 0, &in));
}

TEST(gather_of_one) {
  char mine[TMB_TEAM_GATHER_BYTES], all[TMB_TEAM_GATHER_BYTES];
  memset(mine, 42, sizeof mine);
  for (size_t bytes = 1; bytes <= sizeof mine; bytes++) {
    memset(all, 0, sizeof all);
    tmb_team_allgather(&tmb_job.team, mine, bytes, all);
    assert_memory_equal(all, mine, bytes);
    if (bytes < sizeof all) assert_int_equal(all[bytes], 0);
  }
}

int main(void) {
  return unit_run(start, NULL);
}
