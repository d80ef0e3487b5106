/* SPDX-License-Identifier: BSD-3-Clause */
/* Parallel Cholesky factorisation in UPC, A = L L^T, right-looking on block-cyclic columns of
 * blocks; each block column is factored and sent one step ahead (cholesky.c).
 *
 * Threads form a grid of P x Q. Of panel k (blocks i > k of block column k) thread (row, col) needs
 * the blocks i with i mod P = row, as one packed matrix from thread (row, k mod Q), and the blocks j
 * with j mod Q = col, of which those of other rows come one by one, as tiles:
 *   team    by broadcasts on the team of the row and an all-gather on the team of the column
 *   signal  by puts that post a semaphore of their destination, without any barrier
 * UPC has no teams: those of `team` are teams of GASNet-EX, which bench/lib makes in a UPC program
 * as a client of its own. Problem, verification, options and report are those of cholesky.c.
 * What comes in step k lies in slot k mod SLOTS. A thread that is done with step k says so to each
 * thread that can send in step k + SLOTS: one semaphore for each pair of threads.
 *
 *     tombolo run -n 4 bench/cholesky-upc --size 1000
 *
 * Exit code: 0 verified, 1 not, 2 refused.
 */
#include <stdlib.h>
#include <string.h>
#include <upc_relaxed.h>
#include <upc_castable.h>

#include <cblas.h>

#include "apps/cholesky/local.h"
#include "lib/app.h"
#include "lib/blocks.h"
#include "lib/dense.h"
#include "lib/links_gex.h"

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);

enum { TEAM, SIGNAL, WAYS };
static const struct job_way ways[] = {
    {"team", "panels by collectives of row and column teams, one step ahead"},
    {"signal", "blocks by puts that post a semaphore, no barrier at all"},
};

enum { PANEL, TILE, DIAGONAL, KINDS, SLOTS = 3 };
typedef shared [] double *numbers_t;
typedef shared [] struct pointer *pointers_t;
struct pointer {
  bupc_sem_t *sem;
};
struct parts {
  numbers_t slot[KINDS];          /* SLOTS of each kind, one after the other */
  bupc_sem_t *here[KINDS][SLOTS]; /* posted for each parcel that has come */
  pointers_t done;                /* [THREADS] posted by each thread for each of its steps */
};
static struct parts shared parts[THREADS];

static struct job job;
static struct cholesky_part m;
static struct parts *part;   /* [THREADS] copy of parts */
static bupc_sem_t **to_post; /* [THREADS] that which this thread posts at each thread */
static bupc_sem_t **to_take; /* [THREADS] that which each thread posts here */
static size_t *due;          /* [THREADS] posts to take before the next put to it */
static size_t slot_numbers[KINDS];
static double *slots[KINDS], *diagonal, *packed, *gathered;
static size_t *count_of, *begin_of; /* [P] of the all-gather, bytes */
static gex_TM_t row_team, col_team;
static gex_Event_t event;
static double rate; /* dgemm on the processors that the threads have, flop/s */
static int way;

static int thread_at(int row, int col) {
  return row * m.q + col;
}

static double *slot(int kind, long k) {
  return slots[kind] + (size_t)(k % SLOTS) * slot_numbers[kind];
}

/* Rows of block i and behind it that are here, in whole blocks. */
static long rows_from(long i) {
  return m.rows - cholesky_first_row(&m, i);
}

static size_t block_numbers(void) {
  return (size_t)(m.nb * m.nb);
}

/* ---- puts that post */

/* Puts `count` numbers to a slot of a thread, at number `at` of it, once the thread is done with
 * what was in the slot. */
static void put(int thread, int kind, long k, size_t at, const double *src, size_t count) {
  if (due[thread]) bupc_sem_waitN(to_take[thread], due[thread]);
  due[thread] = 0;
  bupc_memput_signal(part[thread].slot[kind] + (size_t)(k % SLOTS) * slot_numbers[kind] + at, src,
                     count * sizeof *src, part[thread].here[kind][k % SLOTS], 1);
}

static void await(int kind, long k, size_t parcels) {
  if (parcels) bupc_sem_waitN(part[MYTHREAD].here[kind][k % SLOTS], parcels);
}

/* Step k is done here: its slots are free for all that send in step k + SLOTS. */
static void step_is_done(long k) {
  if (way != SIGNAL || k + SLOTS >= m.blocks) return;
  const int col = (int)((k + SLOTS) % m.q);
  for (int step = 0; step < m.p; step++) {
    const int thread = thread_at((m.row + step) % m.p, col);
    if (thread != MYTHREAD) bupc_sem_post(to_post[thread]);
  }
}

/* A sending step begins: each thread owes one more post, but for the first use of a slot. */
static void step_begins(long k) {
  if (way != SIGNAL || k < SLOTS || m.col != k % m.q) return;
  for (int t = 0; t < THREADS; t++) due[t] += t != MYTHREAD;
}

/* ---- delivery */

/* In the grid column of step k: hands its diagonal block to all, and returns where it is. */
static const double *deliver_diagonal(long k) {
  const int maker = (int)(k % m.p);
  double *const here = slot(DIAGONAL, k);
  if (m.p == 1) return diagonal;
  if (way == TEAM) {
    gex_Event_Wait(gex_Coll_BroadcastNB(col_team, (gex_Rank_t)maker, here,
                                        m.row == maker ? diagonal : NULL,
                                        block_numbers() * sizeof(double), 0));
    return here;
  }
  if (m.row != maker) {
    await(DIAGONAL, k, 1);
    return here;
  }
  for (int step = 1; step < m.p; step++)
    put(thread_at((m.row + step) % m.p, m.col), DIAGONAL, k, 0, diagonal, block_numbers());
  return diagonal;
}

/* What is here of panel k. */
static struct cholesky_panel panel_of(long k) {
  struct cholesky_panel panel;
  panel.rows = slot(PANEL, k);
  panel.tiles = slot(TILE, k);
  panel.first = cholesky_first_row(&m, k + 1);
  panel.ld = rows_from(k + 1);
  return panel;
}

/* Copies block j of the own rows of panel k as its readers want it. */
static void copy_block(long k, long j, double *to) {
  const struct cholesky_panel panel = panel_of(k);
  cholesky_transpose(m.nb, panel.rows + (cholesky_first_row(&m, j) - panel.first), panel.ld, to);
}

/* To the row the packed rows; to the column of each block that block. */
static void send_all(long k) {
  const long count = rows_from(k + 1);
  for (int step = 1; step < m.q && count > 0; step++)
    put(thread_at(m.row, (m.col + step) % m.q), PANEL, k, 0, slot(PANEL, k),
        (size_t)(count * m.nb));
  for (long j = k + 1; j < m.blocks && m.p > 1; j++) {
    if (j % m.p != m.row) continue;
    copy_block(k, j, packed);
    for (int step = 1; step < m.p; step++)
      put(thread_at((m.row + step) % m.p, (int)(j % m.q)), TILE, k,
          (size_t)(j / m.q) * block_numbers(), packed, block_numbers());
  }
}

/* Panel k, packed where it is this thread's, begins to travel. */
static void deliver_start(long k) {
  const bool mine = m.col == k % m.q;
  const long count = rows_from(k + 1);
  if (way == SIGNAL && mine) send_all(k);
  event = GEX_EVENT_INVALID;
  if (way == SIGNAL || count <= 0 || m.q == 1) return;
  event = gex_Coll_BroadcastNB(row_team, (gex_Rank_t)(k % m.q), slot(PANEL, k),
                               mine ? slot(PANEL, k) : NULL,
                               (size_t)(count * m.nb) * sizeof(double), 0);
}

/* The blocks of the column that other rows have: an all-gather, then each to its place. */
static void gather_column(long k) {
  const size_t bytes = block_numbers() * sizeof(double);
  size_t sent = 0, all = 0;
  memset(count_of, 0, (size_t)m.p * sizeof *count_of);
  for (long j = k + 1; j < m.blocks; j++) {
    if (j % m.q != m.col) continue;
    count_of[j % m.p] += bytes;
    if (j % m.p == m.row) copy_block(k, j, packed + sent++ * block_numbers());
  }
  for (int row = 0; row < m.p; row++) {
    begin_of[row] = all;
    all += count_of[row];
  }
  if (!all) return;
  gex_Event_Wait(gexx_Coll_AllGatherVNB(col_team, gathered, count_of, begin_of, packed, 0));
  for (long j = k + 1; j < m.blocks; j++) {
    if (j % m.q != m.col) continue;
    memcpy(slot(TILE, k) + (size_t)(j / m.q) * block_numbers(),
           gathered + begin_of[j % m.p] / sizeof(double), bytes);
    begin_of[j % m.p] += bytes;
  }
}

/* Waits until all that this thread needs of panel k is here. */
static void deliver_wait(long k) {
  if (way == TEAM) {
    gex_Event_Wait(event);
    if (m.p > 1) gather_column(k);
    return;
  }
  size_t tiles = 0;
  for (long j = k + 1; j < m.blocks; j++) tiles += j % m.q == m.col && j % m.p != m.row;
  await(PANEL, k, m.col != k % m.q && rows_from(k + 1) > 0);
  await(TILE, k, tiles);
}

/* ---- the factorisation */

/* Block columns `from` to `to` - 1, those that are here, -= panel k times panel k, transposed. */
static void update(long k, long from, long to) {
  const struct cholesky_panel panel = panel_of(k);
  cholesky_update(&m, &panel, from, to);
}

/* Factors block column k, which is up to date, and packs this thread's rows of it. */
static void factor_own(long k) {
  const long first = cholesky_first_row(&m, k + 1), count = rows_from(k + 1);
  const int nb = (int)m.nb, lda = (int)m.rows;
  double *const column = cholesky_column(&m, k), *const pack = slot(PANEL, k);
  int info = 0;
  if (m.row == k % m.p) {
    double *const block = column + k / m.p * m.nb;
    dpotrf_("L", &nb, block, &lda, &info);
    for (long c = 0; c < m.nb; c++)
      memcpy(diagonal + c * m.nb, block + c * m.rows, (size_t)m.nb * sizeof(double));
  }
  app_enter(&job, APP_WAIT);
  const double *const top = deliver_diagonal(k);
  app_enter(&job, APP_COMPUTE);
  cholesky_solve(&m, k, top);
  if (count <= 0) return;
  app_enter(&job, APP_COPY);
  for (long c = 0; c < m.nb; c++)
    memcpy(pack + c * count, column + c * m.rows + first, (size_t)count * sizeof(double));
}

/* Factors block column k if it is this thread's; then delivers it. */
static void factor(long k) {
  step_begins(k);
  if (m.col == k % m.q) factor_own(k);
  app_enter(&job, APP_SEND);
  deliver_start(k);
  app_enter(&job, APP_COMPUTE);
}

static void factorise(void) {
  factor(0);
  for (long k = 0; k + 1 < m.blocks; k++) {
    app_enter(&job, APP_WAIT);
    deliver_wait(k);
    app_enter(&job, APP_COMPUTE);
    update(k, k + 1, k + 2);
    factor(k + 1);
    update(k, k + 2, m.blocks);
    app_enter(&job, APP_SEND);
    step_is_done(k);
    app_enter(&job, APP_COMPUTE);
  }
  app_enter(&job, APP_WAIT);
  for (int t = 0; t < THREADS; t++) { /* posts that no put has asked for */
    if (due[t]) bupc_sem_waitN(to_take[t], due[t]);
    due[t] = 0;
  }
  upc_barrier;
}

/* ---- runs */

static bool run(const struct app_options *o) {
  const double n = (double)m.n, work = n * n * n / 3;
  double best = 0;
  job.way = way;
  for (long i = 0; app_iteration(&job, o, i); i++) { /* the first one warms up */
    cholesky_fill(&m);
    upc_barrier;
    const double begin = job_now();
    factorise();
    double seconds = job_now() - begin;
    app_stop(&job);
    seconds = job_max(&job, seconds);
    if (i && i <= o->iterations && (best == 0 || seconds < best)) best = seconds;
  }
  if (o->inject_error && MYTHREAD == 0) m.a[0] += 1;
  const bool good = cholesky_verify(&job, &m);
  const struct app_result result = {
      .seconds = best, .work = work, .verified = good, .share = work / best / rate};
  app_report(&job, o, &result);
  return good;
}

/* The shared memory and the semaphores of this thread. */
static bool make_part(struct parts *mine) {
  const int flags = BUPC_SEM_INTEGER | BUPC_SEM_SCONSUMER;
  const long lines = (m.blocks + m.p - 1) / m.p, columns = (m.blocks + m.q - 1) / m.q;
  const size_t blocks[KINDS] = {(size_t)lines, (size_t)columns, 1};
  for (int kind = 0; kind < KINDS; kind++) {
    slot_numbers[kind] = blocks[kind] * block_numbers();
    mine->slot[kind] = upc_alloc(SLOTS * slot_numbers[kind] * sizeof(double));
    if (mine->slot[kind] == NULL) return false;
    slots[kind] = (double *)mine->slot[kind];
    for (int k = 0; k < SLOTS; k++)
      mine->here[kind][k] = bupc_sem_alloc(flags | BUPC_SEM_MPRODUCER);
  }
  mine->done = upc_alloc(THREADS * sizeof(struct pointer));
  if (mine->done == NULL) return false;
  for (int t = 0; t < THREADS; t++)
    mine->done[t].sem = bupc_sem_alloc(flags | BUPC_SEM_SPRODUCER);
  return true;
}

static bool allocate(void) {
  const size_t columns = (size_t)blocks_local(m.blocks, 1, m.col, m.q);
  m.a = malloc((columns * (size_t)(m.nb * m.rows) + 1) * sizeof(double));
  diagonal = malloc(block_numbers() * sizeof(double));
  packed = malloc((columns + 1) * block_numbers() * sizeof(double));
  gathered = malloc((columns + 1) * block_numbers() * sizeof(double));
  count_of = calloc((size_t)m.p, sizeof *count_of);
  begin_of = calloc((size_t)m.p, sizeof *begin_of);
  part = malloc(THREADS * sizeof *part);
  to_post = malloc(THREADS * sizeof *to_post);
  to_take = malloc(THREADS * sizeof *to_take);
  due = calloc(THREADS, sizeof *due);
  return m.a && diagonal && packed && gathered && count_of && begin_of && part && to_post &&
         to_take && due;
}

static void lay_out(const struct app_options *o) {
  struct parts mine;
  m.n = o->n[0];
  m.nb = o->n[1] < m.n ? o->n[1] : m.n; /* one block holds everything */
  m.blocks = (m.n + m.nb - 1) / m.nb;
  blocks_grid(THREADS, &m.p, &m.q);
  m.row = MYTHREAD / m.q;
  m.col = MYTHREAD % m.q;
  m.rows = blocks_local(m.blocks, 1, m.row, m.p) * m.nb;
  const double rows = (double)(m.n / m.p + m.nb), columns = (double)(m.n / m.q + m.nb);
  app_need(&job, sizeof(double) *
                     (rows * columns + (SLOTS + 2) * (rows + columns) * (double)m.nb));
  if (job_sum(&job, allocate() && make_part(&mine) ? 0 : 1) != 0)
    job_refuse(&job, "a matrix of %ld x %ld does not fit in memory; take a smaller --size", m.n,
               m.n);
  parts[MYTHREAD] = mine;
  upc_barrier;
  for (int t = 0; t < THREADS; t++) {
    part[t] = parts[t];
    to_post[t] = part[t].done[MYTHREAD].sem;
    to_take[t] = mine.done[t].sem;
  }
  (void)gex_TM_Split(&row_team, job_team(), m.row, m.col, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  (void)gex_TM_Split(&col_team, job_team(), m.col, m.row, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
}

int main(int argc, char **argv) {
  static const struct app_number numbers[] = {
      {"size", 'n', 1000, 1, 0, "Rows and columns of the matrix"},
      {"block", 'b', 128, 1, 0, "Rows and columns of a block"}};
  static const struct app_program program = {.name = "cholesky-upc",
                                             .help = "A = L L^T on block-cyclic matrices, in UPC",
                                             .numbers = numbers,
                                             .count = 2,
                                             .iterations = 3,
                                             .ways = ways,
                                             .way_count = WAYS};
  struct app_options options;
  job_start(&job, program.name, &argc, &argv);
  app_options(&job, &program, &options, argc, argv);
  openblas_set_num_threads(1);
  lay_out(&options);
  rate = cholesky_calibrate(&job);
  bool good = true;
  app_head(&job, &options);
  dense_say(&job, &options, rate);
  for (way = 0; way < WAYS; way++)
    if (options.way < 0 || options.way == way) good = run(&options) && good;
  job_exit(&job, good ? 0 : 1);
}
