/* SPDX-License-Identifier: BSD-3-Clause */
/* check.h: what every UPC test uses. A failed check is reported and ends the job with status 1. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <upc.h>

#define CHECK(condition)                                                                \
 do {                                                                                   \
  if (!(condition)) {                                                                   \
   fprintf(stderr, "%s:%d: thread %d: failed: %s\n", __FILE__, __LINE__, (int)MYTHREAD, \
           #condition);                                                                 \
   upc_global_exit(1);                                                                  \
  }                                                                                     \
 } while (0)

#define CHECK_EQ(a, b)                                                                       \
 do {                                                                                        \
  const long long left = (long long)(a), right = (long long)(b);                             \
  if (left != right) {                                                                       \
   fprintf(stderr, "%s:%d: thread %d: failed: %s is %lld, %s is %lld\n", __FILE__, __LINE__, \
           (int)MYTHREAD, #a, left, #b, right);                                              \
   upc_global_exit(1);                                                                       \
  }                                                                                          \
 } while (0)

/* CHECK for conditions with commas. */
#define CK(...) CHECK((__VA_ARGS__))

#endif
