#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
"""Shared libraries of UPC have shared objects and initialisers of their own, also two at a time."""

import sys
import tempfile
from pathlib import Path

from driver import TOMBOLO, run

COMMON = """
#include <upc.h>
extern shared [4] int table[4 * THREADS];
extern shared int *pointer;
extern shared int given;
int visits(void);
int given_there(void);
"""

FIRST = """
#include "common.h"
shared [4] int table[4 * THREADS] = {1, 2, 3};
shared int given = 40;
shared int *pointer = &given;
int visits(void) {
  static shared int count[THREADS];
  return ++count[MYTHREAD];
}
"""

SECOND = """
#include "common.h"
int given_there(void) {
  return *pointer;
}
"""

PROGRAM = """
#include "common.h"
#include <stdio.h>
static shared int mine[THREADS];
int main(void) {
  mine[MYTHREAD] = 5;
  table[4 * MYTHREAD + 3] = MYTHREAD;
  upc_barrier;
  const int next = (MYTHREAD + 1) % THREADS;
  visits();
  if (table[4 * next + 3] != next || table[1] != 2 || visits() != 2 || mine[next] != 5) return 1;
  upc_barrier;
  printf("given %d %d\\n", given_there(), *pointer + 2);
  return 0;
}
"""


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "common.h").write_text(COMMON)
        (folder / "program.upc").write_text(PROGRAM)
        for library, text in (("first", FIRST), ("second", SECOND)):
            (folder / f"{library}.upc").write_text(text)
            made = f"lib{library}.so"
            run(folder, TOMBOLO, "upcc", "-fPIC", "-shared", f"{library}.upc", "-o", made)
        names = ["-L.", "-lsecond", "-lfirst", f"-Wl,-rpath,{folder}"]
        run(folder, TOMBOLO, "upcc", "program.upc", *names, "-o", "./program")
        out = run(folder, TOMBOLO, "run", "-n", "3", "./program")
        if out.count("given 40 42") != 3:
            sys.exit(f"expected 'given 40 42' three times: {out}")
    print("shared_library: ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
