/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One step of upcc: the words of its command, and the child that runs it.
 *
 * Owns: nothing global. Called by the other files of tools/upcc. Calls: fork, exec. Invariants: a
 * list of words ends in NULL; with --show nothing is run.
 */
#define _GNU_SOURCE
#include "upcc/upcc.h"

#include "base/log.h"
#include "tool.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void upcc_add(struct upcc_list *l, const char *word) {
  if (l->count + 2 > l->room) {
    l->room = l->room ? 2 * l->room : 32;
    const char **words = realloc(l->words, l->room * sizeof *words);
    if (!words) {
      tmb_print("upcc: out of memory");
      exit(TOOL_EXIT_FAILED);
    }
    l->words = words;
  }
  l->words[l->count++] = word;
  l->words[l->count] = NULL;
}

void upcc_add_list(struct upcc_list *to, const struct upcc_list *from) {
  for (size_t i = 0; i < from->count; i++) upcc_add(to, from->words[i]);
}

/* A word as a shell would have to be given it. */
static void print_word(FILE *to, const char *word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "-_=+./,:@%";
  if (*word && strspn(word, plain) == strlen(word)) {
    fputs(word, to);
    return;
  }
  fputc('\'', to);
  for (const char *p = word; *p; p++)
    if (*p == '\'')
      fputs("'\\''", to);
    else
      fputc(*p, to);
  fputc('\'', to);
}

int upcc_run(const struct upcc *u, struct upcc_list *l) {
  if (u->only_show || u->verbose) {
    FILE *to = u->only_show ? stdout : stderr;
    for (size_t i = 0; i < l->count; i++) {
      if (i) fputc(' ', to);
      print_word(to, l->words[i]);
    }
    fputc('\n', to);
  }
  if (u->only_show) return 0;
  fflush(NULL);
  struct sigaction ignore = {.sa_handler = SIG_IGN},
                   before; /* ^C ends the step, not its cleaning */
  sigaction(SIGINT, &ignore, &before);
  const pid_t pid = fork();
  if (pid == 0) {
    sigaction(SIGINT, &before, NULL);
    execvp(l->words[0], (char *const *)(uintptr_t)l->words);
    tmb_print("upcc: '%s' cannot be run: %s", l->words[0], strerror(errno));
    _exit(errno == ENOENT ? TOOL_EXIT_NOT_FOUND : TOOL_EXIT_NOT_EXECUTABLE);
  }
  int status;
  const bool ended = pid > 0 && waitpid(pid, &status, 0) > 0;
  sigaction(SIGINT, &before, NULL);
  if (!ended) {
    tmb_print("upcc: cannot start '%s': %s", l->words[0], strerror(errno));
    return TOOL_EXIT_FAILED;
  }
  if (WIFSIGNALED(status))
    tmb_print("upcc: '%s' ended by signal %d", l->words[0], WTERMSIG(status));
  return WIFEXITED(status) ? WEXITSTATUS(status) : TOOL_EXIT_FAILED;
}
