/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of operations and types, as a program writes them, for messages.
 *
 * Called by functions that refuse one of them. Calls: libc. Invariants: a value without a name is
 * written as a number, in one buffer for all.
 */
#include "rt.h"

#include <stdio.h>

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof *(ARRAY))

static char number[32];

const char *rt_name_operation(unsigned long op) {
  static const char *const names[] = {
      "UPC_ADD",    "UPC_MULT",  "UPC_AND", "UPC_OR",  "UPC_XOR",
      "UPC_LOGAND", "UPC_LOGOR", "UPC_MIN", "UPC_MAX", "UPC_GET",
      "UPC_SET",    "UPC_CSWAP", "UPC_SUB", "UPC_INC", "UPC_DEC",
  };
  for (size_t bit = 0; bit < COUNT(names); bit++)
    if (op == 1UL << bit) return names[bit];
  snprintf(number, sizeof number, "%#lx", op);
  return number;
}

const char *rt_name_type(int type) {
  static const char *const names[] = {
      "",           "UPC_CHAR",  "UPC_UCHAR",  "UPC_SHORT",   "UPC_USHORT", "UPC_INT",
      "UPC_UINT",   "UPC_LONG",  "UPC_ULONG",  "UPC_LLONG",   "UPC_ULLONG", "UPC_INT8",
      "UPC_UINT8",  "UPC_INT16", "UPC_UINT16", "UPC_INT32",   "UPC_UINT32", "UPC_INT64",
      "UPC_UINT64", "UPC_FLOAT", "UPC_DOUBLE", "UPC_LDOUBLE", "UPC_PTS",
  };
  if (type > 0 && (size_t)type < COUNT(names)) return names[type];
  snprintf(number, sizeof number, "%d", type);
  return number;
}
