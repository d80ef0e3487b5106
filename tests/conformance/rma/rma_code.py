#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What compilers make of put and get in a client: no string instruction for a size that they know.

gcc expands a memcpy of 257 bytes to 8 KiB as `rep movs`, which takes longer to start than the whole
call of memcpy. Reads the assembly text of a client, in C and C++, and of a bare memcpy beside it,
which says whether the compiler has that habit at all.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
STRING = re.compile(r"\brep[ \t;]*(movs|stos)")
BARE = """
#include <string.h>
void bare(char *to, const char *from);
void bare(char *to, const char *from) { memcpy(to, from, 512); }
"""
CLIENT = """
#include <gasnetex.h>
#ifdef __cplusplus
extern "C"
#endif
void client(gex_TM_t tm, char *to, char *from);
void client(gex_TM_t tm, char *to, char *from) {
  gex_RMA_PutBlocking(tm, 1, to, from, 512, 0);
  gex_RMA_GetBlocking(tm, to, 1, from, 1024, 0);
  gex_RMA_PutNBI(tm, 1, to, from, 4096, GEX_EVENT_DEFER, 0);
}
"""


def assembly(compiler, ending, text):
    """The assembly text of a source at -O2."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / f"source.{ending}"
        source.write_text(text, encoding="utf-8")
        flags = ["-O2", "-DGASNET_SEQ=1", f"-I{ROOT / 'include'}", "-S", "-o", "-"]
        command = [compiler, *flags, str(source)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main():
    failed = habit = 0
    for compiler, ending in (("gcc", "c"), ("g++", "cc"), ("clang", "c"), ("clang++", "cc")):
        if not shutil.which(compiler):
            print(f"{compiler}: not here")
            continue
        habit += bool(STRING.search(assembly(compiler, ending, BARE)))
        found = STRING.findall(assembly(compiler, ending, CLIENT))
        print(f"{compiler}: {len(found)} string instructions in a client")
        failed += bool(found)
    print(f"compilers that make one of a bare memcpy: {habit}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
