/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 3 */
/* far: no */
/* timeout: 120 */
/*
 * Ten thousand collectives in flight: the processor time of a rank grows with their number, not
 * with its square. Barriers, sums, and broadcasts to ranks that show nothing; waited for together,
 * and one by one from the last.
 */
#include "check.h"

#include <gasnet_coll.h>

#include <gasnetex.h>
#include <stdbool.h>
#include <sys/resource.h>

enum { OPS = 10000, PART = 8, TRIES = 10 };

static gex_TM_t world;
static uint64_t me, size;
static gex_Event_t event[OPS];
static uint64_t in[OPS], out[OPS];

static void barriers(size_t ops) {
  for (size_t i = 0; i < ops; i++) event[i] = gex_Coll_BarrierNB(world, 0);
  gex_Event_WaitAll(event, ops, 0);
  for (size_t i = 0; i < ops; i++) CHECK_EQ(event[i] == GEX_EVENT_INVALID, 1);
}

static void sums(size_t ops) {
  for (size_t i = 0; i < ops; i++) {
    in[i] = i + me;
    event[i] =
        gex_Coll_ReduceToAllNB(world, &out[i], &in[i], GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0);
  }
  for (size_t i = ops; i-- > 0;) gex_Event_Wait(event[i]);
  for (size_t i = 0; i < ops; i++) CHECK_EQ(out[i], size * i + size * (size - 1) / 2);
}

static void broadcasts(size_t ops) {
  for (size_t i = 0; i < ops; i++) {
    in[i] = 7 * i;
    event[i] = gex_Coll_BroadcastNB(world, 1, &out[i], &in[i], 8, 0);
  }
  gex_Event_WaitAll(event, ops, 0);
  for (size_t i = 0; i < ops; i++) CHECK_EQ(out[i], 7 * i);
}

/* Processor time of this rank for so many of a kind, in seconds. */
static double seconds_of(void (*kind)(size_t), size_t ops) {
  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  kind(ops);
  getrusage(RUSAGE_SELF, &after);
  return (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
         1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec);
}

/* Whether this holds on every rank. */
static bool on_all(bool here) {
  uint32_t mine = here, all = 0;
  gex_Event_Wait(
      gex_Coll_ReduceToAllNB(world, &all, &mine, GEX_DT_U32, 4, 1, GEX_OP_MIN, NULL, NULL, 0));
  return all;
}

/* Eight times as many take eight times as long, or 64 times. Other processes and an emulator spoil
 * a try, for a rank that waits for another one spins: there are more until each rank had a good
 * one. */
static void grows(void (*kind)(size_t)) {
  bool linear = false, everywhere = false;
  for (int i = 0; i < TRIES && !everywhere; i++) {
    const double few = seconds_of(kind, OPS / PART), many = seconds_of(kind, OPS);
    linear |= many < 3 * PART * few + 0.1;
    everywhere = on_all(linear);
  }
  CHECK(linear);
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Client_Init(&client, &ep, &world, "MANY", &argc, &argv, 0);
  me = gex_TM_QueryRank(world);
  size = gex_TM_QuerySize(world);
  check_set_rank((uint32_t)me);
  grows(barriers);
  grows(sums);
  grows(broadcasts);
  gex_Coll_BarrierBlocking(world, 0);
  gasnet_exit(check_done());
}
