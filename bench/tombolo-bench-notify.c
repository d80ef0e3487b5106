/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures notified access between ranks 0 and 1, in one direction: half of a ping-pong.
 *
 * Owns: the notify rows. Called by: `tombolo bench notify`. Calls: bench/lib, the public API.
 * Floor of the first rows: the round trip of a cache-line hand-off, so that half of it would be a
 * ratio of 0.5. put_signal/message: a put with a signal, beside a put that a Short message
 * announces. The waiter uses gexx_Signal_Wait, or GASNET_BLOCKUNTIL for messages, and then reads
 * the first word of the data in all cases. Signal and data lie side by side, as a program would
 * have them.
 */
#include "lib/bench.h"
#include "lib/floors.h"

#include <gasnetex_ext.h>
#include <string.h>

enum { H_ANNOUNCE = 200, SIGNAL_AT = 4096, DATA_AT = SIGNAL_AT + 8 };

/* Ranges for WaitSome: many signals, and few behind them. */
enum { MANY = 1000000, FEW = 16, MANY_AT = 1 << 20, FEW_AT = MANY_AT + MANY * 8 + 4096 };

static volatile uint64_t announced; /* messages so far */
static volatile uint64_t sink;      /* keeps the read of received data */
static uint64_t turns;              /* ping-pongs so far, equal on both ranks */
static gexx_Sem_t sem;
static gexx_Sem_Handle_t peer_sem;
static gexx_Notify_t request;

static void on_announce(gex_Token_t token) {
  (void)token;
  announced++;
}

/* Announce turn `turn` to the peer; wait for it to come. */
typedef void send_fn(struct bench *b, uint64_t turn, size_t bytes);
typedef void wait_fn(struct bench *b, uint64_t turn);

static void send_signal(struct bench *b, uint64_t turn, size_t bytes) {
  gexx_RMA_PutSignalBlocking(b->tm, b->peer, b->theirs_at + DATA_AT, floor_private(b), bytes,
                             GEX_EVENT_NOW, (uint64_t *)(void *)(b->theirs_at + SIGNAL_AT),
                             GEXX_SIG_SET, turn, 0);
}

static void send_signal_add(struct bench *b, uint64_t turn, size_t bytes) {
  (void)turn;
  gexx_RMA_PutSignalBlocking(b->tm, b->peer, b->theirs_at + DATA_AT, floor_private(b), bytes,
                             GEX_EVENT_NOW, (uint64_t *)(void *)(b->theirs_at + SIGNAL_AT),
                             GEXX_SIG_ADD, 1, 0);
}

static void wait_signal(struct bench *b, uint64_t turn) {
  (void)gexx_Signal_Wait((uint64_t *)(void *)(b->mine + SIGNAL_AT), GEXX_SIG_EQ, turn);
}

static void send_message(struct bench *b, uint64_t turn, size_t bytes) {
  (void)turn;
  gex_RMA_PutBlocking(b->tm, b->peer, b->theirs_at + DATA_AT, floor_private(b), bytes, 0);
  gex_AM_RequestShort(b->tm, b->peer, H_ANNOUNCE, 0);
}

static void wait_message(struct bench *b, uint64_t turn) {
  (void)b;
  GASNET_BLOCKUNTIL(announced >= turn);
}

static void send_sem(struct bench *b, uint64_t turn, size_t bytes) {
  (void)turn;
  gexx_Sem_PutSignal(peer_sem, b->theirs_at + DATA_AT, floor_private(b), bytes, 1);
}

static void wait_sem(struct bench *b, uint64_t turn) {
  (void)b, (void)turn;
  gexx_Sem_Wait(sem);
}

/* Signal of a range that changes in a turn: 16 of them in no order, at equal distances, so that as
 * many cache lines change hands whatever the range; or any. */
static size_t spread(uint64_t turn, size_t count) {
  return (turn * UINT64_C(0x9e3779b97f4a7c15) >> 60) * (count / FEW);
}
static size_t anywhere(uint64_t turn, size_t count) {
  return (turn * UINT64_C(0x9e3779b97f4a7c15) >> 32) * count >> 32;
}

static void send_some(struct bench *b, uint64_t turn, size_t range_at, size_t index) {
  uint64_t *const sigs = (uint64_t *)(void *)(b->theirs_at + range_at);
  gexx_RMA_PutSignalBlocking(b->tm, b->peer, b->theirs_at + DATA_AT, floor_private(b), 8,
                             GEX_EVENT_NOW, sigs + index, GEXX_SIG_SET, turn, 0);
}

static void wait_some(struct bench *b, uint64_t turn, size_t range_at, size_t want) {
  uint64_t *const sigs = (uint64_t *)(void *)(b->mine + range_at);
  const size_t count = range_at == MANY_AT ? MANY : FEW;
  size_t index = 0;
  if (gexx_Signal_WaitSome(sigs, count, sizeof *sigs, &index) != turn || index != want)
    bench_fail(b, "WaitSome found signal %zu of %zu, but turn %llu has signalled %zu", index, count,
               (unsigned long long)turn, want);
  (void)gexx_Signal_Reset(sigs + index);
}

/* Announce and wait by a signal of the range at AT, which CHOICE takes among COUNT. */
#define SOME(NAME, AT, CHOICE, COUNT)                                    \
 static void send_##NAME(struct bench *b, uint64_t turn, size_t bytes) { \
  (void)bytes;                                                           \
  send_some(b, turn, AT, CHOICE(turn, COUNT));                           \
 }                                                                       \
 static void wait_##NAME(struct bench *b, uint64_t turn) {               \
  wait_some(b, turn, AT, CHOICE(turn, COUNT));                           \
 }
SOME(many, MANY_AT, spread, MANY)
SOME(any, MANY_AT, anywhere, MANY)
SOME(few, FEW_AT, spread, FEW)

static void send_tagged(struct bench *b, uint64_t turn, size_t bytes) {
  gexx_RMA_PutNotify(b->tm, b->peer, b->theirs_at + DATA_AT, floor_private(b), bytes,
                     (uint32_t)turn & 0xff, 0);
}

static void wait_tagged(struct bench *b, uint64_t turn) {
  (void)b, (void)turn;
  gexx_Notify_Start(request);
  gexx_Notify_Wait(request, NULL);
}

/* Wait for the turn, and read the data. */
static void take(struct bench *b, wait_fn *wait) {
  wait(b, turns);
  sink = *(const uint64_t *)(const void *)(b->mine + DATA_AT);
}

/* n ping-pongs; ns of one direction. */
static double ping_pong(struct bench *b, size_t n, size_t bytes, send_fn *send, wait_fn *wait) {
  uint64_t start = 0;
  for (size_t i = 0; i < n + BENCH_WARM_OPS; i++) {
    if (i == BENCH_WARM_OPS) start = bench_now_ns();
    turns++;
    if (b->rank == 1) take(b, wait);
    send(b, turns, bytes);
    if (b->rank == 0) take(b, wait);
  }
  return (double)(bench_now_ns() - start) / (double)n / 2;
}

/* Set the counters of all methods to the number of turns. */
static void level(struct bench *b) {
  *(volatile uint64_t *)(void *)(b->mine + SIGNAL_AT) = turns;
  announced = turns;
  bench_meet(b);
}

/* A measurement: ping-pongs by one method of announcing and one of waiting. */
#define METHOD(NAME, SEND, WAIT)                               \
 static double NAME(struct bench *b, size_t n, size_t bytes) { \
  level(b);                                                    \
  return ping_pong(b, n, bytes, SEND, WAIT);                   \
 }
METHOD(put_signal, send_signal, wait_signal)
METHOD(put_signal_add, send_signal_add, wait_signal)
METHOD(put_message, send_message, wait_message)
METHOD(sem_put, send_sem, wait_sem)
METHOD(put_notify, send_tagged, wait_tagged)
METHOD(some_of_many, send_many, wait_many)
METHOD(any_of_many, send_any, wait_any)
METHOD(some_of_few, send_few, wait_few)

static void set_up(struct bench *b) {
  if (gexx_Sem_Alloc(&sem, GEXX_SEM_INTEGER | GEXX_SEM_SPRODUCER | GEXX_SEM_SCONSUMER) != GASNET_OK)
    bench_fail(b, "no semaphore");
  if (gexx_Notify_Init(b->tm, GEXX_NOTIFY_ANY_SOURCE, GEXX_NOTIFY_ANY_TAG, 1, &request) !=
      GASNET_OK)
    bench_fail(b, "no request");
  memset(b->mine + MANY_AT, 0, FEW_AT - MANY_AT + FEW * sizeof(uint64_t));
  *(gexx_Sem_Handle_t *)(void *)(b->mine + DATA_AT) = gexx_Sem_QueryHandle(sem);
  bench_barrier(b);
  if (b->rank < 2)
    gex_RMA_GetBlocking(b->tm, &peer_sem, b->peer, b->theirs_at + DATA_AT, sizeof peer_sem, 0);
  bench_barrier(b);
}

int main(int argc, char **argv) {
  static struct bench b;
  gex_AM_Entry_t table[] = {{H_ANNOUNCE, (gex_AM_Fn_t)on_announce,
                             GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0, NULL, "announce"}};
  bench_start(&b, "notify", &argc, &argv);
  bench_attach(&b, table, 1, FLOOR_COLD_BYTES);
  set_up(&b);
  const struct bench_row rows[] = {
      {"notify", "put_signal", "handoff_rtt", put_signal, floor_handoff, .bytes = 8,
       .target = 0.65},
      {"notify", "put_signal", "put+message", put_signal, put_message, .bytes = 8, .target = 0.6},
      {"notify", "put_signal_add", "handoff_rtt", put_signal_add, floor_handoff, .bytes = 8},
      {"notify", "put_message", "handoff_rtt", put_message, floor_handoff, .bytes = 8},
      {"notify", "sem_put", "handoff_rtt", sem_put, floor_handoff, .bytes = 8},
      {"notify", "put_notify", "handoff_rtt", put_notify, floor_handoff, .bytes = 8},
      {"notify", "wait_some_1e6", "wait_some_16", some_of_many, some_of_few, .bytes = 8,
       .target = 2},
      {"notify", "wait_some_16", "handoff_rtt", some_of_few, floor_handoff, .bytes = 8},
      {"notify", "wait_any_1e6", "wait_some_16", any_of_many, some_of_few, .bytes = 8},
      {"notify", "put_signal", "put+message", put_signal, put_message, .bytes = 4096},
      {"notify", "put_signal", "put+message", put_signal, put_message, .bytes = 65536},
  };
  const size_t count = b.opts.quick ? 2 : sizeof rows / sizeof *rows;
  for (size_t i = 0; i < count; i++) bench_measure(&b, &rows[i]);
  bench_finish(&b);
}
