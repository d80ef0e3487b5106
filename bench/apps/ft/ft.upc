/* SPDX-License-Identifier: BSD-3-Clause */
/* NAS FT in UPC, in three forms of one exchange:
 *   bulk    after all planes of a stage, one strided put to each thread, then a barrier
 *   nb      each plane's pieces by non-blocking puts under the next plane's transforms, then a barrier
 *   signal  the same with puts that post a semaphore of their destination, which waits for as many
 * The grid is cut into slabs: z before and after, y in between. The transforms of planes, the data
 * and the reference checksums are those of bench/apps/ft (C), so that only communication differs.
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
static unsigned long long put_count, put_bytes; /* to other threads, of the last run */
static unsigned plan_flags;
static bool inject_error;

/* ---- the exchange: a plane is work[slot][destination][piece]; plane p lands as [source][p][piece].
 * A slot whose puts are done serves the next plane too, while it is in cache. There is one for each
 * plane, so nothing waits for a slot. */

static struct cplx *target(size_t piece) {
  return (THREADS == 1 ? land : work) + slot * THREADS * piece;
}

static void count_put(size_t bytes) {
  put_count++;
  put_bytes += bytes;
}

static void put_piece(enum form form, int to, int p, int planes, size_t piece) {
  shared [] struct cplx *dst = zone[to] + ((size_t)MYTHREAD * planes + p) * piece;
  const struct cplx *src = work + (slot * THREADS + to) * piece;
  const size_t bytes = piece * sizeof *src;
  if (to != MYTHREAD) count_put(bytes);
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
    count_put(bytes * planes);
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
  if (form == SIGNAL && !all_near) upc_barrier; /* all have all pieces: work can be written */
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

/* Negates one value that the checksums include; see inject_error in run.c. */
static void flip_one(void) {
  const int j = grid.n[2] - 1, x = j % grid.n[0], y = 3 * j % grid.n[1];
  const int z = 5 * j % grid.n[2] - grid.z0;
  if (z >= 0 && z < grid.nz) spectrum[(area(z, grid.n[1]) + y) * grid.nx + x].re *= -1;
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

/* What the user may choose; options as those of bench/apps/ft. */
struct choice {
  int form; /* FORMS: all */
  char letter;
  int iterations, runs;
  bool warmup, quiet, inject, measure;
  const char *json;
};

static struct choice chosen = {.form = FORMS, .runs = 1, .measure = true};

/* What one form has measured. */
struct measured {
  double seconds, phase[FT_PHASES]; /* of the fastest run; phases: mean of the threads */
  int right;
};

static void print_json(FILE *out, enum form form, const struct measured *m, bool last) {
  fprintf(out, "  {\"schedule\": \"%s\", \"verification\": \"%s\", \"seconds\": %.9g, "
          "\"mops\": %.9g,\n   \"puts_per_rank\": %llu, \"put_bytes_per_rank\": %llu,\n"
          "   \"phases\": {", form_names[form], m->right ? "VERIFIED" : "FAILED", m->seconds,
          ft_mops(class, chosen.iterations, m->seconds), put_count, put_bytes);
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
    put_count = put_bytes = 0;
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
            "\"iterations\": %d, \"runs\": [\n", chosen.letter, THREADS, chosen.iterations);
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
    {'g', "grid", "TYxTZ", "process grid; only 1xTHREADS is possible (default)"},
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
  char only[32];
  snprintf(only, sizeof only, "1x%d", THREADS);
  return !strcmp(value, only) || refuse("grid", value, "1xTHREADS: planes are not divided here");
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
  char reason[200];
  FILE *out;
  class = ft_class_find(chosen.letter);
  if (!ft_layout_possible(class, 1, THREADS, THREADS, reason, sizeof reason)) {
    if (MYTHREAD == 0) fprintf(stderr, "ft-upc: --class %c: %s\n", chosen.letter, reason);
    return 2;
  }
  if (!open_json(&out)) return 3;
  if (!chosen.iterations) chosen.iterations = class->iterations;
  plan_flags = chosen.measure ? FFTW_MEASURE : FFTW_ESTIMATE;
  inject_error = chosen.inject;
  prepare();
  if (MYTHREAD == 0 && !chosen.quiet && out != stdout)
    printf("NAS FT class %c, %d threads\n", chosen.letter, THREADS);
  const int code = run_forms(out);
  if (out && out != stdout) fclose(out);
  upc_barrier;
  bupc_sem_free(posts[MYTHREAD]);
  return code;
}
