/* SPDX-License-Identifier: BSD-3-Clause */
/* FT's command line on argp. Called by main.c on every rank; prints on one, never exits, so that
 * all ranks can leave together. Checks the form of each value; whether the class fits the job is
 * main.c's business.
 */
#include "options.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_PLAN = 0x100, KEY_WARMUP, KEY_BOUND, KEY_INJECT, KEY_LIST, KEY_USAGE };

static const struct argp_option known[] = {
    {"class", 'c', "S|W|A|B|C", 0, "Problem size (required)", 0},
    {"grid", 'g', "TYxTZ", 0,
     "Process grid (default: 1xRANKS if that divides, else nearest to square)", 0},
    {"schedule", 's', "NAME", 0,
     "packed, collective, slabs (default), slabs-blocking, slabs-signal, or all, which runs each "
     "and compares",
     0},
    {"iterations", 'i', "N", 0, "Iterations (default: as published; only these can be verified)",
     0},
    {"plot", 'p', "FILE", 0, "Draw the phases to FILE.svg or FILE.png (needs gnuplot)", 0},
    {"json", 'j', "FILE", 0, "Write results as JSON to FILE, or - for standard output", 0},
    {"fft-plan", KEY_PLAN, "estimate|measure", 0, "Effort of FFTW's planner (default estimate)", 0},
    {"warmup", KEY_WARMUP, NULL, 0, "Run one untimed iteration first (always with --schedule all)",
     0},
    {"bound", KEY_BOUND, NULL, 0,
     "Measure exchanges and computation alone, and show the least time: of wire and computation, "
     "and "
     "with the processors that move the data",
     0},
    {"quiet", 'q', NULL, 0, "Print only one result line for each schedule", 0},
    {"inject-error", KEY_INJECT, NULL, 0, "Flip one input value: the verification must fail", 0},
    {"list", KEY_LIST, NULL, 0, "List the classes and the schedules", 0},
    {"help", 'h', NULL, 0, "Show this help", -1},
    {"usage", KEY_USAGE, NULL, 0, "Show the options without their meaning", -1},
    {0},
};

struct parse {
  struct ft_options *options;
  bool helped;
};

/* A whole decimal number from 1 to INT_MAX followed by `end`; returns 0 if it is not one. */
static int whole_number(const char *text, char end, const char **rest) {
  char *stop;
  errno = 0;
  long value = strtol(text, &stop, 10);
  if (stop == text || *stop != end || errno || value < 1 || value > INT_MAX) return 0;
  if (rest) *rest = stop + 1;
  return (int)value;
}

/* Complains about a value and ends the parse. */
static error_t refuse(struct argp_state *state, const char *option, const char *value,
                      const char *expected) {
  argp_error(state, "%s %s: expected %s", option, value, expected);
  return EINVAL;
}

static error_t parse_grid(struct ft_options *o, const char *text, struct argp_state *state) {
  const char *rest = "";
  o->ty = whole_number(text, 'x', &rest);
  o->tz = o->ty ? whole_number(rest, '\0', NULL) : 0;
  return o->tz ? 0 : refuse(state, "--grid", text, "TYxTZ, such as 2x2");
}

static error_t parse_schedule(struct ft_options *o, const char *text, struct argp_state *state) {
  o->schedule = FT_ALL_SCHEDULES;
  if (strcmp(text, "all") == 0) return 0;
  for (int i = 0; i < ft_schedule_count; i++)
    if (strcmp(text, ft_schedules[i].name) == 0) o->schedule = i;
  if (o->schedule != FT_ALL_SCHEDULES) return 0;
  return refuse(state, "--schedule", text,
                "packed, collective, slabs, slabs-blocking, slabs-signal or all");
}

static bool ends_with(const char *text, const char *suffix) {
  size_t a = strlen(text), b = strlen(suffix);
  return a > b && strcmp(text + a - b, suffix) == 0;
}

static error_t parse_value(int key, char *arg, struct ft_options *o, struct argp_state *state) {
  switch (key) {
  case 'c':
    o->class = arg[0];
    if (ft_class_find(arg[0]) && !arg[1]) return 0;
    return refuse(state, "--class", arg, "S, W, A, B or C");
  case 'g': return parse_grid(o, arg, state);
  case 's': return parse_schedule(o, arg, state);
  case 'i':
    o->iterations = whole_number(arg, '\0', NULL);
    return o->iterations ? 0 : refuse(state, "--iterations", arg, "a whole number from 1");
  case 'p':
    o->plot = arg;
    if (ends_with(arg, ".svg") || ends_with(arg, ".png")) return 0;
    return refuse(state, "--plot", arg, "a name that ends in .svg or .png");
  case 'j': o->json = arg; return 0;
  case KEY_PLAN:
    o->measure = strcmp(arg, "measure") == 0;
    if (o->measure || strcmp(arg, "estimate") == 0) return 0;
    return refuse(state, "--fft-plan", arg, "estimate or measure");
  default: return ARGP_ERR_UNKNOWN;
  }
}

static void list(void) {
  for (const char *name = "SWABC"; *name; name++) {
    const struct ft_class *class = ft_class_find(*name);
    printf("class %c         %d x %d x %d points, %d iterations\n", *name, class->n[0], class->n[1],
           class->n[2], class->iterations);
  }
  for (int i = 0; i < ft_schedule_count; i++)
    printf("%-15s %s\n", ft_schedules[i].name, ft_schedules[i].help);
}

static error_t parse_one(int key, char *arg, struct argp_state *state) {
  struct parse *p = state->input;
  switch (key) {
  case KEY_WARMUP: p->options->warmup = true; return 0;
  case KEY_BOUND: p->options->bound = true; return 0;
  case KEY_INJECT: p->options->inject_error = true; return 0;
  case 'q': p->options->quiet = true; return 0;
  case 'h':
    p->helped = true;
    argp_state_help(state, stdout, ARGP_HELP_LONG | ARGP_HELP_PRE_DOC | ARGP_HELP_POST_DOC);
    return 0;
  case KEY_USAGE:
    p->helped = true;
    argp_state_help(state, stdout, ARGP_HELP_USAGE);
    return 0;
  case KEY_LIST:
    p->helped = true;
    if (!(state->flags & ARGP_NO_ERRS)) list();
    return 0;
  case ARGP_KEY_ARG: return refuse(state, "argument", arg, "options only");
  case ARGP_KEY_END:
    if (p->helped || p->options->class) return 0;
    argp_error(state, "--class is missing: expected S, W, A, B or C");
    return EINVAL;
  default: return parse_value(key, arg, p->options, state);
  }
}

enum ft_verdict ft_options_parse(struct ft_options *options, int argc, char **argv, bool speak) {
  static const struct argp parser = {
      .options = known,
      .parser = parse_one,
      .doc =
          "NAS FT on Tombolo: a 3-D FFT over all ranks, verified against the published checksums.\v"
          "Exit code: 0 verified (or nothing to verify), 1 verification failed, 2 refused, 3 a "
          "result file "
          "could not be written.\nExample: tombolo run -n 4 ft --class W --schedule all"};
  struct parse p = {.options = options};
  unsigned flags = ARGP_NO_EXIT | ARGP_NO_HELP | (speak ? 0 : ARGP_NO_ERRS);
  *options = (struct ft_options){.schedule = ft_schedule_count - 1};
  error_t rc = argp_parse(&parser, argc, argv, flags, NULL, &p);
  if (p.helped) return FT_DONE;
  if (rc != 0) return FT_USAGE;
  return FT_GO;
}

enum ft_extra ft_options_extra(const struct ft_options *options) {
  enum ft_extra most = FT_NOTHING;
  for (int i = 0; i < ft_schedule_count; i++)
    if (options->schedule == FT_ALL_SCHEDULES || options->schedule == i)
      if (ft_schedules[i].extra > most) most = ft_schedules[i].extra;
  return most;
}
