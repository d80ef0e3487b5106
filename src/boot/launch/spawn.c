/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spawning by a number on the command line, see spawn.h.
 *
 * Owns: no process state. Called by core for clients of conduit udp. Calls: base, os, launch.h. The
 * command `tombolo` is looked for beside the library, then in PATH. Invariants: see spawn.h.
 */
#define _GNU_SOURCE
#include "boot/launch/spawn.h"

#include "base/ascii.h"
#include "base/config.h"
#include "base/log.h"
#include "boot/boot.h"
#include "boot/launch/invitation.h"
#include "boot/launch/launch.h"
#include "boot/pm/pm.h"
#include "os/os.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS_MAX = 4096, COMMAND_LINE_BYTES = 1 << 21 };

/* The arguments of this process where the client has not passed them. Returns NULL without /proc.
 */
static char **read_arguments(void) {
  FILE *file = fopen("/proc/self/cmdline", "re");
  char *text = calloc(1, COMMAND_LINE_BYTES);
  char **words = calloc(WORDS_MAX, sizeof *words);
  size_t bytes = 0;
  if (file && text && words) bytes = fread(text, 1, COMMAND_LINE_BYTES - 1, file);
  if (file) fclose(file);
  if (bytes == 0) {
    free(text);
    free(words);
    return NULL;
  }
  size_t count = 0;
  for (size_t at = 0; at < bytes && count + 1 < WORDS_MAX; at += strlen(text + at) + 1)
    words[count++] = text + at;
  return words;
}

/* The number of ranks that a word is, 0 if it is none. */
static uint32_t number_of(const char *word) {
  char *end;
  if (!word || !isdigit((unsigned char)*word)) return 0;
  const unsigned long value = strtoul(word, &end, 10);
  if (*end) return 0;
  if (value < 1 || value > TMB_BOOT_RANKS_MAX)
    tmb_fatal_nopos("%s: the first argument, a number of ranks, must be from 1 to %d", word,
                    TMB_BOOT_RANKS_MAX);
  return (uint32_t)value;
}

char *tmb_spawn_command(void) {
  Dl_info self;
  char *path = NULL;
  const char *slash = dladdr((const void *)(uintptr_t)&tmb_boot_spawn, &self) && self.dli_fname
                          ? strrchr(self.dli_fname, '/')
                          : NULL;
  if (slash &&
      asprintf(&path, "%.*s/../bin/tombolo", (int)(slash - self.dli_fname), self.dli_fname) > 0 &&
      access(path, X_OK) == 0)
    return path;
  free(path);
  return strdup("tombolo");
}

/* Becomes `tombolo run -n N -- program arguments`. in args: of this process. */
_Noreturn static void become_launcher(uint32_t ranks, char **args) {
  char number[16];
  size_t count = 0;
  while (args[count]) count++;
  char **words = calloc(count + 6, sizeof *words), *command = tmb_spawn_command();
  if (!words || !command) tmb_fatal_nopos("out of memory for %zu arguments", count);
  snprintf(number, sizeof number, "%u", ranks);
  const bool named = strchr(args[0], '/') != NULL;
  words[0] = (char *)"tombolo";
  words[1] = (char *)"run";
  words[2] = (char *)"-n";
  words[3] = number;
  words[4] = (char *)"--";
  words[5] = named ? args[0] : (char *)(uintptr_t)tmb_os_exe_name();
  for (size_t i = 2; i < count; i++) words[i + 4] = args[i]; /* args[1] is the number */
  fflush(NULL);
  execvp(command, words);
  tmb_fatal_nopos("cannot start %u ranks on other hosts: the command tombolo: %s; put its folder "
                  "into PATH, or use GASNET_SPAWNFN=L for this machine alone",
                  ranks, strerror(errno));
}

/* tmb_spawn_setting. out from: [bytes] the name under which it is set. */
static const char *setting_from(enum tmb_cfg_id id, const char *name, char *from, size_t bytes) {
  static const char environment[] = "environment ";
  const char *const dflt = tmb_cfg_str(id), *source = tmb_cfg_source(id);
  if (!strncmp(source, environment, strlen(environment))) source += strlen(environment);
  snprintf(from, bytes, "%s", source);
  if (dflt && *dflt && tmb_cfg_is_set(id)) return dflt;
  snprintf(from, bytes, "AMUDP_%s", name);
  const char *text = tmb_env_get(from);
  if (text && *text) return text;
  snprintf(from, bytes, "%s", name);
  text = tmb_env_get(from);
  if (!text || !*text) text = dflt;
  return text && *text ? text : NULL;
}

const char *tmb_spawn_setting(enum tmb_cfg_id id, const char *name) {
  char from[64];
  return setting_from(id, name, from, sizeof from);
}

int tmb_spawn_function(void) {
  const char *text = tmb_spawn_setting(TMB_CFG_SPAWNFN, "SPAWNFN");
  const int letter = text ? tmb_ascii_lower(*text) - 'a' + 'A' : 0;
  if (!letter || letter == 'L' || letter == 'S' || letter == 'C') return letter;
  tmb_cfg_bad_value(TMB_CFG_SPAWNFN, "L (this machine), S (ssh) or C (a command of your own)");
}

struct tmb_spawn_list tmb_spawn_hosts(int function) {
  struct tmb_spawn_list l = {NULL, false, ""};
  if (function == 'L') return l;
  if (function == 'C')
    l.text = setting_from(TMB_CFG_CSPAWN_SERVERS, "CSPAWN_SERVERS", l.from, sizeof l.from);
  if (!l.text) l.text = setting_from(TMB_CFG_HOSTS, "SSH_SERVERS", l.from, sizeof l.from);
  if (l.text) return l;
  l.is_file = true;
  l.text = setting_from(TMB_CFG_HOSTFILE, "SSH_NODEFILE", l.from, sizeof l.from);
  if (l.text) return l;
  snprintf(l.from, sizeof l.from, "GASNET_NODEFILE");
  l.text = tmb_env_get(l.from);
  if (l.text && !*l.text) l.text = NULL;
  return l;
}

void tmb_boot_spawn(int *argc, char ***argv) {
  uint32_t of_manager, ranks_of_manager;
  if (tmb_env_get(TMB_LAUNCH_ENV) || tmb_pm_started_by(&of_manager, &ranks_of_manager)) return;
  const bool given = argc && argv && *argv && *argc > 0;
  char **args = given ? *argv : read_arguments();
  const uint32_t ranks = args && args[0] ? number_of(args[1]) : 0;
  if (!ranks) return;
  const int function = tmb_spawn_function();
  if (function == 'S' || function == 'C' || tmb_spawn_hosts(function).text)
    become_launcher(ranks, args);
  char number[16];
  snprintf(number, sizeof number, "%u", ranks);
  tmb_cfg_override(TMB_CFG_PSHM_NODES, number, "first argument of the program", true);
  if (!given) return;
  /* The list of arguments stays where it is: clients have kept its address. */
  for (int i = 1; i < *argc; i++) (*argv)[i] = (*argv)[i + 1];
  --*argc;
}
