/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Search of an unbalanced tree, with stealing of work.
 *
 * The tree is that of the UTS benchmark (S. Olivier et al., "UTS: an unbalanced tree search
 * benchmark", LCPC 2006), binomial form: the root has many children, any other node 4 or none, as
 * its hash says; nobody knows how much lies below a node. A rank that has no nodes takes a chunk
 * from another one. Ways: `atomic` takes it out of the other's memory by get and compare-and-swap,
 * the owner takes no part; `message` asks for it by a letter. Calls: bench/lib only, so it runs on
 * MPI too (study/compare), without letters. Verification: the nodes and their hashes sum up to what
 * one rank finds alone. Exit codes: 0 verified, 1 failed, 2 refused.
 */
#include "lib/app.h"
#include "lib/mix.h"
#include "lib/words.h"

#include "pool.h"

#include <stdio.h>
#include <stdlib.h>

enum { ATOMIC, LETTER, WAYS };
static const struct job_way ways[] = {
    {"atomic", "nodes are taken by one-sided operations"},
    {"message", "nodes are asked for and given by messages"},
};

enum { ROOT, WORK };              /* of the options */
enum { ASK, GIVE, NONE };         /* first word of a letter; then the round, then a rank or nodes */
enum { CHILDREN = 4, POLL = 64 }; /* nodes between two polls for messages */
enum { SHOW = 1 << 16 };          /* nodes between two reads of the clock */
#define SHOW_SECONDS  2.0
#define WITH_CHILDREN 0.2497 /* share of nodes that have children */

struct sums {
  uint64_t nodes, hash; /* hash: below 2^20 a node, so that sums are exact in a double */
};

static struct {
  struct job *job;
  const struct app_options *options;
  struct pool pool;
  struct sums sums;
  uint64_t round; /* of the searches: old letters are not for this one */
  int asker;      /* a rank that wants nodes; -1: none */
  bool asking, given;
  uint64_t random;
} tree;

/* Visit a node: count it, do its work, and hand its children to `push`. */
static void visit(uint64_t node, bool is_root, struct sums *sums, struct pool *pool) {
  uint64_t hash = node;
  for (long k = 0; k < tree.options->n[WORK]; k++) hash = mix_next(hash);
  sums->nodes++;
  sums->hash += hash >> 44;
  const bool inner = (double)(mix_next(~node) >> 11) * 0x1p-53 < WITH_CHILDREN;
  const long children = is_root ? tree.options->n[ROOT] : inner ? CHILDREN : 0;
  for (long k = 0; k < children; k++) pool_push(pool, mix_next(node + (uint64_t)k + 1));
}

static void take_letter(const uint64_t *words, size_t count) {
  if (words[1] != tree.round) return;
  if (words[0] == ASK) {
    tree.asker = (int)words[2]; /* an earlier one that was not answered asks elsewhere in time */
    return;
  }
  tree.asking = false;
  if (words[0] != GIVE) return;
  for (size_t k = 2; k < count; k++) pool_push(&tree.pool, words[k]);
  tree.given = true;
}

/* Answer the rank that has asked. What is in flight counts as work. */
static void answer(void) {
  words_progress();
  const int asker = tree.asker;
  if (asker < 0) return;
  uint64_t letter[2 + POOL_CHUNK] = {NONE, tree.round};
  const size_t count = pool_split(&tree.pool, letter + 2);
  tree.asker = -1;
  if (count) {
    letter[0] = GIVE;
    pool_working(1);
  }
  words_letter(asker, letter, 2 + count);
}

/* Visit nodes until this rank has none. */
static void work(int way) {
  uint64_t node;
  for (uint64_t n = 1; pool_pop(&tree.pool, &node); n++) {
    visit(node, false, &tree.sums, &tree.pool);
    if (n % POLL) continue;
    if (way == LETTER)
      answer();
    else
      pool_share(&tree.pool);
  }
}

static int victim(void) {
  tree.random = mix_next(tree.random);
  const int v = (int)(tree.random % (uint64_t)(tree.job->size - 1));
  return v < tree.job->rank ? v : v + 1;
}

/* Get nodes from another rank. Returns false if there are none anywhere. */
static bool steal(int way) {
  pool_working(-1);
  tree.asking = tree.given = false;
  while (pool_any_working()) {
    if (tree.given) return true; /* who gave has counted this rank as working */
    if (tree.job->size == 1) continue;
    if (way == ATOMIC) {
      if (pool_steal(&tree.pool, victim())) return true;
      words_progress();
      continue;
    }
    if (!tree.asking) {
      tree.asking = true;
      words_letter(victim(), (const uint64_t[]){ASK, tree.round, (uint64_t)tree.job->rank}, 3);
    }
    answer();
  }
  return false;
}

static struct sums search(int way) {
  struct job *const job = tree.job;
  tree.sums = (struct sums){0, 0};
  tree.asker = -1;
  tree.round++;
  pool_start(&tree.pool);
  job_barrier(job);
  if (job->rank == 0) visit(1, true, &tree.sums, &tree.pool);
  bool found;
  do {
    app_enter(job, APP_COMPUTE);
    work(way);
    app_enter(job, APP_WAIT);
    found = steal(way);
  } while (found);
  return (struct sums){(uint64_t)job_sum(job, (double)tree.sums.nodes),
                       (uint64_t)job_sum(job, (double)tree.sums.hash)};
}

/* Say now and then how far the search of one rank is, which may be the longest part of all. */
static void show_alone(uint64_t nodes) {
  static double shown;
  const double now = job_now();
  if (shown == 0) shown = now;
  if (now - shown < SHOW_SECONDS) return;
  shown = now;
  fprintf(stderr, "%s: one rank alone: %.1f million nodes\n", tree.job->program,
          1e-6 * (double)nodes);
}

/* Sums that one rank finds alone; known on all ranks. */
static struct sums alone(struct job *job) {
  struct sums sums = {0, 0};
  uint64_t node;
  pool_start(&tree.pool);
  if (job->rank == 0) {
    visit(1, true, &sums, &tree.pool);
    while (pool_pop(&tree.pool, &node)) {
      visit(node, false, &sums, &tree.pool);
      if (sums.nodes % SHOW == 0) show_alone(sums.nodes);
    }
  }
  return (struct sums){(uint64_t)job_sum(job, (double)sums.nodes),
                       (uint64_t)job_sum(job, (double)sums.hash)};
}

static bool run(struct job *job, const struct app_options *o, int way, struct sums right) {
  double best = 0;
  bool good = true;
  job->way = way;
  for (long i = 0; app_iteration(job, o, i); i++) { /* the first one warms up */
    job_barrier(job);
    const double begin = job_now();
    struct sums found = search(way);
    double seconds = job_now() - begin;
    app_stop(job);
    seconds = job_max(job, seconds);
    if (i && i <= o->iterations && (best == 0 || seconds < best)) best = seconds;
    if (o->inject_error) found.hash++;
    good = good && found.nodes == right.nodes && found.hash == right.hash;
  }
  app_report(job, o,
             &(struct app_result){.seconds = best,
                                  .work = (double)right.nodes,
                                  .verified = good && !tree.pool.failed});
  return good;
}

static const struct app_number numbers[] = {
    {"root", 'r', 4000, 1, 10000000,
     "Children of the root; the tree has about 100 times as many nodes"},
    {"work", 'k', 32, 1, 1000000, "Rounds of a hash function at each node"}};
static const struct app_program program = APP_PROGRAM(
    "tree", "Search of an unbalanced tree", numbers, 3, APP_WAYS(ways), .unit = "M nodes/s");

static bool run_all(struct job *job, const struct app_options *options) {
  tree.job = job;
  tree.options = options;
  tree.random = (uint64_t)job->rank;
  pool_attach(&tree.pool, job);
  words_take(take_letter);
  const struct sums right = alone(job);
  bool good = true;
  app_head(job, options);
  APP_EACH_WAY(options, WAYS) {
    if (way < LETTER || words_letters()) good = run(job, options, way, right) && good;
  }
  if (job_sum(job, tree.pool.failed ? 1 : 0) != 0)
    job_refuse(job, "out of memory; take fewer children with --root");
  pool_free(&tree.pool);
  words_detach(job);
  return good;
}

int main(int argc, char **argv) {
  app_main(argc, argv, &program, run_all);
}
