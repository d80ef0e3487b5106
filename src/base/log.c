/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Console messages and the fatal-error path: see log.h.
 *
 * Owns: the shown rank, the debugging hooks, the once-only state of the fatal path.
 * Called by every layer. Calls: messages, the hooks, libc; not config, which reports by this file.
 * Invariants: a message is formatted on the stack and leaves in one write(2); errno survives a
 * warning; whoever enters the fatal path second never runs freeze or backtrace again.
 */
#include "base/log.h"

#include "base/ascii.h"
#include "base/messages/messages.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  MESSAGE_BYTES = 4096,
  NUMBER_BYTES = 16, /* room that stays for " [TMB-0123]" */
};

struct message {
  size_t len; /* bytes used, < MESSAGE_BYTES - 1: room for the newline stays */
  char text[MESSAGE_BYTES];
};

int (*tmb_backtrace_hook)(int fd);
void (*tmb_freeze_hook)(void);

static uint32_t shown_rank = TMB_RANK_UNKNOWN;

/* Held for ever by the thread that runs the fatal path. */
static pthread_mutex_t fatal_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool fatal_here;

void tmb_log_set_rank(uint32_t rank) {
  shown_rank = rank;
}

uint32_t tmb_log_rank(void) {
  return shown_rank;
}

static void add_v(struct message *msg, const char *fmt, va_list args) {
  const size_t room = MESSAGE_BYTES - 1 - NUMBER_BYTES - msg->len;
  const locale_t before = tmb_ascii_enter();
  const int n = vsnprintf(msg->text + msg->len, room, fmt, args);
  tmb_ascii_leave(before);
  if (n < 0) return;
  if ((size_t)n < room) {
    msg->len += (size_t)n;
    return;
  }
  msg->len = MESSAGE_BYTES - 2 - NUMBER_BYTES;
  memcpy(msg->text + msg->len - 3, "...", 3);
}

TMB_PRINTF(2, 3) static void add(struct message *msg, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  add_v(msg, fmt, args);
  va_end(args);
}

/* Whether a message ends with a number: it passes on the message of another process. */
static bool has_number(const struct message *msg) {
  enum { BYTES = sizeof "[TMB-0123]" - 1 };
  if (msg->len < BYTES) return false;
  const char *end = msg->text + msg->len - BYTES;
  return memcmp(end, "[TMB-", 5) == 0 && end[BYTES - 1] == ']';
}

/* Appends the number of the message, if it has one, behind its last line. */
static void add_number(struct message *msg, unsigned number) {
  while (msg->len > 0 && msg->text[msg->len - 1] == '\n') msg->len--;
  if (!number || has_number(msg)) return;
  const int n = snprintf(msg->text + msg->len, NUMBER_BYTES, " [TMB-%04u]", number % 10000);
  if (n > 0) msg->len += (size_t)n;
}

/* Ends the message with one newline and writes it to stderr. */
static void emit(struct message *msg) {
  while (msg->len > 0 && msg->text[msg->len - 1] == '\n') msg->len--;
  msg->text[msg->len++] = '\n';
  size_t done = 0;
  while (done < msg->len) {
    const ssize_t n = write(STDERR_FILENO, msg->text + done, msg->len - done);
    if (n > 0)
      done += (size_t)n;
    else if (n == 0 || errno != EINTR)
      return;
  }
}

/* Formats and emits "tombolo: rank R: <kind><text> [TMB-number]", keeping errno. */
static void say(const char *kind, unsigned number, const char *fmt, va_list args) {
  const int saved_errno = errno;
  struct message msg;
  msg.len = 0;
  add(&msg, "tombolo: ");
  if (shown_rank != TMB_RANK_UNKNOWN) add(&msg, "rank %u: ", (unsigned)shown_rank);
  add(&msg, "%s", kind);
  errno = saved_errno;
  add_v(&msg, fmt, args);
  add_number(&msg, number);
  emit(&msg);
  errno = saved_errno;
}

void tmb_warn(const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  say("warning: ", tmb_message_number(fmt), fmt, args);
  va_end(args);
}

void tmb_print(const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  say("", tmb_message_number(fmt), fmt, args);
  va_end(args);
}

void tmb_print_list(const char *fmt, va_list args) {
  say("", 0, fmt, args);
}

void tmb_print_numbered(unsigned number, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  say("", number, fmt, args);
  va_end(args);
}

void tmb_warn_numbered(unsigned number, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  say("warning: ", number, fmt, args);
  va_end(args);
}

/* Flushes one stream unless another thread is inside it. */
static void try_flush(FILE *stream) {
  if (ftrylockfile(stream) != 0) return;
  fflush(stream);
  funlockfile(stream);
}

void tmb_flush_streams(void) {
  try_flush(stdout);
  try_flush(stderr);
}

bool tmb_fatal_begun(void) {
  return fatal_here;
}

void tmb_fatal_epilogue(void) {
  if (fatal_here) return;
  fatal_here = true;
  if (pthread_mutex_trylock(&fatal_lock) != 0) {
    for (;;) pause(); /* the thread on the fatal path ends the process */
  }
  if (tmb_freeze_hook) tmb_freeze_hook();
  if (tmb_backtrace_hook) (void)tmb_backtrace_hook(STDERR_FILENO);
  tmb_flush_streams();
}

/* Where a fatal message comes from; func is NULL for a message without position. */
struct position {
  const char *func, *file;
  int line;
};

_Noreturn static void die(const struct position *pos, const char *suffix, const char *fmt,
                          va_list args) {
  const int saved_errno = errno;
  struct message msg;
  msg.len = 0;
  add(&msg, "*** FATAL ERROR");
  if (shown_rank != TMB_RANK_UNKNOWN) add(&msg, " (proc %u)", (unsigned)shown_rank);
  add(&msg, ": ");
  if (pos->func) add(&msg, "in %s() at %s:%d: ", pos->func, pos->file, pos->line);
  errno = saved_errno;
  add_v(&msg, fmt, args);
  add(&msg, "%s", suffix);
  add_number(&msg, tmb_message_number(*suffix ? suffix : fmt));
  emit(&msg);
  tmb_fatal_epilogue();
  abort();
}

void tmb_fatal_at(const char *func, const char *file, int line, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  die(&(struct position){func, file, line}, "", fmt, args);
}

void tmb_fatal_nopos(const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  die(&(struct position){0}, "", fmt, args);
}

void tmb_wrong_setting(const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  const unsigned number = tmb_message_number(fmt);
  say("", number ? number : TMB_MESSAGE_SETTING, fmt, args);
  va_end(args);
  tmb_flush_streams();
  _exit(TMB_EXIT_SETTING);
}

void tmb_bug_at(const char *func, const char *file, int line, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  die(&(struct position){func, file, line}, " (a defect in Tombolo: please report it)", fmt, args);
}
