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

static struct sigaction quit_action;      /* of SIGQUIT, when the layer had started */
static void (*end_by_signal)(int) = NULL; /* the layer's function for the rest */

/* Another image has ended the program: output of this one is not lost. */
static void on_quit(int sig) {
  caf_flush_units();
  end_by_signal(sig);
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
