/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/*
 * C++11 client: distinct handle types, sentinels in static initialisers, argument types, statements
 * that must be statements, put and get, events in containers, access regions, locks (API 00.5,
 * 00.15).
 */
#include <vector>

#include "job.h"

namespace {

enum Colour { kRed = -3, kBlue = 7 };

gex_HSL_t lock = GEX_HSL_INITIALIZER;
gex_Event_t *const now = GEX_EVENT_NOW;
const gex_Event_t done = GEX_EVENT_INVALID;
gex_Segment_t no_segment = 0;
volatile unsigned types_seen;
gex_AM_Index_t types_index;

template <class A, class B> struct Same { static const bool value = false; };
template <class A> struct Same<A, A> { static const bool value = true; };
static_assert(!Same<gex_EP_t, gex_TM_t>::value, "handles are types of their own");
static_assert(!Same<gex_Segment_t, gex_Client_t>::value, "handles are types of their own");
static_assert(sizeof(gex_Event_t) == sizeof(void *), "an event is as large as a pointer");
static_assert(sizeof(gex_RMA_Value_t) == SIZEOF_GEX_RMA_VALUE_T, "constant matches type");
#if !(GEX_FLAG_IMMEDIATE) || GEX_AM_INDEX_BASE > 128 || !GEX_EP_CAPABILITY_ALL
# error "constants must work in #if"
#endif

void on_types(gex_Token_t, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2, gex_AM_Arg_t a3,
              gex_AM_Arg_t a4) {
  CHECK_EQ(a0, kRed);
  CHECK_EQ(a1, 'x');
  CHECK_EQ(a2, 1);
  CHECK_EQ(static_cast<uint32_t>(a3), 0xfffffff0u);
  CHECK_EQ(a4, kBlue);
  types_seen = types_seen + 1;
}

void check_types() {
  int evaluated = 0;
  const uint64_t wide = 0x12345678fffffff0u;
  for (gex_Rank_t r = 0; r < job.size; r++)
    CHECK_EQ(
        gex_AM_RequestShort(job.tm, r, types_index, 0, kRed, 'x', ++evaluated > 0, wide, kBlue), 0);
  CHECK_EQ(evaluated, job.size);
  for (gex_Rank_t r = 0; r < job.size; r++)
    CHECK_EQ(gex_AM_RequestShort5(job.tm, r, types_index, 0, kRed, 'x', true, wide, kBlue), 0);
  GASNET_BLOCKUNTIL(types_seen >= 2 * job.size);
  job_barrier();
  CHECK_EQ(types_seen, 2 * job.size);
}

void check_rma() {
  const size_t count = 50, bytes = 99;
  std::vector<char> source(count * bytes), back(count * bytes);
  std::vector<gex_Event_t> events(count, done);
  pattern_fill(source.data(), source.size(), job.rank);
  for (size_t i = 0; i < count; i++) {
    const gex_Rank_t to = static_cast<gex_Rank_t>((job.rank + i) % job.size);
    events[i] = gex_RMA_PutNB(job.tm, to, job.peer[to] + (job.rank * count + i) * bytes,
                              &source[i * bytes], bytes, GEX_EVENT_DEFER, 0);
  }
  gex_Event_WaitAll(events.data(), events.size(), 0);
  CHECK_EQ(gex_Event_TestAll(events.data(), events.size(), 0), GASNET_OK);
  gex_NBI_BeginAccessRegion(0);
  for (size_t i = 0; i < count; i++) {
    const gex_Rank_t to = static_cast<gex_Rank_t>((job.rank + i) % job.size);
    CHECK_EQ(gex_RMA_GetNBI(job.tm, &back[i * bytes], to,
                            job.peer[to] + (job.rank * count + i) * bytes, bytes, 0),
             0);
  }
  gex_Event_Wait(gex_NBI_EndAccessRegion(0));
  CHECK_BYTES(back.data(), back.size(), job.rank);
}

void check_statements() {
  GASNET_BEGIN_FUNCTION();
  gex_HSL_Lock(&lock);
  CHECK(no_segment == GEX_SEGMENT_INVALID);
  gex_HSL_Unlock(&lock);
  if (now == GEX_EVENT_NOW)
    GASNET_BLOCKUNTIL(true);
  else
    CHECK(false);
  gex_RankInfo_t *info = NULL;
  gex_Rank_t count = 0;
  gex_System_QueryNbrhdInfo(&info, &count, NULL);
  CHECK(count >= 1 && info[0].gex_jobrank < job.size);
  const gex_EP_Location_t where = {job.rank, 0};
  CHECK_EQ(where.gex_rank, job.rank);
}

} /* namespace */

int main(int argc, char **argv) {
  gex_AM_Entry_t entry = {0,
                          reinterpret_cast<gex_AM_Fn_t>(on_types),
                          GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST,
                          5,
                          NULL,
                          "types"};
  job_start(&argc, &argv, 65536, &entry, 1);
  types_index = entry.gex_index;
  check_types();
  check_rma();
  check_statements();
  return job_finish();
}
