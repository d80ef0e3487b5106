/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4 5 */
/* cases: barrier asleep named team coll late large room split create publish domain destroy two */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0
 * TOMBOLO_TEST_RING_SLOTS=64+TOMBOLO_TEST_BULK_BUFFERS=2 */
/* again: TOMBOLO_PLACES=cyclic:2+TOMBOLO_CONDUIT=loop */
/* debug: both */
/* timeout: 60 */
/*
 * Barriers, collectives and the making of teams while a member dies (GEXX_FAILURE_REPORT): what is
 * in flight and what is started later completes, with a mark; teams without the lost member work as
 * before. The last rank dies by _exit(0), or as the second argument says (lost.py).
 */
#include "loss.h"

#include <gasnet_ratomic.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gex_TM_t others; /* all but the victim; NULL on the victim */

static int is_victim(void) {
  return job.rank == loss_victim;
}

static void make_others(void) {
  (void)gex_TM_Split(&others, job.tm, is_victim(), 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  gex_Coll_BarrierBlocking(job.tm, 0); /* the victim dies after all have made their team */
}

/* The team of those that are left is as good as before. */
static void check_others(void) {
  uint64_t sum = 0;
  const uint64_t one = 1;
  for (int i = 0; i < 20; i++) {
    gex_Event_Wait(gex_Coll_BarrierNB(others, 0));
    gex_Event_Wait(
        gex_Coll_ReduceToAllNB(others, &sum, &one, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0));
    CHECK_EQ(sum, job.size - 1);
  }
  LOSS_NONE();
}

/* Everything collective over the job ends in error at once. */
static void check_broken(void) {
  uint64_t a = 0, b = 1;
  gex_Event_t event = gex_Coll_BarrierNB(job.tm, 0);
  CHECK_EQ(gexx_Event_Status(event), GEXX_ERR_LOST);
  gex_Event_Wait(event);
  LOSS_EXPECT(loss_victim);
  event = gex_Coll_ReduceToAllNB(job.tm, &a, &b, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0);
  CHECK_EQ(gexx_Event_Status(event), GEXX_ERR_LOST);
  gex_Event_Wait(event);
  LOSS_EXPECT(loss_victim);
  gasnet_barrier_notify(3, 0);
  CHECK_EQ(gasnet_barrier_wait(3, 0), GEXX_ERR_LOST);
  LOSS_EXPECT(loss_victim);
  gex_TM_t tm = job.tm;
  CHECK_EQ(gex_TM_Split(&tm, job.tm, 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH), 0);
  CHECK_PTR(tm, GEX_TM_INVALID);
  LOSS_EXPECT(loss_victim);
  LOSS_NONE();
}

static void check_all(void) {
  loss_await(loss_victim, 0);
  check_broken();
  check_others();
}

/* ---- barriers */

static int lost(void) {
  return gexx_Lost_Take(NULL) == GEXX_ERR_LOST;
}

/* Barrier after barrier until one of them meets the loss. */
static void barrier(void) {
  make_others();
  if (is_victim()) loss_die_soon(loss_how, 3000);
  do gex_Event_Wait(gex_Coll_BarrierNB(job.tm, 0));
  while (!lost());
  check_all();
}

/* The others sleep in it. */
static void asleep(void) {
  make_others();
  if (is_victim()) {
    sleep_ms(300);
    loss_die(loss_how);
  }
  gex_Event_t event[3];
  for (int i = 0; i < 3; i++) event[i] = gex_Coll_BarrierNB(job.tm, 0);
  gex_Event_WaitAll(event, 3, 0);
  LOSS_EXPECT(loss_victim);
  check_all();
}

static void named(void) {
  int rc = GASNET_OK;
  make_others();
  if (is_victim()) loss_die_soon(loss_how, 3000);
  for (int i = 0; rc == GASNET_OK; i++) {
    gasnet_barrier_notify(i, 0);
    if (i % 2) {
      rc = gasnet_barrier_wait(i, 0);
    } else {
      do rc = gasnet_barrier_try(i, 0);
      while (rc == GASNET_ERR_NOT_READY);
    }
  }
  CHECK_EQ(rc, GEXX_ERR_LOST);
  LOSS_EXPECT(loss_victim);
  check_all();
}

/* Barriers of a team whose signals are messages. */
static void of_team(void) {
  gex_TM_t copy;
  make_others();
  REQUIRE(gex_TM_Dup(&copy, job.tm, NULL, 0, GEX_FLAG_TM_NO_SCRATCH) == 1);
  if (is_victim()) loss_die_soon(loss_how, 3000);
  do gex_Event_Wait(gex_Coll_BarrierNB(copy, 0));
  while (!lost());
  gex_Coll_BarrierBlocking(copy, 0);
  LOSS_EXPECT(loss_victim);
  check_all();
}

/* ---- collectives */

enum { IN_FLIGHT = 8, LARGE = 300000 };
static char *send_buf, *recv_buf[IN_FLIGHT];

static gex_Event_t start(gex_TM_t tm, int i, size_t bytes) {
  const gex_Rank_t root = (gex_Rank_t)i % gex_TM_QuerySize(tm);
  char *const to = recv_buf[i % IN_FLIGHT];
  switch (i % 6) {
  case 0: return gex_Coll_BroadcastNB(tm, root, to, send_buf, bytes, 0);
  case 1:
    return gex_Coll_ReduceToAllNB(tm, to, send_buf, GEX_DT_U64, 8, bytes / 8, GEX_OP_ADD, NULL,
                                  NULL, 0);
  case 2:
    return gex_Coll_ReduceToOneNB(tm, root, to, send_buf, GEX_DT_U64, 8, bytes / 8, GEX_OP_MAX,
                                  NULL, NULL, 0);
  case 3: return gexx_Coll_AllGatherNB(tm, to, send_buf, bytes, 0);
  case 4: return gexx_Coll_ExchangeNB(tm, to, send_buf, bytes, 0);
  default: return gexx_Coll_ScatterNB(tm, root, to, send_buf, bytes, 0);
  }
}

static void make_buffers(size_t bytes) {
  send_buf = (char *)calloc(job.size, bytes);
  REQUIRE(send_buf != NULL);
  for (int i = 0; i < IN_FLIGHT; i++) {
    char *const buf = (char *)calloc(job.size, bytes);
    REQUIRE(buf != NULL);
    recv_buf[i] = buf;
  }
}

/* Whether any of the others says yes: they do not meet a loss in the same round. */
static int agree(int mine) {
  uint64_t any = 0;
  const uint64_t yes = (uint64_t)mine;
  if (is_victim()) return 0;
  gex_Event_Wait(
      gex_Coll_ReduceToAllNB(others, &any, &yes, GEX_DT_U64, 8, 1, GEX_OP_MAX, NULL, NULL, 0));
  return any != 0;
}

/* Collectives of every kind, many in flight on two teams, until the loss is met. */
static void run_coll(size_t bytes, unsigned us) {
  make_others();
  make_buffers(bytes);
  if (is_victim()) loss_die_soon(loss_how, us);
  gex_Event_t event[IN_FLIGHT];
  for (int round = 0;; round++) {
    for (int i = 0; i < IN_FLIGHT; i++)
      event[i] = start(i % 2 ? job.tm : others, round * IN_FLIGHT + i, bytes);
    gex_Event_WaitAll(event, IN_FLIGHT, 0);
    if (agree(lost())) break;
  }
  check_all();
  for (int i = 0; i < IN_FLIGHT; i++) gex_Event_Wait(start(others, i, bytes));
  LOSS_NONE();
  for (int i = 0; i < IN_FLIGHT; i++) free(recv_buf[i]);
  free(send_buf);
}

static void coll(void) {
  run_coll(64, 5000);
}

/* Longer than what is sent unasked. */
static void large(void) {
  run_coll(LARGE, 40000);
}

/* The victim never takes part: more in flight than the engine begins, the waiters sleep. */
static void late(void) {
  enum { MANY = 300 };
  static gex_Event_t event[MANY];
  static uint64_t in[2], out[MANY][2];
  make_others();
  if (is_victim()) {
    sleep_ms(300);
    loss_die(loss_how);
  }
  for (int i = 0; i < MANY; i++)
    event[i] =
        gex_Coll_ReduceToAllNB(job.tm, out[i], in, GEX_DT_U64, 8, 2, GEX_OP_ADD, NULL, NULL, 0);
  gex_Event_WaitAll(event, MANY, 0);
  LOSS_EXPECT(loss_victim);
  check_all();
}

/* The victim never reads: the root of long broadcasts waits for room, the others for what it will
 * show. Afterwards those that are left have room again. */
static void room(void) {
  enum { MANY = 40, WORDS = 5000 };
  static gex_Event_t event[MANY + 1];
  static uint64_t from[WORDS], to[MANY][WORDS], again[MANY][WORDS], sum;
  make_others();
  if (is_victim()) {
    sleep_ms(300);
    loss_die(loss_how);
  }
  for (int i = 0; i < MANY; i++)
    event[i] = gex_Coll_BroadcastNB(job.tm, 0, to[i], from, sizeof from, 0);
  event[MANY] =
      gex_Coll_ReduceToAllNB(job.tm, &sum, from, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0);
  gex_Event_WaitAll(event, MANY + 1, 0);
  LOSS_EXPECT(loss_victim);
  for (int i = 0; i < WORDS && job.rank == 0; i++) from[i] = (uint64_t)i + 1;
  for (int i = 0; i < MANY; i++)
    event[i] = gex_Coll_BroadcastNB(others, 0, again[i], from, sizeof from, 0);
  gex_Event_WaitAll(event, MANY, 0);
  for (int i = 0; i < MANY; i++) CHECK_EQ(again[i][WORDS - 1], WORDS);
  check_all();
}

/* ---- making teams and the like */

static void split(void) {
  make_others();
  if (is_victim()) loss_die_soon(loss_how, 3000);
  for (;;) {
    gex_TM_t tm = job.tm;
    const size_t made = gex_TM_Split(&tm, job.tm, 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    if (!made) {
      CHECK_PTR(tm, GEX_TM_INVALID);
      LOSS_EXPECT(loss_victim);
      break;
    }
    REQUIRE(tm != GEX_TM_INVALID);
    gex_TM_Destroy(tm, NULL, 0);
  }
  check_all();
}

static void create(void) {
  gex_EP_Location_t *const list = (gex_EP_Location_t *)calloc(job.size, sizeof *list);
  REQUIRE(list != NULL);
  for (gex_Rank_t r = 0; r < job.size; r++) list[r].gex_rank = r;
  make_others();
  if (is_victim()) loss_die_soon(loss_how, 3000);
  for (;;) {
    gex_TM_t tm = job.tm;
    gex_Addr_t scratch = job.base;
    const size_t made =
        gex_TM_Create(&tm, 1, job.tm, list, job.size, &scratch, 65536, GEX_FLAG_TM_LOCAL_SCRATCH);
    if (!made) {
      CHECK_PTR(tm, GEX_TM_INVALID);
      LOSS_EXPECT(loss_victim);
      break;
    }
    gex_TM_Destroy(tm, NULL, 0);
    if (lost()) break;
  }
  free(list);
  check_all();
}

static void publish(void) {
  make_others();
  if (is_victim()) loss_die_soon(loss_how, 2000);
  int rc;
  do rc = gex_EP_PublishBoundSegment(job.tm, &job.ep, 1, 0);
  while (rc == GASNET_OK);
  CHECK_EQ(rc, GEXX_ERR_LOST);
  LOSS_EXPECT(loss_victim);
  check_all();
}

static void domain(void) {
  gex_AD_t ad;
  make_others();
  if (is_victim()) loss_die_soon(loss_how, 2000);
  for (;;) {
    gex_AD_Create(&ad, job.tm, GEX_DT_U64, GEX_OP_FADD, 0);
    if (ad == GEX_AD_INVALID) break;
    gex_AD_Destroy(ad);
  }
  LOSS_EXPECT(loss_victim);
  gex_AD_Create(&ad, others, GEX_DT_U64, GEX_OP_FADD, 0);
  REQUIRE(ad != GEX_AD_INVALID);
  gex_AD_Destroy(ad);
  check_all();
}

/* Teams with a lost member can be destroyed, with and without waiting. */
static void destroy(void) {
  gex_TM_t tm[2];
  gex_Memvec_t scratch;
  make_others();
  REQUIRE(gex_TM_Dup(&tm[0], job.tm, NULL, 0, GEX_FLAG_TM_NO_SCRATCH) == 1);
  REQUIRE(gex_TM_Split(&tm[1], job.tm, 0, 0, job.base, 65536, 0) == 1);
  gex_Event_Wait(gex_Coll_BarrierNB(job.tm, 0));
  if (is_victim()) {
    sleep_ms(100);
    loss_die(loss_how);
  }
  CHECK_EQ(gex_TM_Destroy(tm[1], &scratch, 0), 1);
  CHECK_PTR(scratch.gex_addr, job.base);
  LOSS_EXPECT(loss_victim);
  loss_await(loss_victim, 0);
  CHECK_EQ(gex_TM_Destroy(tm[0], NULL, 0), 0);
  (void)lost();
  check_all();
}

/* A second one dies: teams with either are lost, teams with neither are not. */
static void two(void) {
  const gex_Rank_t second = 0;
  gex_TM_t left;
  make_others();
  (void)gex_TM_Split(&left, job.tm, is_victim() || job.rank == second, 0, NULL, 0,
                     GEX_FLAG_TM_NO_SCRATCH);
  if (is_victim()) loss_die_soon(loss_how, 3000);
  do gex_Event_Wait(gex_Coll_BarrierNB(job.tm, 0));
  while (!lost());
  if (job.size < 3) return;
  if (job.rank == second) loss_die_soon(loss_how, 3000);
  do gex_Event_Wait(gex_Coll_BarrierNB(others, 0));
  while (!lost());
  loss_await(loss_victim, 0);
  loss_await(second, 0);
  for (int i = 0; i < 10; i++) gex_Event_Wait(gex_Coll_BarrierNB(left, 0));
  LOSS_NONE();
}

static const struct loss_scenario scenarios[] = {
    {"barrier", barrier}, {"asleep", asleep}, {"named", named},     {"team", of_team},
    {"coll", coll},       {"late", late},     {"large", large},     {"room", room},
    {"split", split},     {"create", create}, {"publish", publish}, {"domain", domain},
    {"destroy", destroy}, {"two", two}};

int main(int argc, char **argv) {
  loss_start(&argc, &argv, NULL, 0);
  REQUIRE(argc > 1 && job.size > 1);
  return loss_play(scenarios, sizeof scenarios / sizeof *scenarios, argc, argv);
}
