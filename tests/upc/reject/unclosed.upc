/* SPDX-License-Identifier: BSD-3-Clause */
/* A brace is missing: one message, at the end. */
#include <upc.h>

shared int a[THREADS];

void f(void) {
  upc_forall (int i = 0; i < THREADS; i++; &a[i]) {
    a[i] = i;
}
/* error: the block that begins in line 7 is not closed */
