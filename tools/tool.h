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

/* Exit codes. Usage: wrong arguments; the message names argument, value and remedy. */
#define TOOL_EXIT_FAILED         1
#define TOOL_EXIT_USAGE          2
#define TOOL_EXIT_NOT_EXECUTABLE 126
#define TOOL_EXIT_NOT_FOUND      127

/*
 * Subcommands. in argv: [argc], argv[0] is "tombolo NAME". Return the exit code. A subcommand that
 * is not built is a null pointer.
 */
int tool_run_main(int argc, char **argv);
int tool_info_main(int argc, char **argv) __attribute__((weak));
int tool_doctor_main(int argc, char **argv) __attribute__((weak));
int tool_bench_main(int argc, char **argv) __attribute__((weak));
int tool_tune_main(int argc, char **argv) __attribute__((weak));
int tool_fc_main(int argc, char **argv);
int tool_cc_main(int argc, char **argv);
int tool_cxx_main(int argc, char **argv);
int tool_explain_main(int argc, char **argv);
int tool_ps_main(int argc, char **argv);
int tool_top_main(int argc, char **argv);
int tool_sim_main(int argc, char **argv);
int tool_why_main(int argc, char **argv);
int tool_view_main(int argc, char **argv);
int tool_watch_main(int argc, char **argv);
int tool_upcc_main(int argc, char **argv);
int tool_upcrun_main(int argc, char **argv);

/* Options of all commands about one running job: --version, and JOB, at most once. in key: version:
 * the number of that option. Returns as an argp parser. */
error_t tool_job_option(int key, char *arg, struct argp_state *state, int version,
                        const char **job);

/* argp_parse, which here names the option that a mistyped long one may mean, and ends then. */
error_t tool_parse(const struct argp *parser, int argc, char **argv, unsigned flags, void *input);

/* The name that is nearest to a mistyped one; NULL: none is near. in name: gives name i of names,
 * "" to leave it out, NULL behind the last. */
const char *tool_nearest(const char *text, const char *(*name)(const void *, int),
                         const void *names);

/* The three texts as one, malloc'd. Ends the process if there is no memory. */
char *tool_format(const char *a, const char *b, const char *c);

/* "tombolo 0.1.0 (revision)" as printed by --version. */
const char *tool_version(void);

#endif
