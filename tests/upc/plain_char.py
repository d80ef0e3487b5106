#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
"""char with negative values (x86-64) and without (ARM, RISC-V, -funsigned-char).

What upcc computes of constants, and reads from shared bit-fields, is what the C compiler has for
private objects.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

TOMBOLO = os.environ.get("TOMBOLO", "tombolo")
PROGRAM = """#include <upc.h>
#include <stdio.h>
enum { CAST = (char)200, ESCAPE = '\\xff', OCTAL = '\\377', WIDE = L'\\xff' };
shared [(char)200 < 0 ? 3 : 5] int cast[THREADS];
shared ['\\xff' < 0 ? 3 : 5] int escape[THREADS];
struct fields { char c : 5; signed char s : 5; unsigned char u : 5; };
shared struct fields one;
int main(void) {
  const int number = 200, byte = 255; /* converted when the program runs */
  volatile char a = number, b = byte;
  struct fields mine = {-1, -1, 31};
  one = mine;
  const int block = (char)-1 < 0 ? 3 : 5;
  const int good = CAST == a && ESCAPE == b && OCTAL == b && WIDE == 255 &&
                   upc_blocksizeof(cast) == block && upc_blocksizeof(escape) == block &&
                   one.c == mine.c && one.s == -1 && one.u == 31;
  printf("%s %d\\n", good ? "right" : "wrong", a);
  return 0;
}
"""


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "p.upc").write_text(PROGRAM)
        for option, value in (("-fsigned-char", "-56"), ("-funsigned-char", "200"), ("-O1", None)):
            subprocess.run([TOMBOLO, "upcc", option, "p.upc", "-o", "p"], cwd=folder, check=True)
            run = subprocess.run(
                [TOMBOLO, "run", "-n", "2", "./p"], cwd=folder, capture_output=True, text=True,
                check=False,
            )
            lines = run.stdout.splitlines()
            allowed = [value] if value else ["-56", "200"]  # None: as the processor has it
            if run.returncode or lines not in [[f"right {number}"] * 2 for number in allowed]:
                wrong.append(f"{option}: {run.stdout}{run.stderr}")
    print("plain_char:", "\n".join(wrong) or "ok")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
