/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/*
 * Fatal errors, backtraces, freezing, signals (API reference 09, section 10). This client defines
 * gasnett_backtrace_user; tools_system.c does not and must link too.
 */
#include <gasnet_tools.h>
#include <signal.h>
#include <sys/mman.h>

#include "tools_child.h"

static const char mark[] = "a backtrace by the client\n";

static int write_mark(int fd) {
  return write(fd, mark, sizeof mark - 1) < 0;
}

gasnett_backtrace_type_t gasnett_backtrace_user = {"MINE", write_mark, 1};

static void fatal_here(void) {
  gasnett_fatalerror("value %d is %s", 42, "wrong");
}
static void fatal_nopos(void) {
  gasnett_fatalerror_nopos("no place for %s", "this");
}
static void fatal_backtrace(void) {
  gasnett_setenv("GASNET_BACKTRACE", "1");
  gasnett_fatalerror("with a backtrace");
}
static int replaced(int fd) {
  static const char text[] = "replaced hook\n";
  return write(fd, text, sizeof text - 1) < 0;
}
static void fatal_replaced(void) {
  gasnett_print_backtrace_ifenabled = replaced;
  gasnett_fatalerror("with a replaced hook");
}

static void test_fatal(void) {
  CHECK_FATAL(fatal_here, "value 42 is wrong", "fatal_here", "tools_debug.c");
  CHECK_FATAL(fatal_nopos, "no place for this");
  CHECK(!strstr(child_run(fatal_nopos).text, "tools_debug.c"));
  CHECK_FATAL(fatal_backtrace, "with a backtrace", mark);
  CHECK(!strstr(child_run(fatal_here).text, mark));
  CHECK_FATAL(fatal_replaced, "with a replaced hook", "replaced hook\n");
}

static int refuse(int fd) {
  (void)fd;
  return 1;
}

static void print_with_user(void) {
  gasnett_backtrace_init(NULL);
  if (gasnett_print_backtrace(STDERR_FILENO) != 0) _exit(3);
}
static void print_without_user(void) {
  gasnett_backtrace_user.fnp = refuse;
  if (gasnett_print_backtrace(STDERR_FILENO) != 0) _exit(3);
}

static void test_backtrace(void) {
  const struct child_end with = child_run(print_with_user);
  CHECK_EQ(with.code, 0);
  CHECK_STR(with.text, mark);
  const struct child_end without = child_run(print_without_user);
  CHECK_EQ(without.code, 0);
  CHECK_CMP(strlen(without.text), >, 20); /* the next mechanism took over */
  CHECK(!strstr(without.text, mark));
  CHECK(gasnett_print_backtrace_ifenabled != NULL);
}

/* In memory that a second process can write, as a debugger would. */
static volatile int *frozen;

static void freeze(void) {
  const pid_t debugger = fork();
  if (debugger == 0) {
    while (*frozen == 0) (void)gasnett_nsleep(1000000); /* freezing sets it */
    (void)gasnett_nsleep(100000000);
    *frozen = 0;
    _exit(0);
  }
  *frozen = 0;
  gasnett_freezeForDebuggerNow(frozen, "frozen");
  _exit(*frozen ? 3 : 5);
}

static void exit_hook(void) {
  _exit(9);
}

static void kill_process(void) {
  atexit(exit_hook);
  gasnett_killmyprocess(17);
}

static void test_freeze_and_kill(void) {
  frozen = mmap(NULL, sizeof *frozen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE((const void *)(uintptr_t)frozen != MAP_FAILED);
  const struct child_end end = child_run(freeze);
  CHECK_EQ(end.code, 5);
  CHECK(strstr(end.text, "frozen") != NULL);
  CHECK_EQ(child_run(kill_process).code, 17);
  gasnett_freezeForDebuggerErr(); /* not asked for: returns */
}

static volatile int caught;

static void catch_one(int sig) {
  caught = sig;
}

static void bad_signal(void) {
  gasnett_reghandler(12345, catch_one);
}

static void test_signals(void) {
  CHECK(gasnett_reghandler(SIGUSR1, catch_one) == SIG_DFL);
  raise(SIGUSR1);
  CHECK_EQ(caught, SIGUSR1);
  CHECK(gasnett_reghandler(SIGUSR1, SIG_IGN) == catch_one);
  caught = 0;
  raise(SIGUSR1);
  CHECK_EQ(caught, 0);
  CHECK(gasnett_reghandler(SIGUSR1, SIG_DFL) == SIG_IGN);
  CHECK_FATAL(bad_signal, "gasnett_reghandler(12345)");
  CHECK_STR(gasnett_signame_fromval(SIGSEGV), "SIGSEGV");
  CHECK_STR(gasnett_signame_fromval(SIGUSR2), "SIGUSR2");
  CHECK_PTR(gasnett_signame_fromval(0), NULL);
  CHECK_PTR(gasnett_signame_fromval(9999), NULL);
}

int main(void) {
  test_fatal();
  test_backtrace();
  test_freeze_and_kill();
  test_signals();
  return check_done();
}
