/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of `tombolo explain`: every number of the table is explained, and other numbers are
 * refused.
 *
 * Owns: nothing. Run by ctest. Calls: tool_explain_main in child processes.
 */

#include "base/capture_test.h"
#include "base/messages/messages.h"
#include "base/unit_test.h"
#include "tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct capture cap;

static void explain(void *arg) {
  char *argv[] = {(char[]){"tombolo explain"}, arg, NULL};
  const int rc = tool_explain_main(2, argv);
  fflush(stdout);
  _exit(rc);
}

static void expect(char *arg, int code, const char *text) {
  capture_run(&cap, explain, arg);
  if (cap.status != code << 8 || !strstr(cap.text, text))
    fail_msg("explain %s: status %x, wanted code %d with `%s`:\n%s", arg, (unsigned)cap.status,
             code, text, cap.text);
}

TEST(numbers_are_explained) {
  static const unsigned numbers[] = {
#define TMB_MESSAGES(family, files, title, cause, remedy, example)
#define TMB_MESSAGE(number, text)      number,
#define TMB_MESSAGE_PART(number, text) number,
#define TMB_MESSAGE_CODE(number, text) number,
#define TMB_MESSAGE_OLD(number, text)  number,
#include "base/messages/messages.def"
  };
  const size_t count = sizeof numbers / sizeof *numbers;
  for (size_t i = 0; i < count; i += 29) { /* a few: each is a process */
    char arg[16];
    snprintf(arg, sizeof arg, "TMB-%04u", numbers[i]);
    expect(arg, 0, arg);
    expect(arg, 0, "\nWhat to do\n    ");
  }
}

/* A message with advice of its own, and one with that of its family. */
TEST(advice_is_that_of_the_message) {
  expect((char[]){"321"}, 0, "tombolo run -n 4 ./prog");
  expect((char[]){"321"}, 0, "The program has no slash in its name");
  expect((char[]){"TMB-2103"}, 0, "follows a null pointer to shared");
  expect((char[]){"2044"}, 0, "TMB-2044: coarray Fortran");
  expect((char[]){"302"}, 0, "`tombolo run` or its agents could not start a rank");
}

TEST(forms_of_a_number) {
  expect((char[]){"107"}, 0, "TMB-0107: settings");
  expect((char[]){"[TMB-0107]"}, 0, "setting NAME=");
  expect((char[]){"TMB-0099"}, TOOL_EXIT_FAILED, "there is no message TMB-0099");
  expect((char[]){"why"}, TOOL_EXIT_USAGE, "no number of a message");
  expect((char[]){"TMB-107x"}, TOOL_EXIT_USAGE, "no number of a message");
  expect((char[]){"--list"}, 0, "TMB-0002");
}

TEST(formats_have_numbers) {
  assert_int_equal(tmb_message_number("out of memory for %u ranks"), 1);
  assert_int_equal(tmb_message_number("run: %s"), 108);
  assert_int_equal(tmb_message_number("%s"), 0);
}

int main(void) {
  return unit_run(NULL, NULL);
}
