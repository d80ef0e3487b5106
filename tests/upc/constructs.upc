/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations and expressions as programs have them: directories, recasts, members, typedefs. */
/* again: TOMBOLO_TEST_SHM=0 */
/* match: errs 0 */
#include <upc.h>
#include <stdio.h>
#include <math.h>
#include <string.h>
#include <bupc_collectivev.h>
#pragma upc relaxed
#define SHARED shared
#define VOLATILE volatile
#define FORALL(i,n,a) upc_forall(i=0;i<n;i++;a) { body(i); } upc_barrier;
typedef SHARED [] double *sdp;
typedef struct { int r, c; sdp data; upc_lock_t *lk; bupc_sem_t *sem; } desc_t;
shared desc_t D[THREADS];
VOLATILE SHARED int vflag;
shared [4] double M[4*THREADS][4];
shared [] struct { double x[3]; struct { int id; char tag; } in; union { int a; float b; }; } *arr;
typedef shared int *sip;
shared sip table[THREADS];
shared int64_t id64 = 0;
static shared [10] struct foo { int m; int arr[3]; struct foo *next; shared [10] struct foo *snext;} foos[10*THREADS];
double shared dd[40][THREADS];
shared [2] int ia2[2*THREADS][3];
int f1();
static void body(int i) { dd[i][MYTHREAD] = i; }
shared [] char *sfield(void) { return (shared [] char *)&foos[3].m; }
enum color { RED, GREEN };
shared enum color col;
shared unsigned char bytes[16*THREADS];
shared _Bool flagb;
int (*cmpf)(shared void *, shared void *);
int vf(int n, ...) { return n; }
void vla(int n, shared [] double m[n][4]) { m[1][2] = 5; }
void arrp(shared [4] double m[][4]) { if (MYTHREAD == 0) m[0][1] = 7; }
static inline shared void *wrap(size_t n) { return upc_alloc(n); }
int main(int argc, char *argv[]) {
  int i, j, k; 
  int errs = 0;
#define CK(c) do { if (!(c)) { printf("T%d line %d: %s\n", MYTHREAD, __LINE__, #c); errs++; } } while (0)
  D[MYTHREAD].data = upc_alloc(10*sizeof(double));
  D[MYTHREAD].r = MYTHREAD; D[MYTHREAD].lk = upc_global_lock_alloc();
  for (i = 0; i < 10; ++i) D[MYTHREAD].data[i] = i*1.5;
  upc_barrier __LINE__;
  CK(D[(MYTHREAD+1)%THREADS].data[3] == 4.5);
  upc_lock(D[0].lk); D[0].c++; upc_unlock(D[0].lk);
  upc_barrier;
  CK(D[0].c == THREADS);
  FORALL(i, 40, i)
  arr = (shared void *)0 ? 0 : upc_alloc(10 * sizeof(*arr));
  arr[2].x[1] = 3.5; arr[2].in.id = 9; arr[2].b = 1.0f; arr[2].in.tag += 'a';
  CK(arr[2].x[1] == 3.5 && arr[2].in.id == 9 && arr[2].a == 0x3f800000);
  CK(sizeof(*arr) == 40);
  table[MYTHREAD] = (sip)upc_all_alloc(THREADS, sizeof(int));
  *(table[MYTHREAD] + MYTHREAD) = 3;
  CK(table[MYTHREAD][MYTHREAD] == 3);
  foos[MYTHREAD*10+1].arr[2] = 4; foos[MYTHREAD*10+1].snext = &foos[0];
  CK(foos[MYTHREAD*10+1].arr[2] == 4 && foos[10*MYTHREAD+1].snext->m == foos[0].m);
  CK(upc_phaseof(&foos[11 % (10*THREADS)].arr[1]) == 0);
  upc_barrier;
  col = GREEN; CK(col == GREEN);
  if (MYTHREAD==0) { bytes[3] = 250; bytes[3] += 10; }
  upc_barrier;
  CK(bytes[3] == 4);
  flagb = 5; CK(flagb == 1);
  vla(3, (shared [] double (*)[4])D[MYTHREAD].data);
  arrp(M);
  upc_barrier;
  CK(M[0][1] == 7);
  double s = bupc_allv_reduce_all(double, MYTHREAD + 1.0, UPC_ADD);
  CK(s == THREADS*(THREADS+1)/2.0);
  int b = bupc_allv_broadcast(int, MYTHREAD * 3, THREADS-1); CK(b == 3*(THREADS-1));
  int pf = bupc_allv_prefix_reduce(int, 1, UPC_ADD); CK(pf == MYTHREAD+1);
  int pm = bupc_allv_permute(int, MYTHREAD, (MYTHREAD+1)%THREADS); CK(pm == (MYTHREAD+THREADS-1)%THREADS);
  int *gl = malloc(THREADS*sizeof(int)); bupc_allv_gather_all(int, MYTHREAD*2, gl); for (i=0;i<THREADS;i++) CK(gl[i]==2*i);
  shared [4] double *row = M[MYTHREAD]; 
  double *lrow = (double *)&M[MYTHREAD][0];
  for (i=0;i<4;i++) lrow[i] = i; 
  CK(row[2] == 2 && (&row[3])[-1] == 2);
  { shared [] double *t = (shared [] double *)row; CK(t[3] == 3); }
  CK((void *)(lrow) == (void *)(double *)row);
  CK(upc_threadof(row) == MYTHREAD);
  for (i = 0, j = 0; i < 3 && j < 3; i++, j++) ;
  do { i--; } while (i > 0);
  k = ({ int t = bytes[3]; t + 1; }); CK(k == 5);
  struct foo loc = foos[MYTHREAD*10+1]; CK(loc.arr[2] == 4);
  foos[MYTHREAD*10+2] = loc; CK(foos[MYTHREAD*10+2].arr[2] == 4);
  foos[MYTHREAD*10+2] = (struct foo){ .m = 3, .snext = &foos[1] }; CK(foos[MYTHREAD*10+2].snext == &foos[1]);
  shared [10] struct foo *fp = &foos[0]; fp = NULL; CK(!fp); if (fp) CK(0); fp = fp ? fp : &foos[1]; CK(fp != NULL);
  CK((MYTHREAD ? fp : NULL) == fp || !MYTHREAD);
  k = vf(1, fp, *(shared int *)&id64, row);
  size_t z = sizeof(dd) / upc_elemsizeof(dd); CK(z == 40 * THREADS);
  CK(upc_localsizeof(dd) == 40 * sizeof(double));
  switch (k) { case 1: { shared int *q = table[0]; (void)q; } break; case 2 ... 5: break; default: ; }
  char buf[sizeof(shared int *) * 2]; CK(sizeof buf == 2 * sizeof(table[0]));
  CK(sizeof(typeof(id64)) == 8);
  __typeof__(fp) fp2 = fp; CK(fp2 == fp);
  shared int *ptrs[3] = { NULL, (shared int *)&id64 }; CK(ptrs[0] == NULL && ptrs[1] == &id64);
  sip *mp = malloc(4 * sizeof(*mp)); mp[1] = &id64 == 0 ? NULL : (sip)table[0]; mp[1]++; ++mp[1]; mp[1] -= 2; CK(mp[1] == table[0]); free(mp);
  { shared [3] int *pp = upc_all_alloc(THREADS*4, 3*sizeof(int)); int n = 0; upc_forall(shared [3] int *q = pp; q < pp + 12*THREADS; q++; q) n++; CK(n == 12); upc_forall(i=0;i<12*THREADS;i++;pp+i) pp[i]=i; upc_barrier; CK(pp[11]==11);}
  upc_notify 5; k = 3; upc_wait 5;
  if (MYTHREAD == 0) printf("errs %d\n", errs);
  return errs != 0;
}
