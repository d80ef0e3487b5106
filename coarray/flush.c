/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing buffered output, before an image ends.
 *
 * Owns: nothing. Called by image.c, and by the signal that ends an image. Calls: libgfortran, the C
 * library. Invariants: it comes back. An error may be found within a statement of input or output,
 * as in `print *, x[9]`: libgfortran holds the lock of the unit there, and would wait for it in
 * this same thread for ever. So after a second, in which nothing keeps the output from being
 * written, the wait is left by a jump; the output of that unit is lost. A fault in a unit that is
 * not in use is left by such a jump, too. The process ends soon after.
 */
#include "caf.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* Of libgfortran, which the program links; weak, so that this library does not need it. */
extern void _gfortran_flush_i4(const int32_t *unit) __attribute__((weak));

/* libgfortran.a up to gcc 12 refers to these weakly. It takes threads for there when the program
 * has some of them, so a program that is linked with -static must have all. */
typedef void function(void);
__attribute__((used)) static function *const threads_of_libgfortran[] = {
    (function *)pthread_mutex_init,    (function *)pthread_mutex_trylock,
    (function *)pthread_mutex_destroy, (function *)pthread_cond_init,
    (function *)pthread_cond_wait,     (function *)pthread_cond_broadcast,
    (function *)pthread_cond_destroy,  (function *)pthread_join,
};

/* Seconds until a lock is taken for one that is never given back; chosen. */
enum { TIME_LIMIT_S = 1 };

/* Units of NEWUNIT= have numbers from here downwards. */
enum { NEWUNIT_FIRST = -10, NEWUNIT_LAST = NEWUNIT_FIRST - 1023 };

/* Values of a jump to caf.flush_end. */
enum { JUMP_TIME = 1, JUMP_FAULT };

/* Of another compiler's run-time library, where the program has one. */
static void (*program_units)(void);

void caf_flush_by(void (*flush)(void)) {
  program_units = flush;
}

static const struct itimerval time_limit = {.it_value = {.tv_sec = TIME_LIMIT_S}};

/* Whether a reader of the output is slow, so that writing may take time. */
static bool output_is_full(void) {
  struct pollfd out[] = {{.fd = STDOUT_FILENO, .events = POLLOUT},
                         {.fd = STDERR_FILENO, .events = POLLOUT}};
  return poll(out, 2, 0) >= 0 && !(out[0].revents && out[1].revents);
}

static void on_alarm(int sig) {
  if (!pthread_equal(pthread_self(), caf.flusher)) {
    (void)pthread_kill(caf.flusher, sig);
  } else if (output_is_full()) {
    (void)setitimer(ITIMER_REAL, &time_limit, NULL);
  } else if (caf.flush_end) {
    siglongjmp(*caf.flush_end, JUMP_TIME);
  }
}

/* A fault of another thread comes again after the return, and ends the process. */
static void on_fault(int sig) {
  if (pthread_equal(pthread_self(), caf.flusher) && caf.flush_end)
    siglongjmp(*caf.flush_end, JUMP_FAULT);
  (void)signal(sig, SIG_DFL);
}

/* Without a unit, libgfortran writes the output of those with positive numbers. Internal files have
 * numbers of NEWUNIT=, too; libgfortran faults on one that is not in use. */
static void flush_newunits(void) {
  sigjmp_buf end;
  struct sigaction action, before;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_fault;
  (void)sigaction(SIGSEGV, &action, &before);
  caf.flush_end = &end;
  for (volatile int32_t at = NEWUNIT_FIRST; at >= NEWUNIT_LAST; at--) {
    const int jump = sigsetjmp(end, 1);
    const int32_t unit = at;
    if (jump == JUMP_TIME) break;
    if (!jump) _gfortran_flush_i4(&unit);
  }
  (void)sigaction(SIGSEGV, &before, NULL);
}

static void flush_units(void) {
  sigjmp_buf end;
  if (sigsetjmp(end, 1) == 0) {
    caf.flush_end = &end;
    (void)setitimer(ITIMER_REAL, &time_limit, NULL);
    if (program_units) program_units();
    if (_gfortran_flush_i4) {
      _gfortran_flush_i4(NULL);
      flush_newunits();
    }
  }
  caf.flush_end = NULL;
}

void caf_flush_units(void) {
  const struct itimerval none = {.it_value = {0}};
  struct itimerval own; /* the program's */
  struct sigaction action, before;
  sigset_t caught, mask;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_alarm;
  sigemptyset(&caught);
  sigaddset(&caught, SIGALRM);
  sigaddset(&caught, SIGSEGV); /* which ends a process that blocks it */
  if ((!_gfortran_flush_i4 && !program_units) || caf.flush_end) return;
  caf.flusher = pthread_self();
  (void)setitimer(ITIMER_REAL, &none, &own);
  (void)sigaction(SIGALRM, &action, &before);
  (void)pthread_sigmask(SIG_UNBLOCK, &caught, &mask);
  flush_units();
  (void)setitimer(ITIMER_REAL, &none, NULL);
  (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
  (void)sigaction(SIGALRM, &before, NULL);
  (void)setitimer(ITIMER_REAL, &own, NULL);
}

void caf_flush_all(void) {
  caf_flush_units();
  fflush(NULL);
}
