/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks send each other data of all kinds and compare all that arrives: `inject FILE` goes on
 * until FILE exists. Each prints how many bytes were wrong. For tests/net/inject_test.py.
 */
#include <gasnetex.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { H_MEDIUM = 200, H_LONG, H_STOP };
enum { SLOT = 1 << 17, PUT_AT = 0, LONG_AT = SLOT, SOURCE_AT = 2 * SLOT, SEGMENT = 3 * SLOT };

static volatile uint32_t taken, stops;
static volatile int stopped;
static uint64_t wrong, compared;

/* Byte `i` of what is sent in a round. */
static uint8_t pattern(uint32_t round, size_t i) {
  return (uint8_t)(round * 41 + i * 7 + (i >> 8));
}

static void fill(uint8_t *to, uint32_t round, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) to[i] = pattern(round, i);
}

static void compare(const uint8_t *from, uint32_t round, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) wrong += from[i] != pattern(round, i);
  compared += bytes;
}

static void on_payload(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t round) {
  (void)token;
  compare(data, (uint32_t)round, bytes);
  taken++;
}

static void on_stop(gex_Token_t token, gex_AM_Arg_t stop) {
  (void)token;
  stopped = stop;
  stops++;
}

static size_t size_of(uint32_t round, uint32_t kind) {
  static const size_t sizes[] = {300, 1000, 1500, 4000, 9000, 30000, 65000, 131072};
  return sizes[(round + kind * 3) % (sizeof sizes / sizeof *sizes)];
}

static void send_round(gex_TM_t tm, gex_Rank_t peer, uint32_t round, uint8_t *remote) {
  static uint8_t src[SLOT];
  const size_t put = size_of(round, 0), medium = size_of(round, 1) / 3, lng = size_of(round, 2);
  fill(src, round, sizeof src);
  gex_Event_t done = gex_RMA_PutNB(tm, peer, remote + PUT_AT, src, put, GEX_EVENT_DEFER, 0);
  gex_AM_RequestMedium1(tm, peer, H_MEDIUM, src, medium, GEX_EVENT_NOW, 0, (gex_AM_Arg_t)round);
  gex_AM_RequestLong1(tm, peer, H_LONG, src, lng, remote + LONG_AT, GEX_EVENT_NOW, 0,
                      (gex_AM_Arg_t)round);
  gex_Event_Wait(done);
}

static void get_round(gex_TM_t tm, gex_Rank_t peer, uint32_t round, uint8_t *remote) {
  static uint8_t back[SLOT];
  const size_t bytes = size_of(round, 3);
  gex_RMA_GetBlocking(tm, back, peer, remote + SOURCE_AT, bytes, 0);
  compare(back, 7, bytes);
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Segment_t segment;
  gex_AM_Entry_t table[] = {
      {H_MEDIUM, (gex_AM_Fn_t)on_payload, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM, 1, NULL, "m"},
      {H_LONG, (gex_AM_Fn_t)on_payload, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_LONG, 1, NULL, "l"},
      {H_STOP, (gex_AM_Fn_t)on_stop, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1, NULL, "s"}};
  void *own = NULL, *remote = NULL;
  gex_Client_Init(&client, &ep, &tm, "inject", &argc, &argv, 0);
  gex_Segment_Attach(&segment, tm, SEGMENT);
  gex_EP_RegisterHandlers(ep, table, sizeof table / sizeof *table);
  const gex_Rank_t me = gex_TM_QueryRank(tm), peer = !me;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, peer, &remote, NULL, NULL, 0));
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, me, &own, NULL, NULL, 0));
  fill((uint8_t *)own + SOURCE_AT, 7, SLOT);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  for (uint32_t round = 0; !stopped; round++) {
    send_round(tm, peer, round, remote);
    get_round(tm, peer, round, remote);
    GASNET_BLOCKUNTIL(taken == 2 * (round + 1));
    gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
    compare((uint8_t *)own + PUT_AT, round, size_of(round, 0));
    gex_Event_Wait(gex_Coll_BarrierNB(tm, 0)); /* the next puts may come */
    const int stop = argc < 2 || access(argv[1], F_OK) == 0;
    if (me == 0) {
      gex_AM_RequestShort1(tm, 0, H_STOP, 0, stop);
      gex_AM_RequestShort1(tm, 1, H_STOP, 0, stop);
    }
    GASNET_BLOCKUNTIL(stops == round + 1);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  printf("rank %d: %llu of %llu bytes wrong\n", (int)me, (unsigned long long)wrong,
         (unsigned long long)compared);
  fflush(stdout);
  gasnet_exit(0);
  return 0;
}
