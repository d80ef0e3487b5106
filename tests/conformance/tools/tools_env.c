/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* Environment and numbers of the tools (API reference 09, section 9): values, reports, errors. */
#include <gasnet_tools.h>
#include <signal.h>

#include "tools_child.h"

extern char **environ;

#define KB ((int64_t)1024)
#define MB (KB * 1024)
#define GB (MB * 1024)
#define TB (GB * 1024)

static void test_format(void) {
  static const struct {
    int64_t value;
    int is_mem;
    const char *text;
  } row[] = {
      {0, 0, "0"},
      {-1, 0, "-1"},
      {INT64_MAX, 0, "9223372036854775807"},
      {INT64_MIN, 0, "-9223372036854775808"},
      {65536, 0, "65536"},
      {0, 1, "0 B"},
      {1, 1, "1 B"},
      {1023, 1, "1023 B"},
      {KB, 1, "1 KB"},
      {KB + 1, 1, "1025 B"},
      {9 * KB + 1, 1, "9217 B"},
      {10 * KB, 1, "10 KB"},
      {10 * KB + 1, 1, "10 KB"},
      {64 * KB, 1, "64 KB"},
      {-64 * KB, 1, "-64 KB"},
      {MB, 1, "1 MB"},
      {9 * MB + KB, 1, "9217 KB"},
      {3 * GB, 1, "3 GB"},
      {TB, 1, "1 TB"},
      {1023 * TB, 1, "1023 TB"},
      {1024 * TB, 1, "0x4000000000000"},
  };
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    char buf[32];
    CHECK_PTR(gasnett_format_number(row[i].value, buf, sizeof buf, row[i].is_mem), buf);
    CHECK_STR(buf, row[i].text);
  }
  char small[4] = "zzz";
  gasnett_format_number(123456, small, sizeof small, 0);
  CHECK_EQ(small[3], '\0');
}

static void test_parse(void) {
  static const struct {
    const char *text;
    uint64_t unit;
    int64_t value;
  } row[] = {
      {NULL, 0, 0},
      {"", 0, 0},
      {NULL, 1024, 0},
      {"", 1, 0},
      {"42", 0, 42},
      {"-42", 0, -42},
      {"+7", 0, 7},
      {"0x1F", 0, 31},
      {"0x1f", 1, 31},
      {"64 KB", 1, 64 * KB},
      {"64KB", 1, 64 * KB},
      {"64K", 1, 64 * KB},
      {"1.5MB", 1, 3 * MB / 2},
      {"2 GB", 1, 2 * GB},
      {"1TB", 1, TB},
      {"3", 1024, 3 * KB},
      {"0.5", 1048576, MB / 2},
      {"5 B", 1024, 5},
      {"16mb", 1, 16 * MB},
  };
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    const int64_t got = gasnett_parse_int(row[i].text, row[i].unit);
    if (got != row[i].value)
      check_fail(__FILE__, __LINE__, "parse_int(%s, %" PRIu64 ") = %" PRId64 ", not %" PRId64,
                 row[i].text ? row[i].text : "NULL", row[i].unit, got, row[i].value);
    check_count(1);
  }
  /* What format_number writes exactly, parse_int reads back. */
  uint64_t state = test_seed();
  for (int i = 0; i < 1000; i++) {
    char buf[32];
    const int64_t value = (int64_t)rng_below(&state, 1000) << (10 * rng_below(&state, 5));
    CHECK_EQ(gasnett_parse_int(gasnett_format_number(value, buf, sizeof buf, 1), 1), value);
    CHECK_EQ(gasnett_parse_int(gasnett_format_number(-value, buf, sizeof buf, 0), 0), -value);
  }
}

static void test_getenv(void) {
  CHECK_PTR(gasnett_getenv("TOOLS_TEST_A"), NULL);
  CHECK_STR(gasnett_getenv_withdefault("TOOLS_TEST_A", "fallback"), "fallback");
  CHECK_EQ(gasnett_getenv_yesno_withdefault("TOOLS_TEST_A", 1), 1);
  CHECK_EQ(gasnett_getenv_yesno_withdefault("TOOLS_TEST_A", 0), 0);
  CHECK_EQ(gasnett_getenv_int_withdefault("TOOLS_TEST_A", -3, 0), -3);
  CHECK(gasnett_getenv_dbl_withdefault("TOOLS_TEST_A", 2.5) == 2.5);
  static const struct {
    const char *text;
    int value;
  } yesno[] = {{"y", 1}, {"Y", 1}, {"yes", 1}, {"YES", 1}, {"yEs", 1}, {"1", 1},
               {"n", 0}, {"N", 0}, {"no", 0},  {"NO", 0},  {"0", 0}};
  for (size_t i = 0; i < sizeof yesno / sizeof yesno[0]; i++) {
    gasnett_setenv("TOOLS_TEST_B", yesno[i].text);
    CHECK_EQ(gasnett_getenv_yesno_withdefault("TOOLS_TEST_B", !yesno[i].value), yesno[i].value);
  }
  gasnett_setenv("TOOLS_TEST_A", "12KB");
  CHECK_STR(gasnett_getenv("TOOLS_TEST_A"), "12KB");
  CHECK_EQ(gasnett_getenv_int_withdefault("TOOLS_TEST_A", 0, 1), 12 * KB);
  static const struct {
    const char *text;
    double value;
  } dbl[] = {{"1.5", 1.5}, {"-1e4", -1e4}, {"3/8", 0.375}, {"0", 0.0}};
  for (size_t i = 0; i < sizeof dbl / sizeof dbl[0]; i++) {
    gasnett_setenv("TOOLS_TEST_A", dbl[i].text);
    CHECK(gasnett_getenv_dbl_withdefault("TOOLS_TEST_A", 99.0) == dbl[i].value);
  }
  gasnett_unsetenv("TOOLS_TEST_A");
  CHECK_PTR(gasnett_getenv("TOOLS_TEST_A"), NULL);
}

static void bad_int(void) {
  gasnett_parse_int("12 parsecs", 1);
}
static void bad_hex(void) {
  gasnett_parse_int("0xZZ", 0);
}
static void bad_suffix(void) {
  gasnett_parse_int("12KB", 0);
}
static void bad_env_int(void) {
  gasnett_setenv("TOOLS_TEST_C", "many");
  gasnett_getenv_int_withdefault("TOOLS_TEST_C", 0, 0);
}
static void bad_env_yesno(void) {
  gasnett_setenv("TOOLS_TEST_C", "perhaps");
  gasnett_getenv_yesno_withdefault("TOOLS_TEST_C", 0);
}
static void bad_env_dbl(void) {
  gasnett_setenv("TOOLS_TEST_C", "1.5x");
  gasnett_getenv_dbl_withdefault("TOOLS_TEST_C", 0);
}

static void test_errors(void) {
  CHECK_FATAL(bad_int, "12 parsecs");
  CHECK_FATAL(bad_hex, "0xZZ");
  CHECK_FATAL(bad_suffix, "12KB");
  CHECK_FATAL(bad_env_int, "TOOLS_TEST_C", "many");
  CHECK_FATAL(bad_env_yesno, "TOOLS_TEST_C", "perhaps");
  CHECK_FATAL(bad_env_dbl, "TOOLS_TEST_C", "1.5x");
}

/* Leaves the job, whose launcher's variables hold reports back until the rank is known. */
static void leave_job(void) {
  for (char **entry = environ; *entry;) {
    char name[128];
    const size_t len = strcspn(*entry, "=");
    if (strncmp(*entry, "TOMBOLO_BOOT_", 13) == 0 && len < sizeof name) {
      memcpy(name, *entry, len);
      name[len] = '\0';
      unsetenv(name);
      entry = environ;
    } else {
      entry++;
    }
  }
}

static void report(void) {
  leave_job();
  gasnett_setenv("GASNET_VERBOSEENV", "1");
  if (!gasnett_verboseenv()) _exit(3);
  gasnett_setenv("TOOLS_TEST_SET", "17");
  for (int i = 0; i < 3; i++) gasnett_getenv_int_withdefault("TOOLS_TEST_SET", 5, 0);
  gasnett_getenv_yesno_withdefault("TOOLS_TEST_DFLT", 1);
  gasnett_envint_display("TOOLS_TEST_SHOWN_INT", 128 * KB, 0, 1);
  gasnett_envstr_display("TOOLS_TEST_SHOWN_STR", "a text", 1);
  gasnett_envdbl_display("TOOLS_TEST_SHOWN_DBL", 0.25, 0);
}

static void silent(void) {
  leave_job();
  gasnett_setenv("GASNET_VERBOSEENV", "0");
  if (gasnett_verboseenv()) _exit(3);
  gasnett_getenv_int_withdefault("TOOLS_TEST_SET", 5, 0);
  gasnett_envint_display("TOOLS_TEST_SHOWN_INT", 128 * KB, 0, 1);
}

static int occurrences(const char *text, const char *word) {
  int n = 0;
  while ((text = strstr(text, word)) != NULL) n++, text++;
  return n;
}

static void test_reports(void) {
  struct child_end end = child_run(report);
  CHECK_EQ(end.code, 0);
  CHECK_EQ(occurrences(end.text, "TOOLS_TEST_SET"), 1);
  CHECK_EQ(occurrences(end.text, "17"), 1);
  CHECK_EQ(occurrences(end.text, "TOOLS_TEST_DFLT"), 1);
  CHECK_EQ(occurrences(end.text, "TOOLS_TEST_SHOWN_INT"), 1);
  CHECK_EQ(occurrences(end.text, "128 KB"), 1);
  CHECK_EQ(occurrences(end.text, "a text"), 1);
  CHECK_EQ(occurrences(end.text, "0.25"), 1);
  end = child_run(silent);
  CHECK_EQ(end.code, 0);
  CHECK_STR(end.text, "");
}

int main(void) {
  test_format();
  test_parse();
  test_errors();
  test_reports();
  test_getenv();
  return check_done();
}
