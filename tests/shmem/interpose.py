# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
"""A profiling tool that defines shmem_X sees every call of a program that was compiled with
optimisation: a shared library in front, an object of the program, also of one that is linked with
libshmem_tombolo.a, and the file of the call itself.
Without a tool such a program makes no call for memory that is mapped here."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD = Path(os.environ["TMB_BUILD"])
TOOL = """
#include <pshmem.h>
#include <stdlib.h>
#include <unistd.h>
static long calls;
#ifdef __cplusplus
extern "C"
#endif
void shmem_long_put(long *dest, const long *source, size_t nelems, int pe) {
  calls++;
  pshmem_long_put(dest, source, nelems, pe);
}
static void __attribute__((destructor)) check(void) {
  if (calls != 3) _exit(9);
}
"""
PROGRAM = """
#include <shmem.h>
static long x, y = 5;
int main(void) {
  shmem_init();
  long *heap = (long *)shmem_malloc(sizeof *heap);
  void (*const put)(long *, const long *, size_t, int) = shmem_long_put;
  const int right = (shmem_my_pe() + 1) % shmem_n_pes();
  shmem_long_put(&x, &y, 1, right);
  shmem_long_put(heap, &y, 1, right);
  put(heap, &y, 1, right);
  shmem_barrier_all();
  const int ok = x == 5 && *heap == 5 && shmem_long_g(&x, right) == 5;
  shmem_finalize();
  return ok ? 0 : 3;
}
"""


def run(*command, **environment):
    ran = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )
    assert ran.returncode == 0, f"{command}: {ran.returncode}\n{ran.stdout}{ran.stderr}"
    return ran.stdout


def check(folder, command, suffix):
    compiler = str(BUILD / "bin" / command)
    flags = ["-O2", "-Wall", "-Werror", f"-I{BUILD}/generated"]
    sources = {"tool": TOOL, "program": PROGRAM, "one": TOOL + PROGRAM}
    for name, text in sources.items():
        (folder / f"{name}{suffix}").write_text(text)
    path = {name: str(folder / f"{name}{suffix}") for name in sources}
    program, both, one, tool = (str(folder / n) for n in ("program", "both", "one", "tool.so"))
    run(compiler, *flags, path["program"], "-o", program)
    run(compiler, *flags, path["program"], path["tool"], "-o", both)
    run(compiler, *flags, path["one"], "-o", one)
    run(compiler, *flags, "-shared", "-fPIC", path["tool"], "-o", tool)
    start = [str(BUILD / "bin/oshrun"), "-np", "2"]
    run(*start, program)
    run(*start, both)
    run(*start, one)
    run(*start, "env", f"LD_PRELOAD={tool}", program)
    static = str(folder / "static")
    libraries = [str(BUILD / f"lib/lib{name}.a") for name in ("shmem_tombolo", "tombolo")]
    include = f"-I{BUILD}/include/tombolo-shmem"
    link = [*flags, include, path["program"], path["tool"], *libraries, "-lm", "-o", static]
    plain, variable = ("c++", "OSHCXX") if suffix == ".cc" else ("cc", "OSHCC")
    run(os.environ.get(variable, plain), *link)
    run(*start, static)
    code = run("objdump", "-d", "--no-show-raw-insn", program)
    assert "shmem_inline_table_" in code, "the program has no inline code"


def main():
    with tempfile.TemporaryDirectory() as name:
        check(Path(name), "oshcc", ".c")
        check(Path(name), "oshc++", ".cc")
    print("interpose: passed")
    return 0


sys.exit(main())
