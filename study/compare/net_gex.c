/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks of Tombolo on two hosts, for study/compare/net.py, with `puts` for ofi.py, and with
 * `links` for rails.py.
 *
 * Owns: the counters of its handlers. Compiled by them; not part of the build. Calls: the public
 * API, net_loop.h. Rank 1 is in GASNET_BLOCKUNTIL while rank 0 sends; streams are non-blocking puts
 * with one wait at the end.
 */
#define GASNET_SEQ 1
#include "net_loop.h"

#include <gasnetex_ext.h>

#include "../../bench/lib/echo.h"

enum { H_FLOOD = H_ECHO_END, H_PART, H_LAST, H_ACK };

static gex_TM_t tm;
static int rank;
static char *mine, *theirs;
static volatile long flooded, finished, acknowledged;
static long last, phases;

static void on_flood(gex_Token_t token) {
  if (++flooded == last) gex_AM_ReplyShort(token, H_ACK, 0);
}
static void on_part(gex_Token_t token, void *data, size_t bytes) {
  (void)data, (void)bytes;
  on_flood(token);
}
static void on_last(gex_Token_t token) {
  (void)token;
  finished++;
}
static void on_ack(gex_Token_t token) {
  (void)token;
  acknowledged++;
}

static void round_trip(int n) {
  static uint64_t until;
  until += n;
  if (rank == 1) GASNET_BLOCKUNTIL(asked == until);
  for (int i = 0; rank == 0 && i < n; i++) {
    const uint64_t next = answered + 1;
    gex_AM_RequestShort(tm, 1, H_ASK, 0);
    GASNET_BLOCKUNTIL(answered == next);
  }
}

static void barrier(void) {
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

/* Rank 0 sends so many messages now; rank 1 knows the last one before it comes. */
static void phase(long count) {
  last += count;
  phases++;
  barrier();
}

static void phase_end(void) {
  if (rank == 1)
    GASNET_BLOCKUNTIL(flooded == last);
  else
    GASNET_BLOCKUNTIL(acknowledged == phases);
}

static void flood(int n) {
  phase(n);
  for (int i = 0; rank == 0 && i < n; i++) gex_AM_RequestShort(tm, 1, H_FLOOD, 0);
  phase_end();
}

static void stream(int n, size_t bytes) {
  static long until;
  until++;
  if (rank == 1) {
    GASNET_BLOCKUNTIL(finished == until);
    return;
  }
  for (int i = 0; i < n; i++) gex_RMA_PutNBI(tm, 1, theirs, mine, bytes, GEX_EVENT_DEFER, 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  gex_AM_RequestShort(tm, 1, H_LAST, 0);
}

/* Long messages, as few for a transfer as their longest allows. */
static void messages(int n, size_t bytes) {
  const size_t most = gex_AM_MaxRequestLong(tm, (gex_Rank_t)!rank, NULL, 0, 0);
  const size_t part = bytes < most ? bytes : most, parts = (bytes + part - 1) / part;
  phase((long)((size_t)n * parts));
  for (size_t i = 0; rank == 0 && i < (size_t)n * parts; i++) {
    const size_t at = i % parts * part, left = bytes - at;
    gex_AM_RequestLong(tm, 1, H_PART, mine, left < part ? left : part, theirs + at, GEX_EVENT_NOW,
                       0);
  }
  phase_end();
}

static void allreduce(int n, size_t bytes) {
  for (int i = 0; i < n; i++)
    gex_Event_Wait(gex_Coll_ReduceToAllNB(tm, mine + LOOP_BYTES_MAX, mine, GEX_DT_DBL, 8, bytes / 8,
                                          GEX_OP_ADD, NULL, NULL, 0));
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  void *owner = NULL;
  uintptr_t size = 0;
  const gex_Flags_t request = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST;
  const gex_Flags_t reply = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY;
  gex_AM_Entry_t table[] = {
      ECHO_ENTRIES,
      {H_FLOOD, (gex_AM_Fn_t)on_flood, request, 0, NULL, "flood"},
      {H_PART, (gex_AM_Fn_t)on_part, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 0, NULL, "part"},
      {H_LAST, (gex_AM_Fn_t)on_last, request, 0, NULL, "last"},
      {H_ACK, (gex_AM_Fn_t)on_ack, reply, 0, NULL, "ack"},
  };
  if (gex_Client_Init(&client, &ep, &tm, "COMPARE", &argc, &argv, 0) != GASNET_OK) return 1;
  rank = (int)gex_TM_QueryRank(tm);
  gex_EP_RegisterHandlers(ep, table, sizeof table / sizeof *table);
  if (gex_Segment_Attach(&segment, tm, 2 * LOOP_BYTES_MAX) != GASNET_OK) gasnet_exit(1);
  mine = gex_Segment_QueryAddr(segment);
  memset(mine, 0, 2 * LOOP_BYTES_MAX);
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, (gex_Rank_t)!rank, &owner, NULL, &size, 0));
  theirs = owner;
  barrier();
  const struct side s = {round_trip, flood, stream, allreduce, barrier, rank, messages};
  if (argc > 1 && strcmp(argv[1], "puts") == 0)
    loop_puts(&s);
  else if (argc > 1 && strcmp(argv[1], "links") == 0)
    loop_links(&s);
  else if (argc > 1 && strcmp(argv[1], "trips") == 0)
    loop_trips(&s);
  else if (argc > 1 && strcmp(argv[1], "shorts") == 0)
    loop_shorts(&s);
  else
    loop_main(&s);
  barrier();
  gasnet_exit(0);
}
