/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of signals, and lists of them as users write them in settings.
 *
 * Owns: the table of names. Called by core and boot (exit paths), debug.c, api, tools. Calls: libc.
 * Invariants: every function here may be called in a signal handler.
 */
#ifndef TMB_OS_SIGNALS_H
#define TMB_OS_SIGNALS_H

#include "base/compiler.h"

#include <stdbool.h>

/* One signal. */
struct tmb_os_signal {
  int sig;
  const char *name, *text;
};

/* Row of a signal, constant; NULL for a number without one (0, the real-time signals). */
const struct tmb_os_signal *tmb_os_signal_find(int sig);

/* Name of a signal as "SIGSEGV"; NULL for a number without one (0, the real-time signals). */
const char *tmb_os_signal_name(int sig);

/* Meaning of a signal, as "segmentation fault"; "unknown signal" if it has no name. */
const char *tmb_os_signal_text(int sig);

/* Number of a signal given as "SIGSEGV", "segv" or "11"; -1 if there is no such signal. */
int tmb_os_signal_number(const char *text);

/* True if a list as "SIGSEGV,term,11" or "*" names the signal. NULL names none. */
bool tmb_os_signal_listed(const char *list, int sig);

/*
 * First item of a list that is no signal. out item: [item_bytes], the wrong word.
 * Returns true if there is one.
 */
bool tmb_os_signal_list_bad(const char *list, char *item, size_t item_bytes);

#endif
