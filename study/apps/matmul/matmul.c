/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parallel matrix multiply, C = A B, on block-cyclic matrices.
 *
 * SUMMA (R. A. van de Geijn and J. Watts, Concurrency 9, 1997,
 * doi:10.1002/(SICI)1096-9128(199704)9:4<255::AID-CPE250>3.0.CO;2-2): for each block column of A
 * and block row of B, the ranks that own it hand it to their row and their column of the rank grid,
 * and everybody multiplies. Panels travel in one of four ways, which differ in nothing else. Local
 * products by OpenBLAS with one thread. Calls: problem.h, bench/lib, the public API, CBLAS.
 * Invariants: A and B lie in the segments and do not change, so one-sided ways need no
 * synchronisation; panel k uses buffer k mod 2. Exit codes: 0 verified, 1 failed, 2 refused.
 */
#include "apps/matmul/problem.h"
#include "lib/app.h"
#include "lib/blocks.h"
#include "lib/dense.h"
#include "lib/links_gex.h"

#include <cblas.h>
#include <gasnet_vis.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How panels travel. */
enum { BLOCKING, AHEAD, GET, DIRECT, WAYS };
static const struct job_way ways[] = {
    {"blocking", "panels by team broadcasts, waited for"},
    {"ahead", "panels by team broadcasts, one ahead of the product"},
    {"get", "panels by gets, their owners do nothing"},
    {"direct", "panels read in place where memory is shared"},
};

struct matmul {
  struct matmul_shape s;
  gex_TM_t row_tm, col_tm;
  double *a, *b;        /* in the segment: [kq][mp], [nq][kp], column-major */
  double *c;            /* [nq][mp] */
  size_t b_offset;      /* bytes, of B in each segment */
  double *panel[2][2];  /* [A or B][parity], for the ways that copy */
  double *packed[2];    /* [parity] rows of B that this rank owns, one after the other */
  gex_Event_t event[2]; /* of the panels that are in flight */
  double rate;          /* dgemm on the processors that the ranks have, flop/s */
};

/* A panel as dgemm reads it. */
struct panels {
  const double *a, *b;
  long lda, ldb, width;
};

static int rank_of(const struct matmul *t, int row, int col) {
  return row * t->s.q + col;
}

/* Where the owner of a panel has it: offsets of the first element in its segment, in bytes, and how
 * far its columns are apart, in elements. */
struct owned {
  int a_rank, b_rank;
  size_t a_offset, b_offset;
  long lda, ldb;
};

static struct owned owner_of(const struct matmul *t, long block) {
  struct owned o = {.a_rank = rank_of(t, t->s.row, (int)(block % t->s.q)),
                    .b_rank = rank_of(t, (int)(block % t->s.p), t->s.col)};
  const int row = (int)(block % t->s.p);
  const long theirs = blocks_local(t->s.k, t->s.nb, row, t->s.p); /* rows of B there */
  o.lda = t->s.mp;
  o.ldb = theirs;
  o.a_offset = (size_t)(block / t->s.q * t->s.nb * t->s.mp) * sizeof(double);
  o.b_offset = t->b_offset + (size_t)(block / t->s.p * t->s.nb) * sizeof(double);
  return o;
}

/* Both panels of a block by broadcasts in row and column. */
static void start_broadcast(struct matmul *t, long block) {
  const int parity = (int)(block & 1), a_root = (int)(block % t->s.q),
            b_root = (int)(block % t->s.p);
  const long w = matmul_width(&t->s, block);
  const double *a = t->a + block / t->s.q * t->s.nb * t->s.mp;
  if (t->s.row == b_root)
    for (long j = 0; j < t->s.nq; j++)
      memcpy(t->packed[parity] + j * w, t->b + j * t->s.kp + block / t->s.p * t->s.nb,
             (size_t)w * sizeof(double));
  t->event[0] = gex_Coll_BroadcastNB(t->row_tm, (gex_Rank_t)a_root, t->panel[0][parity],
                                     t->s.col == a_root ? a : NULL,
                                     (size_t)(t->s.mp * w) * sizeof(double), 0);
  t->event[1] = gex_Coll_BroadcastNB(t->col_tm, (gex_Rank_t)b_root, t->panel[1][parity],
                                     t->s.row == b_root ? t->packed[parity] : NULL,
                                     (size_t)(t->s.nq * w) * sizeof(double), 0);
}

/* Get the blocks from their owners, who take no part. */
static void start_get(struct matmul *t, long block) {
  const int parity = (int)(block & 1);
  const long w = matmul_width(&t->s, block);
  const struct owned o = owner_of(t, block);
  const ptrdiff_t from_stride = o.ldb * (ptrdiff_t)sizeof(double);
  const ptrdiff_t to_stride = w * (ptrdiff_t)sizeof(double);
  const size_t count = (size_t)t->s.nq;
  t->event[0] = t->event[1] = GEX_EVENT_INVALID;
  if (t->s.mp)
    t->event[0] =
        gex_RMA_GetNB(job_team(), t->panel[0][parity], (gex_Rank_t)o.a_rank,
                      job_base(o.a_rank) + o.a_offset, (size_t)(t->s.mp * w) * sizeof(double), 0);
  if (t->s.nq)
    t->event[1] = gex_VIS_StridedGetNB(job_team(), t->panel[1][parity], &to_stride,
                                       (gex_Rank_t)o.b_rank, job_base(o.b_rank) + o.b_offset,
                                       &from_stride, (size_t)w * sizeof(double), &count, 1, 0);
}

static void start(struct matmul *t, int way, long block) {
  if (way == GET)
    start_get(t, block);
  else if (way != DIRECT)
    start_broadcast(t, block);
}

/* Wait for the panels of a block; start the next ones if `ahead`. */
static struct panels take(struct job *job, struct matmul *t, int way, long block, long blocks) {
  const int parity = (int)(block & 1);
  const long w = matmul_width(&t->s, block);
  if (way == DIRECT) {
    const struct owned o = owner_of(t, block);
    return (struct panels){(const double *)(void *)(job_base_mapped(o.a_rank) + o.a_offset),
                           (const double *)(void *)(job_base_mapped(o.b_rank) + o.b_offset), o.lda,
                           o.ldb, w};
  }
  app_enter(job, APP_SEND);
  if (way == BLOCKING) start(t, way, block);
  app_enter(job, APP_WAIT);
  gex_Event_Wait(t->event[0]);
  gex_Event_Wait(t->event[1]);
  app_enter(job, APP_SEND);
  if (way != BLOCKING && block + 1 < blocks) start(t, way, block + 1);
  return (struct panels){t->panel[0][parity], t->panel[1][parity], t->s.mp, w, w};
}

static void multiply(struct job *job, struct matmul *t, int way) {
  const long blocks = matmul_blocks(&t->s);
  if (way != BLOCKING) start(t, way, 0);
  for (long block = 0; block < blocks; block++) {
    const struct panels s = take(job, t, way, block, blocks);
    app_enter(job, APP_COMPUTE);
    if (t->s.mp && t->s.nq)
      cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)t->s.mp, (int)t->s.nq,
                  (int)s.width, 1.0, s.a, (int)s.lda, s.b, (int)s.ldb, 1.0, t->c, (int)t->s.mp);
  }
}

static bool run(struct job *job, const struct app_options *o, struct matmul *t, int way) {
  job->way = way;
  double best = 0, worst = 0;
  for (long i = 0; app_iteration(job, o, i); i++) { /* the first one warms up */
    memset(t->c, 0, (size_t)(t->s.mp * t->s.nq) * sizeof(double));
    job_barrier(job);
    const double begin = job_now();
    multiply(job, t, way);
    double seconds = job_now() - begin;
    app_stop(job);
    seconds = job_max(job, seconds);
    if (i && i <= o->iterations && (best == 0 || seconds < best)) best = seconds;
    if (i == 1 && o->inject_error && t->s.mp && t->s.nq) t->c[0] += 1;
    worst = fmax(worst, matmul_deviation(&t->s, t->c));
  }
  const bool good = job_max(job, worst) < 1e-12;
  const double work = 2.0 * (double)t->s.m * (double)t->s.n * (double)t->s.k;
  app_report(job, o,
             &(struct app_result){
                 .seconds = best, .work = work, .verified = good, .share = work / best / t->rate});
  return good;
}

static void fill(const struct matmul *t) {
  for (long j = 0; j < t->s.kq; j++)
    for (long i = 0; i < t->s.mp; i++)
      t->a[j * t->s.mp + i] =
          blocks_value((uint64_t)blocks_global(i, t->s.nb, t->s.row, t->s.p),
                       (uint64_t)blocks_global(j, t->s.nb, t->s.col, t->s.q), MATMUL_A);
  for (long j = 0; j < t->s.nq; j++)
    for (long i = 0; i < t->s.kp; i++)
      t->b[j * t->s.kp + i] =
          blocks_value((uint64_t)blocks_global(i, t->s.nb, t->s.row, t->s.p),
                       (uint64_t)blocks_global(j, t->s.nb, t->s.col, t->s.q), MATMUL_B);
}

static void lay_out(struct job *job, const struct app_options *o, struct matmul *t) {
  memset(t, 0, sizeof *t);
  matmul_shape(&t->s, job, o->n);
  const long most_mp = blocks_local(t->s.m, t->s.nb, 0, t->s.p);
  const long most_kq = blocks_local(t->s.k, t->s.nb, 0, t->s.q);
  const long most_kp = blocks_local(t->s.k, t->s.nb, 0, t->s.p);
  const long most_nq = blocks_local(t->s.n, t->s.nb, 0, t->s.q);
  const double mp = (double)(most_mp + t->s.nb), nq = (double)(most_nq + t->s.nb);
  app_need(job,
           sizeof(double) * (mp * (double)(most_kq + t->s.nb) + nq * (double)(most_kp + t->s.nb) +
                             mp * nq + (2 * mp + 4 * nq) * (double)t->s.nb));
  t->b_offset = (size_t)((most_mp + t->s.nb) * (most_kq + t->s.nb)) * sizeof(double);
  job_attach(job,
             t->b_offset + (size_t)((most_kp + t->s.nb) * (most_nq + t->s.nb)) * sizeof(double));
  t->a = (double *)(void *)job->mine;
  t->b = (double *)(void *)(job->mine + t->b_offset);
}

static bool allocate(struct matmul *t) {
  t->c = malloc((size_t)(t->s.mp * t->s.nq + 1) * sizeof(double));
  if (!t->c) return false;
  for (int i = 0; i < 2; i++) {
    t->packed[i] = malloc((size_t)(t->s.nq * t->s.nb + 1) * sizeof(double));
    if (!t->packed[i]) return false;
    for (int matrix = 0; matrix < 2; matrix++) {
      t->panel[matrix][i] =
          malloc((size_t)((matrix ? t->s.nq : t->s.mp) * t->s.nb + 1) * sizeof(double));
      if (!t->panel[matrix][i]) return false;
    }
  }
  return true;
}

/* Every rank reads its panels in place only where it has mapped their owners. */
static bool can_read_all(struct job *job, const struct matmul *t) {
  bool all = true;
  for (int i = 0; i < t->s.p; i++) all = all && job_base_mapped(rank_of(t, i, t->s.col));
  for (int j = 0; j < t->s.q; j++) all = all && job_base_mapped(rank_of(t, t->s.row, j));
  return job_sum(job, all ? 0 : 1) == 0;
}

static const struct app_number numbers[] = {
    {"size", 'n', 1000, 1, 0, "Rows and columns of each matrix"},
    {"block", 'b', 128, 1, 0, "Rows and columns of a block"},
    {"columns", 'c', 0, 0, 0, "Columns of B and C; 0: as --size"},
    {"inner", 'k', 0, 0, 0, "Columns of A and rows of B; 0: as --size"}};
static const struct app_program program =
    APP_PROGRAM("matmul", "C = A B on block-cyclic matrices", numbers, 3, APP_WAYS(ways));

static bool run_all(struct job *job, const struct app_options *options) {
  struct matmul t;
  openblas_set_num_threads(1);
  lay_out(job, options, &t);
  if (job_sum(job, allocate(&t) ? 0 : 1) != 0)
    job_refuse(job, "matrices of this size do not fit in memory; take a smaller --size");
  (void)gex_TM_Split(&t.row_tm, job_team(), t.s.row, t.s.col, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  (void)gex_TM_Split(&t.col_tm, job_team(), t.s.col, t.s.row, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  fill(&t);
  const bool direct = can_read_all(job, &t);
  t.rate = matmul_calibrate(job);
  bool good = true;
  app_head(job, options);
  dense_say(job, options, t.rate);
  APP_EACH_WAY(options, WAYS) {
    if (way != DIRECT || direct) good = run(job, options, &t, way) && good;
  }
  return good;
}

int main(int argc, char **argv) {
  app_main(argc, argv, &program, run_all);
}
