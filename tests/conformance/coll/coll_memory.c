/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4 7 */
/* again: GASNET_SUPERNODE_MAXSIZE=2 TOMBOLO_TEST_COLL_BOARD_MAX=0 TOMBOLO_TEST_SHM_MAP=0 */
/* again: TOMBOLO_TEST_COLL_BOARD_MAX=0+TOMBOLO_COLL_DIRECT=0 */
/* timeout: 120 */
/*
 * What bounds the memory of collectives (docs/COLLECTIVES.md): a rank that has not called a
 * collective keeps at most the data of 256 of them, none longer than TOMBOLO_TEST_COLL_EAGER_MAX,
 * from each rank that sends to it, however far others would run ahead; what many collectives in
 * flight took is used again; schedules of many lengths, and teams, leave nothing behind. Memory is
 * what malloc says is in use.
 */
#include "job.h"

#include <gasnet_coll.h>
#include <gasnetex_ext.h>
#include <malloc.h>

enum {
  AHEAD_MAX = 256,     /* collectives */
  EAGER_MAX = 65536,   /* bytes: the default of TOMBOLO_TEST_COLL_EAGER_MAX */
  KEPT_OVERHEAD = 512, /* of a kept message, at most */
  SLACK = 512 << 10,
  QUIET_MS = 150, /* without growth: the others are held */
  PROGRESS = 210  /* handler */
};

static char *src, *dst;
static int32_t phase;    /* counts root_ahead and root_behind */
static int32_t progress; /* collectives of this phase that rank 0 or 1 says it has completed */

static void on_progress(gex_Token_t token, gex_AM_Arg_t of, gex_AM_Arg_t done) {
  (void)token;
  if (of == phase && done > progress) progress = done; /* others came after their phase's barrier */
}

/* Bytes in use on the heap. */
static uint64_t heap(void) {
  const struct mallinfo2 m = mallinfo2();
  return m.uordblks + m.hblkhd;
}

/* Whether mallinfo2 counts. It does not under the allocators of sanitizers. */
static int heap_is_reported(void) {
  enum { PROBE = 1 << 20 };
  const uint64_t before = heap();
  char *probe = malloc(PROBE);
  REQUIRE(probe != NULL);
  memset(probe, 1, PROBE);
  const int reported = heap() >= before + PROBE;
  free(probe);
  return reported;
}

/* Serves messages without calling a collective until the heap has not grown for a while, or is
 * above the limit. Returns the growth. */
static uint64_t watch(uint64_t limit) {
  const uint64_t before = heap();
  uint64_t peak = before;
  for (double last = now_s(); now_s() - last < QUIET_MS / 1000.0 && peak - before <= limit;) {
    gasnet_AMPoll();
    if (heap() <= peak) continue;
    peak = heap();
    last = now_s();
  }
  return peak - before;
}

static void tell(gex_Rank_t to, unsigned done) {
  gex_AM_RequestShort2(job.tm, to, PROGRESS, 0, phase, (gex_AM_Arg_t)done);
}

/* Serves messages while others run ahead: neither memory nor they go beyond the limit. */
static void watch_ahead(const char *what, size_t bytes, uint64_t limit) {
  const uint64_t growth = watch(limit);
  if (!CHECK_CMP(growth, <=, limit))
    fprintf(stderr, "%s of %zu bytes: %llu bytes kept, at most %llu are allowed\n", what, bytes,
            (unsigned long long)growth, (unsigned long long)limit);
  CHECK_CMP(progress, <=, AHEAD_MAX);
}

/* The root of broadcasts runs ahead of all others. */
static void root_ahead(size_t bytes, unsigned count) {
  const uint64_t limit = AHEAD_MAX * (uint64_t)(bytes + KEPT_OVERHEAD) + SLACK;
  phase++;
  progress = 0;
  job_barrier();
  if (job.rank != 0) {
    watch_ahead("broadcasts", bytes, limit);
  }
  for (unsigned i = 0; i < count; i++) {
    memset(src, job.rank == 0 ? (int)(i & 127) : -1, bytes);
    gex_Event_Wait(gex_Coll_BroadcastNB(job.tm, 0, dst, src, bytes, 0));
    if (dst[0] != (char)(i & 127) || dst[bytes - 1] != (char)(i & 127)) CHECK_EQ(dst[0], i & 127);
    for (gex_Rank_t r = 1; r < job.size && job.rank == 0; r++) tell(r, i + 1);
  }
  job_barrier();
}

/* All run ahead of the root of gathers. */
static void root_behind(size_t bytes, unsigned count) {
  const uint64_t limit = AHEAD_MAX * (uint64_t)(bytes + KEPT_OVERHEAD) * (job.size - 1) + SLACK;
  phase++;
  progress = 0;
  job_barrier();
  if (job.rank == 0) {
    watch_ahead("gathers", bytes, limit);
  }
  for (unsigned i = 0; i < count; i++) {
    memset(src, (int)(i & 127), bytes);
    gex_Event_Wait(gexx_Coll_GatherNB(job.tm, 0, dst, src, bytes, 0));
    if (job.rank == 0 && dst[job.size * bytes - 1] != (char)(i & 127)) CHECK_EQ(dst[0], i & 127);
    if (job.rank == 1) tell(0, i + 1);
  }
  job_barrier();
}

/* Many at once, first the odd ranks late, then the others, so that all have had as many in flight
 * as there are: more rounds take nothing more. */
static void in_flight(void) {
  enum { MANY = 1500, CYCLES = 6, WARM = 2 };
  static uint64_t in[MANY], out[MANY];
  static gex_Event_t event[MANY];
  uint64_t before = 0;
  for (int cycle = 0; cycle < CYCLES; cycle++) {
    if (cycle == WARM) before = heap();
    if (job.rank % 2 != (unsigned)cycle % 2) sleep_ms(cycle < WARM ? 100 : 5);
    for (unsigned i = 0; i < MANY; i++) {
      in[i] = job.rank + i;
      event[i] = i % 3 ? gex_Coll_ReduceToAllNB(job.tm, &out[i], &in[i], GEX_DT_U64, 8, 1,
                                                GEX_OP_MAX, NULL, NULL, 0)
                       : gex_Coll_BroadcastNB(job.tm, i % job.size, &out[i], &in[i], 8, 0);
    }
    gex_Event_WaitAll(event, MANY, 0);
    job_barrier();
    for (unsigned i = 0; i < MANY; i++)
      if (out[i] != i + (i % 3 ? job.size - 1 : i % job.size)) CHECK_EQ(out[i], i);
  }
  const uint64_t after = heap();
  CHECK_CMP(after, <=, before + SLACK);
  check_count((uint64_t)MANY * CYCLES);
}

/* A team keeps few schedules. */
static void lengths(void) {
  enum { LENGTHS = 4000, WARM = 500 };
  uint64_t before = 0;
  for (unsigned i = 0; i < LENGTHS; i++) {
    if (i == WARM) before = heap();
    gex_Event_Wait(
        gexx_Coll_ScanNB(job.tm, dst, src, GEX_DT_U64, 8, i + 1, GEX_OP_XOR, NULL, NULL, 0));
    gex_Event_Wait(
        gex_Coll_ReduceToAllNB(job.tm, dst, src, GEX_DT_U64, 8, i + 1, GEX_OP_XOR, NULL, NULL, 0));
  }
  job_barrier();
  CHECK_CMP(heap(), <=, before + SLACK);
}

static void make_teams(unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    gex_TM_t tm;
    uint64_t one = 1, sum = 0;
    gex_TM_Split(&tm, job.tm, 0, (int)job.rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    REQUIRE(tm != GEX_TM_INVALID);
    gex_Event_Wait(
        gex_Coll_ReduceToAllNB(tm, &sum, &one, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0));
    CHECK_EQ(sum, job.size);
    gex_Event_Wait(gexx_Coll_AllGatherNB(tm, dst, src, 16, 0));
    gex_TM_Destroy(tm, NULL, 0);
  }
  job_barrier();
}

/* What teams knew for their collectives goes with them. What is kept would grow in each round; what
 * a library of the network takes for itself comes once in a while. */
static void teams(void) {
  enum { ROUNDS = 3, TEAMS = 150, WARM = 50, LEFT = 8 << 10 };
  uint64_t least = UINT64_MAX;
  make_teams(WARM);
  for (unsigned i = 0; i < ROUNDS; i++) {
    const uint64_t before = heap();
    make_teams(TEAMS);
    const uint64_t after = heap(), grown = after > before ? after - before : 0;
    if (grown < least) least = grown;
  }
  CHECK_CMP(least, <=, LEFT);
}

int main(int argc, char **argv) {
  static gex_AM_Entry_t table[] = {
      {PROGRESS, (gex_AM_Fn_t)on_progress, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 2, NULL, NULL}};
  job_start(&argc, &argv, GASNET_PAGESIZE, table, 1);
  src = malloc(EAGER_MAX);
  dst = malloc((size_t)EAGER_MAX * job.size);
  REQUIRE(src && dst);
  memset(src, 0, EAGER_MAX);
  if (!heap_is_reported()) {
    printf("SKIP: this malloc does not report what is in use\n");
    return 77;
  }
  root_ahead(8, 12000);
  root_ahead(EAGER_MAX, 600);
  root_behind(8, 12000);
  root_behind(8192, 1500);
  in_flight();
  lengths();
  teams();
  return job_finish();
}
