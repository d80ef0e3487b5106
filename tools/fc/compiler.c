/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kind of a Fortran compiler's command.
 *
 * Owns nothing. Called by fc.c. Calls popen of the compiler: `--version` names it, and
 * `-dumpversion` gives its version. Invariants: as in compiler.h; a command with a quote is not
 * asked.
 */
#define _GNU_SOURCE
#include "fc/compiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 256 };

static const char *file_name(const char *command) {
  const char *slash = strrchr(command, '/');
  return slash ? slash + 1 : command;
}

/* First line that the compiler prints for an option; "" where it prints none. */
static void ask(const char *command, const char *option, char line[LINE_BYTES]) {
  char *text = NULL;
  *line = '\0';
  if (strchr(command, '\'') || asprintf(&text, "exec '%s' %s 2>/dev/null", command, option) < 0)
    return;
  FILE *answer = popen(text, "r");
  if (answer) {
    if (!fgets(line, LINE_BYTES, answer)) *line = '\0';
    while (fgetc(answer) != EOF) continue; /* else it meets a broken pipe */
    pclose(answer);
  }
  free(text);
}

/* The name gfortran is sufficient, so that its command is asked one thing only. */
static bool is_flang(const char *command) {
  char line[LINE_BYTES];
  if (strstr(file_name(command), "gfortran")) return false;
  ask(command, "--version", line);
  return strstr(*line ? line : file_name(command), "flang") != NULL;
}

void fc_compiler_ask(struct fc_compiler *compiler, const char *command) {
  char version[LINE_BYTES];
  *compiler = (struct fc_compiler){.is_flang = is_flang(command)};
  ask(command, "-dumpversion", version);
  compiler->major = (int)strtol(version, NULL, 10);
  snprintf(compiler->version, sizeof compiler->version, "%.*s", COMPILER_BYTES - 1, version);
  if (compiler->major > 0)
    snprintf(compiler->modules, sizeof compiler->modules, "%s%d",
             compiler->is_flang ? "flang-" : "", compiler->major);
}

bool fc_compiler_is_known(const char *command) {
  const char *name = file_name(command);
  return !strpbrk(command, " \t") && (strstr(name, "gfortran") || strstr(name, "flang"));
}
