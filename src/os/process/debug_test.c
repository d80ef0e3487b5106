/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of signal names, backtraces and freezing (API 00 sections 11 and 13, 09 section 10).
 *
 * Owns: nothing. Run by ctest. Calls: os/process/debug.h, os/process/signals.h, base/log.
 * Invariants: each case that sets the environment runs in a child; the gdb case is skipped without
 * gdb or where ptrace is forbidden.
 */

#include "base/capture_test.h"
#include "base/config.h"
#include "base/log.h"
#include "base/unit_test.h"
#include "os/os.h"
#include "os/process/debug.h"
#include "os/process/signals.h"

#include <string.h>

static struct capture cap;

/* Settings of a child before it acts: pairs of name and value, NULL-terminated. */
struct deed {
  const char *env[9];
  void (*act)(void);
};

static void do_deed(void *arg) {
  const struct deed *d = arg;
  for (size_t i = 0; d->env[i]; i += 2) tmb_env_set(d->env[i], d->env[i + 1]);
  tmb_log_set_rank(2);
  tmb_cfg_init();
  d->act();
}

static void run(struct deed deed) {
  assert_int_equal(capture_run(&cap, do_deed, &deed), 0);
}

static void expect(const char *part) {
  if (!strstr(cap.text, part)) fail_msg("\"%s\" is not in: %s", part, cap.text);
}

static void refuse(const char *part) {
  if (strstr(cap.text, part)) fail_msg("\"%s\" is in: %s", part, cap.text);
}

TEST(signals_have_names) {
  assert_string_equal(tmb_os_signal_name(SIGSEGV), "SIGSEGV");
  assert_string_equal(tmb_os_signal_name(SIGABRT), "SIGABRT");
  assert_null(tmb_os_signal_name(0));
  assert_null(tmb_os_signal_name(-1));
  assert_null(tmb_os_signal_name(4096));
  assert_string_equal(tmb_os_signal_text(SIGKILL), "kill");
  assert_string_equal(tmb_os_signal_text(0), "unknown signal");
  for (int sig = 1; sig < 32; sig++) {
    const char *name = tmb_os_signal_name(sig);
    if (!name) fail_msg("signal %d has no name", sig);
    assert_int_equal(tmb_os_signal_number(name), sig);
    assert_int_equal(tmb_os_signal_number(name + 3), sig);
  }
  assert_int_equal(tmb_os_signal_number("sigsegv"), SIGSEGV);
  assert_int_equal(tmb_os_signal_number("segv"), SIGSEGV);
  assert_int_equal(tmb_os_signal_number("11"), 11);
  static const char *const bad[] = {"", "SIG", "foo", "0", "1000", "1x", "99999999999", "-9"};
  for (size_t i = 0; i < TMB_ARRAY_LEN(bad); i++)
    assert_int_equal(tmb_os_signal_number(bad[i]), -1);
}

TEST(signals_are_found_in_lists) {
  const char *list = "SIGSEGV, term,9";
  char word[16];
  assert_true(tmb_os_signal_listed(list, SIGSEGV));
  assert_true(tmb_os_signal_listed(list, SIGTERM));
  assert_true(tmb_os_signal_listed(list, SIGKILL));
  assert_false(tmb_os_signal_listed(list, SIGINT));
  assert_true(tmb_os_signal_listed("*", SIGINT));
  assert_false(tmb_os_signal_listed(NULL, SIGINT));
  assert_false(tmb_os_signal_listed("", SIGINT));
  assert_false(tmb_os_signal_list_bad(list, word, sizeof word));
  assert_false(tmb_os_signal_list_bad("*", word, sizeof word));
  assert_true(tmb_os_signal_list_bad("INT,bogus,TERM", word, sizeof word));
  assert_string_equal(word, "bogus");
}

static void print_if_enabled(void) {
  printf("rc %d\n", tmb_os_backtrace_ifenabled(STDOUT_FILENO));
}

static void die(void) {
  tmb_fatal("the end");
}

TEST(backtraces_obey_the_settings) {
  run((struct deed){{NULL}, print_if_enabled});
  assert_string_equal(cap.text, "rc 1\n");
  run((struct deed){{"GASNET_BACKTRACE", "1", "GASNET_BACKTRACE_NODES", "0-1,3", NULL},
                    print_if_enabled});
  assert_string_equal(cap.text, "rc 1\n");
  run((struct deed){{"GASNET_BACKTRACE", "1", "GASNET_BACKTRACE_NODES", "2", NULL},
                    print_if_enabled});
  expect("tombolo: rank 2: backtrace of process");
  expect("(EXECINFO)");
  expect("rc 0");
  run((struct deed){{"GASNET_BACKTRACE", "1", NULL}, die});
  assert_true(capture_died_of(&cap, SIGABRT));
  expect("*** FATAL ERROR (proc 2): in die()");
  expect("(EXECINFO)");
  run((struct deed){{NULL}, die});
  refuse("backtrace");
}

TEST(gdb_prints_functions) {
  if (system("gdb --version >/dev/null 2>&1") != 0) {
    print_message("skipped: no gdb\n");
    skip();
  }
  run((struct deed){{"GASNET_BACKTRACE", "1", "GASNET_BACKTRACE_TYPE", "GDB,EXECINFO", NULL}, die});
  assert_true(capture_died_of(&cap, SIGABRT));
  if (strstr(cap.text, "(EXECINFO)")) {
    print_message("skipped: gdb may not attach here\n");
    skip();
  }
  expect("(GDB)");
  expect("in die ()");
  expect("in _cmocka_run_group_tests ("); /* tail calls hide some of its callers */
}

static int user_works(int fd) {
  return dprintf(fd, "user backtrace\n") > 0 ? 0 : 1;
}

static int user_fails(int fd) {
  (void)fd;
  return 5;
}

static void print_with_user(void) {
  tmb_os_backtrace_add_user("MINE", user_works);
  tmb_os_debug_init();
  printf("rc %d\n", tmb_os_backtrace(STDOUT_FILENO));
  fflush(stdout);
  tmb_os_backtrace_add_user("MINE", user_fails);
  printf("rc %d\n", tmb_os_backtrace(STDOUT_FILENO));
}

static void print_without_user(void) {
  tmb_log_set_rank(0); /* the rank that reports what is left out */
  tmb_os_debug_init();
  printf("rc %d\n", tmb_os_backtrace(STDOUT_FILENO));
}

TEST(the_clients_mechanism_goes_first) {
  run((struct deed){{"GASNET_BACKTRACE_TYPE", "MINE,EXECINFO", NULL}, print_with_user});
  assert_true(capture_ended_well(&cap));
  expect("user backtrace\nrc 0\n");
  expect("(EXECINFO)");
  run((struct deed){{"GASNET_BACKTRACE_TYPE", "USER", NULL}, print_with_user});
  expect("user backtrace\nrc 0\nrc 1\n");
  run((struct deed){{"GASNET_BACKTRACE_TYPE", "MAGIC,EXECINFO", NULL}, print_without_user});
  assert_true(capture_ended_well(&cap));
  expect("GASNET_BACKTRACE_TYPE=\"MAGIC,EXECINFO\" is not available");
  expect("(EXECINFO)");
  expect("rc 0");
}

static void signal_and_survive(void) {
  tmb_os_debug_init();
  raise(SIGUSR2);
  puts("survived");
}

TEST(a_signal_prints_a_backtrace) {
  run((struct deed){{"GASNET_BACKTRACE_SIGNAL", "usr2", NULL}, signal_and_survive});
  assert_true(capture_ended_well(&cap));
  expect("(EXECINFO)");
  expect("survived");
  run((struct deed){{"GASNET_BACKTRACE_SIGNAL", "KILL", NULL}, signal_and_survive});
  assert_int_equal(WEXITSTATUS(cap.status), TMB_EXIT_SETTING);
  expect("GASNET_BACKTRACE_SIGNAL=\"KILL\"");
}

static volatile int flag;

/* Plays the debugger: releases the frozen process from a handler. */
static void release(int sig) {
  (void)sig;
  if (flag == 1) tmb_print("was frozen");
  flag = 0;
}

static void release_soon(void) {
  tmb_os_freeze_set_flag(&flag, "test_flag");
  signal(SIGALRM, release);
  alarm(1);
}

static void freeze_and_die(void) {
  release_soon();
  tmb_fatal("the end");
}

static void freeze_at_start(void) {
  release_soon();
  tmb_os_debug_init();
  puts("went on");
}

static void freeze_by_signal(void) {
  release_soon();
  tmb_os_debug_init();
  raise(SIGUSR1);
  puts("went on");
}

TEST(frozen_processes_wait_for_the_flag) {
  run((struct deed){{"GASNET_FREEZE_ON_ERROR", "1", NULL}, freeze_and_die});
  assert_true(capture_died_of(&cap, SIGABRT));
  expect("set var test_flag = 0");
  expect("gdb -p ");
  expect("was frozen");
  run((struct deed){{"GASNET_FREEZE", "1", NULL}, freeze_at_start});
  expect("was frozen");
  expect("went on");
  run((struct deed){{"GASNET_FREEZE_SIGNAL", "SIGUSR1", NULL}, freeze_by_signal});
  expect("was frozen");
  expect("went on");
}

int main(void) {
  return unit_run(NULL, NULL);
}
