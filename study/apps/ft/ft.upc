/* SPDX-License-Identifier: BSD-3-Clause */
/* NAS FT in UPC, in three forms of one exchange:
 *   bulk    after all planes of a stage, one strided put to each thread, then a barrier
 *   nb      each plane's pieces by non-blocking puts under the next plane's transforms, then a barrier
 *   signal  the same with puts that post a semaphore of their destination, which waits for as many
 * The process grid is TY x TZ, as layout.h says. With TY = 1 planes are whole and a transform has
 * one exchange, among the threads of a column; else it has another one, among those of a row. The
 * transforms of planes, the data and the reference checksums are those of study/apps/ft (C), so that
 * only communication differs.
 *
 *     tombolo run -n 4 bench/ft-upc --class S --schedule all
 *
 * Exit code: 0 verified, 1 not, 2 refused, 3 the JSON was not written.
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

/* The exchanges among the threads of a row, and of a column, of the process grid. */
enum { ROW, COLUMN, EXCHANGES };
static zone_t shared zones[THREADS][EXCHANGES];         /* where each thread's pieces land */
static bupc_sem_t *shared arrivals[THREADS][EXCHANGES]; /* posted for each piece */
struct exchange {
  int members, first, stride; /* member k is thread first + k * stride */
  int me;                     /* which of them this thread is */
  struct cplx *land;          /* what has come */
  zone_t *zone;               /* [members] copies of zones and arrivals */
  bupc_sem_t **posts;
  unsigned long long puts, bytes; /* to other threads, of the last run */
};
static struct exchange row, column;

static const struct ft_class *class;
static struct ft_layout grid;
static struct ft_pencil forward[3], inverse[3];
static struct ft_phases phases;
static struct cplx *spectrum, *work;
static double *decay[3];
static upc_handle_t *handles;
static size_t handle_count;
static size_t slot;   /* of work, in which the next plane is made */
static bool all_near; /* the memory of all threads is mapped here */
static unsigned plan_flags;
static bool inject_error;

/* ---- an exchange: a plane is work[slot][destination][piece]. Plane p of a column lands as
 * [source][p][piece], that of a row as [p][source][piece]. A slot whose puts are done serves the
 * next plane too, while it is in cache. There is one for each plane, so nothing waits for a slot. */

static struct cplx *target(const struct exchange *x, size_t piece) {
  return (x->members == 1 ? x->land : work) + slot * x->members * piece;
}

static void count_put(struct exchange *x, size_t bytes) {
  x->puts++;
  x->bytes += bytes;
}

/* Where a piece of this thread's plane p lands. */
static size_t landing(const struct exchange *x, int p, int planes, size_t piece) {
  return (x == &row ? (size_t)p * x->members + x->me : (size_t)x->me * planes + p) * piece;
}

static void put_piece(enum form form, struct exchange *x, int to, int p, int planes,
                      size_t piece) {
  const size_t at = landing(x, p, planes, piece);
  const struct cplx *src = work + (slot * x->members + to) * piece;
  const size_t bytes = piece * sizeof *src;
  if (to != x->me) count_put(x, bytes);
  if (to == x->me)
    memcpy(x->land + at, src, bytes);
  else if (form == NB)
    handles[handle_count++] = upc_memput_nb(x->zone[to] + at, src, bytes);
  else if (all_near)
    bupc_memput_signal(x->zone[to] + at, src, bytes, x->posts[to], 1);
  else
    bupc_memput_signal_async(x->zone[to] + at, src, bytes, x->posts[to], 1);
}

/* Whether nothing reads the slots any more. */
static bool puts_done(enum form form) {
  if (form == SIGNAL) return all_near;
  while (handle_count && upc_sync_attempt(handles[handle_count - 1])) handle_count--;
  return handle_count == 0;
}

static void plane_is_done(enum form form, struct exchange *x, int p, int planes,
                          size_t piece) {
  if (x->members == 1 || form == BULK) {
    slot++;
    return;
  }
  ft_phases_enter(&phases, FT_COMM);
  for (int k = 1; k <= x->members; k++)
    put_piece(form, x, (x->me + k) % x->members, p, planes, piece);
  slot = puts_done(form) ? 0 : slot + 1;
}

static void put_all(struct exchange *x, int planes, size_t piece) {
  const size_t bytes = piece * sizeof(struct cplx);
  for (int k = 1; k < x->members; k++) {
    const int to = (x->me + k) % x->members;
    const bool by_plane = x == &row;
    count_put(x, bytes * planes);
    bupc_memput_fstrided(x->zone[to] + landing(x, 0, planes, piece),
                         by_plane ? bytes : bytes * planes,
                         by_plane ? bytes * x->members : bytes * planes, by_plane ? planes : 1,
                         work + to * piece, bytes, bytes * x->members, planes);
  }
  for (slot = 0; slot < (size_t)planes; slot++)
    put_piece(BULK, x, x->me, (int)slot, planes, piece);
}

/* All pieces have come. again: `work` is written next, so nothing may read it any more. */
static void finish(enum form form, struct exchange *x, int planes, size_t piece,
                   bool again) {
  if (x->members > 1 && form == BULK) {
    ft_phases_enter(&phases, FT_COMM);
    put_all(x, planes, piece);
  }
  slot = 0;
  if (THREADS == 1) return;
  ft_phases_enter(&phases, FT_COMM);
  for (; handle_count; handle_count--) upc_sync(handles[handle_count - 1]);
  ft_phases_enter(&phases, FT_SYNC);
  if (form != SIGNAL)
    upc_barrier;
  else if (x->members > 1)
    bupc_sem_waitN(x->posts[x->me], (size_t)(x->members - 1) * planes);
  if (form == SIGNAL && !all_near && again) upc_barrier; /* all have all pieces */
}

/* ---- the transforms */

static size_t area(int a, int b) {
  return (size_t)a * (size_t)b;
}

static void x_pass(const struct ft_pencil *pencil, struct cplx *plane) {
  const struct ft_view rows = ft_rows(plane, grid.n[0]);
  ft_pencil_apply(pencil, &rows, &rows, NULL, &phases);
}

/* Transforms along x, and sends each plane to the row. */
static void x_to_row(enum form form) {
  const size_t piece = area(grid.ny_x, grid.nx), plane = area(grid.ny_x, grid.n[0]);
  for (int z = 0; z < grid.nz; z++) {
    const struct ft_view in = ft_rows(spectrum + z * plane, grid.n[0]);
    const struct ft_view out = ft_split_rows(target(&row, piece), grid.nx, piece);
    ft_pencil_apply(&forward[0], &in, &out, NULL, &phases);
    plane_is_done(form, &row, z, grid.nz, piece);
  }
  finish(form, &row, grid.nz, piece, true);
}

static void transform(enum form form) {
  const size_t piece = area(grid.ny_z, grid.nx), plane = area(grid.n[1], grid.nx);
  if (grid.ty > 1) x_to_row(form);
  for (int z = 0; z < grid.nz; z++) {
    struct cplx *from = (grid.ty > 1 ? row.land : spectrum) + z * plane;
    if (grid.ty == 1) x_pass(&forward[0], from);
    const struct ft_view in = ft_columns(from, grid.n[1], grid.nx);
    const struct ft_view out = ft_columns(target(&column, piece), grid.n[1], grid.nx);
    ft_pencil_apply(&forward[1], &in, &out, NULL, &phases);
    plane_is_done(form, &column, z, grid.nz, piece);
  }
  finish(form, &column, grid.nz, piece, false);
  for (int y = 0; y < grid.ny_z; y++) {
    const struct ft_view in = ft_columns(column.land + area(y, grid.nx), grid.n[2], piece);
    const struct ft_view out = ft_rows(spectrum + y * area(grid.nx, grid.n[2]), grid.n[2]);
    ft_pencil_apply(&forward[2], &in, &out, NULL, &phases);
  }
  ft_phases_enter(&phases, FT_SYNC);
  upc_barrier; /* all have read what landed */
}

/* Transforms back along y what has come from the column, with whole planes along x, too; else sends
 * each plane to the row, and transforms what comes from there. */
static void yx_back(enum form form) {
  const size_t plane = area(grid.n[1], grid.nx), piece = area(grid.ny_x, grid.nx);
  for (int z = 0; z < grid.nz; z++) {
    struct cplx *to = grid.ty > 1 ? target(&row, piece) : work + z * plane;
    const struct ft_view in =
        ft_columns(column.land + area(z, grid.nx), grid.n[1], area(grid.nz, grid.nx));
    const struct ft_view out = ft_columns(to, grid.n[1], grid.nx);
    ft_pencil_apply(&inverse[1], &in, &out, NULL, &phases);
    if (grid.ty > 1)
      plane_is_done(form, &row, z, grid.nz, piece);
    else
      x_pass(&inverse[0], to);
  }
  if (grid.ty == 1) return;
  finish(form, &row, grid.nz, piece, true);
  for (int z = 0; z < grid.nz; z++) {
    const struct ft_view in = ft_split_rows(row.land + z * plane, grid.nx, piece);
    const struct ft_view out = ft_rows(work + z * plane, grid.n[0]);
    ft_pencil_apply(&inverse[0], &in, &out, NULL, &phases);
  }
}

static void transform_back(enum form form, int t) {
  const size_t piece = area(grid.nz, grid.nx);
  ft_phases_enter(&phases, FT_EVOLVE);
  ft_decay_table(decay[0], grid.x0, grid.nx, grid.n[0], t, 1.0);
  ft_decay_table(decay[1], grid.y0_z, grid.ny_z, grid.n[1], t, 1.0);
  ft_decay_table(decay[2], 0, grid.n[2], grid.n[2], t, 1.0 / ft_class_points(class));
  for (int y = 0; y < grid.ny_z; y++) {
    const struct ft_weights weights = {decay[2], decay[0], decay[1][y]};
    const struct ft_view in = ft_rows(spectrum + y * area(grid.nx, grid.n[2]), grid.n[2]);
    const struct ft_view out = ft_columns(target(&column, piece), grid.n[2], grid.nx);
    ft_pencil_apply(&inverse[2], &in, &out, &weights, &phases);
    plane_is_done(form, &column, y, grid.ny_z, piece);
  }
  finish(form, &column, grid.ny_z, piece, true);
  yx_back(form);
}

/* A point of an array of planes along x; NULL: it is another thread's. */
static struct cplx *point(struct cplx *base, int x, int y, int z) {
  const int line = y - grid.y0_x, plane = z - grid.z0;
  if (line < 0 || line >= grid.ny_x || plane < 0 || plane >= grid.nz) return NULL;
  return base + (area(plane, grid.ny_x) + line) * grid.n[0] + x;
}

static struct cplx checksum(void) {
  struct cplx sum = {0, 0};
  ft_phases_enter(&phases, FT_CHECKSUM);
  for (int j = 1; j <= CHECKSUM_POINTS; j++) {
    const struct cplx *u = point(work, j % grid.n[0], 3 * j % grid.n[1], 5 * j % grid.n[2]);
    if (!u) continue;
    sum.re += u->re;
    sum.im += u->im;
  }
  ft_phases_enter(&phases, FT_SYNC);
  sum.re = bupc_allv_reduce_all(double, sum.re, UPC_ADD);
  sum.im = bupc_allv_reduce_all(double, sum.im, UPC_ADD);
  return sum;
}

/* ---- runs */

/* What the user may choose; options as those of study/apps/ft. */
struct choice {
  int form; /* FORMS: all */
  char letter;
  int ty, tz; /* process grid; 0: not chosen */
  int iterations, runs;
  bool warmup, quiet, inject, measure;
  const char *json;
};

static struct choice chosen = {.form = FORMS, .runs = 1, .measure = true};

/* In large pages where the system has them, touched now so that no fault falls into what is timed. */
static void *room(size_t bytes) {
  const size_t step = bytes < LARGE_PAGE ? 64 : LARGE_PAGE, all = (bytes + step - 1) / step * step;
  void *p = aligned_alloc(step, all);
  if (!p) upc_global_exit(2);
  if (step == LARGE_PAGE) madvise(p, all, MADV_HUGEPAGE); /* a wish: failure only costs speed */
  return memset(p, 0, bytes);
}

/* Makes an exchange, but not what it knows of the others. */
static void offer(struct exchange *x, int which) {
  const zone_t mine = upc_alloc(grid.points * sizeof(struct cplx));
  if (mine == NULL) upc_global_exit(2);
  x->members = which == ROW ? grid.ty : grid.tz;
  x->stride = which == ROW ? 1 : grid.ty;
  x->me = which == ROW ? grid.my_ty : grid.my_tz;
  x->first = MYTHREAD - x->me * x->stride;
  x->zone = room(x->members * sizeof *x->zone);
  x->posts = room(x->members * sizeof *x->posts);
  zones[MYTHREAD][which] = mine;
  arrivals[MYTHREAD][which] =
      bupc_sem_alloc(BUPC_SEM_INTEGER | BUPC_SEM_MPRODUCER | BUPC_SEM_SCONSUMER);
  x->land = (struct cplx *)mine;
  memset(x->land, 0, grid.points * sizeof(struct cplx));
}

static void join(struct exchange *x, int which) {
  for (int k = 0; k < x->members; k++) {
    const int thread = x->first + k * x->stride;
    x->zone[k] = zones[thread][which];
    x->posts[k] = arrivals[thread][which];
  }
}

static void prepare(void) {
  ft_layout_init(&grid, class, chosen.ty, chosen.tz, MYTHREAD);
  bool planned = true;
  for (int d = 0; d < 3; d++) {
    const int count = d == 0 ? grid.ny_x : grid.nx;
    planned = ft_pencil_init(&forward[d], grid.n[d], count, FFTW_FORWARD, plan_flags) && planned;
    planned = ft_pencil_init(&inverse[d], grid.n[d], count, FFTW_BACKWARD, plan_flags) && planned;
  }
  if (!planned) upc_global_exit(2);
  spectrum = room(grid.points * sizeof(struct cplx));
  work = room(grid.points * sizeof(struct cplx));
  decay[0] = room(grid.nx * sizeof(double));
  decay[1] = room(grid.ny_z * sizeof(double));
  decay[2] = room(grid.n[2] * sizeof(double));
  handles = room((size_t)THREADS * (grid.nz + grid.ny_z) * sizeof *handles);
  offer(&column, COLUMN);
  if (grid.ty > 1) offer(&row, ROW);
  upc_barrier;
  join(&column, COLUMN);
  if (grid.ty > 1) join(&row, ROW);
  all_near = true;
  for (int t = 0; t < THREADS; t++) all_near = all_near && upc_cast(zones[t][COLUMN]) != NULL;
}

static double relative_error(struct cplx a, struct cplx b) {
  return hypot(a.re - b.re, a.im - b.im) / hypot(b.re, b.im);
}

/* Negates one value that the checksums include; see inject_error in run.c. */
static void flip_one(void) {
  const int j = grid.n[2] - 1;
  struct cplx *one = point(spectrum, j % grid.n[0], 3 * j % grid.n[1], 5 * j % grid.n[2]);
  if (one) one->re *= -1;
}

/* One run; whether all checksums are right. */
static int run(enum form form, int iterations, double *seconds) {
  int right = 1;
  upc_barrier;
  const upc_tick_t begin = upc_ticks_now();
  ft_phases_start(&phases, FT_SETUP);
  ft_initial_data(spectrum, &grid);
  if (inject_error) flip_one();
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

/* What one form has measured. */
struct measured {
  double seconds, phase[FT_PHASES]; /* of the fastest run; phases: mean of the threads */
  int right;
};

static void print_json(FILE *out, enum form form, const struct measured *m, bool last) {
  fprintf(out, "  {\"schedule\": \"%s\", \"verification\": \"%s\", \"seconds\": %.9g, "
          "\"mops\": %.9g,\n   \"puts_per_rank\": %llu, \"put_bytes_per_rank\": %llu,\n",
          form_names[form], m->right ? "VERIFIED" : "FAILED", m->seconds,
          ft_mops(class, chosen.iterations, m->seconds), row.puts + column.puts,
          row.bytes + column.bytes);
  for (int i = 0; i < EXCHANGES; i++)
    fprintf(out, "   \"%s\": {\"puts_per_rank\": %llu, \"put_bytes_per_rank\": %llu},\n",
            i == ROW ? "rows" : "columns", i == ROW ? row.puts : column.puts,
            i == ROW ? row.bytes : column.bytes);
  fprintf(out, "   \"phases\": {");
  for (int i = 0; i < FT_PHASES; i++)
    fprintf(out, "%s\"%s\": {\"mean\": %.9g}", i ? ", " : "", ft_phase_key(i), m->phase[i]);
  fprintf(out, "}}%s\n", last ? "" : ",");
}

static void measure(enum form form, struct measured *m) {
  double seconds;
  m->right = 1;
  m->seconds = 1e30;
  if (chosen.warmup) (void)run(form, 1, &seconds);
  for (int k = 0; k < chosen.runs; k++) {
    row.puts = row.bytes = column.puts = column.bytes = 0;
    m->right = run(form, chosen.iterations, &seconds) && m->right;
    for (int i = 0; i < FT_PHASES; i++) {
      const double all = bupc_allv_reduce_all(double, phases.seconds[i], UPC_ADD);
      if (seconds < m->seconds) m->phase[i] = all / THREADS;
    }
    if (seconds < m->seconds) m->seconds = seconds;
  }
}

static int run_forms(FILE *out) {
  int all_right = 1;
  if (out)
    fprintf(out, "{\"benchmark\": \"NAS FT in UPC\", \"class\": \"%c\", \"ranks\": %d, "
            "\"grid\": {\"ty\": %d, \"tz\": %d}, \"iterations\": %d, \"runs\": [\n",
            chosen.letter, THREADS, grid.ty, grid.tz, chosen.iterations);
  for (int form = 0; form < FORMS; form++) {
    struct measured m;
    if (chosen.form != FORMS && chosen.form != form) continue;
    measure(form, &m);
    all_right = m.right && all_right;
    if (MYTHREAD == 0 && out != stdout)
      printf("%-7s %9.4f s %9.1f Mop/s  %s\n", form_names[form], m.seconds,
             ft_mops(class, chosen.iterations, m.seconds), m.right ? "VERIFIED" : "FAILED");
    if (out) print_json(out, form, &m, chosen.form != FORMS || form == FORMS - 1);
  }
  if (out) fprintf(out, "]}\n");
  return !all_right;
}

/* ---- options */

static const struct {
  char key;
  const char *name, *value, *help; /* value NULL: the option takes none */
} known[] = {
    {'c', "class", "S|W|A|B|C", "problem size (default S)"},
    {'g', "grid", "TYxTZ", "process grid (default 1xTHREADS, or the squarest possible)"},
    {'s', "schedule", "NAME", "bulk (or packed), nb (or slabs), signal (or slabs-signal), all (default)"},
    {'f', "form", "NAME", "another name of --schedule"},
    {'i', "iterations", "N", "iterations, 1 to 1000000 (default as published)"},
    {'r', "runs", "N", "runs of each form, 1 to 1000000 (default 1); the fastest counts"},
    {'j', "json", "FILE", "write results as JSON to FILE, or - for standard output"},
    {'P', "fft-plan", "estimate|measure", "effort of FFTW's planner (default measure)"},
    {'w', "warmup", NULL, "run one untimed iteration first"},
    {'q', "quiet", NULL, "print only one result line for each form"},
    {'e', "inject-error", NULL, "flip one input value: the verification must fail"},
    {'l', "list", NULL, "list the classes and the forms"},
    {'h', "help", NULL, "show this help"},
};
enum { KNOWN = sizeof known / sizeof known[0] };

static bool refuse(const char *name, const char *value, const char *expected) {
  if (MYTHREAD == 0)
    fprintf(stderr, "ft-upc: --%s %s: expected %s\n", name, value, expected);
  return false;
}

/* A whole number above 0, or 0 if the text is none. */
static int positive(const char *text) {
  char *end;
  const long value = strtol(text, &end, 10);
  return *text && !*end && value > 0 && value <= 1000000 ? (int)value : 0;
}

static int form_of(const char *text) {
  static const char *const others[FORMS] = {"packed", "slabs", "slabs-signal"};
  for (int f = 0; f < FORMS; f++)
    if (!strcmp(text, form_names[f]) || !strcmp(text, others[f])) return f;
  return strcmp(text, "all") ? -1 : FORMS;
}

static bool take_number(int *to, const char *name, const char *value) {
  *to = positive(value);
  return *to || refuse(name, value, "a whole number from 1 to 1000000");
}

static bool take_grid(const char *value) {
  int end = 0;
  const bool good = sscanf(value, "%dx%d%n", &chosen.ty, &chosen.tz, &end) == 2 && !value[end];
  return good || refuse("grid", value, "two numbers, as 2x2");
}

/* Takes the default grid where none was chosen. Whether the grid is possible. */
static bool take_layout(void) {
  char reason[200], advice[200];
  bool possible = chosen.tz != 0 || ft_layout_choose(class, THREADS, &chosen.ty, &chosen.tz);
  if (!possible) snprintf(reason, sizeof reason, "%d threads cannot share it", THREADS);
  possible = possible &&
             ft_layout_possible(class, chosen.ty, chosen.tz, THREADS, reason, sizeof reason);
  if (possible || MYTHREAD != 0) return possible;
  ft_layout_advise(class, THREADS, advice, sizeof advice);
  fprintf(stderr, "ft-upc: --class %c: %s; %s\n", chosen.letter, reason, advice);
  return false;
}

/* One option with its value. Returns whether the value is good. */
static bool take_option(int i, const char *value) {
  struct choice *c = &chosen;
  switch (known[i].key) {
  case 'c':
    c->letter = value[0];
    return (ft_class_find(value[0]) && !value[1]) || refuse("class", value, "S, W, A, B or C");
  case 'g': return take_grid(value);
  case 's':
  case 'f':
    c->form = form_of(value);
    return c->form >= 0 || refuse(known[i].name, value, known[2].help);
  case 'i': return take_number(&c->iterations, known[i].name, value);
  case 'r': return take_number(&c->runs, known[i].name, value);
  case 'j': return c->json = value, true;
  case 'P':
    c->measure = !strcmp(value, "measure");
    return c->measure || !strcmp(value, "estimate") ||
           refuse("fft-plan", value, "estimate or measure");
  case 'w': return c->warmup = true;
  case 'q': return c->quiet = true;
  default: return c->inject = true;
  }
}

static void show_help(void) {
  puts("NAS FT in UPC: a 3-D FFT over all threads, verified against the published checksums.\n");
  for (int i = 0; i < KNOWN; i++)
    printf("  -%c, --%s%s%-*s %s\n", known[i].key, known[i].name, known[i].value ? " " : "",
           (int)(26 + !known[i].value - strlen(known[i].name)), known[i].value ? known[i].value : "", known[i].help);
  puts("\nExit code: 0 verified, 1 verification failed, 2 refused, 3 the JSON was not written.");
}

static void show_list(void) {
  for (const char *name = "SWABC"; *name; name++) {
    const struct ft_class *k = ft_class_find(*name);
    printf("class %c  %d x %d x %d points, %d iterations\n", *name, k->n[0], k->n[1], k->n[2],
           k->iterations);
  }
  puts("bulk     after all planes of a stage, one strided put to each thread, then a barrier\n"
       "nb       each plane's pieces by non-blocking puts under the next plane's transforms\n"
       "signal   the same with puts that post a semaphore of their destination");
}

/* Index of the option that a word names: -c, --class, --class=VALUE; -1: none. */
static int find_option(const char *word, const char **value) {
  const char *equal = strchr(word, '=');
  const size_t len = equal ? (size_t)(equal - word) : strlen(word);
  for (int i = 0; i < KNOWN; i++) {
    const bool brief = word[0] == '-' && word[1] == known[i].key && word[2] == 0;
    const bool full = len == strlen(known[i].name) + 2 && !strncmp(word, "--", 2) &&
                      !strncmp(word + 2, known[i].name, len - 2);
    if (!brief && !full) continue;
    *value = full && equal ? equal + 1 : NULL;
    return i;
  }
  return -1;
}

/* Returns 0: go on; 1: help was shown; 2: refused. */
static int take_options(int argc, char **argv) {
  for (int k = 1; k < argc; k++) {
    const char *value;
    const int i = find_option(argv[k], &value);
    if (i < 0) {
      if (MYTHREAD == 0)
        fprintf(stderr, "ft-upc: option %s: there is none of this name; --help shows all\n",
                argv[k]);
      return 2;
    }
    if (known[i].key == 'h' || known[i].key == 'l') {
      if (MYTHREAD == 0) (known[i].key == 'h' ? show_help : show_list)();
      return 1;
    }
    if (known[i].value && !value) value = k + 1 < argc ? argv[++k] : NULL;
    if (known[i].value && !value) return refuse(known[i].name, "", known[i].value), 2;
    if (!known[i].value && value) return refuse(known[i].name, value, "no value"), 2;
    if (!take_option(i, value)) return 2;
  }
  return 0;
}

/* Opens the file of --json on thread 0; all learn whether that went well. */
static bool open_json(FILE **out) {
  *out = NULL;
  if (MYTHREAD == 0 && chosen.json)
    *out = strcmp(chosen.json, "-") ? fopen(chosen.json, "w") : stdout;
  const int missing = MYTHREAD == 0 && chosen.json && !*out;
  if (missing) fprintf(stderr, "ft-upc: --json %s: cannot write\n", chosen.json);
  return !bupc_allv_reduce_all(int, missing, UPC_ADD);
}

int main(int argc, char **argv) {
  chosen.letter = 'S';
  const int stop = take_options(argc, argv);
  if (stop) return stop == 2 ? 2 : 0;
  FILE *out;
  class = ft_class_find(chosen.letter);
  if (!take_layout()) return 2;
  if (!open_json(&out)) return 3;
  if (!chosen.iterations) chosen.iterations = class->iterations;
  plan_flags = chosen.measure ? FFTW_MEASURE : FFTW_ESTIMATE;
  inject_error = chosen.inject;
  prepare();
  if (MYTHREAD == 0 && !chosen.quiet && out != stdout)
    printf("NAS FT class %c, %d threads, grid %dx%d\n", chosen.letter, THREADS, grid.ty, grid.tz);
  const int code = run_forms(out);
  if (out && out != stdout) fclose(out);
  upc_barrier;
  bupc_sem_free(column.posts[column.me]);
  if (grid.ty > 1) bupc_sem_free(row.posts[row.me]);
  return code;
}
