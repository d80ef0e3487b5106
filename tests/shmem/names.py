# SPDX-License-Identifier: BSD-3-Clause
# nightly: yes
"""Every routine that shmem.h declares is defined, as a weak alias of its pshmem_ name; the headers
compile alone in each language level, with and without inline code; the library exports nothing
else."""
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
INLINE = {"shmem_inline_", "shmem_inline_wake_"}
LEVELS = [("c", "c99"), ("c", "c11"), ("c", "c17"), ("c++", "c++11"), ("c++", "c++20")]
HEADERS = ["shmem.h", "shmemx.h", "mpp/shmem.h", "mpp/shmemx.h", "pshmem.h"]

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
    known = wanted | OLD | INLINE
    extra = sorted(n for n in there if n not in known and n[1:] not in wanted)
    assert not extra, f"exported, not declared: {extra[:9]}"


def check_headers(folder):
    for language, level in LEVELS:
        text = "".join(f"#include <{header}>\n" for header in HEADERS)
        source = folder / "all.txt"
        source.write_text(text)
        compiler = "cc" if language == "c" else "c++"
        for optimise in ["-O0", "-O2"]:
            run(compiler, "-x", language, f"-std={level}", optimise, "-Wall", "-Wextra", "-Werror",
                "-pedantic", f"-I{INCLUDE}", f"-I{BUILD}/generated", "-S", "-o", "/dev/null",
                str(source))


def main():
    check_names()
    with tempfile.TemporaryDirectory() as name:
        check_headers(Path(name))
    print("names: passed")
    return 0


sys.exit(main())
