/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ScaLAPACK's pdgemm and pdpotrf: what study/apps/matmul and cholesky are compared with.
 *
 * Owns nothing. Compiled by study/compare/apps.py with study/lib/app.c and links_mpi.c, by the
 * mpicc of each MPI, and linked with its ScaLAPACK and with OpenBLAS (one thread). Calls: MPI,
 * BLACS, PBLAS. The same matrices, grid and blocks as the programs have. Exit codes as theirs.
 */
#include "lib/app.h"
#include "lib/blocks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
void descinit_(int *desc, const int *m, const int *n, const int *mb, const int *nb, const int *rsrc,
               const int *csrc, const int *context, const int *lld, int *info);
void pdgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,
             const double *alpha, const double *a, const int *ia, const int *ja, const int *da,
             const double *b, const int *ib, const int *jb, const int *db, const double *beta,
             double *c, const int *ic, const int *jc, const int *dc);
void pdpotrf_(const char *uplo, const int *n, double *a, const int *ia, const int *ja,
              const int *da, int *info);
void openblas_set_num_threads(int threads);

enum { GEMM, POTRF };
enum { SEED_A = 1, SEED_B = 2, SEED_S = 3, SAMPLES = 16, DESC = 9 };

struct grid {
  int p, q, row, col, nb, context;
};

struct matrix {
  int rows, columns, desc[DESC];
  double *value;
};

static struct matrix make(struct job *job, const struct grid *g, long rows, long columns,
                          uint64_t seed) {
  struct matrix x = {.rows = (int)blocks_local(rows, g->nb, g->row, g->p),
                     .columns = (int)blocks_local(columns, g->nb, g->col, g->q)};
  const int m = (int)rows, n = (int)columns, zero = 0, lld = x.rows > 0 ? x.rows : 1;
  int info;
  descinit_(x.desc, &m, &n, &g->nb, &g->nb, &zero, &zero, &g->context, &lld, &info);
  x.value = calloc((size_t)lld * (size_t)(x.columns + 1), sizeof(double));
  if (!x.value) job_refuse(job, "out of memory for a matrix of %d x %d", m, n);
  for (int j = 0; seed && j < x.columns; j++)
    for (int i = 0; i < x.rows; i++)
      x.value[(size_t)j * (size_t)x.rows + (size_t)i] =
          blocks_value((uint64_t)blocks_global(i, g->nb, g->row, g->p),
                       (uint64_t)blocks_global(j, g->nb, g->col, g->q), seed);
  return x;
}

static double deviation(const struct grid *g, const struct matrix *c, long k) {
  double worst = 0;
  for (long s = 0; s < SAMPLES && c->rows && c->columns; s++) {
    const long i = s * (c->rows - 1) / (SAMPLES - 1);
    const long j = (s * 7 % SAMPLES) * (c->columns - 1) / (SAMPLES - 1);
    const uint64_t gi = (uint64_t)blocks_global(i, g->nb, g->row, g->p);
    const uint64_t gj = (uint64_t)blocks_global(j, g->nb, g->col, g->q);
    double sum = 0;
    for (long l = 0; l < k; l++)
      sum += blocks_value(gi, (uint64_t)l, SEED_A) * blocks_value((uint64_t)l, gj, SEED_B);
    worst = fmax(worst, fabs(sum - c->value[j * c->rows + i]) / (double)k);
  }
  return worst;
}

static bool run_gemm(struct job *job, const struct app_options *o, const struct grid *g) {
  const int m = (int)o->n[0], n = (int)(o->n[2] ? o->n[2] : m), k = (int)(o->n[3] ? o->n[3] : m);
  const struct matrix a = make(job, g, m, k, SEED_A), b = make(job, g, k, n, SEED_B);
  const struct matrix c = make(job, g, m, n, 0);
  const int one = 1;
  const double alpha = 1, beta = 0;
  double best = 0;
  for (long i = 0; i <= o->iterations; i++) {
    job_barrier(job);
    const double begin = job_now();
    pdgemm_("N", "N", &m, &n, &k, &alpha, a.value, &one, &one, a.desc, b.value, &one, &one, b.desc,
            &beta, c.value, &one, &one, c.desc);
    const double seconds = job_max(job, job_now() - begin);
    if (i && (best == 0 || seconds < best)) best = seconds;
  }
  const bool good = job_max(job, deviation(g, &c, k)) < 1e-12;
  app_report(
      job, o,
      &(struct app_result){.seconds = best, .work = 2.0 * m * n * k, .verified = good, .share = 0});
  return good;
}

/* The positive definite matrix of study/apps/cholesky. */
static void fill_symmetric(const struct grid *g, const struct matrix *a, long n) {
  for (int j = 0; j < a->columns; j++)
    for (int i = 0; i < a->rows; i++) {
      const long gi = blocks_global(i, g->nb, g->row, g->p),
                 gj = blocks_global(j, g->nb, g->col, g->q);
      const double value =
          blocks_value((uint64_t)(gi > gj ? gi : gj), (uint64_t)(gi > gj ? gj : gi), SEED_S);
      a->value[(size_t)j * (size_t)a->rows + (size_t)i] = gi == gj ? (double)n + value : value;
    }
}

/* The first diagonal element tells whether the factor is that of this matrix; a factorisation that
 * fails says so itself. */
static bool run_potrf(struct job *job, const struct app_options *o, const struct grid *g) {
  const int n = (int)o->n[0], one = 1;
  const struct matrix a = make(job, g, n, n, 0);
  double best = 0;
  int info = 0;
  for (long i = 0; i <= o->iterations && !info; i++) {
    fill_symmetric(g, &a, n);
    job_barrier(job);
    const double begin = job_now();
    pdpotrf_("L", &n, a.value, &one, &one, a.desc, &info);
    const double seconds = job_max(job, job_now() - begin);
    if (i && (best == 0 || seconds < best)) best = seconds;
  }
  const double first = sqrt((double)n + blocks_value(0, 0, SEED_S));
  const bool wrong = info || (job->rank == 0 && fabs(a.value[0] - first) > 1e-12 * first);
  const bool good = job_sum(job, wrong) == 0;
  app_report(job, o,
             &(struct app_result){
                 .seconds = best, .work = (double)n * n * n / 3, .verified = good, .share = 0});
  return good;
}

static const struct app_number numbers[] = {
    {"size", 'n', 1000, 1, 0, "Rows and columns of each matrix"},
    {"block", 'b', 128, 1, 0, "Rows and columns of a block"},
    {"columns", 'c', 0, 0, 0, "Columns of B and C; 0: as --size"},
    {"inner", 'k', 0, 0, 0, "Columns of A and rows of B; 0: as --size"}};
static const struct job_way ways[] = {[GEMM] = {"pdgemm", ""}, [POTRF] = {"pdpotrf", ""}};
static const struct app_program program =
    APP_PROGRAM("scalapack", "C = A B, or A = L L^T, by ScaLAPACK", numbers, 3, APP_WAYS(ways));

static bool run_all(struct job *job, const struct app_options *options) {
  struct grid g;
  openblas_set_num_threads(1);
  blocks_grid(job->size, &g.p, &g.q);
  g.row = job->rank / g.q;
  g.col = job->rank % g.q;
  g.nb = (int)options->n[1];
  Cblacs_get(-1, 0, &g.context);
  Cblacs_gridinit(&g.context, "Row", g.p, g.q);
  app_head(job, options);
  job->way = options->way == POTRF ? POTRF : GEMM;
  const bool good = job->way == POTRF ? run_potrf(job, options, &g) : run_gemm(job, options, &g);
  return good;
}

int main(int argc, char **argv) {
  app_main(argc, argv, &program, run_all);
}
