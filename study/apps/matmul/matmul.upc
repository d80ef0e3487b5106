/* SPDX-License-Identifier: BSD-3-Clause */
/* Parallel matrix multiply in UPC, C = A B, on block-cyclic matrices (SUMMA, see matmul.c).
 *
 * Threads form a grid of P x Q. For each block of k, the threads that own it hand a panel of A to
 * their row of the grid and a panel of B to their column:
 *   team    by broadcasts on teams of rows and of columns, one block ahead of the product
 *   signal  by puts that post a semaphore of their destination, one block ahead
 *   get     by upc_memget_nb, one block ahead; their owners do nothing
 *   direct  by pointers to the owners' memory where it is mapped (upc_cast)
 * UPC has no teams: those of `team` are teams of GASNet-EX, which bench/lib makes in a UPC program
 * as a client of its own. Problem, verification, options and report are those of matmul.c. B is
 * kept by block rows, so that each panel is contiguous. Panel k uses buffer k mod 2.
 *
 *     tombolo run -n 4 bench/matmul-upc --size 1000
 *
 * Exit code: 0 verified, 1 not, 2 refused.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <upc_relaxed.h>
#include <upc_castable.h>
#include <upc_nb.h>

#include <cblas.h>

#include "apps/matmul/problem.h"
#include "lib/app.h"
#include "lib/blocks.h"
#include "lib/dense.h"
#include "lib/links_gex.h"

enum { TEAM, SIGNAL, GET, DIRECT, WAYS };
static const struct job_way ways[] = {
    {"team", "panels by broadcasts of row and column teams, one ahead of the product"},
    {"signal", "panels by puts that post a semaphore, one ahead of the product"},
    {"get", "panels by upc_memget_nb, one ahead of the product"},
    {"direct", "panels read in place where memory is shared"},
};

enum { A, B, MATRICES };
typedef shared [] double *numbers_t;
struct parts {
  numbers_t own[MATRICES];        /* A as [kq][mp], B as [block row][nq][width] */
  numbers_t panel[MATRICES][2];   /* [parity] what comes from others */
  bupc_sem_t *here[MATRICES][2];  /* posted when the panel has come */
  bupc_sem_t *taken[MATRICES][2]; /* posted by each that has used its panel of this owner */
};
static struct parts shared parts[THREADS];

static struct job job;
static struct matmul_shape s;
static struct parts *part; /* [THREADS] copy of parts */
static double *own[MATRICES], *panel[MATRICES][2], *c;
static gex_TM_t team[MATRICES]; /* A: of the row, B: of the column */
static gex_Event_t event[MATRICES];
static upc_handle_t handle[MATRICES];
static bool all_near; /* the memory of all threads is mapped here */
static double rate;

/* ---- who has what. A panel of A goes along the row, one of B along the column. */

static int others(int matrix) {
  return matrix == A ? s.q : s.p;
}

static int place(int matrix) {
  return matrix == A ? s.col : s.row;
}

static int thread_at(int matrix, int at) {
  return matrix == A ? s.row * s.q + at : at * s.q + s.col;
}

static int owner_of(int matrix, long block) {
  return (int)(block % others(matrix));
}

static size_t panel_bytes(int matrix, long block) {
  return (size_t)((matrix == A ? s.mp : s.nq) * matmul_width(&s, block)) * sizeof(double);
}

/* Of the first number of a panel, in what its owner has: all blocks in front of it are whole. */
static size_t offset_of(int matrix, long block) {
  return (size_t)(block / others(matrix) * s.nb * (matrix == A ? s.mp : s.nq));
}

static bool is_mine(int matrix, long block) {
  return owner_of(matrix, block) == place(matrix);
}

/* ---- panels in flight */

static void broadcast(int matrix, long block) {
  double *const mine = own[matrix] + offset_of(matrix, block);
  const bool root = is_mine(matrix, block);
  event[matrix] = gex_Coll_BroadcastNB(team[matrix], (gex_Rank_t)owner_of(matrix, block),
                                       root ? mine : panel[matrix][block & 1], root ? mine : NULL,
                                       panel_bytes(matrix, block), 0);
}

/* To all others of the row or column, once they have used what was in the buffer. */
static void put(int matrix, long block) {
  if (!is_mine(matrix, block) || others(matrix) == 1) return;
  const int parity = (int)(block & 1), me = place(matrix);
  if (block > 1) bupc_sem_waitN(part[MYTHREAD].taken[matrix][parity], (size_t)others(matrix) - 1);
  for (int step = 1; step < others(matrix); step++) {
    struct parts *const to = &part[thread_at(matrix, (me + step) % others(matrix))];
    const double *const from = own[matrix] + offset_of(matrix, block);
    if (all_near)
      bupc_memput_signal(to->panel[matrix][parity], from, panel_bytes(matrix, block),
                         to->here[matrix][parity], 1);
    else
      bupc_memput_signal_async(to->panel[matrix][parity], from, panel_bytes(matrix, block),
                               to->here[matrix][parity], 1);
  }
}

static void get(int matrix, long block) {
  if (is_mine(matrix, block)) return;
  const int owner = thread_at(matrix, owner_of(matrix, block));
  handle[matrix] = upc_memget_nb(panel[matrix][block & 1],
                                 part[owner].own[matrix] + offset_of(matrix, block),
                                 panel_bytes(matrix, block));
}

static void start(int way, long block) {
  for (int matrix = A; matrix < MATRICES; matrix++) {
    if (way == TEAM)
      broadcast(matrix, block);
    else if (way == SIGNAL)
      put(matrix, block);
    else if (way == GET)
      get(matrix, block);
  }
}

/* Waits for a panel. Returns where it is. */
static const double *wait_for(int way, int matrix, long block) {
  const int owner = thread_at(matrix, owner_of(matrix, block));
  if (way == TEAM) gex_Event_Wait(event[matrix]);
  if (is_mine(matrix, block)) return own[matrix] + offset_of(matrix, block);
  if (way == DIRECT)
    return (const double *)upc_cast(part[owner].own[matrix] + offset_of(matrix, block));
  if (way == SIGNAL) bupc_sem_wait(part[MYTHREAD].here[matrix][block & 1]);
  if (way == GET) upc_sync(handle[matrix]);
  return panel[matrix][block & 1];
}

/* The buffers of a block are free for that which comes next into them: tell its owner. */
static void is_used(long block, long blocks) {
  const long next = block + 2;
  if (next >= blocks) return;
  for (int matrix = A; matrix < MATRICES; matrix++)
    if (!is_mine(matrix, next))
      bupc_sem_post(part[thread_at(matrix, owner_of(matrix, next))].taken[matrix][next & 1]);
}

static void multiply(int way) {
  const long blocks = matmul_blocks(&s);
  start(way, 0);
  for (long block = 0; block < blocks; block++) {
    const int width = (int)matmul_width(&s, block);
    app_enter(&job, APP_WAIT);
    const double *const a = wait_for(way, A, block), *const b = wait_for(way, B, block);
    app_enter(&job, APP_SEND);
    if (block + 1 < blocks) start(way, block + 1);
    app_enter(&job, APP_COMPUTE);
    if (s.mp && s.nq)
      cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)s.mp, (int)s.nq, width, 1.0, a,
                  (int)s.mp, b, width, 1.0, c, (int)s.mp);
    app_enter(&job, APP_SEND);
    if (way == SIGNAL) is_used(block, blocks);
  }
}

/* ---- runs */

static bool run(const struct app_options *o, int way) {
  job.way = way;
  double best = 0, worst = 0;
  for (long i = 0; app_iteration(&job, o, i); i++) { /* the first one warms up */
    memset(c, 0, (size_t)(s.mp * s.nq) * sizeof *c);
    upc_barrier;
    const double begin = job_now();
    multiply(way);
    double seconds = job_now() - begin;
    app_stop(&job);
    seconds = job_max(&job, seconds);
    if (i && i <= o->iterations && (best == 0 || seconds < best)) best = seconds;
    if (i == 1 && o->inject_error && s.mp && s.nq) c[0] += 1;
    worst = fmax(worst, matmul_deviation(&s, c));
  }
  const bool good = job_max(&job, worst) < 1e-12;
  const double work = 2.0 * (double)s.m * (double)s.n * (double)s.k;
  const struct app_result result = {
      .seconds = best, .work = work, .verified = good, .share = work / best / rate};
  app_report(&job, o, &result);
  return good;
}

static void fill(void) {
  for (long j = 0; j < s.kq; j++)
    for (long i = 0; i < s.mp; i++)
      own[A][j * s.mp + i] = blocks_value((uint64_t)blocks_global(i, s.nb, s.row, s.p),
                                          (uint64_t)blocks_global(j, s.nb, s.col, s.q), MATMUL_A);
  for (long block = s.row; block < matmul_blocks(&s); block += s.p) {
    const long width = matmul_width(&s, block);
    double *const to = own[B] + offset_of(B, block);
    for (long j = 0; j < s.nq; j++)
      for (long i = 0; i < width; i++)
        to[j * width + i] = blocks_value((uint64_t)(block * s.nb + i),
                                         (uint64_t)blocks_global(j, s.nb, s.col, s.q), MATMUL_B);
  }
}

static bool make_part(struct parts *mine) {
  const long side[MATRICES] = {s.mp, s.nq}, deep[MATRICES] = {s.kq, s.kp};
  const int flags = BUPC_SEM_INTEGER | BUPC_SEM_SCONSUMER;
  bool good = true;
  for (int matrix = A; matrix < MATRICES; matrix++) {
    mine->own[matrix] = upc_alloc((size_t)(side[matrix] * deep[matrix] + 1) * sizeof(double));
    good = good && mine->own[matrix] != NULL;
    for (int parity = 0; parity < 2; parity++) {
      mine->panel[matrix][parity] = upc_alloc((size_t)(side[matrix] * s.nb + 1) * sizeof(double));
      good = good && mine->panel[matrix][parity] != NULL;
      mine->here[matrix][parity] = bupc_sem_alloc(flags | BUPC_SEM_MPRODUCER);
      mine->taken[matrix][parity] = bupc_sem_alloc(flags | BUPC_SEM_MPRODUCER);
      if (good) panel[matrix][parity] = (double *)mine->panel[matrix][parity];
    }
    if (good) own[matrix] = (double *)mine->own[matrix];
  }
  return good;
}

static void lay_out(const struct app_options *o) {
  struct parts mine;
  matmul_shape(&s, &job, o->n);
  const double mp = (double)(s.mp + s.nb), nq = (double)(s.nq + s.nb);
  app_need(&job, sizeof(double) * (mp * (double)(s.kq + s.nb) + nq * (double)(s.kp + s.nb) +
                                   mp * nq + 2 * (mp + nq) * (double)s.nb));
  c = malloc((size_t)(s.mp * s.nq + 1) * sizeof *c);
  part = malloc(THREADS * sizeof *part);
  if (job_sum(&job, make_part(&mine) && c && part ? 0 : 1) != 0)
    job_refuse(&job, "matrices of this size do not fit in memory; take a smaller --size");
  parts[MYTHREAD] = mine;
  upc_barrier;
  all_near = true;
  for (int t = 0; t < THREADS; t++) {
    part[t] = parts[t];
    all_near = all_near && upc_cast(part[t].own[A]) != NULL;
  }
  all_near = job_sum(&job, all_near ? 0 : 1) == 0;
  (void)gex_TM_Split(&team[A], job_team(), s.row, s.col, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  (void)gex_TM_Split(&team[B], job_team(), s.col, s.row, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
}

int main(int argc, char **argv) {
  static const struct app_number numbers[] = {
      {"size", 'n', 1000, 1, 0, "Rows and columns of each matrix"},
      {"block", 'b', 128, 1, 0, "Rows and columns of a block"},
      {"columns", 'c', 0, 0, 0, "Columns of B and C; 0: as --size"},
      {"inner", 'k', 0, 0, 0, "Columns of A and rows of B; 0: as --size"}};
  static const struct app_program program = {.name = "matmul-upc",
                                             .help = "C = A B on block-cyclic matrices, in UPC",
                                             .numbers = numbers,
                                             .count = 4,
                                             .iterations = 3,
                                             .ways = ways,
                                             .way_count = WAYS};
  struct app_options options;
  job_start(&job, program.name, &argc, &argv);
  app_options(&job, &program, &options, argc, argv);
  openblas_set_num_threads(1);
  lay_out(&options);
  fill();
  rate = matmul_calibrate(&job);
  bool good = true;
  app_head(&job, &options);
  dense_say(&job, &options, rate);
  for (int way = 0; way < WAYS; way++)
    if ((options.way < 0 || options.way == way) && (way != DIRECT || all_near))
      good = run(&options, way) && good;
  job_exit(&job, good ? 0 : 1);
}
