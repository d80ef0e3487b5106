/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of base/fmt: parsers, formatters, edit distance (API 09 section 9).
 *
 * Owns: nothing. Run by ctest. Calls: base/fmt, base/error.
 * Invariants: a failed parse leaves its output untouched, which every refusal here checks.
 */

#include "base/error.h"
#include "base/fmt.h"
#include "base/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t UNTOUCHED = -123456789;

static void expect_int(const char *text, uint64_t unit, int64_t expected) {
  const char *const shown = text ? text : "(null)";
  int64_t value = UNTOUCHED;
  if (tmb_fmt_parse_int(text, unit, &value) != TMB_OK) fail_msg("\"%s\" was refused", shown);
  if (value != expected)
    fail_msg("\"%s\" gave %lld, expected %lld", shown, (long long)value, (long long)expected);
}

static void refuse_int(const char *text, uint64_t unit) {
  int64_t value = UNTOUCHED;
  if (tmb_fmt_parse_int(text, unit, &value) != TMB_E_ARG)
    fail_msg("\"%s\" was accepted as %lld", text, (long long)value);
  assert_int_equal(value, UNTOUCHED);
}

TEST(parses_plain_integers) {
  expect_int(NULL, 0, 0);
  expect_int("", 0, 0);
  expect_int("  ", 1024, 0);
  expect_int("42", 0, 42);
  expect_int("-42", 0, -42);
  expect_int("+7", 0, 7);
  expect_int(" 12 ", 0, 12);
  expect_int("010", 0, 10);
  expect_int("0x1F", 0, 31);
  expect_int("-0x10", 0, -16);
  expect_int("9223372036854775807", 0, INT64_MAX);
  expect_int("-9223372036854775808", 0, INT64_MIN);
  expect_int("0xffffffffffffffff", 0, -1);
}

TEST(refuses_malformed_integers) {
  static const char *const plain[] = {"abc",
                                      "1.5",
                                      "1 2",
                                      "0x",
                                      "0xg",
                                      "--1",
                                      "1KB",
                                      "-",
                                      "1e3",
                                      "+-1",
                                      "9223372036854775808",
                                      "0x1ffffffffffffffff",
                                      "-9223372036854775809"};
  static const char *const sizes[] = {"abc",
                                      "1.5.2",
                                      ".",
                                      "KB",
                                      "1XB",
                                      "1 K B",
                                      "--1",
                                      "1..",
                                      "8388608TB",
                                      "1e3",
                                      "9223372036854775808"};
  for (size_t i = 0; i < TMB_ARRAY_LEN(plain); i++) refuse_int(plain[i], 0);
  for (size_t i = 0; i < TMB_ARRAY_LEN(sizes); i++) refuse_int(sizes[i], 1);
}

TEST(parses_sizes) {
  expect_int("64", 1, 64);
  expect_int("64", 1024, 65536);
  expect_int("64B", 1024, 64);
  expect_int("64 KB", 1, 65536);
  expect_int("64kb", 1, 65536);
  expect_int("64K", 1, 65536);
  expect_int("64KiB", 1, 65536);
  expect_int("1.5GB", 1, 3ll << 29);
  expect_int("1.5", 1024, 1536);
  expect_int(".5MB", 1, 1 << 19);
  expect_int("0.1KB", 1, 102);
  expect_int("2TB", 1, 2ll << 40);
  expect_int("-2MB", 1, -(2ll << 20));
  expect_int("8388607TB", 1, 8388607ll << 40);
  expect_int("0x10", 1, 16);
  expect_int("0x10", 1024, 16384);
}

TEST(formats_numbers) {
  static const struct {
    int64_t value;
    bool mem;
    const char *text;
  } rows[] = {
      {0, false, "0"},
      {-65536, false, "-65536"},
      {0, true, "0 B"},
      {1, true, "1 B"},
      {1023, true, "1023 B"},
      {1024, true, "1 KB"},
      {1025, true, "1025 B"},
      {10239, true, "10239 B"},
      {10240, true, "10 KB"},
      {10241, true, "10 KB"},
      {65536, true, "64 KB"},
      {1 << 20, true, "1 MB"},
      {(1 << 20) + 1024, true, "1025 KB"},
      {10 << 20, true, "10 MB"},
      {3ll << 30, true, "3 GB"},
      {5ll << 40, true, "5 TB"},
      {-(64ll << 10), true, "-64 KB"},
      {1023ll << 40, true, "1023 TB"},
      {1ll << 50, true, "0x4000000000000"},
      {-(1ll << 50), true, "-0x4000000000000"},
      {INT64_MIN, true, "-0x8000000000000000"},
  };
  char buf[TMB_FMT_BYTES];
  for (size_t i = 0; i < TMB_ARRAY_LEN(rows); i++) {
    assert_ptr_equal(tmb_fmt_number(rows[i].value, buf, sizeof buf, rows[i].mem), buf);
    assert_string_equal(buf, rows[i].text);
  }
  char tiny[4];
  tmb_fmt_number(65536, tiny, sizeof tiny, true);
  assert_string_equal(tiny, "64 ");
}

TEST(formatted_sizes_parse_back) {
  char buf[TMB_FMT_BYTES];
  for (int shift = 0; shift < 63; shift++) {
    for (int64_t factor = 1; factor < 10 && factor <= INT64_MAX >> shift; factor++) {
      /* Exact for a multiple of the unit shown, which these are. */
      const int64_t value = factor << shift;
      expect_int(tmb_fmt_number(value, buf, sizeof buf, true), 1, value);
      expect_int(tmb_fmt_number(-value, buf, sizeof buf, true), 1, -value);
    }
  }
}

TEST(parses_doubles) {
  static const struct {
    const char *text;
    double value;
  } rows[] = {{"1.5", 1.5}, {"-1e4", -1e4}, {"3/8", 0.375}, {" 2 ", 2}, {"-1/4", -0.25}};
  static const char *const bad[] = {"", "x", "1/0", "1/", "/2", "1.5x", "1/2/3", "nan", "inf"};
  double value = 0;
  for (size_t i = 0; i < TMB_ARRAY_LEN(rows); i++) {
    assert_int_equal(tmb_fmt_parse_dbl(rows[i].text, &value), TMB_OK);
    if (value != rows[i].value) fail_msg("\"%s\" gave %g", rows[i].text, value);
  }
  for (size_t i = 0; i < TMB_ARRAY_LEN(bad); i++) {
    value = 77;
    if (tmb_fmt_parse_dbl(bad[i], &value) != TMB_E_ARG || value != 77)
      fail_msg("\"%s\" gave %g", bad[i], value);
  }
}

TEST(parses_booleans) {
  static const char *const yes[] = {"1", "y", "Y", "yes", "YES", "Yes", "true", "on", " 1 "};
  static const char *const no[] = {"0", "n", "N", "no", "NO", "false", "off"};
  static const char *const bad[] = {"", "2", "yep", "nope", "maybe", "1 0"};
  bool value;
  for (size_t i = 0; i < TMB_ARRAY_LEN(yes); i++) {
    value = false;
    assert_int_equal(tmb_fmt_parse_bool(yes[i], &value), TMB_OK);
    assert_true(value);
  }
  for (size_t i = 0; i < TMB_ARRAY_LEN(no); i++) {
    value = true;
    assert_int_equal(tmb_fmt_parse_bool(no[i], &value), TMB_OK);
    assert_false(value);
  }
  for (size_t i = 0; i < TMB_ARRAY_LEN(bad); i++)
    assert_int_equal(tmb_fmt_parse_bool(bad[i], &value), TMB_E_ARG);
}

TEST(parses_durations) {
  static const struct {
    const char *text;
    uint64_t ns;
  } rows[] = {{"10", 10000000000}, {"10s", 10000000000},   {"1.5 ms", 1500000},   {"7us", 7000},
              {"3ns", 3},          {"2min", 120000000000}, {"1h", 3600000000000}, {"0", 0}};
  static const char *const bad[] = {"", "-1s", "5parsec", "s", "1.2.3s"};
  uint64_t ns;
  for (size_t i = 0; i < TMB_ARRAY_LEN(rows); i++) {
    assert_int_equal(tmb_fmt_parse_duration(rows[i].text, 1000000000, &ns), TMB_OK);
    assert_int_equal(ns, rows[i].ns);
  }
  for (size_t i = 0; i < TMB_ARRAY_LEN(bad); i++)
    assert_int_equal(tmb_fmt_parse_duration(bad[i], 1000000000, &ns), TMB_E_ARG);
}

TEST(parses_segment_limits) {
  struct tmb_segsize s;
  assert_int_equal(tmb_fmt_parse_segsize("0.85/H", &s), TMB_OK);
  assert_cmp(s.fraction, ==, 0.85);
  assert_int_equal(s.bytes, 0);
  assert_true(s.per_host);
  assert_int_equal(tmb_fmt_parse_segsize("1.5GB/P", &s), TMB_OK);
  assert_cmp(s.fraction, ==, 0);
  assert_int_equal(s.bytes, 3ull << 29);
  assert_true(!s.per_host);
  assert_int_equal(tmb_fmt_parse_segsize("50%", &s), TMB_OK);
  assert_cmp(s.fraction, ==, 0.5);
  assert_int_equal(s.bytes, 0);
  assert_true(!s.per_host);
  assert_int_equal(tmb_fmt_parse_segsize("3/8/h", &s), TMB_OK);
  assert_cmp(s.fraction, ==, 0.375);
  assert_true(s.per_host);
  assert_int_equal(tmb_fmt_parse_segsize("65536", &s), TMB_OK);
  assert_int_equal(s.bytes, 65536);
  assert_cmp(s.fraction, ==, 0);
  assert_int_equal(tmb_fmt_parse_segsize("1", &s), TMB_OK);
  assert_cmp(s.fraction, ==, 1);
  static const char *const bad[] = {"", "/H", "0", "-1GB", "lots", "120%", "0%", "1GB/X", "%"};
  for (size_t i = 0; i < TMB_ARRAY_LEN(bad); i++) {
    if (tmb_fmt_parse_segsize(bad[i], &s) != TMB_E_ARG) fail_msg("\"%s\" was accepted", bad[i]);
  }
}

TEST(finds_ranks_in_lists) {
  static const struct {
    const char *list;
    uint32_t rank;
    int expected;
  } rows[] = {{NULL, 5, 1},          {"", 5, 1},          {"*", 5, 1},
              {"0,2-4,6", 3, 1},     {"0,2-4,6", 5, 0},   {"0,2-4,6", 6, 1},
              {" 1 , 3 - 5 ", 4, 1}, {"7", 8, 0},         {"4-2", 3, TMB_E_ARG},
              {"1,", 1, TMB_E_ARG},  {"a", 1, TMB_E_ARG}, {"1;2", 1, TMB_E_ARG}};
  for (size_t i = 0; i < TMB_ARRAY_LEN(rows); i++)
    assert_int_equal(tmb_fmt_rank_listed(rows[i].list, rows[i].rank), rows[i].expected);
}

TEST(formats_for_people) {
  char buf[TMB_FMT_BYTES];
  assert_string_equal(tmb_fmt_bytes(0, buf, sizeof buf), "0 B");
  assert_string_equal(tmb_fmt_bytes(1023, buf, sizeof buf), "1023 B");
  assert_string_equal(tmb_fmt_bytes(1536, buf, sizeof buf), "1.50 KB");
  assert_string_equal(tmb_fmt_bytes(25276514304, buf, sizeof buf), "23.5 GB");
}

TEST(measures_edit_distance) {
  assert_int_equal(tmb_fmt_edit_distance("", ""), 0);
  assert_int_equal(tmb_fmt_edit_distance("abc", ""), 3);
  assert_int_equal(tmb_fmt_edit_distance("", "abc"), 3);
  assert_int_equal(tmb_fmt_edit_distance("kitten", "sitting"), 3);
  assert_int_equal(tmb_fmt_edit_distance("GASNET_QUIET", "gasnet_quiet"), 0);
  assert_int_equal(tmb_fmt_edit_distance("GASNET_QUEIT", "GASNET_QUIET"), 1);
  assert_int_equal(tmb_fmt_edit_distance("abcd", "badc"), 2);
  char longer[200];
  memset(longer, 'a', sizeof longer - 1);
  longer[sizeof longer - 1] = '\0';
  assert_int_equal(tmb_fmt_edit_distance(longer, ""), 63);
}

TEST(error_codes_are_unique) {
  static const int codes[] = {
#define TMB_ERROR(name, value, text, remedy) TMB_##name,
#include "base/error.def"
#undef TMB_ERROR
  };
  for (size_t i = 0; i < TMB_ARRAY_LEN(codes); i++) {
    assert_cmp(codes[i], <, 0);
    assert_string_not_equal(tmb_error_text(codes[i]), "unknown error");
    assert_true(*tmb_error_remedy(codes[i]));
    for (size_t j = 0; j < i; j++) assert_int_not_equal(codes[i], codes[j]);
  }
  assert_string_equal(tmb_error_text(TMB_OK), "success");
  assert_string_equal(tmb_error_text(-9999), "unknown error");
  assert_string_equal(tmb_error_name(TMB_E_NOMEM), "TMB_E_NOMEM");
  assert_string_equal(tmb_error_name(-9999), "unknown");
}

TEST(writes_texts_of_json) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *f = open_memstream(&text, &bytes);
  assert_non_null(f);
  tmb_fmt_json(f, "a\"b\\c\n\x7f \xc3\xa9 \xff");
  fclose(f);
  assert_string_equal(text, "\"a\\\"b\\\\c\\u000a\\u007f \xc3\xa9 \\ufffd\"");
  free(text);
}

int main(void) {
  return unit_run(NULL, NULL);
}
