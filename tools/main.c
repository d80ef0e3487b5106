/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The `tombolo` command: finds the subcommand and hands over.
 *
 * Owns: the table of subcommands. Called by the user. Calls: tool_<name>_main.
 * Invariants: an unknown subcommand is exit code 2 with the list of known ones. A command whose
 * files are not installed, as in a Python wheel, is listed apart, and says itself what it lacks.
 */
#include "tool.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <unistd.h>

/* What commands need, below tool_root(): of a build tree, and installed. */
static const char *const headers_at[] = {"/include/gasnetex.h", "/include/gasnetex.h"};
static const char *const upc_at[] = {"/libexec/tombolo/upc1", "/libexec/tombolo/upc1"};
static const char *const bench_at[] = {"/bench/tombolo-bench-p2p",
                                       "/libexec/tombolo/tombolo-bench-p2p"};
static const char *const sim_at[] = {"/sim/sim", "/libexec/tombolo/sim"};

struct subcommand {
  const char *name;
  tool_main *main;
  const char *help;
  const char *const *needs; /* [2] one of these files; NULL: none */
};

static const struct subcommand table[] = {
    {"run", tool_run_main, "start a program as the ranks of a job, on this machine or on others",
     NULL},
    {"cc", tool_cc_main, "compile a C program", headers_at},
    {"c++", tool_cxx_main, "compile a C++ program", headers_at},
    {"fc", tool_fc_main, "compile a coarray Fortran program", headers_at},
    {"upcc", tool_upcc_main, "compile a UPC program", upc_at},
    {"upcrun", tool_upcrun_main, "start a UPC program, with the options of older launchers",
     upc_at},
    {"ps", tool_ps_main, "show the jobs of this user", NULL},
    {"top", tool_top_main, "show what the ranks of a running job do, every second", NULL},
    {"why", tool_why_main, "say what the ranks of a job wait for, and which call is missing", NULL},
    {"view", tool_view_main, "make an HTML page of a trace: timeline, waits, advice", NULL},
    {"info", tool_info_main, "show version, settings, conduits, topology and limits", NULL},
    {"doctor", tool_doctor_main, "check whether this machine and other hosts can run jobs", NULL},
    {"explain", tool_explain_main, "say what a message with a number means", NULL},
    {"bench", tool_bench_main, "measure put, get, messages and start-up", bench_at},
    {"tune", tool_tune_main, "measure the algorithms of collectives, write a table of the fastest",
     bench_at},
    {"sim", tool_sim_main, "simulate collectives and applications on a described machine", sim_at},
    {"watch", tool_watch_main,
     "supervise ranks that mpirun or srun started (called by the library)", NULL},
    {NULL, NULL, NULL, NULL},
};

static bool is_here(const struct subcommand *s) {
  if (!s->needs || !tool_root()) return true;
  return access(tool_format(tool_root(), s->needs[0], ""), R_OK) == 0 ||
         access(tool_format(tool_root(), s->needs[1], ""), R_OK) == 0;
}

/* Lists the commands that are here, or those that are not, below a title. */
static void print_commands(FILE *to, bool here, const char *title) {
  for (const struct subcommand *s = table; s->name; s++) {
    if (!s->main || is_here(s) != here) continue;
    fprintf(to, "%s  %-8s %s\n", title, s->name, s->help);
    title = "";
  }
}

static void print_usage(FILE *to) {
  fputs("Usage: tombolo COMMAND [ARGUMENTS]\n\n", to);
  print_commands(to, true, "Commands:\n");
  print_commands(
      to, false,
      "\nNot in this installation; packages of Debian and 'cmake --install' have them:\n");
  fputs("\n'tombolo COMMAND --help' explains a command; 'tombolo version' shows the version.\n",
        to);
}

static const char *name_of(const void *commands, int i) {
  const struct subcommand *s = (const struct subcommand *)commands + i;
  return !s->name ? NULL : s->main ? s->name : "";
}

static int start(int argc, char **argv) {
  if (argc < 2) {
    print_usage(stderr);
    return TOOL_EXIT_USAGE;
  }
  if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0 ||
      strcmp(argv[1], "version") == 0) {
    puts(tool_version());
    return 0;
  }
  const bool helps = strcmp(argv[1], "help") == 0;
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || (helps && argc == 2)) {
    print_usage(stdout);
    return 0;
  }
  if (helps) {
    static char option[] = "--help";
    argv[1] = argv[2]; /* help COMMAND is COMMAND --help */
    argv[2] = option;
    argc = 3;
  }
  for (const struct subcommand *s = table; s->name; s++) {
    if (!s->main || strcmp(argv[1], s->name) != 0) continue;
    char name[64];
    snprintf(name, sizeof name, "tombolo %s", s->name);
    argv[1] = name;
    return s->main(argc - 1, argv + 1);
  }
  const char *nearest = tool_nearest(argv[1], name_of, table);
  if (nearest) {
    fprintf(stderr, "tombolo: there is no command '%s'; did you mean '%s'?\n", argv[1], nearest);
    return TOOL_EXIT_USAGE;
  }
  fprintf(stderr, "tombolo: there is no command '%s'\n", argv[1]);
  print_usage(stderr);
  return TOOL_EXIT_USAGE;
}

int main(int argc, char **argv) {
  const int code = start(argc, argv);
  if (code || (fflush(stdout) == 0 && !ferror(stdout))) return code;
  fprintf(stderr, "tombolo: cannot write to standard output: %s\n", strerror(errno));
  return TOOL_EXIT_FAILED;
}
