/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of signals: see signals.h.
 *
 * Owns: the table. Called by core, boot, debug.c, api, tools. Calls: libc.
 * Invariants: the table is constant; aliases (SIGIOT, SIGPOLL) follow the name that is shown.
 */
#include "os/process/signals.h"

#include "base/ascii.h"

#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const struct tmb_os_signal table[] = {
    {SIGHUP, "SIGHUP", "hangup"},
    {SIGINT, "SIGINT", "interrupt"},
    {SIGQUIT, "SIGQUIT", "quit"},
    {SIGILL, "SIGILL", "illegal instruction"},
    {SIGTRAP, "SIGTRAP", "trace or breakpoint trap"},
    {SIGABRT, "SIGABRT", "abort"},
    {SIGBUS, "SIGBUS", "bus error"},
    {SIGFPE, "SIGFPE", "arithmetic error"},
    {SIGKILL, "SIGKILL", "kill"},
    {SIGUSR1, "SIGUSR1", "user signal 1"},
    {SIGSEGV, "SIGSEGV", "segmentation fault"},
    {SIGUSR2, "SIGUSR2", "user signal 2"},
    {SIGPIPE, "SIGPIPE", "broken pipe"},
    {SIGALRM, "SIGALRM", "alarm clock"},
    {SIGTERM, "SIGTERM", "termination"},
    {SIGCHLD, "SIGCHLD", "child changed state"},
    {SIGCONT, "SIGCONT", "continue"},
    {SIGSTOP, "SIGSTOP", "stop"},
    {SIGTSTP, "SIGTSTP", "stop from terminal"},
    {SIGTTIN, "SIGTTIN", "background read from terminal"},
    {SIGTTOU, "SIGTTOU", "background write to terminal"},
    {SIGURG, "SIGURG", "urgent data on socket"},
    {SIGXCPU, "SIGXCPU", "processor time limit exceeded"},
    {SIGXFSZ, "SIGXFSZ", "file size limit exceeded"},
    {SIGVTALRM, "SIGVTALRM", "virtual timer expired"},
    {SIGPROF, "SIGPROF", "profiling timer expired"},
    {SIGWINCH, "SIGWINCH", "window size changed"},
    {SIGIO, "SIGIO", "input or output possible"},
#ifdef SIGPWR
    {SIGPWR, "SIGPWR", "power failure"},
#endif
    {SIGSYS, "SIGSYS", "bad system call"},
    {SIGABRT, "SIGIOT", "abort"},
#ifdef SIGPOLL
    {SIGPOLL, "SIGPOLL", "input or output possible"},
#endif
#ifdef SIGSTKFLT
    {SIGSTKFLT, "SIGSTKFLT", "stack fault"},
#endif
};

const struct tmb_os_signal *tmb_os_signal_find(int sig) {
  for (size_t i = 0; i < TMB_ARRAY_LEN(table); i++) {
    if (table[i].sig == sig) return &table[i];
  }
  return NULL;
}

const char *tmb_os_signal_name(int sig) {
  const struct tmb_os_signal *row = tmb_os_signal_find(sig);
  return row ? row->name : NULL;
}

const char *tmb_os_signal_text(int sig) {
  const struct tmb_os_signal *row = tmb_os_signal_find(sig);
  return row ? row->text : "unknown signal";
}

/* Number of the signal named by text[0..len); -1 if none. */
static int number_of(const char *text, size_t len) {
  if (len > 0 && isdigit((unsigned char)text[0])) {
    int value = 0;
    for (size_t i = 0; i < len; i++) {
      if (!isdigit((unsigned char)text[i]) || value >= NSIG) return -1;
      value = value * 10 + (text[i] - '0');
    }
    return value > 0 && value < NSIG ? value : -1;
  }
  for (size_t i = 0; i < TMB_ARRAY_LEN(table); i++) {
    const char *name = table[i].name, *plain = name + 3;
    if (strlen(name) == len && tmb_ascii_same_n(name, text, len)) return table[i].sig;
    if (strlen(plain) == len && tmb_ascii_same_n(plain, text, len)) return table[i].sig;
  }
  return -1;
}

int tmb_os_signal_number(const char *text) {
  return number_of(text, strlen(text));
}

/* Finds the next item of a list; advances *list behind it. Returns its length, 0 at the end. */
static size_t next_item(const char **list, const char **item) {
  const char *p = *list + strspn(*list, ", \t");
  const size_t len = strcspn(p, ", \t");
  *item = p;
  *list = p + len;
  return len;
}

bool tmb_os_signal_listed(const char *list, int sig) {
  const char *item;
  size_t len;
  while (list && (len = next_item(&list, &item)) > 0) {
    if ((len == 1 && *item == '*') || number_of(item, len) == sig) return true;
  }
  return false;
}

bool tmb_os_signal_list_bad(const char *list, char *word, size_t word_bytes) {
  const char *item;
  size_t len;
  while (list && (len = next_item(&list, &item)) > 0) {
    if ((len == 1 && *item == '*') || number_of(item, len) > 0) continue;
    len = TMB_MIN(len, word_bytes - 1);
    memcpy(word, item, len);
    word[len] = '\0';
    return true;
  }
  return false;
}
