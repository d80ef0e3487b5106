/* SPDX-License-Identifier: BSD-3-Clause */
/* gcc: defined value of a double that an integer type cannot hold */
/* Every assignment operator on every type of shared object; each operand is evaluated once. */
/* ranks: 1 2 3 4 8 */
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <upc_relaxed.h>
shared signed char sc[THREADS];
shared unsigned char uc[THREADS];
shared short ss[THREADS];
shared unsigned short us[THREADS];
shared int si[THREADS];
shared unsigned ui[THREADS];
shared long sl[THREADS];
shared unsigned long ul[THREADS];
shared float sf[THREADS];
shared double sd[THREADS];
shared long double sld[THREADS];
shared _Bool sb[THREADS];
shared int *shared sp[THREADS];
shared[4] int blk[THREADS * 8];
shared double _Complex cx[THREADS];
shared[3] _Complex float parts[THREADS * 3];
#define OPS(A, T)              \
 do {                          \
  T x = 100;                   \
  A[m] = 100;                  \
  CK((A[m] += 7) == (x += 7)); \
  CK((A[m] -= 3) == (x -= 3)); \
  CK((A[m] *= 2) == (x *= 2)); \
  CK((A[m] /= 3) == (x /= 3)); \
  CK(A[m]++ == x++);           \
  CK(++A[m] == ++x);           \
  CK(A[m]-- == x--);           \
  CK(--A[m] == --x);           \
  A[m] += 1.75;                \
  x += 1.75;                   \
  CK(A[m] == x);               \
  A[m] *= -0.5;                \
  x *= -0.5;                   \
  CK(A[m] == x);               \
  A[m] = 300.7;                \
  x = 300.7;                   \
  CK(A[m] == x);               \
  A[m] = -1;                   \
  x = -1;                      \
  CK(A[m] == x);               \
  CK((A[m] < 0) == (x < 0));   \
  CK(A[m] + 1 == x + 1);       \
  T y = A[m] = 5.5;            \
  CK(y == (T)5.5);             \
 } while (0)
#define IOPS(A, T)                        \
 do {                                     \
  T x = 100;                              \
  A[m] = 100;                             \
  CK((A[m] %= 7) == (x %= 7));            \
  CK((A[m] <<= 3) == (x <<= 3));          \
  CK((A[m] >>= 1) == (x >>= 1));          \
  CK((A[m] |= 65) == (x |= 65));          \
  CK((A[m] &= 0x5d) == (x &= 0x5d));      \
  CK((A[m] ^= 0xff0f) == (x ^= 0xff0f));  \
  CK((A[m] = ~A[m]) == (x = ~x));         \
  CK((A[m] = -A[m] - 3) == (x = -x - 3)); \
 } while (0)
int calls;
int idx(int i) {
  calls++;
  return i;
}
shared int late[THREADS];
static shared int *late_pointer;
shared struct {
  unsigned bits : 9;
} late_bits[THREADS];

static int change_late(void) {
  late[MYTHREAD] += 5;
  late_pointer++;
  late_bits[MYTHREAD].bits += 7;
  return 1;
}

/* A compound assignment reads its left side behind the calls on its right, as C compilers do. */
static void late_reads(void) {
  late[MYTHREAD] = 1;
  late[MYTHREAD] += change_late();
  CK(late[MYTHREAD] == 7);
  late_pointer = late;
  late_pointer += change_late();
  CK(late_pointer == late + 2);
  late_bits[MYTHREAD].bits = 500;
  late_bits[MYTHREAD].bits += change_late();
  CK(late_bits[MYTHREAD].bits == 508);
}

int main() {
  int m = MYTHREAD, k;
  OPS(sc, signed char);
  OPS(ss, short);
  OPS(si, int);
  OPS(sl, long);
  OPS(sf, float);
  OPS(sd, double);
  OPS(sld, long double);
  IOPS(sc, signed char);
  IOPS(ss, short);
  IOPS(us, unsigned short);
  IOPS(si, int);
  IOPS(ui, unsigned);
  IOPS(sl, long);
  IOPS(ul, unsigned long);
  sb[m] = 7;
  CK(sb[m] == 1);
  sb[m] = 0.5;
  CK(sb[m] == 1);
  sb[m] = si;
  CK(sb[m]);
  sb[m]--;
  CK(sb[m] == 0);
  sb[m] |= 4;
  CK(sb[m] == 1);
  cx[m] = 1;
  cx[m] += 2.0i;
  cx[m] *= cx[m];
  CK(__real__ cx[m] == -3 && __imag__ cx[m] == 4);
  __real__ cx[m] = 7;
  __imag__ cx[m] += 2.5;
  CK(cx[m] == 7 + 6.5i && __real__ cx[m]++ == 7 && --__imag__(cx[m]) == 5.5);
  parts[3 * m + 2] = 1 + 2.0if;
  shared[] float *imaginary = &__imag__ parts[3 * m + 2];
  *imaginary *= 4;
  CK(*imaginary == 8 && parts[3 * m + 2] == 1 + 8.0if && upc_phaseof(imaginary) == 0);
  calls = 0;
  si[idx(m)] += idx(4);
  CK(calls == 2);
  si[idx(m)]++;
  CK(calls == 3);
  si[m] = si[idx(m)] = 9;
  CK(calls == 4 && si[m] == 9);
  shared int *p = &si[m], *q = p;
  *p++ = 4;
  CK(p - q == 1 && si[m] == 4);
  p = q;
  CK(*p++ == 4);
  p = q;
  ++*p;
  CK(*q == 5);
  (*p)++;
  CK(*q == 6);
  p += THREADS;
  p -= THREADS;
  CK(p == q);
  CK(p[0] == 0 [p]);
  sp[m] = q;
  sp[m]++;
  CK(sp[m] - q == 1);
  --sp[m];
  CK(*sp[m] == 6);
  *sp[m] = 7;
  CK(si[m] == 7);
  *sp[m] += *sp[m];
  CK(si[m] == 14);
  sp[m] += 2;
  CK(sp[m] == q + 2);
  sp[m] = 0;
  CK(!sp[m]);
  CK(sp[m] == NULL);
  upc_barrier;
  k = 0;
  sp[m] = &si[k++];
  CK(k == 1);
  {
    shared int *shared *pp = &sp[m];
    CK(*pp == si);
    (*pp)++;
    CK(**pp == si[1 % THREADS] || THREADS == 1);
    *pp = NULL;
  }
  upc_barrier;
  shared[4] int *b = blk;
  for (k = 0; k < 8 * THREADS; k++) {
    CK(b == &blk[k]);
    CK(upc_phaseof(b) == k % 4);
    CK(upc_threadof(b) == k / 4 % THREADS);
    CK(b - blk == k && blk - b == -k);
    CK((b >= blk) && !(b < blk));
    b++;
  }
  for (; k-- > 0;) {
    b--;
    CK(&blk[0] + k == b);
    CK(k + blk == b);
    CK(&b[-k] == blk);
  }
  {
    shared[4] int(*mat)[2] = (shared[4] int(*)[2])blk;
    mat[THREADS][1] = 0;
    mat += 3;
    CK(&(*mat)[1] == &blk[7]);
    CK(mat[-1] == &blk[4]);
  }
  upc_barrier;
  si[m] = 3;
  upc_barrier;
  k = 0;
  if (k && si[m]++)
    ;
  CK(si[m] == 3);
  if (k || si[m]++)
    ;
  CK(si[m] == 4);
  k = (si[m] = 8, si[m] + 1);
  CK(k == 9);
  k = si[m] > 5 ? si[m]-- : si[m]++;
  CK(k == 8 && si[m] == 7);
  sd[m] = si[m] / 2;
  CK(sd[m] == 3);
  sd[m] = si[m] / 2.0;
  CK(sd[m] == 3.5);
  sf[m] = sd[m];
  CK(sf[m] == 3.5f);
  si[m] = sd[m];
  CK(si[m] == 3);
  uc[m] = 255;
  CK(uc[m] + 1 == 256);
  sc[m] = 255;
  CK(sc[m] == -1);
  ui[m] = -1;
  CK(ui[m] > 0);
  CK(-1 > (int)us[m] - 70000);
  CK(sizeof(si[m]++) == 4 && si[m] == 3);
  CK(sizeof(sc[m] + sc[m]) == 4);
  CK(sizeof(sl[0] * sf[0]) == 4);
  {
    int a[3] = {si[m], sd[m], [2] = uc[m]};
    CK(a[0] == 3 && a[1] == 3 && a[2] == 255);
    a[si[m] - 1] = 8;
    CK(a[2] == 8);
    a[si[m] - 2] += si[m];
    CK(a[1] == 6);
  }
  {
    int x = 5;
    int *lp = &x;
    *lp = si[m];
    lp[0] += si[m];
    CK(x == 6);
    x <<= si[m];
    CK(x == 48);
  }
  late_reads();
  while (si[m]) si[m]--;
  do si[m]++;
  while (si[m] < 5);
  for (si[m] = 0; si[m] < 4; si[m]++)
    ;
  CK(si[m] == 4);
  switch (si[m]) {
  case 4: break;
  default: CK(0);
  }
  upc_barrier;
  return 0;
}
