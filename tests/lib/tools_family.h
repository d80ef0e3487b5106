/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One test of an atomics family, for all six families and all modes. X: the family's prefix, T its
 * type, V its value type, MAX the largest value. Every operation is checked with every fence flag.
 */
#ifndef TMB_TOOLS_FAMILY_H
#define TMB_TOOLS_FAMILY_H

#include <gasnet_tools.h>

#include "check.h"

static const int family_flags[] = {GASNETT_ATOMIC_NONE,
                                   GASNETT_ATOMIC_RMB_PRE,
                                   GASNETT_ATOMIC_WMB_PRE,
                                   GASNETT_ATOMIC_MB_PRE,
                                   GASNETT_ATOMIC_RMB_POST,
                                   GASNETT_ATOMIC_WMB_POST,
                                   GASNETT_ATOMIC_MB_POST,
                                   GASNETT_ATOMIC_REL | GASNETT_ATOMIC_ACQ,
                                   GASNETT_ATOMIC_MB_PRE | GASNETT_ATOMIC_MB_POST,
                                   GASNETT_ATOMIC_RMB_POST_IF_TRUE,
                                   GASNETT_ATOMIC_RMB_POST_IF_FALSE,
                                   GASNETT_ATOMIC_REL | GASNETT_ATOMIC_ACQ_IF_TRUE,
                                   GASNETT_ATOMIC_REL | GASNETT_ATOMIC_ACQ_IF_FALSE};

#define FAMILY_TEST(X, T, V, MAX)                                           \
 static T X##static_value = X##init((V)7);                                  \
 static void X##ops(int flags) {                                            \
  T x = X##init(5);                                                         \
  int once = 0;                                                             \
  CHECK_EQ(X##read(&x, flags), 5);                                          \
  X##set(&x, 41, flags);                                                    \
  X##increment(&x, flags);                                                  \
  CHECK_EQ(X##read(&x, flags), 42);                                         \
  X##decrement(&x, flags);                                                  \
  CHECK_EQ(X##read(&x, flags), 41);                                         \
  CHECK_EQ(X##add(&x, 9, flags), 50);                                       \
  CHECK_EQ(X##subtract(&x, 8, flags), 42);                                  \
  CHECK_EQ(X##compare_and_swap(&x, 41, 1, flags), 0);                       \
  CHECK_EQ(X##read(&x, flags), 42);                                         \
  CHECK(X##compare_and_swap(&x, 42, 2, flags) != 0);                        \
  CHECK_EQ(X##swap(&x, 3, flags), 2);                                       \
  CHECK_EQ(X##decrement_and_test(&x, flags), 0);                            \
  CHECK_EQ(X##decrement_and_test(&x, flags), 0);                            \
  CHECK(X##decrement_and_test(&x, flags) != 0);                             \
  CHECK_EQ(X##decrement_and_test(&x, flags), 0); /* wraps */                \
  CHECK(X##read(&x, flags) == (MAX));                                       \
  CHECK(X##add(&x, 1, flags) == 0);                                         \
  CHECK(X##subtract(&x, 2, flags) == (MAX)-1);                              \
  CHECK(X##add(&x, (MAX), flags) == (MAX)-2);                               \
  X##set((once++, &x), (MAX), flags);                                       \
  CHECK(X##swap((once++, &x), 0, flags) == (MAX));                          \
  CHECK(X##compare_and_swap((once++, &x), 0, (MAX), flags) != 0);           \
  CHECK_EQ(once, 3); /* arguments are evaluated once */                     \
 }                                                                          \
 static void X##test(void) {                                                \
  CHECK_EQ(X##read(&X##static_value, 0), 7);                                \
  for (size_t i = 0; i < sizeof family_flags / sizeof family_flags[0]; i++) \
   X##ops(family_flags[i]);                                                 \
 }

FAMILY_TEST(gasnett_atomic_, gasnett_atomic_t, gasnett_atomic_val_t,
            (gasnett_atomic_val_t)GASNETT_ATOMIC_MAX)
FAMILY_TEST(gasnett_atomic32_, gasnett_atomic32_t, uint32_t, UINT32_MAX)
FAMILY_TEST(gasnett_atomic64_, gasnett_atomic64_t, uint64_t, UINT64_MAX)
FAMILY_TEST(gasnett_strongatomic_, gasnett_strongatomic_t, gasnett_atomic_val_t,
            (gasnett_atomic_val_t)GASNETT_ATOMIC_MAX)
FAMILY_TEST(gasnett_strongatomic32_, gasnett_strongatomic32_t, uint32_t, UINT32_MAX)
FAMILY_TEST(gasnett_strongatomic64_, gasnett_strongatomic64_t, uint64_t, UINT64_MAX)

/* Other types of the same width may be accessed as atomics. */
static void family_casts(void) {
  int32_t i32 = -5;
  float f32 = 1.0f;
  int64_t i64 = -5;
  double f64 = 1.0;
  uint32_t bits32;
  uint64_t bits64;
  CHECK_EQ((int32_t)gasnett_atomic32_add((gasnett_atomic32_t *)&i32, 7, 0), 2);
  CHECK_EQ(i32, 2);
  CHECK_EQ((int64_t)gasnett_atomic64_add((gasnett_atomic64_t *)&i64, 7, 0), 2);
  CHECK_EQ(i64, 2);
  f32 = 2.5f;
  bits32 = gasnett_atomic32_read((gasnett_atomic32_t *)&f32, 0);
  CHECK(memcmp(&bits32, &f32, sizeof f32) == 0);
  f64 = -2.5;
  bits64 = gasnett_atomic64_swap((gasnett_atomic64_t *)&f64, 0, 0);
  CHECK_EQ(bits64 >> 63, 1);
  CHECK(f64 == 0.0);
  struct {
    char pad;
    gasnett_atomic64_t wide;
  } natural;
  CHECK_EQ(sizeof(gasnett_atomic32_t), 4);
  CHECK_EQ(sizeof(gasnett_atomic64_t), 8);
  CHECK_EQ((char *)&natural.wide - &natural.pad, 8);
}

static void family_all(void) {
  gasnett_atomic_test();
  gasnett_atomic32_test();
  gasnett_atomic64_test();
  gasnett_strongatomic_test();
  gasnett_strongatomic32_test();
  gasnett_strongatomic64_test();
  family_casts();
  CHECK_EQ(gasnett_atomic_signed((gasnett_atomic_val_t)-3), -3);
  CHECK_EQ(gasnett_atomic_signed(GASNETT_ATOMIC_MAX), -1);
  CHECK(GASNETT_ATOMIC_MAX >= 0xffffff);
  CHECK((gasnett_atomic_sval_t)GASNETT_ATOMIC_SIGNED_MAX > 0);
  CHECK((gasnett_atomic_sval_t)GASNETT_ATOMIC_SIGNED_MIN < 0);
}

#endif
