/* SPDX-License-Identifier: BSD-3-Clause */
/* Types that no declaration has made known. */
#include <upc.h>

shared first_t x[THREADS];              /* error: the type 'first_t' is not declared */

void f(void) {
  second_t y = THREADS;                 /* error: the type 'second_t' is not declared */
}

void g(void) {
  shared third_t *p = 0;                /* error: the type 'third_t' is not declared */
}

void h(void) {
  static fourth_t z = MYTHREAD;         /* error: the type 'fourth_t' is not declared */
}

void i(shared fifth_t *q) {             /* error: the type 'fifth_t' is not declared */
}

struct s {
  shared sixth_t *r;                    /* error: the type 'sixth_t' is not declared */
};
