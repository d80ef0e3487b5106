/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4 */
/* cases: idle asleep twice known pending credits notify flood reply full npam amo until sig end
 * words */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0
 * TOMBOLO_TEST_RING_SLOTS=64+TOMBOLO_TEST_BULK_BUFFERS=2 */
/* debug: both */
/* timeout: 60 */
/*
 * Operations between processes of which one dies (GEXX_FAILURE_REPORT): what is outstanding towards
 * it and what is started later ends, with a mark; the others get all that they sent each other. The
 * last rank dies by _exit(0), or as the second argument says (lost.py).
 */
#include "loss.h"

#include <gasnet_ratomic.h>
#include <gasnet_vis.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_victim(void) {
  return job.rank == loss_victim;
}

/* ---- what is known of a lost peer */

static void check_known(void) {
  gex_Rank_t list[2] = {GEX_RANK_INVALID, GEX_RANK_INVALID};
  gexx_Peer_Info_t info;
  const int ended = strcmp(loss_how, "end") == 0;
  const int want = ended ? GEXX_PEER_STOPPED : GEXX_PEER_FAILED;
  CHECK_EQ(gexx_Peer_Query(loss_victim), want);
  CHECK_EQ(loss_state[loss_victim], want);
  gexx_Peer_QueryInfo(loss_victim, &info);
  CHECK_EQ(info.gexx_state, want);
  CHECK_EQ(info.gexx_lost, 1);
  CHECK_EQ(info.gexx_signal, strcmp(loss_how, "kill") == 0    ? 9
                             : strcmp(loss_how, "abort") == 0 ? 6
                             : strcmp(loss_how, "segv") == 0  ? 11
                                                              : 0);
  CHECK_EQ(info.gexx_code, info.gexx_signal                 ? 128 + info.gexx_signal
                           : strcmp(loss_how, "exit3") == 0 ? 3
                                                            : 0);
  CHECK_EQ(gexx_Peer_QueryLost(GEXX_PEER_ALIVE, list, 2), 1);
  CHECK_EQ(list[0], loss_victim);
  CHECK_EQ(gexx_Peer_QueryLost(GEXX_PEER_FAILED, NULL, 0), !ended);
  CHECK_EQ(gexx_Peer_QueryLost(GEXX_PEER_STOPPED, NULL, 0), ended);
  gexx_Peer_QueryInfo(job.rank, &info);
  CHECK_EQ(info.gexx_state, GEXX_PEER_ALIVE);
  CHECK_EQ(info.gexx_lost, 0);
}

static void idle(void) {
  if (is_victim()) loss_die(loss_how);
  loss_await(loss_victim, 0);
  check_known();
  LOSS_NONE();
}

/* The words tell of it before a poll, if the start has not polled late. */
static void words(void) {
  const uint32_t *changes, *seen;
  gexx_Peer_QueryWords(&changes, &seen);
  if (is_victim()) {
    sleep_ms(300);
    loss_die(loss_how);
  }
  int i = 0;
  while (i < 2000 && !loss_reported[loss_victim] &&
         __atomic_load_n(changes, __ATOMIC_RELAXED) == *seen) {
    sleep_ms(10);
    i++;
  }
  CHECK_CMP(i, <, 2000);
  loss_await(loss_victim, 0);
  check_known();
  CHECK_EQ(__atomic_load_n(changes, __ATOMIC_RELAXED), __atomic_load_n(seen, __ATOMIC_RELAXED));
}

/* The others sleep when it happens. */
static void asleep(void) {
  if (is_victim()) {
    sleep_ms(300);
    loss_die(loss_how);
  }
  loss_await(loss_victim, 1);
  check_known();
}

/* Two of them, the second while the others deal with the first. */
static void twice(void) {
  const gex_Rank_t second = loss_victim - 1;
  if (job.size < 3) {
    idle();
    return;
  }
  if (is_victim()) loss_die(loss_how);
  if (job.rank == second) loss_die_soon(loss_how, 2000);
  if (job.rank == second)
    for (;;) (void)gasnet_AMPoll();
  loss_await(loss_victim, 1);
  loss_await(second, 1);
  CHECK_EQ(gexx_Peer_QueryLost(GEXX_PEER_ALIVE, NULL, 0), 2);
}

/* ---- put and get */

static gex_Rank_t next_alive(void) {
  gex_Rank_t next = (job.rank + 1) % job.size;
  return next == loss_victim ? (next + 1) % job.size : next;
}

/* All forms of put and get towards a peer whose loss is known. */
static void check_rma(gex_Rank_t to) {
  char buf[256], *const there = job.peer[to] + 512 * job.rank; /* each its own place */
  pattern_fill(buf, sizeof buf, 7);
  CHECK_EQ(gex_RMA_PutBlocking(job.tm, to, there, buf, sizeof buf, 0), GEXX_ERR_LOST);
  LOSS_EXPECT(to);
  CHECK_EQ(gex_RMA_GetBlocking(job.tm, buf, to, there, sizeof buf, 0), GEXX_ERR_LOST);
  LOSS_EXPECT(to);
  CHECK_BYTES(buf, sizeof buf, 7);
  CHECK_EQ(gex_RMA_PutBlockingVal(job.tm, to, there, 5, 8, 0), GEXX_ERR_LOST);
  LOSS_EXPECT(to);
  const uint64_t value = gex_RMA_GetBlockingVal(job.tm, to, there, 8, 0);
  if (env_number("TOMBOLO_TEST_SHM", 1)) CHECK_EQ(value, 5);
  LOSS_EXPECT(to);
  gex_Event_t leaf, event = gex_RMA_PutNB(job.tm, to, there, buf, sizeof buf, &leaf, 0);
  CHECK_EQ(gexx_Event_Status(event), GEXX_ERR_LOST);
  gex_Event_Wait(leaf);
  LOSS_NONE();
  gex_Event_Wait(event);
  LOSS_EXPECT(to);
  event = gex_RMA_GetNB(job.tm, buf, to, there, sizeof buf, 0);
  CHECK_EQ(gexx_Event_Status(event), GEXX_ERR_LOST);
  CHECK_EQ(gex_Event_Test(event), GASNET_OK);
  LOSS_EXPECT(to);
  CHECK_EQ(gex_RMA_PutNBI(job.tm, to, there, buf, sizeof buf, GEX_EVENT_NOW, 0), 0);
  gex_NBI_Wait(GEX_EC_GET, 0);
  LOSS_NONE();
  gex_NBI_Wait(GEX_EC_PUT, 0);
  LOSS_EXPECT(to);
  gex_NBI_BeginAccessRegion(0);
  CHECK_EQ(gex_RMA_GetNBI(job.tm, buf, to, there, sizeof buf, 0), 0);
  event = gex_NBI_EndAccessRegion(0);
  CHECK(event != GEX_EVENT_INVALID);
  gex_Event_WaitAll(&event, 1, 0);
  LOSS_EXPECT(to);
  LOSS_NONE();
}

/* Strided, with signals, with tags. */
static void check_other(gex_Rank_t to) {
  uint64_t data[8] = {0};
  size_t count[2] = {2, 2};
  ptrdiff_t stride[2] = {8, 16};
  char *const there = job.peer[to];
  CHECK_EQ(gex_VIS_StridedPutBlocking(job.tm, to, there, stride, data, stride, 8, count, 2, 0),
           GEXX_ERR_LOST);
  LOSS_EXPECT(to);
  gex_Event_Wait(gex_VIS_StridedGetNB(job.tm, data, stride, to, there, stride, 8, count, 2, 0));
  LOSS_EXPECT(to);
  CHECK_EQ(gexx_RMA_PutSignalBlocking(job.tm, to, there, data, sizeof data, GEX_EVENT_NOW,
                                      (uint64_t *)(void *)(there + 4096), GEXX_SIG_ADD, 1, 0),
           GEXX_ERR_LOST);
  LOSS_EXPECT(to);
  gex_Event_Wait(gexx_RMA_GetSignalNB(job.tm, data, to, there, sizeof data,
                                      (uint64_t *)(void *)(there + 4096), GEXX_SIG_ADD, 1, 0));
  LOSS_EXPECT(to);
  CHECK_EQ(gexx_RMA_PutNotify(job.tm, to, there, data, sizeof data, 3, 0), GEXX_ERR_LOST);
  LOSS_EXPECT(to);
  gex_Event_Wait(gexx_RMA_PutNotifyNB(job.tm, to, there, data, sizeof data, GEX_EVENT_NOW, 3, 0));
  LOSS_EXPECT(to);
  LOSS_NONE();
}

static void known(void) {
  char buf[64];
  if (is_victim()) loss_die(loss_how);
  loss_await(loss_victim, 0);
  check_rma(loss_victim);
  check_other(loss_victim);
  const gex_Rank_t next = next_alive();
  pattern_fill(buf, sizeof buf, job.rank);
  CHECK_EQ(gex_RMA_PutBlocking(job.tm, next, job.peer[next] + 64, buf, sizeof buf, 0), 0);
  loss_meet();
  CHECK_EQ(gex_RMA_GetBlocking(job.tm, buf, next, job.peer[next] + 64, sizeof buf, 0), 0);
  CHECK_BYTES(buf, sizeof buf, job.rank);
  LOSS_NONE();
  loss_meet();
}

/* Returns when the victim makes no more calls: it tells one of the others, which tells them. */
static void await_quiet(void) {
  const gex_Rank_t herald = loss_victim == 0 ? 1 : 0;
  gexx_Notify_t notified;
  gexx_Notify_Status_t status;
  if (is_victim()) {
    CHECK_EQ(gexx_RMA_PutNotify(job.tm, herald, NULL, NULL, 0, 11, 0), 0);
    return;
  }
  const gex_Rank_t from = job.rank == herald ? loss_victim : herald;
  REQUIRE(gexx_Notify_Init(job.tm, from, 11, 1, &notified) == GASNET_OK);
  gexx_Notify_Start(notified);
  gexx_Notify_Wait(notified, &status);
  gexx_Notify_Free(notified);
  for (gex_Rank_t r = 0; job.rank == herald && r < job.size; r++)
    if (r != herald && r != loss_victim)
      CHECK_EQ(gexx_RMA_PutNotify(job.tm, r, NULL, NULL, 0, 11, 0), 0);
}

/* The victim hears nothing any more, operations towards it pile up, then it dies. */
static void pending(void) {
  enum { EVENTS = 40, BYTES = 3000 };
  static char data[EVENTS][BYTES];
  gex_Event_t event[EVENTS];
  await_quiet();
  if (is_victim()) {
    sleep_ms(400);
    loss_die(loss_how);
  }
  size_t count[1] = {20};
  ptrdiff_t stride[1] = {100};
  char *const there = job.peer[loss_victim];
  for (int i = 0; i < EVENTS; i++) {
    char *const at = there + (size_t)i * BYTES;
    if (i % 4 == 0)
      event[i] = gex_RMA_PutNB(job.tm, loss_victim, at, data[i], BYTES, GEX_EVENT_NOW, 0);
    else if (i % 4 == 1)
      event[i] = gex_RMA_GetNB(job.tm, data[i], loss_victim, at, BYTES, 0);
    else if (i % 4 == 2)
      event[i] =
          gex_VIS_StridedGetNB(job.tm, data[i], stride, loss_victim, at, stride, 50, count, 1, 0);
    else
      event[i] = gexx_RMA_PutSignalNB(job.tm, loss_victim, at, data[i], BYTES - 8, GEX_EVENT_NOW,
                                      (uint64_t *)(void *)(there + 500000), GEXX_SIG_ADD, 1, 0);
    CHECK_EQ(gex_RMA_PutNBI(job.tm, loss_victim, at, data[i], 8, GEX_EVENT_NOW, 0), 0);
  }
  gex_Event_WaitAll(event, EVENTS, 0);
  gex_NBI_Wait(GEX_EC_ALL, 0);
  if (!job.mapped) LOSS_EXPECT(loss_victim);
  loss_await(loss_victim, 0);
}

/* ---- notification */

/* Credit towards the victim is used up: the sender waits for credit that never comes. */
static void credits(void) {
  if (is_victim()) {
    sleep_ms(300);
    loss_die(loss_how);
  }
  gexx_Notify_Stats_t stats;
  gexx_Notify_QueryStats(&stats);
  int lost = 0;
  for (uint64_t i = 0; i < stats.gexx_credits + 10; i++)
    lost += gexx_RMA_PutNotify(job.tm, loss_victim, NULL, NULL, 0, 9, 0) == GEXX_ERR_LOST;
  CHECK_CMP(lost, >=, 10);
  LOSS_EXPECT(loss_victim);
  loss_await(loss_victim, 0);
}

/* A request that names the victim ends; what it had sent before is matched. */
static void notify(void) {
  gexx_Notify_t named, any, later;
  gexx_Notify_Status_t status;
  if (is_victim()) {
    for (gex_Rank_t r = 0; r < job.size; r++)
      if (r != job.rank) CHECK_EQ(gexx_RMA_PutNotify(job.tm, r, NULL, NULL, 0, 1, 0), 0);
    loss_die(loss_how);
  }
  REQUIRE(gexx_Notify_Init(job.tm, loss_victim, GEXX_NOTIFY_ANY_TAG, 2, &named) == GASNET_OK);
  REQUIRE(gexx_Notify_Init(job.tm, GEXX_NOTIFY_ANY_SOURCE, 5, 1, &any) == GASNET_OK);
  REQUIRE(gexx_Notify_Init(job.tm, loss_victim, 2, 1, &later) == GASNET_OK);
  gexx_Notify_Start(named);
  gexx_Notify_Start(any);
  gexx_Notify_Wait(named, &status);
  LOSS_EXPECT(loss_victim);
  CHECK_EQ(status.gexx_tag, 1);
  loss_await(loss_victim, 0);
  gexx_Notify_Start(later);
  CHECK_EQ(gexx_Notify_Test(later, NULL), GEXX_ERR_LOST);
  LOSS_EXPECT(loss_victim);
  CHECK_EQ(gexx_Notify_Test(any, NULL), GASNET_ERR_NOT_READY);
  CHECK_EQ(gexx_RMA_PutNotify(job.tm, job.rank, NULL, NULL, 0, 5, 0), 0);
  gexx_Notify_Wait(any, &status);
  CHECK_EQ(status.gexx_source, job.rank);
  LOSS_NONE();
}

/* ---- messages */

enum { SHORT_INDEX = 240, DATA_INDEX, REPLY_INDEX };
static volatile uint64_t got[LOSS_RANKS_MAX], bytes_got[LOSS_RANKS_MAX], replies;

static void on_short(gex_Token_t token, gex_AM_Arg_t reply) {
  got[job_source(token)]++;
  if (reply) gex_AM_ReplyShort0(token, REPLY_INDEX, 0);
}

static void on_data(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t reply) {
  const gex_Rank_t from = job_source(token);
  CHECK_BYTES(buf, nbytes, nbytes + from);
  got[from]++;
  bytes_got[from] += nbytes;
  if (reply) gex_AM_ReplyShort0(token, REPLY_INDEX, 0);
}

static void on_reply(gex_Token_t token) {
  (void)token;
  replies++;
}

/* Payload of message i; sizes inside a record, of several slots, and in a buffer. */
static size_t size_of(uint64_t i) {
  return i % 4 == 1 ? 40 : i % 4 == 2 ? 1500 : 30000;
}

static int all_arrived(void *arg) {
  for (gex_Rank_t r = 0; r < job.size; r++)
    if (r != job.rank && r != loss_victim && got[r] < *(uint64_t *)arg) return 0;
  return 1;
}

/* Everybody sends to everybody; the victim dies in the middle of sending, over and over in the
 * tests' repetitions at another place. */
static void flood(void) {
  static char data[3][30000];
  const uint64_t count = 400;
  uint64_t seed = test_seed() + job.rank;
  for (uint64_t k = 1; k < 4; k++) pattern_fill(data[k - 1], size_of(k), size_of(k) + job.rank);
  if (is_victim()) loss_die_soon(loss_how, (unsigned)rng_below(&seed, 20000));
  for (uint64_t i = 0; i < count || is_victim(); i++)
    for (gex_Rank_t r = 0; r < job.size; r++) {
      if (r == job.rank) continue;
      if (i % 4 == 0)
        (void)gex_AM_RequestShort1(job.tm, r, SHORT_INDEX, 0, (int)(i % 8));
      else
        (void)gex_AM_RequestMedium1(job.tm, r, DATA_INDEX, data[i % 4 - 1], size_of(i),
                                    GEX_EVENT_NOW, 0, (int)(i % 8));
    }
  uint64_t want = count;
  CHECK(loss_until(all_arrived, &want));
  loss_await(loss_victim, 1);
  (void)gexx_Lost_Take(NULL);
  for (gex_Rank_t r = 0; r < job.size; r++)
    if (r != job.rank && r != loss_victim) CHECK_EQ(got[r], count);
  loss_meet();
  for (int i = 0; i < 2000; i++) { /* rings of everybody work: more than they have slots */
    const gex_Rank_t next = next_alive();
    if (next != job.rank)
      CHECK_EQ(gex_AM_RequestMedium1(job.tm, next, DATA_INDEX, data[i % 2], size_of(1 + i % 2),
                                     GEX_EVENT_NOW, 0, 1),
               0);
  }
  loss_meet();
  LOSS_NONE();
}

/* The victim's request ring is full when it dies; senders wait for room. */
static void full(void) {
  static char data[60000];
  if (is_victim()) {
    sleep_ms(500);
    loss_die(loss_how);
  }
  pattern_fill(data, sizeof data, sizeof data + job.rank);
  for (int i = 0; i < 3000; i++) {
    (void)gex_AM_RequestShort1(job.tm, loss_victim, SHORT_INDEX, 0, 0);
    if (i % 20 == 0)
      (void)gex_AM_RequestMedium1(job.tm, loss_victim, DATA_INDEX, data, sizeof data, GEX_EVENT_NOW,
                                  0, 0);
  }
  LOSS_EXPECT(loss_victim);
  CHECK_CMP(gexx_Lost_QueryDropped(), >, 0);
  loss_await(loss_victim, 0);
  const uint64_t dropped = gexx_Lost_QueryDropped();
  CHECK_EQ(gex_AM_RequestShort1(job.tm, loss_victim, SHORT_INDEX, 0, 0), 0);
  CHECK_EQ(gexx_Lost_QueryDropped(), dropped + 1);
  LOSS_EXPECT(loss_victim);
  const gex_Rank_t next = next_alive();
  for (int i = 0; i < 100 && next != job.rank; i++) /* buffers that the victim held are back */
    CHECK_EQ(
        gex_AM_RequestMedium1(job.tm, next, DATA_INDEX, data, sizeof data, GEX_EVENT_NOW, 0, 0), 0);
  loss_meet();
  LOSS_NONE();
}

/* Handlers that reply to the victim find its reply ring full. */
static void reply(void) {
  if (is_victim()) {
    for (int i = 0; i < 100; i++)
      for (gex_Rank_t r = 0; r < job.size; r++)
        if (r != job.rank)
          for (int k = 0; k < 30; k++)
            if (gex_AM_RequestShort1(job.tm, r, SHORT_INDEX, GEX_FLAG_IMMEDIATE, 1)) sleep_ms(1);
    loss_die(loss_how);
  }
  loss_await(loss_victim, 0);
  CHECK_CMP(got[loss_victim], >, 0);
  loss_meet();
}

/* A prepared message for a lost peer; its buffer goes back. */
static void npam(void) {
  if (is_victim()) loss_die(loss_how);
  loss_await(loss_victim, 0);
  for (int i = 0; i < 200; i++) {
    gex_AM_SrcDesc_t sd =
        gex_AM_PrepareRequestMedium(job.tm, loss_victim, NULL, 100, 1000, NULL, 0, 1);
    memset(gex_AM_SrcDescAddr(sd), 1, 100);
    gex_AM_CommitRequestMedium1(sd, DATA_INDEX, 100, 0);
    LOSS_EXPECT(loss_victim);
  }
  LOSS_NONE();
}

/* ---- atomics */

static void atomics(void) {
  gex_AD_t ad;
  uint64_t before = 0;
  gex_AD_Create(&ad, job.tm, GEX_DT_U64, GEX_OP_FADD | GEX_OP_ADD | GEX_OP_GET, 0);
  await_quiet();
  if (is_victim()) {
    sleep_ms(300);
    loss_die(loss_how);
  }
  for (int i = 0; i < 50; i++)
    CHECK_EQ(gex_AD_OpNBI_U64(ad, NULL, loss_victim, job.peer[loss_victim], GEX_OP_ADD, 1, 0, 0),
             0);
  gex_NBI_Wait(GEX_EC_ALL, 0);
  if (!job.mapped) LOSS_EXPECT(loss_victim);
  loss_await(loss_victim, 0);
  gex_Event_Wait(
      gex_AD_OpNB_U64(ad, &before, loss_victim, job.peer[loss_victim], GEX_OP_FADD, 1, 0, 0));
  LOSS_EXPECT(loss_victim);
  if (job.mapped) CHECK_CMP(before, >=, 50);
  CHECK_EQ(gex_AD_OpNBI_U64(ad, NULL, loss_victim, job.peer[loss_victim], GEX_OP_ADD, 1, 0, 0), 0);
  gex_NBI_Wait(GEX_EC_ALL, 0);
  LOSS_EXPECT(loss_victim);
  const gex_Rank_t next = next_alive();
  for (int i = 0; i < 20; i++)
    gex_Event_Wait(gex_AD_OpNB_U64(ad, &before, next, job.peer[next] + 8, GEX_OP_FADD, 1, 0, 0));
  LOSS_NONE();
  loss_meet();
  gex_Event_Wait(gex_AD_OpNB_U64(ad, &before, job.rank, job.base + 8, GEX_OP_GET, 0, 0, 0));
  CHECK_EQ(before, 20);
  gex_AD_Destroy(ad);
}

/* ---- waits */

static void wake_up(gex_Rank_t jobrank, int state, void *cdata) {
  loss_reported[jobrank]++;
  loss_state[jobrank] = state;
  __atomic_store_n((uint64_t *)cdata, 1, __ATOMIC_RELEASE);
}

/* GASNET_BLOCKUNTIL whose condition the callback makes true; the waiter sleeps. */
static void blocked(void) {
  uint64_t flag = 0;
  if (is_victim()) {
    sleep_ms(300);
    loss_die(loss_how);
  }
  gexx_Job_SetFailureCallback(wake_up, &flag);
  GASNET_BLOCKUNTIL(__atomic_load_n(&flag, __ATOMIC_ACQUIRE));
  CHECK_EQ(loss_reported[loss_victim], 1);
  LOSS_NONE();
}

/* Wait for a signal that the victim should have changed. */
static void wait_signal(void) {
  uint64_t *const signal = (uint64_t *)(void *)(job.base + 64);
  if (is_victim()) {
    sleep_ms(300);
    loss_die(loss_how);
  }
  gexx_Job_SetFailureCallback(wake_up, signal);
  CHECK_EQ(gexx_Signal_Wait(signal, GEXX_SIG_NE, 0), 1);
  CHECK_EQ(loss_reported[loss_victim], 1);
}

/* The others leave one after the other; the last one sees all of them. */
static void end(void) {
  loss_apart = 1;
  for (gex_Rank_t r = job.size - 1; r > job.rank; r--) {
    loss_await(r, 1);
    CHECK_EQ(loss_state[r], GEXX_PEER_STOPPED);
  }
}

static const struct loss_scenario scenarios[] = {
    {"idle", idle},       {"asleep", asleep},   {"twice", twice},   {"known", known},
    {"pending", pending}, {"credits", credits}, {"notify", notify}, {"flood", flood},
    {"reply", reply},     {"full", full},       {"npam", npam},     {"amo", atomics},
    {"until", blocked},   {"sig", wait_signal}, {"end", end},       {"words", words}};

int main(int argc, char **argv) {
  gex_AM_Entry_t table[] = {
      {SHORT_INDEX, (gex_AM_Fn_t)on_short, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, "s"},
      {DATA_INDEX, (gex_AM_Fn_t)on_data, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1, NULL, "d"},
      {REPLY_INDEX, (gex_AM_Fn_t)on_reply, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, NULL, "r"}};
  loss_start(&argc, &argv, table, 3);
  REQUIRE(argc > 1 && job.size > 1);
  return loss_play(scenarios, sizeof scenarios / sizeof *scenarios, argc, argv);
}
