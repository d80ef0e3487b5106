/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* timeout: 60 */
/*
 * Marked regions: each rank's file is an array of the events in the order of the marks, names are
 * escaped, times do not run backwards; without TOMBOLO_TEST_TRACE_FILE nothing is written.
 */
#include "job.h"

#include <gasnetex_ext.h>
#include <stdio.h>
#include <unistd.h>

enum { FILE_BYTES = 1 << 16 };

static char pattern[512], path[512], text[FILE_BYTES];

/* Before init, so that the library sees it: the name, where % is the rank. */
static void name_file(void) {
  const char *dir = getenv("TMPDIR");
  snprintf(pattern, sizeof pattern, "%s/tmb_trace_%s_%%.json", dir ? dir : "/tmp",
           getenv("TOMBOLO_TRACE_TEST"));
  setenv("TOMBOLO_TEST_TRACE_FILE", pattern, 1);
}

static void read_file(void) {
  FILE *f = fopen(path, "r");
  REQUIRE(f != NULL);
  const size_t n = fread(text, 1, sizeof text - 1, f);
  text[n] = 0;
  fclose(f);
}

static void check_events(void) {
  static const char *const parts[] = {"[\n{\"name\":\"process_name\"",
                                      "\"name\":\"outer\",\"ph\":\"B\"",
                                      "\"name\":\"in \\\"quotes\\\"\\u000a\",\"ph\":\"B\"",
                                      "\"name\":\"here\",\"ph\":\"i\"",
                                      "\"ph\":\"E\"",
                                      "\"ph\":\"E\""};
  const char *at = text;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    const char *found = strstr(at, parts[i]);
    CHECK(found != NULL);
    if (found) at = found + 1;
  }
  double last = 0;
  for (at = text; (at = strstr(at, "\"ts\":")) != NULL; at += 5) {
    const double ts = atof(at + 5);
    CHECK_CMP(ts, >=, last);
    last = ts;
  }
  CHECK_CMP(last, >, 0);
}

int main(int argc, char **argv) {
  char id[32];
  if (!getenv("TOMBOLO_TRACE_TEST")) {
    snprintf(id, sizeof id, "%ld", (long)getppid()); /* the launcher: one per job */
    setenv("TOMBOLO_TRACE_TEST", id, 1);
  }
  name_file();
  unsetenv("TOMBOLO_TRACE_TEST");
  gexx_Trace_Mark("before init: ignored");
  job_start(&argc, &argv, 0, NULL, 0);
  gexx_Trace_Begin("outer");
  gexx_Trace_Begin("in \"quotes\"\n");
  gexx_Trace_Mark("here");
  gexx_Trace_End();
  gexx_Trace_End();
  fflush(NULL);
  const char *percent = strchr(pattern, '%');
  snprintf(path, sizeof path, "%.*s%u%s", (int)(percent - pattern), pattern, job.rank, percent + 1);
  read_file();
  check_events();
  unlink(path);
  return job_finish();
}
