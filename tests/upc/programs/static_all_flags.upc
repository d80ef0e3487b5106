/* SPDX-License-Identifier: BSD-3-Clause */
/* Every collective with every pair of synchronisation flags, in a job with fixed THREADS. */
/* ranks: 1 2 3 5 */
#include "check.h"
#include <string.h>
#include <upc_collective.h>
#define B 5
shared[B] int a[B * THREADS], b[B * THREADS];
shared[B * THREADS] int big[B * THREADS * THREADS], big2[B * THREADS * THREADS];
shared[] int *src;
shared int perm[THREADS];
shared double dres;
shared long lres;
shared[3] short s3[3 * THREADS], p3[3 * THREADS];
shared[*] unsigned char uc[11 * THREADS];
shared unsigned char ucr;
static int mymax(int x, int y) {
  return x > y ? x : y;
}
static int cmpi(shared void *x, shared void *y) {
  return *(shared int *)x - *(shared int *)y;
}
static double hyp(double x, double y) {
  return x + y;
}
shared[4] float f4[4 * THREADS], pf[4 * THREADS];
shared float fr;
int main(void) {
  static const upc_flag_t in[] = {UPC_IN_ALLSYNC, UPC_IN_MYSYNC, UPC_IN_NOSYNC, 0},
                          out[] = {UPC_OUT_ALLSYNC, UPC_OUT_MYSYNC, UPC_OUT_NOSYNC, 0};
  int i, j, x, y;
  perm[MYTHREAD] = (MYTHREAD + 1) % THREADS;
  src = upc_all_alloc(1, B * THREADS * sizeof(int));
  for (x = 0; x < 4; x++)
    for (y = 0; y < 4; y++) {
      upc_flag_t f = in[x] | out[y];
#define PRE upc_barrier
      if (!MYTHREAD)
        for (i = 0; i < B * THREADS; i++) src[i] = i + x;
      for (i = 0; i < B; i++) b[MYTHREAD * B + i] = -1;
      PRE;
      upc_all_broadcast(b, src, B * sizeof(int), f);
      PRE;
      for (i = 0; i < B * THREADS; i++) CK(b[i] == i % B + x);
      PRE;
      upc_all_scatter(b, src, B * sizeof(int), f);
      PRE;
      for (i = 0; i < B * THREADS; i++) CK(b[i] == i + x);
      PRE;
      upc_all_permute(a, b, perm, B * sizeof(int), f);
      PRE;
      for (i = 0; i < B * THREADS; i++) CK(a[(i + B) % (B * THREADS)] == i + x);
      PRE;
      upc_all_gather(src, a, B * sizeof(int), f);
      PRE;
      for (i = 0; i < B * THREADS; i++) CK(src[(i + B) % (B * THREADS)] == i + x);
      PRE;
      upc_all_gather_all(big, b, B * sizeof(int), f);
      PRE;
      for (j = 0; j < THREADS; j++)
        for (i = 0; i < B * THREADS; i++) CK(big[j * B * THREADS + i] == i + x);
      PRE;
      for (i = 0; i < B * THREADS; i++) big[MYTHREAD * B * THREADS + i] = MYTHREAD * 1000 + i;
      PRE;
      upc_all_exchange(big2, big, B * sizeof(int), f);
      PRE;
      for (j = 0; j < THREADS; j++)
        for (i = 0; i < B; i++)
          CK(big2[MYTHREAD * B * THREADS + j * B + i] == j * 1000 + MYTHREAD * B + i);
      PRE;

      for (i = 0; i < 3; i++) s3[MYTHREAD * 3 + i] = MYTHREAD * 3 + i + 1;
      PRE;
      upc_all_prefix_reduceS(p3, s3, UPC_ADD, 3 * THREADS, 3, NULL, f);
      PRE;
      for (i = 0; i < 3 * THREADS; i++) CK(p3[i] == (i + 1) * (i + 2) / 2);
      PRE;
      for (i = 0; i < 11; i++) uc[MYTHREAD * 11 + i] = i + MYTHREAD;
      PRE;
      upc_all_reduceUC(&ucr, uc, UPC_MAX, 11 * THREADS, 11, NULL, f);
      PRE;
      CK(ucr == 10 + THREADS - 1);
      PRE;
      upc_all_reduceUC(&ucr, uc, UPC_XOR, 11 * THREADS, upc_blocksizeof(uc), NULL, f);
      PRE;
      {
        unsigned char w = 0;
        for (i = 0; i < 11 * THREADS; i++) w ^= uc[i];
        CK(ucr == w);
      }
      PRE;
      {
        static shared int ir;
        upc_all_reduceI(&ir, b, UPC_NONCOMM_FUNC, B * THREADS, B, mymax, f);
        PRE;
        CK(ir == B * THREADS - 1 + x);
        PRE;
        upc_all_reduceI(&ir, b, UPC_FUNC, B * THREADS, B, mymax, f);
        PRE;
        CK(ir == B * THREADS - 1 + x);
        PRE;
      }
      for (i = 0; i < 4; i++) f4[MYTHREAD * 4 + i] = i;
      PRE;
      upc_all_reduceF(&fr, f4 + 1, UPC_ADD, 4 * THREADS - 1, 4, NULL, f);
      PRE;
      CK(fr == 6 * THREADS);
      PRE;
      upc_all_prefix_reduceF(pf, f4, UPC_MIN, 4 * THREADS, 4, NULL, f);
      PRE;
      CK(pf[4 * THREADS - 1] == 0);
      PRE;
      for (i = 0; i < B; i++) a[MYTHREAD * B + i] = ((MYTHREAD * B + i) * 37) % 101;
      PRE;
      upc_all_sort(a, sizeof(int), B * THREADS, B, cmpi, f);
      PRE;
      for (i = 1; i < B * THREADS; i++) CK(a[i - 1] <= a[i]);
      PRE;
    }
  upc_all_free(src);
  return 0;
}
