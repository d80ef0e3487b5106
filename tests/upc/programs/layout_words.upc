/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts by constants, macros, enumerations, typedefs; qualifiers in any order. */
/* ranks: 1 4 */
#include "check.h"
#include <upc.h>
#define BF 3
enum { EB = 5 };
typedef struct {
  double re, im;
} cplx;
typedef shared [BF] cplx cblk_t;
typedef shared [EB] int eb_t;
typedef int vec_t[10];
shared [sizeof(double)] char cs[sizeof(double) * THREADS];
shared [BF * 2] int s6[6 * THREADS];
shared [EB] int s5[EB * THREADS];
shared [(1 << 2)] long s4[4 * THREADS];
shared [BF] vec_t vt[BF * THREADS];
cblk_t cc[2 * BF * THREADS];
eb_t ee[THREADS * EB];
shared [*] double blk[THREADS * 7];
shared [*] double blk2[5][THREADS];
double shared [2] dafter[4 * THREADS];
int shared ishared;
const shared int ci = 42;
shared const int ci2 = 43;
int const shared ci3 = 44;
shared [2] const int carr[2 * THREADS] = {1, 2};
int strict shared si;
shared relaxed int ri;
relaxed shared [] int *rp;
strict shared [1] int *dummy_sp;
shared int *a1, b1, *c1;
shared int mixed1[THREADS], *mixed2, mixed3;
shared [0] int *zero_p;
shared [1] int one_a[THREADS];
static shared [4] struct pt { int x, y; } pts[4 * THREADS], *ppt = 0;
shared struct { int a; } anon;
shared [] int indef[10];
shared int matrix[2][3][THREADS];
typedef shared int arr_t[THREADS];
arr_t at1;
typedef shared [2] int (*rowp)[2];
unsigned long shared long ull;
int main() {
  int i;
  CK(upc_blocksizeof(cs) == 8);
  CK(upc_blocksizeof(s6) == 6);
  CK(upc_blocksizeof(s5) == 5);
  CK(upc_blocksizeof(s4) == 4);
  CK(upc_blocksizeof(vt) == 3 && upc_elemsizeof(vt) == 4);
  CK(upc_blocksizeof(cc) == 3 && upc_elemsizeof(cc) == 16);
  CK(upc_blocksizeof(ee) == 5);
  CK(upc_blocksizeof(blk) == 7);
  CK(upc_blocksizeof(blk2) == 5);
  CK(upc_blocksizeof(dafter) == 2);
  CK(upc_blocksizeof(*zero_p) == 0);
  CK(upc_blocksizeof(one_a) == 1);
  CK(upc_blocksizeof(pts) == 4);
  CK(upc_blocksizeof(indef) == 0);
  CK(upc_blocksizeof(shared [7] char) == 7);
  CK(upc_elemsizeof(shared [7] double[THREADS]) == 8);
  CK(upc_localsizeof(s6) == 24);
  CK(upc_localsizeof(matrix) == 2 * 3 * 4);
  CK(sizeof(matrix) == 6 * 4 * THREADS);
  CK(sizeof matrix[0] == 3 * 4 * THREADS);
  CK(sizeof(ull) == 8);
  CK(sizeof(b1) == 4 && sizeof a1 == sizeof(shared int *));
  CK(ci == 42 && ci2 == 43 && ci3 == 44);
  CK(carr[0] == 1 && carr[1] == 2);
  for (i = 0; i < 7 * THREADS; i++) {
    CK(upc_threadof(&blk[i]) == i / 7);
    CK(upc_phaseof(&blk[i]) == i % 7);
  }
  for (i = 0; i < 4 * THREADS; i++) {
    CK(upc_threadof(&dafter[i]) == (i / 2) % THREADS);
  }
  for (i = 0; i < BF * THREADS; i++) {
    int j;
    for (j = 0; j < 10; j++) CK(upc_threadof(&vt[i][j]) == ((i * 10 + j) / 3) % THREADS);
  }
  CK(upc_threadof(&anon) == 0);
  CK(upc_threadof(indef) == 0 && upc_threadof(&indef[9]) == 0);
  if (MYTHREAD == 0) {
    ishared = 7;
    mixed3 = 8;
    ull = 1;
    anon.a = 4;
  }
  mixed1[MYTHREAD] = MYTHREAD;
  mixed2 = mixed1;
  at1[MYTHREAD] = 2 * MYTHREAD;
  upc_barrier;
  CK(mixed2[THREADS - 1] == THREADS - 1);
  CK(at1[THREADS - 1] == 2 * (THREADS - 1));
  CK(ishared == 7 && mixed3 == 8 && anon.a == 4);
  ppt = &pts[3];
  ppt++;
  CK(ppt == &pts[4 % (4 * THREADS)] || THREADS == 1);
  return 0;
}
