/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo run`: common declarations of its parts.
 *
 * Owns: the options of a run. run.c parses and drives; run_exec.c finds and executes the program;
 * run_library.c asks for its libraries; run_bind.c plans processors; run_label.c carries labelled
 * output. Invariants: everything that can be refused is refused before the first rank is forked.
 */
#ifndef TMB_TOOL_RUN_H
#define TMB_TOOL_RUN_H

#include "check/check.h"
#include "replay/replay.h"

#include "boot/launch/launch.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

struct run_label; /* labelled output, run_label.c */
struct run;

struct run_options {
  uint32_t ranks;
  uint32_t stdin_rank; /* rank or TMB_LAUNCH_STDIN_* */
  double timeout_s;    /* 0: none */
  bool label, bind;
  bool stats;             /* a table at the end */
  struct check_run check; /* what is checked */
  struct replay_run replay;
  bool live;            /* the ranks on the terminal meanwhile */
  char **argv;          /* program and its arguments, NULL-terminated */
  const char *hosts;    /* list of hosts, NULL: this machine alone */
  const char *hostfile; /* file with one host a line, or NULL */
  char hosts_from[64];  /* the option or the setting that names them */
  bool custom;          /* agents are started by GASNET_CSPAWN_CMD */
  uint32_t hosts_max;   /* use so many hosts of the list; 0: as many as needed */
  bool cyclic;          /* ranks go round the hosts, else in blocks */
  const char *env_only; /* names of variables that the ranks get, by commas; NULL: all */
  char *env_chosen;     /* names given with -E, by commas; owned; or NULL */
};

struct run {
  struct run_options options;
  struct tmb_launch launch;
  char *program;           /* resolved path; owned */
  cpu_set_t *cpus;         /* [ranks] processors of each rank, NULL if not bound; owned */
  struct run_label *label; /* NULL without --label; owned */
  struct rlimit files;     /* RLIMIT_NOFILE as the ranks get it */
  void (*in_child)(struct run *run, uint32_t rank); /* before the program is executed; or NULL */
  void *output;                                     /* of in_child */
};

/*
 * Find the program as a shell would.
 * in name: with a slash a path, else searched in PATH. out path: malloc'd.
 * Returns 0, or 126 (not executable), 127 (not found) after a message.
 */
int run_resolve(const char *name, char **path);

/* Look whether the libraries that the program needs are there. Returns 0, or 127 after a message.
 */
int run_check_libraries(const char *path);

/* run_env.c: an option -E NAME[=VALUE]. Returns 0, or 2 after a message. Then, with --env-only,
 * take all other variables out of this process' environment. */
int run_env_set(struct run_options *o, const char *text);
void run_env_keep(const struct run_options *o);

/* Refuses, once, settings with which no rank can start. Returns 0, or 2 after a message. */
int run_check_settings(void);

/* run_hosts.c: a job on several hosts. Returns its exit code. */
int run_hosts_main(struct run *run);

/* agent.c: the supervisor of one host of such a job; speaks on standard input and output. [in]
 * copied: its input is descriptor RUN_AGENT_STDIN; RUN_AGENT_COPY is the option that says so. */
#define RUN_AGENT_STDIN 9 /* above the standard streams, below those that shells use (10) */
#define RUN_AGENT_COPY  "--agent=copied"
int run_agent_main(bool copied);

/* In a child: become the program as `rank`. Ends the process with 126 or 127 if that fails. */
_Noreturn void run_exec(struct run *run, uint32_t rank);

/*
 * Plan one set of processors for each rank: whole cores if there are enough of them, else hardware
 * threads. Returns NULL after saying why if there are fewer processors than ranks.
 */
cpu_set_t *run_bind_plan(uint32_t ranks);

/*
 * Labelled output: one pipe per rank and stream, and two threads that copy whole lines, each behind
 * "[rank] ", to our standard output and error. A reader that is slow holds the ranks up; a reader
 * that has ended ends them by SIGPIPE, as without labels.
 */
struct run_label *run_label_open(uint32_t ranks);                  /* NULL after a message */
int run_label_before_fork(struct run_label *label, uint32_t rank); /* 0 or -1 after a message */
void run_label_after_fork(struct run_label *label, uint32_t rank);
void run_label_in_child(struct run_label *label, uint32_t rank);

/* Instead of the fork of a rank, between the two calls above: its pipes are written by this
 * process. out ends: of its standard output and error; the caller's. */
void run_label_take_ends(struct run_label *label, int *ends);
int run_label_start(struct run_label *label); /* 0 or -1 after a message */

/*
 * Deliver the last output of the ranks, now ended; a signal on `signal_fd` or the time limit cuts
 * it short. Returns 0, or the number of that signal.
 */
int run_label_finish(struct run_label *label, int signal_fd, double limit_s);

/* Reads a signal that ends the command from a signalfd. Returns it; 0: there is none. */
int run_ending_signal(int signal_fd);

/* Whether output could not be written, which has been said; after run_label_finish. */
bool run_label_lost(const struct run_label *label);

/* Release everything. Returns false if output that nobody reads keeps its threads. NULL is fine. */
bool run_label_close(struct run_label *label);

#endif
