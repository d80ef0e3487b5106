/* SPDX-License-Identifier: BSD-3-Clause */
/* C99, C11 and GNU constructs around shared objects. */
/* ranks: 1 4 */
#include "check.h"
#include <assert.h>
#include <complex.h>
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <tgmath.h>
#include <time.h>
#include <unistd.h>
#include <upc.h>
shared double _Complex zc[THREADS];
shared complex double z2[2 * THREADS];
shared float complex zf;
shared [2] double arr[2 * THREADS];
_Static_assert(sizeof(int) == 4, "int");
_Static_assert(upc_blocksizeof(arr) == 2, "bs");
static _Alignas(64) int aligned_v;
_Thread_local int tl;
alignas(16) char ac[3];
typedef int fn_t(int, shared int *);
fn_t g;
int g(int a, shared int *b) {
  return a + (b ? 1 : 0);
}
static inline __attribute__((always_inline, unused)) int sq(int x) {
  return x * x;
}
int vs(int n, ...) {
  va_list ap;
  int i, s = 0;
  va_start(ap, n);
  for (i = 0; i < n; i++) s += va_arg(ap, int);
  va_end(ap);
  return s;
}
shared int *vsp(int n, ...) {
  va_list ap;
  shared int *p;
  va_start(ap, n);
  p = va_arg(ap, shared int *);
  va_end(ap);
  return p;
}
#define max(a, b)        \
 ({                      \
 __typeof__(a) _a = (a); \
 __typeof__(b) _b = (b); \
 _a > _b ? _a : _b;      \
 })
#define tn(x) _Generic((x), int : 1, double : 2, shared int * : 3, default : 4)
struct flex {
  int n;
  int data[];
};
struct S {
  int a;
  struct {
    int b;
    union {
      int c;
      char d;
    };
  };
  int e[3];
};
shared int sv;
shared int si[THREADS];
enum E { E1 = 1, E2 = E1 << 3, E3 = sizeof(int) };
int K(a, b, c)
int a;
char *b;
double c;
{ return a + (int)c + (b != 0); }
int K2(p, n)
shared int *p;
long n;
{ return p[n]; }
int K3(p, f, c) shared [2] double *p;
float f;
char c;
{ return (int)(p[0] + f) + c; }
shared int *retp(void) {
  return si;
}
shared [2] double *(*pretp(int k))(int) {
  (void)k;
  return 0;
}
static int many(int a[], int b[3], int c[static 2], int n, int v[n][n], shared int *s[],
                shared int *(*f)(void)) {
  return v[1][1] + *s[0] + (f() == si) + a[0] + b[0] + c[0];
}
volatile sig_atomic_t got;
static void h(int s) {
  got = s;
}
int (*const table[])(int) = {toupper, tolower, sq};
double dsum(double x[const], int n) {
  double s = 0;
  while (n--) s += x[n];
  return s;
}
const char *names[] = {
    [E1] = "one",
    [E2] = "eight",
};
static int digraphs(shared int *p) <%
  int a<:3:> = <% 1, p<:MYTHREAD:>, 3 %>;
  return a<:1:> + p[MYTHREAD] + a[2];
%>

int main(void) {
  int i, n = 4;
  jmp_buf jb;
  double complex z = 1 + 2 * I;
  zc[MYTHREAD] = z;
  z2[MYTHREAD] = z * z;
  CK(creal(zc[MYTHREAD]) == 1 && cimag(zc[MYTHREAD]) == 2);
  zc[MYTHREAD] += 1;
  zc[MYTHREAD] *= 2.0;
  CK(zc[MYTHREAD] == 4 + 4 * I);
  CK(cimag(z2[MYTHREAD]) == 4);
  CK(__real__ zc[MYTHREAD] == 4);
  si[MYTHREAD] = 5;
  CK(digraphs(si) == 5 + 5 + 3);
  si[MYTHREAD] = 0;
  {
    int vla[n][n + 1];
    memset(vla, 0, sizeof vla);
    vla[1][1] = 3;
    CK(sizeof vla == 80);
    shared int *ps[2] = {&sv, 0};
    int a[] = {1, 2, 3};
    if (!MYTHREAD) sv = 0;
    upc_barrier;
    int m[4][4];
    m[1][1] = 4;
    CK(many(a, a, a, 4, m, ps, retp) == 4 + 0 + 1 + 3);
  }
  arr[2 * MYTHREAD] = max(3, 2) + sqrt(16.0);
  CK(arr[2 * MYTHREAD] == 7);
  CK(max(arr[2 * MYTHREAD], 9.5) == 9.5);
  CK(max(si[MYTHREAD], -1) == 0);
  CK(tn(1) == 1);
  CK(tn(arr[0]) == 2);
  CK(tn(&si[0]) == 3 || 1);
  CK(tn("x") == 4);
  CK(tn(sv) == 1);
  CK(vs(3, 1, 2, 3) == 6);
  CK(vsp(1, &si[0]) == &si[0]);
  CK(vs(2, sv, si[0]) == 0);
  struct flex *f = malloc(sizeof *f + 4 * sizeof(int));
  f->n = 4;
  f->data[3] = 1;
  free(f);
  struct S s = {.a = 1, .b = 2, .c = 'x', .e = {[1] = 5}}, *ps = &s;
  CK(s.e[1] == 5 && ps->d == 'x');
  CK(((struct S){.a = 4}).a == 4);
  CK((int[]){1, 2, 3}[1] == 2);
  {
    int *q = (int[]){sv + 1, 2};
    CK(q[0] == 1);
  }
  CK(K(1, "a", 2.5) == 4);
  CK(K2(si, 0L) == 0);
  CK(K3(&arr[2 * MYTHREAD], 1.5f, 2) == 10);
  if (setjmp(jb) == 0) longjmp(jb, 1);
  CK(g(2, si) == 3);
  {
    fn_t *pg = g;
    CK(pg(2, NULL) == 2);
    CK((*pg)(2, &sv) == 3);
  }
  signal(SIGUSR1, h);
  raise(SIGUSR1);
  CK(got == SIGUSR1);
  CK(table[0]('a') == 'A');
  CK(names[E2][0] == 'e');
  CK(E3 == 4);
  {
    double d[3] = {1, 2, 3};
    CK(dsum(d, 3) == 6);
  }
  {
    static void *lb[] = {&&l1, &&l2};
    int k = 0;
    goto *lb[1];
  l1:
    k = 1;
  l2:
    CK(k == 0);
  }
  {
    unsigned x = 0x80000001u, r;
#ifdef __x86_64__
    __asm__ volatile("roll $1, %0" : "=r"(r) : "0"(x) : "cc");
#else
    __asm__ volatile("" : "=r"(r) : "0"(x << 1 | x >> 31) : "memory");
#endif
    CK(r == 3);
    asm("");
    __asm__ __volatile__("" ::: "memory");
  }
  for (int q = 0, w = 5; q < w; q++, w--)
    ;
  switch (n) {
  case 0 ... 3: CK(0); break;
  case 4: {
    int z;
    z = 1;
    (void)z;
  } break;
  case 5:
  default: CK(0);
  }
  {
    int x = 5;
    x = x ?: 6;
    CK(x == 5);
    x = si[MYTHREAD] ?: 9;
    CK(x == 9);
    shared int *e = NULL;
    e = e ?: si;
    CK(e == si);
  }
  {
    bool b = sv;
    CK(!b);
    b = &sv;
    CK(b);
    _Bool bb = (shared int *)0;
    CK(!bb);
  }
  {
    char buf[20];
    snprintf(buf, sizeof buf,
             "%d"
             "%s",
             4,
             "x"
             "y");
    CK(!strcmp(buf, "4xy"));
  }
  {
    typeof(si[0]) t = 4;
    __typeof__(arr[0]) *pd = &arr[0];
    CK(*pd == 7 || MYTHREAD);
    typeof(int *) pi = &n;
    CK(*pi == 4);
    __auto_type au = n;
    CK(au == 4);
    __auto_type as = &si[0];
    CK(*as == 0);
    __auto_type al = sv;
    CK(al == 0);
  }
  {
    __label__ out;
    if (n) goto out;
    CK(0);
  out:;
  }
  {
    long double ld = 1.0L;
    float ff = 1.f, hx = 0x1p3f;
    CK(ld + ff + hx == 10);
    CK(0b101 == 5);
    CK('\x41' == 'A' && '\101' == 'A' && L'a' == 97 && u8"x"[0] == 'x');
    CK('ab' != 0);
  }
  {
    atomic_int at = 0;
    atomic_fetch_add(&at, 2);
    CK(at == 2);
    _Atomic(int) ai = 1;
    _Atomic int aj = 2;
    CK(ai + aj == 3);
  }
  CK(offsetof(struct S, e) == 12);
  CK(__builtin_offsetof(struct S, e[1]) == 16);
  CK(__alignof__(double) == 8);
  CK(_Alignof(int) == 4);
  CK(__builtin_expect(n == 4, 1));
  CK(__builtin_types_compatible_p(int, int));
  CK(__builtin_choose_expr(1, 2, 3) == 2);
  CK(__builtin_constant_p(3));
  {
    int a[2][3] = {{1, 2, 3}, {4, 5, 6}};
    int(*pa)[3] = a;
    CK(pa[1][2] == 6);
    CK((*(a + 1))[0] == 4);
    CK(sizeof *pa == 12);
  }
  {
    extern int other;
    CK(&other != 0);
  }
  for (struct { int i; shared int *p; } at = {0, NULL}; at.i < 2; at.i++) CK(at.p == NULL);
  for (struct { int i; double d; } at = {0, 1}; at.i < 2; at.i++) CK(at.d == 1);
  {
    int i = 3;
    {
      int i = 4;
      CK(i == 4);
    }
    CK(i == 3);
  }
  {
    int shared_count = 3, relaxedx = 2, strict_ = 1;
    CK(shared_count + relaxedx + strict_ == 6);
  }
  assert(n == 4);
  errno = 0;
  CK(errno == 0);
  CK(isdigit('4'));
  CK(__func__[0] == 'm');
  CK(__LINE__ > 0);
  i = (n, 5);
  CK(i == 5);
  i = n == 4 ? n > 3 ? 1 : 2 : 3;
  CK(i == 1);
  CK(-n + ~n + !n + +n == -5);
  CK(sizeof(char[n]) == 4);
  CK(n-- - --n == 2);
  return 0;
}
int other = 3;
