/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leaving the job: see exit.h and API 00 section 11.
 *
 * Owns: `exiting`, the one piece of state, static because signal handlers get no argument.
 * Called by the kernel, libc (exit), core and api. Calls: the conduit through conduit.h, boot,
 * os/debug through base/log, base.
 * The chain of signals: SIGINT, SIGTERM, SIGHUP and SIGPIPE become SIGQUIT, which the client may
 * catch; its default action here is tmb_exit. Fatal signals print, flush and are raised again with
 * the default action, so that the supervisor sees the true cause. In a child that the client has
 * forked each of them has its default action: the child is no rank. Invariants: exactly one thread
 * runs the body of tmb_exit, one that of a fatal signal; a second entry on that thread ends the
 * process at once, other threads sleep until it has ended. One thread leaves the network before, in
 * bounded time; others wait for it.
 */
#define _GNU_SOURCE
#include "core/client/exit.h"

#include "core/client/conduit.h"

#include "base/atomic.h"
#include "base/config.h"
#include "base/log.h"
#include "core/job.h"
#include "core/op/record.h"
#include "core/op/trace.h"
#include "core/progress/net_sleep.h"
#include "os/os.h"
#include "os/process/coverage.h"
#include "os/process/signals.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

/* Limits of the steps of an exit. Chosen, not measured. */
#define FLUSH_TICK_S   1          /* after this time it is found out why a flush takes so long */
#define FLUSH_LOOK_US  250000     /* from then on between two looks while there is room */
#define FLUSH_LOOKS    3          /* that find room one after the other: nobody is about to write */
#define LEAVE_LIMIT_S  6          /* more than conduits wait for their peers */
#define LOOK_US        1000       /* between two looks whether another thread has left */
#define ALTSTACK_BYTES (64 << 10) /* printing and a backtrace fit; paged in only when used */

static const int fatal_signals[] = {SIGABRT, SIGILL, SIGSEGV, SIGBUS, SIGFPE};
static const int terminators[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

static struct {
  struct tmb_boot *boot; /* NULL before tmb_exit_install */
  bool fs_sync;
  int32_t leave_thread; /* kernel's number of the thread that leaves the network, 0: none; by CAS */
  uint32_t left;        /* the network has been left; that thread, atomic */
  int32_t exit_thread;  /* kernel's number of the thread inside tmb_exit, 0: none; by CAS */
  int32_t
      fatal_thread; /* kernel's number of the thread that handles a fatal signal, 0: none; by CAS */
  int leave_code;   /* of the first to leave; its thread */
  int code;         /* of the first tmb_exit; its thread */
  int flush_ticks;  /* SIGALRMs so far that found the output full; the handler */
  int looks_with_room;              /* since then; the handler */
  volatile sig_atomic_t terminator; /* the signal that was turned into SIGQUIT, 0: none */
} exiting;

/* ---- tmb_exit */

_Noreturn static void end_process(int code) {
  tmb_coverage_dump();
  _exit(code);
}

_Noreturn static void sleep_to_the_end(void) {
  for (;;) pause();
}

/* True for the first caller; others do not return unless they are on the first caller's thread. */
static bool claim(int32_t *owner) {
  const int32_t self = (int32_t)gettid();
  int32_t found = 0;
  if (tmb_cas_acq_rel(owner, &found, self)) return true;
  if (found != self) sleep_to_the_end();
  return false;
}

/* True if somebody reads our output, but does not take any more at the moment. */
static bool output_is_full(void) {
  struct pollfd out[2] = {{.fd = STDOUT_FILENO, .events = POLLOUT},
                          {.fd = STDERR_FILENO, .events = POLLOUT}};
  if (poll(out, 2, 0) < 0) return false;
  return out[0].revents == 0 || out[1].revents == 0;
}

static void arm_backstop(const struct timeval *after) {
  const struct itimerval tick = {.it_value = *after};
  setitimer(ITIMER_REAL, &tick, NULL);
}

/* The flush is slow: because of a slow reader it may go on, for any other reason it is given up.
 * Room at one poll is no other reason: the reader has made it, and this thread, which has waited
 * for it, has not run yet. */
static void on_backstop(int sig) {
  static const struct timeval tick = {.tv_sec = FLUSH_TICK_S}, look = {.tv_usec = FLUSH_LOOK_US};
  (void)sig;
  const bool full = output_is_full();
  exiting.looks_with_room = full ? 0 : exiting.looks_with_room + 1;
  exiting.flush_ticks += full;
  if (exiting.looks_with_room == FLUSH_LOOKS || exiting.flush_ticks > TMB_BOOT_SLOW_OUTPUT_S)
    _exit(exiting.code);
  arm_backstop(full ? &tick : &look);
}

/* From now on nothing interrupts this thread but the backstop and its own faults. */
static void start_backstop(void) {
  const struct sigaction action = {.sa_handler = on_backstop, .sa_flags = SA_RESTART | SA_ONSTACK};
  sigset_t mask;
  sigaction(SIGALRM, &action, NULL);
  sigfillset(&mask);
  sigdelset(&mask, SIGALRM);
  for (size_t i = 0; i < TMB_ARRAY_LEN(fatal_signals); i++) sigdelset(&mask, fatal_signals[i]);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  arm_backstop(&(struct timeval){.tv_sec = FLUSH_TICK_S});
}

/* In a child that the client has forked: sockets, files and the state behind them are the rank's,
 * which has not ended. */
static bool in_child(void) {
  return exiting.boot && !tmb_boot_is_rank(exiting.boot);
}

void tmb_exit(int code) {
  if (!claim(&exiting.exit_thread)) _exit(exiting.code);
  exiting.code = code & 0xff;
  if (exiting.boot) exiting.code = tmb_boot_record_exit(exiting.boot, code) & 0xff;
  start_backstop();
  tmb_flush_streams(); /* most important first: this skips a locked stream */
  if (!in_child()) {
    tmb_trace_end();
    tmb_record_end();
  }
  fflush(NULL);
  if (exiting.fs_sync) sync();
  end_process(exiting.code);
}

/* ---- leaving the network: once, by one thread, for a bounded time */

/* True for the first caller. Other threads return when it has left; a second call on its thread
 * returns at once. */
static bool claims_leaving(void) {
  const int32_t self = (int32_t)gettid();
  int32_t found = 0;
  if (tmb_cas_acq_rel(&exiting.leave_thread, &found, self)) return true;
  while (found != self && !tmb_load_acq(&exiting.left)) usleep(LOOK_US);
  return false;
}

static void on_leave_limit(int sig) {
  (void)sig;
  tmb_exit(exiting.leave_code);
}

/* Messages that were sent get through, and the conduit ends in good order. A signal handler may
 * have interrupted this thread while it held a lock that is needed here: then this does not return,
 * and the process ends at the limit. */
static void leave_network(int code) {
  static const struct itimerval limit = {.it_value.tv_sec = LEAVE_LIMIT_S}, never;
  const struct sigaction at_limit = {.sa_handler = on_leave_limit,
                                     .sa_flags = SA_RESTART | SA_ONSTACK};
  struct sigaction action;
  sigset_t alarm, mask;
  tmb_flush_streams(); /* the conduit may wait for seconds, and the job end meanwhile */
  /* The code that a signal has interrupted inside the conduit may hold a lock that the leaver waits
   * for. */
  if (!tmb_job.net || tmb_net_inside || in_child() || !claims_leaving()) return;
  exiting.leave_code = code;
  sigaction(SIGALRM, &at_limit, &action);
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarm, &mask);
  setitimer(ITIMER_REAL, &limit, NULL);
  tmb_conduit_leave(code);
  setitimer(ITIMER_REAL, &never, NULL);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  sigaction(SIGALRM, &action, NULL);
  tmb_store_rel(&exiting.left, 1);
}

void tmb_exit_in_order(int code) {
  leave_network(code);
  tmb_exit(code);
}

/* exit() and return from main: the job ends with this code, too. */
static void on_plain_exit(int code) {
  if (exiting.boot) tmb_boot_note_handlers(exiting.boot);
  leave_network(code);
  if (exiting.boot) (void)tmb_boot_record_exit(exiting.boot, code);
  if (!in_child()) tmb_record_end();
}

/* ---- signals */

static void raise_default(int sig) {
  const struct sigaction dfl = {.sa_handler = SIG_DFL};
  sigset_t set;
  sigaction(sig, &dfl, NULL);
  sigemptyset(&set);
  sigaddset(&set, sig);
  raise(sig);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void on_fatal(int sig, siginfo_t *info, void *context) {
  if (!in_child() && claim(&exiting.fatal_thread)) {
    if (sig == SIGABRT && tmb_fatal_begun())
      ; /* the abort of a fatal error, whose reason is on the screen */
    else if (info->si_code > 0 && (sig == SIGSEGV || sig == SIGBUS))
      tmb_print("caught signal %d (%s: %s) at address %#lx", sig, tmb_os_signal_name(sig),
                tmb_os_signal_text(sig), (unsigned long)(uintptr_t)info->si_addr);
    else
      tmb_print("caught signal %d (%s: %s)", sig, tmb_os_signal_name(sig), tmb_os_signal_text(sig));
    if (exiting.boot) tmb_boot_note_explained(exiting.boot);
    if (exiting.boot) tmb_boot_note_crash(exiting.boot, context);
    tmb_fatal_epilogue();
  }
  raise_default(sig);
}

/* Default action of SIGQUIT: end the job with 128 + the signal that was turned into SIGQUIT, if
 * one was. */
static void on_quit(int sig) {
  if (in_child()) {
    raise_default(sig);
    return;
  }
  tmb_exit(exiting.terminator ? 128 + (int)exiting.terminator : 1);
}

static void on_terminator(int sig) {
  sigset_t set;
  if (in_child()) {
    raise_default(sig);
    return;
  }
  if (!exiting.terminator) exiting.terminator = sig;
  sigemptyset(&set);
  sigaddset(&set, SIGQUIT);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  raise(SIGQUIT);
  tmb_exit(128 + sig); /* a client's handler for SIGQUIT has returned instead of exiting */
}

/* Installs a handler where the client left the default action. */
static void catch_signal(int sig, const struct sigaction *action, const char *left_alone) {
  struct sigaction now;
  if (tmb_os_signal_listed(left_alone, sig)) return;
  if (sigaction(sig, NULL, &now) != 0) return;
  if (!(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL) sigaction(sig, action, NULL);
}

/* A stack overflow can be reported only from another stack. */
static void give_altstack(void) {
  static char stack[ALTSTACK_BYTES] TMB_ALIGNED(64);
  stack_t now;
  if (sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE)) return;
  const stack_t ours = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&ours, NULL);
}

void tmb_exit_install(struct tmb_boot *boot) {
  const char *left_alone = tmb_cfg_str(TMB_CFG_NO_CATCH_SIGNAL);
  char bad[32];
  if (tmb_os_signal_list_bad(left_alone, bad, sizeof bad))
    tmb_cfg_bad_value(TMB_CFG_NO_CATCH_SIGNAL,
                      "names or numbers of signals separated by commas, as "
                      "SIGSEGV,term,11, or *");
  exiting.boot = boot;
  exiting.fs_sync = tmb_cfg_bool(TMB_CFG_FS_SYNC);
  give_altstack();
  const struct sigaction fatal = {.sa_sigaction = on_fatal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  const struct sigaction terminator = {.sa_handler = on_terminator, .sa_flags = SA_ONSTACK};
  const struct sigaction quit = {.sa_handler = on_quit, .sa_flags = SA_ONSTACK};
  for (size_t i = 0; i < TMB_ARRAY_LEN(fatal_signals); i++)
    catch_signal(fatal_signals[i], &fatal, left_alone);
  for (size_t i = 0; i < TMB_ARRAY_LEN(terminators); i++)
    catch_signal(terminators[i], &terminator, left_alone);
  catch_signal(SIGQUIT, &quit, left_alone);
  if (tmb_cfg_bool(TMB_CFG_CATCH_EXIT)) (void)tmb_os_at_exit(on_plain_exit);
}
