/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/*
 * API 03.3: PEER_SEG_UNKNOWN reaches memory of the peer that lies in no segment: its heap and its
 * static data.
 */
#include "job.h"

enum { BYTES = 20000 };

static char fixed[BYTES];
static uint64_t theirs[64][2]; /* addresses of heap and static buffers by rank */
static volatile uint32_t known;

static void on_address(gex_Token_t token, void *buf, size_t nbytes) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  REQUIRE(nbytes == sizeof theirs[0] && info.gex_srcrank < 64);
  memcpy(theirs[info.gex_srcrank], buf, nbytes);
  known++;
}

int main(int argc, char **argv) {
  gex_AM_Entry_t entry = {
      0, (gex_AM_Fn_t)on_address, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL, "address"};
  job_start(&argc, &argv, GASNET_PAGESIZE, &entry, 1);
  const gex_Flags_t flags = GEX_FLAG_PEER_SEG_UNKNOWN;
  const size_t share = BYTES / job.size;
  char *const heap = (char *)check_room(1, BYTES);
  char *const work = (char *)check_room(1, 2 * share);
  const uint64_t mine[2] = {(uintptr_t)heap, (uintptr_t)fixed};
  for (gex_Rank_t r = 0; r < job.size; r++)
    CHECK_EQ(gex_AM_RequestMedium0(job.tm, r, entry.gex_index, mine, sizeof mine, GEX_EVENT_NOW, 0),
             0);
  GASNET_BLOCKUNTIL(known == job.size);
  job_barrier();
  for (gex_Rank_t to = 0; to < job.size; to++)
    for (int which = 0; which < 2; which++) {
      char *const peer = (char *)(uintptr_t)theirs[to][which] + share * job.rank;
      const uint64_t seed = mix64(job.rank * 64 + to) + (unsigned)which;
      pattern_fill(work, share, seed);
      if (which)
        CHECK_EQ(gex_RMA_PutBlocking(job.tm, to, peer, work, share, flags), 0);
      else
        gex_Event_Wait(gex_RMA_PutNB(job.tm, to, peer, work, share, GEX_EVENT_DEFER, flags));
      CHECK_EQ(gex_RMA_GetBlocking(job.tm, work + share, to, peer, share, flags), 0);
      CHECK_BYTES(work + share, share, seed);
    }
  job_barrier();
  for (gex_Rank_t from = 0; from < job.size; from++) {
    CHECK_BYTES(heap + share * from, share, mix64(from * 64 + job.rank));
    CHECK_BYTES(fixed + share * from, share, mix64(from * 64 + job.rank) + 1);
  }
  free(work);
  job_barrier();
  free(heap);
  return job_finish();
}
