# SPDX-License-Identifier: BSD-3-Clause
# nightly: yes
"""Every routine that shmem.h declares is defined, as a weak alias of its pshmem_ name; a library
that defines one takes its place; the headers compile alone in each language level; the library
exports nothing else."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD = Path(os.environ["TMB_BUILD"])
ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "shmem/include"
OLD = {"start_pes", "_my_pe", "_num_pes", "num_pes", "shmalloc", "shrealloc", "shmemalign"}
OLD |= {"shfree"}
LEVELS = [("c", "c99"), ("c", "c11"), ("c", "c17"), ("c++", "c++11"), ("c++", "c++20")]
HEADERS = ["shmem.h", "shmemx.h", "mpp/shmem.h", "mpp/shmemx.h", "pshmem.h"]

PROFILER = """
#include <pshmem.h>
static long calls;
void shmem_long_put(long *dest, const long *source, size_t nelems, int pe) {
  calls++;
  pshmem_long_put(dest, source, nelems, pe);
}
static long x, y = 5;
int main(void) {
  shmem_init();
  shmem_put(&x, &y, 1, shmem_my_pe());
  shmem_quiet();
  const int ok = calls == 1 && x == 5;
  shmem_finalize();
  return ok ? 0 : 3;
}
"""


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def declared():
    text = run("cc", "-E", "-P", "-DSHMEM_NO_GENERIC_", str(INCLUDE / "shmem.h"))
    names = set(re.findall(r"\b(shmem_\w+) ?\([^()]*\)\s*(?:__attribute__.*)?;", text))
    return names | {"shmem_global_exit"}


def exported():
    rows = run("nm", "-D", "--defined-only", str(BUILD / "lib/libshmem_tombolo.so")).split("\n")
    return {row.split()[2]: row.split()[1] for row in rows if row}


def check_names():
    wanted, there = declared(), exported()
    assert len(wanted) > 1700, len(wanted)
    missing = sorted(n for n in wanted if n not in there or "p" + n not in there)
    assert not missing, f"declared, not defined: {missing[:9]}"
    strong = sorted(n for n in wanted if there[n] != "W")
    assert not strong, f"not weak: {strong[:9]}"
    extra = sorted(n for n in there if n not in OLD and n not in wanted and n[1:] not in wanted)
    assert not extra, f"exported, not declared: {extra[:9]}"


def check_headers(folder):
    for language, level in LEVELS:
        text = "".join(f"#include <{header}>\n" for header in HEADERS)
        source = folder / "all.txt"
        source.write_text(text)
        compiler = "cc" if language == "c" else "c++"
        run(compiler, "-x", language, f"-std={level}", "-Wall", "-Wextra", "-Werror", "-pedantic",
            f"-I{INCLUDE}", f"-I{BUILD}/generated", "-fsyntax-only", str(source))


def check_profiler(folder):
    source = folder / "profiler.c"
    source.write_text(PROFILER)
    program = folder / "profiler"
    run(str(BUILD / "bin/oshcc"), "-Wall", f"-I{BUILD}/generated", str(source), "-o", str(program))
    run(str(BUILD / "bin/oshrun"), "-np", "2", str(program))


def main():
    check_names()
    with tempfile.TemporaryDirectory() as name:
        check_headers(Path(name))
        check_profiler(Path(name))
    print("names: passed")
    return 0


sys.exit(main())
