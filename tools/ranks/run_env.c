/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment that `tombolo run` gives to the ranks.
 *
 * Owns: nothing global. Called by run.c while options are read, and by agents. Calls: base/config.
 * The ranks inherit the launcher's environment, so variables that they are not to have leave it
 * here, before anything is started.
 */
#define _GNU_SOURCE
#include "ranks/run.h"
#include "tool.h"

#include "base/config.h"
#include "base/log.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Variables that programs, libraries and the launcher itself need. */
static const char needed[] = "TOMBOLO_*,GASNET_*,GASNETI_*,AMUDP_*,SSH_*,PATH,LD_LIBRARY_PATH,HOME,"
                             "USER,LOGNAME,SHELL,TMPDIR,PWD";

int run_env_set(struct run_options *o, const char *text) {
  const char *const equals = strchr(text, '=');
  const size_t length = equals ? (size_t)(equals - text) : strlen(text);
  if (!length) {
    tmb_print("run: -E %s: no name before '='; give NAME=VALUE", text);
    return TOOL_EXIT_USAGE;
  }
  char *const name = strndup(text, length), *chosen = NULL;
  if (!name || asprintf(&chosen, "%s,%s", o->env_chosen ? o->env_chosen : "", name) < 0)
    tmb_fatal_nopos("out of memory for the environment");
  free(o->env_chosen);
  o->env_chosen = chosen;
  if (equals) tmb_env_set(name, equals + 1);
  free(name);
  return 0;
}

/* Whether a variable of an environment has one of the names; in names: patterns, by commas. */
static bool is_among(const char *entry, const char *names) {
  char *const name = strndup(entry, strcspn(entry, "=")), *const list = strdup(names);
  if (!name || !list) tmb_fatal_nopos("out of memory for the environment");
  bool found = false;
  char *save = NULL;
  for (char *p = strtok_r(list, ",", &save); p && !found; p = strtok_r(NULL, ",", &save))
    found = fnmatch(p, name, 0) == 0;
  free(list);
  free(name);
  return found;
}

void run_env_keep(const struct run_options *o) {
  size_t count = 0, used = 0;
  while (environ[count]) count++;
  char **const list = calloc(count + 1, sizeof *list);
  if (!list) tmb_fatal_nopos("out of memory for the environment");
  for (char **at = environ; *at; at++)
    if (is_among(*at, needed) || is_among(*at, o->env_only) ||
        (o->env_chosen && is_among(*at, o->env_chosen)))
      list[used++] = *at;
  tmb_env_replace(list);
}

int run_check_settings(void) {
  char why[1024];
  for (enum tmb_cfg_id id = 0; id < TMB_CFG_COUNT; id++) {
    if (tmb_cfg_check(id, why, sizeof why) == 0) continue;
    tmb_print("run: %s", why);
    return TOOL_EXIT_USAGE;
  }
  return 0;
}
