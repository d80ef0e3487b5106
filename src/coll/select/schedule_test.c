/* SPDX-License-Identifier: BSD-3-Clause */
/* timeout: 600 */
/* long: every */
/* emulated: most */
/*
 * Every algorithm, executed for whole teams without a network, against a naive reference. With the
 * argument "every" all sizes to 64 and those of thousands, with "most" those up to 255, without it
 * a few.
 *
 * Sizes 1 to 64 with every algorithm, larger ones up to 4096 where the whole schedule is
 * affordable; two-level forms on nodes that are ranges of ranks, round-robin, uneven and scattered.
 * Reductions use the composition of x -> ax + b modulo 2^32, which is associative and does not
 * commute, and addition, which does. Prints the rounds, messages and bytes of each, also those
 * between nodes of 16 ranks.
 */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/select/schedule_world_test.h"

#define STEPS_MAX UINT64_C(2000000)
#define BYTES_MAX UINT64_C(150000000)

/* ---- operators on pairs of 32-bit numbers */

static void compose(const void *px, void *py, size_t count, const void *cdata) {
  const uint32_t *x = px;
  uint32_t *y = py;
  (void)cdata;
  for (size_t i = 0; i < count; i++, x += 2, y += 2) {
    y[1] += y[0] * x[1];
    y[0] *= x[0];
  }
}

static void add(const void *px, void *py, size_t count, const void *cdata) {
  const uint32_t *x = px;
  uint32_t *y = py;
  (void)cdata;
  for (size_t i = 0; i < 2 * count; i++) y[i] += x[i];
}

static void fill_source(struct world *w, uint32_t rank) {
  uint32_t *p = (uint32_t *)(void *)w->member[rank].base[TMB_BUF_SRC];
  for (uint64_t i = 0; i < w->src_bytes / 4; i++)
    p[i] = (uint32_t)(rank * 2654435761u + i * 40503u + 12345u) | 1;
}

/* ---- reference */

static const char *source(const struct world *w, uint32_t rank) {
  return w->member[rank].src_copy;
}

/* Combination of `bytes` at offset `at` of the sources of ranks first..last. */
static void combined(const struct world *w, uint32_t first, uint32_t last, uint64_t at, char *out) {
  const uint64_t bytes = w->shape.bytes;
  memcpy(out, source(w, last) + at, bytes);
  for (uint32_t r = last; r-- > first;)
    w->reducer.user(source(w, r) + at, out, bytes / w->reducer.elem, NULL);
}

/* Expected data of the V forms, see expected. */
static uint64_t expected_v(const struct world *w, uint32_t rank, char *out) {
  const struct tmb_coll_shape *c = &w->shape;
  const bool scatter = c->kind == TMB_COLL_SCATTERV;
  const struct v_lists v = v_make(w, scatter ? c->root : rank);
  uint64_t length = 0;
  if (scatter) {
    length = v.send[rank];
    memcpy(out, source(w, c->root) + v.send_at[rank], length);
  }
  for (uint32_t i = 0; i < c->size && !scatter; i++) {
    if (c->kind == TMB_COLL_GATHERV && rank != c->root) break;
    const struct v_lists theirs = v_make(w, i);
    const uint64_t at = c->kind == TMB_COLL_EXCHANGEV ? theirs.send_at[rank] : 0;
    memcpy(out + length, source(w, i) + at, v.recv[i]);
    length += v.recv[i];
    v_free(theirs);
  }
  v_free(v);
  return length;
}

/* Expected data of a rank's dst. Returns its length; 0: untouched. */
static uint64_t expected(const struct world *w, uint32_t rank, const char *total, char *out) {
  const struct tmb_coll_shape *c = &w->shape;
  const uint64_t b = c->bytes;
  const uint32_t n = c->size;
  uint64_t length = b;
  switch (c->kind) {
  case TMB_COLL_BROADCAST: memcpy(out, source(w, c->root), b); break;
  case TMB_COLL_REDUCE: length = rank == c->root ? b : 0; /* fallthrough */
  case TMB_COLL_ALLREDUCE: memcpy(out, total, b); break;
  case TMB_COLL_SCATTER: memcpy(out, source(w, c->root) + rank * b, b); break;
  case TMB_COLL_GATHER:
  case TMB_COLL_ALLGATHER:
    length = c->kind == TMB_COLL_GATHER && rank != c->root ? 0 : n * b;
    for (uint32_t i = 0; i < n && length; i++) memcpy(out + i * b, source(w, i), b);
    break;
  case TMB_COLL_EXCHANGE:
    length = n * b;
    for (uint32_t i = 0; i < n; i++) memcpy(out + i * b, source(w, i) + rank * b, b);
    break;
  case TMB_COLL_REDUCE_SCATTER: combined(w, 0, n - 1, rank * b, out); break;
  case TMB_COLL_SCAN: combined(w, 0, rank, 0, out); break;
  case TMB_COLL_EXSCAN:
    length = rank ? b : 0;
    if (rank) combined(w, 0, rank - 1, 0, out);
    break;
  case TMB_COLL_SYNC: return 0;
  default: length = expected_v(w, rank, out);
  }
  return length;
}

static void verify(const struct world *w) {
  char *want = zeros(w->dst_bytes + 64), *total = zeros(w->shape.bytes + 64);
  const bool totals = w->shape.kind == TMB_COLL_REDUCE || w->shape.kind == TMB_COLL_ALLREDUCE;
  if (totals) combined(w, 0, w->shape.size - 1, 0, total);
  for (uint32_t r = 0; r < w->shape.size; r++) {
    const struct member *m = &w->member[r];
    const uint64_t length = expected(w, r, total, want);
    const char *dst = m->base[TMB_BUF_DST];
    if (memcmp(dst, want, length) != 0)
      fail_msg("%s %s: wrong result on rank %u of %u in %u nodes%s, root %u, %llu bytes%s%s%s",
               tmb_coll_kind_name(w->shape.kind), w->alg->name, r, w->shape.size,
               w->shape.nodes ? w->shape.nodes->count : 1,
               w->shape.nodes && w->shape.nodes->ranges ? " (ranges)" : "", w->shape.root,
               (unsigned long long)w->shape.bytes, w->shape.commutes ? ", commutes" : "",
               w->in_place ? ", in place" : "", w->late ? ", late" : "");
    for (uint64_t i = length; i < w->dst_bytes && !w->in_place; i++)
      if (dst[i] != 0x5a)
        fail_msg("%s %s: rank %u of %u wrote byte %llu of dst", tmb_coll_kind_name(w->shape.kind),
                 w->alg->name, r, w->shape.size, (unsigned long long)i);
    if (!w->in_place) assert_memory_equal(m->base[TMB_BUF_SRC], m->src_copy, w->src_bytes);
  }
  free(want);
  free(total);
}

/* ---- one case */

static void member_make(struct world *w, uint32_t rank) {
  struct member *m = &w->member[rank];
  *m = (struct member){.send = UINT32_MAX};
  build(w, rank, &m->sched);
  m->base[TMB_BUF_SRC] = zeros(w->src_bytes + 8);
  fill_source(w, rank);
  m->src_copy = zeros(w->src_bytes + 8);
  memcpy(m->src_copy, m->base[TMB_BUF_SRC], w->src_bytes);
  m->base[TMB_BUF_DST] = w->in_place ? m->base[TMB_BUF_SRC] : zeros(w->dst_bytes + 8);
  if (!w->in_place) memset(m->base[TMB_BUF_DST], 0x5a, w->dst_bytes);
  m->base[TMB_BUF_TMP] = zeros(m->sched.tmp_bytes + 8);
  memset(m->base[TMB_BUF_TMP], 0xa5, m->sched.tmp_bytes);
  m->got = zeros(m->sched.recvs * sizeof *m->got);
}

static void member_free(struct world *w, uint32_t rank) {
  struct member *m = &w->member[rank];
  if (!w->in_place) free(m->base[TMB_BUF_DST]);
  free(m->base[TMB_BUF_SRC]);
  free(m->base[TMB_BUF_TMP]);
  for (struct mail *mail; (mail = m->shown) != NULL; free(mail)) m->shown = mail->next;
  free(m->src_copy);
  free(m->got);
  tmb_sched_free(&m->sched);
}

static uint64_t buffer_bytes(const struct tmb_coll_shape *c, bool dst) {
  switch (c->kind) {
  case TMB_COLL_SCATTER:
  case TMB_COLL_REDUCE_SCATTER: return dst ? c->bytes : c->size * c->bytes;
  case TMB_COLL_GATHER:
  case TMB_COLL_ALLGATHER: return dst ? c->size * c->bytes : c->bytes;
  case TMB_COLL_EXCHANGE: return c->size * c->bytes;
  case TMB_COLL_SCATTERV:
  case TMB_COLL_GATHERV:
  case TMB_COLL_ALLGATHERV:
  case TMB_COLL_EXCHANGEV: return 4 * c->size * c->bytes;
  default: return c->bytes;
  }
}

/* Whether a run of this size is affordable, judged by the root and the first ranks, which are those
 * of a node. */
static bool affordable(struct world *w) {
  enum { SAMPLE = 16 };
  uint64_t steps = 0, bytes = 0, inbox = 0;
  if (w->shape.size <= 64) return true;
  for (uint32_t i = 0; i <= SAMPLE; i++) {
    struct tmb_sched s;
    build(w, i < SAMPLE ? i : w->shape.root, &s);
    const uint64_t weight = i < SAMPLE ? w->shape.size / SAMPLE : 1;
    steps += s.count * weight;
    bytes += (s.tmp_bytes + w->src_bytes + w->dst_bytes) * weight;
    inbox += (uint64_t)s.recvs * s.recvs * weight;
    tmb_sched_free(&s);
  }
  return steps < STEPS_MAX && bytes < BYTES_MAX && inbox < 100 * STEPS_MAX;
}

/* Returns false when it was not affordable. out w: figures. */
static bool run_case(struct world *w) {
  const struct tmb_coll_shape *c = &w->shape;
  w->src_bytes = buffer_bytes(c, false);
  w->dst_bytes = buffer_bytes(c, true);
  w->reducer = (struct tmb_reducer){c->commutes ? add : compose, NULL, NULL, 8};
  w->messages = w->sent_bytes = w->far_messages = w->far_bytes = 0;
  w->depth = w->far = 0;
  if (!affordable(w)) return false;
  w->member = zeros(c->size * sizeof *w->member);
  for (uint32_t r = 0; r < c->size; r++) member_make(w, r);
  run(w);
  verify(w);
  for (uint32_t r = 0; r < c->size; r++) member_free(w, r);
  free(w->member);
  return true;
}

static bool rooted(uint32_t kind) {
  return kind == TMB_COLL_BROADCAST || kind == TMB_COLL_REDUCE || kind == TMB_COLL_SCATTER ||
         kind == TMB_COLL_GATHER || kind == TMB_COLL_SCATTERV || kind == TMB_COLL_GATHERV;
}

static bool reduces(uint32_t kind) {
  return kind == TMB_COLL_REDUCE || kind == TMB_COLL_ALLREDUCE || kind == TMB_COLL_REDUCE_SCATTER ||
         kind == TMB_COLL_SCAN || kind == TMB_COLL_EXSCAN;
}

/* ---- node maps */

enum node_map { ROUND_ROBIN, RANGES, UNEVEN, SCATTERED };

/* Node of a rank, below the size. in per: members of a node where they are alike. */
static uint32_t label_of(enum node_map map, uint32_t rank, uint32_t size, uint32_t per) {
  uint32_t node = 0, end = 1;
  switch (map) {
  case ROUND_ROBIN: return rank % ((size + per - 1) / per);
  case RANGES: return rank / per;
  case UNEVEN: /* of 1, 2, ..., per, 1, 2, ... ranks */
    while (rank >= end) end += 1 + ++node % per;
    return node;
  default: return rank * UINT32_C(2654435761) / 65536 % ((size + per - 1) / per);
  }
}

static struct tmb_coll_nodes *nodes_make(enum node_map map, uint32_t size, uint32_t per) {
  uint32_t *label = zeros(size * sizeof *label);
  for (uint32_t r = 0; r < size; r++) label[r] = label_of(map, r, size, per);
  struct tmb_coll_nodes *nodes = tmb_coll_nodes_make(label, size, size);
  assert_non_null(nodes);
  free(label);
  return nodes;
}

/* ---- every case */

/* Variants of a case: enough to combine early and late, lengths, roots, operators and maps. */
static unsigned variants(const struct tmb_coll_alg *alg) {
  return alg->needs & TMB_ALG_NODES ? 15 : reduces(alg->kind) ? 8 : 6;
}

static enum node_map map_of(const struct tmb_coll_alg *alg, unsigned variant) {
  const unsigned map = (variant + variant / 4) % 4;
  return alg->needs & TMB_ALG_RANGES ? RANGES + map % 2 : map;
}

/* Runs one algorithm at one size. Returns whether it was affordable. */
static bool run_variant(const struct tmb_coll_alg *alg, uint32_t size, unsigned v,
                        struct world *w) {
  static const uint32_t counts[] = {1, 5, 67};
  const bool large = size > 64;
  /* Pipelines use a map where there is one. */
  const bool by_nodes = (alg->needs & TMB_ALG_NODES) || v % 5 % 2 == 0;
  struct tmb_coll_nodes *nodes = nodes_make(map_of(alg, v), size, large ? 16 : 1 + (v * 3 + 1) % 5);
  *w = (struct world){.alg = alg, .late = v % 2, .in_place = false};
  w->shape = (struct tmb_coll_shape){.kind = alg->kind,
                                     .size = size,
                                     .bytes = 8 * counts[large ? 0 : v % 3],
                                     .elem = reduces(alg->kind) ? 8 : 1,
                                     .segment = 24,
                                     .eager = v % 6 < 3 ? 1000000 : 16,
                                     .pull = UINT64_MAX,
                                     .radix = 2 + v % 4,
                                     .commutes = reduces(alg->kind) && v / 2 % 2,
                                     .crowded = v % 5 < 2,
                                     .board = v / 3 % 2,
                                     .src = {TMB_BUF_SRC, 0},
                                     .dst = {TMB_BUF_DST, 0},
                                     .nodes = by_nodes ? nodes : NULL};
  if (!tmb_coll_alg_legal(alg, &w->shape)) w->shape.commutes = true;
  if (v + 1 == variants(alg)) w->shape.bytes = 0;
  w->in_place = (alg->kind == TMB_COLL_ALLREDUCE || alg->kind == TMB_COLL_BROADCAST) && v % 4 == 2;
  if (rooted(alg->kind)) w->shape.root = v % 3 == 0 ? 0 : v % 3 == 1 ? size - 1 : size / 2;
  const bool ran = run_case(w);
  free(nodes);
  return ran;
}

/* All variants of a size up to 32, of two-level forms a third (each time others) up to 64, a few of
 * larger ones. out w: figures of the last one. */
static bool run_size(const struct tmb_coll_alg *alg, uint32_t size, struct world *w) {
  static const unsigned few[] = {7, 2, 1};
  const unsigned stride = size > 32 && (alg->needs & TMB_ALG_NODES) ? 3 : 1;
  bool ran = false;
  if (size <= 64)
    for (unsigned v = size % stride; v < variants(alg); v += stride)
      ran |= run_variant(alg, size, v, w);
  for (unsigned i = alg->needs & TMB_ALG_NODES ? 0 : 2; i < 3 && size > 64; i++)
    ran |= run_variant(alg, size, few[i], w);
  return ran;
}

static void print_figures(const struct world *w) {
  printf("%-15s %-14s %6u %7u %12llu %12llu %7u %12llu %12llu\n", tmb_coll_kind_name(w->alg->kind),
         w->alg->name, w->shape.size, w->depth, (unsigned long long)w->messages,
         (unsigned long long)w->sent_bytes, w->far, (unsigned long long)w->far_messages,
         (unsigned long long)w->far_bytes);
}

static bool every_size;     /* the long test */
static unsigned larger = 2; /* sizes above 64 */

/* The sizes of the short test: around powers of two, and primes. */
static bool is_chosen(uint32_t size) {
  static const uint32_t chosen[] = {1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 33};
  for (unsigned i = 0; i < TMB_ARRAY_LEN(chosen); i++)
    if (chosen[i] == size) return true;
  return every_size;
}

TEST(every_schedule) {
  static const uint32_t more[] = {100, 128, 255, 1000, 1024, 4095, 4096};
  uint32_t count;
  const struct tmb_coll_alg *alg = tmb_coll_algs(&count);
  printf("%-15s %-14s %6s %7s %12s %12s %7s %12s %12s\n", "collective", "algorithm", "ranks",
         "rounds", "messages", "bytes", "far", "messages", "bytes");
  for (uint32_t a = 0; a < count; a++) {
    struct world w = {0};
    if (alg[a].needs & TMB_ALG_SHARED) continue; /* no schedule */
    for (uint32_t size = 1; size <= 64; size++)
      if (is_chosen(size)) assert_true(run_size(&alg[a], size, &w));
    for (unsigned i = 0; i < larger && i < TMB_ARRAY_LEN(more); i++)
      if (run_size(&alg[a], more[i], &w) && w.messages &&
          (more[i] == 128 || more[i] == 1000 || more[i] == 4096))
        print_figures(&w);
  }
}

/* ---- the number of rounds that the literature promises */

static struct world figures_of(uint32_t kind, const char *name, uint32_t size,
                               const struct tmb_coll_nodes *nodes, bool crowded) {
  struct world w = {.alg = tmb_coll_alg_find(kind, name)};
  assert_non_null(w.alg);
  w.shape = (struct tmb_coll_shape){.kind = kind,
                                    .size = size,
                                    .bytes = 8,
                                    .elem = reduces(kind) ? 8 : 1,
                                    .segment = 8,
                                    .eager = 1000000,
                                    .pull = UINT64_MAX,
                                    .radix = 2,
                                    .commutes = w.alg->needs & TMB_ALG_COMMUTES,
                                    .crowded = crowded,
                                    .src = {TMB_BUF_SRC, 0},
                                    .dst = {TMB_BUF_DST, 0},
                                    .nodes = nodes};
  assert_true(run_case(&w));
  return w;
}

static uint32_t rounds_of(uint32_t kind, const char *name, uint32_t size) {
  return figures_of(kind, name, size, NULL, false).depth;
}

TEST(rounds) {
  assert_int_equal(rounds_of(TMB_COLL_BROADCAST, "knomial", 64), 6);
  assert_int_equal(rounds_of(TMB_COLL_BROADCAST, "chain", 64), 63);
  assert_int_equal(rounds_of(TMB_COLL_BROADCAST, "tree", 127), 6);
  assert_int_equal(rounds_of(TMB_COLL_REDUCE, "chain", 64), 63);
  assert_int_equal(rounds_of(TMB_COLL_REDUCE, "tree", 127), 6);
  assert_int_equal(rounds_of(TMB_COLL_REDUCE, "binomial", 64), 6);
  assert_int_equal(rounds_of(TMB_COLL_ALLREDUCE, "doubling", 64), 6);
  assert_int_equal(rounds_of(TMB_COLL_ALLREDUCE, "doubling", 65), 7);
  assert_int_equal(rounds_of(TMB_COLL_ALLREDUCE, "flat", 64), 2);
  assert_int_equal(rounds_of(TMB_COLL_ALLGATHER, "bruck", 63), 6);
  assert_int_equal(rounds_of(TMB_COLL_ALLGATHER, "ring", 64), 63);
  assert_int_equal(rounds_of(TMB_COLL_EXCHANGE, "bruck", 64), 6);
  assert_int_equal(rounds_of(TMB_COLL_SCAN, "doubling", 64), 6);
  assert_int_equal(rounds_of(TMB_COLL_SYNC, "dissemination", 64), 6);
  assert_int_equal(rounds_of(TMB_COLL_GATHER, "binomial", 64), 6);
  /* log2 rounds of halving, one to the owners of the blocks: operators that do not commute */
  assert_int_equal(rounds_of(TMB_COLL_REDUCE_SCATTER, "halving", 64), 7);
  assert_int_equal(rounds_of(TMB_COLL_REDUCE_SCATTER, "halving", 65), 7);
}

/* 8 nodes of 8 ranks: how often messages go from node to node, in all and one after another. */
TEST(between_nodes) {
  static const struct {
    uint32_t kind;
    uint64_t messages;
    uint32_t rounds;
  } want[] = {{TMB_COLL_BROADCAST, 7, 3},  {TMB_COLL_REDUCE, 7, 3},
              {TMB_COLL_ALLREDUCE, 24, 3}, {TMB_COLL_SCATTER, 7, 3},
              {TMB_COLL_GATHER, 7, 3},     {TMB_COLL_ALLGATHER, 24, 3},
              {TMB_COLL_EXCHANGE, 56, 7},  {TMB_COLL_REDUCE_SCATTER, 24, 3},
              {TMB_COLL_SCAN, 21, 3},      {TMB_COLL_EXSCAN, 21, 3},
              {TMB_COLL_SYNC, 24, 3}};
  struct tmb_coll_nodes *nodes = nodes_make(RANGES, 64, 8);
  for (unsigned i = 0; i < TMB_ARRAY_LEN(want); i++) {
    for (int crowded = 0; crowded < 2; crowded++) {
      const struct world w = figures_of(want[i].kind, "nodes", 64, nodes, crowded);
      assert_int_equal(w.far_messages, want[i].messages);
      assert_int_equal(w.far, want[i].rounds);
    }
  }
  free(nodes);
}

/* 8 nodes of 8 ranks: where these outnumber the processors of a host, one round inside a node takes
 * the place of three. */
TEST(stars_inside) {
  struct tmb_coll_nodes *nodes = nodes_make(RANGES, 64, 8);
  assert_int_equal(figures_of(TMB_COLL_ALLREDUCE, "nodes", 64, nodes, false).depth, 3 + 3 + 3);
  assert_int_equal(figures_of(TMB_COLL_ALLREDUCE, "nodes", 64, nodes, true).depth, 1 + 3 + 1);
  assert_int_equal(figures_of(TMB_COLL_ALLGATHER, "nodes", 64, nodes, true).depth, 1 + 3 + 1);
  assert_int_equal(figures_of(TMB_COLL_REDUCE, "nodes", 64, nodes, true).depth, 1 + 3);
  free(nodes);
}

TEST(node_numbers) {
  static const uint32_t label[] = {5, 5, 2, 5, 9, 2}, ranges[] = {7, 7, 0, 0, 0, 3};
  struct tmb_coll_nodes *n = tmb_coll_nodes_make(label, 6, 10);
  assert_non_null(n);
  assert_int_equal(n->count, 3);
  assert_int_equal(n->largest, 3);
  assert_false(n->ranges);
  assert_memory_equal(n->node, ((uint32_t[]){0, 0, 1, 0, 2, 1}), 24);
  assert_memory_equal(n->member, ((uint32_t[]){0, 1, 3, 2, 5, 4}), 24);
  assert_memory_equal(n->start, ((uint32_t[]){0, 3, 5, 6}), 16);
  free(n);
  n = tmb_coll_nodes_make(ranges, 6, 8);
  assert_non_null(n);
  assert_true(n->ranges);
  assert_memory_equal(n->start, ((uint32_t[]){0, 2, 5, 6}), 16);
  free(n);
}

int main(int argc, char **argv) {
  every_size = argc > 1;
  if (every_size) larger = strcmp(argv[1], "every") == 0 ? UINT_MAX : 3;
  return unit_run(NULL, NULL);
}
