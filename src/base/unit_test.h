/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For unit tests only: TEST(name) { ... } lists itself; assert_cmp(a, <, b) prints both numbers.
 *
 * Owns: unit_tests, the list of the program's tests in the order of their definition. Included by
 * x_test.c instead of cmocka.h, whose asserts of (in)equality print both values already. Its main
 * calls unit_run. Calls: cmocka. Invariants: assert_cmp evaluates each argument once.
 */
#ifndef TMB_BASE_UNIT_TEST_H
#define TMB_BASE_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* cmocka passes over empty entries. */
static struct CMUnitTest unit_tests[64];

/* Defines and lists a test; `before` and `after` run around it. */
#define TEST_BETWEEN(name, before, after)                             \
 static void name(void **state);                                      \
 __attribute__((constructor)) static void name##_lists_itself(void) { \
  unit_add((struct CMUnitTest){#name, name, before, after, NULL});    \
 }                                                                    \
 static void name(__attribute__((unused)) void **state)

#define TEST(name) TEST_BETWEEN(name, NULL, NULL)

static inline void unit_add(struct CMUnitTest test) {
  size_t i = 0;
  while (i < sizeof unit_tests / sizeof *unit_tests && unit_tests[i].test_func) i++;
  if (i == sizeof unit_tests / sizeof *unit_tests) abort();
  unit_tests[i] = test;
}

/* Runs all tests between `before` and `after`, which may be NULL. Returns how many failed. */
static inline int unit_run(CMFixtureFunction before, CMFixtureFunction after) {
  return cmocka_run_group_tests(unit_tests, before, after);
}

static inline const char *cmp_text_int(char *to, size_t bytes, long long value) {
  snprintf(to, bytes, "%lld", value);
  return to;
}

static inline const char *cmp_text_real(char *to, size_t bytes, double value) {
  snprintf(to, bytes, "%.17g", value);
  return to;
}

#define CMP_TEXT(to, value)        \
 _Generic((value), float           \
          : cmp_text_real, double  \
          : cmp_text_real, default \
          : cmp_text_int)(to, sizeof(to), value)

#define assert_cmp(a, op, b)                                                                    \
 do {                                                                                           \
  _Pragma("GCC diagnostic push");                                                               \
  _Pragma("GCC diagnostic ignored \"-Wsign-compare\"");                                         \
  __typeof__((a) + 0) cmp_a = (a);                                                              \
  __typeof__((b) + 0) cmp_b = (b);                                                              \
  char cmp_ta[32], cmp_tb[32];                                                                  \
  if (!(cmp_a op cmp_b))                                                                        \
   fail_msg("%s %s %s: %s, %s", #a, #op, #b, CMP_TEXT(cmp_ta, cmp_a), CMP_TEXT(cmp_tb, cmp_b)); \
  _Pragma("GCC diagnostic pop");                                                                \
 } while (0)

#endif
