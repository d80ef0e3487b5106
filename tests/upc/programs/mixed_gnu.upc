/* SPDX-License-Identifier: BSD-3-Clause */
/* gcc: functions within functions */
/* Callbacks, variadic functions, statement expressions, labels, VLAs and bit-fields beside UPC. */
/* ranks: 1 2 3 5 */
#include "check.h"
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <upc_strict.h>
_Pragma("upc relaxed") shared int a[THREADS], *p = a, b[2 * THREADS] = {[1] = 3}, c = 4;
shared[4] int q4[4 * THREADS], *pq = &q4[5 % (4 * 1)];
static shared[] struct { int x; } * anon;
volatile strict shared int vss;
strict shared volatile long svs[THREADS];
__attribute__((aligned(64))) shared int al;
shared int un __attribute__((unused));
static shared int su[THREADS] __attribute__((unused));
static void gen(shared void *v, int k) {
  *(shared int *)v = k;
}
static int gen4(shared const void *v) {
  return ((const shared[4] int *)v)[1];
}
struct s {
  int x, y[4];
};
static int gs(shared void *v) {
  return ((struct s shared *)v)->x + ((shared struct s *)v)->y[2];
}
shared struct s ss[THREADS];
static int va(const char *f, ...) {
  va_list l;
  va_start(l, f);
  int s = 0;
  for (; *f; f++)
    if (*f == 'p')
      s += *va_arg(l, shared int *);
    else if (*f == 'l') {
      upc_lock_t *k = va_arg(l, upc_lock_t *);
      upc_lock(k);
      upc_unlock(k);
    } else if (*f == 's') {
      struct s t = va_arg(l, struct s);
      s += t.y[2];
    } else
      s += va_arg(l, int);
  va_end(l);
  return s;
}
static void cb(void (*f)(shared void *, int), shared void *v) {
  f(v, 12);
}
typedef void (*cb_t)(shared int *, int);
_Thread_local int tl;
static int cnt(shared const int *x, size_t n, int (*pred)(int)) {
  int k = 0;
  while (n--) k += pred(*x++);
  return k;
}
static int odd(int x) {
  return x & 1;
}
#define GET(x)           \
 ({                      \
 __typeof__(x) v_ = (x); \
 v_;                     \
 })
#define ADDTO(l, r) ((l) += (r))
#define SEL(x)      _Generic((x), int : 1, double : 2, default : 3)
shared double dd[THREADS];
shared char text[64 * THREADS];
shared[64] char lines[THREADS][64];
shared long double q16[2 * THREADS];
struct list {
  struct list shared *next;
  char name[12];
  unsigned f1 : 4, f2 : 12;
};
shared struct list pool[4 * THREADS];
static int fact(int n) {
  return n < 2 ? 1 : n * fact(n - 1);
}
typedef int mat_t[2][3];
shared mat_t mats[THREADS];
shared[6] mat_t mats6[THREADS];
shared[] mat_t *mh;
void sum_rows(int n, int m, int x[n][m], int *out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) out[i] += x[i][j];
}
int main(int argc, char *argv[], char **envp) {
  int i, n = c, m = n + b[1], counts[THREADS], two[THREADS][2];
  upc_lock_t *locks[3] = {0};
  static shared int *sp = &b[1];
  static shared[] char *names[2];
  struct s l = {1, {2, 3, 4, 5}};
  CK(n == 4 && m == 7 && *sp == 3 && !names[1] && sizeof counts == 4 * THREADS &&
     sizeof two == 8 * THREADS && !locks[0] && p == a && upc_phaseof(pq) == 1);
  for (i = 0; i < 3; i++) locks[i] = upc_all_lock_alloc();
  CK(locks[0] != locks[1] && locks[2] != NULL && locks[1] == locks[1]);
  memset(counts, 0, sizeof counts);
  counts[MYTHREAD]++;
  two[THREADS - 1][1] = 3;
  CK(two[THREADS - 1][1] == 3);
  if (m)
    upc_forall(i = 0; i < THREADS; i++; i) a[i] = i;
  else
    a[0] = -1;
  if (m == 7)
    upc_barrier;
  else
    upc_notify;
  do upc_barrier;
  while (0);
  switch (m) {
  case 7: upc_barrier 7; break;
  default: upc_wait;
  }
lab:
  upc_barrier;
  if (n++ < 4) goto lab;
  for (i = 0; i < 2; i++) upc_barrier i;
  i = 0;
  while (i++ < 2) upc_fence;
  gen(&a[MYTHREAD], 5);
  CK(a[MYTHREAD] == 5);
  cb(gen, a + MYTHREAD);
  CK(a[MYTHREAD] == 12);
  ((cb_t)gen)(&a[MYTHREAD], 9);
  CK(a[MYTHREAD] == 9);
  q4[4 * MYTHREAD + 1] = 8;
  CK(gen4(&q4[4 * MYTHREAD]) == 8);
  ss[MYTHREAD] = l;
  CK(gs(&ss[MYTHREAD]) == 5);
  CK(va("pisl", &a[MYTHREAD], 3, ss[MYTHREAD], locks[0]) == 9 + 3 + 4);
  upc_barrier;
  CK(cnt(a, THREADS, odd) == THREADS);
  upc_barrier;
  CK(GET(a[MYTHREAD]) == 9 && ADDTO(a[MYTHREAD], GET(b[1])) == 12 && SEL(a[0]) == 1 &&
     SEL(dd[0]) == 2 && SEL(&a[0]) == 3 && SEL(a[0] + dd[0]) == 2);
  tl = a[MYTHREAD];
  CK(tl == 12);
  int in = a[MYTHREAD], out;
  __asm__("" : "=r"(out) : "0"(in));
  CK(out == 12);
  int nested(int k) {
    return a[MYTHREAD] + k + m;
  }
  CK(nested(1) == 20);
  void *tgt[] = {&&l1, &&l2};
  goto *tgt[a[MYTHREAD] == 12];
l1:
  CK(0);
l2:;
  dd[MYTHREAD] = fact(a[MYTHREAD] - 6);
  CK(dd[MYTHREAD] == 720 && (int)dd[MYTHREAD] % 7 == 6 &&
     (dd[MYTHREAD] > 700 && dd[MYTHREAD] < 800 ? 1 : 0));
  for (i = 0; i < 64; i++) text[i * THREADS + MYTHREAD] = "0123456789abcdef"[i & 15];
  CK(!strncmp((char *)&text[MYTHREAD], "0123456789abcdef0", 17));
  sprintf((char *)lines[MYTHREAD], "thread %d", MYTHREAD);
  upc_barrier;
  char got[64];
  upc_memget(got, lines[THREADS - 1], 64);
  CK(atoi(got + 7) == THREADS - 1);
  {
    shared[64] char *lc = lines[THREADS - 1];
    CK(lc[0] == 't' && *(lc + 6) == ' ' && strlen(got) == 8);
    shared[64] char(*lr)[64] = &lines[0];
    lr += THREADS - 1;
    CK((*lr)[7] == '0' + THREADS - 1);
    lr--;
    CK(lr + 1 - lines == THREADS - 1);
  }
  q16[MYTHREAD + THREADS] = 3;
  q16[MYTHREAD + THREADS]++;
  q16[MYTHREAD] = q16[MYTHREAD + THREADS] / 2;
  CK(q16[MYTHREAD] == 2 && sizeof q16[0] == 16);
  for (i = 0; i < 4; i++) {
    shared struct list *e = &pool[i * THREADS + MYTHREAD];
    e->next = i < 3 ? e + THREADS : NULL;
    e->f1 = i + 14;
    e->f2 = -1;
    e->f2 >>= i;
    memcpy(((struct list *)e)->name, "node0", 6);
    e->name[4] += i;
  }
  n = 0;
  for (struct list shared *e = &pool[MYTHREAD]; e; e = e->next, n++) {
    CK(e->f1 == ((n + 14) & 15) && e->f2 == 4095 >> n && e->name[4] == '0' + n &&
       upc_threadof(e) == MYTHREAD);
  }
  CK(n == 4);
  CK(upc_threadof(&mats[MYTHREAD][1][2]) == (MYTHREAD * 6 + 5) % THREADS && sizeof(mats[0]) == 24 &&
     sizeof(mats6) == 24 * THREADS && upc_blocksizeof(mats6) == 6);
  mats6[MYTHREAD][1][2] = 6;
  upc_barrier;
  CK(mats6[THREADS - 1][1][2] == 6);
  mh = upc_alloc(3 * sizeof(mat_t));
  mh[2][1][0] = 4;
  CK((*(mh + 2))[1][0] == 4 && mh[2][1] - mh[0][0] == 15);
  int vl[2][3] = {{1, 2, 3}, {4, 5, 6}}, o2[2] = {0};
  sum_rows(2, 3, vl, o2);
  CK(o2[1] == 15);
  int(*pv)[m - 4] = malloc(sizeof *pv * 2);
  pv[1][2] = a[MYTHREAD];
  CK(pv[1][2] == 12 && sizeof *pv == 12);
  free(pv);
  {
#pragma upc strict
    vss = 0;
    svs[MYTHREAD] = 1;
    al = 2;
    a[MYTHREAD] += 1;
    b[MYTHREAD] = a[MYTHREAD]--;
  }
  CK(b[MYTHREAD] == 13 && a[MYTHREAD] == 12);
  CK(q4 == pq - 1 && (shared void *)q4 == (shared void *)&q4[0] &&
     (shared int *)q4 == (shared int *)(shared[] int *)q4);
  CK((upc_threadof(q4 + 4 * MYTHREAD) == MYTHREAD) & 1);
  shared[] int *ai = (shared[] int *)&a[MYTHREAD];
  CK(*ai == 12 && ai[0] == *(int *)ai);
  anon = upc_alloc(2 * sizeof *anon);
  anon[1].x = 4;
  CK((anon + 1)->x == 4);
  upc_barrier;
  upc_free(anon);
  for (i = 0; i < 3; i++) upc_all_lock_free(locks[i]);
  CK(upc_threadof(&ss[MYTHREAD].y[3]) == MYTHREAD && &ss[MYTHREAD].y[3] - &ss[MYTHREAD].y[0] == 3);
  int k = 0;
  k += a[MYTHREAD] == 12 && b[MYTHREAD] == 13 || c;
  k <<= b[MYTHREAD] - 12;
  k = k ? -k : k;
  k = a[MYTHREAD] > 3 ? a[MYTHREAD] < 5 ? 1 : b[MYTHREAD] : c;
  CK(k == 13);
  (void)a[0];
  a[0];
  (void)(a[0], b[0]);
  &a[0];
  *p;
  upc_barrier;
  a[MYTHREAD] = b[MYTHREAD] = c == 4 ? -1 : 0;
  CK(a[MYTHREAD] == -1);
  return 0;
}
