/* SPDX-License-Identifier: BSD-3-Clause */
/* Check of the programs in this folder, which use nothing but an installation: the code of main is
 * `failures`. */
#ifndef TMB_INSTALL_EXPECT_H
#define TMB_INSTALL_EXPECT_H

#include <stdio.h>

static int failures;

#define EXPECT(cond)                                          \
 do {                                                         \
  if (!(cond)) {                                              \
   failures++;                                                \
   fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
  }                                                           \
 } while (0)

#endif
