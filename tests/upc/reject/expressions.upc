/* SPDX-License-Identifier: BSD-3-Clause */
/* Expressions that UPC forbids (6.4). */
#include <upc.h>

shared int a[THREADS];
shared [2] int b[2 * THREADS];
shared [] int *indefinite;
shared void *generic;
struct hidden;
shared struct hidden *unknown, *unknown2;
int private_int, *private_pointer;
struct pair {
  int x, y : 3;
};
shared struct pair pairs[THREADS];
const shared int constant = 3;
extern shared int open_array[];
shared int **pointers;
shared [4] int **blocks;
int **privates;

void f(shared int *p, int *q) {
  p = q;                                  /* error: cannot become the pointer to shared */
  q = p;                                  /* error: becomes the private pointer */
  q = (int *)p;
  p = b;                                  /* warning: different block sizes need a cast */
  p = (shared int *)b;
  p = generic;
  generic = b;
  p = 0;
  p = NULL;
  p = (void *)0;
  p = (shared int *)q;                    /* error: a cast from 'int *' to the pointer to shared */
  p = (shared int *)private_int;          /* error: a cast from 'int' to the pointer to shared */
  private_int = (shared int)3;            /* error: a cast to the shared type */
  if (p == q) return;                     /* error: is compared with 'int *' */
  if (p == NULL || !p || p != 0) return;
  if (generic < generic) return;          /* error: incomplete type cannot be ordered */
  if (unknown > unknown2) return;         /* error: incomplete type cannot be ordered */
  if (unknown == unknown2) return;
  if (&a[1] < &b[1]) return;              /* error: different block sizes cannot be ordered */
  private_int = &a[1] - &b[1];            /* error: different block sizes cannot be subtracted */
  private_int = p - q;                    /* error: cannot be subtracted */
  generic++;                              /* error: no arithmetic on pointers to shared void */
  generic = generic + 1;                  /* error: no arithmetic on pointers to shared void */
  unknown = unknown + 1;                  /* error: no arithmetic on pointers to the incomplete type */
  private_int = unknown - unknown2;       /* error: no arithmetic on pointers to the incomplete type */
  private_int = *generic;                 /* error: cannot be dereferenced */
  private_int = generic[0];               /* error: cannot be indexed */
  p = p * 2;                              /* error: has a pointer to shared as its operand */
  MYTHREAD = 3;                           /* error: cannot be changed */
  THREADS++;                              /* error: cannot be changed */
  q = (int *)&MYTHREAD;                   /* error: the address of MYTHREAD */
  private_int = upc_blocksizeof(private_int); /* error: is not a shared type */
  private_int = upc_elemsizeof(shared void);  /* error: incomplete type */
  private_int = upc_localsizeof(*unknown);    /* error: incomplete type */
  private_int = upc_blocksizeof(shared struct hidden); /* error: incomplete type: 'shared struct hidden' has no definition */
  private_int = upc_localsizeof(open_array);  /* error: incomplete type */
  private_int = sizeof(open_array);           /* error: incomplete type */
  private_int = sizeof(pairs[0].y);           /* error: is applied to a bit-field */
  private_int = upc_elemsizeof(pairs[0].y);   /* error: is applied to a bit-field */
  private_int = upc_blocksizeof(open_array);
  pointers = privates;                    /* error: which needs a cast */
  privates = pointers;                    /* error: which needs a cast */
  pointers = blocks;                      /* warning: different block sizes need a cast */
  switch (p) {                            /* error: the value of switch is the pointer to shared */
  }
  pointers = (shared int **)privates;
  generic = pointers[0];
  pointers = NULL;
  void *any = pointers;
  pointers = any;
  private_int = pairs[0].z;               /* error: has no member 'z' */
  private_int = unknown->x;               /* error: is no complete structure */
  q = (int *)&pairs[0].y;                 /* error: the address of a bit-field */
  p = p + p;                              /* error: the offset of a pointer to shared is not an integer */
  p = p + 1.5;                            /* error: the offset of a pointer to shared is not an integer */
  p += p;                                 /* error: the offset of a pointer to shared is not an integer */
  private_int = a[p];                     /* error: the offset of a pointer to shared is not an integer */
  private_int = q[p];                     /* error: the offset of a pointer to shared is not an integer */
  private_int += p;                       /* error: operator += has a pointer to shared */
  q = q + p;                              /* error: the offset of a pointer to shared is not an integer */
  private_int = 1 - p;                    /* error: is subtracted from an integer */
  private_int = ~p;                       /* error: operator ~ has a pointer to shared */
  private_int = (double)p;                /* error: a cast from the pointer to shared */
  constant = 4;                           /* error: a const shared object is changed */
  p = private_int ? p : q;                /* error: cannot become the pointer to shared */
  private_int = p;                        /* error: which needs a cast */
  f(q, q);                                /* error: argument 1 of 'f': 'int *' cannot become */
  f(p, p);                                /* error: becomes the private pointer */
}

shared int *g(int *q) {
  return q;                               /* error: return: 'int *' cannot become */
}

/* Names of the library whose declaration is missing. */
void h(shared int *p) {
  bupc_mempush_async(p, &private_int, 4); /* error: 'bupc_mempush_async' is not declared: no public text */
  generic = (upc_sem_t *)p;               /* error: 'upc_sem_t' is not declared: #define BUPC_USE_UPC_NAMESPACE */
}

void i(upc_file_t *file, int n);          /* error: 'upc_file_t' is not declared: #include <upc_io.h> */
upc_atomicdomain_t *domain;               /* error: 'upc_atomicdomain_t' is not declared: #include <upc_atomic.h> */
extern upc_filevec_t *pieces;             /* error: 'upc_filevec_t' is not declared: #include <upc_io.h> */
static upc_thread_info_t nearness;        /* error: 'upc_thread_info_t' is not declared: #include <upc_castable.h> */

void j(void) {
  private_int = sizeof(upc_tick_t);       /* error: 'upc_tick_t' is not declared: #include <upc_tick.h> */
}

/* Qualifiers of what a pointer points to; functions of the library take any. */
shared const int *fixed;
shared volatile int *changing;
strict shared int *ordered;
void k(shared int *p) {
  fixed = p;
  p = fixed;                              /* warning: loses the qualifier 'const' */
  p = (shared int *)fixed;
  f(fixed, 0);                            /* warning: argument 1 of 'f': 'shared const int *' becomes 'shared int *', which loses */
  p = changing;                           /* warning: loses the qualifier 'volatile' */
  p = ordered;                            /* warning: loses the qualifier 'strict' */
  generic = ordered;
  generic = fixed;                        /* warning: loses the qualifier 'const' */
  private_int = upc_threadof(fixed) + (fixed == p) + (fixed - p);
  fixed = private_int ? fixed : p;
}
