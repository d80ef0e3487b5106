/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of the words for a source line.
 *
 * Owns: a folder with an addr2line that prints a given answer. Run by ctest. Calls:
 * boot/explain/source.h. Invariants: the folder is removed; PATH is this program's alone.
 */
#define _GNU_SOURCE
#include "base/config.h"
#include "base/unit_test.h"
#include "boot/explain/source.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/tmb-source-XXXXXX";
static char tool[64];

static int before(void **state) {
  (void)state;
  memcpy(folder + sizeof folder - 7, "XXXXXX", 6);
  if (!mkdtemp(folder)) return -1;
  snprintf(tool, sizeof tool, "%s/addr2line", folder);
  tmb_env_set("PATH", folder);
  return 0;
}

static int after(void **state) {
  (void)state;
  unlink(tool);
  return rmdir(folder);
}

/* The words where addr2line prints an answer, in which \n is a line's end. */
static const char *words_for(const char *answer) {
  static char words[TMB_SEEN_SOURCE];
  FILE *f = fopen(tool, "w");
  assert_non_null(f);
  fprintf(f, "#!/bin/sh\nprintf '%s'\n", answer);
  fclose(f);
  chmod(tool, 0700);
  tmb_source_words("/nowhere/a clone/ring", 0x1235, words);
  return words;
}

TEST_BETWEEN(words_name_file_and_line, before, after) {
  assert_string_equal(words_for("exchange\\n/home/a/ring.c:12\\n"), "ring.c:12 (in exchange)");
  assert_string_equal(words_for("exchange.0\\n/home/a/ring.c:12 (discriminator 3)\\n"),
                      "ring.c:12 (in exchange)");
  assert_string_equal(words_for("MAIN__\\n/home/a/ring.f90:7\\n"), "ring.f90:7");
}

TEST_BETWEEN(words_of_a_folder_with_a_blank, before, after) {
  assert_string_equal(words_for("exchange\\n/tmp/a clone/ring.c:12\\n"), "ring.c:12 (in exchange)");
  assert_string_equal(words_for("exchange\\n/tmp/a clone/a ring.c:12 (discriminator 3)\\n"),
                      "a ring.c:12 (in exchange)");
}

TEST_BETWEEN(words_without_debug_information, before, after) {
  assert_string_equal(words_for("exchange\\n??:?\\n"), "exchange");
  assert_string_equal(words_for("??\\n??:0\\n"), "ring+0x1235");
}

int main(void) {
  return unit_run(NULL, NULL);
}
