/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo ps` and `tombolo why`: the jobs of this user on this machine, and what one of them waits
 * for.
 *
 * Owns: nothing global. Called by main.c. Calls: boot's snapshot and explain. Invariants: no rank
 * is asked or stopped, so a job that hangs is seen as one that does not. Exit codes of `why`: 0 the
 * job makes progress, 3 it hangs, 4 ranks wait for others that run their own code or sleep in
 * system calls of their own; 1 there is no such job, 2 wrong arguments.
 */
#define _GNU_SOURCE
#include "tool.h"

#include "base/fmt.h"
#include "base/log.h"
#include "boot/explain.h"
#include "os/os.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_ALL = 256, OPT_VERSION };
enum { WHY_PROGRESS = 0, WHY_HANG = 3, WHY_BUSY = 4 };

/* ---- ps */

/* What the ranks of a job do, as "3 wait, 1 runs". */
static void states_text(const struct tmb_snapshot *s, char *buf, size_t bytes) {
  uint32_t asleep = 0, stopped = 0, gone = 0, running = 0;
  for (uint32_t r = 0; r < s->size; r++) {
    const struct tmb_seen *seen = &s->rank[r];
    bool waits = false;
    for (int i = 0; i < TMB_STATUS_WAITS; i++) waits = waits || tmb_explain_wait(s, r, i);
    if (!seen->here) continue;
    if (seen->process == 'T' || seen->process == 't')
      stopped++;
    else if (!seen->process || seen->process == 'Z')
      gone++;
    else if (waits || seen->status.boot_since_ns)
      asleep++;
    else
      running++;
  }
  snprintf(buf, bytes, "%u run, %u wait", running, asleep);
  if (stopped) snprintf(buf + strlen(buf), bytes - strlen(buf), ", %u stopped", stopped);
  if (gone) snprintf(buf + strlen(buf), bytes - strlen(buf), ", %u absent", gone);
}

static int print_job(const struct tmb_job_found *job) {
  struct tmb_snapshot s;
  char states[80], memory[TMB_FMT_BYTES], age[64];
  uint64_t bytes = 0, passed = 0;
  if (tmb_snapshot_take(&s, job->ctl, true) != 0) return TOOL_EXIT_FAILED;
  for (uint32_t r = 0; r < s.size; r++) {
    bytes += s.rank[r].memory;
    passed += s.rank[r].passed;
  }
  states_text(&s, states, sizeof states);
  tmb_fmt_bytes(bytes, memory, sizeof memory);
  snprintf(age, sizeof age, "%.1f s", (double)(s.at_ns - s.start_ns) / 1e9);
  const char *name = strrchr(job->program, '/');
  printf("%-8d %5u %5u %10s %10s %12llu  %-24s %s\n", (int)s.launcher, s.size,
         job->ctl->hosts ? job->ctl->hosts : 1, age, memory, (unsigned long long)passed, states,
         name ? name + 1 : job->program);
  tmb_snapshot_free(&s);
  return 0;
}

int tool_ps_main(int argc, char **argv) {
  static const struct argp_option options[] = {
      {"version", OPT_VERSION, NULL, 0, "print the version", 0}, {0}};
  static const char doc[] =
      "Show the jobs of this user whose launcher runs on this machine."
      "\v"
      "JOB is the launcher's process number, by which `tombolo why` knows the job. MEMORY is what "
      "the "
      "ranks have to themselves, and their parts of what they share. MESSAGES counts what has "
      "passed through shared memory, in slots of 64 bytes.";
  static const struct argp parser = {options, NULL, NULL, doc, 0, 0, 0};
  struct tmb_job_found *jobs;
  argp_err_exit_status = TOOL_EXIT_USAGE;
  if (argp_parse(&parser, argc, argv, 0, NULL, NULL) != 0) return TOOL_EXIT_USAGE;
  const int count = tmb_jobs_find(&jobs);
  if (count < 0) {
    tmb_print("ps: the processes of this machine cannot be listed (/proc is not there)");
    return TOOL_EXIT_FAILED;
  }
  printf("%-8s %5s %5s %10s %10s %12s  %-24s %s\n", "JOB", "RANKS", "HOSTS", "AGE", "MEMORY",
         "MESSAGES", "STATE", "PROGRAM");
  int rc = 0;
  for (int i = 0; i < count && rc == 0; i++) rc = print_job(&jobs[i]);
  tmb_jobs_free(jobs, count);
  return rc;
}

/* ---- why */

struct why_options {
  const char *job; /* NULL: the only one */
  uint64_t interval_ns;
  bool all;
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
  case OPT_VERSION: puts(tool_version()); exit(0);
  case ARGP_KEY_ARG:
    if (o->job) argp_usage(state);
    o->job = arg;
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

/* Whether a job is meant: by its launcher, one of its ranks, or its number. */
static bool is_meant(const struct tmb_ctl *ctl, const char *text) {
  char *end;
  const long pid = strtol(text, &end, 10);
  if (*end == '\0' && pid == ctl->supervisor_pid) return true;
  for (uint32_t i = 0; *end == '\0' && i < ctl->here; i++)
    if (ctl->rank[i].pid == pid) return true;
  return strtoull(text, &end, 16) == ctl->job_id && *end == '\0';
}

static const struct tmb_ctl *choose(const struct tmb_job_found *jobs, int count, const char *text) {
  if (!text && count == 1) return jobs[0].ctl;
  for (int i = 0; text && i < count; i++)
    if (is_meant(jobs[i].ctl, text)) return jobs[i].ctl;
  if (count <= 0)
    tmb_print("why: this user has no job whose launcher runs on this machine; ask where it was "
              "started, as the user who started it");
  else if (!text)
    tmb_print("why: %d jobs are running; give the number of one, see 'tombolo ps'", count);
  else
    tmb_print("why: %s is no job; give the number of a launcher or of a rank's process, see "
              "'tombolo ps'",
              text);
  return NULL;
}

static int explain(const struct tmb_ctl *ctl, const struct why_options *o) {
  static const char *const verdicts[] = {"progress: the ranks go on",
                                         "no hang is certain: ranks wait for others that run their "
                                         "own code, or sleep in a system call "
                                         "of their own",
                                         "hang: nothing in the job can go on"};
  static const int codes[] = {WHY_PROGRESS, WHY_BUSY, WHY_HANG};
  struct tmb_snapshot before, now;
  struct tmb_explain e;
  if (tmb_snapshot_take(&before, ctl, false) != 0) return TOOL_EXIT_FAILED;
  (void)tmb_os_nsleep(o->interval_ns);
  if (tmb_snapshot_take(&now, ctl, false) != 0 || tmb_explain(&e, &before, &now) != 0) {
    tmb_print("why: out of memory");
    return TOOL_EXIT_FAILED;
  }
  printf("job %d, %u ranks, since %.1f s\n", (int)now.launcher, now.size,
         (double)(now.at_ns - now.start_ns) / 1e9);
  tmb_explain_ranks(&e, stdout, o->all);
  printf("%s\n", verdicts[e.verdict]);
  if (e.verdict != TMB_VERDICT_PROGRESS) tmb_explain_causes(&e, stdout);
  const int code = codes[e.verdict];
  tmb_explain_free(&e);
  tmb_snapshot_free(&before);
  tmb_snapshot_free(&now);
  return code;
}

int tool_why_main(int argc, char **argv) {
  static const struct argp_option options[] = {
      {"interval", 'i', "TIME", 0, "look twice, so far apart (default 0.5 s)", 0},
      {"all", OPT_ALL, NULL, 0, "a line for each rank, also where they are alike", 0},
      {"version", OPT_VERSION, NULL, 0, "print the version", 0},
      {0}};
  static const char doc[] =
      "Say what each rank of a job waits for, who waits for whom, and which call is missing."
      "\v"
      "JOB is the number of its launcher's process or of a rank's, see 'tombolo ps'; not needed if "
      "there is only one. No rank is asked or stopped. Exit code: 0 the ranks go on; 3 the job "
      "hangs; "
      "4 ranks wait for others that run their own code, perhaps in an endless loop, or sleep in a "
      "system call; 1 there is no such job; 2 wrong options.";
  static const struct argp parser = {options, parse_why, "[JOB]", doc, 0, 0, 0};
  struct why_options o = {.interval_ns = 500000000};
  struct tmb_job_found *jobs = NULL;
  argp_err_exit_status = TOOL_EXIT_USAGE;
  if (argp_parse(&parser, argc, argv, 0, NULL, &o) != 0) return TOOL_EXIT_USAGE;
  const int count = tmb_jobs_find(&jobs);
  const struct tmb_ctl *ctl = choose(jobs, count, o.job);
  const int rc = ctl ? explain(ctl, &o) : TOOL_EXIT_FAILED;
  if (count > 0) tmb_jobs_free(jobs, count);
  return rc;
}
