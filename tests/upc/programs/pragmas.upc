/* SPDX-License-Identifier: BSD-3-Clause */
/* Pragmas of UPC and of others. */
/* ranks: 1 4 */
#include <upc.h>
#pragma upc strict
shared int a;
strict shared int s;
relaxed shared int r;
#pragma upc relaxed
#include "check.h"
#pragma upc detect_upc suspend_insertion
#pragma upc detect_upc resume_insertion
#pragma pupc on
#pragma UPCR foo bar
#pragma pgas defer_sync
#pragma bupc noopt
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma omp parallel
_Pragma("upc strict") _Pragma("upc relaxed") static int f(void) {
#pragma upc strict
  int x = a;
  {
#pragma upc relaxed
    a = x;
  }
  a = x;
  for (;;) {
    break;
  }
  if (x) {
#pragma upc relaxed
    a = 3;
  }
  return x;
}
#pragma pack(push, 1)
struct pk {
  char c;
  int i;
};
#pragma pack(pop)
shared struct pk spk[THREADS];
#ifdef __UPC_DYNAMIC_THREADS__
int dyn = 1;
#endif
#ifdef __UPC_STATIC_THREADS__
int dyn = 0;
#endif
#if __UPC__ != 1 || __UPC_VERSION__ < 200310L || !defined UPC_MAX_BLOCK_SIZE || \
    UPC_MAX_BLOCK_SIZE < 65536
# error
#endif
# 100 "foo.upc"
#line 200 "bar.upc"
int main() {
  f();
  spk[MYTHREAD].i = 5;
  if (spk[MYTHREAD].i != 5 || sizeof(struct pk) != 5) printf("FAIL pack\n");
  if (__LINE__ != 200) printf("FAIL line %d\n", __LINE__);
  upc_fence;
#pragma GCC unroll 4
  for (int i = 0; i < 3; i++)
    ;
  return 0;
}
