#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 60
"""Words of C23: they are words of the language with -std=c2x and the like, and names without.

The translator alone is tried, for C compilers of 2022 do not have these words. One that has
_BitInt, as clang 14, then compiles and runs a program with it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOMBOLO = os.environ.get("TOMBOLO", "tombolo")
WORDS = """#include <upc.h>
constexpr int n = 4;
shared [n] int a[n * THREADS];
static_assert(upc_blocksizeof(a) == n);
static_assert(true);
static bool yes = true, no = false;
static thread_local int own;
alignas(16) static char aligned[16];
static signed _BitInt(17) small;
typeof_unqual(const int) plain;
shared int *null(void) { return nullptr; }
int main(void) {
  constexpr long two = 2;
  shared [two] int *p = nullptr;
  bool same = p == nullptr && null() == nullptr;
  small += 3;
  plain = (int)alignof(int);
  if (MYTHREAD == 0) a[0] = yes && !no && same;
  return own + aligned[0] + (small == 3);
}
"""
NAMES = """#include <upc.h>
shared int bool, constexpr, nullptr, thread_local;
int main(void) {
  bool = constexpr + nullptr;
  return thread_local;
}
"""
BITS = """#include <upc.h>
#include <stdio.h>
static _BitInt(17) small;
shared int a[THREADS];
int main(void) {
  small += 3;
  unsigned _BitInt(33) wide = (unsigned _BitInt(33))small;
  wide -= 4; /* of 33 bits, unsigned: it is now the greatest */
  a[MYTHREAD] = wide > 4294967296ull ? 3 : 0;
  upc_barrier;
  printf("%d\\n", a[(MYTHREAD + 1) % THREADS]);
  return 0;
}
"""


def run(*command, text=""):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, input=text,
                          check=False)
    return done.returncode, done.stdout + done.stderr


def translate(folder, program, standard):
    source = folder / "program.upc"
    source.write_text(program)
    code, said = run(TOMBOLO, "upcc", "-trans", f"-std={standard}", source, "-o", folder / "out.c")
    if code or said:
        sys.exit(f"-std={standard}: code {code}: {said}\n{program}")


def run_bits(folder):
    """Whether a C compiler here has _BitInt; then the program runs."""
    for compiler in filter(shutil.which, ("cc", "clang", "gcc")):
        if run(compiler, "-std=gnu2x", "-fsyntax-only", "-xc", "-", text="_BitInt(17) a;")[0]:
            continue
        source = folder / "bits.upc"
        source.write_text(BITS)
        code, said = run(TOMBOLO, "upcc", f"--compiler={compiler}", "-std=gnu2x", source, "-o",
                         folder / "bits")
        if code == 0:
            code, said = run(TOMBOLO, "run", "-n", 2, folder / "bits")
        if code or said != "3\n3\n":
            sys.exit(f"{compiler}: _BitInt: code {code}: {said}")
        return True
    return False


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for standard in ("gnu2x", "c2x"):
            translate(folder, WORDS, standard)
        for standard in ("gnu17", "c11"):
            translate(folder, NAMES, standard)
        print("c23: the words are known" + ("; _BitInt runs" if run_bits(folder) else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
