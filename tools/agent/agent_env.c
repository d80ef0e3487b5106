/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment of ranks on other hosts.
 *
 * Owns: nothing global. Called by agent.c and run_hosts.c. Calls: libc. Invariants: names that
 * describe a login session of one machine never travel.
 */
#define _GNU_SOURCE
#include "agent/agent.h"

#include "base/log.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Names that belong to a session of one machine. */
static const char *const local_names[] = {
    "SSH_*",      "HOSTNAME",      "DISPLAY",       "XAUTHORITY",    "WAYLAND_*", "XDG_*",
    "DBUS_*",     "TOMBOLO_BOOT*", "WINDOWID",      "TMUX*",         "STY",       "LS_COLORS",
    "GPG_AGENT*", "BASH_FUNC*",    "INVOCATION_ID", "JOURNAL_STREAM"};

static bool is_local(const char *entry) {
  char name[128];
  const size_t length = strcspn(entry, "=");
  if (length >= sizeof name) return false;
  memcpy(name, entry, length);
  name[length] = '\0';
  for (size_t i = 0; i < TMB_ARRAY_LEN(local_names); i++)
    if (fnmatch(local_names[i], name, 0) == 0) return true;
  return false;
}

static uint32_t count_of(char *const *list) {
  uint32_t count = 0;
  while (list && list[count]) count++;
  return count;
}

static char *copy_of(const char *entry) {
  char *copy = strdup(entry);
  if (!copy) tmb_fatal_nopos("out of memory for the environment");
  return copy;
}

char **agent_environment(const struct tree_job *job) {
  uint32_t used = 0;
  char **list = calloc(count_of(job->env) + count_of(environ) + 1u, sizeof *list);
  if (!list) tmb_fatal_nopos("out of memory for the environment");
  for (char **at = job->env; *at; at++)
    if (!is_local(*at)) list[used++] = copy_of(*at);
  for (char **at = environ; *at; at++)
    if (is_local(*at)) list[used++] = copy_of(*at);
  return list;
}

char **agent_environment_sent(void) {
  char **list = calloc(count_of(environ) + 1u, sizeof *list);
  uint32_t used = 0;
  if (!list) tmb_fatal_nopos("out of memory for the environment");
  for (char **at = environ; *at; at++)
    if (!is_local(*at)) list[used++] = copy_of(*at);
  return list;
}
