/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For unit tests only: assert_cmp(a, <, b) compares two numbers and prints both when it fails.
 *
 * Owns: nothing. Included by x_test.c after cmocka.h, whose asserts of (in)equality print both
 * values already. Calls: cmocka's fail_msg. Invariants: each argument is evaluated once.
 */
#ifndef TMB_BASE_CMP_TEST_H
#define TMB_BASE_CMP_TEST_H

#include <stdio.h>

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
