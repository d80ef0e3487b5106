/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choice of a job of this machine, see choose.h.
 *
 * Owns: nothing. Called as choose.h says. Calls: boot's list of jobs. Invariants: of several
 * supervisors of one job here, each of its numbers chooses one and only one.
 */
#include "why/choose.h"

#include "base/log.h"

#include <stdlib.h>

/* Whether a job is meant: by its launcher, one of its ranks, or its number. */
static bool is_meant(const struct tmb_ctl *ctl, const char *text) {
  char *end;
  const long pid = strtol(text, &end, 10);
  if (*end == '\0' && pid == ctl->supervisor_pid) return true;
  for (uint32_t i = 0; *end == '\0' && i < ctl->here; i++)
    if (ctl->rank[i].pid == pid) return true;
  return strtoull(text, &end, 16) == ctl->job_id && *end == '\0';
}

/* The supervisor of a job that is to be asked. */
static const struct tmb_ctl *first_of(const struct tmb_job_found *jobs, int count, uint64_t id) {
  int i = 0;
  while (i + 1 < count && (jobs[i].again || jobs[i].ctl->job_id != id)) i++;
  return jobs[i].ctl;
}

const struct tmb_ctl *why_choose(const struct tmb_job_found *jobs, int count, const char *text,
                                 const char *command) {
  const struct tmb_ctl *only = NULL;
  int found = 0;
  for (int i = 0; i < count; i++) {
    if (text && is_meant(jobs[i].ctl, text)) return first_of(jobs, count, jobs[i].ctl->job_id);
    if (jobs[i].again) continue;
    only = jobs[i].ctl;
    found++;
  }
  if (!text && found == 1) return only;
  const pid_t other = found == 0 ? tmb_jobs_other_version() : 0;
  if (other)
    tmb_print("%s: process %d belongs to a job of another version of the library; ask with the "
              "'tombolo' of that version",
              command, (int)other);
  else if (found == 0)
    tmb_print("%s: no job of this user runs on this machine; ask on one of the job's hosts, as the "
              "user who started it",
              command);
  else if (!text)
    tmb_print("%s: %d jobs are running; give the number of one, see 'tombolo ps'", command, found);
  else
    tmb_print("%s: %s is not a job; give the number of a launcher or of a rank's process, see "
              "'tombolo ps'",
              command, text);
  return NULL;
}
