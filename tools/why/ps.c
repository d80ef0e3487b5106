/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo ps`: the jobs of this user of which a part runs on this machine, with the ranks of all
 * their hosts.
 *
 * Owns: nothing global. Called by main.c. Calls: look, boot's snapshot and explain. Invariants: no
 * rank is asked or stopped.
 */
#define _GNU_SOURCE
#include "agent/look.h"
#include "tool.h"

#include "base/error.h"
#include "base/fmt.h"
#include "base/log.h"
#include "boot/explain/explain.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum state { STATE_RUNS, STATE_WAITS, STATE_STOPPED, STATE_ABSENT, STATE_UNSEEN, STATES };

static const char *const state_names[STATES] = {"run", "wait", "stopped", "absent", "not seen"};

static enum state state_of(const struct tmb_snapshot *s, uint32_t rank) {
  const struct tmb_seen *seen = &s->rank[rank];
  if (!seen->here) return STATE_UNSEEN;
  if (seen->process == 'T' || seen->process == 't') return STATE_STOPPED;
  if (!seen->process || seen->process == 'Z') return STATE_ABSENT;
  if (seen->status.boot_since_ns) return STATE_WAITS;
  for (int i = 0; i < TMB_STATUS_WAITS; i++)
    if (tmb_explain_wait(s, rank, i)) return STATE_WAITS;
  return STATE_RUNS;
}

/* Activity of the ranks of a job, as "1 run, 3 wait". */
static void states_text(const struct tmb_snapshot *s, char *buf, size_t bytes) {
  uint32_t count[STATES] = {0};
  size_t used = 0;
  for (uint32_t r = 0; r < s->size; r++) count[state_of(s, r)]++;
  buf[0] = '\0';
  for (int i = 0; i < STATES && used < bytes; i++) {
    if (!count[i] && i > STATE_WAITS) continue;
    snprintf(buf + used, bytes - used, "%s%u %s", used ? ", " : "", count[i], state_names[i]);
    used = strlen(buf);
  }
}

/* The hosts of a job, as many as there is room for. */
static void hosts_text(const struct tmb_snapshot *s, char *buf, size_t bytes) {
  size_t used = 0;
  buf[0] = '\0';
  for (uint32_t h = 0; h < s->hosts && used < bytes; h++) {
    const bool fits = used + strlen(s->host_name[h]) + 8 < bytes;
    snprintf(buf + used, bytes - used, "%s%s", used ? "," : "", fits ? s->host_name[h] : "...");
    used = strlen(buf);
    if (!fits) return;
  }
}

static void print_ranks(const struct tmb_snapshot *s) {
  char memory[TMB_FMT_BYTES];
  printf("  %-5s %-16s %8s %10s %12s %12s %8s  %s\n", "RANK", "HOST", "PID", "MEMORY", "MESSAGES",
         "NETWORK", "RESENT", "STATE");
  for (uint32_t r = 0; r < s->size; r++) {
    const struct tmb_seen *seen = &s->rank[r];
    const uint64_t *net = seen->status.net;
    tmb_fmt_bytes(seen->memory, memory, sizeof memory);
    printf("  %-5u %-16s %8d %10s %12llu %12llu %8llu  %s\n", r, s->host_name[s->host_of[r]],
           (int)seen->pid, memory, (unsigned long long)seen->passed,
           (unsigned long long)net[TMB_STATUS_NET_SENT],
           (unsigned long long)net[TMB_STATUS_NET_RETRANSMITS], state_names[state_of(s, r)]);
  }
}

static int print_job(const struct tmb_job_found *job, bool ranks) {
  struct tmb_snapshot s;
  char states[96], memory[TMB_FMT_BYTES], age[64], hosts[33];
  uint64_t bytes = 0, passed = 0, sent = 0;
  if (look_ask(job->ctl, LOOK_MEMORY, &s) == TMB_E_NOMEM) return TOOL_EXIT_FAILED;
  for (uint32_t r = 0; r < s.size; r++) {
    bytes += s.rank[r].memory;
    passed += s.rank[r].passed;
    sent += s.rank[r].status.net[TMB_STATUS_NET_SENT];
  }
  states_text(&s, states, sizeof states);
  hosts_text(&s, hosts, sizeof hosts);
  tmb_fmt_bytes(bytes, memory, sizeof memory);
  snprintf(age, sizeof age, "%.1f s", (double)(s.at_ns - s.start_ns) / 1e9);
  const char *name = strrchr(job->program, '/');
  printf("%-8d %5u %5u %10s %10s %12llu %12llu  %-24s %s%s%s\n", (int)s.launcher, s.size, s.hosts,
         age, memory, (unsigned long long)passed, (unsigned long long)sent, states,
         name ? name + 1 : job->program, s.hosts > 1 ? "  " : "", s.hosts > 1 ? hosts : "");
  if (ranks) print_ranks(&s);
  tmb_snapshot_free(&s);
  return 0;
}

static error_t parse_ps(int key, char *arg, struct argp_state *state) {
  bool *ranks = state->input;
  (void)arg;
  switch (key) {
  case 'r': *ranks = true; return 0;
  case TOOL_VERSION_KEY: puts(tool_version()); exit(0);
  default: return ARGP_ERR_UNKNOWN;
  }
}

int tool_ps_main(int argc, char **argv) {
  static const struct argp_option options[] = {
      {"ranks", 'r', NULL, 0, "also print a line for each rank", 0}, TOOL_VERSION_OPTION, {0}};
  static const char doc[] =
      "Show the jobs of this user that run on this machine, whole or in part."
      "\v"
      "JOB is the process number of the launcher, or of the job's agent where the launcher runs on "
      "another machine; 'tombolo why' takes it. MEMORY is the private memory of the ranks and "
      "their share of shared memory. MESSAGES counts slots of 64 bytes that have passed through "
      "shared memory, NETWORK the messages sent to other hosts, RESENT the retransmitted packets.";
  static const struct argp parser = {options, parse_ps, NULL, doc, 0, 0, 0};
  struct tmb_job_found *jobs;
  bool ranks = false;
  if (tool_parse(&parser, argc, argv, 0, &ranks) != 0) return TOOL_EXIT_USAGE;
  const int count = tmb_jobs_find(&jobs);
  if (count < 0) {
    tmb_print("ps: the processes of this machine cannot be listed (/proc is missing)");
    return TOOL_EXIT_FAILED;
  }
  printf("%-8s %5s %5s %10s %10s %12s %12s  %-24s %s\n", "JOB", "RANKS", "HOSTS", "AGE", "MEMORY",
         "MESSAGES", "NETWORK", "STATE", "PROGRAM");
  int rc = 0;
  for (int i = 0; i < count && rc == 0; i++)
    if (!jobs[i].again) rc = print_job(&jobs[i], ranks);
  tmb_jobs_free(jobs, count);
  return rc;
}
