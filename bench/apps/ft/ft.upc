/* SPDX-License-Identifier: BSD-3-Clause */
/* NAS FT in UPC, in three forms of one exchange:
 *   bulk    after all planes of a stage, one strided put to each thread, then a barrier
 *   nb      each plane's pieces by non-blocking puts under the next plane's transforms, then a barrier
 *   signal  the same with puts that post a semaphore of their destination, which waits for as many
 * The grid is cut into slabs: z before and after, y in between. The transforms of planes, the data
 * and the reference checksums are those of bench/apps/ft (C), so that only communication differs.
 *
 *     tombolo run -n 4 bench/ft-upc --class S --form all
 *
 * Exit code: 0 verified, 1 not, 2 refused.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <upc_relaxed.h>
#include <upc_castable.h>
#include <upc_tick.h>
#include <bupc_collectivev.h>

#include "layout.h"
#include "pencil.h"
#include "problem.h"

#define CHECKSUM_POINTS 1024
#define TOLERANCE       1e-12
#define LARGE_PAGE      ((size_t)2 << 20)

enum form { BULK, NB, SIGNAL, FORMS };
static const char *const form_names[FORMS] = {"bulk", "nb", "signal"};

typedef shared [] struct cplx *zone_t;
static zone_t shared zones[THREADS];        /* where each thread's pieces land */
static bupc_sem_t *shared arrivals[THREADS]; /* posted for each piece */

static const struct ft_class *class;
static struct ft_layout grid;
static struct ft_pencil forward[3], inverse[3];
static struct ft_phases phases;
static struct cplx *spectrum, *work, *land;
static double *decay[3];
static zone_t *zone;      /* copies of zones and arrivals */
static bupc_sem_t **posts;
static upc_handle_t *handles;
static size_t handle_count;
static size_t slot;   /* of work, in which the next plane is made */
static bool all_near; /* the memory of all threads is mapped here */

/* ---- the exchange: a plane is work[slot][destination][piece]; plane p lands as [source][p][piece].
 * A slot whose puts are done serves the next plane too, while it is in cache. There is one for each
 * plane, so nothing waits for a slot. */

static struct cplx *target(size_t piece) {
  return (THREADS == 1 ? land : work) + slot * THREADS * piece;
}

static void put_piece(enum form form, int to, int p, int planes, size_t piece) {
  shared [] struct cplx *dst = zone[to] + ((size_t)MYTHREAD * planes + p) * piece;
  const struct cplx *src = work + (slot * THREADS + to) * piece;
  const size_t bytes = piece * sizeof *src;
  if (to == MYTHREAD)
    memcpy(land + ((size_t)MYTHREAD * planes + p) * piece, src, bytes);
  else if (form == NB)
    handles[handle_count++] = upc_memput_nb(dst, src, bytes);
  else if (all_near)
    bupc_memput_signal(dst, src, bytes, posts[to], 1);
  else
    bupc_memput_signal_async(dst, src, bytes, posts[to], 1);
}

/* Whether nothing reads the slots any more. */
static bool puts_done(enum form form) {
  if (form == SIGNAL) return all_near;
  while (handle_count && upc_sync_attempt(handles[handle_count - 1])) handle_count--;
  return handle_count == 0;
}

static void plane_is_done(enum form form, int p, int planes, size_t piece) {
  if (THREADS == 1 || form == BULK) {
    slot++;
    return;
  }
  ft_phases_enter(&phases, FT_COMM);
  for (int k = 1; k <= THREADS; k++) put_piece(form, (MYTHREAD + k) % THREADS, p, planes, piece);
  slot = puts_done(form) ? 0 : slot + 1;
}

static void put_all(int planes, size_t piece) {
  const size_t bytes = piece * sizeof(struct cplx);
  for (int k = 1; k < THREADS; k++) {
    const int to = (MYTHREAD + k) % THREADS;
    bupc_memput_fstrided(zone[to] + (size_t)MYTHREAD * planes * piece, bytes * planes,
                         bytes * planes, 1, work + to * piece, bytes, bytes * THREADS, planes);
  }
  for (slot = 0; slot < (size_t)planes; slot++)
    put_piece(BULK, MYTHREAD, (int)slot, planes, piece);
}

static void finish(enum form form, int planes, size_t piece) {
  if (THREADS > 1 && form == BULK) {
    ft_phases_enter(&phases, FT_COMM);
    put_all(planes, piece);
  }
  slot = 0;
  if (THREADS == 1) return;
  ft_phases_enter(&phases, FT_COMM);
  for (; handle_count; handle_count--) upc_sync(handles[handle_count - 1]);
  ft_phases_enter(&phases, FT_SYNC);
  if (form == SIGNAL)
    bupc_sem_waitN(posts[MYTHREAD], (size_t)(THREADS - 1) * planes);
  else
    upc_barrier;
}

/* ---- the transforms */

static size_t area(int a, int b) {
  return (size_t)a * (size_t)b;
}

static void x_pass(const struct ft_pencil *pencil, struct cplx *plane) {
  const struct ft_view rows = ft_rows(plane, grid.n[0]);
  ft_pencil_apply(pencil, &rows, &rows, NULL, &phases);
}

static void transform(enum form form) {
  const size_t piece = area(grid.ny_z, grid.nx), plane = area(grid.n[1], grid.nx);
  for (int z = 0; z < grid.nz; z++) {
    x_pass(&forward[0], spectrum + z * plane);
    const struct ft_view in = ft_columns(spectrum + z * plane, grid.n[1], grid.nx);
    const struct ft_view out = ft_columns(target(piece), grid.n[1], grid.nx);
    ft_pencil_apply(&forward[1], &in, &out, NULL, &phases);
    plane_is_done(form, z, grid.nz, piece);
  }
  finish(form, grid.nz, piece);
  for (int y = 0; y < grid.ny_z; y++) {
    const struct ft_view in = ft_columns(land + area(y, grid.nx), grid.n[2], piece);
    const struct ft_view out = ft_rows(spectrum + y * area(grid.nx, grid.n[2]), grid.n[2]);
    ft_pencil_apply(&forward[2], &in, &out, NULL, &phases);
  }
  ft_phases_enter(&phases, FT_SYNC);
  upc_barrier; /* all have read what landed */
}

static void transform_back(enum form form, int t) {
  const size_t piece = area(grid.nz, grid.nx), plane = area(grid.n[1], grid.nx);
  ft_phases_enter(&phases, FT_EVOLVE);
  ft_decay_table(decay[0], grid.x0, grid.nx, grid.n[0], t, 1.0);
  ft_decay_table(decay[1], grid.y0_z, grid.ny_z, grid.n[1], t, 1.0);
  ft_decay_table(decay[2], 0, grid.n[2], grid.n[2], t, 1.0 / ft_class_points(class));
  for (int y = 0; y < grid.ny_z; y++) {
    const struct ft_weights weights = {decay[2], decay[0], decay[1][y]};
    const struct ft_view in = ft_rows(spectrum + y * area(grid.nx, grid.n[2]), grid.n[2]);
    const struct ft_view out = ft_columns(target(piece), grid.n[2], grid.nx);
    ft_pencil_apply(&inverse[2], &in, &out, &weights, &phases);
    plane_is_done(form, y, grid.ny_z, piece);
  }
  finish(form, grid.ny_z, piece);
  for (int z = 0; z < grid.nz; z++) {
    const struct ft_view in = ft_columns(land + area(z, grid.nx), grid.n[1], piece);
    const struct ft_view out = ft_columns(work + z * plane, grid.n[1], grid.nx);
    ft_pencil_apply(&inverse[1], &in, &out, NULL, &phases);
    x_pass(&inverse[0], work + z * plane);
  }
}

static struct cplx checksum(void) {
  struct cplx sum = {0, 0};
  ft_phases_enter(&phases, FT_CHECKSUM);
  for (int j = 1; j <= CHECKSUM_POINTS; j++) {
    const int x = j % grid.n[0], y = 3 * j % grid.n[1], z = 5 * j % grid.n[2] - grid.z0;
    if (z < 0 || z >= grid.nz) continue;
    const struct cplx u = work[(area(z, grid.n[1]) + y) * grid.nx + x];
    sum.re += u.re;
    sum.im += u.im;
  }
  ft_phases_enter(&phases, FT_SYNC);
  sum.re = bupc_allv_reduce_all(double, sum.re, UPC_ADD);
  sum.im = bupc_allv_reduce_all(double, sum.im, UPC_ADD);
  return sum;
}

/* ---- runs */

/* In large pages where the system has them, touched now so that no fault falls into what is timed. */
static void *room(size_t bytes) {
  const size_t step = bytes < LARGE_PAGE ? 64 : LARGE_PAGE, all = (bytes + step - 1) / step * step;
  void *p = aligned_alloc(step, all);
  if (!p) upc_global_exit(2);
  if (step == LARGE_PAGE) madvise(p, all, MADV_HUGEPAGE); /* a wish: failure only costs speed */
  return memset(p, 0, bytes);
}

static void prepare(void) {
  ft_layout_init(&grid, class, 1, THREADS, MYTHREAD);
  bool planned = true;
  for (int d = 0; d < 3; d++) {
    const int count = d == 0 ? grid.ny_x : grid.nx;
    planned = ft_pencil_init(&forward[d], grid.n[d], count, FFTW_FORWARD, FFTW_MEASURE) && planned;
    planned = ft_pencil_init(&inverse[d], grid.n[d], count, FFTW_BACKWARD, FFTW_MEASURE) && planned;
  }
  if (!planned) upc_global_exit(2);
  spectrum = room(grid.points * sizeof(struct cplx));
  work = room(grid.points * sizeof(struct cplx));
  decay[0] = room(grid.nx * sizeof(double));
  decay[1] = room(grid.ny_z * sizeof(double));
  decay[2] = room(grid.n[2] * sizeof(double));
  handles = room((size_t)THREADS * (grid.nz + grid.ny_z) * sizeof *handles);
  zone = room(THREADS * sizeof *zone);
  posts = room(THREADS * sizeof *posts);
  zones[MYTHREAD] = upc_alloc(grid.points * sizeof(struct cplx));
  arrivals[MYTHREAD] =
      bupc_sem_alloc(BUPC_SEM_INTEGER | BUPC_SEM_MPRODUCER | BUPC_SEM_SCONSUMER);
  if (zones[MYTHREAD] == NULL) upc_global_exit(2);
  land = (struct cplx *)zones[MYTHREAD];
  memset(land, 0, grid.points * sizeof(struct cplx));
  upc_barrier;
  all_near = true;
  for (int t = 0; t < THREADS; t++) {
    zone[t] = zones[t];
    all_near = all_near && upc_cast(zone[t]) != NULL;
    posts[t] = arrivals[t];
  }
}

static double relative_error(struct cplx a, struct cplx b) {
  return hypot(a.re - b.re, a.im - b.im) / hypot(b.re, b.im);
}

/* One run; whether all checksums are right. */
static int run(enum form form, int iterations, double *seconds) {
  int right = 1;
  upc_barrier;
  const upc_tick_t begin = upc_ticks_now();
  ft_phases_start(&phases, FT_SETUP);
  ft_initial_data(spectrum, &grid);
  transform(form);
  for (int i = 1; i <= iterations; i++) {
    transform_back(form, i);
    const struct cplx sum = checksum();
    if (i <= class->references && relative_error(sum, class->sums[i - 1]) > TOLERANCE) right = 0;
  }
  *seconds = (double)upc_ticks_to_ns(upc_ticks_now() - begin) * 1e-9;
  *seconds = bupc_allv_reduce_all(double, *seconds, UPC_MAX);
  return right;
}

static int run_forms(const char *name, int iterations, int runs) {
  int all_right = 1, found = 0;
  for (int form = 0; form < FORMS; form++) {
    if (strcmp(name, "all") != 0 && strcmp(name, form_names[form]) != 0) continue;
    double best = 1e30, seconds;
    found = 1;
    for (int k = 0; k < runs; k++) {
      all_right = run(form, iterations, &seconds) && all_right;
      if (seconds < best) best = seconds;
    }
    if (MYTHREAD == 0)
      printf("%-7s %9.4f s %9.1f Mop/s  %s\n", form_names[form], best,
             ft_mops(class, iterations, best), all_right ? "VERIFIED" : "FAILED");
  }
  if (!found && MYTHREAD == 0) fprintf(stderr, "ft: no form '%s': bulk, nb, signal, all\n", name);
  return found ? !all_right : 2;
}

/* What the user may choose. */
struct choice {
  const char *form, *letter;
  int iterations, runs;
};

/* A whole number above 0, or 0 if the text is none. */
static int positive(const char *text) {
  char *end;
  const long value = strtol(text, &end, 10);
  return *text && !*end && value > 0 && value <= 1000000 ? (int)value : 0;
}

/* One option. Returns whether it is known and its value good. */
static int take_option(struct choice *c, const char *name, const char *value) {
  if (!strcmp(name, "--class")) return c->letter = value, value[0] && !value[1];
  if (!strcmp(name, "--form")) return c->form = value, 1;
  if (!strcmp(name, "--iterations")) return (c->iterations = positive(value)) > 0;
  if (!strcmp(name, "--runs")) return (c->runs = positive(value)) > 0;
  return 0;
}

static int take_options(struct choice *c, int argc, char **argv) {
  for (int i = 1; i < argc; i += 2) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (take_option(c, argv[i], value)) continue;
    if (MYTHREAD == 0)
      fprintf(stderr,
              "ft: '%s %s' is no option with its value; there are --class LETTER, --form "
              "bulk|nb|signal|all, --iterations N, --runs N (N from 1 to 1000000)\n",
              argv[i], value);
    return 0;
  }
  return 1;
}

int main(int argc, char **argv) {
  struct choice c = {"all", "S", 0, 1};
  if (!take_options(&c, argc, argv)) return 2;
  char reason[200] = "no such class";
  class = ft_class_find(c.letter[0]);
  if (!class || !ft_layout_possible(class, 1, THREADS, THREADS, reason, sizeof reason)) {
    if (MYTHREAD == 0) fprintf(stderr, "ft: class %s: %s\n", c.letter, reason);
    return 2;
  }
  prepare();
  if (MYTHREAD == 0) printf("NAS FT class %s, %d threads\n", c.letter, THREADS);
  const int code = run_forms(c.form, c.iterations ? c.iterations : class->iterations, c.runs);
  upc_barrier;
  bupc_sem_free(posts[MYTHREAD]);
  return code;
}
