#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
"""Random layouts, walks and casts of pointers-to-shared against a model in Python.

The model places elements by the rules of the language (block = i div B, thread = block mod T, ...);
the program, generated here with a fixed seed, is compiled for a number of threads that is known at
run time and for a fixed one, and compares thread, phase and distance at every step.
"""

import os
import random
import subprocess
import sys
import tempfile

TOMBOLO = os.environ.get("TOMBOLO", "tombolo")
TYPES = {"char": 1, "short": 2, "int": 4, "double": 8, "struct odd": 12, "long": 8}
ARRAYS, STEPS = 10, 12
WHOLE = bool(os.environ.get("TMB_TEST_WHOLE"))  # `make test-all`: nothing is left out


class Array:
    """A shared array: block size, element type, and what is behind the first dimension."""

    def __init__(self, rng, number):
        self.name = f"a{number}"
        self.type = rng.choice(list(TYPES))
        self.size = TYPES[self.type]
        self.block = rng.choice([0, 1, 1, 2, 3, 4, 5, 7, 8, 12])
        self.row = rng.choice([1, 1, 1, 3, 4, 6])
        self.rows = rng.randint(4, 12)

    def declaration(self):
        layout = "[]" if self.block == 0 else f"[{self.block}]"
        dims = f"[{self.rows}{'' if self.block == 0 else ' * THREADS'}]"
        if self.row > 1:
            dims += f"[{self.row}]"
        return f"shared {layout} {self.type} {self.name}{dims};"

    def count(self, threads):
        return self.rows * self.row * (1 if self.block == 0 else threads)

    def place(self, i, threads):
        """Thread, phase and offset of element i (which may be outside of the array)."""
        if self.block == 0:
            return 0, 0, i * self.size
        block, phase = divmod(i, self.block)
        row, thread = divmod(block, threads)
        return thread, phase, (row * self.block + phase) * self.size


def walk(rng, array, threads, out):
    """Code for a walk of one pointer."""
    layout = "[]" if array.block == 0 else f"[{array.block}]"
    element = "[0]" if array.row > 1 else ""
    out.append(f"  {{ shared {layout} {array.type} *p = &{array.name}[0]{element}, *q;")
    at, count = 0, array.count(threads)
    for _ in range(STEPS):
        target = rng.randrange(count)
        kind = rng.randrange(6)
        delta = target - at
        if kind == 0:
            out.append(f"    p += {delta};")
        elif kind == 1:
            out.append(f"    p = &p[{delta}];")
        elif kind == 2:
            out.append(f"    p = p - ({-delta});")
        elif kind == 3:
            row, column = divmod(target, array.row)
            index = f"[{row}][{column}]" if array.row > 1 else f"[{row}]"
            out.append(f"    p = &{array.name}{index};")
        elif kind == 4:
            target = at + 1 if at + 1 < count else at
            out.append("    q = p++;" if target != at else "    q = p;")
        else:
            far = delta + rng.choice([-1, 1]) * count
            out.append(f"    p = p + ({far}); p -= ({far - delta});")
        thread, phase, offset = array.place(target, threads)
        out.append(
            f"    IS({array.name}, p, {thread}, {phase}, {offset}L); "
            f"q = &{array.name}[0]{element}; CHECK_EQ(p - q, {target}); "
            f"CHECK((p > q) == {int(target > 0)}); CHECK((p == q) == {int(target == 0)});"
        )
        at = target
        if rng.randrange(4) == 0:  # through shared void * and back, and through another layout
            keeps = phase if array.block > 1 else 0
            out.append(
                f"    {{ shared void *v = p; q = v;"
                f" IS({array.name}, q, {thread}, {keeps}, {offset}L);"
                f" shared [] {array.type} *w = (shared [] {array.type} *)p;"
                f" IS({array.name}, w, {thread}, 0, {offset}L); CHECK(w == p); }}"
            )
    out.append("    (void)q; }")


def program(seed, threads):
    rng = random.Random(seed)
    arrays = [Array(rng, i) for i in range(ARRAYS)]
    out = [
        '#include <upc_relaxed.h>\n#include "check.h"\nstruct odd { int a, b, c; };',
        "#define IS(array, p, t, ph, off) do { CHECK_EQ(upc_threadof(p), t); "
        "CHECK_EQ(upc_phaseof(p), ph); CHECK_EQ((long)upc_addrfield(p) - "
        "(long)upc_addrfield(&array), off); } while (0)",
    ]
    out += [array.declaration() for array in arrays]
    out.append("int main(void) {")
    for array in arrays:
        walk(rng, array, threads, out)
    out.append("  return 0;\n}")
    return "\n".join(out)


def main():
    lib = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")
    with tempfile.TemporaryDirectory() as folder:
        for seed, threads in ((1, 1), (2, 2), (3, 3), (4, 5), (5, 7))[0 if WHOLE else 3:]:
            source, binary = os.path.join(folder, "p.upc"), os.path.join(folder, "p")
            with open(source, "w", encoding="utf-8") as file:
                file.write(program(seed, threads))
            for fixed in ([], ["-T", str(threads)]):
                subprocess.run(
                    [TOMBOLO, "upcc", "-w", "-I", lib, *fixed, source, "-o", binary], check=True
                )
                subprocess.run([TOMBOLO, "run", "-n", str(threads), binary], check=True)
    print("random_pointers: ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
