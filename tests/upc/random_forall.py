#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 300
"""Random upc_forall loops against the same loops over private arrays, on every thread.

Layouts, rows, bounds, distances of neighbours, pointers that begin inside a block, conditions,
`continue`, strict accesses, loops by a pointer and downwards are drawn with a fixed seed. No loop
reads what another iteration writes. The program is compiled with and without optimisation, for a
number of threads known at run time and for a fixed one.
"""

import os
import random
import subprocess
import sys
import tempfile

TOMBOLO = os.environ.get("TOMBOLO", "tombolo")
LOOPS = 40
BY_POINTER = 16
DOWN = 16
ALL = LOOPS + BY_POINTER + DOWN
HEAD = """#include <upc_relaxed.h>
#include <stdio.h>
strict shared int pulse[THREADS];
static int bad;
static void same(int loop, long i, long got, long wanted) {
  if (got != wanted && bad++ < 3)
    printf("loop %d: thread %d: element %ld is %ld, not %ld\\n", loop, (int)MYTHREAD, i, got,
           wanted);
}
"""


def index(rng, reach):
    """Text of an index, and its distance from the loop's variable."""
    d = rng.randint(-reach, reach)
    form = rng.randrange(3)
    if d == 0:
        return rng.choice(["i", "(i)", "i + 0"])
    if d > 0:
        return [f"i + {d}", f"{d} + i", f"(i + {d})"][form]
    return f"i - {-d}"


def body(rng, reach, column):
    """Statements of one loop: TO, FROM and OTHER stand for its arrays."""
    terms = []
    for _ in range(rng.randint(1, 4)):
        name = rng.choice(["FROM", "OTHER"])
        terms.append(f"{rng.randint(1, 5)} * {name}[{index(rng, reach)}]{column}")
    lines = [f"TO[i]{column} = {' - '.join(terms)};"]
    if rng.random() < 0.3:
        lines.insert(0, f"if (FROM[{index(rng, reach)}]{column} % 3 == 0) continue;")
    if rng.random() < 0.3:
        lines.append(f"TO[i]{column} += i;")
    if rng.random() < 0.2:
        lines.append("STRICT;")
        lines.append(f"TO[i]{column} ^= FROM[i]{column};")
    if rng.random() < 0.2:
        lines.append(f"for (int k = 0; k < 3; k++) {{ if (k == 1) continue; TO[i]{column}++; }}")
    return " ".join(lines)


def pointer_loop(rng, number, lay, to, first, last, text):
    """A loop by a pointer over the elements of `to`, and the step between its indices."""
    step = rng.choice([1, 1, 1, 2, 5])
    word = rng.choice([f"r += {step}", "r += 1 * step"]) if step > 1 else rng.choice(["r++", "++r"])
    begin = rng.choice([f"&{to}[{first}]", f"{to} + {first}"])
    limit, order = f"&{to}[{last}]", "<"
    if rng.random() < 0.3:
        limit, order = f"{to} + ({last}) - 1", "<="
    elif step == 1 and rng.random() < 0.3:
        order = "!="
    affinity = rng.choice(["r", "&*r", "&r[0]"])
    at = rng.choice(["(*r)", "r[0]"])
    return step, (f"  {{ {lay} *r; const int step = {step}; (void)step;"
                  f" upc_forall (r = {begin}; r {order} {limit}; {word}; {affinity}) {{"
                  f" const int i = r - {to}; {text.replace(to + '[i]', at)} }}"
                  f" same({number}, -1, (r - {to}), ({first}) >= ({last}) ? {first} : ({first}) +"
                  f" (({last}) - ({first}) + {step - 1}) / {step} * {step}); }}")


def loop(rng, number, by_pointer=False, down=False):
    """Declarations and code of one loop."""
    block = rng.choice(["", "[2]", "[3]", "[5]", "[8]", "[16]", "[*]", "[]"])
    row = 1 if by_pointer else rng.choice([1, 1, 1, 2])
    per = rng.choice([16, 30, 33])
    dims = f"[{per}]" if block == "[]" else f"[{per} * THREADS]"
    count = f"{per}" if block == "[]" else f"{per} * THREADS"
    if row > 1:
        block = rng.choice(["[4]", "[6]", "[16]"])
        dims, count = f"[{per} * THREADS][2]", f"{per} * THREADS"
    column = "[1]" if row > 1 else ""
    kind = rng.choice(["int", "long", "short"])
    names = [f"t{number}", f"f{number}", f"o{number}"]
    extra = "[2]" if row > 1 else ""
    top = [f"shared {block} {kind} {n}{dims}; static {kind} p{n}[{per} * 8]{extra};" for n in names]
    reach = rng.randint(0, 4)
    text = body(rng, reach, column)
    skip = rng.randint(0, 6) if block not in ("[*]", "") and row == 1 else 0
    first, last = reach + rng.randint(0, 5), f"{count} - {reach + skip + rng.randint(0, 3)}"
    level = f"const long n = {count}; (void)n;"
    code = [f"  {{ {level}"]
    code.append(f"  for (long i = 0; i < n; i++) {{ for (int k = 0; k < 3; k++) {{")
    code.append(f"    const long v = (i * 37 + k * 11 + {rng.randrange(50)}) % 101;")
    for k, n in enumerate(names):
        code.append(f"    if (k == {k}) {{ p{n}[i]{column} = v;"
                    f" if (i % THREADS == MYTHREAD) {n}[i]{column} = v; }}")
    code.append("  } } upc_barrier;")

    def with_names(words, strict):
        out = text
        for word, n in zip(("TO", "FROM", "OTHER"), words):
            out = out.replace(word, n)
        return out.replace("STRICT", strict)

    lay = f"shared [{per}] {kind}" if block == "[*]" else f"shared {block} {kind}"
    if skip:
        there = [f"q{n}" for n in names]
        for n, q in zip(names, there):
            code.append(f"  {lay} *{q} = &{n}[{skip}];")
        private = [f"(p{n} + {skip})" for n in names]
    else:
        there, private = names, [f"p{n}" for n in names]
    aff = rng.choice([f"&{there[0]}[i]", f"&{there[0]}[i]", f"&{there[1]}[i]", "i"])
    shared, step = with_names(there, "pulse[MYTHREAD]++"), 1
    if by_pointer:
        step, written = pointer_loop(rng, number, lay, there[0], first, last, shared)
        code.append(written)
    elif down:
        code.append(f"  upc_forall (int i = {last} - 1; i >= {first}; i--; {aff}) {{ {shared} }}")
    else:
        code.append(f"  upc_forall (int i = {first}; i < {last}; i++; {aff}) {{ {shared} }}")
    code.append(f"  for (int i = {first}; i < {last}; i += {step}) {{"
                f" {with_names(private, '(void)0')} }}")
    code.append("  upc_barrier;")
    code.append(f"  for (long i = 0; i < n; i++) same({number}, i, {names[0]}[i]{column},"
                f" p{names[0]}[i]{column});")
    code.append("  upc_barrier; }")
    return "\n".join(top), "\n".join(code)


def main():
    rng = random.Random(10)
    loops = [loop(rng, k) for k in range(LOOPS)]
    loops += [loop(rng, k, True) for k in range(LOOPS, LOOPS + BY_POINTER)]
    loops += [loop(rng, k, False, True) for k in range(LOOPS + BY_POINTER, ALL)]
    text = HEAD + "\n".join(top for top, _ in loops) + "\nint main(void) {\n"
    text += "\n".join(code for _, code in loops) + "\n  return bad ? 1 : 0;\n}\n"
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "r.upc"), os.path.join(folder, "r")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        for options, threads in ((["-O2"], (1, 2, 3, 4)), (["-O2", "-T", "3"], (3,)),
                                 (["-O0"], (3,)), (["-O1", "--pointers=wide"], (2,))):
            built = subprocess.run([TOMBOLO, "upcc", *options, source, "-o", program], check=False)
            if built.returncode:
                return 1
            for n in threads:
                run = subprocess.run([TOMBOLO, "run", "-n", str(n), program], check=False,
                                     capture_output=True, text=True, timeout=60)
                if run.returncode:
                    failures += 1
                    print(options, n, "threads:", run.stdout[:600], run.stderr[:300])
    print(f"random_forall: {ALL} loops, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
