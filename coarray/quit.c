/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SIGQUIT, by which the launcher ends the images of a program that another image has ended: their
 * buffered output is not lost.
 *
 * Owns: the action of the signal. Called by start.c, and by the first statements of the program.
 * Calls: flush.c, then the handler that the layer has installed. Invariants: a program that handles
 * or ignores the signal itself keeps its own action.
 */
#include "caf.h"

#include <dlfcn.h>
#include <string.h>

static struct sigaction quit_action;      /* of SIGQUIT, when the layer had started */
static void (*end_by_signal)(int) = NULL; /* the layer's function for the rest */

/* Another image has ended the program: output of this one is not lost. */
static void on_quit(int sig) {
  caf_flush_units();
  end_by_signal(sig);
}

/* Whether a function is libgfortran's, which prints a backtrace. */
static bool of_libgfortran(void (*handler)(int)) {
  Dl_info info;
  void *code;
  memcpy(&code, &handler, sizeof code);
  return dladdr(code, &info) && info.dli_fname && strstr(info.dli_fname, "libgfortran");
}

void caf_free_quit(void) {
  struct sigaction action;
  sigaction(SIGQUIT, NULL, &action);
  if (action.sa_flags & SA_SIGINFO || action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
    return;
  if (of_libgfortran(action.sa_handler)) signal(SIGQUIT, SIG_DFL);
}

void caf_catch_quit(void) {
  sigaction(SIGQUIT, NULL, &quit_action);
  if (quit_action.sa_flags & SA_SIGINFO || quit_action.sa_handler == SIG_DFL ||
      quit_action.sa_handler == SIG_IGN)
    return;
  end_by_signal = quit_action.sa_handler;
  quit_action.sa_handler = on_quit;
  sigaction(SIGQUIT, &quit_action, NULL);
}

void caf_settle_slow(void) {
  if (!caf.began) return;
  caf.settled = true;
  sigaction(SIGQUIT, &quit_action, NULL);
}
