/* SPDX-License-Identifier: BSD-3-Clause */
/* Long puts, puts with a signal and gets between ranks 0 and 1, every byte of which is checked:
 * `ofi_stripes COUNT`; with a second argument `messages`: Long messages and replies instead. Which
 * interfaces they took is looked at by who starts it (ofi_rails_test.py). */
#include "ofi_pair.h"

#include <stdio.h>

enum { HEAD = 4096 /* bytes before the data: the signal */, BYTES_MAX = 1 << 20 };

static unsigned char source[BYTES_MAX], back[BYTES_MAX];

static const size_t lengths[] = {262143, 262144, 266241, 1000003, BYTES_MAX};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static unsigned char byte_of(uint64_t round, size_t at) {
  return (unsigned char)((at * 2654435761u + round * 97) >> 7);
}

static void check(const unsigned char *data, size_t bytes, uint64_t round, const char *what) {
  for (size_t at = 0; at < bytes; at++)
    if (data[at] != byte_of(round, at)) {
      fprintf(stderr, "%s %llu: byte %zu of %zu is wrong\n", what, (unsigned long long)round, at,
              bytes);
      gasnet_exit(1);
    }
}

/* ---- messages */

enum { H_THERE = 200, H_BACK };

static volatile uint64_t came; /* rounds whose reply has come; on rank 1: whose request has */
static void *reply_to;         /* the other rank's segment, behind its head */

static void on_there(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t round) {
  check(data, bytes, (uint64_t)round, "request");
  came = (uint64_t)round;
  gex_AM_ReplyLong(token, H_BACK, data, bytes, reply_to, GEX_EVENT_NOW, 0, round);
}

static void on_back(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t round) {
  (void)token;
  check(data, bytes, (uint64_t)round, "reply");
  came = (uint64_t)round;
}

static gex_AM_Entry_t handlers[] = {
    {H_THERE, (gex_AM_Fn_t)on_there, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 1, NULL, "there"},
    {H_BACK, (gex_AM_Fn_t)on_back, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REPLY, 1, NULL, "back"}};

static void exchange_messages(uint64_t count) {
  for (uint64_t i = 1; i <= count; i++) {
    if (gex_TM_QueryRank(tm) == 0) {
      const size_t bytes = lengths[i % LENGTHS];
      for (size_t at = 0; at < bytes; at++) source[at] = byte_of(i, at);
      gex_AM_RequestLong(tm, 1, H_THERE, source, bytes, reply_to, GEX_EVENT_NOW, 0, (int)i);
      memset(source, 0, bytes);
    }
    GASNET_BLOCKUNTIL(came == i);
  }
}

/* Rank 0: each round puts and gets back, then puts once more with a signal. */
static void send_all(uint64_t count) {
  for (uint64_t i = 1; i <= count; i++) {
    const size_t bytes = lengths[i % LENGTHS];
    for (size_t at = 0; at < bytes; at++) source[at] = byte_of(i, at);
    gex_Event_Wait(gex_RMA_PutNB(tm, 1, owner + HEAD, source, bytes, GEX_EVENT_DEFER, 0));
    gex_Event_Wait(gex_RMA_GetNB(tm, back, 1, owner + HEAD, bytes, 0));
    check(back, bytes, i, "get");
    for (size_t at = 0; at < bytes; at++) source[at] = byte_of(i + 1000, at);
    gex_Event_Wait(gexx_RMA_PutSignalNB(tm, 1, owner + HEAD, source, bytes, GEX_EVENT_DEFER,
                                        (uint64_t *)(void *)owner, GEXX_SIG_SET, i, 0));
    (void)gexx_Signal_Wait((uint64_t *)(void *)mine, GEXX_SIG_GE, i); /* it has been checked */
  }
}

int main(int argc, char **argv) {
  const uint64_t count = pair_start("STRIPES", &argc, &argv);
  if (gex_EP_RegisterHandlers(ep, handlers, 2) != GASNET_OK) gasnet_exit(1);
  pair_attach(HEAD + BYTES_MAX, HEAD, !gex_TM_QueryRank(tm));
  reply_to = owner + HEAD;
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  if (argc > 2) {
    exchange_messages(count);
  } else if (gex_TM_QueryRank(tm) == 0) {
    send_all(count);
  } else if (gex_TM_QueryRank(tm) == 1) {
    for (uint64_t i = 1; i <= count; i++) {
      (void)gexx_Signal_Wait((uint64_t *)(void *)mine, GEXX_SIG_GE, i);
      check((const unsigned char *)mine + HEAD, lengths[i % LENGTHS], i + 1000, "signal");
      static char word[8];
      gex_Event_Wait(gexx_RMA_PutSignalNB(tm, 0, owner + 8, word, 8, GEX_EVENT_DEFER,
                                          (uint64_t *)(void *)owner, GEXX_SIG_SET, i, 0));
    }
  }
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  if (gex_TM_QueryRank(tm) == 0) puts("all right");
  gasnet_exit(0);
  return 0;
}
