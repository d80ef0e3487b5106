/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Console messages and the fatal-error path.
 *
 * Owns: the process's rank as shown in messages, and the two debugging hooks that the os layer
 * fills. Called by every layer. Calls: messages, libc; config calls this file, never the
 * reverse.
 * Invariants: one message is one write(2) of whole lines, so that messages of several ranks do not
 * mix; the fatal path runs once per process: a second fatal error, on any thread, cannot recurse
 * into it.
 */
#ifndef TMB_BASE_LOG_H
#define TMB_BASE_LOG_H

#include "base/compiler.h"

#include <stdarg.h>
#include <stdbool.h>

#define TMB_RANK_UNKNOWN UINT32_MAX

/*
 * Messages show the rank from now on. in rank: this process's job rank.
 * Threads: call once, at start-up, before other threads log.
 */
void tmb_log_set_rank(uint32_t rank);

/* Rank as set by tmb_log_set_rank, TMB_RANK_UNKNOWN before. Threads: any. */
uint32_t tmb_log_rank(void);

/* Print "tombolo: rank R: warning: ..." as one line on stderr. Keeps errno. Threads: any. */
void tmb_warn(const char *fmt, ...) TMB_PRINTF(1, 2);

/* Print "tombolo: rank R: ..." on stderr if TOMBOLO_VERBOSE is set. Keeps errno. Threads: any.
 * verbose.c. */
void tmb_info(const char *fmt, ...) TMB_PRINTF(1, 2);

/* Print "tombolo: rank R: ..." on stderr, with arguments in a list. Keeps errno. Threads: any. */
void tmb_print_list(const char *fmt, va_list args) __attribute__((format(printf, 1, 0)));

/* Print "tombolo: rank R: ..." on stderr always, without the word warning. Keeps errno. Threads:
 * any. */
void tmb_print(const char *fmt, ...) TMB_PRINTF(1, 2);

/* As tmb_print and tmb_warn, with a number of messages.def, 0 for none: of a message whose format
 * has passed through another function. Threads: any. */
void tmb_print_numbered(unsigned number, const char *fmt, ...) TMB_PRINTF(2, 3);
void tmb_warn_numbered(unsigned number, const char *fmt, ...) TMB_PRINTF(2, 3);

/*
 * End the process for API misuse or an unrecoverable failure: one console message with the rank,
 * then freeze for a debugger (if set), backtrace (if set), flush of the standard streams, abort().
 * The macro adds the source position; `tmb_fatal_nopos` omits it.
 */
#define tmb_fatal(...) tmb_fatal_at(__func__, __FILE__, __LINE__, __VA_ARGS__)
_Noreturn void tmb_fatal_at(const char *func, const char *file, int line, const char *fmt, ...)
    TMB_PRINTF(4, 5) TMB_COLD;
_Noreturn void tmb_fatal_nopos(const char *fmt, ...) TMB_PRINTF(1, 2) TMB_COLD;

#define TMB_EXIT_SETTING 2 /* code of a process that a setting with a wrong value has ended */

/* End the process because the user has given a wrong value: one message, flush of the standard
 * streams, exit code TMB_EXIT_SETTING. No core, no backtrace: the program has no defect. */
_Noreturn void tmb_wrong_setting(const char *fmt, ...) TMB_PRINTF(1, 2) TMB_COLD;

/* As tmb_fatal, for a broken invariant of this library: the message asks for a report. */
#define tmb_bug(...) tmb_bug_at(__func__, __FILE__, __LINE__, __VA_ARGS__)
_Noreturn void tmb_bug_at(const char *func, const char *file, int line, const char *fmt, ...)
    TMB_PRINTF(4, 5) TMB_COLD;

/*
 * The part of the fatal path after the message: freeze, backtrace, flush. Handlers of fatal signals
 * call it and then end the process. One thread runs it: called again by that thread it returns at
 * once, called by another thread it never returns.
 */
void tmb_fatal_epilogue(void);

/* Whether this thread is on the fatal path: its reason has been printed. Signal handlers may ask.
 */
bool tmb_fatal_begun(void);

/* Flush stdout and stderr without blocking on a stream that another thread has locked. */
void tmb_flush_streams(void);

/*
 * Debugging hooks; both may be NULL. The os layer sets them when it is loaded, the api layer
 * redirects the first to the client's gasnett_print_backtrace_ifenabled. The hooks decide by the
 * settings whether to act: backtrace_hook returns 0 if it printed, freeze_hook returns when
 * released.
 */
extern int (*tmb_backtrace_hook)(int fd);
extern void (*tmb_freeze_hook)(void);

/* Internal assertions: on in every build; tmb_assert_cmp prints both values. */
#define tmb_assert(cond)                                             \
 do {                                                                \
  if (TMB_UNLIKELY(!(cond))) tmb_bug("assertion failed: %s", #cond); \
 } while (0)
#define tmb_assert_cmp(a, op, b)                                                    \
 do {                                                                               \
  const long long tmb_a_ = (long long)(a), tmb_b_ = (long long)(b);                 \
  if (TMB_UNLIKELY(!(tmb_a_ op tmb_b_)))                                            \
   tmb_bug("assertion failed: %s %s %s (%lld, %lld)", #a, #op, #b, tmb_a_, tmb_b_); \
 } while (0)

#endif
