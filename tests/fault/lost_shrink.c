/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 5 7 11 */
/* cases: none before middle lowest most sub idle */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0
 * TOMBOLO_TEST_RING_SLOTS=64+TOMBOLO_TEST_BULK_BUFFERS=2 */
/* again: TOMBOLO_PLACES=cyclic:2+TOMBOLO_CONDUIT=loop */
/* debug: both */
/* timeout: 60 */
/*
 * gexx_TM_Shrink: the survivors of a team get the same new team, whoever dies while they agree, and
 * that team works. Victims die by _exit(0), or as the second argument says (lost.py), at any time.
 * Every survivor sends the others what it got in each round, and in the end all that are left
 * compare.
 */
#define _GNU_SOURCE
#include "loss.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { GOT_INDEX = 240, ROUNDS_MAX = 32 };

static uint32_t got[LOSS_RANKS_MAX][ROUNDS_MAX]; /* hash of the team that a rank got; 0: unknown */
static const char *how = "uexit";
static gex_TM_t tm; /* the last team agreed on */
static int rounds;
static gex_Rank_t victims; /* ranks below this one die; in `most` all but rank size - 1 */

static void on_got(gex_Token_t token, gex_AM_Arg_t round, gex_AM_Arg_t hash) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  got[info.gex_srcrank][round] = (uint32_t)hash;
}

static uint32_t hash_of(gex_TM_t team) {
  uint32_t h = 1;
  for (gex_Rank_t r = 0; r < gex_TM_QuerySize(team); r++)
    h = h * 31 + gex_TM_TranslateRankToJobrank(team, r) + 1;
  return h | 1;
}

/* Shrink the last team and send the others what came of it. */
static void shrink(void) {
  gex_TM_t next = GEX_TM_INVALID;
  CHECK_EQ(gexx_TM_Shrink(tm, &next), GASNET_OK);
  REQUIRE(next != GEX_TM_INVALID && rounds < ROUNDS_MAX);
  CHECK_EQ(gex_TM_TranslateRankToJobrank(next, gex_TM_QueryRank(next)), job.rank);
  CHECK(gex_TM_QuerySize(next) <= gex_TM_QuerySize(tm));
  tm = next;
  got[job.rank][rounds] = hash_of(tm);
  for (gex_Rank_t r = 0; r < job.size; r++)
    if (r != job.rank && gexx_Peer_Query(r) == GEXX_PEER_ALIVE)
      (void)gex_AM_RequestShort2(job.tm, r, GOT_INDEX, 0, rounds,
                                 (gex_AM_Arg_t)got[job.rank][rounds]);
  rounds++;
}

static void die(int sig) {
  (void)sig;
  loss_die(how);
}

/* Die in so many microseconds, whatever this process does then. */
static void die_in(unsigned us) {
  const struct itimerval timer = {{0, 0}, {0, (suseconds_t)us + 1}};
  signal(SIGALRM, die);
  setitimer(ITIMER_REAL, &timer, NULL);
}

/* The last team is that of all that are left, in order, and works. */
static void check_team(void) {
  const gex_Rank_t left = job.size - victims;
  uint64_t sum = 0, highest = 0;
  const uint64_t mine = job.rank;
  REQUIRE(gex_TM_QuerySize(tm) == left);
  for (gex_Rank_t r = 0; r < left; r++) CHECK_EQ(gex_TM_TranslateRankToJobrank(tm, r), victims + r);
  for (int i = 0; i < 10; i++) {
    gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
    gex_Event_Wait(
        gex_Coll_ReduceToAllNB(tm, &sum, &mine, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0));
    CHECK_EQ(sum, (uint64_t)left * (victims + job.size - 1) / 2);
    gex_Event_Wait(
        gex_Coll_ReduceToAllNB(tm, &highest, &mine, GEX_DT_U64, 8, 1, GEX_OP_MAX, NULL, NULL, 0));
    CHECK_EQ(highest, job.size - 1);
  }
}

/* Whether all that are left have sent what they got: messages need not keep their order. */
static int all_sent(void *arg) {
  (void)arg;
  for (gex_Rank_t r = victims; r < job.size; r++)
    for (int k = 0; k < rounds; k++)
      if (!got[r][k]) return 0;
  return 1;
}

/* All that are left have got the same in every round. */
static void compare(void) {
  for (gex_Rank_t v = 0; v < victims; v++) loss_await(v, 1);
  shrink();
  check_team();
  (void)loss_until(all_sent, NULL);
  loss_meet(); /* who is done ends, and is lost to the others */
  for (gex_Rank_t r = victims; r < job.size; r++)
    for (int k = 0; k < rounds; k++) CHECK_EQ(got[r][k], got[job.rank][k]);
  (void)gexx_Lost_Take(NULL);
}

static unsigned random_us(unsigned below) {
  static unsigned seed;
  if (!seed) seed = (unsigned)(1e6 * now_s()) ^ (job.rank * 7919u);
  return (unsigned)rand_r(&seed) % below;
}

/* ---- scenarios */

/* Without a loss the new team has all members. */
static void none(void) {
  for (int i = 0; i < 3; i++) shrink();
}

/* Rank 0 is dead before the others begin. */
static void before(void) {
  victims = 1;
  if (job.rank == 0) loss_die(how);
  loss_await(0, 0);
  shrink();
}

/* Half of the ranks die within the first agreements. */
static void middle(void) {
  victims = job.size / 2;
  if (job.rank < victims) die_in(random_us(2000));
  for (int i = 0; i < 4; i++) shrink();
}

/* Rank 0, who coordinates, dies in the middle of an agreement. */
static void lowest(void) {
  victims = 1;
  if (job.rank == 0) die_in(random_us(200));
  for (int i = 0; i < 3; i++) shrink();
}

/* All but the last die, one after another, the coordinator first. */
static void most(void) {
  victims = job.size - 1;
  if (job.rank < victims) die_in(300 * job.rank + random_us(400));
  for (int i = 0; i < 12; i++) shrink();
}

/* Teams without rank 0, and one member less each time. */
static void sub(void) {
  gex_TM_t part;
  (void)gex_TM_Split(&part, job.tm, job.rank % 2, (int)job.rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  gex_Coll_BarrierBlocking(job.tm, 0);
  victims = 1;
  if (job.rank == 0) die_in(random_us(500));
  (void)gexx_Lost_Take(NULL); /* the barrier may have been cut short */
  gex_TM_t shrunk = GEX_TM_INVALID;
  CHECK_EQ(gexx_TM_Shrink(part, &shrunk), GASNET_OK);
  gex_Event_Wait(gex_Coll_BarrierNB(shrunk, 0));
  if (job.rank % 2) LOSS_NONE();
}

/* Rank 0, on another host, is stopped for ever: it is given up, ended, and so lost (far.py). */
static void stopped(void) {
  victims = 1;
  if (job.rank == 0) raise(SIGSTOP);
  shrink();
}

/* A member that comes late is waited for, in its sleep; one that dies without coming is not. */
static void idle(void) {
  victims = 1;
  if (job.rank == 0) {
    sleep_ms(200);
    loss_die(how);
  }
  if (job.rank == job.size - 1) sleep_ms(400);
  shrink();
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*fn)(void);
  } cases[] = {{"none", none}, {"before", before}, {"middle", middle}, {"lowest", lowest},
               {"most", most}, {"sub", sub},       {"idle", idle},     {"stopped", stopped}};
  gex_AM_Entry_t table[] = {
      {GOT_INDEX, (gex_AM_Fn_t)on_got, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 2, NULL, "got"}};
  loss_start(&argc, &argv, table, 1);
  REQUIRE(argc > 1);
  if (argc > 2) how = argv[2];
  tm = job.tm;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (strcmp(argv[1], cases[i].name) == 0) cases[i].fn();
  compare();
  loss_finish();
  return 0;
}
