/* SPDX-License-Identifier: BSD-3-Clause */
/* gcc: promotion of x++ to int, where x is an unsigned bit-field */
/* Values of shared bit-fields have the type that those of private ones have: int where they are
 * narrower, signed for enumerations with negative constants; also those of assignments to them. */
/* ranks: 1 2 3 */
#include <upc_relaxed.h>
#include "check.h"

enum sign { MINUS = -1, NONE, PLUS };
enum letter { A, B, C };
struct fields {
  unsigned f : 11;
  int g : 5;
  enum sign e : 3;
  enum letter p : 3;
  _Bool b : 1;
  unsigned long w : 20;
  unsigned u : 32;
  unsigned char c : 7;
  char d : 5; /* signed or not, by the processor */
};
static shared struct fields all[THREADS];
static struct fields here;

#define SAME(name, what)                                \
 do {                                                   \
  struct fields *o = &here;                             \
  const long one = (long)(what(o->name));               \
  shared struct fields *s = &all[0];                    \
  CHECK_EQ((long)(what(s->name)), one);                 \
  CHECK_EQ(s->name, here.name);                         \
 } while (0)

#define BELOW(x)     (-4 <= (x))
#define NEGATED(x)   -(x)
#define INVERTED(x)  ~(x)
#define LESS(x)      (x) - 50
#define SET(x)       (x = 5)
#define SET_BELOW(x) (x = -1) < 0
#define TAKEN(x)     x -= 7
#define HALF(x)      (x /= -2) > -1
#define REST(x)      x %= -3
#define AFTER(x)     x++ - 3 < 0
#define BEFORE(x)    --x - 3
#define CHOSEN(x)    (1 ? x : -1)
#define ALL(name)                                                                           \
 do {                                                                                       \
  SAME(name, SET); SAME(name, BELOW); SAME(name, NEGATED); SAME(name, INVERTED);            \
  SAME(name, LESS); SAME(name, TAKEN); SAME(name, HALF); SAME(name, SET); SAME(name, REST); \
  SAME(name, AFTER); SAME(name, BEFORE); SAME(name, SET_BELOW); SAME(name, CHOSEN);         \
 } while (0)

int main(void) {
  if (MYTHREAD == THREADS - 1) { /* all[0] is elsewhere, with more than one thread */
    ALL(f);
    ALL(g);
    ALL(e);
    ALL(p);
    ALL(b);
    ALL(w);
    ALL(u);
    ALL(c);
    ALL(d);
  }
  upc_barrier;
  return 0;
}
