/* SPDX-License-Identifier: BSD-3-Clause */
/* C code whose variables and members are called like the qualifiers of UPC, as in Lua. */
/* ranks: 1 3 */
#include <upc_relaxed.h>
#include "check.h"

struct options {
  int strict, relaxed;
  struct {
    int shared;
  } in;
};

shared int strict total[THREADS];
strict shared int *where = total;

static int decode(const char *s, int strict) {
  if (strict && *s == 'x') return 1;
  return !strict ? 2 : strict + 1;
}

static int relaxed_one(int relaxed) {
  relaxed++;
  relaxed = relaxed > 3 ? relaxed - 1 : relaxed;
  return (relaxed);
}

int main(void) {
  struct options o = {.strict = 1, .relaxed = 2}, *p = &o;
  p->in.shared = 3;
  o.in.shared += p->strict;
  CHECK_EQ(o.in.shared + p->relaxed, 6);
  CHECK_EQ(decode("x", 1), 1);
  CHECK_EQ(decode("y", p->strict), 2);
  CHECK_EQ(relaxed_one(1), 2);
  total[MYTHREAD] = sizeof(int shared) + sizeof(shared int strict *) * 0;
  CHECK_EQ(where[MYTHREAD], 4);
  return 0;
}
