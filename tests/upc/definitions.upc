/* SPDX-License-Identifier: BSD-3-Clause */
/* Structures with pointers-to-shared that are defined where a type is named; compiled without a
 * warning, also where a loop's element is a pointer that is called for. */
#include "check.h"
#include <stddef.h>
#include <upc.h>

shared int s;
static int bytes = sizeof(struct { shared int *p; char c[100]; });
enum { EIGHT = sizeof(union { shared void *q; int i; }) };
upc_lock_t *shared locks[7 * THREADS];

static void names(void) {
  void *v = &(struct named { int a; shared int *b; }){3, &s};
  CHECK(((struct named *)v)->b == &s);
  CK((struct { shared int *p; int k; }){&s, 4}.k == 4);
  CHECK(bytes >= 108 && EIGHT >= 8);
  CHECK(sizeof(struct { shared int *p; } [3]) == 3 * sizeof(shared int *));
  CHECK(_Alignof(struct { shared int *p; }) == _Alignof(shared int *));
  __typeof__(struct { shared int *x; }) t = {&s};
  CHECK(t.x == &s);
  shared[] struct cell { int v; shared[] struct cell *next; } *head = upc_alloc(sizeof(struct cell));
  head->next = NULL;
  for (shared[] struct cell *c = head; c; c = c->next) c->v = 1;
  CHECK(head->v == 1);
}

int main(void) {
  int i;
  names();
  upc_forall (i = 0; i < 7 * THREADS; i++; i) locks[i] = upc_global_lock_alloc();
  upc_barrier;
  for (i = 0; i < 7 * THREADS; i++) CHECK(locks[i] != NULL);
  return 0;
}
