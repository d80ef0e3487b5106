/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of base/log: message forms, the fatal path and its hooks (API 00 section 11).
 *
 * Owns: nothing. Run by ctest. Calls: base/log, base/config.
 * Invariants: each case runs in a child process, because a fatal error ends it.
 */

#include "base/atomic.h"
#include "base/capture_test.h"
#include "base/config.h"
#include "base/log.h"
#include "base/unit_test.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

static struct capture cap;

static void run(void (*fn)(void *), void *arg) {
  assert_int_equal(capture_run(&cap, fn, arg), 0);
}

static void expect(const char *part) {
  if (!strstr(cap.text, part)) fail_msg("\"%s\" is not in: %s", part, cap.text);
}

static void say_things(void *arg) {
  (void)arg;
  errno = 7;
  tmb_warn("watch %d\n", 1);
  if (errno != 7) _exit(3);
  tmb_log_set_rank(3);
  tmb_warn("watch %s", "two");
  tmb_print("plain");
  tmb_print("out of memory for %d\n", 3);
  tmb_print("out of memory for %s\n", "x [TMB-0322]");
  tmb_info("hidden");
  tmb_cfg_override(TMB_CFG_VERBOSE, "1", "test", true);
  tmb_info("shown");
  if (tmb_log_rank() != 3) _exit(4);
}

TEST(messages_show_the_rank) {
  unsetenv("TOMBOLO_VERBOSE");
  run(say_things, NULL);
  assert_true(capture_ended_well(&cap));
  assert_string_equal(cap.text, "tombolo: warning: watch 1\n"
                                "tombolo: rank 3: warning: watch two\n"
                                "tombolo: rank 3: plain\n"
                                "tombolo: rank 3: out of memory for 3 [TMB-0001]\n"
                                "tombolo: rank 3: out of memory for x [TMB-0322]\n"
                                "tombolo: rank 3: shown\n");
}

static void say_much(void *arg) {
  (void)arg;
  char text[20000];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  tmb_warn("%s", text);
  tmb_print("next");
}

TEST(long_messages_are_cut) {
  run(say_much, NULL);
  expect("xxx...\ntombolo: next\n");
  assert_cmp(strlen(cap.text), <, 5000);
}

static void die_plainly(void *arg) {
  (void)arg;
  printf("buffered");
  tmb_fatal("bad thing %d", 42);
}

static void die_with_rank(void *arg) {
  (void)arg;
  tmb_log_set_rank(6);
  tmb_fatal_at("func", "file.c", 12, "bad %s", "thing");
}

static void die_without_position(void *arg) {
  (void)arg;
  tmb_log_set_rank(1);
  tmb_fatal_nopos("no position");
}

static void die_of_a_bug(void *arg) {
  (void)arg;
  tmb_assert_cmp(2 + 2, ==, 5);
}

TEST(fatal_errors_say_who_and_where) {
  run(die_plainly, NULL);
  assert_true(capture_died_of(&cap, SIGABRT));
  expect("*** FATAL ERROR: in die_plainly() at ");
  expect("log_test.c:");
  expect(": bad thing 42\n");
  expect("buffered"); /* the streams were flushed */
  run(die_with_rank, NULL);
  assert_true(capture_died_of(&cap, SIGABRT));
  assert_string_equal(cap.text, "*** FATAL ERROR (proc 6): in func() at file.c:12: bad thing\n");
  run(die_without_position, NULL);
  assert_string_equal(cap.text, "*** FATAL ERROR (proc 1): no position\n");
  run(die_of_a_bug, NULL);
  expect("2 + 2 == 5 (4, 5)");
  expect("report");
}

static void freeze_hook(void) {
  tmb_print("freeze");
}

static int backtrace_hook(int fd) {
  tmb_print("backtrace to %d", fd);
  return 0;
}

static int dying_hook(int fd) {
  (void)fd;
  tmb_fatal_nopos("again");
}

static void die_with_hooks(void *arg) {
  tmb_freeze_hook = freeze_hook;
  tmb_backtrace_hook = *(bool *)arg ? dying_hook : backtrace_hook;
  tmb_fatal_nopos("first");
}

TEST(hooks_run_once_in_order) {
  bool recurse = false;
  run(die_with_hooks, &recurse);
  assert_string_equal(cap.text,
                      "*** FATAL ERROR: first\ntombolo: freeze\ntombolo: backtrace to 2\n");
  recurse = true;
  run(die_with_hooks, &recurse);
  assert_true(capture_died_of(&cap, SIGABRT));
  assert_string_equal(cap.text,
                      "*** FATAL ERROR: first\ntombolo: freeze\n*** FATAL ERROR: again\n");
}

static int second_started;

static void *die_second(void *arg) {
  (void)arg;
  tmb_store_rel(&second_started, 1);
  tmb_fatal_nopos("second");
}

/* The first thread's hook waits for the second one's fatal error, which must not end the process.
 */
static void slow_freeze(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, die_second, NULL);
  usleep(200000);
  tmb_print(tmb_load_acq(&second_started) ? "first thread goes on" : "second thread did not run");
}

static void die_on_two_threads(void *arg) {
  (void)arg;
  tmb_freeze_hook = slow_freeze;
  tmb_fatal_nopos("first");
}

TEST(a_second_thread_waits) {
  run(die_on_two_threads, NULL);
  assert_true(capture_died_of(&cap, SIGABRT));
  assert_string_equal(cap.text, "*** FATAL ERROR: first\n*** FATAL ERROR: second\n"
                                "tombolo: first thread goes on\n");
}

int main(void) {
  return unit_run(NULL, NULL);
}
