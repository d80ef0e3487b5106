/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 17 */
/* again: TOMBOLO_TEST_SHM=0 */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/* debug: both */
/* timeout: 120 */
/*
 * API 01.7, 06.2: a random tree of teams against a sequential model: every rank computes, from one
 * seed, which teams exist and who is in them; splits, lists, duplicates, barriers in flight, puts,
 * messages and destruction in random order must agree with it. TMB_TEST_SEED repeats a run.
 */
#include "job.h"

enum { TEAMS = 24, RANKS_MAX = 64, PLACES = 512 };

struct model {
  int live;
  gex_Rank_t count, member[RANKS_MAX]; /* jobranks in team order */
  gex_TM_t tm;                         /* GEX_TM_INVALID on ranks that are not members */
  gex_Event_t barrier[4];              /* in flight, GEX_EVENT_INVALID: none */
};

static struct model teams[TEAMS]; /* 0: primordial */
static uint64_t rnd;              /* the same sequence on every rank */
static uint64_t step;
static uint64_t heard;
static gex_AM_Index_t hello;

static void on_hello(gex_Token_t token, gex_AM_Arg_t value) {
  (void)token;
  heard += (uint64_t)value;
}

static int member_of(const struct model *t) {
  return t->tm != GEX_TM_INVALID;
}

static struct model *free_team(void) {
  for (int i = 1; i < TEAMS; i++)
    if (!teams[i].live) return &teams[i];
  return NULL;
}

static struct model *some_team(void) {
  int i;
  do i = (int)rng_below(&rnd, TEAMS);
  while (!teams[i].live);
  return &teams[i];
}

static void check_members(const struct model *t) {
  if (!member_of(t)) return;
  CHECK_EQ(gex_TM_QuerySize(t->tm), t->count);
  CHECK_EQ(t->member[gex_TM_QueryRank(t->tm)], job.rank);
  for (gex_Rank_t r = 0; r < t->count; r++)
    CHECK_EQ(gex_TM_TranslateRankToJobrank(t->tm, r), t->member[r]);
}

static void wait_barriers(struct model *t) {
  if (member_of(t)) gex_Event_WaitAll(t->barrier, 4, 0);
  for (int i = 0; i < 4; i++) t->barrier[i] = GEX_EVENT_INVALID;
}

/* ---- making teams */

struct choice {
  int color, key, joins;
};

/* Members are entered in parent order, so equal keys keep it. */
static void sort_in(struct model *t, gex_Rank_t jobrank, const struct choice *of) {
  gex_Rank_t at = t->count++;
  for (; at > 0 && of[t->member[at - 1]].key > of[jobrank].key; at--)
    t->member[at] = t->member[at - 1];
  t->member[at] = jobrank;
}

/* Splits a random team into up to three; colours without a free model stay out. */
static void do_split(void) {
  struct model *const parent = some_team();
  struct choice of[RANKS_MAX];
  struct model *by_color[3] = {NULL, NULL, NULL};
  const int colors = 1 + (int)rng_below(&rnd, 3), spread = 1 + (int)rng_below(&rnd, 6);
  for (int c = 0; c < colors; c++)
    if ((by_color[c] = free_team()) != NULL) {
      memset(by_color[c], 0, sizeof *by_color[c]);
      by_color[c]->live = 1;
    }
  for (gex_Rank_t r = 0; r < parent->count; r++) {
    struct choice *const o = &of[parent->member[r]];
    o->color = (int)rng_below(&rnd, (uint64_t)colors);
    o->key = (int)rng_below(&rnd, (uint64_t)spread) - 2;
    o->joins = by_color[o->color] && rng_below(&rnd, 8) != 0;
    if (o->joins) sort_in(by_color[o->color], parent->member[r], of);
  }
  if (member_of(parent)) {
    const struct choice *const mine = &of[job.rank];
    gex_TM_t tm = GEX_TM_INVALID;
    (void)gex_TM_Split(mine->joins ? &tm : NULL, parent->tm, mine->color * 1000, mine->key, NULL, 0,
                       GEX_FLAG_TM_NO_SCRATCH);
    CHECK_EQ(tm != GEX_TM_INVALID, mine->joins);
    if (mine->joins) by_color[mine->color]->tm = tm;
  }
  for (int c = 0; c < colors; c++) {
    if (!by_color[c]) continue;
    if (!by_color[c]->count) by_color[c]->live = 0;
    check_members(by_color[c]);
  }
}

/* A random subset of a random team in random order. */
static void do_create(void) {
  struct model *const parent = some_team(), *const t = free_team();
  if (!t) return;
  memset(t, 0, sizeof *t);
  t->live = 1;
  for (gex_Rank_t r = 0; r < parent->count; r++) {
    if (rng_below(&rnd, 3) == 0) continue;
    const gex_Rank_t at = (gex_Rank_t)rng_below(&rnd, t->count + 1);
    memmove(t->member + at + 1, t->member + at, (t->count - at) * sizeof *t->member);
    t->member[at] = parent->member[r];
    t->count++;
  }
  if (!t->count) t->live = 0;
  if (!member_of(parent)) return;
  gex_EP_Location_t args[RANKS_MAX];
  int inside = 0;
  for (gex_Rank_t r = 0; r < t->count; r++) {
    args[r].gex_rank = t->member[r];
    args[r].gex_ep_index = 0;
    inside |= t->member[r] == job.rank;
  }
  (void)gex_TM_Create(&t->tm, (size_t)inside, parent->tm, args, inside ? t->count : 0, NULL, 0,
                      GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_RANK_IS_JOBRANK);
  check_members(t);
}

static void do_dup(void) {
  struct model *const orig = some_team(), *const t = free_team();
  if (!t) return;
  *t = *orig;
  for (int i = 0; i < 4; i++) t->barrier[i] = GEX_EVENT_INVALID;
  if (member_of(orig)) (void)gex_TM_Dup(&t->tm, orig->tm, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  CHECK(!member_of(t) || t->tm != orig->tm);
  check_members(t);
}

static void destroy(struct model *t) {
  wait_barriers(t);
  if (member_of(t)) CHECK_EQ(gex_TM_Destroy(t->tm, NULL, 0), 0);
  t->live = 0;
  t->tm = GEX_TM_INVALID;
}

/* ---- using teams */

static void do_barrier(void) {
  struct model *const t = some_team();
  const unsigned i = (unsigned)rng_below(&rnd, 4);
  const int wait = rng_below(&rnd, 2) == 0;
  if (!member_of(t)) return;
  gex_Event_Wait(t->barrier[i]);
  t->barrier[i] = gex_Coll_BarrierNB(t->tm, 0);
  if (wait) {
    gex_Event_Wait(t->barrier[i]);
    t->barrier[i] = GEX_EVENT_INVALID;
  }
}

/* Every member puts a number at its right neighbour and sends it to all. */
static void do_traffic(void) {
  struct model *const t = some_team();
  if (!member_of(t)) return;
  const gex_Rank_t me = gex_TM_QueryRank(t->tm), next = (me + 1) % t->count;
  const gex_Rank_t left = (me + t->count - 1) % t->count;
  const size_t place = 8 * (size_t)(step % PLACES);
  heard = 0;
  gex_Coll_BarrierBlocking(t->tm, 0);
  CHECK_EQ(
      gex_RMA_PutBlockingVal(t->tm, next, job.peer[t->member[next]] + place, step * 100 + me, 8, 0),
      0);
  for (gex_Rank_t r = 0; r < t->count; r++)
    CHECK_EQ(gex_AM_RequestShort1(t->tm, r, hello, 0, (gex_AM_Arg_t)(me + 1)), 0);
  const uint64_t want = (uint64_t)t->count * (t->count + 1) / 2;
  GASNET_BLOCKUNTIL(heard >= want);
  CHECK_EQ(heard, want);
  gex_Coll_BarrierBlocking(t->tm, 0);
  uint64_t got;
  memcpy(&got, job.base + place, 8);
  CHECK_EQ(got, step * 100 + left);
  gex_Coll_BarrierBlocking(t->tm, 0);
}

int main(int argc, char **argv) {
  gex_AM_Entry_t table[] = {
      {0, (gex_AM_Fn_t)on_hello, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, "hello"}};
  job_start(&argc, &argv, PLACES * 8, table, 1);
  REQUIRE(job.size <= RANKS_MAX);
  hello = table[0].gex_index;
  job_barrier();
  rnd = mix64(test_seed());
  teams[0].live = 1;
  teams[0].tm = job.tm;
  teams[0].count = job.size;
  for (gex_Rank_t r = 0; r < job.size; r++) teams[0].member[r] = r;
  const uint64_t steps = (uint64_t)env_number("TMB_TEST_STEPS", job.size > 4 ? 600 : 3000);
  for (step = 1; step <= steps; step++) {
    const uint64_t what = rng_below(&rnd, 10);
    if (what < 2) {
      do_split();
    } else if (what < 3) {
      do_create();
    } else if (what < 4) {
      do_dup();
    } else if (what < 7) {
      struct model *const t = some_team();
      if (what < 6 && t != &teams[0]) destroy(t);
    } else if (what < 8) {
      do_traffic();
    } else {
      do_barrier();
    }
  }
  for (int i = 1; i < TEAMS; i++)
    if (teams[i].live) destroy(&teams[i]);
  wait_barriers(&teams[0]);
  if (job.rank == 0) printf("team_random: %d steps, seed %" PRIu64 "\n", (int)steps, test_seed());
  return job_finish();
}
