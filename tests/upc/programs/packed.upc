/* SPDX-License-Identifier: BSD-3-Clause */
/* Bit-fields of structures that pragmas and attributes pack and align. */
/* ranks: 1 4 */
#include "check.h"
#include <upc.h>
#pragma pack(1)
struct pk {
  char c;
  unsigned a : 12;
  unsigned b : 20;
  long l;
};
#pragma pack()
struct np {
  char c;
  unsigned a : 12;
  unsigned b : 20;
  long l;
};
shared struct pk P[THREADS];
shared struct np Q[THREADS];
struct __attribute__((packed)) ap {
  char c;
  unsigned a : 12;
  unsigned b : 20;
};
shared struct ap R[THREADS];
struct al {
  char c __attribute__((aligned(8)));
  unsigned a : 5;
  _Alignas(16) int z;
  unsigned b : 9;
};
shared struct al S[THREADS];
int main() {
  struct pk *p = (struct pk *)&P[MYTHREAD];
  struct np *q = (struct np *)&Q[MYTHREAD];
  struct ap *r = (struct ap *)&R[MYTHREAD];
  struct al *s = (struct al *)&S[MYTHREAD];
  P[MYTHREAD].a = 0xabc;
  P[MYTHREAD].b = 0x12345;
  P[MYTHREAD].c = 'x';
  P[MYTHREAD].l = -1;
  CK(!(p->a != 0xabc || p->b != 0x12345 || p->c != 'x' || p->l != -1));
  Q[MYTHREAD].a = 0xabc;
  Q[MYTHREAD].b = 0x12345;
  CK(!(q->a != 0xabc || q->b != 0x12345));
  R[MYTHREAD].a = 0xabc;
  R[MYTHREAD].b = 0x12345;
  CK(!(r->a != 0xabc || r->b != 0x12345));
  S[MYTHREAD].a = 17;
  S[MYTHREAD].b = 300;
  S[MYTHREAD].z = 4;
  CK(!(s->a != 17 || s->b != 300 || s->z != 4));
  return 0;
}
