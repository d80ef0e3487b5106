/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The `tombolo` command: common declarations of its subcommands.
 *
 * Owns: the list of subcommands' entry points. Included by every tools/x.c. Calls: nothing.
 * Invariants: a subcommand gets its own arguments with "tombolo NAME" as argv[0] and returns the
 * exit code; LAYERS says which parts of the library its room may use.
 */
#ifndef TMB_TOOL_H
#define TMB_TOOL_H

#include <argp.h>
#include <stdbool.h>

/* Exit codes. Usage: wrong arguments; the message names argument, value and remedy. */
#define TOOL_EXIT_FAILED         1
#define TOOL_EXIT_USAGE          2
#define TOOL_EXIT_NOT_EXECUTABLE 126
#define TOOL_EXIT_NOT_FOUND      127

/*
 * Subcommands. in argv: [argc], argv[0] is "tombolo NAME". Return the exit code. A subcommand that
 * is not built is a null pointer.
 */
typedef int tool_main(int argc, char **argv);
tool_main tool_run_main, tool_fc_main, tool_cc_main, tool_cxx_main, tool_explain_main, tool_ps_main;
tool_main tool_top_main, tool_sim_main, tool_why_main, tool_view_main, tool_watch_main;
tool_main tool_upcc_main, tool_upcrun_main;
__attribute__((weak)) tool_main tool_info_main, tool_doctor_main, tool_bench_main, tool_tune_main;

/* Row of a table of options, and the key that its parser gets. */
#define TOOL_VERSION_KEY 1
#define TOOL_VERSION_OPTION \
 { "version", TOOL_VERSION_KEY, NULL, 0, "print the version", 0 }

/* Options of all commands about one running job: --version, and JOB, at most once. Returns as an
 * argp parser. */
error_t tool_job_option(int key, char *arg, struct argp_state *state, const char **job);

/* argp_parse, which here names the option that a mistyped long one may mean, and ends then. */
error_t tool_parse(const struct argp *parser, int argc, char **argv, unsigned flags, void *input);

/* The name that is nearest to a mistyped one; NULL: none is near. in name: gives name i of names,
 * "" to leave it out, NULL behind the last. */
const char *tool_nearest(const char *text, const char *(*name)(const void *, int),
                         const void *names);

/* The three texts as one, malloc'd. Ends the process if there is no memory. */
char *tool_format(const char *a, const char *b, const char *c);

/* Folder of the installation or build tree: the command lies in its bin/. NULL with errno. */
const char *tool_root(void);

/* Folder of the libraries in it: lib, or lib64 and the like of a distribution; lib in a build tree,
 * _lib in a Python wheel. NULL with errno. */
const char *tool_libraries(void);

/* Whether a command, of which the first word counts, is a program that can be executed. */
bool tool_program_exists(const char *command);

/* "tombolo 0.1.0 (revision)" as printed by --version. */
const char *tool_version(void);

#endif
