/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 16 */
/* again: TOMBOLO_TEST_SHM=0 */
/* again: TOMBOLO_TEST_SHM_MAP=0 */
/* debug: both */
/* timeout: 120 */
/*
 * API 01.5, 02, 03.3: messages between further endpoints: each has its own handler table, a reply
 * goes to the endpoint that asked, the token names the receiving one; Long payload into created
 * segments, by offset, and into memory outside every segment, as request, as reply and prepared.
 */
#include "job.h"

enum { EPS = 3, BYTES = 1 << 18, INDEX = 200, REPLY_INDEX = 201 };
enum { SHORT, MEDIUM, LONG };

static gex_EP_t ep[EPS]; /* by index; 0 is the primordial one */
static char *base[EPS];
static char **peer_base[EPS];
static char **peer_outside; /* [size] memory in no segment */
static int answers;
static size_t answered_bytes;

/* ---- handlers: one function per endpoint, so that a wrong table is noticed */

static void check_token(gex_Token_t token, int want_ep, int is_req, int is_long) {
  gex_Token_Info_t info;
  CHECK_EQ(gex_Token_Info(token, &info, GEX_TI_ALL) & GEX_TI_EP, GEX_TI_EP);
  CHECK_PTR(info.gex_ep, ep[want_ep]);
  CHECK_EQ(info.gex_is_req, is_req);
  CHECK_EQ(info.gex_is_long, is_long);
  CHECK_EQ(info.gex_entry->gex_index, is_req ? INDEX : REPLY_INDEX);
  CHECK_EQ((intptr_t)info.gex_entry->gex_cdata, want_ep);
}

/* Arguments: seed; kind of the reply; where the reply's payload goes, in two halves. */
struct asked {
  gex_AM_Arg_t seed, kind, lo, hi;
};

static void serve(int here, gex_Token_t token, void *buf, size_t nbytes, const struct asked *a) {
  const gex_AM_Arg_t seed = a->seed, kind = a->kind;
  char out[3000];
  void *const dest =
      (void *)(uintptr_t)((uint64_t)(uint32_t)a->hi << 32 | (uint64_t)(uint32_t)a->lo);
  check_token(token, here, 1, kind == LONG);
  CHECK_BYTES(buf, nbytes, (uint64_t)seed);
  const size_t n = nbytes < sizeof out ? nbytes : sizeof out;
  pattern_fill(out, n, (uint64_t)seed + 1);
  if (kind == LONG)
    CHECK_EQ(gex_AM_ReplyLong1(token, REPLY_INDEX, out, n, dest, GEX_EVENT_NOW,
                               dest ? GEX_FLAG_PEER_SEG_UNKNOWN : GEX_FLAG_PEER_SEG_OFFSET, seed),
             0);
  else
    CHECK_EQ(gex_AM_ReplyMedium1(token, REPLY_INDEX, out, n, GEX_EVENT_NOW, 0, seed), 0);
}

static void answered(int here, gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_IS_LONG);
  check_token(token, here, 0, info.gex_is_long);
  CHECK_BYTES(buf, nbytes, (uint64_t)seed + 1);
  answered_bytes = nbytes;
  answers++;
}

#define HANDLERS(i)                                                                     \
 static void serve##i(gex_Token_t t, void *b, size_t n, gex_AM_Arg_t s, gex_AM_Arg_t k, \
                      gex_AM_Arg_t lo, gex_AM_Arg_t hi) {                               \
  const struct asked a = {s, k, lo, hi};                                                \
  serve(i, t, b, n, &a);                                                                \
 }                                                                                      \
 static void answered##i(gex_Token_t t, void *b, size_t n, gex_AM_Arg_t s) {            \
  answered(i, t, b, n, s);                                                              \
 }
HANDLERS(0)
HANDLERS(1)
HANDLERS(2)

static void register_on(int i, gex_AM_Fn_t serve_fn, gex_AM_Fn_t answered_fn) {
  const void *const tag = (void *)(intptr_t)i;
  gex_AM_Entry_t table[] = {
      {INDEX, serve_fn, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 4, tag, "serve"},
      {REPLY_INDEX, answered_fn, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 1, tag, "answered"}};
  REQUIRE(gex_EP_RegisterHandlers(ep[i], table, 2) == GASNET_OK);
}

static void make_endpoints(void) {
  ep[0] = job.ep;
  base[0] = job.base;
  for (int i = 1; i < EPS; i++) base[i] = job_endpoint(&ep[i], BYTES);
  register_on(0, (gex_AM_Fn_t)serve0, (gex_AM_Fn_t)answered0);
  register_on(1, (gex_AM_Fn_t)serve1, (gex_AM_Fn_t)answered1);
  register_on(2, (gex_AM_Fn_t)serve2, (gex_AM_Fn_t)answered2);
  REQUIRE(gex_EP_PublishBoundSegment(job.tm, ep + 1, EPS - 1, 0) == GASNET_OK);
  for (int i = 0; i < EPS; i++) {
    peer_base[i] = (char **)calloc(job.size, sizeof(char *));
    REQUIRE(peer_base[i] != NULL);
    for (gex_Rank_t r = 0; r < job.size; r++) {
      void *owner = NULL;
      const gex_TM_t pair = gex_TM_Pair(ep[0], (gex_EP_Index_t)i);
      REQUIRE(gex_Segment_QueryBound(pair, r, &owner, NULL, NULL) == 0);
      peer_base[i][r] = (char *)owner;
    }
  }
}

/* Each rank writes the address of its memory outside segments to the first word of every segment.
 */
static void exchange_outside(void) {
  char *const mine = (char *)malloc((size_t)job.size * BYTES);
  REQUIRE(mine != NULL);
  peer_outside = (char **)calloc(job.size, sizeof(char *));
  REQUIRE(peer_outside != NULL);
  for (gex_Rank_t r = 0; r < job.size; r++)
    CHECK_EQ(gex_RMA_PutBlocking(job.tm, r, job.peer[r] + 8 * job.rank, &mine, sizeof mine, 0), 0);
  job_barrier();
  memcpy(peer_outside, job.base, job.size * sizeof(char *));
  job_barrier();
}

static void await_answer(int count, size_t nbytes) {
  GASNET_BLOCKUNTIL(answers >= count);
  CHECK_EQ(answers, count);
  CHECK_EQ(answered_bytes, nbytes < 3000 ? nbytes : 3000);
}

/* ---- one message of each kind over (tm, rank), whose endpoint is `to`; answers come to ep of tm
 */

struct target {
  gex_TM_t tm;
  gex_Rank_t rank, jobrank;
  int from, to; /* endpoint indices */
};

static char payload[BYTES];

/* Only payloads of up to 4096 bytes go to shared places, each to the slot of its sender: 63 ranks
 * have slots of their own. */
static size_t slot(void) {
  return 4096 * (1 + (size_t)job.rank % (BYTES / 4096 - 1));
}

static void check_target(const struct target *t, size_t n, gex_AM_Arg_t seed) {
  const uint64_t to_reply = (uint64_t)(uintptr_t)(peer_outside[job.rank] + slot());
  const gex_AM_Arg_t lo = (gex_AM_Arg_t)(uint32_t)to_reply,
                     hi = (gex_AM_Arg_t)(uint32_t)(to_reply >> 32);
  char *const seg = peer_base[t->to][t->jobrank] + slot();
  char *const out = peer_outside[t->jobrank] + (size_t)job.rank * BYTES;
  answers = 0;
  pattern_fill(payload, n, (uint64_t)seed);
  CHECK_EQ(gex_AM_RequestMedium4(t->tm, t->rank, INDEX, payload, n, GEX_EVENT_NOW, 0, seed, MEDIUM,
                                 0, 0),
           0);
  await_answer(1, n);
  CHECK_EQ(gex_AM_RequestLong4(t->tm, t->rank, INDEX, payload, n, seg, GEX_EVENT_NOW, 0, seed, LONG,
                               lo, hi),
           0);
  await_answer(2, n);
  CHECK_EQ(gex_AM_RequestLong4(t->tm, t->rank, INDEX, payload, n, (void *)slot(), GEX_EVENT_NOW,
                               GEX_FLAG_PEER_SEG_OFFSET, seed, LONG, lo, hi),
           0);
  await_answer(3, n);
  CHECK_EQ(gex_AM_RequestLong4(t->tm, t->rank, INDEX, payload, n, out, GEX_EVENT_NOW,
                               GEX_FLAG_PEER_SEG_UNKNOWN, seed, LONG, lo, hi),
           0);
  await_answer(4, n);
  CHECK_EQ(gex_AM_RequestLong4(t->tm, t->rank, INDEX, payload, n, seg, GEX_EVENT_NOW,
                               GEX_FLAG_PEER_SEG_SOME, seed, LONG, 0, 0),
           0); /* the reply lands at offset 0 of the bound segment of `from` */
  await_answer(5, n);
  CHECK_BYTES(base[t->from], n < 3000 ? n : 3000, (uint64_t)seed + 1);
}

static void check_prepared(const struct target *t, gex_AM_Arg_t seed) {
  answers = 0;
  gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(t->tm, t->rank, NULL, 100, 100, NULL, 0, 4);
  pattern_fill(gex_AM_SrcDescAddr(sd), 100, (uint64_t)seed);
  gex_AM_CommitRequestMedium4(sd, INDEX, 100, seed, MEDIUM, 0, 0);
  await_answer(1, 100);
  sd = gex_AM_PrepareRequestLong(t->tm, t->rank, NULL, 100, 100, (void *)slot(), NULL,
                                 GEX_FLAG_PEER_SEG_OFFSET, 4);
  pattern_fill(gex_AM_SrcDescAddr(sd), 100, (uint64_t)seed);
  gex_AM_CommitRequestLong4(sd, INDEX, 100, (void *)slot(), seed, LONG, 0, 0);
  await_answer(2, 100);
  pattern_fill(payload, 5000, (uint64_t)seed);
  sd = gex_AM_PrepareRequestLong(t->tm, t->rank, payload, 5000, 5000, NULL, GEX_EVENT_NOW,
                                 GEX_FLAG_PEER_SEG_UNKNOWN, 4);
  gex_AM_CommitRequestLong4(sd, INDEX, gex_AM_SrcDescSize(sd),
                            peer_outside[t->jobrank] + (size_t)job.rank * BYTES, seed, LONG, 0, 0);
  await_answer(3, 5000);
}

static void check_pairs(void) {
  for (gex_Rank_t r = 0; r < job.size; r++)
    for (int from = 0; from < EPS; from++)
      for (int to = 0; to < EPS; to++) {
        const struct target t = {gex_TM_Pair(ep[from], (gex_EP_Index_t)to), r, r, from, to};
        check_target(&t, 1 + (r * 311u + (unsigned)(from * EPS + to) * 900u) % 4000,
                     (gex_AM_Arg_t)(job.rank * 100 + (unsigned)from));
        check_prepared(&t, 77);
      }
  job_barrier();
}

/* Large Long payload into memory of a created segment and outside: in several messages. */
static void check_large(void) {
  const gex_Rank_t next = (job.rank + 1) % job.size;
  const gex_TM_t pair = gex_TM_Pair(ep[1], 2);
  answers = 0;
  pattern_fill(payload, BYTES, 9);
  CHECK_EQ(gex_AM_RequestLong4(pair, next, INDEX, payload, BYTES, peer_base[2][next], GEX_EVENT_NOW,
                               0, 9, LONG, 0, 0),
           0);
  await_answer(1, BYTES);
  CHECK_EQ(gex_AM_RequestLong4(pair, next, INDEX, payload, BYTES,
                               peer_outside[next] + (size_t)job.rank * BYTES, GEX_EVENT_NOW,
                               GEX_FLAG_PEER_SEG_UNKNOWN, 9, LONG, 0, 0),
           0);
  await_answer(2, BYTES);
  job_barrier();
}

/* Immediate messages, tried until one is accepted; none is delivered twice or in part. */
static void check_immediate(void) {
  const gex_Rank_t next = (job.rank + 1) % job.size;
  const gex_TM_t pair = gex_TM_Pair(ep[2], 1);
  answers = 0;
  pattern_fill(payload, 2000, 21);
  while (gex_AM_RequestMedium4(pair, next, INDEX, payload, 2000, GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE,
                               21, MEDIUM, 0, 0))
    gasnet_AMPoll();
  await_answer(1, 2000);
  while (gex_AM_RequestLong4(pair, next, INDEX, payload, 2000, peer_base[1][next] + slot(),
                             GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE, 21, LONG, 0, 0))
    gasnet_AMPoll();
  await_answer(2, 2000);
  gex_AM_SrcDesc_t sd;
  while ((sd = gex_AM_PrepareRequestLong(pair, next, NULL, 2000, 2000, NULL, NULL,
                                         GEX_FLAG_IMMEDIATE, 4)) == GEX_AM_SRCDESC_NO_OP)
    gasnet_AMPoll();
  memcpy(gex_AM_SrcDescAddr(sd), payload, 2000);
  gex_AM_CommitRequestLong4(sd, INDEX, 2000, peer_base[1][next] + slot(), 21, LONG, 0, 0);
  await_answer(3, 2000);
  job_barrier();
}

/* A team whose members are endpoints 2, 1, 0 of ranks in descending order. */
static void check_team(void) {
  gex_EP_Location_t *const args = (gex_EP_Location_t *)calloc((size_t)job.size * EPS, sizeof *args);
  gex_TM_t tms[EPS];
  size_t count = 0;
  REQUIRE(args != NULL);
  for (gex_Rank_t r = job.size; r-- > 0;)
    for (int i = EPS; i-- > 0;) {
      args[count].gex_rank = r;
      args[count++].gex_ep_index = (gex_EP_Index_t)i;
    }
  CHECK_EQ(gex_TM_Create(tms, EPS, job.tm, args, count, NULL, 0,
                         GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_RANK_IS_JOBRANK),
           1);
  for (gex_Rank_t r = 0; r < count; r++) {
    const int to = args[r].gex_ep_index, from = (int)(r / EPS + job.rank) % EPS;
    const struct target t = {tms[EPS - 1 - from], r, args[r].gex_rank, from, to};
    CHECK_PTR(gex_TM_QueryEP(t.tm), ep[from]);
    check_target(&t, 200 + r, 5);
  }
  job_barrier();
  for (int i = 0; i < EPS; i++) CHECK_EQ(gex_TM_Destroy(tms[i], NULL, 0), 0);
  free(args);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, BYTES, NULL, 0);
  make_endpoints();
  job_barrier();
  exchange_outside();
  check_pairs();
  check_large();
  check_immediate();
  check_team();
  job_barrier();
  return job_finish();
}
