/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fatal errors, backtraces, freezing, signals of the tools API (API reference 09, sections 8 and
 * 10).
 *
 * Owns: the two variables that clients may replace, gasnett_backtrace_user (defined weakly here)
 * and gasnett_print_backtrace_ifenabled. Called by clients, and by the fatal path of base/log
 * through its hook. Calls os/process/debug.h, which owns the mechanisms, base/log.h,
 * os/process/signals.h. Invariant: every fatal path prints its backtrace through
 * gasnett_print_backtrace_ifenabled.
 */
#define GASNETT_THREAD_SAFE 1

#include "base/atomic.h"
#include "base/log.h"
#include "gasnet_tools.h"
#include "os/process/debug.h"
#include "os/process/signals.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <unistd.h>

#undef gasnett_fatalerror

/* A client's strong definition takes this one's place, also when the library is shared. */
TMB_WEAK gasnett_backtrace_type_t gasnett_backtrace_user = {NULL, NULL, 0};

gasnett_stats_callback_t gasnett_stats_callback;

/* --- backtraces --- */

/* The client may change its function at any time. */
static int print_by_client(int fd) {
  int (*const print)(int) = gasnett_backtrace_user.fnp;
  return print ? print(fd) : 1;
}

/* Hands the client's mechanism to the os layer once it is there: it may be filled in at run time.
 */
static void adopt_user_mechanism(void) {
  static int adopted;
  if (!gasnett_backtrace_user.name || !gasnett_backtrace_user.fnp) return;
  if (tmb_xchg_acq_rel(&adopted, 1)) return;
  tmb_os_backtrace_add_user(gasnett_backtrace_user.name, print_by_client);
}

static int print_backtrace_ifenabled(int fd) {
  adopt_user_mechanism();
  return tmb_os_backtrace_ifenabled(fd);
}

int (*gasnett_print_backtrace_ifenabled)(int fd) = print_backtrace_ifenabled;

/* The hook of the fatal path: calls the function to which gasnett_print_backtrace_ifenabled points
 * at that moment. */
static int backtrace_hook(int fd) {
  int (*const print)(int) = gasnett_print_backtrace_ifenabled;
  return print ? print(fd) : 1;
}

TMB_AT_LOAD static void set_hook(void) {
  tmb_backtrace_hook = backtrace_hook;
  adopt_user_mechanism(); /* a definition of the client is known by name when settings are read */
}

void gasnett_backtrace_init(const char *exename) {
  (void)exename; /* the mechanisms find the running executable by themselves */
  adopt_user_mechanism();
}

int gasnett_print_backtrace(int fd) {
  adopt_user_mechanism();
  return tmb_os_backtrace(fd);
}

/* --- freezing --- */

void gasnett_freezeForDebuggerNow(volatile int *flag, const char *flagsymname) {
  tmb_os_freeze(flag, flagsymname);
}

void gasnett_freezeForDebuggerErr(void) {
  tmb_os_freeze_on_error();
}

/* --- fatal errors --- */

enum { MESSAGE_BYTES = 4096 };

void gexx_tools_fatal_at(const char *func, const char *file, int line, const char *fmt, ...) {
  char text[MESSAGE_BYTES];
  va_list args;
  va_start(args, fmt);
  (void)vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  tmb_fatal_at(func, file, line, "%s", text);
}

TMB_PRINTF(1, 0) _Noreturn static void die_without_position(const char *fmt, va_list args) {
  char text[MESSAGE_BYTES];
  (void)vsnprintf(text, sizeof text, fmt, args);
  tmb_fatal_nopos("%s", text);
}

/* For callers of the symbol, in other languages; C and C++ use the macro of this name, which
 * also passes file and line. */
void gasnett_fatalerror(const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  die_without_position(fmt, args);
}

void gasnett_fatalerror_nopos(const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  die_without_position(fmt, args);
}

void gexx_tools_unreachable(const char *func, const char *file, int line, const char *what) {
  tmb_fatal_at(func, file, line, "the assumption %s does not hold", what);
}

void gasnett_killmyprocess(int exitcode) {
  _exit(exitcode);
}

char *gexx_tools_current_loc(const char *func, const char *file, int line) {
  const int len = snprintf(NULL, 0, "%s at %s:%d", func, file, line);
  char *const text = malloc((size_t)len + 1);
  if (!text) tmb_fatal("gasnett_current_loc: out of memory");
  (void)snprintf(text, (size_t)len + 1, "%s at %s:%d", func, file, line);
  return text;
}

/* --- signals --- */

gasnett_sighandlerfn_t gasnett_reghandler(int sig, gasnett_sighandlerfn_t fp) {
  const gasnett_sighandlerfn_t old = signal(sig, fp);
  if (old == SIG_ERR)
    tmb_fatal("gasnett_reghandler(%d): no handler can be installed for this signal", sig);
  return old;
}

const char *gasnett_signame_fromval(int sig) {
  return tmb_os_signal_name(sig);
}

/* The rows of the system layer are shown to clients as they are. */
_Static_assert(sizeof(gasnett_siginfo_t) == sizeof(struct tmb_os_signal) &&
                   offsetof(gasnett_siginfo_t, signame) == offsetof(struct tmb_os_signal, name) &&
                   offsetof(gasnett_siginfo_t, desc) == offsetof(struct tmb_os_signal, text),
               "gasnett_siginfo_t is laid out as struct tmb_os_signal");

gasnett_siginfo_t *gasnett_siginfo_fromval(int sig) {
  return (gasnett_siginfo_t *)(uintptr_t)tmb_os_signal_find(sig);
}

gasnett_siginfo_t *gasnett_siginfo_fromstr(const char *str) {
  return str ? gasnett_siginfo_fromval(tmb_os_signal_number(str)) : NULL;
}
