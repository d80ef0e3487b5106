/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations that UPC forbids, with a number of threads that is not fixed (6.5.1, 6.5.2). */
#include <upc.h>

shared [2][2] int fine_array_of_two_blocks_is_syntax; /* error: expected */
typedef shared [2] int two_t;
shared [3] two_t twice[3 * THREADS];      /* error: two different block sizes */
strict int no_shared;                     /* error: strict without shared */
strict relaxed shared int both;           /* error: both strict and relaxed */
shared [-1] int negative[THREADS];        /* error: the block size is negative */
shared [1048576] int large[THREADS];      /* error: greater than UPC_MAX_BLOCK_SIZE */
int n;
shared [n] int not_constant[THREADS];     /* error: not an integer constant */
shared [*] int *star_pointer;             /* error: [*] may not be used for what a pointer points */
typedef shared [*] int star_t[THREADS], star_open_t[], star_element_t;
star_t *star_row;
star_open_t *star_rows;                   /* error: [*] may not be used for what a pointer points */
star_element_t *star_elements;            /* error: [*] may not be used for what a pointer points */
shared [2] star_t star_twice;             /* error: two different block sizes */
star_open_t star_sizeless;                /* error: needs an array of known size */
shared [*] int star_counted[] = {1, 2};   /* error: needs THREADS in a dimension of the array */
shared void *shared [*] star_own[][THREADS] = {{star_own}}; /* error: names the array itself */
extern shared [*] int star_open[][THREADS]; /* error: needs an array of known size */
shared [4] void *layout_void;             /* error: shared void cannot have a block size */
shared int no_threads[10];                /* error: must have THREADS in one dimension */
shared int numbered[NUMBER * THREADS];    /* error: is not constant: 'NUMBER' is not declared */
int private_threads[2 * THREADS];         /* error: the size of the private array 'private_threads' is not constant: THREADS */
static int private_mine[MYTHREAD + 1];    /* error: the size of the private array 'private_mine' is not constant: THREADS */
shared const int no_threads_set[3] = {1}; /* error: must have THREADS in one dimension */
shared int twice_threads[THREADS][THREADS]; /* error: THREADS stands twice */
shared int square[THREADS * THREADS];     /* error: THREADS stands twice */
shared int sum[10 + THREADS];             /* error: may only be multiplied */
shared int casted[(int)THREADS];          /* error: may only be multiplied */
shared int none[0 * THREADS];             /* error: has no elements */
shared int below[-2 * THREADS];           /* error: has no elements */
upc_lock_t lock;                          /* error: has the incomplete type 'shared upc_lock_t': let 'upc_lock_t *lock' point to */
shared int half[THREADS / 2];             /* error: may only be multiplied */ /* error: is not constant */
shared [] int whole[THREADS];             /* error: indefinite block size cannot have THREADS */
shared void nothing;                      /* error: cannot have the type shared void */
shared [] int (*row)[THREADS];            /* error: indefinite block size cannot have THREADS */
shared int (**rows)[THREADS][THREADS];    /* error: THREADS stands twice */
typedef shared int (*cube_t)[THREADS][13][THREADS]; /* error: THREADS stands twice */
enum e { MYTHREAD };                      /* error: expected the name of an enumeration constant */
shared int again;
shared double again;                      /* error: 'again' is declared as 'shared double', but was declared as 'shared int' */
shared [2] int again2[2 * THREADS];
extern shared [3] int again2[2 * THREADS]; /* error: was declared as */
extern shared int again3[];
shared int again3[THREADS], again3[THREADS];
shared int again5 = 1, again5;
shared int again5 = 2;                    /* error: 'again5' is initialised twice, first in */
shared int again4[THREADS], again4[2 * THREADS]; /* error: was declared as */
int takes_pointer(shared int *p);
int takes_pointer(shared [4] int *p);     /* error: was declared as */
struct s {
  char *shared pointer; /* error: a member of a structure or union cannot be shared */
  shared int member; /* error: a member of a structure or union cannot be shared */
  shared int *fine;
};
shared int returns(void);                 /* error: a function cannot return a shared object */
shared int *returns_pointer(void);
void takes(shared int by_value);          /* error: a parameter cannot be a shared object */
void takes_star(shared [*] int a[]);      /* error: [*] may not be used for what a pointer points */
void takes_array(shared int by_pointer[], shared [3] int three[static 10]);
shared int good[THREADS], good3[3 * THREADS], good_parens[(THREADS)], inner[2][3 * THREADS];
shared [2] int right[THREADS * (10 * 2)];
shared int *shared pts_in_shared;
shared two_t *of_typedef;

void f(void) {
  shared int automatic;                   /* error: the automatic variable 'automatic' cannot be shared */
  shared int array[THREADS];              /* error: the automatic variable 'array' cannot be shared */
  static shared int is_static, in_function[THREADS];
  extern shared int good[THREADS];
  shared int *p = good;
  double vla[THREADS + 1], square[THREADS][THREADS], both[THREADS * THREADS];
  shared int *vector[THREADS - 1 + n];
  (void)p, (void)vla, (void)square, (void)both, (void)vector;
}

/* What a static variable begins with is constant; the address of a shared object is known at start. */
shared int somewhere;
static int mine = MYTHREAD;             /* error: MYTHREAD is no constant */
long twice = 2 * THREADS;               /* error: THREADS is no constant */
static int taken = somewhere;           /* error: the value of a shared object is no constant */
static int list[] = {1, MYTHREAD, 3};   /* error: MYTHREAD is no constant */
static shared int *address = &somewhere, *element = &good[THREADS - 1];
static int bytes = sizeof(int), bytes_of_shared = upc_localsizeof(shared int);
static shared int sizeless[];           /* error: the shared array 'sizeless' has no size */
static shared int sized_later[];
static shared int sized_later[THREADS];
extern shared int elsewhere[];
shared int counted[] = {1, 2, 3};       /* error: the shared array 'counted' must have THREADS */

void g(void) {
  static int first = THREADS;           /* error: THREADS is no constant */
  static shared int inner_sizeless[];   /* error: the static shared array 'inner_sizeless' has no size */
}

/* Declarations of one object have one type, its qualifiers included, also in a block. */
extern shared const int fixed[THREADS];
shared int fixed[THREADS];              /* error: but was declared as 'shared const int [THREADS]' */
extern strict shared int ordered;
relaxed shared int ordered;             /* warning: but was declared as 'strict shared int' */
void prototype(shared int *p, int n);
void prototype(shared int *const p, int n);
void prototype(shared const int *p, int n); /* error: 'void (shared const int *, int)', but was declared as 'void (shared int *const, int)' */
extern shared int of_file[THREADS];
void in_a_block(void) {
  extern shared int of_file[], *any_pointer;
  extern shared [4] int of_file[4 * THREADS]; /* error: but was declared as 'shared int [THREADS]' */
  of_file[0] = 1;
}

_Thread_local shared int of_thread;     /* error: cannot be both shared and thread-local */
shared int open_ended[];                /* error: the shared array 'open_ended' has no size */
shared int copied = somewhere;          /* error: the value of a shared object is no constant */
shared int of_threads = THREADS + sizeof(somewhere);
