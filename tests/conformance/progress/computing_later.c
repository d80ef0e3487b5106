/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 7 */
/* cases: puts tagged longs flood */
/* far: no */
/* again: TOMBOLO_PLACES=cyclic:7+TOMBOLO_CONDUIT=udp */
/* again: TOMBOLO_PLACES=cyclic:7+TOMBOLO_CONDUIT=udp+TOMBOLO_TEST_UDP_CREDITS=1 */
/* again: TOMBOLO_PLACES=cyclic:7+TOMBOLO_CONDUIT=udp+TOMBOLO_TEST_UDP_CREDITS=8 */
/*
 * docs/PROGRESS.md: puts with a peer completion handler, tagged notifications and the payload of
 * Longs end while their target computes and makes no call; the handlers run in its next polls, each
 * once, on its own thread, when the data are in place. Odd ranks compute until the even ranks
 * before them, and the last one, have said that their operations are complete. With `flood` there
 * are more handlers than wait beside the client, and the targets poll after a while. Between ranks
 * of one host the data only must come.
 */
#include "job.h"

#include <gasnet_vis.h>
#include <gasnetex_ext.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 150, WIDTH = 700, PITCH = 1024, AREA = ROWS * PITCH, COUNT = 20, FLOOD = 3000 };
enum { END_AT = 0, AREA_AT = 4096, SOURCES = 2, LONG_BYTES = 100000 };
enum { PLACED = 130, LONG = 131, BLOCKS = LONG_BYTES / 1000 };

static pthread_t client;
static volatile bool computes;
static uint32_t calls[64];

/* Where the data of a rank lie at its target. */
static char *area_of(gex_Rank_t target, gex_Rank_t source) {
  return job.peer[target] + AREA_AT + (source == target - 1 ? 0 : AREA);
}

static gex_Rank_t target_of(gex_Rank_t rank) {
  return rank + 1 < job.size ? rank + 1 : 1;
}

static void enter(gex_Rank_t source) {
  CHECK(!computes);
  CHECK(pthread_equal(client, pthread_self()));
  REQUIRE(source < 64);
  calls[source]++;
}

static void on_placed(gex_Token_t token, void *payload, size_t nbytes) {
  uint32_t said[2] = {0, 0};
  (void)token;
  CHECK_EQ(nbytes, sizeof said);
  memcpy(said, payload, sizeof said);
  enter(said[0]);
  CHECK_CMP(area_of(job.rank, said[0])[(ROWS - 1) * PITCH + WIDTH - 1], >=, (char)said[1]);
}

static void on_long(gex_Token_t token, void *payload, size_t nbytes, gex_AM_Arg_t source,
                    gex_AM_Arg_t block) {
  (void)token;
  enter((gex_Rank_t)source);
  CHECK_EQ(nbytes, block ? LONG_BYTES / BLOCKS : LONG_BYTES);
  for (size_t i = 0; i < nbytes; i += 99) CHECK_EQ(((char *)payload)[i], (char)(source + 3));
}

/* Puts of two lengths, or short ones, each with a handler; the value grows, so a handler that runs
 * late finds no less than its own. */
static void puts_to(gex_Rank_t target, uint32_t count, bool is_short) {
  static char local[ROWS * WIDTH];
  static uint32_t said[2];
  const ptrdiff_t wide[1] = {PITCH}, tight[1] = {WIDTH};
  for (uint32_t i = 0; i < count; i++) {
    const size_t rows[1] = {is_short ? 1 : i % 2 ? 3 : ROWS};
    said[0] = job.rank;
    said[1] = is_short ? 0 : i & ~UINT32_C(1);
    memset(local, (int)i, is_short ? WIDTH : sizeof local);
    gex_VIS_SetPeerCompletionHandler(PLACED, said, sizeof said, 0);
    gex_Event_Wait(gex_VIS_StridedPutNB(job.tm, target, area_of(target, job.rank), wide, local,
                                        tight, WIDTH, rows, 1, 0));
  }
}

static void check_puts(gex_Rank_t target) {
  const char last = (char)(COUNT - 1);
  char *const back = malloc(AREA);
  CHECK(back != NULL);
  gex_RMA_GetBlocking(job.tm, back, target, area_of(target, job.rank), AREA, 0);
  for (size_t i = 0; i < WIDTH; i += 7) CHECK_EQ(back[i], last);
  CHECK_EQ(back[(ROWS - 1) * PITCH + WIDTH - 1], (char)(last & ~1));
  free(back);
}

static void tagged_to(gex_Rank_t target) {
  char *const local = malloc(AREA);
  CHECK(local != NULL);
  for (uint32_t i = 0; i < COUNT; i++) {
    const size_t bytes = i % 4 == 0 ? 0 : i % 4 == 1 ? 8 : i % 4 == 2 ? 5000 : AREA;
    memset(local, (int)(i + job.rank), AREA);
    gex_Event_Wait(gexx_RMA_PutNotifyNB(job.tm, target, area_of(target, job.rank), local, bytes,
                                        GEX_EVENT_DEFER, 2 * i, 0));
    memset(local, 0, AREA);
    gexx_RMA_GetNotify(job.tm, local, target, area_of(target, job.rank), bytes, 2 * i + 1, 0);
    for (size_t k = 0; k < bytes; k += 99) CHECK_EQ(local[k], (char)(i + job.rank));
  }
  free(local);
}

/* The notifications of a rank, in their order. */
static void take_tagged(gex_Rank_t source) {
  gexx_Notify_t req;
  gexx_Notify_Status_t status;
  CHECK_EQ(gexx_Notify_Init(job.tm, source, GEXX_NOTIFY_ANY_TAG, 1, &req), GASNET_OK);
  for (uint32_t i = 0; i < 2 * COUNT; i++) {
    gexx_Notify_Start(req);
    gexx_Notify_Wait(req, &status);
    CHECK_EQ(status.gexx_tag, i);
    CHECK_EQ(status.gexx_source, source);
  }
  gexx_Notify_Free(req);
}

/* One Long whose payload does not fit a message, then short ones. */
static void longs_to(gex_Rank_t target) {
  static char local[LONG_BYTES];
  memset(local, (int)(job.rank + 3), sizeof local);
  CHECK_EQ(gex_AM_RequestLong2(job.tm, target, LONG, local, sizeof local, area_of(target, job.rank),
                               GEX_EVENT_NOW, 0, job.rank, 0),
           0);
  char last = 0;
  while (last != local[0])
    gex_RMA_GetBlocking(job.tm, &last, target, area_of(target, job.rank) + LONG_BYTES - 1, 1, 0);
}

static uint32_t sources_of(gex_Rank_t rank) {
  return 1 + (rank == 1 && job.size > 2 && job.size % 2);
}

/* The handlers that a target waits for, by source. */
static void await_calls(uint32_t count) {
  for (gex_Rank_t r = 0; r < job.size; r += 2)
    if (target_of(r) == job.rank) GASNET_BLOCKUNTIL(*(volatile uint32_t *)&calls[r] == count);
}

static void compute(bool flood) {
  const volatile uint64_t *end = (uint64_t *)(void *)(job.base + END_AT);
  computes = true;
  if (flood)
    usleep(300000);
  else
    while (*end < sources_of(job.rank)) usleep(1000); /* computes */
  computes = false;
}

static void say_end(gex_Rank_t target) {
  gex_Event_Wait(gexx_RMA_PutSignalNB(job.tm, target, job.peer[target], NULL, 0, GEX_EVENT_DEFER,
                                      (uint64_t *)(void *)(job.peer[target] + END_AT), GEXX_SIG_ADD,
                                      1, 0));
}

static void operate(const char *what, gex_Rank_t target) {
  if (!strcmp(what, "puts")) {
    puts_to(target, COUNT, false);
    check_puts(target);
  } else if (!strcmp(what, "tagged")) {
    tagged_to(target);
  } else if (!strcmp(what, "longs")) {
    longs_to(target);
  } else {
    puts_to(target, FLOOD, true);
  }
  say_end(target);
}

static void serve(const char *what) {
  const bool flood = !strcmp(what, "flood"), tagged = !strcmp(what, "tagged");
  /* A message to a rank of the same host waits for its polls. */
  if (!job.mapped || strcmp(what, "longs") != 0) compute(flood);
  if (!tagged) await_calls(flood ? FLOOD : !strcmp(what, "longs") ? 1 : COUNT);
  for (gex_Rank_t r = 0; tagged && r < job.size; r += 2)
    if (target_of(r) == job.rank) take_tagged(r);
}

int main(int argc, char **argv) {
  const gex_Flags_t reply = GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY;
  gex_AM_Entry_t handlers[] = {
      {PLACED, (gex_AM_Fn_t)on_placed, reply, 0, NULL, "placed"},
      {LONG, (gex_AM_Fn_t)on_long, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 2, NULL, "long"}};
  client = pthread_self();
  job_start(&argc, &argv, AREA_AT + SOURCES * AREA, handlers, 2);
  const char *what = argc > 1 ? argv[1] : "puts";
  if (!job.mapped && !job_has_thread()) gasnet_exit(77);
  job_barrier();
  if (job.rank % 2)
    serve(what);
  else
    operate(what, target_of(job.rank));
  job_barrier();
  return job_finish();
}
