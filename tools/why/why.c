/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo why`: the waits of a job of this user.
 *
 * Owns: nothing global. Called by main.c. Calls: look, boot's snapshot and explain. Invariants: no
 * rank is asked, and none that can go on is stopped without the option --stacks. Exit codes: 0 the
 * job makes progress, 3 it hangs, 4 ranks wait for others that run their own code, sleep in system
 * calls of their own, or get no answer from the network; 1 there is no such job, 2 wrong arguments.
 */
#define _GNU_SOURCE
#include "agent/look.h"
#include "tool.h"
#include "why/choose.h"

#include "base/error.h"
#include "base/fmt.h"
#include "base/log.h"
#include "boot/explain/explain.h"
#include "boot/explain/source.h"
#include "boot/explain/stacks.h"
#include "os/os.h"

#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_ALL = 256, OPT_STACKS, OPT_NO_STACKS };
enum { WHY_PROGRESS = 0, WHY_HANG = 3, WHY_BUSY = 4 };

struct why_options {
  const char *job; /* NULL: the only one */
  uint64_t interval_ns;
  bool all;
  int stacks; /* 1: of all ranks; 0: where the job hangs; -1: none */
};

static error_t parse_why(int key, char *arg, struct argp_state *state) {
  struct why_options *o = state->input;
  switch (key) {
  case 'i':
    if (*arg == '\0' || tmb_fmt_parse_duration(arg, 1000000000, &o->interval_ns) != 0 ||
        !o->interval_ns) {
      tmb_print("why: --interval %s: not a time above 0; give seconds, or a number with ms or s",
                arg);
      exit(TOOL_EXIT_USAGE);
    }
    return 0;
  case OPT_ALL: o->all = true; return 0;
  case OPT_STACKS: o->stacks = 1; return 0;
  case OPT_NO_STACKS: o->stacks = -1; return 0;
  default: return tool_job_option(key, arg, state, &o->job);
  }
}

/* Looks at the job. Returns 0, or an exit code after a message. */
static int look(const struct tmb_ctl *ctl, struct tmb_snapshot *s) {
  const int rc = look_ask(ctl, 0, s);
  if (rc == 0) return 0;
  if (rc == TMB_E_PEER && kill(ctl->supervisor_pid, 0) == 0) {
    tmb_print("why: the job's launcher or agent here (pid %d) does not answer; only ranks of this "
              "machine are seen",
              (int)ctl->supervisor_pid);
    return 0;
  }
  tmb_print(rc == TMB_E_PEER ? "why: the job has ended" : "why: out of memory");
  return TOOL_EXIT_FAILED;
}

static void show_stacks(const struct tmb_explain *e, const struct why_options *o) {
  if (o->stacks < 0 || (o->stacks == 0 && e->verdict != TMB_VERDICT_HANG)) return;
  if (tmb_stacks_print(e, stdout, o->stacks > 0, 0) == 0 && o->stacks > 0)
    printf("no stack can be read: neither eu-stack nor gdb is installed, or the system forbids to "
           "trace processes (kernel.yama.ptrace_scope), or no rank is on this machine\n");
}

static int explain(const struct tmb_ctl *ctl, const struct why_options *o) {
  static const char *const verdicts[] = {"progress: the ranks go on",
                                         "no hang is certain: ranks wait for others that run their "
                                         "own code, poll, sleep in a system call of their own, or "
                                         "do not answer on the network",
                                         "hang: nothing in the job can go on"};
  static const int codes[] = {WHY_PROGRESS, WHY_BUSY, WHY_HANG};
  struct tmb_snapshot before, now;
  struct tmb_explain e;
  if (look(ctl, &before) != 0) return TOOL_EXIT_FAILED;
  (void)tmb_os_nsleep(o->interval_ns);
  if (look(ctl, &now) != 0) return TOOL_EXIT_FAILED;
  tmb_source_find(&now);
  if (tmb_explain(&e, &before, &now, false) != 0) {
    tmb_print("why: out of memory");
    return TOOL_EXIT_FAILED;
  }
  printf("job %d, %u %.*ss%s, since %.1f s\n", (int)now.launcher, now.size, TMB_STATUS_MEMBER,
         now.rank[0].status.member[0] ? now.rank[0].status.member : "rank",
         now.hosts > 1 ? " on several hosts" : "", (double)(now.at_ns - now.start_ns) / 1e9);
  tmb_explain_ranks(&e, stdout, o->all);
  printf("%s\n", verdicts[e.verdict]);
  if (e.verdict != TMB_VERDICT_PROGRESS) tmb_explain_causes(&e, stdout);
  show_stacks(&e, o);
  const int code = codes[e.verdict];
  tmb_explain_free(&e);
  tmb_snapshot_free(&before);
  tmb_snapshot_free(&now);
  return code;
}

int tool_why_main(int argc, char **argv) {
  static const struct argp_option options[] = {
      {"interval", 'i', "TIME", 0, "time between two readings of the job's state (default 0.5 s)",
       0},
      {"all", OPT_ALL, NULL, 0, "print a line for each rank, also for ranks that wait alike", 0},
      {"stacks", OPT_STACKS, NULL, 0,
       "print the call stack of each rank of this machine, by eu-stack or gdb, which stops a rank "
       "for "
       "some tenths of a second (default: stacks of up to four ranks of a job that hangs)",
       0},
      {"no-stacks", OPT_NO_STACKS, NULL, 0, "print no call stacks, also in a job that hangs", 0},
      TOOL_VERSION_OPTION,
      {0}};
  static const char doc[] =
      "Say what each rank of a job waits for, who waits for whom, and which call is missing."
      "\v"
      "JOB is the process number of the launcher or of a rank, see 'tombolo ps'; it may be left "
      "out when there is only one job. Only --stacks stops ranks that still make progress.\n\n"
      "Exit code: 0 the ranks make progress; 1 there is no such job; 2 wrong options; 3 the job "
      "hangs; 4 ranks wait for others that run their own code (perhaps in an endless loop), sleep "
      "in a system call, or do not answer on the network.";
  static const struct argp parser = {options, parse_why, "[JOB]", doc, 0, 0, 0};
  struct why_options o = {.interval_ns = 500000000};
  struct tmb_job_found *jobs = NULL;
  if (tool_parse(&parser, argc, argv, 0, &o) != 0) return TOOL_EXIT_USAGE;
  const int count = tmb_jobs_find(&jobs);
  const struct tmb_ctl *ctl = why_choose(jobs, count, o.job, "why");
  const int rc = ctl ? explain(ctl, &o) : TOOL_EXIT_FAILED;
  if (count > 0) tmb_jobs_free(jobs, count);
  return rc;
}
