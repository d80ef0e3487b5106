/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/* again: TOMBOLO_TEST_RING_SLOTS=64 TOMBOLO_TEST_SHM=0 */
/* timeout: 120 */
/*
 * API 02.4: IMMEDIATE under back-pressure. Rank 0 does not poll (it waits on a socket) while all
 * others inject with IMMEDIATE until refused: no call may block, refusal must come, and afterwards
 * exactly what was accepted arrives, once.
 */
#include "job.h"

enum { SHORT, MEDIUM, BIG, LONG, PREPARED, KINDS, TRIES_MAX = 8 << 20, MORE = 1000 };
enum { SMALL_BYTES = 48, BIG_BYTES = 9000 };

static gex_AM_Index_t short_index, data_index, total_index;
static unsigned char *arrived[KINDS]; /* [size][TRIES_MAX / 8] bits of what rank 0 got */
static volatile uint64_t received[KINDS], announced[KINDS];
static volatile uint32_t announcers[KINDS];

static void mark(gex_Rank_t from, int kind, uint32_t id) {
  REQUIRE(kind >= 0 && kind < KINDS && id < TRIES_MAX);
  unsigned char *byte = &arrived[kind][from * (TRIES_MAX / 8) + id / 8];
  CHECK(!(*byte & (1 << id % 8))); /* twice */
  *byte |= (unsigned char)(1 << id % 8);
  received[kind]++;
}

static void on_short(gex_Token_t token, gex_AM_Arg_t kind, gex_AM_Arg_t id) {
  mark(job_source(token), kind, (uint32_t)id);
}

static void on_data(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t kind,
                    gex_AM_Arg_t id) {
  CHECK_EQ(nbytes, kind == BIG ? BIG_BYTES : SMALL_BYTES);
  if (kind != LONG) CHECK_BYTES(buf, nbytes, (unsigned)id); /* Longs share one destination */
  mark(job_source(token), kind, (uint32_t)id);
}

/* All ids below the total have arrived once that many have: mark() refuses doubles. */
static void on_total(gex_Token_t token, gex_AM_Arg_t kind, gex_AM_Arg_t total) {
  (void)token;
  announced[kind] += (uint64_t)(uint32_t)total;
  announcers[kind]++;
}

/* One try; 0 when accepted. */
static int inject(gex_Rank_t to, int kind, uint32_t id) {
  static char buf[BIG_BYTES];
  const gex_Flags_t now = GEX_FLAG_IMMEDIATE;
  const size_t n = kind == BIG ? BIG_BYTES : SMALL_BYTES;
  if (kind == SHORT) return gex_AM_RequestShort2(job.tm, to, short_index, now, kind, id);
  if (kind == PREPARED) {
    gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(job.tm, to, NULL, n, n, NULL, now, 2);
    if (sd == GEX_AM_SRCDESC_NO_OP) return 1;
    pattern_fill(gex_AM_SrcDescAddr(sd), n, id);
    const int refused = gex_AM_CommitRequestMedium2_v2(sd, data_index, n, now, kind, id);
    if (refused) CHECK_EQ(gex_AM_CancelRequestMedium(sd, 0), 0);
    return refused;
  }
  pattern_fill(buf, n, id);
  if (kind == LONG)
    return gex_AM_RequestLong2(job.tm, to, data_index, buf, n, job.peer[to] + 64 * job.rank,
                               GEX_EVENT_NOW, now, kind, id);
  const int rc =
      gex_AM_RequestMedium2(job.tm, to, data_index, buf, n, GEX_EVENT_NOW, now, kind, id);
  memset(buf, 0xee, n);
  return rc;
}

/* The first may be refused until credit for earlier messages is back, which takes a poll here: a
 * conduit may grant one message at a time (TOMBOLO_TEST_OFI_CREDITS=1). Returns how many were
 * accepted. Among several senders others may have taken all the room. */
static uint32_t first(int kind) {
  const double until = now_s() + 20;
  do {
    if (inject(0, kind, 0) == 0) return 1;
    gasnet_AMPoll();
  } while (job.size == 2 && now_s() < until);
  return 0;
}

static void fill_up(int kind) {
  uint32_t accepted = first(kind), refused = 0;
  while (accepted < TRIES_MAX && refused < MORE)
    if (inject(0, kind, accepted) == 0)
      accepted++;
    else
      refused++;
  CHECK_EQ(refused, MORE); /* memory for messages is bounded */
  CHECK(accepted > 0 || job.size > 2);
  oob_send(0, kind);
  CHECK_EQ(gex_AM_RequestShort2(job.tm, 0, total_index, 0, kind, accepted), 0);
}

static void drain(int kind) {
  for (gex_Rank_t r = 1; r < job.size; r++) CHECK_EQ(oob_wait(60000), kind);
  GASNET_BLOCKUNTIL(announcers[kind] == job.size - 1 && received[kind] >= announced[kind]);
}

/* To oneself: whatever is accepted runs. */
static void self_only(int kind) {
  uint32_t accepted = 0;
  for (int i = 0; i < 100000; i++)
    if (inject(job.rank, kind, accepted) == 0) accepted++;
  CHECK_CMP(accepted, >, 0);
  GASNET_BLOCKUNTIL(received[kind] >= accepted);
  announced[kind] = accepted;
}

/* With room again, "poll, then try" gets through. */
static void works_again(int kind) {
  const gex_Rank_t to = (job.rank + 1) % job.size;
  int tries = 0;
  while (inject(to, kind, TRIES_MAX - 1) != 0 && tries < 10000000) {
    gasnet_AMPoll();
    tries++;
  }
  CHECK_CMP(tries, <, 10000000);
  const uint64_t want = announced[kind] + 1;
  GASNET_BLOCKUNTIL(received[kind] >= want);
}

int main(int argc, char **argv) {
  gex_AM_Entry_t table[] = {
      {0, (gex_AM_Fn_t)on_short, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 2, NULL, "short"},
      {0, (gex_AM_Fn_t)on_data, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 2, NULL, "data"},
      {0, (gex_AM_Fn_t)on_total, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 2, NULL, "total"}};
  job_start(&argc, &argv, 64 * 64, table, 3);
  short_index = table[0].gex_index;
  data_index = table[1].gex_index;
  total_index = table[2].gex_index;
  oob_open();
  for (int kind = 0; kind < KINDS; kind++) {
    unsigned char *bits = (unsigned char *)check_room(job.size, TRIES_MAX / 8);
    arrived[kind] = bits;
    job_barrier();
    if (job.size == 1)
      self_only(kind);
    else if (job.rank == 0)
      drain(kind);
    else
      fill_up(kind);
    job_barrier();
    CHECK_EQ(received[kind], announced[kind]);
    job_barrier();
    works_again(kind);
    job_barrier();
    CHECK_EQ(received[kind], announced[kind] + 1);
    free(bits);
  }
  return job_finish();
}
