#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
"""What loops over own elements and repeated reads cost, counted.

The translated program is compiled with macros that count accesses by a pointer-to-shared and tests
of affinity. A loop that runs over this thread's elements alone, each as private memory, has none;
where neighbours are read, only the ends of blocks have any. A loop that no pattern fits is there to
show that the counters count. A relaxed read that was done in the same block is not repeated, but
with -O0. A copy to private memory is counted in a variable of its function, not in memory.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TOMBOLO = os.environ.get("TOMBOLO", "tombolo")
CC = os.environ.get("TOMBOLO_UPC_CC", "cc")  # of the processor that the tests run for
SIZE = 240  # elements a thread

# name: loop, and the most accesses and tests that a thread may make
LOOPS = {
    "up": ("upc_forall (i = 0; i < N; i++; &a[i]) a[i] = 2 * c[i] + i;", 0),
    "integer": ("upc_forall (i = 0; i < N; i++; i) a[i] += i;", 0),
    "down": ("upc_forall (i = N - 1; i >= 0; i--; &a[i]) a[i] = c[i] - i;", 0),
    "down_blocks": ("upc_forall (i = N - 1; i > 0; i--; &b[i]) b[i] = d[i] - i;", 0),
    "rows": ("upc_forall (i = N / 8 - 1; i >= 0; i--; &m[i][0]) m[i][3] += i;", 0),
    "behind": ("upc_forall (i = 0; i < N - 24; i++; &b[24 + i]) b[24 + i] = d[24 + i];", 0),
    "by_pointer": ("upc_forall (p = b; p < b + N; p++; p) *p += 3;", 0),
    # by other steps
    "step": ("upc_forall (i = 0; i < N; i += 3; &a[i]) a[i] = 2 * c[i] + i;", 0),
    "step_threads": ("upc_forall (i = MYTHREAD; i < N; i += THREADS; &a[i]) a[i] += c[i];", 0),
    "step_variable": ("const int s = 5; upc_forall (i = 2; i <= N - 1; i += s; i) a[i] += i;", 0),
    "step_down": ("upc_forall (i = N - 1; i >= 0; i -= 2; &a[i]) a[i] = c[i] - i;", 0),
    "step_blocks": ("upc_forall (i = 1; i < N; i += 7; &b[i]) b[i] = d[i] - i;", 0),
    "step_blocks_down": ("upc_forall (i = N - 1; i > 0; i -= 7; &b[i]) b[i] = d[i] - i;", 0),
    "step_rows": ("upc_forall (i = 0; i < N / 8; i += 2; &m[i][0]) m[i][3] += i;", 0),
    "step_behind": ("upc_forall (i = 0; i < N - 24; i += 5; &b[24 + i]) b[24 + i] = d[24 + i];", 0),
    # each element's thread is asked for, but the elements are accessed as private ones
    "step_pointer": ("upc_forall (p = b; p < b + N; p += 5; p) *p += 3;", 2),
    # two accesses at each end of a block
    "neighbours": ("upc_forall (i = 1; i < N - 1; i++; &b[i]) b[i] = d[i - 1] + d[i + 1];",
                   4 * SIZE // 24),
    "neighbours_down": ("upc_forall (i = N - 2; i > 0; i--; &b[i]) b[i] = d[i - 1] + d[i + 1];",
                        4 * SIZE // 24),
    "neighbours_behind": ("upc_forall (i = 1; i < N - 25; i++; &b[24 + i]) "
                          "b[24 + i] = d[24 + i - 1] + d[24 + i + 1];", 4 * SIZE // 24),
}
# name: statements, the reads of them, and those that are made
READS = {
    "twice": ("x = a[k] + a[k]; x += a[k]; y = a[k];", 4, 1),
    "list": ("x = l->next->value; y = l->next->value + l->value;", 5, 3),
    "member": ("x = l->value; y = l->other; x += l->value + l->other;", 4, 2),
    "condition": ("x = a[k]; if (a[k] > 3) y = x;", 2, 1),
    "declared": ("int z = a[k]; const int w = a[k] * z; x = w + a[k];", 3, 1),
    "other_private": ("x = a[k]; y = 3; other[1] = 2; x += a[k];", 2, 1),
    "scalar": ("x = one; y = one + x;", 2, 1),
    # what may change the element, or which one it is
    "index": ("x = a[k]; k++; x += a[k];", 2, 2),
    "alias": ("x = a[k]; *here = 3; x += a[k];", 2, 2),
    "shared_alias": ("x = a[k]; c[j] = 3; x += a[k];", 2, 2),
    "through_member": ("x = a[k]; h.p[0] = 3; x += a[k];", 2, 2),
    "call": ("x = a[k]; nothing(); x += a[k];", 2, 2),
    "fence": ("x = a[k]; upc_fence; x += a[k];", 2, 2),
    "strict_read": ("x = a[k]; y = pulse; x += a[k];", 2, 2),
    "label": ("x = a[k]; there: x += a[k]; if (x < 0) goto there;", 2, 2),
    "loop": ("for (int e = 0; e < 5; e++) x += a[k];", 5, 5),
    "not_always": ("x = y && a[k]; x += y ? a[k] : a[k];", 1, 1),
    "other_type": ("x = *(shared char *)&a[k] + (int)a[k];", 1, 1),
    "volatile_read": ("x = moving; y = moving;", 2, 2),
    "copies": ("for (int e = 0; e < 5; e++) upc_memget(&x, &a[k], sizeof x);", 0, 0),
}
HEAD = f"""#include <upc_relaxed.h>
#include <stdio.h>
#define N ({SIZE} * THREADS)
shared int a[N], c[N];
shared [24] int b[N], d[N];
shared [24] int m[N / 8][8];
shared int one;
strict shared int pulse;
volatile shared int moving;
struct node {{ shared struct node *next; int value, other; }};
static struct {{ int *p; }} h;
long accesses;
void nothing(void);
void nothing(void) {{ accesses += 0; }}
static int private_one;
"""
# Each name is a macro that is not expanded again within itself.
FORMS = [form + end for form in ("", "_0", "_1", "_b", "_a1", "_ab") for end in ("", "_called")]
READING = [f"upcr_get{kind}{form}" for kind in "4p" for form in FORMS] + ["upc_memget"]
COUNTED = ([f"upcr_{way}4{form}" for way in ("get", "put") for form in FORMS] +
           ["upcr_threadof", "upcr_mine"])


def program():
    """UPC that prints the accesses of every loop on every thread."""
    text, calls = HEAD, ""
    for name, (loop, _) in LOOPS.items():
        text += f"static void {name}(void) {{ int i = 0; shared [24] int *p = b;\n  {loop}\n"
        text += "  (void)i, (void)p;\n}\n"
        calls += f'  accesses = 0;\n  {name}();\n  printf("{name} %ld\\n", accesses);\n'
        calls += "  upc_barrier;\n"
    text += """static void changed(void) {
  int i;
  upc_forall (i = 0; i < N; i++; &a[i]) { a[i] += 1; i += 0; }
}
"""
    calls += '  accesses = 0;\n  changed();\n  printf("changed %ld\\n", accesses);\n'
    return text + "int main(void) {\n" + calls + "  return 0;\n}\n"


def reads():
    """UPC that prints the reads of every group of statements."""
    text, calls = HEAD, ""
    for name, (statements, _, _) in READS.items():
        text += f"""static void {name}(shared struct node *l) {{
  int x = 0, y = 0, k = MYTHREAD, j = MYTHREAD, other[2], *here = (int *)&c[MYTHREAD];
  h.p = here;
  {statements}
  private_one = x + y + k + j + (l != NULL), (void)other, (void)here;
}}
"""
        calls += f'  accesses = 0;\n  {name}(l);\n  printf("{name} %ld\\n", accesses);\n'
    return text + ("int main(void) {\n  shared struct node *l = upc_alloc(2 * sizeof *l);\n"
                   "  l->next = l;\n  upc_barrier;\n" + calls + "  return 0;\n}\n")


def run(folder, *command):
    """Standard output of a command that succeeds."""
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"{' '.join(command)}: {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def counted(folder, name, text, counted_names, *options):
    """Compiles UPC text so that uses of some names count in `accesses`."""
    (folder / f"{name}.upc").write_text(text)
    run(folder, TOMBOLO, "upcc", *options, "-trans", f"{name}.upc")
    c = (folder / f"{name}.trans.c").read_text()
    defines = "".join(f"#define {n}(...) (accesses++, {n}(__VA_ARGS__))\n" for n in counted_names)
    c, found = re.subn(r"(\n[^\n]*\blong accesses *;)", lambda m: m[1] + "\n" + defines, c, count=1)
    if not found:
        sys.exit("the translated program has no counter")
    (folder / f"{name}.c").write_text(c)
    run(folder, CC, "-E", "-x", "c", f"{name}.c", "-o", f"{name}2.trans.c")
    run(folder, TOMBOLO, "upcc", *options, f"{name}2.trans.c", "-o", name)


def numbers(out):
    """The numbers that each name was printed with."""
    seen = {}
    for line in out.splitlines():
        found = re.search(r"(\w+) (\d+)$", line)
        if found:
            seen.setdefault(found[1], []).append(int(found[2]))
    return seen


def check(folder, *options):
    """Compiles and runs the loops, and compares the counts."""
    counted(folder, "loops", program(), COUNTED, *options)
    for threads in ("3",) if "-T" in options else ("1", "3", "4"):
        seen = numbers(run(folder, TOMBOLO, "run", "-n", threads, "./loops"))
        for name, (_, most) in LOOPS.items():
            if len(seen.get(name, [])) != int(threads) or max(seen[name]) > most:
                sys.exit(f"{options}, {threads} threads: {name}: {seen.get(name)} accesses, "
                         f"at most {most} were expected")
        if min(seen["changed"]) < 2 * SIZE:
            sys.exit(f"the counters do not count: {seen['changed']}")


def check_reads(folder, kept, *options):
    """Compiles and runs the statements, and compares the counts."""
    counted(folder, "reads", reads(), READING, *options)
    seen = numbers(run(folder, TOMBOLO, "run", "-n", "2", "./reads"))
    for name, (_, written, made) in READS.items():
        if seen.get(name) != 2 * [made if kept else written]:
            sys.exit(f"{options}: {name}: {seen.get(name)} reads, expected "
                     f"{made if kept else written}")


def main():
    """See above."""
    with tempfile.TemporaryDirectory() as name:
        check_reads(Path(name), True, "-O2")
        check_reads(Path(name), False, "-O0")
        check(Path(name), "-O2")
        check(Path(name), "-O1", "-T", "3")
    print("counted: ok")


if __name__ == "__main__":
    main()
