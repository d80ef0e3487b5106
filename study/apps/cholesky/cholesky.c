/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parallel Cholesky factorisation, A = L L^T, right-looking on block-cyclic columns of blocks.
 *
 * Step k: the ranks of grid column k mod Q factor block column k (the diagonal block, then the
 * blocks below it), hand it to the others (deliver.c), and everybody subtracts its product from
 * what is left. Block column k + 1 is brought up to date, factored and delivered first, before the
 * rest of step k (lookahead), except in the way `blocking`. Local work by OpenBLAS with one thread.
 * Calls: bench/lib, deliver.h, local.h, problem.h, OpenBLAS. Invariants: the matrix is extended to
 * whole blocks by a unit diagonal; a rank keeps block column j of its own as one column-major
 * matrix of all its local rows. Verified by |L (L^T x) - A x| for a given x. Exit codes: 0
 * verified, 1 failed, 2 refused.
 */
#include "apps/cholesky/deliver.h"
#include "apps/cholesky/local.h"
#include "lib/app.h"
#include "lib/blocks.h"
#include "lib/dense.h"
#include "lib/links_gex.h"

#include <cblas.h>

#include <stdlib.h>
#include <string.h>

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);

static const struct job_way ways[] = {
    {"blocking", "panels by team collectives, waited for"},
    {"ahead", "panels by team collectives, one step ahead"},
    {"signal", "blocks by put with signal, no barrier at all"},
};

struct cholesky {
  struct cholesky_part m; /* of the matrix, that this rank has */
  struct deliver d;       /* grid, block size, panels */
  double *diagonal;       /* the diagonal block that this rank makes */
  double rate;            /* dgemm on the processors that the ranks have, flop/s */
};

/* Block columns `from` to `to` - 1, those that are here, -= panel k times panel k, transposed. */
static void update(const struct cholesky *t, long k, long from, long to) {
  const struct cholesky_panel panel = deliver_panel(&t->d, k);
  cholesky_update(&t->m, &panel, from, to);
}

/* Factor block column k, which is up to date, if it is this rank's; then deliver it. */
static void factor(struct cholesky *t, long k) {
  struct deliver *d = &t->d;
  const long first = deliver_first_row(d, k + 1), count = d->rows - first;
  const int nb = (int)d->nb, lda = (int)d->rows;
  if (d->col == k % d->q) {
    int info = 0;
    if (d->row == k % d->p) {
      double *const block = cholesky_column(&t->m, k) + k / d->p * d->nb;
      dpotrf_("L", &nb, block, &lda, &info);
      for (long c = 0; c < d->nb; c++)
        memcpy(t->diagonal + c * d->nb, block + c * d->rows, (size_t)d->nb * sizeof(double));
    }
    app_enter(d->job, APP_WAIT);
    const double *const diagonal = deliver_diagonal(d, k, t->diagonal);
    app_enter(d->job, APP_COMPUTE);
    cholesky_solve(&t->m, k, diagonal);
    app_enter(d->job, APP_COPY);
    double *const pack = deliver_pack(d, k);
    for (long c = 0; c < d->nb && count > 0; c++)
      memcpy(pack + c * count, cholesky_column(&t->m, k) + c * d->rows + first,
             (size_t)count * sizeof(double));
  }
  app_enter(d->job, APP_SEND);
  deliver_start(d, k);
  app_enter(d->job, APP_COMPUTE);
}

static void factorise(struct cholesky *t) {
  struct deliver *d = &t->d;
  const bool ahead = d->way != DELIVER_BLOCKING;
  deliver_begin(d);
  factor(t, 0);
  for (long k = 0; k + 1 < d->blocks; k++) {
    app_enter(d->job, APP_WAIT);
    deliver_wait(d, k);
    app_enter(d->job, APP_COMPUTE);
    update(t, k, k + 1, k + 2);
    if (ahead) factor(t, k + 1);
    update(t, k, k + 2, d->blocks);
    app_enter(d->job, APP_SEND);
    deliver_done(d, k);
    app_enter(d->job, APP_COMPUTE);
    if (!ahead) factor(t, k + 1);
  }
  app_enter(d->job, APP_WAIT);
  deliver_end(d);
}

static bool run(struct job *job, const struct app_options *o, struct cholesky *t, int way) {
  job->way = way;
  t->d.way = (enum deliver_way)way;
  double best = 0;
  for (long i = 0; app_iteration(job, o, i); i++) { /* the first one warms up */
    cholesky_fill(&t->m);
    job_barrier(job);
    const double begin = job_now();
    factorise(t);
    double seconds = job_now() - begin;
    app_stop(job);
    seconds = job_max(job, seconds);
    if (i && i <= o->iterations && (best == 0 || seconds < best)) best = seconds;
  }
  if (o->inject_error && t->d.rows && t->d.col < t->d.blocks && job->rank == 0) t->m.a[0] += 1;
  const double n = (double)t->m.n, work = n * n * n / 3;
  const bool good = cholesky_verify(job, &t->m);
  app_report(job, o,
             &(struct app_result){
                 .seconds = best, .work = work, .verified = good, .share = work / best / t->rate});
  return good;
}

static bool allocate(struct cholesky *t) {
  const struct deliver *d = &t->d;
  const long columns = blocks_local(d->blocks, 1, d->col, d->q);
  t->m.a = malloc((size_t)(columns * d->nb * d->rows + 1) * sizeof(double));
  if (!t->m.a) return false;
  t->diagonal = malloc((size_t)(d->nb * d->nb) * sizeof(double));
  return t->diagonal != NULL;
}

static const struct app_number numbers[] = {
    {"size", 'n', 1000, 1, 0, "Rows and columns of the matrix"},
    {"block", 'b', 128, 1, 0, "Rows and columns of a block"}};
static const struct app_program program =
    APP_PROGRAM("cholesky", "A = L L^T on block-cyclic matrices", numbers, 3, APP_WAYS(ways));

static bool run_all(struct job *job, const struct app_options *options) {
  struct cholesky t;
  openblas_set_num_threads(1);
  t.m.n = options->n[0];
  deliver_open(&t.d, job, t.m.n, options->n[1]);
  t.m.nb = t.d.nb;
  t.m.blocks = t.d.blocks;
  t.m.rows = t.d.rows;
  t.m.p = t.d.p;
  t.m.q = t.d.q;
  t.m.row = t.d.row;
  t.m.col = t.d.col;
  if (job_sum(job, allocate(&t) ? 0 : 1) != 0)
    job_refuse(job, "a matrix of %ld x %ld does not fit in memory; take a smaller --size", t.m.n,
               t.m.n);
  t.rate = cholesky_calibrate(job);
  bool good = true;
  app_head(job, options);
  dense_say(job, options, t.rate);
  APP_EACH_WAY(options, DELIVER_WAYS) good = run(job, options, &t, way) && good;
  return good;
}

int main(int argc, char **argv) {
  app_main(argc, argv, &program, run_all);
}
