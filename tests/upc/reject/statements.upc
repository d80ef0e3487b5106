/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements that UPC forbids (6.6). */
#include <upc.h>

shared int a[THREADS];
struct s {
  int x;
} s;

void f(int *q) {
  upc_barrier q;                          /* error: is not an integer, but 'int *' */
  upc_notify s;                           /* error: is not an integer */
  upc_wait 1.5;
  upc_fence 1;                            /* error: upc_fence has no operand */
  upc_forall (int i = 0; i < 10; i++; q) { /* error: neither an integer nor a pointer to shared */
  }
  upc_forall (int i = 0; i < 10; i++; 1.5) { /* error: neither an integer nor a pointer to shared */
  }
  upc_forall (int i = 0; i < 10; i++; i) {
  }
  upc_forall (int i = 0; i < 10; i++; &a[i]) {
  }
  upc_forall (int i = 0; i < 10; i++; a) {
  }
  upc_forall (int i = 0; i < 10; i++; a[i]) {
  }
  upc_forall (;;; continue) {
    break;
  }
  upc_forall (;;;) {
    break;
  }
}

void forgotten(void) {
  upc_forall (int i = 0; i < 10; i++) { /* error: the affinity of upc_forall is missing */
    a[i] = i;
  }
  upc_barrier();                      /* error: upc_barrier is a statement, not a function */
  upc_notify();                       /* error: write 'upc_notify;' */
  upc_wait (3);
  upc_barier;                         /* error: 'upc_barier' is not declared: did you mean 'upc_barrier'? */
  int n = THREAD;                     /* error: did you mean 'THREADS'? */
}

void line_end(void) {
  upc_fence;
  int i = 0                           /* error: expected ';' behind '0' */
  upc_fence;
}

void g(void) {
  int v;
  __asm__("" : "=r"(v) : "r"(a[0]));
  __asm__("" : "=r"(a[0])); /* error: an output of asm cannot be a shared object */
}

void nowhere(void) {
  upc_fence;
  goto 3; /* error: expected the name of a label before '3' */
}

void unnamed(void) {
  upc_fence;
  void *label = &&; /* error: expected the name of a label before ';' */
}

#pragma upc stritc /* warning: '#pragma upc stritc' is unknown */
#pragma upc relaxed
void behind_pragmas(void) {}
