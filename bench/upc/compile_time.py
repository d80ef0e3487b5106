#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How long `tombolo upcc` takes for a UPC program of some thousand lines.

    compile_time.py [--tool build/bin/tombolo] [--lines 3000] [--kinds neighbours,...]
                    [--write FILE] [--rounds 3] [LEVEL...]

The program is made up, the same each time: functions of the kinds below in turn, which together
have arrays of every layout, pointers-to-shared, structures, loops over own elements and over
neighbours, lists, collectives and plain C. `--kinds dense --lines 3127` is the dearest: nothing but
accesses to shared memory. For each level (-O0, -O1, -O2) and for preprocessing and
translation alone, prints the least user time of the rounds. It can be run, too: it prints a sum.
"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile

HEAD = """#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <upc_collective.h>
#include <upc_relaxed.h>
"""

# N is the number of the function; B a block size.
KINDS = {
    "neighbours": """
shared [{b}] double a{n}[{b} * 4 * THREADS], b{n}[{b} * 4 * THREADS];
static double f{n}(int steps) {{
  const long size = {b} * 4 * THREADS;
  double sum = 0;
  for (int step = 0; step < steps; step++) {{
    upc_forall (long i = 1; i < size - 1; i++; &a{n}[i]) {{
      b{n}[i] = 0.25 * a{n}[i - 1] + 0.5 * a{n}[i] + 0.25 * a{n}[i + 1] + {n};
      if (b{n}[i] > 1e6) b{n}[i] = 1e6;
    }}
    upc_barrier;
    upc_forall (long i = 0; i < size; i++; &a{n}[i]) a{n}[i] = b{n}[i];
    upc_barrier {n};
  }}
  if (MYTHREAD == 0) sum = a{n}[{b}];
  return sum;
}}
""",
    "table": """
struct entry{n} {{
  long key, value;
  int used;
}};
shared struct entry{n} table{n}[64 * THREADS];
static long put{n}(long key, long value) {{
  const long size = 64 * THREADS;
  long at = (key * 7919 + {n}) % size;
  for (long tries = 0; tries < size; tries++, at = (at + 1) % size) {{
    if (table{n}[at].used && table{n}[at].key != key) continue;
    table{n}[at].key = key;
    table{n}[at].value += value;
    table{n}[at].used = 1;
    return at;
  }}
  return -1;
}}
static double f{n}(int steps) {{
  if (MYTHREAD == 0)
    for (int i = 0; i < steps; i++) put{n}(i, i * {b});
  upc_barrier;
  long sum = 0;
  upc_forall (int i = 0; i < 64 * THREADS; i++; &table{n}[i])
    if (table{n}[i].used) sum += table{n}[i].value;
  return (double)sum;
}}
""",
    "matrix": """
shared [16] float m{n}[4 * THREADS][16], v{n}[THREADS][16];
static double f{n}(int steps) {{
  upc_forall (int i = 0; i < 4 * THREADS; i++; &m{n}[i][0])
    for (int j = 0; j < 16; j++) m{n}[i][j] = (float)(i * j % {b});
  upc_barrier;
  double trace = 0;
  for (int i = 0; i < 4 * THREADS && i < 16; i++) trace += m{n}[i][i];
  for (int k = 0; k < steps; k++) {{
    for (int j = 0; j < 16; j++) {{
      float sum = 0;
      for (int i = 0; i < 4; i++) sum += m{n}[i * THREADS + MYTHREAD][j];
      v{n}[MYTHREAD][j] += sum;
    }}
  }}
  return trace + v{n}[MYTHREAD][3];
}}
""",
    "list": """
struct node{n} {{
  shared struct node{n} *next;
  int value;
}};
static shared struct node{n} *shared heads{n}[THREADS];
static double f{n}(int steps) {{
  for (int i = 0; i < steps; i++) {{
    shared struct node{n} *p = upc_alloc(sizeof(struct node{n}));
    p->value = i + {b};
    p->next = heads{n}[MYTHREAD];
    heads{n}[MYTHREAD] = p;
  }}
  upc_barrier;
  int sum = 0;
  for (int t = 0; t < THREADS; t++)
    for (shared struct node{n} *p = heads{n}[t]; p; p = p->next) sum += p->value;
  upc_barrier;
  while (heads{n}[MYTHREAD]) {{
    shared struct node{n} *p = heads{n}[MYTHREAD];
    heads{n}[MYTHREAD] = p->next;
    upc_free(p);
  }}
  return sum;
}}
""",
    "collective": """
shared [{b}] long src{n}[{b} * THREADS], dst{n}[{b} * THREADS];
shared long total{n};
static double f{n}(int steps) {{
  shared [] long *mine = (shared [] long *)&src{n}[{b} * MYTHREAD];
  for (int i = 0; i < {b}; i++) mine[i] = i * steps + MYTHREAD;
  upc_all_broadcast(dst{n}, src{n}, {b} * sizeof(long), UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  upc_all_reduceL(&total{n}, dst{n}, UPC_ADD, {b} * THREADS, {b}, NULL,
                  UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  long copy[{b}];
  upc_memget(copy, &src{n}[{b} * ((MYTHREAD + 1) % THREADS)], sizeof copy);
  long sum = total{n};
  for (int i = 0; i < {b}; i++) sum += copy[i];
  return (double)sum;
}}
""",
    "pointers": """
shared [{b}] int cells{n}[{b} * 8 * THREADS];
static double f{n}(int steps) {{
  shared [{b}] int *p, *end = cells{n} + {b} * 8 * THREADS;
  long sum = 0;
  upc_forall (p = cells{n}; p < end; p++; p) *p = (int)upc_phaseof(p) + steps;
  upc_barrier;
  for (p = cells{n} + MYTHREAD; p < end; p += {b}) sum += *p;
  int *here = (int *)&cells{n}[{b} * MYTHREAD];
  for (int i = 0; i < {b}; i++) sum += here[i];
  upc_barrier;
  cells{n}[(MYTHREAD * {b} + {n}) % ({b} * 8 * THREADS)] += 2;
  return (double)sum + upc_threadof(p - 1);
}}
""",
    "plain": """
struct point{n} {{
  double x, y, z;
}};
static double f{n}(int steps) {{
  struct point{n} points[{b}];
  char text[64];
  double sum = 0;
  for (int i = 0; i < {b}; i++)
    points[i] = (struct point{n}){{i * 0.5, steps - i, (i * {n}) % 13}};
  for (int i = 1; i < {b}; i++) {{
    const double x = points[i].x - points[i - 1].x, y = points[i].y - points[i - 1].y;
    sum += sqrt(x * x + y * y + points[i].z);
  }}
  snprintf(text, sizeof text, "%d %g", {n}, sum);
  for (const char *p = text; *p; p++) sum += *p == ' ' ? 0 : *p - '0';
  return sum;
}}
""",
    # half loops over neighbours, half single accesses
    "dense": """
static shared [8] double a{n}[64 * THREADS], b{n}[64 * THREADS];
static shared struct {{ int x, y[4]; }} s{n}[THREADS];
static shared [] double *p{n};
static double f{n}(int n) {{
  double sum = 0;
  int i;
  upc_forall (i = 1; i < 64 * THREADS - 1; i++; &a{n}[i]) {{
    a{n}[i] = b{n}[i - 1] + 2 * b{n}[i] + b{n}[i + 1];
    b{n}[i] += i * n;
  }}
  upc_barrier {n};
  for (i = 0; i < n; i++) {{
    s{n}[i % THREADS].x += i;
    s{n}[MYTHREAD].y[i % 4] = s{n}[i % THREADS].x;
    sum += a{n}[i % (64 * THREADS)] * (&b{n}[3])[i % 60];
  }}
  if (p{n} != NULL) sum += p{n}[n] + *(p{n} + n);
  return sum;
}}
""",
}


def program(lines, kinds):
    """The text of a program of about so many lines."""
    text, n = HEAD, 0
    while text.count("\n") < lines - n // 8:
        text += KINDS[kinds[n % len(kinds)]].format(n=n, b=(8, 10, 32, 25)[n % 4])
        n += 1
    text += "\nint main(void) {\n  double sum = 0;\n"
    for first in range(0, n, 8):
        calls = [f"f{k}(3)" for k in range(first, min(first + 8, n))]
        text += "  sum += " + " + ".join(calls) + ";\n"
    return text + '  if (MYTHREAD == 0) printf("sum %.3f\\n", sum);\n  return 0;\n}\n'


def user_seconds(command, rounds):
    """Least user time of a command, all its processes together."""
    times = []
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    return min(times)


def main():
    """See above."""
    a = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--tool", default="build/bin/tombolo")
    a.add_argument("--lines", type=int, default=3000)
    usual = ",".join(k for k in KINDS if k != "dense")
    a.add_argument("--kinds", default=usual)
    a.add_argument("--write", help="write the program here and do not compile")
    a.add_argument("--rounds", type=int, default=3)
    a.add_argument("levels", nargs="*", default=[])
    o = a.parse_args()
    text = program(o.lines, o.kinds.split(","))
    if o.write:
        with open(o.write, "w", encoding="utf-8") as f:
            f.write(text)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "program.upc")
        with open(source, "w", encoding="utf-8") as f:
            f.write(text)
        compile_ = [o.tool, "upcc", source, "-o", os.path.join(folder, "program")]
        print(f"{text.count(chr(10))} lines, {o.kinds}")
        print(f"translation alone: {user_seconds(compile_ + ['-trans'], o.rounds):.2f} s")
        for level in ["-" + x.lstrip("-") for x in o.levels] or ["-O0", "-O1", "-O2"]:
            print(f"{level}: {user_seconds(compile_ + [level], o.rounds):.2f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
