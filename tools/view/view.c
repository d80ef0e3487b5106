/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: reads a trace and writes it as a page, a diagram, or plain text.
 *
 * Owns: nothing global. Called by main.c. Calls: load.c, arrange.c, the analysis, the writers.
 * Invariants: an output is a whole file or is not there: it is written under another name first.
 */
#include "tool.h"
#include "view/output.h"

#include "base/fmt.h"
#include "base/log.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define FILES_MAX  1024
#define RANKS_MAX  2048u

enum { OPT_SUMMARY = 256, OPT_COMPARE, OPT_DIAGRAM, OPT_FROM, OPT_UNTIL, OPT_TITLE };

struct view_options {
  const char *file[FILES_MAX];
  size_t files;
  const char *output, *diagram, *title, *before;
  bool summary;
  uint64_t from_ns, until_ns; /* until 0: to the end */
};

static const struct argp_option option_table[] = {
    {"output", 'o', "PAGE.html", 0, "write the page here (default: FILE with the ending .html)", 0},
    {"summary", OPT_SUMMARY, NULL, 0, "print the findings as text instead of a page", 0},
    {"compare", OPT_COMPARE, "BEFORE.json", 0,
     "print, as text, what has changed since this trace, instead of a page", 0},
    {"diagram", OPT_DIAGRAM, "DRAWING.svg", 0,
     "draw who computes, waits and sends in a stretch of time, instead of a page", 0},
    {"from", OPT_FROM, "TIME", 0,
     "start of the diagram, counted from the first event: 1.5ms, 20us (default 0)", 0},
    {"until", OPT_UNTIL, "TIME", 0,
     "end of the diagram, counted likewise (default: the last event)", 0},
    {"title", OPT_TITLE, "TEXT", 0, "title of the page (default: the program, or FILE)", 0},
    TOOL_VERSION_OPTION,
    {0},
};

static const char doc[] =
    "Make one HTML page of a trace that 'tombolo run --trace FILE' has written. Several files are "
    "those of the ranks of one job. A browser opens the page from disk, without a network. It "
    "shows a timeline, a communication matrix, who waits for whom and why, the critical path, "
    "sizes and latencies, overlap, and advice.\v"
    "Examples:\n"
    "  tombolo run -n 4 --trace out.json ./prog && tombolo view out.json\n"
    "  tombolo view --summary out.json\n"
    "  tombolo view --compare before.json after.json\n"
    "  tombolo view --diagram step.svg --from 1ms --until 3ms out.json";

static uint64_t time_option(const char *name, const char *arg, const struct argp_state *state) {
  uint64_t ns = 0;
  if (*arg == '\0' || tmb_fmt_parse_duration(arg, 1000000000, &ns) != 0)
    argp_error(state, "--%s %s: give a time such as 1.5ms, 20us or 3 (seconds)", name, arg);
  return ns;
}

static error_t parse_option(int key, char *arg, struct argp_state *state) {
  struct view_options *o = state->input;
  switch (key) {
  case 'o': o->output = arg; return 0;
  case OPT_SUMMARY: o->summary = true; return 0;
  case OPT_COMPARE: o->before = arg; return 0;
  case OPT_DIAGRAM: o->diagram = arg; return 0;
  case OPT_FROM: o->from_ns = time_option("from", arg, state); return 0;
  case OPT_UNTIL: o->until_ns = time_option("until", arg, state); return 0;
  case OPT_TITLE: o->title = arg; return 0;
  case TOOL_VERSION_KEY: puts(tool_version()); exit(0);
  case ARGP_KEY_ARG:
    if (o->files == FILES_MAX) argp_error(state, "%s: give at most %d files", arg, FILES_MAX);
    o->file[o->files++] = arg;
    return 0;
  case ARGP_KEY_END:
    if (!o->files) argp_error(state, "name the file that 'tombolo run --trace FILE' has written");
    if (o->until_ns && o->until_ns <= o->from_ns)
      argp_error(state, "--until: give a time behind that of --from");
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

/* All of a file. Returns NULL with errno. */
static char *read_whole(const char *path, size_t *bytes) {
  FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
  char *text = NULL;
  size_t room = 0, used = 0;
  if (!file) return NULL;
  for (;;) {
    if (used == room) {
      room = room ? room * 2 : 1u << 20;
      char *more = realloc(text, room);
      if (!more) break;
      text = more;
    }
    const size_t n = fread(text + used, 1, room - used, file);
    used += n;
    if (n) continue;
    const bool failed = ferror(file);
    if (file != stdin) fclose(file);
    *bytes = used;
    if (!failed) return text;
    free(text);
    return NULL;
  }
  free(text);
  if (file != stdin) fclose(file);
  errno = ENOMEM;
  return NULL;
}

static int load_one(struct view_trace *t, const char *path) {
  char why[VIEW_WHY_BYTES];
  size_t bytes = 0;
  char *text = read_whole(path, &bytes);
  if (!text) {
    tmb_print("view: cannot read %s: %s", path, strerror(errno));
    return -1;
  }
  const int rc = view_load(t, text, bytes, why);
  free(text);
  if (rc != 0)
    tmb_print("view: %s is not a trace: %s; name a file of 'tombolo run --trace FILE'", path, why);
  return rc;
}

static int load_all(struct view_trace *t, const char *const *file, size_t files) {
  for (size_t i = 0; i < files; i++)
    if (load_one(t, file[i]) != 0) return -1;
  if (t->ranks <= RANKS_MAX && t->events < VIEW_NONE) return 0;
  tmb_print("view: %zu ranks, %zu events: at most %u ranks and 4 thousand million events can be "
            "viewed",
            t->ranks, t->events, RANKS_MAX);
  return -1;
}

/* Outputs, and their files. */
struct target {
  const struct view_trace *t;
  const struct view_report *r;
  const struct view_options *o;
};

static int write_to(const struct target *w, FILE *to) {
  const struct view_options *o = w->o;
  if (o->diagram)
    return view_write_diagram(w->t, w->r, (int64_t)o->from_ns, (int64_t)o->until_ns, to);
  const char *title = o->title                     ? o->title
                      : w->t->program != VIEW_NONE ? view_text(w->t, w->t->program)
                                                   : o->file[0];
  return view_write_page(w->t, w->r, title, to);
}

static int write_file(const struct target *w, const char *path) {
  char part[PATH_BYTES + 16];
  snprintf(part, sizeof part, "%s.part", path);
  FILE *to = fopen(part, "wb");
  int rc = to ? write_to(w, to) : -1;
  if (to && fclose(to) != 0) rc = -1;
  if (rc == 0 && rename(part, path) == 0) return 0;
  tmb_print("view: cannot write %s: %s", path, strerror(errno));
  if (to) unlink(part);
  return -1;
}

/* The first file's name with the ending .html. */
static void name_page(const struct view_options *o, char path[PATH_BYTES]) {
  const char *file = strcmp(o->file[0], "-") == 0 ? "trace" : o->file[0];
  const char *slash = strrchr(file, '/'), *dot = strrchr(file, '.');
  const size_t stem = dot && dot > (slash ? slash + 1 : file) ? (size_t)(dot - file) : strlen(file);
  snprintf(path, PATH_BYTES, "%.*s.html", (int)stem, file);
}

static int write_output(const struct target *w) {
  const struct view_options *o = w->o;
  char path[PATH_BYTES];
  if (o->summary) return view_write_summary(w->t, w->r, stdout);
  if (o->diagram)
    snprintf(path, sizeof path, "%s", o->diagram);
  else if (o->output)
    snprintf(path, sizeof path, "%s", o->output);
  else
    name_page(o, path);
  if (strcmp(path, "-") == 0) return write_to(w, stdout);
  if (write_file(w, path) != 0) return -1;
  tmb_print("view: %s: %zu ranks, %zu events", path, w->t->ranks, w->t->events);
  return 0;
}

/* Print what has changed since the trace of --compare. */
static int compare(const struct view_trace *t, const struct view_report *r,
                   const struct view_options *o) {
  struct view_trace old = {.program = VIEW_NONE};
  struct view_report report = {.share = NULL};
  int rc = load_all(&old, &o->before, 1);
  if (rc == 0) {
    view_arrange(&old);
    view_analyse(&old, &report);
    rc = view_write_compare(&(struct view_side){o->before, &old, &report},
                            &(struct view_side){o->file[0], t, r}, stdout);
  }
  view_report_free(&report);
  view_trace_free(&old);
  return rc;
}

int tool_view_main(int argc, char **argv) {
  static const struct argp argp = {option_table, parse_option, "FILE...", doc, NULL, NULL, NULL};
  struct view_options o = {.files = 0};
  struct view_trace t = {.program = VIEW_NONE};
  struct view_report r = {.share = NULL};
  tool_parse(&argp, argc, argv, 0, &o);
  int rc = load_all(&t, o.file, o.files);
  if (rc == 0) {
    view_arrange(&t);
    view_analyse(&t, &r);
    rc = o.before ? compare(&t, &r, &o) : write_output(&(struct target){&t, &r, &o});
  }
  view_report_free(&r);
  view_trace_free(&t);
  return rc == 0 ? 0 : TOOL_EXIT_FAILED;
}
