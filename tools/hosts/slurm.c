/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slurm's allocation as a list of hosts, see slurm.h.
 *
 * Owns: nothing global. Called by run.c. Calls: base, libc. A list of nodes is names with groups of
 * ranges in brackets; ranges keep leading zeros. Invariants: no more names than NODES_MAX, however
 * long the ranges are that a variable claims.
 */
#define _GNU_SOURCE
#include "hosts/slurm.h"

#include "base/compiler.h"
#include "base/config.h"
#include "base/log.h"
#include "os/os.h"
#include "tool.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES_MAX  65536u
#define NAME_BYTES 256

/* The list that is being made. */
struct list {
  FILE *out;
  const char *tasks;  /* rest of the numbers of tasks; NULL: none were given */
  unsigned long task; /* of the next nodes ... */
  unsigned long more; /* ... of so many */
  unsigned count;
  uint64_t total; /* tasks of the nodes so far */
};

/* The next number of "2(x3),1". Returns false where there is none. */
static bool next_tasks(struct list *l) {
  if (!l->tasks) return true;
  if (!l->more) {
    char *end;
    l->task = strtoul(l->tasks, &end, 10);
    l->more = 1;
    if (end == l->tasks || !l->task) return false;
    if (strncmp(end, "(x", 2) == 0) {
      l->more = strtoul(end + 2, &end, 10);
      if (!l->more || *end++ != ')') return false;
    }
    if (*end && *end != ',') return false;
    l->tasks = *end ? end + 1 : end;
  }
  l->more--;
  return true;
}

static bool add_node(struct list *l, const char *name) {
  if (!*name || ++l->count > NODES_MAX || !next_tasks(l)) return false;
  fprintf(l->out, "%s%s", l->count > 1 ? "," : "", name);
  if (l->tasks) fprintf(l->out, ":%lu", l->task);
  l->total += l->task;
  return true;
}

static bool expand(struct list *l, const char *head, const char *rest, size_t bytes);

/* All names with a number of one range "07-12" between head and rest. in range: up to `end`. */
static bool expand_range(struct list *l, const char *head, const char *range, const char *end,
                         const char *rest, size_t bytes) {
  char *stop;
  if (!isdigit((unsigned char)*range)) return false;
  const unsigned long first = strtoul(range, &stop, 10);
  const int width = (int)(stop - range);
  unsigned long last = first;
  if (stop < end && *stop == '-' && isdigit((unsigned char)stop[1]))
    last = strtoul(stop + 1, &stop, 10);
  if (stop != end || last < first) return false;
  for (unsigned long i = first; i <= last; i++) {
    char name[NAME_BYTES];
    const int n = snprintf(name, sizeof name, "%s%0*lu", head, width, i);
    if (n < 0 || (size_t)n >= sizeof name || !expand(l, name, rest, bytes)) return false;
  }
  return true;
}

/* All names that begin with head and go on as the pattern rest, [bytes], says. */
static bool expand(struct list *l, const char *head, const char *rest, size_t bytes) {
  char name[NAME_BYTES];
  const char *open = memchr(rest, '[', bytes);
  const size_t plain = open ? (size_t)(open - rest) : bytes;
  const int n = snprintf(name, sizeof name, "%s%.*s", head, (int)plain, rest);
  if (n < 0 || (size_t)n >= sizeof name) return false;
  if (!open) return add_node(l, name);
  const char *close = memchr(open, ']', bytes - plain);
  if (!close) return false;
  const char *after = close + 1;
  for (const char *range = open + 1; range <= close;) {
    const char *end = memchr(range, ',', (size_t)(close - range));
    if (!end) end = close;
    if (!expand_range(l, name, range, end, after, bytes - (size_t)(after - rest))) return false;
    range = end + 1;
  }
  return true;
}

/* Bytes up to the next comma that is outside of brackets. */
static size_t pattern_bytes(const char *text) {
  size_t i = 0;
  for (bool inside = false; text[i] && (inside || text[i] != ','); i++)
    inside = text[i] == '[' || (inside && text[i] != ']');
  return i;
}

char *slurm_list(const char *nodes, const char *tasks, uint64_t *total, char *why) {
  char *text = NULL;
  size_t size = 0;
  struct list l = {.out = open_memstream(&text, &size), .tasks = tasks};
  if (!l.out) tmb_fatal_nopos("out of memory for a list of hosts");
  bool good = *nodes != '\0';
  for (const char *p = nodes; good && *p;) {
    const size_t bytes = pattern_bytes(p);
    good = expand(&l, "", p, bytes);
    p += bytes;
    if (*p == ',') p++;
  }
  fclose(l.out);
  *total = l.total;
  if (good) return text;
  snprintf(why, SLURM_WHY_BYTES, "nodes '%.100s' with tasks '%.60s' are not understood", nodes,
           tasks ? tasks : "");
  free(text);
  return NULL;
}

/* Whether a list is this machine alone; Slurm may have a name of its own for it. */
static bool is_here(const char *list) {
  const char *node = tmb_env_get("SLURMD_NODENAME"), *host = tmb_os_hostname();
  if (node && strlen(node) == strcspn(list, ":,") && strncmp(node, list, strlen(node)) == 0)
    return list[strcspn(list, ",")] == '\0';
  const size_t bytes = strcspn(list, ":,");
  return list[strcspn(list, ",")] == '\0' && strcspn(host, ".") == strcspn(list, ".:,") &&
         strncmp(host, list, TMB_MIN(bytes, strcspn(host, "."))) == 0;
}

char *slurm_hosts(uint32_t ranks) {
  char why[SLURM_WHY_BYTES];
  uint64_t total;
  const char *nodes = tmb_env_get("SLURM_JOB_NODELIST");
  const char *tasks = tmb_env_get("SLURM_TASKS_PER_NODE");
  if (!nodes || !tmb_env_get("SLURM_JOB_ID")) return NULL;
  char *list = slurm_list(nodes, tasks, &total, why);
  if (list && ranks > total) {
    free(list);
    list = slurm_list(nodes, NULL, &total, why);
  }
  if (!list) {
    tmb_print("run: SLURM_JOB_NODELIST and SLURM_TASKS_PER_NODE: %s; name the hosts by --hosts",
              why);
    exit(TOOL_EXIT_USAGE);
  }
  if (!is_here(list)) return list;
  free(list);
  return NULL;
}
