/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The paths, see paths.h.
 *
 * Owns: the buffers and counters of the paths. Called by: the counting programs. Calls: the public
 * API. A round: both ranks prepare, meet, rank 0 runs the path, both finish. Invariant: sizes and
 * counts are read from variables, so that they are not known to the compiler, except the 8 bytes of
 * a scalar put.
 */
#include "lib/paths.h"

#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex_ext.h>
#include <stdio.h>

#ifdef __clang__ /* it makes no clones */
# define WHOLE __attribute__((noinline))
#else
# define WHOLE __attribute__((noinline, noclone))
#endif
#define DATA_BYTES ((size_t)1 << 20) /* of the segments */
#define COUNTED    WHOLE static void

enum { ROUNDS = 16, MOST = 16 };
enum { H_ASK = 200, H_ASK_BYTES, H_ASK_LONG, H_ANSWER };
enum { SIGNAL_AT = 16384 }; /* offset in the segment */

static volatile uint64_t asked, answered;
static uint64_t asked_before, answered_before;
static gex_Event_t event;
static volatile size_t word = 8, small = 64, large = 1024, few = 16;
static volatile gex_RMA_Value_t got;
static char local[1 << 16];
static gex_Memvec_t far_vec[MOST], near_vec[MOST];
static void *far_addr[MOST], *near_addr[MOST];
static gex_HSL_t lock = GEX_HSL_INITIALIZER;
static int64_t mine = 1, sum;
static gex_AD_t domain;

static void on_ask(gex_Token_t token) {
  asked++;
  gex_AM_ReplyShort(token, H_ANSWER, 0);
}

static void on_ask_bytes(gex_Token_t token, void *buffer, size_t bytes) {
  (void)token, (void)buffer, (void)bytes;
  asked++;
}

static void on_answer(gex_Token_t token) {
  (void)token;
  answered++;
}

/* ---- the counted paths */

COUNTED path_poll(struct bench *b) {
  (void)b;
  gasnet_AMPoll();
}

COUNTED path_put_8(struct bench *b) {
  gex_RMA_PutBlocking(b->tm, b->peer, b->theirs_at, local, 8, 0);
}

COUNTED path_get_8(struct bench *b) {
  gex_RMA_GetBlocking(b->tm, local, b->peer, b->theirs_at, 8, 0);
}

COUNTED path_put_word(struct bench *b) {
  gex_RMA_PutBlocking(b->tm, b->peer, b->theirs_at, local, word, 0);
}

COUNTED path_put_val(struct bench *b) {
  gex_RMA_PutBlockingVal(b->tm, b->peer, b->theirs_at, got, word, 0);
}

COUNTED path_get_val(struct bench *b) {
  got = gex_RMA_GetBlockingVal(b->tm, b->peer, b->theirs_at, word, 0);
}

COUNTED path_put_1k(struct bench *b) {
  gex_RMA_PutBlocking(b->tm, b->peer, b->theirs_at, local, large, 0);
}

COUNTED path_get_1k(struct bench *b) {
  gex_RMA_GetBlocking(b->tm, local, b->peer, b->theirs_at, large, 0);
}

COUNTED path_put_nb(struct bench *b) {
  gex_Event_Wait(gex_RMA_PutNB(b->tm, b->peer, b->theirs_at, local, small, GEX_EVENT_DEFER, 0));
}

COUNTED path_put_signal(struct bench *b) {
  gexx_RMA_PutSignalBlocking(b->tm, b->peer, b->theirs_at, local, small, GEX_EVENT_NOW,
                             (uint64_t *)(void *)(b->theirs_at + SIGNAL_AT), GEXX_SIG_ADD, 1, 0);
}

COUNTED path_fetch_add(struct bench *b) {
  uint64_t before;
  gex_Event_Wait(gex_AD_OpNB_U64(domain, &before, b->peer, b->theirs_at, GEX_OP_FADD, 1, 0, 0));
}

COUNTED path_fetch_max(struct bench *b) {
  uint64_t before;
  gex_Event_Wait(gex_AD_OpNB_U64(domain, &before, b->peer, b->theirs_at, GEX_OP_FMAX, 0, 0, 0));
}

COUNTED path_vector_1(struct bench *b) {
  gex_VIS_VectorPutBlocking(b->tm, b->peer, 1, far_vec, 1, near_vec, 0);
}

COUNTED path_vector_16(struct bench *b) {
  gex_VIS_VectorPutBlocking(b->tm, b->peer, few, far_vec, few, near_vec, 0);
}

COUNTED path_vector_get(struct bench *b) {
  gex_VIS_VectorGetBlocking(b->tm, few, near_vec, b->peer, few, far_vec, 0);
}

COUNTED path_indexed_16(struct bench *b) {
  gex_VIS_IndexedPutBlocking(b->tm, b->peer, few, far_addr, small, few, near_addr, small, 0);
}

COUNTED path_strided_rows(struct bench *b) {
  const ptrdiff_t wide = 128, tight = 64;
  const size_t count = few;
  gex_VIS_StridedPutBlocking(b->tm, b->peer, b->theirs_at, &wide, local, &tight, small, &count, 1,
                             0);
}

COUNTED path_strided_whole(struct bench *b) {
  const ptrdiff_t stride[2] = {64, 8};
  const size_t count[2] = {few, 8};
  gex_VIS_StridedPutBlocking(b->tm, b->peer, b->theirs_at, stride, local, stride, 8, count, 2, 0);
}

COUNTED path_request(struct bench *b) {
  gex_AM_RequestShort(b->tm, b->peer, H_ASK, 0);
}

COUNTED path_request_medium(struct bench *b) {
  gex_AM_RequestMedium(b->tm, b->peer, H_ASK_BYTES, local, small, GEX_EVENT_NOW, 0);
}

COUNTED path_request_long(struct bench *b) {
  gex_AM_RequestLong(b->tm, b->peer, H_ASK_LONG, local, small, b->theirs_at, GEX_EVENT_NOW, 0);
}

COUNTED path_serve(struct bench *b) {
  (void)b;
  gasnet_AMPoll();
}

COUNTED path_take(struct bench *b) {
  (void)b;
  gasnet_AMPoll();
}

COUNTED path_barrier(struct bench *b) {
  gex_Coll_BarrierBlocking(b->tm, 0);
}

COUNTED path_all_reduce_8(struct bench *b) {
  gex_Event_Wait(
      gex_Coll_ReduceToAllNB(b->tm, &sum, &mine, GEX_DT_I64, 8, 1, GEX_OP_ADD, NULL, NULL, 0));
}

COUNTED path_lock(struct bench *b) {
  (void)b;
  gex_HSL_Lock(&lock);
  gex_HSL_Unlock(&lock);
}

/* ---- before and after */

static void nothing(struct bench *b) {
  (void)b;
}

static void remember(struct bench *b) {
  (void)b;
  asked_before = asked;
  answered_before = answered;
}

/* Rank 0 has asked: rank 1 runs the handler, and rank 0 takes the answer, if there is one. */
static void take_request(struct bench *b) {
  while (b->rank == 1 && asked == asked_before) gasnet_AMPoll();
  bench_meet(b);
  gasnet_AMPoll();
}

static void ask_rank_0(struct bench *b) {
  remember(b);
  if (b->rank == 1) gex_AM_RequestShort(b->tm, 0, H_ASK, 0);
}

static void take_answer(struct bench *b) {
  while (b->rank == 1 && answered == answered_before) gasnet_AMPoll();
}

/* The answer lies in rank 0's ring when this returns. */
static void ask_rank_1(struct bench *b) {
  remember(b);
  bench_meet(b); /* rank 1 has left the barrier before, which would have run the handler */
  if (b->rank == 0) gex_AM_RequestShort(b->tm, 1, H_ASK, 0);
  while (b->rank == 1 && asked == asked_before) gasnet_AMPoll();
}

static void begin_barrier(struct bench *b) {
  if (b->rank == 1) event = gex_Coll_BarrierNB(b->tm, 0);
}

static void begin_all_reduce(struct bench *b) {
  if (b->rank == 1)
    event = gex_Coll_ReduceToAllNB(b->tm, &sum, &mine, GEX_DT_I64, 8, 1, GEX_OP_ADD, NULL, NULL, 0);
}

static void end_event(struct bench *b) {
  if (b->rank == 1) gex_Event_Wait(event);
}

static const struct {
  const char *name;
  void (*before)(struct bench *b), (*path)(struct bench *b), (*after)(struct bench *b);
} paths[] = {
    {"poll that finds nothing", nothing, path_poll, nothing},
    {"put 8 B, blocking", nothing, path_put_8, nothing},
    {"get 8 B, blocking", nothing, path_get_8, nothing},
    {"put 8 B, blocking, size in a variable", nothing, path_put_word, nothing},
    {"get of a value of 8 B, size in a variable", nothing, path_get_val, nothing},
    {"put of a value of 8 B, size in a variable", nothing, path_put_val, nothing},
    {"put 1 KiB, blocking", nothing, path_put_1k, nothing},
    {"get 1 KiB, blocking", nothing, path_get_1k, nothing},
    {"put 64 B, non-blocking, and its wait", nothing, path_put_nb, nothing},
    {"put 64 B with signal, blocking", nothing, path_put_signal, nothing},
    {"fetch-and-add 8 B, and its wait", nothing, path_fetch_add, nothing},
    {"fetch-and-maximum 8 B that changes nothing, and its wait", nothing, path_fetch_max, nothing},
    {"vector put 1 x 64 B", nothing, path_vector_1, nothing},
    {"vector put 16 x 64 B", nothing, path_vector_16, nothing},
    {"vector get 16 x 64 B", nothing, path_vector_get, nothing},
    {"indexed put 16 x 64 B", nothing, path_indexed_16, nothing},
    {"strided put 16 rows of 64 B", nothing, path_strided_rows, nothing},
    {"strided put, contiguous", nothing, path_strided_whole, nothing},
    {"short request: send", remember, path_request, take_request},
    {"short request: poll that runs it and replies", ask_rank_0, path_serve, take_answer},
    {"short reply: poll that runs it", ask_rank_1, path_take, nothing},
    {"medium request 64 B: send", remember, path_request_medium, take_request},
    {"long request 64 B: send", remember, path_request_long, take_request},
    {"barrier", begin_barrier, path_barrier, end_event},
    {"all-reduce 8 B", begin_all_reduce, path_all_reduce_8, end_event},
    {"HSL lock and unlock", nothing, path_lock, nothing},
};

/* Write the counts and reset them. */
WHOLE void paths_end(void) {
  __asm__ volatile("" ::: "memory");
}

static void prepare(struct bench *b) {
  gex_AD_Create(&domain, b->tm, GEX_DT_U64, GEX_OP_FADD | GEX_OP_FMAX, 0);
  for (size_t i = 0; i < MOST; i++) {
    far_addr[i] = b->theirs_at + i * 192;
    near_addr[i] = local + i * 192;
    far_vec[i] = (gex_Memvec_t){far_addr[i], 64};
    near_vec[i] = (gex_Memvec_t){near_addr[i], 64};
  }
}

static void run(struct bench *b) {
  prepare(b);
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    for (int round = -ROUNDS; round < ROUNDS; round++) { /* the first half warms up */
      if (round == 0) paths_end();
      paths[i].before(b);
      bench_meet(b);
      if (b->rank == 0) paths[i].path(b);
      paths[i].after(b);
      bench_meet(b);
    }
    paths_end();
    if (b->rank == 0) printf("path %d %s\n", ROUNDS, paths[i].name);
    bench_barrier(b);
  }
  gex_AD_Destroy(domain);
}

_Noreturn void paths_main(const char *name, int argc, char **argv) {
  static struct bench b;
  static gex_AM_Entry_t table[] = {
      {H_ASK, (gex_AM_Fn_t)on_ask, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "ask"},
      {H_ASK_BYTES, (gex_AM_Fn_t)on_ask_bytes, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL,
       "ask_bytes"},
      {H_ASK_LONG, (gex_AM_Fn_t)on_ask_bytes, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 0, NULL,
       "ask_long"},
      {H_ANSWER, (gex_AM_Fn_t)on_answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, NULL, "answer"}};
  bench_start(&b, name, &argc, &argv);
  bench_attach(&b, table, sizeof table / sizeof *table, DATA_BYTES);
  if (b.rank < 2) run(&b);
  bench_finish(&b);
}
