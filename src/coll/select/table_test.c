/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parsing of tables and forced algorithms, and the resulting choices of select.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/unit_test.h"
#include "coll/select/table.h"

static struct tmb_coll_tuning defaults(void) {
  return (struct tmb_coll_tuning){
      .radix = 4, .segment = 1000, .segment_far = 500, .bcast_tree_max = 100};
}

static struct tmb_coll_shape shape(uint32_t kind, uint32_t size, uint64_t bytes, bool commutes) {
  return (struct tmb_coll_shape){.kind = kind, .size = size, .bytes = bytes, .commutes = commutes};
}

static const char *chosen(const struct tmb_coll_tuning *t, struct tmb_coll_shape c) {
  return tmb_coll_select(&c, t).alg->name;
}

static uint32_t kept(const char *text, const char *network, uint32_t hosts, uint32_t near) {
  struct tmb_coll_site job = {.hosts = {hosts, hosts}, .near = {near, near}};
  struct tmb_coll_rule *rules = NULL;
  struct tmb_coll_table_error error;
  uint32_t count = 0, lines = 0;
  snprintf(job.network, sizeof job.network, "%s", network);
  assert_true(tmb_coll_table_parse(text, &rules, &count, &error));
  tmb_coll_table_keep(rules, &count, &job);
  for (uint32_t i = 0; i < count; i++) lines = lines * 10 + rules[i].line;
  free(rules);
  return lines;
}

/* Rules hold for the jobs that the line `where` above them names. */
TEST(sites) {
  static const char *const bad[] = {"where udp 2",   "where udp 2 1 1",
                                    "where udp 0 1", "where udp 3-2 1",
                                    "where udp 2 x", "where averylongnameofanetwork 2 1"};
  const char *text = "scan 2 2 8 flat 2 1\n"
                     "where udp 2 *\n"
                     "scan 2 2 8 flat 2 1\n"
                     "where udp 3-4 2\n"
                     "scan 2 2 8 flat 2 1\n"
                     "where none * *\n"
                     "scan 2 2 8 flat 2 1\n";
  assert_int_equal(kept(text, "udp", 2, 7), 13);
  assert_int_equal(kept(text, "udp", 4, 2), 15);
  assert_int_equal(kept(text, "udp", 4, 1), 1);
  assert_int_equal(kept(text, "loop", 2, 2), 1);
  assert_int_equal(kept(text, "none", 1, 2), 17);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct tmb_coll_rule *rules = NULL;
    struct tmb_coll_table_error error;
    uint32_t count = 0;
    assert_false(tmb_coll_table_parse(bad[i], &rules, &count, &error));
    assert_int_equal(error.line, 1);
  }
}

TEST(tables) {
  struct tmb_coll_rule *rules = NULL;
  struct tmb_coll_table_error error;
  uint32_t count = 0;
  const char *text = "# comment\n"
                     "broadcast 2 4 64 flat 2 500   # first that fits\n"
                     "\n"
                     "broadcast 2 4 4096 scatter 2 500\n"
                     "allreduce 2 64 1000000 ring 3 7";
  assert_true(tmb_coll_table_parse(text, &rules, &count, &error));
  assert_int_equal(count, 3);
  struct tmb_coll_tuning t = defaults();
  t.rules = rules;
  t.rule_count = count;
  assert_string_equal(chosen(&t, shape(TMB_COLL_BROADCAST, 4, 64, false)), "flat");
  assert_string_equal(chosen(&t, shape(TMB_COLL_BROADCAST, 4, 65, false)), "scatter");
  assert_string_equal(chosen(&t, shape(TMB_COLL_BROADCAST, 4, 4097, false)), "chain");
  assert_string_equal(chosen(&t, shape(TMB_COLL_BROADCAST, 5, 64, false)), "knomial");
  assert_string_equal(chosen(&t, shape(TMB_COLL_ALLREDUCE, 8, 8, true)), "ring");
  assert_string_equal(chosen(&t, shape(TMB_COLL_ALLREDUCE, 8, 8, false)), "halving");
  const struct tmb_coll_shape c = shape(TMB_COLL_ALLREDUCE, 8, 8, true);
  assert_int_equal(tmb_coll_select(&c, &t).radix, 3);
  assert_int_equal(tmb_coll_select(&c, &t).segment, 7);
  assert_int_equal(tmb_coll_select(&c, &t).line, 5);
  assert_int_equal(tmb_coll_select(&c, &t).reason, TMB_CHOICE_RULE);
  free(rules);
}

TEST(bad_tables) {
  static const struct {
    const char *text;
    uint32_t line;
    const char *why;
  } bad[] = {
      {"broadcast 2 4 64 flat 2\n", 1, "fewer than 7 words"},
      {"\nbroadcast 2 4 64 flat 2 5 6\n", 2, "more than 7 words"},
      {"# x\nbroadcast 2 4 64 ring 2 5\n", 2,
       "'ring' is no algorithm of broadcast; write one of flat, knomial, chain, tree, scatter, "
       "nodes"},
      {"cast 2 4 64 flat 2 5\n", 1, "'cast' is no collective; write one of broadcast, reduce,"},
      {"broadcast 4 2 64 flat 2 5\n", 1, "ranks_max '2' is not a whole number from 4 to"},
      {"broadcast 0 2 64 flat 2 5\n", 1, "ranks_min '0' is not a whole number from 1 to"},
      {"broadcast 2 4 -64 flat 2 5\n", 1, "bytes '-64' is not a whole number from 0 to"},
      {"broadcast 2 4 64K flat 2 5\n", 1, "bytes '64K' is not"},
      {"broadcast 2 4 64 flat 1 5\n", 1, "radix '1' is not a whole number from 2 to 1024"},
      {"broadcast 2 4 64 flat 2 0\n", 1, "segment '0' is not a whole number from 1 to"},
  };
  struct tmb_coll_rule *rules = NULL;
  struct tmb_coll_table_error error;
  uint32_t count = 7;
  for (unsigned i = 0; i < TMB_ARRAY_LEN(bad); i++) {
    assert_false(tmb_coll_table_parse(bad[i].text, &rules, &count, &error));
    assert_int_equal(error.line, bad[i].line);
    if (!strstr(error.why, bad[i].why)) fail_msg("'%s' lacks '%s'", error.why, bad[i].why);
  }
  char text[300];
  memset(text, 'x', sizeof text);
  text[sizeof text - 1] = 0;
  assert_false(tmb_coll_table_parse(text, &rules, &count, &error));
  assert_non_null(strstr(error.why, "longer than"));
  assert_int_equal(count, 7);
  assert_true(tmb_coll_table_parse("", &rules, &count, &error));
  assert_int_equal(count, 0);
}

/* A setting is not understood, for a reason with these words. */
static void refused(struct tmb_coll_tuning *t, const char *text, const char *why) {
  struct tmb_coll_table_error error;
  assert_false(tmb_coll_forced_parse(text, t->forced, &error));
  assert_non_null(strstr(error.why, why));
}

TEST(forced) {
  struct tmb_coll_tuning t = defaults();
  struct tmb_coll_table_error error;
  assert_true(
      tmb_coll_forced_parse("broadcast=scatter,reduce-scatter=pairwise,", t.forced, &error));
  assert_string_equal(chosen(&t, shape(TMB_COLL_BROADCAST, 4, 1, false)), "scatter");
  assert_string_equal(chosen(&t, shape(TMB_COLL_REDUCE_SCATTER, 4, 1, true)), "pairwise");
  assert_string_equal(chosen(&t, shape(TMB_COLL_REDUCE_SCATTER, 4, 1, false)), "flat");
  assert_true(tmb_coll_forced_parse("broadcast=nodes", t.forced, &error));
  assert_string_equal(chosen(&t, shape(TMB_COLL_BROADCAST, 4, 1, false)), "knomial");
  refused(&t, "broadcast=ring", "'ring' is no algorithm of broadcast; write one of flat,");
  refused(&t, "scan=flat,nothing", "'nothing' is not collective=algorithm");
  refused(&t, "scans=flat", "'scans' is no collective; write one of");
}

/* Parameters of a forced algorithm, and one for all collectives. */
TEST(forced_more) {
  struct tmb_coll_tuning t = defaults();
  struct tmb_coll_table_error error;
  struct tmb_coll_shape c = shape(TMB_COLL_BROADCAST, 4, 1, false);
  assert_true(
      tmb_coll_forced_parse("all=flat,broadcast=chain:3:77,scan=doubling", t.forced, &error));
  assert_string_equal(chosen(&t, shape(TMB_COLL_REDUCE, 4, 1, false)), "flat");
  assert_string_equal(chosen(&t, shape(TMB_COLL_SCAN, 4, 1, false)), "doubling");
  assert_string_equal(chosen(&t, shape(TMB_COLL_SYNC, 4, 1, false)), "dissemination");
  assert_string_equal(chosen(&t, c), "chain");
  assert_int_equal(tmb_coll_select(&c, &t).radix, 3);
  assert_int_equal(tmb_coll_select(&c, &t).segment, 77);
  c.kind = TMB_COLL_SCAN;
  assert_int_equal(tmb_coll_select(&c, &t).radix, 4);
  assert_int_equal(tmb_coll_select(&c, &t).segment, 1000);
  refused(&t, "broadcast=chain:1", "radix '1' is not a whole number from 2 to 1024");
  refused(&t, "broadcast=chain:2:x", "segment 'x' is not");
  refused(&t, "all=rung", "'rung' is an algorithm of no collective");
}

/* Every kind has a flat form or the only one, and something is always chosen. */
/* A name in settings and the number inside mean one algorithm. */
TEST(names) {
  uint32_t count;
  const struct tmb_coll_alg *algs = tmb_coll_algs(&count);
  for (uint32_t i = 0; i < count; i++) {
    assert_ptr_equal(tmb_coll_alg_find(algs[i].kind, algs[i].name), &algs[i]);
    for (uint32_t j = 0; j < count; j++)
      assert_int_equal(strcmp(algs[i].name, algs[j].name) == 0, algs[i].id == algs[j].id);
  }
}

TEST(always_something) {
  const struct tmb_coll_tuning t = defaults();
  for (uint32_t kind = 0; kind < TMB_COLL_KINDS; kind++) {
    assert_int_equal(tmb_coll_kind_find(tmb_coll_kind_name(kind)), kind);
    for (uint32_t size = 1; size < 40; size++)
      for (uint64_t bytes = 0; bytes < 1000000; bytes = bytes * 3 + 1) {
        const struct tmb_coll_shape c = shape(kind, size, bytes, size % 2);
        const struct tmb_coll_choice choice = tmb_coll_select(&c, &t);
        assert_non_null(choice.alg);
        assert_int_equal(choice.alg->kind, kind);
        assert_true(tmb_coll_alg_legal(choice.alg, &c));
        assert_false(choice.alg->needs & TMB_ALG_NODES);
      }
  }
}

/* Long vectors: a chain through few members or nodes, or where it is short beside the vector. */
TEST(pipelines) {
  static const struct {
    uint32_t size, per_node;
    uint64_t bytes;
    const char *name;
    uint64_t segment;
  } want[] = {{8, 1, 65536, "chain", 32768},    {9, 1, 65536, "chain", 16384},
              {64, 1, 65536, "tree", 16384},    {64, 16, 65536, "chain", 32768},
              {1024, 16, 65536, "tree", 16384}, {1024, 16, 1 << 20, "chain", 16384},
              {1024, 1, 1 << 20, "tree", 16384}};
  for (size_t i = 0; i < TMB_ARRAY_LEN(want); i++)
    for (int reduces = 0; reduces < 2; reduces++) {
      uint32_t label[1024];
      for (uint32_t r = 0; r < want[i].size; r++) label[r] = r / want[i].per_node;
      struct tmb_coll_shape c =
          shape(reduces ? TMB_COLL_REDUCE : TMB_COLL_BROADCAST, want[i].size, want[i].bytes, true);
      c.pull = UINT64_MAX;
      if (want[i].per_node > 1)
        c.nodes = tmb_coll_nodes_make(label, want[i].size, want[i].size / want[i].per_node);
      const struct tmb_coll_choice choice = tmb_coll_select(&c, &tmb_coll_thresholds);
      assert_string_equal(choice.alg->name, want[i].name);
      assert_int_equal(choice.segment, want[i].segment);
      free((void *)(uintptr_t)c.nodes);
    }
}

/* Between hosts, and where ranks outnumber processors, long scans go along a chain, unless it is
 * long beside the vector. */
TEST(scans) {
  static const struct {
    uint32_t size;
    uint64_t bytes;
    const char *far, *near;
  } want[] = {{2, 1 << 20, "doubling", "doubling"},   {4, 32 << 10, "doubling", "doubling"},
              {4, 64 << 10, "flat", "doubling"},      {8, 64 << 10, "flat", "doubling"},
              {16, 64 << 10, "doubling", "doubling"}, {64, 1 << 20, "flat", "doubling"},
              {1024, 1 << 20, "doubling", "doubling"}};
  static const uint8_t far[1024] = {1};
  for (size_t i = 0; i < TMB_ARRAY_LEN(want); i++)
    for (int exclusive = 0; exclusive < 2; exclusive++) {
      struct tmb_coll_shape c =
          shape(exclusive ? TMB_COLL_EXSCAN : TMB_COLL_SCAN, want[i].size, want[i].bytes, true);
      assert_string_equal(chosen(&tmb_coll_thresholds, c), want[i].near);
      c.crowded = true;
      assert_string_equal(chosen(&tmb_coll_thresholds, c), want[i].far);
      c.crowded = false;
      c.far = far;
      assert_string_equal(chosen(&tmb_coll_thresholds, c), want[i].far);
    }
}

/* Long blocks of an all-gather enter a node once. */
TEST(allgathers) {
  const uint32_t label[] = {0, 0, 1, 1};
  struct tmb_coll_nodes *map = tmb_coll_nodes_make(label, 4, 2);
  struct tmb_coll_tuning t = tmb_coll_thresholds;
  struct tmb_coll_shape c = shape(TMB_COLL_ALLGATHER, 4, 16 << 10, true);
  t.nodes_max = 0;
  assert_string_equal(chosen(&t, c), "flat");
  c.nodes = map;
  assert_string_equal(chosen(&t, c), "flat");
  c.bytes++;
  assert_string_equal(chosen(&t, c), "ring");
  c.nodes = NULL;
  assert_string_equal(chosen(&t, c), "flat");
  free(map);
}

/* Two levels: never without a map, and with operators that do not commute only over ranges. */
TEST(nodes) {
  struct tmb_coll_tuning t = defaults();
  const uint32_t ranges[] = {0, 0, 1, 1, 1}, mixed[] = {0, 1, 0, 1, 0};
  struct tmb_coll_nodes *map[2] = {tmb_coll_nodes_make(ranges, 5, 2),
                                   tmb_coll_nodes_make(mixed, 5, 2)};
  t.nodes_max = 100;
  for (uint32_t kind = 0; kind < TMB_COLL_KINDS; kind++)
    for (int i = 0; i < 8; i++) {
      const bool scan = kind == TMB_COLL_SCAN || kind == TMB_COLL_EXSCAN, commutes = i & 1;
      const bool reduces =
          kind == TMB_COLL_REDUCE || kind == TMB_COLL_ALLREDUCE || kind == TMB_COLL_REDUCE_SCATTER;
      struct tmb_coll_shape c = shape(kind, 5, i & 2 ? 20 : 101, commutes);
      assert_non_null(map[i / 4]);
      c.nodes = map[i / 4];
      const bool has = tmb_coll_alg_find(kind, "nodes") != NULL;
      const bool can = has && (i < 4 || (reduces ? commutes : !scan));
      const bool is = strcmp(chosen(&t, c), "nodes") == 0;
      assert_int_equal(is, can && (i & 2 || kind == TMB_COLL_ALLGATHERV));
    }
  t.nodes_max = 0;
  struct tmb_coll_shape c = shape(TMB_COLL_BROADCAST, 5, 0, false);
  c.nodes = map[0];
  assert_string_equal(chosen(&t, c), "knomial");
  assert_true(
      tmb_coll_forced_parse("broadcast=nodes", t.forced, &(struct tmb_coll_table_error){0, ""}));
  assert_string_equal(chosen(&t, c), "nodes");
  free(map[0]);
  free(map[1]);
}

/* The mean block of an all-gather V is compared; the other V forms know no length that is equal on
 * all. */
TEST(v_lengths) {
  const uint64_t bytes[] = {50, 0, 10, 41, 0}, at[5] = {0};
  const uint32_t label[] = {0, 0, 1, 1, 1};
  struct tmb_coll_nodes *map = tmb_coll_nodes_make(label, 5, 2);
  struct tmb_coll_tuning t = defaults();
  struct tmb_coll_shape c = shape(TMB_COLL_ALLGATHERV, 5, 0, false);
  assert_non_null(map);
  c.nodes = map;
  c.recv = (struct tmb_coll_blocks){bytes, at};
  t.nodes_max = 104; /* 101 bytes: 21 a block */
  assert_string_equal(chosen(&t, c), "ring");
  t.nodes_max = 105;
  assert_string_equal(chosen(&t, c), "nodes");
  free(map);
}

/* A broadcast among few is limited as copies are; where the source cannot be read it is shown. */
static void check_broadcast(const struct tmb_coll_tuning *t, struct tmb_coll_shape c) {
  struct tmb_coll_choice why;
  c.kind = TMB_COLL_BROADCAST;
  assert_false(tmb_coll_select_shared(&c, t, 401, &why));
  struct tmb_coll_tuning streams = *t;
  streams.shared_streams = true;
  assert_true(tmb_coll_select_shared(&c, &streams, 1 << 30, &why));
  c.pull = UINT64_MAX;
  assert_true(tmb_coll_select_shared(&c, t, 401, &why));
}

/* Two members: one shows data of any length to the other. Where both combine, far ones have the
 * limit of copies if they can read each other's memory. */
static void check_pairs(struct tmb_coll_tuning t, struct tmb_coll_shape c) {
  static const uint32_t one_way[] = {TMB_COLL_REDUCE, TMB_COLL_GATHER, TMB_COLL_SCAN,
                                     TMB_COLL_EXSCAN};
  static const uint32_t both[] = {TMB_COLL_ALLREDUCE, TMB_COLL_REDUCE_SCATTER};
  struct tmb_coll_choice why;
  t.shared_max = 500;
  t.shared_copy_max = 400;
  t.shared_pairs = true;
  c.size = 2;
  c.kind = TMB_COLL_GATHER; /* read in place, unless slots are filled fast */
  c.pull = 0;
  assert_true(tmb_coll_select_shared(&c, &t, 400, &why));
  assert_false(tmb_coll_select_shared(&c, &t, 401, &why));
  t.shared_streams = true;
  for (uint32_t i = 0; i < TMB_ARRAY_LEN(one_way); i++) {
    c.kind = one_way[i];
    assert_true(tmb_coll_select_shared(&c, &t, 1 << 30, &why));
    t.shared_pairs = false; /* a setting limits what is shown */
    assert_false(tmb_coll_select_shared(&c, &t, 1 << 30, &why));
    t.shared_pairs = true;
    c.size = 3;
    assert_false(tmb_coll_select_shared(&c, &t, 1 << 30, &why));
    c.size = 2;
  }
  t.shared_streams = false;
  t.shared_near = true; /* but each reads the other's memory, which may be mapped */
  c.kind = TMB_COLL_GATHER;
  assert_true(tmb_coll_select_shared(&c, &t, 1 << 30, &why));
  c.kind = TMB_COLL_ALLREDUCE;
  c.pull = 0;
  assert_false(tmb_coll_select_shared(&c, &t, 1 << 30, &why));
  c.pull = UINT64_MAX;
  assert_true(tmb_coll_select_shared(&c, &t, 1 << 30, &why));
  t.shared_near = false;
  for (uint32_t i = 0; i < TMB_ARRAY_LEN(both); i++) {
    c.kind = both[i];
    c.pull = 0;
    t.shared_far = false;
    assert_true(tmb_coll_select_shared(&c, &t, 500, &why));
    assert_false(tmb_coll_select_shared(&c, &t, 501, &why));
    t.shared_far = true;
    assert_true(tmb_coll_select_shared(&c, &t, 400, &why));
    assert_false(tmb_coll_select_shared(&c, &t, 401, &why));
    c.pull = UINT64_MAX;
    assert_true(tmb_coll_select_shared(&c, &t, 500, &why));
  }
}

/* Where ranks outnumber processors, one member combines for all. A client's function is called by
 * each of them. */
static void check_folds(struct tmb_coll_tuning t, struct tmb_coll_shape c) {
  struct tmb_coll_choice why;
  c.kind = TMB_COLL_ALLREDUCE;
  for (uint32_t size = 4; size <= 16; size *= 2) {
    const uint64_t most = 128 << 10;
    c.size = t.shared_ranks_max = size;
    c.folds = true;
    assert_true(tmb_coll_select_shared(&c, &t, most, &why));
    assert_false(tmb_coll_select_shared(&c, &t, most + 1, &why));
    c.folds = false;
    assert_false(tmb_coll_select_shared(&c, &t, most, &why));
  }
}

/* Exchanges of a oversubscribed host are flat up to more members, but not those with other hosts.
 */
TEST(crowded_exchange) {
  const struct tmb_coll_tuning t = defaults();
  const uint8_t far[32] = {0};
  struct tmb_coll_shape c = shape(TMB_COLL_EXCHANGE, 16, 32 << 10, false);
  assert_string_equal(tmb_coll_select(&c, &t).alg->name, "pairwise");
  c.crowded = true;
  assert_string_equal(tmb_coll_select(&c, &t).alg->name, "flat");
  c.size = 17;
  assert_string_equal(tmb_coll_select(&c, &t).alg->name, "pairwise");
  c.size = 16;
  c.far = far;
  assert_string_equal(tmb_coll_select(&c, &t).alg->name, "pairwise");
}

/* Two members of a host that read each other's memory combine long vectors in one step. */
TEST(allreduce_of_two) {
  const struct tmb_coll_tuning t = defaults();
  const uint8_t far[2] = {0};
  struct tmb_coll_shape c = shape(TMB_COLL_ALLREDUCE, 2, 1 << 20, true);
  c.pull = 8 << 10;
  assert_string_equal(chosen(&t, c), "doubling");
  c.far = far;
  assert_string_equal(chosen(&t, c), "halving");
  c.far = NULL;
  c.pull = UINT64_MAX;
  assert_string_equal(chosen(&t, c), "halving");
  c.pull = 8 << 10;
  c.size = 4;
  assert_string_equal(chosen(&t, c), "halving");
}

/* Two members whose processors are near each other send long data that one has for the other, once
 * the other is ready: then those in a mapped segment are offered. Blocks of exchanges only up to a
 * length. */
TEST(pair_lengths) {
  static const uint32_t kinds[] = {TMB_COLL_BROADCAST, TMB_COLL_SCATTER, TMB_COLL_EXCHANGE,
                                   TMB_COLL_ALLGATHER, TMB_COLL_ALLREDUCE};
  struct tmb_coll_tuning t = tmb_coll_thresholds;
  const uint8_t far[3] = {0};
  for (uint32_t i = 0; i < TMB_ARRAY_LEN(kinds); i++)
    for (uint32_t other = 0; other < 5; other++) {
      struct tmb_coll_shape c =
          shape(kinds[i], other == 1 ? 3 : 2, other == 4 ? 2 << 20 : 1 << 20, true);
      c.pull = 8 << 10;
      c.eager = 64 << 10;
      c.far = other == 2 ? far : NULL;
      t.pairs_near = other != 3;
      tmb_coll_select_lengths(&c, &t);
      const bool sent = i < 3 && (!other || (other == 4 && kinds[i] != TMB_COLL_EXCHANGE));
      assert_int_equal(c.pull, sent ? UINT64_MAX : 8 << 10);
      assert_int_equal(c.eager, (sent ? 16 : 64) << 10);
    }
}

/* In crowded exchanges, memory of others is read if that was measured to be faster, and only in
 * exchanges; few bytes come unasked. In no others. */
TEST(crowded_lengths) {
  struct tmb_coll_tuning t = defaults();
  const uint8_t far[32] = {0};
  struct tmb_coll_shape c = shape(TMB_COLL_EXCHANGE, 5, 32 << 10, false);
  c.pull = 8 << 10;
  c.eager = 64 << 10;
  tmb_coll_select_lengths(&c, &t);
  assert_int_equal(c.pull, 8 << 10);
  c.crowded = true;
  c.far = far;
  tmb_coll_select_lengths(&c, &t);
  assert_int_equal(c.pull, 8 << 10);
  c.far = NULL;
  c.kind = TMB_COLL_ALLGATHER;
  tmb_coll_select_lengths(&c, &t);
  assert_int_equal(c.eager, 64 << 10);
  c.kind = TMB_COLL_EXCHANGE;
  tmb_coll_select_lengths(&c, &t);
  assert_int_equal(c.pull, UINT64_MAX);
  assert_int_equal(c.eager, 32 << 10);
  t.crowded_read = true;
  tmb_coll_select_lengths(&c, &t);
  assert_int_equal(c.pull, UINT64_MAX); /* the kernel refuses */
  c.pull = 8 << 10;
  tmb_coll_select_lengths(&c, &t);
  assert_int_equal(c.pull, 16 << 10);
  c.eager = 100; /* by a setting */
  tmb_coll_select_lengths(&c, &t);
  assert_int_equal(c.eager, 100);
  c.kind = TMB_COLL_ALLREDUCE;
  c.eager = 64 << 10;
  tmb_coll_select_lengths(&c, &t);
  assert_int_equal(c.eager, 32 << 10);
  assert_int_equal(c.pull, UINT64_MAX);
  c.size = 1;
  tmb_coll_select_lengths(&c, &t);
}

/* When shared memory is chosen: forced, by a rule, by the threshold; never where messages are
 * asked for. */
TEST(shared) {
  struct tmb_coll_tuning t = defaults();
  struct tmb_coll_table_error error;
  struct tmb_coll_choice why;
  struct tmb_coll_rule *rules = NULL;
  struct tmb_coll_shape c = shape(TMB_COLL_EXCHANGE, 4, 100, false);
  c.shared = true;
  t.shared_max = 400;
  t.shared_copy_max = 400;
  t.shared_ranks_max = 4;
  assert_true(tmb_coll_select_shared(&c, &t, 400, &why));
  assert_int_equal(why.reason, TMB_CHOICE_THRESHOLD);
  assert_string_equal(why.alg->name, "board");
  assert_false(tmb_coll_select_shared(&c, &t, 401, &why));
  c.kind = TMB_COLL_BROADCAST;
  t.shared_long = true; /* with a limit for blocks, and where every member combines all data */
  assert_true(tmb_coll_select_shared(&c, &t, UINT64_MAX, &why));
  c.kind = TMB_COLL_EXCHANGE;
  assert_true(tmb_coll_select_shared(&c, &t, 16 << 10, &why));
  assert_false(tmb_coll_select_shared(&c, &t, (16 << 10) + 1, &why));
  check_folds(t, c);
  c.kind = TMB_COLL_SCAN;
  c.size = t.shared_ranks_max = 32;
  assert_true(tmb_coll_select_shared(&c, &t, 8 << 10, &why));
  assert_false(tmb_coll_select_shared(&c, &t, (8 << 10) + 1, &why));
  c.kind = TMB_COLL_EXCHANGE;
  t.shared_long = false;
  c.size = t.shared_ranks_max = 4;
  t.shared_near = true; /* for a team as small as this one, blocks as well */
  assert_true(tmb_coll_select_shared(&c, &t, 401, &why));
  c.size = 8;
  t.shared_ranks_max = 8;
  assert_false(tmb_coll_select_shared(&c, &t, 401, &why));
  c.size = t.shared_ranks_max = 4;
  t.shared_near = false;
  t.shared_max = 500; /* copies have a limit of their own */
  assert_false(tmb_coll_select_shared(&c, &t, 401, &why));
  check_broadcast(&t, c);
  check_pairs(t, c);
  c.kind = TMB_COLL_ALLREDUCE;
  assert_true(tmb_coll_select_shared(&c, &t, 401, &why));
  c.kind = TMB_COLL_EXCHANGE;
  t.shared_ranks_max = 3;
  assert_false(tmb_coll_select_shared(&c, &t, 400, &why));
  assert_true(tmb_coll_table_parse("exchange 4 4 50 flat 2 1\nexchange 4 4 100 board 2 1\n"
                                   "exchange 4 4 200 pairwise 2 1\n",
                                   &rules, &t.rule_count, &error));
  t.rules = rules;
  assert_true(tmb_coll_select_shared(&c, &t, 400, &why));
  assert_int_equal(why.reason, TMB_CHOICE_RULE);
  assert_int_equal(why.line, 2);
  t.shared_ranks_max = 4;
  c.bytes = 50;
  assert_false(tmb_coll_select_shared(&c, &t, 200, &why));
  c.bytes = 100; /* of messages: the next rule that is none */
  c.shared = false;
  assert_string_equal(chosen(&t, c), "pairwise");
  c.shared = true;
  assert_true(tmb_coll_forced_parse("exchange=bruck", t.forced, &error));
  assert_false(tmb_coll_select_shared(&c, &t, 400, &why));
  assert_true(tmb_coll_forced_parse("exchange=board", t.forced, &error));
  t.shared_max = 0;
  assert_true(tmb_coll_select_shared(&c, &t, 400, &why));
  assert_int_equal(why.reason, TMB_CHOICE_FORCED);
  c.shared = false;
  assert_string_equal(chosen(&t, c), "pairwise");
  free(rules);
}

/* Where the ranks of a node share memory, leaders carry longer data. */
TEST(boards) {
  static const struct {
    uint32_t kind;
    uint64_t two, four; /* the most bytes of 8 ranks on so many nodes */
  } most[] = {{TMB_COLL_BROADCAST, 1 << 20, 256 << 10},
              {TMB_COLL_REDUCE, 1 << 20, 1 << 20},
              {TMB_COLL_ALLREDUCE, 1 << 20, 1 << 20},
              {TMB_COLL_GATHER, (256 << 10) / 8, (256 << 10) / 8},
              {TMB_COLL_ALLGATHER, (4 << 20) / 8, (1 << 20) / 8},
              {TMB_COLL_EXCHANGE, (32 << 10) / 8, (32 << 10) / 8},
              {TMB_COLL_SCAN, 64 << 10, 64 << 10},
              {TMB_COLL_SCATTER, (256 << 10) / 8, (16 << 10) / 8}};
  const struct tmb_coll_tuning t = tmb_coll_thresholds;
  for (uint32_t nodes = 2; nodes <= 4; nodes += 2) {
    uint32_t label[8];
    for (uint32_t r = 0; r < 8; r++) label[r] = r / (8 / nodes);
    struct tmb_coll_nodes *map = tmb_coll_nodes_make(label, 8, nodes);
    for (size_t i = 0; i < TMB_ARRAY_LEN(most); i++)
      for (uint64_t more = 0; more < 2; more++) {
        const uint64_t bytes = (nodes == 2 ? most[i].two : most[i].four) + more;
        struct tmb_coll_shape c = shape(most[i].kind, 8, bytes, true);
        c.nodes = map;
        c.board = true;
        assert_int_equal(strcmp(chosen(&t, c), "nodes") == 0, !more);
      }
    struct tmb_coll_shape c = shape(TMB_COLL_BROADCAST, 8, 4 << 20, true);
    c.nodes = map;
    assert_int_equal(tmb_coll_select(&c, &t).segment, 32 << 10);
    c.board = true; /* few segments, for each wakes all */
    assert_int_equal(tmb_coll_select(&c, &t).segment, (4 << 20) / (2 * nodes));
    free(map);
  }
}

int main(void) {
  return unit_run(NULL, NULL);
}
