/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 */
/* again: TOMBOLO_PLACES=cyclic:2+TOMBOLO_CONDUIT=loop */
/* debug: both */
/* again: TOMBOLO_TEST_SHM=0 TMB_DEVICE=cuda */
/* timeout: 120 */
/*
 * API 06 with buffers in device memory ("any memory"): every collective, each rank choosing for
 * itself where its source and destination lie, several in flight, also persistent ones and those of
 * GASNet-1. Bytes between the blocks of V forms and around results stay as they are.
 */
#include "job.h"
#include "mk_dev.h"

#include <gasnet_coll.h>
#include <gasnetex_ext.h>
#include <stdlib.h>

enum { RANKS = 64, WORDS = 8000, HALF = WORDS * 4, FLIGHT = 6, ROUNDS = 60 };

static char *device[2]; /* memories of two devices */

/* One collective with its buffers: in a device when `on` is not NULL. */
struct one {
  gexx_Coll_Args_t args;
  char *buf[2];             /* destination, source: HALF bytes each */
  uint32_t given[2][WORDS]; /* what was in them */
  uint32_t want[WORDS];     /* what must be in the destination */
  size_t bytes[4][RANKS];   /* dst bytes, displacements, src bytes, displacements */
  uint32_t host[2][WORDS];
  int is_device[2];
  gex_Event_t event;
};
static struct one one[FLIGHT];

static uint64_t shared_seed, own_seed; /* the same on all ranks, and not */

static uint32_t word(gex_Rank_t r, size_t i) {
  return (uint32_t)mix64(shared_seed ^ ((uint64_t)r << 40) ^ i) % 1000;
}

static void store(const struct one *o, int side, const uint32_t *from) {
  if (o->is_device[side])
    dev_write(o->buf[side], from, HALF);
  else
    memcpy(o->buf[side], from, HALF);
}

static void load(const struct one *o, int side, uint32_t *to) {
  if (o->is_device[side])
    dev_read(to, o->buf[side], HALF);
  else
    memcpy(to, o->buf[side], HALF);
}

/* ---- arguments: blocks of `n` words; V forms: rank r's block has n + r words, one word of gap */

static size_t length(size_t n, gex_Rank_t r) {
  return n + r;
}
static size_t place(size_t n, gex_Rank_t r) {
  size_t at = 0;
  for (gex_Rank_t i = 0; i < r; i++) at += length(n, i) + 1;
  return at;
}

/* Words that rank r's source holds for block b, and where. */
static int is_v(gexx_Coll_Kind_t k) {
  return k >= GEXX_COLL_SCATTER_V;
}

/* Exchange V: i sends length(n, (i + j) % size) words to j. */
static size_t pair_length(size_t n, gex_Rank_t i, gex_Rank_t j) {
  return length(n, (i + j) % job.size);
}
static size_t pair_place(size_t n, gex_Rank_t me, gex_Rank_t peer) {
  size_t at = 0;
  for (gex_Rank_t i = 0; i < peer; i++) at += pair_length(n, me, i) + 1;
  return at;
}

static void fill_lists(struct one *o, size_t n) {
  for (gex_Rank_t r = 0; r < job.size; r++) {
    const int x = o->args.gexx_kind == GEXX_COLL_EXCHANGE_V;
    o->bytes[0][r] = o->bytes[2][r] = 4 * (x ? pair_length(n, job.rank, r) : length(n, r));
    o->bytes[1][r] = o->bytes[3][r] = 4 * (x ? pair_place(n, job.rank, r) : place(n, r));
  }
  o->args.gexx_dst_bytes = o->bytes[0];
  o->args.gexx_dst_displs = o->bytes[1];
  o->args.gexx_src_bytes = o->bytes[2];
  o->args.gexx_src_displs = o->bytes[3];
}

static uint32_t combined(gex_Rank_t ranks, size_t i) {
  uint32_t sum = 0;
  for (gex_Rank_t r = 0; r < ranks; r++) sum += word(r, i);
  return sum;
}

/* What member `from` has at word `at` of its source goes to word `to` here. */
static void copy_words(struct one *o, size_t to, gex_Rank_t from, size_t at, size_t n) {
  for (size_t i = 0; i < n; i++) o->want[to + i] = word(from, at + i);
}

static void combine_words(struct one *o, gex_Rank_t ranks, size_t at, size_t n) {
  for (size_t i = 0; i < n; i++) o->want[i] = combined(ranks, at + i);
}

static void expect(struct one *o, size_t n) {
  const gex_Rank_t me = job.rank, root = o->args.gexx_root;
  memcpy(o->want, o->given[0], HALF);
  switch (o->args.gexx_kind) {
  case GEXX_COLL_BROADCAST: copy_words(o, 0, root, 0, n); break;
  case GEXX_COLL_REDUCE_TO_ONE:
    if (me == root) combine_words(o, job.size, 0, n);
    break;
  case GEXX_COLL_REDUCE_TO_ALL: combine_words(o, job.size, 0, n); break;
  case GEXX_COLL_SCATTER: copy_words(o, 0, root, me * n, n); break;
  case GEXX_COLL_REDUCE_SCATTER: combine_words(o, job.size, me * n, n); break;
  case GEXX_COLL_SCAN: combine_words(o, me + 1, 0, n); break;
  case GEXX_COLL_EX_SCAN:
    if (me) combine_words(o, me, 0, n);
    break;
  case GEXX_COLL_SCATTER_V: copy_words(o, 0, root, place(n, me), length(n, me)); break;
  default: break;
  }
  for (gex_Rank_t r = 0; r < job.size; r++) switch (o->args.gexx_kind) {
    case GEXX_COLL_GATHER:
      if (me == root) copy_words(o, r * n, r, 0, n);
      break;
    case GEXX_COLL_ALL_GATHER: copy_words(o, r * n, r, 0, n); break;
    case GEXX_COLL_EXCHANGE: copy_words(o, r * n, r, me * n, n); break;
    case GEXX_COLL_GATHER_V:
      if (me == root) copy_words(o, place(n, r), r, 0, length(n, r));
      break;
    case GEXX_COLL_ALL_GATHER_V: copy_words(o, place(n, r), r, 0, length(n, r)); break;
    case GEXX_COLL_EXCHANGE_V:
      copy_words(o, pair_place(n, me, r), r, pair_place(n, r, me), pair_length(n, me, r));
      break;
    default: break;
    }
}

static void add(const void *x, void *y, size_t count, const void *cdata) {
  (void)cdata;
  for (size_t i = 0; i < count; i++) ((uint32_t *)y)[i] += ((const uint32_t *)x)[i];
}

static void prepare(struct one *o, int slot) {
  const gexx_Coll_Kind_t kind = (gexx_Coll_Kind_t)rng_below(&shared_seed, 14);
  const size_t n = 1 + rng_below(&shared_seed, WORDS / (job.size + 2) - job.size - 2);
  const int user = rng_below(&shared_seed, 2) == 0;
  gexx_Coll_Args_t *a = &o->args;
  memset(a, 0, sizeof *a);
  a->gexx_kind = kind;
  a->gexx_root = (gex_Rank_t)rng_below(&shared_seed, job.size);
  a->gexx_nbytes = 4 * (is_v(kind) ? length(n, job.rank) : n);
  a->gexx_dt = user ? GEX_DT_USER : GEX_DT_U32;
  a->gexx_dt_sz = 4;
  a->gexx_dt_cnt = n;
  a->gexx_op = user ? GEX_OP_USER : GEX_OP_ADD;
  a->gexx_user_op = add;
  if (is_v(kind)) fill_lists(o, n);
  for (int side = 0; side < 2; side++) {
    const uint64_t on = rng_below(&own_seed, 3);
    o->is_device[side] = on < 2;
    o->buf[side] = on < 2 ? device[on] + (slot * 2 + side) * HALF : (char *)o->host[side];
    for (size_t i = 0; i < WORDS; i++)
      o->given[side][i] = side ? word(job.rank, i) : (uint32_t)(0xabcd0000u + i);
  }
  a->gexx_dst = o->buf[0];
  a->gexx_src = o->buf[1];
  expect(o, n);
}

static gex_Event_t start(const gexx_Coll_Args_t *a) {
  void *const d = a->gexx_dst;
  const void *const s = a->gexx_src;
  const gex_Rank_t root = a->gexx_root;
  const size_t n = a->gexx_nbytes;
#define OPERANDS a->gexx_dt, a->gexx_dt_sz, a->gexx_dt_cnt, a->gexx_op, a->gexx_user_op, NULL, 0
#define DST      a->gexx_dst_bytes, a->gexx_dst_displs
#define SRC      a->gexx_src_bytes, a->gexx_src_displs
  switch (a->gexx_kind) {
  case GEXX_COLL_BROADCAST: return gex_Coll_BroadcastNB(job.tm, root, d, s, n, 0);
  case GEXX_COLL_REDUCE_TO_ONE: return gex_Coll_ReduceToOneNB(job.tm, root, d, s, OPERANDS);
  case GEXX_COLL_REDUCE_TO_ALL: return gex_Coll_ReduceToAllNB(job.tm, d, s, OPERANDS);
  case GEXX_COLL_SCATTER: return gexx_Coll_ScatterNB(job.tm, root, d, s, n, 0);
  case GEXX_COLL_GATHER: return gexx_Coll_GatherNB(job.tm, root, d, s, n, 0);
  case GEXX_COLL_ALL_GATHER: return gexx_Coll_AllGatherNB(job.tm, d, s, n, 0);
  case GEXX_COLL_EXCHANGE: return gexx_Coll_ExchangeNB(job.tm, d, s, n, 0);
  case GEXX_COLL_REDUCE_SCATTER: return gexx_Coll_ReduceScatterNB(job.tm, d, s, OPERANDS);
  case GEXX_COLL_SCAN: return gexx_Coll_ScanNB(job.tm, d, s, OPERANDS);
  case GEXX_COLL_EX_SCAN: return gexx_Coll_ExScanNB(job.tm, d, s, OPERANDS);
  case GEXX_COLL_SCATTER_V: return gexx_Coll_ScatterVNB(job.tm, root, d, n, s, SRC, 0);
  case GEXX_COLL_GATHER_V: return gexx_Coll_GatherVNB(job.tm, root, d, DST, s, n, 0);
  case GEXX_COLL_ALL_GATHER_V: return gexx_Coll_AllGatherVNB(job.tm, d, DST, s, 0);
  default: return gexx_Coll_ExchangeVNB(job.tm, d, DST, s, SRC, 0);
  }
}

static void fill(struct one *o) {
  store(o, 0, o->given[0]);
  store(o, 1, o->given[1]);
}

static void verify(struct one *o) {
  uint32_t got[WORDS];
  size_t bad = 0;
  load(o, 0, got);
  while (bad < WORDS && got[bad] == o->want[bad]) bad++;
  if (bad < WORDS)
    check_fail(__FILE__, __LINE__,
               "kind %d, root %u, %zu bytes, dst %s, src %s: word %zu is %u, "
               "not %u",
               (int)o->args.gexx_kind, o->args.gexx_root, o->args.gexx_nbytes,
               o->is_device[0] ? "device" : "host", o->is_device[1] ? "device" : "host", bad,
               got[bad], o->want[bad]);
  check_count(1);
}

/* Several at once, completed in any order. */
static void flight(void) {
  for (int k = 0; k < FLIGHT; k++) {
    prepare(&one[k], k);
    fill(&one[k]);
    /* want is made by word() of this seed: data of all of a flight are prepared in order */
    one[k].event = start(&one[k].args);
    memset(one[k].bytes, 0xff, sizeof one[k].bytes); /* were read */
  }
  for (int i = 0; i < FLIGHT; i++) {
    struct one *o = &one[(i + (int)job.rank) % FLIGHT];
    gex_Event_Wait(o->event);
    verify(o);
  }
}

static void persistent(void) {
  gexx_Coll_Plan_t plan = NULL;
  prepare(&one[0], 0);
  REQUIRE(gexx_Coll_Init(&plan, job.tm, &one[0].args, 0) == GASNET_OK);
  memset(one[0].bytes, 0xff, sizeof one[0].bytes);
  for (int pass = 0; pass < 3; pass++) {
    fill(&one[0]);
    gex_Event_Wait(gexx_Coll_StartNB(plan, 0));
    verify(&one[0]);
  }
  gexx_Coll_Free(plan);
}

/* Reductions in place on a device. */
static void in_place(void) {
  struct one *o = &one[0];
  prepare(o, 0);
  const size_t n = 500;
  o->is_device[0] = 1;
  o->buf[0] = device[job.rank % 2];
  memcpy(o->want, o->given[0], HALF);
  for (size_t i = 0; i < n; i++) o->want[i] = combined(job.size, i);
  store(o, 0, o->given[1]);
  gex_Event_Wait(gex_Coll_ReduceToAllNB(job.tm, o->buf[0], o->buf[0], GEX_DT_U32, 4, n, GEX_OP_ADD,
                                        NULL, NULL, 0));
  memcpy(o->want + n, o->given[1] + n, HALF - n * 4);
  verify(o);
}

static void legacy(void) {
  const int flags = GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_ALLSYNC | GASNET_COLL_LOCAL;
  struct one *o = &one[0];
  do prepare(o, 0);
  while (o->args.gexx_kind != GEXX_COLL_BROADCAST &&
         (o->args.gexx_kind < GEXX_COLL_SCATTER || o->args.gexx_kind > GEXX_COLL_EXCHANGE));
  const gex_Rank_t root = o->args.gexx_root;
  const size_t n = o->args.gexx_nbytes;
  fill(o);
  switch (o->args.gexx_kind) {
  case GEXX_COLL_BROADCAST:
    gasnet_coll_broadcast(GASNET_TEAM_ALL, o->buf[0], root, o->buf[1], n, flags);
    break;
  case GEXX_COLL_SCATTER:
    gasnet_coll_scatter(GASNET_TEAM_ALL, o->buf[0], root, o->buf[1], n, flags);
    break;
  case GEXX_COLL_GATHER:
    gasnet_coll_gather(GASNET_TEAM_ALL, root, o->buf[0], o->buf[1], n, flags);
    break;
  case GEXX_COLL_ALL_GATHER:
    gasnet_coll_gather_all(GASNET_TEAM_ALL, o->buf[0], o->buf[1], n, flags);
    break;
  default: gasnet_coll_exchange(GASNET_TEAM_ALL, o->buf[0], o->buf[1], n, flags); break;
  }
  verify(o);
}

int main(int argc, char **argv) {
  dev_select();
  job_start(&argc, &argv, 0, NULL, 0);
  shared_seed = mix64(test_seed());
  own_seed = mix64(shared_seed + 1 + job.rank);
  for (int d = 0; d < 2; d++) {
    gex_Segment_t seg = GEX_SEGMENT_INVALID;
    REQUIRE(gex_Segment_Create(&seg, job.client, NULL, FLIGHT * 2 * HALF, dev_kind(job.client, d),
                               0) == GASNET_OK);
    device[d] = (char *)gex_Segment_QueryAddr(seg);
  }
  for (int i = 0; i < ROUNDS; i++) {
    flight();
    persistent();
    in_place();
    legacy();
    if (i % 8 == 0) gex_Event_Wait(gex_Coll_BarrierNB(job.tm, 0));
  }
  return job_finish();
}
