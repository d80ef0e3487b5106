/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of a compiler, see command.h.
 *
 * Owns nothing. Called by fc.c and cc.c. Calls: execvp.
 * Invariants: texts that are made live as long as the process, which becomes the compiler.
 */
#define _GNU_SOURCE
#include "fc/command.h"

#include "tool.h"

#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool command_own(struct command_own *own, const char *argument) {
  if (strcmp(argument, "--show") == 0)
    own->only_show = true;
  else if (strcmp(argument, "--check") == 0)
    own->check = true;
  else if (strncmp(argument, "--compiler=", 11) == 0)
    own->compiler = argument + 11;
  else
    return false;
  return true;
}

void command_add(struct command *c, char *argument) {
  c->argv[c->argc++] = argument;
  c->argv[c->argc] = NULL;
}

/* Whether the compiler has to stop before linking. */
bool command_links(int argc, char **argv) {
  static const char *const stops[] = {"-c", "-S", "-E", "-fsyntax-only", "-M", "-MM"};
  for (int i = 1; i < argc; i++)
    for (size_t k = 0; k < sizeof stops / sizeof stops[0]; k++)
      if (strcmp(argv[i], stops[k]) == 0) return false;
  return true;
}

/* Whether there is anything to compile or link: `tombolo fc --version` asks the compiler only. */
bool command_has_input(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (argv[i][0] != '-') return true;
  return false;
}

/* A word as a shell would have to be given it. */
static void print_word(const char *word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "-_=+./,:@%";
  if (*word && strspn(word, plain) == strlen(word)) {
    fputs(word, stdout);
    return;
  }
  putchar('\'');
  for (const char *p = word; *p; p++)
    if (*p == '\'')
      fputs("'\\''", stdout);
    else
      putchar(*p);
  putchar('\'');
}

int command_show(const struct command *c) {
  for (int i = 0; i < c->argc; i++) {
    if (i) putchar(' ');
    print_word(c->argv[i]);
  }
  putchar('\n');
  return 0;
}

int command_run(const struct command *c, const char *tool, const char *setting) {
  execvp(c->argv[0], c->argv);
  const int err = errno;
  if (err == ENOENT)
    tmb_print("%s: compiler '%s' not found; install it, or name another with --compiler=COMMAND "
              "or %s",
              tool, c->argv[0], setting);
  else
    tmb_print("%s: compiler '%s' cannot be run: %s", tool, c->argv[0], strerror(err));
  return err == ENOENT ? TOOL_EXIT_NOT_FOUND : TOOL_EXIT_NOT_EXECUTABLE;
}

/* Whether the compiler links libraries without those that are shared. */
bool command_is_static(const struct command *c) {
  for (int i = 0; i < c->argc; i++)
    if (strcmp(c->argv[i], "-static") == 0 || strcmp(c->argv[i], "-static-pie") == 0) return true;
  return false;
}
