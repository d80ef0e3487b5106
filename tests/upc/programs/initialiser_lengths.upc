/* SPDX-License-Identifier: BSD-3-Clause */
/* Private arrays whose initialisers, with addresses of shared objects, give their lengths: designators
 * in any order, ranges, lists without inner braces, strings in them. */
/* ranks: 1 3 */
#include <upc.h>
#include <stdio.h>
#include <string.h>
#define COUNT(a) ((int)(sizeof(a) / sizeof(a)[0]))
#define CK(c) do { if (!(c)) { printf("FAIL %d\n", __LINE__); upc_global_exit(1); } } while (0)
shared int A[4*THREADS];
static struct { const char *n; shared int *p; } r1[] = { { "a", A }, { "b", 0 } };
static struct { const char *n; shared int *p; } r2[] = { { "a", A }, [2] = { .p = A } };
static struct { const char *n; shared int *p; } r3[] = { { "a", A }, [2] = { .p = A }, [1].p = A };
static shared int *r4[] = { [5] = A, [1] = A };
static struct q { const char *n; shared int *p; } r5[] = { "a", A, "b", A };
static struct t { char n[4]; shared int *p[2]; } r6[] = { "abc", A, &A[1], { "b", { A } }, "c", { A + 2, A + 3 } };
static shared int *r7[][2] = { { A }, A + 1, A + 2, [4] = { A } };
static shared int *r8[] = { [1 ... 6] = A, 0 };
enum { K = 3 };
static shared int *r9[] = { [K] = A, [K + 1] = A };
static struct { struct { shared int *p; char s[3][2]; } in; int z; } ra[] = { A, "a", "b", "c", 7, { { A, { "x" } }, 3 } };
shared [] int s1[] = { [7] = 3, 4 }; shared [] char s2[][4] = { "ab", [3] = "x" };
static char *rb[] = { "a", "b", (char *)sizeof(A) };
int main() {
  CK(COUNT(r1) == 2 && COUNT(r2) == 3 && COUNT(r3) == 3 && COUNT(r4) == 6 && COUNT(r5) == 2 && COUNT(r6) == 3 && COUNT(r7) == 5 && COUNT(r8) == 8 && COUNT(r9) == 5 && COUNT(ra) == 2 && COUNT(rb) == 3);
  CK(COUNT(s1) == 9 && s1[8] == 4 && sizeof s2 == 16 && s2[3][0] == 'x');
  CK(r3[1].p == A && r3[2].p == A && r4[5] == A && r4[1] == A && !r4[2] && !strcmp(r5[1].n, "b") && r5[1].p == A);
  CK(r6[0].p[1] == A + 1 && r6[2].p[0] == A + 2 && !strcmp(r6[2].n, "c") && r7[1][0] == A + 1 && r7[1][1] == A + 2 && r7[4][0] == A && r8[6] == A && !r8[7] && r9[4] == A);
  CK(ra[0].in.s[2][0] == 'c' && ra[0].z == 7 && ra[1].z == 3 && ra[1].in.p == A);
  shared int *lo[] = { [2] = A }; CK(COUNT(lo) == 3); struct q lq[] = { "x", A, "y", A + 1 }; CK(COUNT(lq) == 2 && lq[1].p == A + 1);
  return 0;
}
