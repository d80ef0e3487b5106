/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * teams.c: collectives over all ranks, over the rows of a grid of ranks, and a persistent one.
 *
 * The example of the chapter "Teams and collectives" of the Book. Each part checks its result.
 * Compile: tombolo cc teams.c -o teams
 * Run:     tombolo run -n 4 ./teams
 */
/* mode: SEQ */
/* ranks: 4 */
#include <gasnet_coll.h>
#include <gasnetex_ext.h>

static int bad;
static gex_TM_t team;
static gex_Rank_t me, size;

static void check(const char *what, double got, double want) {
  if (got == want) return;
  printf("FAILED: rank %u: %s: %g, expected %g\n", me, what, got, want);
  bad = 1;
}

static void all_ranks(void) {
  /* book: broadcast */
  double step = me == 0 ? 0.5 : 0;
  gex_Event_Wait(gex_Coll_BroadcastNB(team, 0, &step, &step, sizeof step, 0));
  /* book end */
  check("broadcast", step, 0.5);

  /* book: sum */
  double mine = me + 1, sum;
  gex_Event_t reduction = gex_Coll_ReduceToAllNB(team, &sum, &mine, GEX_DT_DBL, sizeof mine, 1,
                                                 GEX_OP_ADD, NULL, NULL, 0);
  /* ... work that needs no sum ... */
  gex_Event_Wait(reduction);
  /* book end */
  check("sum", sum, size * (size + 1) / 2.0);
}

static void rows(void) {
  /* book: split */
  const int columns = 2;
  gex_TM_t row;
  gex_TM_Split(&row, team, (int)me / columns, (int)me % columns, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  gexx_TM_SetName(row, "row");
  /* book end */
  /* book: gather */
  gex_Rank_t members[2];
  gex_Event_Wait(gexx_Coll_AllGatherNB(row, members, &me, sizeof me, 0));
  /* book end */
  check("first of the row", members[0], (double)(me / 2 * 2));
  /* book: destroy */
  gex_TM_Destroy(row, NULL, 0);
  /* book end */
}

static void many_times(void) {
  /* book: plan */
  double mine, most;
  gexx_Coll_Args_t args = {.gexx_kind = GEXX_COLL_REDUCE_TO_ALL,
                           .gexx_dst = &most,
                           .gexx_src = &mine,
                           .gexx_dt = GEX_DT_DBL,
                           .gexx_dt_sz = sizeof mine,
                           .gexx_dt_cnt = 1,
                           .gexx_op = GEX_OP_MAX};
  gexx_Coll_Plan_t plan;
  gexx_Coll_Init(&plan, team, &args, 0);
  for (int i = 0; i < 100; i++) {
    mine = i * (me + 1.0);
    gex_Event_Wait(gexx_Coll_StartNB(plan, 0));
    /* book end */
    check("maximum", most, i * (double)size);
    /* book: plan */
  }
  gexx_Coll_Free(plan);
  /* book end */
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  if (gex_Client_Init(&client, &ep, &team, "TEAMS", &argc, &argv, 0) != GASNET_OK) return 1;
  me = gex_TM_QueryRank(team);
  size = gex_TM_QuerySize(team);
  all_ranks();
  if (size % 2 == 0) rows();
  many_times();
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  if (!bad) printf("ok: rank %u\n", me);
  gasnet_exit(bad);
}
