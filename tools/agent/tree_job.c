/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs on several hosts as messages, see tree_job.h.
 *
 * Owns: nothing global. Called by run_hosts.c, agent.c and tree.c. Calls: pack. Invariants: a list
 * is its length and its texts; a job that was read has size and hosts in range and each rank on one
 * of its hosts.
 */
#include "agent/tree_job.h"

#include "base/log.h"

#include <stdlib.h>
#include <string.h>

#define LIST_MAX 65536

static void pack_list(struct pack *p, char *const *list) {
  uint32_t count = 0;
  while (list[count]) count++;
  pack_u32(p, count);
  for (uint32_t i = 0; i < count; i++) pack_text(p, list[i]);
}

/* out: malloc'd, NULL-terminated. */
static char **unpack_list(struct pack *p) {
  uint32_t count = unpack_u32(p);
  if (count > LIST_MAX) {
    p->bad = true;
    count = 0;
  }
  char **list = calloc(count + 1u, sizeof *list);
  if (!list) tmb_fatal_nopos("out of memory for %u texts", count);
  for (uint32_t i = 0; i < count && !p->bad; i++) list[i] = unpack_text(p);
  return list;
}

static void free_list(char **list) {
  for (char **at = list; at && *at; at++) free(*at);
  free(list);
}

enum { FLAG_LINES = 1, FLAG_BIND = 2, FLAG_CHECK = 4 };

void tree_job_pack(const struct tree_job *job, uint32_t first, uint32_t last, struct pack *p) {
  pack_u32(p, first);
  pack_u32(p, last);
  pack_u32(p, job->size);
  pack_u32(p, job->hosts);
  pack_bytes(p, job->host_of, job->size * sizeof *job->host_of);
  pack_list(p, job->host_name);
  pack_u64(p, job->job_id);
  pack_bytes(p, job->secret, sizeof job->secret);
  pack_u32(p, job->stdin_rank);
  pack_u32(p, (job->line_buffered ? FLAG_LINES : 0) | (job->bind ? FLAG_BIND : 0) |
                  (job->check_program ? FLAG_CHECK : 0));
  pack_u32(p, job->degree);
  pack_bytes(p, &job->silence_s, sizeof job->silence_s);
  pack_bytes(p, &job->connect_s, sizeof job->connect_s);
  pack_text(p, job->ssh);
  pack_text(p, job->agent);
  pack_text(p, job->folder);
  pack_list(p, job->argv);
  pack_list(p, job->env);
  pack_u32(p, job->file_mask);
}

/* Sizes and places. Returns whether they make sense. */
static bool unpack_places(struct pack *p, struct tree_job *job) {
  job->size = unpack_u32(p);
  job->hosts = unpack_u32(p);
  if (p->bad || job->size == 0 || job->size > TMB_BOOT_RANKS_MAX || job->hosts == 0 ||
      job->hosts > job->size)
    return false;
  job->host_of = calloc(job->size, sizeof *job->host_of);
  if (!job->host_of) tmb_fatal_nopos("out of memory for %u ranks", job->size);
  unpack_bytes(p, job->host_of, job->size * sizeof *job->host_of);
  for (uint32_t r = 0; r < job->size; r++)
    if (job->host_of[r] >= job->hosts) return false;
  job->host_name = unpack_list(p);
  for (uint32_t h = 0; h < job->hosts; h++)
    if (!job->host_name[h]) return false;
  return !p->bad;
}

bool tree_job_unpack(struct pack *p, struct tree_job *job, uint32_t *first, uint32_t *last) {
  *job = (struct tree_job){0};
  *first = unpack_u32(p);
  *last = unpack_u32(p);
  if (!unpack_places(p, job) || *first > *last || *last >= job->hosts) return false;
  job->job_id = unpack_u64(p);
  unpack_bytes(p, job->secret, sizeof job->secret);
  job->stdin_rank = unpack_u32(p);
  const uint32_t flags = unpack_u32(p);
  job->line_buffered = flags & FLAG_LINES;
  job->bind = flags & FLAG_BIND;
  job->check_program = flags & FLAG_CHECK;
  job->degree = unpack_u32(p);
  unpack_bytes(p, &job->silence_s, sizeof job->silence_s);
  unpack_bytes(p, &job->connect_s, sizeof job->connect_s);
  job->ssh = unpack_text(p);
  job->agent = unpack_text(p);
  job->folder = unpack_text(p);
  job->argv = unpack_list(p);
  job->env = unpack_list(p);
  job->file_mask = unpack_u32(p);
  return !p->bad && job->argv[0] && job->degree > 0;
}

void tree_job_free(struct tree_job *job) {
  free(job->host_of);
  free_list(job->host_name);
  free(job->ssh);
  free(job->agent);
  free(job->folder);
  free_list(job->argv);
  free_list(job->env);
  explicit_bzero(job->secret, sizeof job->secret);
  *job = (struct tree_job){0};
}
