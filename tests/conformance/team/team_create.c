/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 16 */
/* again: TOMBOLO_TEST_SHM=0 */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/* debug: both */
/*
 * API 01.7: gex_TM_Create with every scratch mode, with addresses and offsets, disjoint teams in
 * one call, callers that make none, ranks of a sub-team and jobranks; gex_TM_Dup; scratch queries.
 */
#include "job.h"

enum { SCRATCH = 8192, PLACE = 4 * SCRATCH };

static gex_Rank_t heard;
static gex_AM_Index_t hello;

static void on_hello(gex_Token_t token) {
  (void)token;
  heard++;
}

/* `tm` has these members in this order, and works. */
static void check_team(gex_TM_t tm, const gex_Rank_t *want, gex_Rank_t count) {
  REQUIRE(tm != GEX_TM_INVALID);
  CHECK_EQ(gex_TM_QuerySize(tm), count);
  CHECK_EQ(want[gex_TM_QueryRank(tm)], job.rank);
  heard = 0;
  gex_Coll_BarrierBlocking(tm, 0);
  for (gex_Rank_t r = 0; r < count; r++) {
    CHECK_EQ(gex_TM_TranslateRankToJobrank(tm, r), want[r]);
    const uint64_t value = 1 + r * 100u + gex_TM_QueryRank(tm);
    char *const at = job.peer[want[r]] + 8 * gex_TM_QueryRank(tm);
    CHECK_EQ(gex_RMA_PutBlockingVal(tm, r, at, value, 8, 0), 0);
    CHECK_EQ(gex_AM_RequestShort0(tm, r, hello, 0), 0);
  }
  GASNET_BLOCKUNTIL(heard == count);
  gex_Coll_BarrierBlocking(tm, 0);
  for (gex_Rank_t r = 0; r < count; r++)
    CHECK_EQ(((uint64_t *)(void *)job.base)[r], 1 + gex_TM_QueryRank(tm) * 100u + r);
  gex_Coll_BarrierBlocking(tm, 0);
}

/* Ends `tm`; its scratch memory comes back as (addr, SCRATCH), or none with addr NULL. */
static void end_team(gex_TM_t tm, void *addr, gex_Flags_t flags) {
  gex_Memvec_t back = {&back, 1};
  const int returned = gex_TM_Destroy(tm, &back, flags);
  CHECK_EQ(returned != 0, addr != NULL);
  CHECK_PTR(back.gex_addr, addr ? addr : &back);
  CHECK_EQ(back.gex_len, addr ? SCRATCH : 1);
}

/* All ranks of the job, rotated by `shift`. */
static void list_rotated(gex_EP_Location_t *args, gex_Rank_t *want, gex_Rank_t shift) {
  for (gex_Rank_t r = 0; r < job.size; r++) {
    args[r].gex_rank = want[r] = (r + shift) % job.size;
    args[r].gex_ep_index = 0;
  }
}

static void check_modes(void) {
  gex_EP_Location_t args[64];
  gex_Rank_t want[64];
  gex_Addr_t addrs[64];
  gex_TM_t tm = GEX_TM_INVALID;
  char *const mine = job.base + PLACE + (job.rank % 3) * SCRATCH; /* differs between ranks */
  list_rotated(args, want, 1);

  addrs[0] = mine;
  CHECK(gex_TM_Create(&tm, 1, job.tm, args, job.size, addrs, SCRATCH, GEX_FLAG_TM_LOCAL_SCRATCH));
  check_team(tm, want, job.size);
  end_team(tm, mine, 0);

  addrs[0] = (void *)(uintptr_t)(mine - job.base);
  CHECK(gex_TM_Create(&tm, 1, job.tm, args, job.size, addrs, SCRATCH,
                      GEX_FLAG_TM_LOCAL_SCRATCH | GEX_FLAG_SCRATCH_SEG_OFFSET));
  check_team(tm, want, job.size);
  end_team(tm, addrs[0], GEX_FLAG_SCRATCH_SEG_OFFSET);

  for (gex_Rank_t r = 0; r < job.size; r++)
    addrs[r] = job.peer[want[r]] + PLACE + (want[r] % 3) * SCRATCH;
  CHECK(gex_TM_Create(&tm, 1, job.tm, args, job.size, addrs, SCRATCH, GEX_FLAG_TM_GLOBAL_SCRATCH));
  check_team(tm, want, job.size);
  end_team(tm, (void *)(uintptr_t)(mine - job.base), GEX_FLAG_SCRATCH_SEG_OFFSET);

  addrs[0] = (void *)(uintptr_t)PLACE;
  CHECK(gex_TM_Create(&tm, 1, job.tm, args, job.size, addrs, SCRATCH,
                      GEX_FLAG_TM_SYMMETRIC_SCRATCH | GEX_FLAG_SCRATCH_SEG_OFFSET));
  check_team(tm, want, job.size);
  end_team(tm, job.base + PLACE, 0);

  CHECK(gex_TM_Create(&tm, 1, job.tm, args, job.size, NULL, 0, GEX_FLAG_TM_NO_SCRATCH));
  check_team(tm, want, job.size);
  gex_TM_t dup = GEX_TM_INVALID;
  CHECK(gex_TM_Dup(&dup, tm, NULL, 0, GEX_FLAG_TM_NO_SCRATCH));
  CHECK(dup != tm);
  end_team(tm, NULL, 0);
  check_team(dup, want, job.size);
  gex_TM_t again = GEX_TM_INVALID;
  CHECK(gex_TM_Dup(&again, dup, mine, SCRATCH, GEX_FLAG_TM_LOCAL_SCRATCH));
  check_team(again, want, job.size);
  end_team(again, mine, 0);
  CHECK(gex_TM_Dup(&again, dup, (void *)(uintptr_t)PLACE, SCRATCH,
                   GEX_FLAG_TM_SYMMETRIC_SCRATCH | GEX_FLAG_SCRATCH_SEG_OFFSET));
  check_team(again, want, job.size);
  end_team(again, job.base + PLACE, 0);
  end_team(dup, NULL, GEX_FLAG_GLOBALLY_QUIESCED * (job.size == 1));
}

/* Three callers' groups by rank % 3: those of group 2 make none; parent is a permuted sub-team. */
static void check_groups(void) {
  gex_TM_t parent = GEX_TM_INVALID, tm = GEX_TM_INVALID;
  (void)gex_TM_Split(&parent, job.tm, 0, -(int)job.rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  gex_EP_Location_t args[64];
  gex_Rank_t want[64], count = 0;
  for (int by_jobrank = 0; by_jobrank < 2; by_jobrank++) {
    count = 0;
    for (gex_Rank_t j = 0; j < job.size; j++) {
      if (j % 3 != job.rank % 3 || j % 3 == 2) continue;
      args[count].gex_rank = by_jobrank ? j : job.size - 1 - j;
      args[count].gex_ep_index = 0;
      want[count++] = j;
    }
    const gex_Flags_t flags =
        GEX_FLAG_TM_NO_SCRATCH | (by_jobrank ? GEX_FLAG_RANK_IS_JOBRANK : (gex_Flags_t)0);
    const size_t made = gex_TM_Create(&tm, count ? 1 : 0, parent, args, count, NULL, 0, flags);
    CHECK_EQ(made != 0, count != 0);
    if (!count) continue;
    check_team(tm, want, count);
    end_team(tm, NULL, 0);
  }
  end_team(parent, NULL, 0);
}

static void check_queries(void) {
  gex_EP_Location_t args[64];
  gex_Rank_t want[64];
  gex_TM_t tm = GEX_TM_INVALID;
  const gex_Flags_t ask = GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED;
  list_rotated(args, want, 0);
  const size_t bytes =
      gex_TM_Create(&tm, 1, job.tm, args, job.size, NULL, 0, ask | GEX_FLAG_TM_LOCAL_SCRATCH);
  CHECK(bytes > 0 && bytes <= 2u << 20);
  CHECK_EQ(gex_TM_Create(NULL, 0, job.tm, NULL, 0, NULL, 0, ask), 0);
  CHECK_EQ(gex_TM_Create(NULL, 1, job.tm, NULL, job.size, NULL, 0, ask), bytes); /* no list */
  memset(args, 0xff, sizeof args);
  CHECK_EQ(gex_TM_Create(&tm, 1, job.tm, args, job.size, NULL, 0, ask), bytes);
  CHECK_EQ(gex_TM_Dup(&tm, job.tm, NULL, 0, ask | GEX_FLAG_TM_LOCAL_SCRATCH), bytes);
  CHECK_PTR(tm, GEX_TM_INVALID);
}

int main(int argc, char **argv) {
  gex_AM_Entry_t table[] = {
      {0, (gex_AM_Fn_t)on_hello, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "hello"}};
  job_start(&argc, &argv, PLACE + 4 * SCRATCH, table, 1);
  hello = table[0].gex_index;
  job_barrier();
  check_modes();
  check_groups();
  check_queries();
  job_barrier();
  return job_finish();
}
