/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 16 */
/* again: TOMBOLO_TEST_SHM=0 */
/* again: TOMBOLO_TEST_COLL_BOARD_MAX=0 TOMBOLO_TEST_COLL_BOARD_MAX=0+TOMBOLO_TEST_RING_SLOTS=64 */
/* again: TOMBOLO_TEST_COLL_BOARD_MAX=0+TOMBOLO_TEST_COLL_EAGER_MAX=0 */
/* again: TOMBOLO_COLL_DIRECT=0 TOMBOLO_COLL_DIRECT=1 */
/* again: TOMBOLO_COLL_ALG=all=board TOMBOLO_TEST_COLL_BOARD_MAX=1GB+TOMBOLO_COLL_DIRECT=0 */
/* again: GASNET_SUPERNODE_MAXSIZE=2 GASNET_SUPERNODE_MAXSIZE=2+TOMBOLO_COLL_ALG=all=nodes */
/* again: GASNET_SUPERNODE_MAXSIZE=3+TOMBOLO_COLL_ALG=broadcast=tree:2:100,reduce=tree:2:100 */
/* again: TOMBOLO_COLL_ALG=scan=flat:2:100,exscan=flat:2:100 */
/* again: GASNET_SUPERNODE_MAXSIZE=3+TOMBOLO_COLL_ALG=all=nodes+TOMBOLO_TEST_COLL_EAGER_MAX=0 */
/* timeout: 120 */
/*
 * Random sequences of every collective, of the API and of the extension, on the job and on split
 * teams, several in flight, against a sequential model; and the persistent forms of the same calls.
 * Also with ranks in nodes of two and three, so that the two-level forms run; coll_nodes.py sees to
 * it that they do.
 * The sequence depends on the seed alone (TMB_TEST_SEED), which a failure prints.
 */
#include "job.h"

#include <gasnetex_ext.h>
#include <stdbool.h>

enum { FLIGHT = 12, ROUNDS = 250, TEAMS = 4, MATRIX = 4, PLACE = 128 << 10 };

struct team {
  gex_TM_t tm;
  gex_Rank_t rank, size;
};
static struct team team[TEAMS];

/* ---- operators */

/* Product of 2 x 2 matrices modulo 2^64: associative, does not commute. */
static void multiply(const void *px, void *py, size_t count, const void *cdata) {
  const uint64_t *x = px;
  uint64_t *y = py;
  CHECK_PTR(cdata, &team);
  for (size_t i = 0; i < count; i++, x += MATRIX, y += MATRIX) {
    const uint64_t a = x[0] * y[0] + x[1] * y[2], b = x[0] * y[1] + x[1] * y[3];
    const uint64_t c = x[2] * y[0] + x[3] * y[2], d = x[2] * y[1] + x[3] * y[3];
    y[0] = a, y[1] = b, y[2] = c, y[3] = d;
  }
}

/* ---- one collective */

struct call {
  gexx_Coll_Args_t args;
  const struct team *team;
  uint64_t seed;
  bool matrix;
  size_t src_words, dst_words; /* 8 bytes each */
  uint64_t *src, *dst;
  size_t *lists[4]; /* bytes and displacements of dst, then of src */
  gexx_Coll_Plan_t plan;
  gex_Event_t event;
};
static struct call flight[FLIGHT];

/* Word i of a rank's source. */
static uint64_t word(const struct call *c, gex_Rank_t rank, size_t i) {
  return mix64(c->seed + rank * UINT64_C(1000003) + i);
}

static bool reduces(const struct call *c) {
  const gexx_Coll_Kind_t k = c->args.gexx_kind;
  return k == GEXX_COLL_REDUCE_TO_ONE || k == GEXX_COLL_REDUCE_TO_ALL ||
         k == GEXX_COLL_REDUCE_SCATTER || k == GEXX_COLL_SCAN || k == GEXX_COLL_EX_SCAN;
}

/* Words that `from` sends to `to` in a V form. */
static size_t pair_words(const struct call *c, gex_Rank_t from, gex_Rank_t to) {
  return mix64(c->seed ^ (from * 64 + to)) % 4 * (mix64(c->seed) % 40);
}

static void make_lists(struct call *c) {
  const gex_Rank_t n = c->team->size, me = c->team->rank, root = c->args.gexx_root;
  const gexx_Coll_Kind_t k = c->args.gexx_kind;
  for (int i = 0; i < 4; i++) {
    c->lists[i] = calloc(n + 1, sizeof(size_t));
    REQUIRE(c->lists[i] != NULL);
  }
  for (gex_Rank_t r = 0; r < n; r++) {
    const gex_Rank_t to = k == GEXX_COLL_GATHER_V ? root : k == GEXX_COLL_ALL_GATHER_V ? 0 : me;
    c->lists[0][r] = 8 * pair_words(c, r, to);
    c->lists[2][r] = 8 * pair_words(c, k == GEXX_COLL_SCATTER_V ? root : me, r);
    c->lists[1][r + 1] = c->lists[1][r] + c->lists[0][r];
    c->lists[3][r + 1] = c->lists[3][r] + c->lists[2][r];
  }
  c->args.gexx_dst_bytes = c->lists[0];
  c->args.gexx_dst_displs = c->lists[1];
  c->args.gexx_src_bytes = c->lists[2];
  c->args.gexx_src_displs = c->lists[3];
  if (k == GEXX_COLL_SCATTER_V) {
    c->args.gexx_nbytes = c->lists[2][me];
    c->src_words = c->lists[3][n] / 8;
    c->dst_words = c->args.gexx_nbytes / 8;
  } else {
    c->args.gexx_nbytes = c->lists[0][me];
    c->dst_words = c->lists[1][n] / 8;
    c->src_words = k == GEXX_COLL_EXCHANGE_V ? c->lists[3][n] / 8 : c->lists[0][me] / 8;
  }
}

static void make_sizes(struct call *c, size_t words) {
  const size_t n = c->team->size;
  const gexx_Coll_Kind_t k = c->args.gexx_kind;
  c->src_words = c->dst_words = words;
  c->args.gexx_nbytes = words * 8;
  if (k == GEXX_COLL_SCATTER || k == GEXX_COLL_EXCHANGE || k == GEXX_COLL_REDUCE_SCATTER)
    c->src_words = n * words;
  if (k == GEXX_COLL_GATHER || k == GEXX_COLL_ALL_GATHER || k == GEXX_COLL_EXCHANGE)
    c->dst_words = n * words;
  if (!reduces(c)) return;
  c->args.gexx_dt = c->matrix ? GEX_DT_USER : GEX_DT_U64;
  c->args.gexx_dt_sz = c->matrix ? MATRIX * 8 : 8;
  c->args.gexx_dt_cnt = c->matrix ? words / MATRIX : words;
  c->args.gexx_op = c->matrix ? GEX_OP_USER_NC : GEX_OP_ADD;
  c->args.gexx_user_op = multiply;
  c->args.gexx_user_cdata = &team;
}

/* ---- model */

/* Combination of word i (or the matrix from there) of ranks first..last. */
static void model_reduce(const struct call *c, gex_Rank_t last, size_t at, size_t words,
                         uint64_t *out) {
  uint64_t x[MATRIX];
  const size_t step = c->matrix ? MATRIX : 1;
  for (size_t i = 0; i < words; i += step) {
    for (size_t k = 0; k < step; k++) out[i + k] = word(c, last, at + i + k);
    for (gex_Rank_t r = last; r-- > 0;) {
      for (size_t k = 0; k < step; k++) x[k] = word(c, r, at + i + k);
      if (c->matrix)
        multiply(x, out + i, 1, &team);
      else
        out[i] += x[0];
    }
  }
}

static size_t copy_words(const struct call *c, gex_Rank_t from, size_t at, size_t words,
                         uint64_t *out) {
  for (size_t i = 0; i < words; i++) out[i] = word(c, from, at + i);
  return words;
}

/* Displacement in words of the block for `to` in the source of `from`, exchange V. */
static size_t displacement(const struct call *c, gex_Rank_t from, gex_Rank_t to) {
  size_t at = 0;
  for (gex_Rank_t r = 0; r < to; r++) at += pair_words(c, from, r);
  return at;
}

static size_t model_blocks(const struct call *c, uint64_t *out) {
  const gex_Rank_t n = c->team->size, me = c->team->rank, root = c->args.gexx_root;
  const size_t words = c->args.gexx_nbytes / 8;
  size_t k = 0;
  switch (c->args.gexx_kind) {
  case GEXX_COLL_SCATTER: return copy_words(c, root, me * words, words, out);
  case GEXX_COLL_SCATTER_V: return copy_words(c, root, displacement(c, root, me), words, out);
  case GEXX_COLL_GATHER:
  case GEXX_COLL_GATHER_V:
    if (me != root) return 0;
    break;
  default: break;
  }
  for (gex_Rank_t r = 0; r < n; r++) {
    const gexx_Coll_Kind_t kind = c->args.gexx_kind;
    if (kind == GEXX_COLL_EXCHANGE)
      k += copy_words(c, r, me * words, words, out + k);
    else if (kind == GEXX_COLL_EXCHANGE_V)
      k += copy_words(c, r, displacement(c, r, me), pair_words(c, r, me), out + k);
    else
      k += copy_words(c, r, 0, c->lists[0] ? c->lists[0][r] / 8 : words, out + k);
  }
  return k;
}

/* Words of dst that the call defines. */
static size_t model(const struct call *c, uint64_t *out) {
  const gex_Rank_t n = c->team->size, me = c->team->rank;
  const size_t words = c->dst_words;
  switch (c->args.gexx_kind) {
  case GEXX_COLL_BROADCAST: return copy_words(c, c->args.gexx_root, 0, words, out);
  case GEXX_COLL_REDUCE_TO_ONE:
    if (me != c->args.gexx_root) return 0;
    break;
  case GEXX_COLL_REDUCE_TO_ALL: break;
  case GEXX_COLL_REDUCE_SCATTER: model_reduce(c, n - 1, me * words, words, out); return words;
  case GEXX_COLL_SCAN: model_reduce(c, me, 0, words, out); return words;
  case GEXX_COLL_EX_SCAN:
    if (me == 0) return 0;
    model_reduce(c, me - 1, 0, words, out);
    return words;
  default: return model_blocks(c, out);
  }
  model_reduce(c, n - 1, 0, words, out);
  return words;
}

/* ---- running */

static gex_Event_t direct_blocks(const struct call *c) {
  const gexx_Coll_Args_t *a = &c->args;
  const gex_TM_t tm = c->team->tm;
  switch (a->gexx_kind) {
  case GEXX_COLL_BROADCAST:
    return gex_Coll_BroadcastNB(tm, a->gexx_root, a->gexx_dst, a->gexx_src, a->gexx_nbytes, 0);
  case GEXX_COLL_SCATTER:
    return gexx_Coll_ScatterNB(tm, a->gexx_root, a->gexx_dst, a->gexx_src, a->gexx_nbytes, 0);
  case GEXX_COLL_GATHER:
    return gexx_Coll_GatherNB(tm, a->gexx_root, a->gexx_dst, a->gexx_src, a->gexx_nbytes, 0);
  case GEXX_COLL_ALL_GATHER:
    return gexx_Coll_AllGatherNB(tm, a->gexx_dst, a->gexx_src, a->gexx_nbytes, 0);
  case GEXX_COLL_EXCHANGE:
    return gexx_Coll_ExchangeNB(tm, a->gexx_dst, a->gexx_src, a->gexx_nbytes, 0);
  case GEXX_COLL_SCATTER_V:
    return gexx_Coll_ScatterVNB(tm, a->gexx_root, a->gexx_dst, a->gexx_nbytes, a->gexx_src,
                                a->gexx_src_bytes, a->gexx_src_displs, 0);
  case GEXX_COLL_GATHER_V:
    return gexx_Coll_GatherVNB(tm, a->gexx_root, a->gexx_dst, a->gexx_dst_bytes, a->gexx_dst_displs,
                               a->gexx_src, a->gexx_nbytes, 0);
  case GEXX_COLL_ALL_GATHER_V:
    return gexx_Coll_AllGatherVNB(tm, a->gexx_dst, a->gexx_dst_bytes, a->gexx_dst_displs,
                                  a->gexx_src, 0);
  default:
    return gexx_Coll_ExchangeVNB(tm, a->gexx_dst, a->gexx_dst_bytes, a->gexx_dst_displs,
                                 a->gexx_src, a->gexx_src_bytes, a->gexx_src_displs, 0);
  }
}

#define REDUCTION(call, tm, a)                                                           \
 call(tm, (a)->gexx_dst, (a)->gexx_src, (a)->gexx_dt, (a)->gexx_dt_sz, (a)->gexx_dt_cnt, \
      (a)->gexx_op, (a)->gexx_user_op, (a)->gexx_user_cdata, 0)

static gex_Event_t direct(const struct call *c) {
  const gexx_Coll_Args_t *a = &c->args;
  const gex_TM_t tm = c->team->tm;
  switch (a->gexx_kind) {
  case GEXX_COLL_REDUCE_TO_ONE:
    return gex_Coll_ReduceToOneNB(tm, a->gexx_root, a->gexx_dst, a->gexx_src, a->gexx_dt,
                                  a->gexx_dt_sz, a->gexx_dt_cnt, a->gexx_op, a->gexx_user_op,
                                  a->gexx_user_cdata, 0);
  case GEXX_COLL_REDUCE_TO_ALL: return REDUCTION(gex_Coll_ReduceToAllNB, tm, a);
  case GEXX_COLL_REDUCE_SCATTER: return REDUCTION(gexx_Coll_ReduceScatterNB, tm, a);
  case GEXX_COLL_SCAN: return REDUCTION(gexx_Coll_ScanNB, tm, a);
  case GEXX_COLL_EX_SCAN: return REDUCTION(gexx_Coll_ExScanNB, tm, a);
  default: return direct_blocks(c);
  }
}

static void fill(struct call *c) {
  for (size_t i = 0; i < c->src_words; i++) c->src[i] = word(c, c->team->rank, i);
  memset(c->dst, 0x5a, c->dst_words * 8 + 8);
}

/* Memory for a call: some of it in the segment, on each rank other calls'. */
static uint64_t *room(const struct call *c, int which, size_t bytes) {
  char *const place = (char *)job.base + ((c - flight) * 2 + which) * PLACE;
  if (bytes <= PLACE && (c->seed >> (job.rank % 32 + which)) % 2) return (uint64_t *)(void *)place;
  uint64_t *const p = malloc(bytes);
  REQUIRE(p != NULL);
  return p;
}

static void give(uint64_t *p) {
  const size_t at = (size_t)((uintptr_t)p - (uintptr_t)job.base);
  if (at >= (size_t)2 * FLIGHT * PLACE) free(p);
}

static void start(struct call *c, uint64_t *rng) {
  static const size_t scale[] = {3, 30, 300, 3000, 12000};
  *c = (struct call){.seed = rng_next(rng), .team = &team[rng_below(rng, TEAMS)]};
  c->args.gexx_kind = (gexx_Coll_Kind_t)rng_below(rng, GEXX_COLL_EXCHANGE_V + 1);
  c->args.gexx_root = (gex_Rank_t)(rng_next(rng) >> 8) % c->team->size;
  const uint64_t limit = scale[rng_below(rng, 5)] / (job.size > 4 ? 4 : 1);
  size_t words = rng_below(rng, limit + 1);
  c->matrix = rng_below(rng, 2) && reduces(c);
  if (reduces(c)) words = words / MATRIX * MATRIX + MATRIX;
  const bool persistent = rng_below(rng, 3) == 0;
  make_sizes(c, words);
  if (c->args.gexx_kind >= GEXX_COLL_SCATTER_V) make_lists(c);
  c->src = room(c, 0, c->src_words * 8 + 8);
  c->dst = room(c, 1, c->dst_words * 8 + 8);
  fill(c);
  c->args.gexx_src = c->src;
  c->args.gexx_dst = c->dst;
  if (persistent) {
    CHECK_EQ(gexx_Coll_Init(&c->plan, c->team->tm, &c->args, 0), GASNET_OK);
    c->event = gexx_Coll_StartNB(c->plan, 0);
  } else {
    c->event = direct(c);
  }
}

static void verify(const struct call *c) {
  uint64_t *want = malloc(c->dst_words * 8 + 8);
  REQUIRE(want != NULL);
  const size_t words = model(c, want);
  if (!CHECK_EQ(memcmp(c->dst, want, words * 8), 0))
    fprintf(stderr, "kind %d, %zu bytes, root %u, team %d of %u ranks, %s, seed 0x%llx\n",
            (int)c->args.gexx_kind, c->args.gexx_nbytes, c->args.gexx_root, (int)(c->team - team),
            c->team->size, c->matrix ? "matrices" : "words", (unsigned long long)test_seed());
  const size_t rest = (c->dst_words - words) * 8 + 8;
  CHECK_EQ(fill_diff(c->dst + words, rest, 0x5a), rest);
  free(want);
}

static void finish(struct call *c) {
  gex_Event_Wait(c->event);
  verify(c);
  if (c->plan) { /* twice more, with other contents */
    for (int again = 0; again < 2; again++) {
      c->seed += 17;
      if (c->args.gexx_kind >= GEXX_COLL_SCATTER_V) c->seed -= 17; /* lengths depend on it */
      fill(c);
      gex_Event_Wait(gexx_Coll_StartNB(c->plan, 0));
      verify(c);
    }
    gexx_Coll_Free(c->plan);
  }
  for (int i = 0; i < 4; i++) free(c->lists[i]);
  give(c->src);
  give(c->dst);
}

/* All ranks choose alike, so calls and completions keep the teams' orders. */
static void sequence(void) {
  uint64_t rng = test_seed();
  for (int round = 0; round < ROUNDS; round++) {
    const unsigned count = 1 + (unsigned)rng_below(&rng, FLIGHT);
    const bool backwards = rng_below(&rng, 2);
    bool persistent = false;
    for (unsigned i = 0; i < count; i++) {
      start(&flight[i], &rng);
      persistent |= flight[i].plan != NULL;
    }
    for (unsigned i = 0; i < count; i++)
      finish(&flight[backwards && !persistent ? count - 1 - i : i]);
  }
}

static void make_team(struct team *t, gex_TM_t tm) {
  t->tm = tm;
  t->rank = gex_TM_QueryRank(tm);
  t->size = gex_TM_QuerySize(tm);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, (size_t)2 * FLIGHT * PLACE, NULL, 0);
  gex_TM_t half, reversed, mixed;
  gex_TM_Split(&half, job.tm, (int)(job.rank % 2), 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  gex_TM_Split(&reversed, job.tm, 0, -(int)job.rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  /* first the even ranks: members of a node of two do not follow each other */
  gex_TM_Split(&mixed, job.tm, 0, (int)(job.rank % 2 * job.size + job.rank), NULL, 0,
               GEX_FLAG_TM_NO_SCRATCH);
  make_team(&team[0], job.tm);
  make_team(&team[1], half);
  make_team(&team[2], reversed);
  make_team(&team[3], mixed);
  sequence();
  gex_TM_Destroy(half, NULL, 0);
  gex_TM_Destroy(reversed, NULL, 0);
  gex_TM_Destroy(mixed, NULL, 0);
  return job_finish();
}
