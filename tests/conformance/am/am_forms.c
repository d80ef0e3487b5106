/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 */
/*
 * API 00.15, 02.3: the forms in which clients write calls: arguments of any integer type, evaluated
 * once; names pasted from parts; calls inside conditions and comma expressions; nested macros;
 * sentinels in static initialisers.
 */
#include "job.h"

enum colour { RED = -3, BLUE = 7 };

static gex_AM_Index_t three_index;
static volatile uint32_t seen;
static gex_Event_t *const statically = GEX_EVENT_DEFER;
static const gex_Event_t done = GEX_EVENT_INVALID;
static const gex_Flags_t some_flags = GEX_FLAG_IMMEDIATE | GEX_FLAG_PEER_NEVER_SELF;
#if GEX_FLAG_AM_MEDLONG != (GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_LONG) || GEX_DT_I32 == GEX_DT_U32
# error "constants must work in #if"
#endif

static void on_three(gex_Token_t token, gex_AM_Arg_t a, gex_AM_Arg_t b, gex_AM_Arg_t c) {
  (void)token;
  CHECK_EQ(a, -1);
  CHECK_EQ(b, 0x7fffffff);
  CHECK_EQ(c, RED);
  seen++;
}

#define PASTE(kind, n)    gex_AM_Request##kind##n
#define SEND(to, a, b, c) gex_AM_RequestShort3(job.tm, (to), three_index, 0, (a), (b), (c))
#define WRAP(...)         gex_AM_RequestShort(job.tm, to, three_index, 0, __VA_ARGS__)

static gex_Rank_t calls;
static gex_Rank_t target(void) {
  return calls++ % job.size;
}
static int64_t minus_one(int *count) {
  ++*count;
  return -1;
}

int main(int argc, char **argv) {
  gex_AM_Entry_t entry = {
      0, (gex_AM_Fn_t)on_three, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 3, NULL, NULL};
  job_start(&argc, &argv, GASNET_PAGESIZE, &entry, 1);
  three_index = entry.gex_index;
  int count = 0;
  const uint64_t big = 0x9999999900000000u | 0x7fffffffu;
  const enum colour red = RED;
  const gex_Rank_t to = (job.rank + 1) % job.size;
  uint32_t sent = 0;
  CHECK_EQ(gex_AM_RequestShort3(job.tm, target(), three_index, 0, minus_one(&count), big, red), 0);
  CHECK_EQ(gex_AM_RequestShort(job.tm, target(), three_index, 0, minus_one(&count), big, red), 0);
  CHECK_EQ(
      PASTE(Short, 3)(job.tm, target(), three_index, 0, (signed char)-1, (long)big, (short)RED), 0);
  CHECK_EQ(calls, 3);
  CHECK_EQ(count, 2);
  CHECK_EQ(WRAP(-1, big, red), 0);
  sent += 4;
  if (SEND(to, -1, 0x7fffffffL, RED) == 0)
    sent++;
  else
    CHECK(0);
  const int comma = (gasnet_AMPoll(), SEND(to, (int8_t)-1, INT32_MAX, -3LL));
  CHECK_EQ(comma, 0);
  sent++;
  for (int i = 0; i < 3; i++) sent += SEND(to, (uintptr_t)-1, (uint16_t)0 + INT32_MAX, red) ? 0 : 1;
  CHECK_EQ(sent, 9);
  CHECK(statically == GEX_EVENT_DEFER && done == GEX_EVENT_INVALID);
  CHECK(GEX_EVENT_NOW != GEX_EVENT_DEFER && GEX_EVENT_NOW != GEX_EVENT_GROUP &&
        GEX_EVENT_DEFER != GEX_EVENT_GROUP && GEX_EVENT_NO_OP != GEX_EVENT_INVALID);
  CHECK_EQ(some_flags & GEX_FLAG_PEER_NEVER_NBRHD, 0);
  /* each rank sends three by target(), to ranks from 0 on, the other six to its neighbour */
  uint32_t want = 6;
  for (gex_Rank_t i = 0; i < 3; i++) want += i % job.size == job.rank ? job.size : 0;
  GASNET_BLOCKUNTIL(seen >= want);
  job_barrier();
  CHECK_EQ(seen, want);
  return job_finish();
}
