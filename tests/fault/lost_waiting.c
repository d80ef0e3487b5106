/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 3 */
/* cases: source target both */
/* env: TOMBOLO_PLACES=cyclic:3 TOMBOLO_CONDUIT=udp */
/* again: TOMBOLO_TEST_UDP_CREDITS=8 */
/*
 * A rank dies while handlers wait for the polls of a rank that computes (docs/PROGRESS.md): peer
 * completion handlers, Longs and messages, which the progress thread has received. `source`: their
 * sender dies; each handler runs at most once, with its data in place. `target`: the rank that
 * computes dies; operations towards it end. `both`: both die. Then those that are left do the same
 * with each other, and each handler runs once.
 */
#include "loss.h"

#include <gasnet_vis.h>
#include <string.h>
#include <unistd.h>

enum { PLACED = 130, LONG = 131, SHORT = 132, COUNT = 30 };
enum { ROWS = 20, WIDTH = 700, PITCH = 1024, LONG_BYTES = 50000, AREA = 1 << 18 };
enum { COMPUTE_US = 300000, KINDS = 3 };

static uint32_t calls[LOSS_RANKS_MAX][KINDS], seen[LOSS_RANKS_MAX][COUNT];
static volatile int computes;

static char *area_of(gex_Rank_t target, gex_Rank_t source) {
  return job.peer[target] + (size_t)AREA * source;
}

static void enter(gex_Rank_t source, uint32_t kind) {
  CHECK(!computes);
  REQUIRE(source < job.size);
  calls[source][kind]++;
}

static void on_placed(gex_Token_t token, void *payload, size_t nbytes) {
  uint32_t said[2] = {0, 0};
  (void)token;
  CHECK_EQ(nbytes, sizeof said);
  memcpy(said, payload, sizeof said);
  enter(said[0], 0);
  REQUIRE(said[1] < COUNT);
  CHECK_EQ(seen[said[0]][said[1]]++, 0);
  CHECK_CMP(area_of(job.rank, said[0])[(ROWS - 1) * PITCH + WIDTH - 1], >=, (char)said[1]);
}

static void on_long(gex_Token_t token, void *payload, size_t nbytes, gex_AM_Arg_t source) {
  (void)token;
  enter((gex_Rank_t)source, 1);
  CHECK_EQ(nbytes, LONG_BYTES);
  for (size_t i = 0; i < nbytes; i += 99) CHECK_EQ(((char *)payload)[i], (char)(source + 3));
}

static void on_short(gex_Token_t token, gex_AM_Arg_t source) {
  (void)token;
  enter((gex_Rank_t)source, 2);
}

/* Puts with handlers, a Long and a message. Nothing is checked of a target that dies but that the
 * operations end. */
static void send_all(gex_Rank_t target) {
  static char local[ROWS * WIDTH], data[LONG_BYTES];
  const ptrdiff_t wide[1] = {PITCH}, tight[1] = {WIDTH};
  const size_t rows[1] = {ROWS};
  for (uint32_t i = 0; i < COUNT; i++) {
    uint32_t said[2] = {job.rank, i};
    memset(local, (int)i, sizeof local);
    gex_VIS_SetPeerCompletionHandler(PLACED, said, sizeof said, 0);
    gex_Event_Wait(gex_VIS_StridedPutNB(job.tm, target, area_of(target, job.rank), wide, local,
                                        tight, WIDTH, rows, 1, 0));
  }
  memset(data, (int)(job.rank + 3), sizeof data);
  (void)gex_AM_RequestLong1(job.tm, target, LONG, data, sizeof data,
                            area_of(target, job.rank) + AREA / 2, GEX_EVENT_NOW, 0, job.rank);
  (void)gex_AM_RequestShort1(job.tm, target, SHORT, 0, job.rank);
}

static void compute(void) {
  computes = 1;
  usleep(COMPUTE_US);
  computes = 0;
}

static int all_came(void *arg) {
  const gex_Rank_t source = *(gex_Rank_t *)arg;
  return calls[source][0] == COUNT && calls[source][1] == 1 && calls[source][2] == 1;
}

/* Rank 0 sends to rank 1, which computes: both live. */
static void again(void) {
  gex_Rank_t source = 0;
  loss_meet();
  if (job.rank == 0) send_all(1);
  if (job.rank == 1) {
    compute();
    (void)loss_until(all_came, &source);
  }
  loss_meet();
  LOSS_NONE();
}

/* Rank 2 sends to rank 1 and dies when all has been placed. */
static void source(void) {
  if (job.rank == 2) {
    send_all(1);
    loss_die(loss_how);
  }
  if (job.rank == 1) {
    compute();
    compute(); /* the sender is dead by now, or soon */
  }
  loss_await(2, 0);
  CHECK_CMP(calls[2][0], <=, COUNT);
  CHECK_CMP(calls[2][1], <=, 1);
  CHECK_CMP(calls[2][2], <=, 1);
  again();
}

/* Rank 2 computes, has handlers that wait, and dies without a poll. */
static void target(void) {
  if (job.rank == 2) {
    compute();
    loss_die(loss_how);
  }
  send_all(2);
  loss_await(2, 0);
  (void)gexx_Lost_Take(NULL); /* what was in flight when it died */
  again();
}

/* Rank 2 has sent to rank 1 and has handlers of rank 0 that wait. */
static void both(void) {
  if (job.rank == 2) {
    send_all(1);
    compute();
    loss_die(loss_how);
  }
  if (job.rank == 1) compute();
  if (job.rank == 0) send_all(2);
  loss_await(2, 1);
  (void)gexx_Lost_Take(NULL);
  again();
}

int main(int argc, char **argv) {
  static const struct loss_scenario scenarios[] = {
      {"source", source}, {"target", target}, {"both", both}};
  gex_AM_Entry_t handlers[] = {
      {PLACED, (gex_AM_Fn_t)on_placed, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0, NULL, "placed"},
      {LONG, (gex_AM_Fn_t)on_long, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 1, NULL, "long"},
      {SHORT, (gex_AM_Fn_t)on_short, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, "short"}};
  loss_start(&argc, &argv, handlers, 3);
  return loss_play(scenarios, sizeof scenarios / sizeof *scenarios, argc, argv);
}
