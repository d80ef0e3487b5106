/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo run`: options, and the course of a run.
 *
 * Owns: nothing global. Called by main.c. Calls: run_exec, run_bind, run_label, boot/launch,
 * boot/supervise.
 * Invariants: everything that can be refused (options, program, folder) is refused with exit code
 * 2, 126 or 127 before the first rank exists; afterwards the exit code is the job's.
 */
#define _GNU_SOURCE
#include "ranks/run.h"
#include "hosts/slurm.h"
#include "run/live.h"
#include "run/stats.h"
#include "tool.h"

#include "base/config.h"
#include "base/fmt.h"
#include "base/log.h"
#include "boot/boot.h"
#include "boot/launch/spawn.h"
#include "boot/pm/pm.h"
#include "boot/supervise/supervise.h"
#include "boot/trace/set.h"
#include "os/os.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AFTER_FAILURE_S 2.0 /* how long output is still delivered after a timeout or a signal */

enum {
  OPT_LABEL = 256,
  OPT_TIMEOUT,
  OPT_BIND,
  OPT_CWD,
  OPT_STDIN,
  OPT_WATCHDOG,
  OPT_HOSTS,
  OPT_HOSTFILE,
  OPT_CYCLIC,
  OPT_ENV_ONLY,
  OPT_TRACE,
  OPT_STATS,
  OPT_LIVE,
  OPT_CHECK,
  OPT_CHECK_JSON,
  OPT_RECORD,
  OPT_REPLAY,
  OPT_ONLY,
  OPT_CHAOS
};

static const struct argp_option option_table[] = {
    {"ranks", 'n', "N", 0,
     "number of ranks, 1 to " TMB_STRINGIFY(TMB_BOOT_RANKS_MAX) " (default 1)", 0},
    {"hosts", OPT_HOSTS, "LIST", 0,
     "start ranks on these hosts by ssh: NAME[:RANKS],NAME[:RANKS],...; NAME may be USER@NAME or "
     "[ADDRESS] (default: this machine)",
     0},
    {"hostfile", OPT_HOSTFILE, "FILE", 0,
     "read the hosts of --hosts from FILE: one NAME[:RANKS] on each line; # starts a comment", 0},
    {"nodes", 'N', "H", 0, "use the first H hosts of the list, with equally many ranks on each", 0},
    {"cyclic", OPT_CYCLIC, NULL, 0,
     "place ranks on the hosts in turn (default: consecutive ranks on each host)", 0},
    {"label", OPT_LABEL, NULL, 0, "put \"[rank] \" before every line of output", 0},
    {"timeout", OPT_TIMEOUT, "TIME", 0,
     "end the job after TIME with exit code 124; in seconds, or with a unit: 500ms, 10min "
     "(default: no limit)",
     0},
    {"watchdog", OPT_WATCHDOG, "TIME", 0,
     "end the job with exit code 125 when no rank has made progress in the library for TIME, and "
     "print what each rank waits for; in seconds, or with a unit (default: off)",
     0},
    {"trace", OPT_TRACE, "FILE", 0,
     "record what each rank does, and write a trace to FILE at the end, for 'tombolo view', "
     "ui.perfetto.dev or chrome://tracing",
     0},
    {"stats", OPT_STATS, NULL, 0,
     "count what the ranks do, and print a table of it at the end: time in communication, waits, "
     "bytes, messages, peers, memory",
     0},
    {"check", OPT_CHECK, "LIST", 0,
     "look for races, leaks or misuse (several with commas, or all), and print the findings at the "
     "end; "
     "exit code 66 if there are any; on this machine only",
     0},
    {"check-json", OPT_CHECK_JSON, "FILE", 0, "write what --check finds to FILE, too", 0},
    {"record", OPT_RECORD, "DIR", 0,
     "write the order of the run to the folder DIR: messages, results of tests, values read, "
     "atomic operations; on this machine only",
     0},
    {"replay", OPT_REPLAY, "DIR", 0,
     "run in the order that --record has written to DIR; exit code 67 if a rank departs from it",
     0},
    {"only", OPT_ONLY, "N[:COMMAND]", 0,
     "with --replay: rank N alone has standard input and output, and runs under COMMAND, as "
     "'3:gdb --args'; the others run in the recorded order, and wait for it",
     0},
    {"chaos", OPT_CHAOS, "SEED", 0,
     "delay calls, messages and results of polls at random, by SEED, to find races; FROM..TO: try "
     "these seeds until a run fails, and print a short command that fails, too",
     0},
    {"live", OPT_LIVE, NULL, 0,
     "show the ranks on the terminal while they run, as 'tombolo top' does; the output of the job "
     "follows at the end, and ranks get no standard input",
     0},
    {"bind", OPT_BIND, NULL, 0, "bind each rank to processors of its own, if there are enough", 0},
    {"env", 'E', "NAME[=VALUE]", 0,
     "set an environment variable of the ranks; NAME alone keeps it with --env-only", 0},
    {"env-only", OPT_ENV_ONLY, "NAMES", 0,
     "pass only these variables to the ranks: names or patterns such as OMP_*, separated by "
     "commas; those of -E, TOMBOLO_*, GASNET_*, PATH, HOME and the like always pass "
     "(default: all)",
     0},
    {"cwd", OPT_CWD, "DIR", 0,
     "run the ranks in this folder; a relative path of PROGRAM starts there, too", 0},
    {"stdin", OPT_STDIN, "WHO", 0,
     "rank that reads standard input (default 0), or 'all', or 'none'", 0},
    {"verbose", 'v', NULL, 0, "print what the launcher and the library do", 0},
    TOOL_VERSION_OPTION,
    {0},
};

static const char doc[] =
    "Start PROGRAM as the N ranks of one job, on this machine or on several hosts, and wait until "
    "they have ended.\v"
    "The job ends when any rank ends: the others get a grace period to end by themselves, then "
    "SIGQUIT, then SIGKILL. SIGINT, SIGTERM, SIGHUP and SIGQUIT to the launcher end the job; it "
    "passes other signals on to the ranks.\n\n"
    "Exit code: the first non-zero code of a rank; 128+n if signal n killed a rank; 1 if a rank "
    "ended with code 0 without joining the job in which others waited; 124 after --timeout; 125 "
    "after --watchdog; 126 if PROGRAM cannot be executed; 127 if it was not found; "
    "2 for wrong options.";

static int parse_ranks(const char *text, uint32_t *ranks) {
  int64_t value;
  if (tmb_fmt_parse_int(text, 0, &value) != 0 || *text == '\0') {
    tmb_print("run: -n %s: not a number; give a number of ranks from 1 to %d", text,
              TMB_BOOT_RANKS_MAX);
    return TOOL_EXIT_USAGE;
  }
  if (value < 1 || value > TMB_BOOT_RANKS_MAX) {
    tmb_print("run: -n %s: out of range; give a number of ranks from 1 to %d", text,
              TMB_BOOT_RANKS_MAX);
    return TOOL_EXIT_USAGE;
  }
  *ranks = (uint32_t)value;
  return 0;
}

static int parse_time(const char *option, const char *text, double *seconds) {
  uint64_t ns;
  if (*text == '\0' || tmb_fmt_parse_duration(text, 1000000000, &ns) != 0 || ns == 0) {
    tmb_print("run: %s %s: not a time above 0; give seconds, or a number with ms, s, min or h",
              option, text);
    return TOOL_EXIT_USAGE;
  }
  *seconds = (double)ns / 1e9;
  return 0;
}

/* The limit is a setting, which the supervisor reads. */
static int parse_watchdog(const char *text) {
  char value[32];
  double seconds;
  if (parse_time("--watchdog", text, &seconds) != 0) return TOOL_EXIT_USAGE;
  snprintf(value, sizeof value, "%.9f", seconds);
  tmb_env_set("TOMBOLO_WATCHDOG", value);
  return 0;
}

/* The file is a setting, which the supervisor reads; --cwd does not move it. */
static int parse_trace(const char *text) {
  char folder[PATH_MAX], path[2 * PATH_MAX];
  if (*text == '\0') {
    tmb_print("run: --trace: the name is empty; give a file, as --trace out.json");
    return TOOL_EXIT_USAGE;
  }
  if (*text == '-') {
    tmb_print("run: --trace %s: this is an option; give a file, as --trace out.json", text);
    return TOOL_EXIT_USAGE;
  }
  const bool whole = *text == '/' || !getcwd(folder, sizeof folder);
  snprintf(path, sizeof path, "%s%s%s", whole ? "" : folder, whole ? "" : "/", text);
  tmb_env_set("TOMBOLO_TRACE", path);
  return 0;
}

static int parse_stdin(const char *text, uint32_t *rank) {
  int64_t value;
  if (strcmp(text, "none") == 0)
    *rank = TMB_LAUNCH_STDIN_NONE;
  else if (strcmp(text, "all") == 0)
    *rank = TMB_LAUNCH_STDIN_ALL;
  else if (*text != '\0' && tmb_fmt_parse_int(text, 0, &value) == 0 && value >= 0 &&
           value < TMB_BOOT_RANKS_MAX)
    *rank = (uint32_t)value;
  else {
    tmb_print("run: --stdin %s: give a rank, 'all' or 'none'", text);
    return TOOL_EXIT_USAGE;
  }
  return 0;
}

static int change_folder(const char *dir) {
  if (chdir(dir) == 0) return 0;
  tmb_print("run: --cwd %s: %s", dir, strerror(errno));
  return TOOL_EXIT_USAGE;
}

/* Ends the process on a wrong option, as argp itself does for unknown ones. */
static void require(int rc) {
  if (rc != 0) exit(rc);
}

/* `-np N`, as other launchers spell -n N, is -n with the argument "p". */
static char *number_of_ranks(char *arg, struct argp_state *state) {
  if (*arg != 'p') return arg;
  if (arg[1]) return arg + 1;
  return state->next < state->argc ? state->argv[state->next++] : arg;
}

static error_t parse_option(int key, char *arg, struct argp_state *state) {
  struct run_options *o = state->input;
  switch (key) {
  case 'n': require(parse_ranks(number_of_ranks(arg, state), &o->ranks)); return 0;
  case OPT_HOSTS: o->hosts = arg; return 0;
  case OPT_HOSTFILE: o->hostfile = arg; return 0;
  case OPT_CYCLIC: o->cyclic = true; return 0;
  case 'N': require(parse_ranks(arg, &o->hosts_max)); return 0;
  case OPT_LABEL: o->label = true; return 0;
  case OPT_TIMEOUT: require(parse_time("--timeout", arg, &o->timeout_s)); return 0;
  case OPT_WATCHDOG: require(parse_watchdog(arg)); return 0;
  case OPT_BIND: o->bind = true; return 0;
  case OPT_LIVE:
    o->live = true;
    o->stdin_rank = TMB_LAUNCH_STDIN_NONE;
    return 0;
  case OPT_STATS:
    o->stats = true;
    tmb_env_set("TOMBOLO_STATS", "1");
    return 0;
  case OPT_CHECK: require(check_parse(&o->check, arg)); return 0;
  case OPT_CHECK_JSON: o->check.json = arg; return 0;
  case OPT_RECORD: o->replay.record = arg; return 0;
  case OPT_CHAOS: require(replay_chaos_parse(&o->replay, arg)); return 0;
  case OPT_REPLAY: o->replay.replay = arg; return 0;
  case OPT_ONLY: require(replay_only_parse(&o->replay, arg)); return 0;
  case OPT_TRACE: require(parse_trace(arg)); return 0;
  case 'E': require(run_env_set(o, arg)); return 0;
  case OPT_ENV_ONLY: o->env_only = arg; return 0;
  case OPT_CWD: require(change_folder(arg)); return 0;
  case OPT_STDIN: require(parse_stdin(arg, &o->stdin_rank)); return 0;
  case 'v': tmb_env_set("TOMBOLO_VERBOSE", "1"); return 0;
  case TOOL_VERSION_KEY: puts(tool_version()); exit(0);
  case ARGP_KEY_ARG:
    o->argv = &state->argv[state->next - 1];
    state->next = state->argc;
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

/* Checks, record and replay stand between program and library, each alone; on this machine. */
static int check_between(const struct run_options *o) {
  const struct replay_run *const r = &o->replay;
  const char *const option = o->check.list ? "--check"
                             : r->record   ? "--record"
                             : r->replay   ? "--replay"
                                           : "--chaos";
  const int given = (o->check.list != NULL) + (r->replay != NULL) + (r->record || r->chaos);
  if (given && (o->hosts || o->hostfile)) {
    tmb_print("run: %s: the ranks of such a job are on this machine; leave out the hosts", option);
    return TOOL_EXIT_USAGE;
  }
  if (r->only && !r->replay) {
    tmb_print("run: --only %s: give --replay DIR, too", r->only);
    return TOOL_EXIT_USAGE;
  }
  if (given > 1) {
    tmb_print("run: %s: give only one of --record or --chaos, --replay and --check", option);
    return TOOL_EXIT_USAGE;
  }
  return 0;
}

static int check_options(const struct run_options *o) {
  const int rc = check_between(o);
  if (rc) return rc;
  if (!o->argv) {
    tmb_print("run: no program given; usage: tombolo run -n N [OPTIONS] [--] PROGRAM [ARGUMENTS]");
    return TOOL_EXIT_USAGE;
  }
  if (o->stdin_rank < TMB_LAUNCH_STDIN_ALL && o->ranks && o->stdin_rank >= o->ranks) {
    tmb_print("run: --stdin %u: there is no such rank; give one below %u", o->stdin_rank, o->ranks);
    return TOOL_EXIT_USAGE;
  }
  return 0;
}

static void before_fork(void *arg, uint32_t rank) {
  struct run *run = arg;
  if (run->label && run_label_before_fork(run->label, rank) != 0) exit(TOOL_EXIT_FAILED);
}

static void in_child(struct run *run, uint32_t rank) {
  if (run->label) run_label_in_child(run->label, rank);
}

static void after_fork(void *arg, uint32_t rank) {
  struct run *run = arg;
  if (run->label) run_label_after_fork(run->label, rank);
}

/* A labelled job needs two pipes a rank; the ranks get the old limit back. */
static void raise_file_limit(struct run *run) {
  getrlimit(RLIMIT_NOFILE, &run->files);
  if (!run->label) return;
  struct rlimit raised = run->files;
  raised.rlim_cur = raised.rlim_max;
  setrlimit(RLIMIT_NOFILE, &raised);
}

/* The ranks exist: follow them to their end. */
static int supervise(struct run *run) {
  struct tmb_supervise_options options = {.timeout_s = run->options.timeout_s};
  for (uint32_t r = 0; r < run->options.ranks; r++)
    tmb_info("started rank %u as pid %d", r, (int)run->launch.pids[r]);
  if (run->label && run_label_start(run->label) != 0) return TOOL_EXIT_FAILED;
  int code = tmb_supervise(&run->launch, &options);
  if (run->label) {
    const double limit = options.cut_short ? AFTER_FAILURE_S : TMB_BOOT_SLOW_OUTPUT_S;
    const int sig = run_label_finish(run->label, run->launch.signal_fd, limit);
    if (sig && code == 0) code = 128 + sig;
    if (code == 0 && run_label_lost(run->label)) code = TOOL_EXIT_FAILED;
  }
  return code;
}

/* The ranks have ended: write and print the files about them. */
static void notify_end(const struct run *run) {
  struct run_stats stats;
  const struct tmb_ctl *ctl = run->launch.ctl;
  tmb_trace_write_here(ctl, run->options.argv);
  if (!run->options.stats) return;
  run_stats_open(&stats, run->options.ranks);
  run_stats_here(&stats, ctl);
  run_stats_print(&stats, stderr);
}

static int start(struct run *run) {
  struct tmb_launch *launch = &run->launch;
  launch->size = run->options.ranks;
  run->in_child = in_child;
  launch->stdin_rank = run->options.stdin_rank;
  launch->line_buffered = run->options.label;
  launch->executes = true;
  launch->before_fork = before_fork;
  launch->after_fork = after_fork;
  launch->arg = run;
  if (tmb_launch_pretend(launch) != 0) return TOOL_EXIT_USAGE;
  if (tmb_launch_open(launch) != 0) return TOOL_EXIT_FAILED;
  struct run_live live;
  if (run->options.live) run_live_begin(&live, launch);
  const int rank = tmb_launch_fork(launch);
  if (rank >= 0 && rank != TMB_LAUNCH_PARENT) run_exec(run, (uint32_t)rank);
  int code = rank == TMB_LAUNCH_PARENT ? supervise(run) : TOOL_EXIT_FAILED;
  if (run->options.live) run_live_end(&live);
  if (rank == TMB_LAUNCH_PARENT) notify_end(run);
  if (rank == TMB_LAUNCH_PARENT)
    code = replay_end(&run->options.replay, check_end(&run->options.check, code));
  tmb_launch_close(launch);
  free(launch->host_of);
  return code;
}

/* Whether the user, a setting or an allocation of Slurm names hosts; else this machine alone. */
static bool on_hosts(struct run_options *o) {
  const int function = tmb_spawn_function();
  o->custom = function == 'C';
  snprintf(o->hosts_from, sizeof o->hosts_from, o->hosts ? "--hosts" : "--hostfile");
  if (o->hosts || o->hostfile) return true;
  const struct tmb_spawn_list set = tmb_spawn_hosts(function);
  memcpy(o->hosts_from, set.from, sizeof o->hosts_from);
  if (set.text && set.is_file)
    o->hostfile = set.text;
  else
    o->hosts = set.text || function == 'L' ? set.text : slurm_hosts(o->ranks);
  if (o->custom && !o->hosts && !o->hostfile) o->hosts = "localhost";
  if (o->hosts || o->hostfile || function != 'S') return o->hosts || o->hostfile;
  tmb_print(
      "run: GASNET_SPAWNFN=%c, but no hosts are named; give --hosts, or set GASNET_SSH_SERVERS",
      function);
  exit(TOOL_EXIT_USAGE);
}

static int run_here(struct run *run) {
  int rc = run_resolve(run->options.argv[0], &run->program);
  if (rc == 0) rc = run_check_libraries(run->program);
  if (rc) return rc;
  rc = replay_begin(&run->options.replay, &run->options.ranks);
  if (rc) return rc;
  replay_program(&run->options.replay, run->program, run->options.argv);
  if (run->options.ranks == 0) run->options.ranks = 1;
  if (run->options.replay.only) run->options.stdin_rank = run->options.replay.only_rank;
  if (run->options.bind) run->cpus = run_bind_plan(run->options.ranks);
  if (run->options.label) {
    run->label = run_label_open(run->options.ranks);
    if (!run->label) return TOOL_EXIT_FAILED;
  }
  rc = check_begin(&run->options.check, run->options.ranks);
  if (rc) return rc;
  raise_file_limit(run);
  rc = start(run);
  if (!run_label_close(run->label)) _exit(rc);
  free(run->program);
  free(run->cpus);
  return rc;
}

/* Each process of mpirun or srun would start a job of its own, and nobody would notice. */
static bool refuse_nesting(void) {
  uint32_t rank, size;
  const char *who = tmb_pm_started_by(&rank, &size);
  if (!who) return false;
  if (rank == 0)
    tmb_print(
        "run: %s has started 'tombolo run' %u times; let it start the program itself, or start "
        "'tombolo run' once; TOMBOLO_LAUNCHER=none makes %u separate jobs",
        who, size, size);
  return true;
}

int tool_run_main(int argc, char **argv) {
  static const struct argp parser = {
      option_table, parse_option, "PROGRAM [ARGUMENTS]", doc, 0, 0, 0};
  struct run run = {0};
  tmb_os_open_streams();
  if (argc == 2 && strcmp(argv[1], "--agent") == 0) return run_agent_main(false);
  if (argc == 2 && strcmp(argv[1], RUN_AGENT_COPY) == 0) return run_agent_main(true);
  if (tool_parse(&parser, argc, argv, ARGP_IN_ORDER, &run.options) != 0) return TOOL_EXIT_USAGE;
  int rc = run_check_settings();
  if (rc) return rc;
  if (refuse_nesting()) return TOOL_EXIT_USAGE;
  const bool far = on_hosts(&run.options);
  if (run.options.env_only) run_env_keep(&run.options);
  rc = check_options(&run.options);
  if (!rc && tmb_trace_check_file()) rc = TOOL_EXIT_USAGE;
  if (rc) return rc;
  if (replay_chaos_loop(&run.options.replay, argv, &rc)) return rc;
  return far ? run_hosts_main(&run) : run_here(&run);
}
