/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Breadth-first search on a large random graph: many small accesses without any pattern.
 *
 * Level by level, each rank claims the neighbours of its vertices at their owners, who then take as
 * the next level what has been claimed and was not found before. Ways of claiming: a
 * compare-and-swap, a put (the last one wins), a letter (one claim), a letter of many claims.
 * Calls: bench/lib only, so it runs on MPI too (study/compare), without letters. Verification as
 * Graph500 does: the tree is made of edges, and levels of neighbours differ by one at most. Exit
 * codes: 0 verified, 1 failed, 2 refused.
 */
#include "lib/app.h"
#include "lib/words.h"

#include "graph.h"

#include <stdlib.h>
#include <string.h>

enum { SWAP, PUT, LETTER, LETTERS, WAYS };
static const struct job_way ways[] = {
    {"atomic", "remote compare-and-swap for each claim"},
    {"put", "small puts, and a search for the last writer"},
    {"message", "a message for each claim"},
    {"batch", "a message for many claims"},
};

/* A claim: FOUND, the level, the vertex that claims. Two words a letter: number, claim. */
#define FOUND       ((uint64_t)1 << 63)
#define LEVEL_SHIFT 40
#define CLAIM_OF(c) ((c) & (((uint64_t)1 << LEVEL_SHIFT) - 1))
#define LEVEL_OF(c) ((c) << 1 >> (LEVEL_SHIFT + 1))

static struct {
  struct graph graph;
  uint64_t *claimed;                /* [own] in the memory of words */
  uint64_t *found;                  /* [own] the claim that was taken */
  size_t *level;                    /* [own] numbers of the vertices of a level */
  size_t count;                     /* of them */
  uint64_t sent, taken;             /* letters' claims */
  uint64_t (*letter)[LETTER_WORDS]; /* [size] that are being filled */
  size_t *filled;                   /* [size] words of them */
} search;

static void take_letter(const uint64_t *words, size_t count) {
  for (size_t i = 0; i + 1 < count; i += 2) {
    search.claimed[words[i]] = words[i + 1];
    search.taken++;
  }
}

static void send_letter(int rank) {
  if (search.filled[rank]) words_letter(rank, search.letter[rank], search.filled[rank]);
  search.filled[rank] = 0;
}

static void claim(int way, uint64_t vertex, uint64_t word) {
  const int rank = graph_rank(&search.graph, vertex);
  const size_t number = graph_number(&search.graph, vertex);
  switch (way) {
  case SWAP: words_swap(rank, number, 0, word); return;
  case PUT: words_put(rank, number, word); return;
  default:
    search.sent++;
    search.letter[rank][search.filled[rank]++] = number;
    search.letter[rank][search.filled[rank]++] = word;
    if (way == LETTER || search.filled[rank] == LETTER_WORDS) send_letter(rank);
  }
}

/* All claims of all ranks have come. */
static void settle(struct job *job, int way) {
  if (way < LETTER) {
    words_wait();
    job_barrier(job);
    return;
  }
  for (int r = 0; r < job->size; r++) send_letter(r);
  const double sent = job_sum(job, (double)search.sent);
  while (job_sum(job, (double)search.taken) < sent) words_progress();
}

/* The next level of this rank: what has been claimed and was not found. */
static void collect(void) {
  search.count = 0;
  for (size_t n = 0; n < search.graph.own; n++) {
    if (search.found[n]) continue;
    search.found[n] = __atomic_load_n(&search.claimed[n], __ATOMIC_RELAXED);
    if (search.found[n]) search.level[search.count++] = n;
  }
}

static void search_from(struct job *job, int way, uint64_t root) {
  const struct graph *const g = &search.graph;
  search.count = 0;
  if (graph_rank(g, root) == g->rank) {
    const size_t n = graph_number(g, root);
    search.found[n] = FOUND | root;
    search.level[search.count++] = n;
  }
  for (uint64_t level = 1; job_sum(job, (double)search.count) > 0; level++) {
    app_enter(job, APP_SEND);
    for (size_t k = 0; k < search.count; k++) {
      const size_t n = search.level[k];
      const uint64_t word = FOUND | level << LEVEL_SHIFT | graph_vertex(g, n);
      for (size_t e = g->first[n]; e < g->first[n + 1]; e++) claim(way, g->neighbour[e], word);
    }
    app_enter(job, APP_WAIT);
    settle(job, way);
    app_enter(job, APP_COMPUTE);
    collect();
    app_enter(job, APP_WAIT);
  }
}

/* Whether vertex n of this rank, found as `all` tells of every vertex, is right. */
static bool vertex_is_right(const uint64_t *all, size_t n, uint64_t root) {
  const struct graph *const g = &search.graph;
  const uint64_t v = graph_vertex(g, n), mine = all[v], parent = CLAIM_OF(mine);
  bool is_edge = v == root;
  for (size_t e = g->first[n]; e < g->first[n + 1]; e++) {
    const uint64_t other = all[g->neighbour[e]];
    if (g->neighbour[e] == parent) is_edge = true;
    if (!mine != !other) return false; /* a neighbour of what is found is found */
    if (mine && LEVEL_OF(mine) + 1 < LEVEL_OF(other)) return false;
  }
  if (!mine) return true;
  if (v == root) return parent == root && LEVEL_OF(mine) == 0;
  return is_edge && all[parent] && LEVEL_OF(all[parent]) + 1 == LEVEL_OF(mine);
}

/* Wrong vertices of this rank. */
static size_t wrong(struct job *job, uint64_t root) {
  const struct graph *const g = &search.graph;
  uint64_t *const all = malloc(g->vertices * sizeof *all), *const part =
                                                               malloc(g->vertices * sizeof *part);
  size_t count = 0;
  if (job_sum(job, all && part ? 0 : 1) != 0)
    job_refuse(job, "out of memory; take a smaller --scale");
  memcpy(search.claimed, search.found, g->own * sizeof *search.found);
  job_barrier(job);
  for (int r = 0; r < job->size; r++) {
    const size_t n = (size_t)((g->vertices + (uint64_t)(job->size - 1 - r)) / (uint64_t)job->size);
    if (n) words_get(r, 0, n, part);
    for (size_t i = 0; i < n; i++) all[i * (size_t)job->size + (size_t)r] = part[i];
  }
  for (size_t n = 0; n < g->own; n++)
    if (!vertex_is_right(all, n, root)) count++;
  job_barrier(job);
  free(part);
  free(all);
  return count;
}

/* The lowest vertex of all that has an edge; any if none has. */
static uint64_t pick_root(struct job *job) {
  const struct graph *const g = &search.graph;
  double lowest = (double)g->vertices - 1;
  for (size_t n = g->own; n > 0; n--)
    if (g->first[n] > g->first[n - 1]) lowest = (double)graph_vertex(g, n - 1);
  return (uint64_t)-job_max(job, -lowest);
}

static bool run(struct job *job, const struct app_options *o, int way) {
  const struct graph *const g = &search.graph;
  const uint64_t root = pick_root(job);
  double best = 0;
  job->way = way;
  for (long i = 0; app_iteration(job, o, i); i++) { /* the first one warms up */
    memset(search.claimed, 0, g->own * sizeof *search.claimed);
    memset(search.found, 0, g->own * sizeof *search.found);
    search.sent = search.taken = 0;
    job_barrier(job);
    const double begin = job_now();
    search_from(job, way, root);
    double seconds = job_now() - begin;
    app_stop(job);
    seconds = job_max(job, seconds);
    if (i && i <= o->iterations && (best == 0 || seconds < best)) best = seconds;
  }
  double edges = 0;
  for (size_t n = 0; n < g->own; n++)
    if (search.found[n]) edges += (double)(g->first[n + 1] - g->first[n]) / 2;
  if (o->inject_error && g->own) search.found[g->own - 1] ^= (uint64_t)3 << LEVEL_SHIFT;
  edges = job_sum(job, edges);
  const bool good = job_sum(job, (double)wrong(job, root)) == 0 && edges > 0;
  app_report(job, o, &(struct app_result){.seconds = best, .work = edges, .verified = good});
  return good;
}

static bool allocate(const struct job *job, int scale) {
  if (!graph_make(&search.graph, scale, job->rank, job->size)) return false;
  search.found = calloc(search.graph.own + 1, sizeof *search.found);
  if (!search.found) return false;
  search.level = calloc(search.graph.own + 1, sizeof *search.level);
  if (!search.level) return false;
  search.letter = calloc((size_t)job->size, sizeof *search.letter);
  if (!search.letter) return false;
  search.filled = calloc((size_t)job->size, sizeof *search.filled);
  return search.filled != NULL;
}

static const struct app_number numbers[] = {
    {"scale", 's', 14, 1, 30, "The graph has 2^N vertices and 16 edges a vertex"}};
static const struct app_program program =
    APP_PROGRAM("bfs", "Breadth-first search on a random graph", numbers, 3, APP_WAYS(ways),
                .unit = "M edges/s");

static bool run_all(struct job *job, const struct app_options *options) {
  const int scale = (int)options->n[0];
  app_need(job, graph_bytes(scale, job->size) + 0x1p4 * (double)((uint64_t)1 << scale));
  search.claimed =
      words_attach(job, (((size_t)1 << scale) + (size_t)job->size - 1) / (size_t)job->size);
  words_take(take_letter);
  if (job_sum(job, allocate(job, scale) ? 0 : 1) != 0)
    job_refuse(job, "a graph of 2^%d vertices does not fit in memory; take a smaller --scale",
               scale);
  bool good = true;
  app_head(job, options);
  APP_EACH_WAY(options, WAYS) {
    if (way < LETTER || words_letters()) good = run(job, options, way) && good;
  }
  graph_free(&search.graph);
  words_detach(job);
  return good;
}

int main(int argc, char **argv) {
  app_main(argc, argv, &program, run_all);
}
