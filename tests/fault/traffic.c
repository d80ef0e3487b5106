/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 2 3 5 */
/* cases: abort report back */
/* args: 20 */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_PLACES=cyclic:2+TOMBOLO_CONDUIT=loop */
/* timeout: 60 */
/*
 * Steady traffic of every kind among all ranks, each operation checked, while hosts, links and
 * processes fail (tests/net/faults_test.py): `traffic POLICY STEPS [MS]`. In a step each rank puts
 * to, gets from, counts at, signals and asks each other one; a step ends with a barrier. Under
 * `report` it ends with a shrinking of the team instead, so that those that are left agree after
 * every step, whoever dies when; in the end they compare what they got. `back` wants to go on at
 * first and then does not. MS: pause of each step.
 */
#include "loss.h"

#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ASK_INDEX = 241, ANSWER_INDEX, DATA = 4000, NOTE = 1000 };

struct box { /* at each rank one for every other */
  uint64_t signal, counter;
  char data[DATA], note[NOTE];
};

static struct {
  uint64_t asked, answered, counted, signalled;
} at[LOSS_RANKS_MAX]; /* what this rank did at each other one */

static gex_TM_t team;
static gex_AD_t ad;
static uint64_t seed, history = 1;
static int reporting;

static struct box *box_at(gex_Rank_t owner, gex_Rank_t user) {
  return (struct box *)(void *)job.peer[owner] + user;
}

static void on_ask(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t hi, gex_AM_Arg_t lo) {
  const uint64_t s = (uint64_t)(uint32_t)hi << 32 | (uint32_t)lo;
  CHECK_BYTES(buf, nbytes, s);
  (void)gex_AM_ReplyShort2(token, ANSWER_INDEX, 0, hi, lo);
}

static void on_answer(gex_Token_t token, gex_AM_Arg_t hi, gex_AM_Arg_t lo) {
  gex_Token_Info_t info;
  (void)hi, (void)lo;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  __atomic_fetch_add(&at[info.gex_srcrank].answered, 1, __ATOMIC_RELEASE);
}

static int is_lost(gex_Rank_t p) {
  gexx_Peer_Info_t info;
  if (!reporting) return 0;
  (void)gexx_Lost_Take(NULL);
  gexx_Peer_QueryInfo(p, &info);
  return info.gexx_lost;
}

static void put_and_get(gex_Rank_t p) {
  char out[DATA], in[DATA];
  const size_t n = rng_below(&seed, DATA + 1);
  const uint64_t s = rng_next(&seed);
  pattern_fill(out, n, s);
  (void)gex_RMA_PutBlocking(job.tm, p, box_at(p, job.rank)->data, out, n, 0);
  (void)gex_RMA_GetBlocking(job.tm, in, p, box_at(p, job.rank)->data, n, 0);
  if (!is_lost(p)) CHECK_BYTES(in, n, s);
}

static void count(gex_Rank_t p) {
  uint64_t before = 0;
  gex_Event_Wait(
      gex_AD_OpNB_U64(ad, &before, p, &box_at(p, job.rank)->counter, GEX_OP_FADD, 1, 0, 0));
  if (!is_lost(p)) CHECK_EQ(before, at[p].counted);
  at[p].counted++;
}

static void signal_with_note(gex_Rank_t p) {
  char note[NOTE];
  pattern_fill(note, NOTE, ++at[p].signalled);
  (void)gexx_RMA_PutSignalBlocking(job.tm, p, box_at(p, job.rank)->note, note, NOTE, GEX_EVENT_NOW,
                                   &box_at(p, job.rank)->signal, GEXX_SIG_ADD, 1, 0);
}

static int is_answered(void *arg) {
  const gex_Rank_t p = *(const gex_Rank_t *)arg;
  return __atomic_load_n(&at[p].answered, __ATOMIC_ACQUIRE) >= at[p].asked || is_lost(p);
}

static void ask(gex_Rank_t p) {
  char out[512];
  const size_t n = rng_below(&seed, sizeof out + 1);
  const uint64_t s = rng_next(&seed);
  pattern_fill(out, n, s);
  at[p].asked++;
  (void)gex_AM_RequestMedium2(job.tm, p, ASK_INDEX, out, n, GEX_EVENT_NOW, 0, (int)(s >> 32),
                              (int)(uint32_t)s);
  while (!is_answered(&p)) (void)gexx_Poll(1000000);
}

/* The members are those left, the same for all. */
static void agree(void) {
  gex_TM_t next = GEX_TM_INVALID;
  uint64_t sum = 0, want = 0;
  const uint64_t mine = job.rank;
  CHECK_EQ(gexx_TM_Shrink(team, &next), GASNET_OK);
  REQUIRE(next != GEX_TM_INVALID);
  if (team != job.tm) gex_TM_Destroy(team, NULL, 0);
  team = next;
  (void)gexx_Lost_Take(NULL);
  for (gex_Rank_t r = 0; r < gex_TM_QuerySize(team); r++) {
    const gex_Rank_t member = gex_TM_TranslateRankToJobrank(team, r);
    history = history * 31 + member + 1;
    want += member;
  }
  gex_Event_Wait(
      gex_Coll_ReduceToAllNB(team, &sum, &mine, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0));
  if (gexx_Lost_Take(NULL) == GASNET_OK) CHECK_EQ(sum, want);
}

static void step(unsigned ms) {
  const gex_Rank_t size = gex_TM_QuerySize(team), me = gex_TM_QueryRank(team);
  for (gex_Rank_t i = 1; i < size; i++) {
    const gex_Rank_t p = gex_TM_TranslateRankToJobrank(team, (me + i) % size);
    if (is_lost(p)) continue;
    put_and_get(p);
    count(p);
    signal_with_note(p);
    ask(p);
  }
  if (ms) sleep_ms(ms);
  if (reporting)
    agree();
  else
    job_barrier();
}

/* All that are left shrank to the same teams, and every signal has come. */
static void compare(void) {
  uint64_t least = 0, most = 0;
  gex_Event_Wait(
      gex_Coll_ReduceToAllNB(team, &least, &history, GEX_DT_U64, 8, 1, GEX_OP_MIN, NULL, NULL, 0));
  gex_Event_Wait(
      gex_Coll_ReduceToAllNB(team, &most, &history, GEX_DT_U64, 8, 1, GEX_OP_MAX, NULL, NULL, 0));
  CHECK_EQ(least, history);
  CHECK_EQ(most, history);
  const double until = now_s() + 20;
  for (gex_Rank_t r = 0; r < gex_TM_QuerySize(team); r++) {
    const gex_Rank_t p = gex_TM_TranslateRankToJobrank(team, r);
    struct box mine = {0, 0, {0}, {0}};
    while (p != job.rank && mine.signal != at[p].signalled && now_s() < until)
      (void)gex_RMA_GetBlocking(job.tm, &mine, p, box_at(p, job.rank), sizeof mine, 0);
    if (p == job.rank) continue;
    CHECK_EQ(mine.signal, at[p].signalled);
    CHECK_EQ(mine.counter, at[p].counted);
    CHECK_BYTES(mine.note, NOTE, at[p].signalled);
  }
}

int main(int argc, char **argv) {
  gex_AM_Entry_t table[] = {
      {ASK_INDEX, (gex_AM_Fn_t)on_ask, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 2, NULL, "ask"},
      {ANSWER_INDEX, (gex_AM_Fn_t)on_answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 2, NULL,
       "answer"}};
  REQUIRE(argc > 2);
  const char *policy = argv[1];
  const int steps = atoi(argv[2]);
  reporting = strcmp(policy, "report") == 0;
  if (strcmp(policy, "abort") == 0) {
    job_start(&argc, &argv, LOSS_SEGMENT, table, 2);
    printf("ready %u %d\n", job.rank, (int)getpid());
    fflush(stdout);
  } else {
    loss_start(&argc, &argv, table, 2);
    if (!reporting) REQUIRE(gexx_Job_SetFailurePolicy(GEXX_FAILURE_ABORT) == GASNET_OK);
  }
  REQUIRE(job.size <= LOSS_RANKS_MAX && job.size * sizeof(struct box) <= LOSS_SEGMENT);
  team = job.tm;
  seed = mix64(test_seed() + job.rank);
  gex_AD_Create(&ad, job.tm, GEX_DT_U64, GEX_OP_FADD, 0);
  for (int i = 0; i < steps; i++) step(argc > 3 ? (unsigned)atoi(argv[3]) : 0);
  compare();
  if (reporting) {
    loss_meet(); /* who is done ends, and is lost to the others */
    loss_finish();
  }
  job_barrier();
  printf("survived %u\n", job.rank);
  return job_finish();
}
