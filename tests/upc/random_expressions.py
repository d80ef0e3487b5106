#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
"""Random expressions on shared objects against the same on private ones.

Each program, generated here with a fixed seed, is compiled twice: as C, where its objects are
private, and as UPC, where they are shared in random layouts. Thread 0 executes it, all threads
compare at the end what they see with what the C program printed: every type, members, bit-fields,
pointers, compound assignment, ++, conditional and comma operators, structures as values.
"""

import os
import random
import subprocess
import sys
import tempfile

TOMBOLO = os.environ.get("TOMBOLO", "tombolo")
CC = os.environ.get("TOMBOLO_UPC_CC", "cc")  # of the processor that the tests run for
WHOLE = bool(os.environ.get("TMB_TEST_WHOLE"))  # `make test-all`: nothing is left out
SEEDS, STATEMENTS, LENGTH = 2 if WHOLE else 1, 150 if WHOLE else 75, 12
INTEGERS = [
    "char",
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long",
    "unsigned long",
    "_Bool",
    "long long",
]
REALS = ["float", "double", "long double"]
OPERATORS = ["+", "-", "*", "&", "|", "^", "<", ">", "==", "!=", "&&", "||"]
RECORD = """struct in { short s; unsigned char c[3]; };
struct rec { char c; int i; struct in n[2]; unsigned u3 : 3; signed s5 : 5; unsigned long l33 : 33;
  union { unsigned w; unsigned char b[4]; }; double d; _Bool f : 1; short t; };
static long mix(long a, long b) { return a * 31 + b; }
static struct rec change(struct rec r, int by) { r.i += by; r.n[1].s -= by; r.u3 ^= by; return r; }
"""
FIELDS = ["c", "i", "n[0].s", "n[1].c[2]", "n[I].s", "u3", "s5", "l33", "w", "b[3]", "t", "f"]


class Program:
    """One program: its objects and statements."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        types = INTEGERS + REALS
        self.arrays = [(f"a{i}", t) for i, t in enumerate(types)]
        self.layouts = [self.layout() for _ in range(len(types) + 2)]

    def layout(self):
        return self.rng.choice(["", "[]", "[2]", "[3]", "[5]", "[12]"])

    def pick(self, choices):
        return self.rng.choice(choices)

    def index(self):
        return self.pick([str(self.rng.randrange(LENGTH)), "k", "(k + 5) % 12", "at[k % 3]"])

    def integer(self):
        """An integer lvalue."""
        kind = self.rng.randrange(6)
        if kind == 0:
            field = self.pick(FIELDS).replace("I", "k % 2")
            return f"r[{self.index()}].{field}"
        if kind == 1:
            return f"(p + {self.rng.randrange(3)})->{self.pick(FIELDS).replace('I', '1')}"
        if kind == 2:
            return self.pick([f"q[{self.rng.randrange(4)}]", f"(*(q + {self.rng.randrange(4)}))"])
        return f"a{self.rng.randrange(len(INTEGERS))}[{self.index()}]"

    def value(self, depth):
        """An integer expression without side effects."""
        if depth == 0 or self.rng.randrange(4) == 0:
            number = f"({self.rng.randrange(-99, 99)})"
            return self.pick([self.integer(), self.integer(), number, "k"])
        a, b = self.value(depth - 1), self.value(depth - 1)
        forms = [
            f"({a} {self.pick(OPERATORS)} {b})",
            f"({a} << ({b} & 15))",
            f"({a} >> ({b} & 15))",
            f"({a} / ({b} ? {self.rng.randrange(1, 99)} : 7))",
            f"(({self.pick(INTEGERS)}){a})",
            f"({self.pick(['-', '~', '!', '+'])}{a})",
            f"({a} ? {b} : {self.value(depth - 1)})",
            f"((void){a}, {b})",
            f"mix({a}, {b})",
            f"(long)sizeof({a} + 0)",
            f"({{ __typeof__({a} + 0) t = {a}; t ^ {b}; }})",
            f"(int)(a{len(INTEGERS) + self.rng.randrange(3)}[{self.index()}] > {a})",
        ]
        return self.pick(forms)

    def statement(self):
        left = self.integer()
        kind = self.rng.randrange(12)
        if kind <= 3:
            op = self.pick(["=", "=", "+=", "-=", "*=", "&=", "|=", "^="])
            return f"x = ({left} {op} {self.value(2)});"
        if kind == 4:
            return f"x = ({left} {self.pick(['<<=', '>>='])} ({self.value(1)} & 7));"
        if kind == 5:
            return f"x = ({left} {self.pick(['/=', '%='])} {self.rng.randrange(1, 50)});"
        if kind == 6:
            return f"x = {self.pick([f'{left}++', f'{left}--', f'++{left}', f'--{left}'])};"
        if kind == 7:
            real = f"a{len(INTEGERS) + self.rng.randrange(3)}[{self.index()}]"
            op = self.pick(["= 0.5 *", "+=", "-=", "= 1.25 +"])
            return f"{real} {op} (({self.value(1)}) & 255);"
        if kind == 8:
            target = f"r[{self.index()}]"
            source = self.pick(["p[1]", "*p", f"r[{self.index()}]", f"change(*p, {self.value(1)})"])
            return f"{target} = {self.pick([source, f'k ? {source} : r[2]'])};"
        if kind == 9:
            moves = [f"p = &r[{self.rng.randrange(9)}];", f"q = &a5[{self.rng.randrange(8)}];"]
            return self.pick(moves)
        if kind == 10:
            return f"if ({self.value(2)}) {{ {left} = {self.value(1)}; }} else {left}++;"
        return f"for (k = 0; k < {self.rng.randrange(1, 5)}; k++) {left} ^= {self.value(1)};"

    def text(self, statements, shared):
        quals = [f"shared {layout} " if shared else "" for layout in self.layouts]
        out = ["#include <stdio.h>", "#include <upc.h>" if shared else "", RECORD]
        for (name, type_), qual in zip(self.arrays, quals):
            out.append(f"{qual}{type_} {name}[{LENGTH}];")
        out.append(f"{quals[-1]}struct rec r[{LENGTH}]; static int at[3] = {{ 1, 7, 4 }};")
        out.append(f"static {quals[-1]}struct rec *p = &r[1]; static {quals[5]}int *q = &a5[2];")
        out.append("static int k = 1; static long x;")
        out.append("static void show(void) { unsigned long sum = 0;")
        for i, (name, _) in enumerate(self.arrays):
            real = i >= len(INTEGERS)
            form, cast = ("%La", "(long double)") if real else ("%lld", "(long long)")
            out.append(f"  for (int i = 0; i < {LENGTH}; i++)")
            out.append(f'    fprintf(stderr, "{form} ", {cast}{name}[i]);')
        fields = [field.replace("I", "0") for field in FIELDS]
        out.append(f"  for (int i = 0; i < {LENGTH}; i++) sum = sum * 31 + r[i].d;")
        for field in fields:
            out.append(f"  for (int i = 0; i < {LENGTH}; i++) sum = sum * 33 + r[i].{field};")
        out.append('  fprintf(stderr, "%lu\\n", sum); }')
        out.append("static void run(void) {")
        for number, statement in enumerate(statements):
            out.append(f"  {statement}")
            if number % 10 == 9:
                out.append('  printf("%d %ld\\n", __LINE__, x);')
        out.append("}")
        if shared:
            out.append("int main(void) { if (MYTHREAD == 0) run(); upc_barrier;")
            out.append("  if (MYTHREAD == THREADS - 1) show(); return 0; }")
        else:
            out.append("int main(void) { run(); show(); return 0; }")
        return "\n".join(out)


def output(command, **variables):
    env = {**os.environ, **variables}
    run = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
    return (run.stdout + run.stderr).split()


def check(seed, folder):
    program = Program(seed)
    statements = [program.statement() for _ in range(STATEMENTS)]
    c_file, upc_file = os.path.join(folder, "p.c"), os.path.join(folder, "p.upc")
    binary = os.path.join(folder, "p")
    for path, shared in ((c_file, False), (upc_file, True)):
        with open(path, "w", encoding="utf-8") as file:
            file.write(program.text(statements, shared))
    flags = ["-w", "-fwrapv"]
    subprocess.run([CC, *flags, c_file, "-o", binary], check=True)
    expected = output([binary])
    for more in (["-O0"], ["-O2"], ["-O1", "--pointers=wide"]):
        subprocess.run(
            [TOMBOLO, "upcc", "-T", "3", *flags, *more, upc_file, "-o", binary], check=True
        )
        far = {"TOMBOLO_TEST_SHM": "0"} if "-O2" in more else {}
        got = output([TOMBOLO, "run", "-n", "3", binary], **far)
        if got != expected:
            wrong = next(i for i, (a, b) in enumerate(zip(got, expected)) if a != b)
            print(f"random_expressions: seed {seed}, {more}: word {wrong} of the output differs:")
            print(got[max(0, wrong - 3) : wrong + 2], expected[max(0, wrong - 3) : wrong + 2])
            return False
    return True


def main():
    seeds = [int(s) for s in sys.argv[1:]] or range(1, SEEDS + 1)
    with tempfile.TemporaryDirectory() as folder:
        good = all([check(seed, folder) for seed in seeds])
    if good:
        print("random_expressions: ok")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
