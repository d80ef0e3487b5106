#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 60
"""`tombolo upcc`: separate compilation, sources of one name, translated sources, main in C."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))
import signals  # noqa: E402

TOMBOLO = os.environ.get("TOMBOLO", "tombolo")
CC = os.environ.get("TOMBOLO_UPC_CC", "cc")
MAIN = """#include <upc.h>
#include <stdio.h>
extern shared [2] int a[4 * THREADS];
shared int common; /* tentative, here and there */
int part(void);
int main(void) {
  upc_forall (int i = 0; i < 4 * THREADS; i++; &a[i]) a[i] += i;
  upc_barrier;
  printf("sum %d\\n", part());
  return 0;
}
"""
PART = """#include <upc.h>
shared [2] int a[4 * THREADS] = {5};
shared int common;
static shared int own = 7;
int part(void) {
  int sum = own + common;
  for (int i = 0; i < 4 * THREADS; i++) sum += a[i];
  return sum;
}
"""
OPENMP = """#include <upc.h>
shared int a[THREADS];
int main(void) {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < THREADS; i++) sum += a[i] + a[i];
#pragma omp parallel
  {
#pragma omp critical
    a[0] = a[0] + 1;
#pragma omp critical
    a[0]++;
    if (sum)
#pragma omp critical
      a[0] += a[0];
  }
  return sum;
}
"""
SIGNS = """#include <upc.h>
shared int *a;
int main(void) {
  a++; a += 1; a + a /* first */;
  int **b; b = 0; *b * 2; a *= 1, a * 2 /* second */;
  return 0;
}
"""
EMPTY = """#include <upc.h>
int main(void) { return 0; }
"""
UNKNOWN = """#include <upc.h>
#include <upc_castable.h>
int main(void) { return UPC_CASTABLE_NONE; }
"""
UNDECLARED = """#include <upc.h>
shared int a[THREADS];
int main(void) {
  upc_all_broadcast(a, a, 4, 0);
  upc_ticks_now();
  return 0;
}
"""
OLD = """#include <upc.h>
#include <stdio.h>
shared [2] int a[2 * THREADS];
shared int *p;
main() {
  int i;
  p = a; /* other layouts need a cast */
  upc_forall (i = 0; i < THREADS; i++; i) p[i] = 1;
  upc_barrier;
  printf("sum %d\\n", *p + THREADS - 1);
  return 0;
}
"""
WRONG = """#include <upc.h>
#define ADD(a, b) ((a) + (b))
shared int a[10 * THREADS];
int f(int i) {
  a[i]   = a[i + 1] * first;
\ta[i + 2] = ADD(i, second) + third;
  a[i] += a[a[i]] + *i;
  return a[1] + (a[i] ? a[2] : fourth);
}
shared unsigned char narrow[THREADS];
void g(void) {
  int n = 0;

  narrow[0] = 300; /* what is written in front of the first token is of this line, too */
  n++;
  narrow[0] += 1 << 40; (void)n;
}
"""
VOID_MAIN = """#include <upc.h>
#include <stdio.h>
void main(void) {
  printf("sum %d\\n", THREADS);
}
"""
# The preprocessor knows the C compiler's options too.
OPTIONS = """#include <upc.h>
#ifndef __FAST_MATH__
# error "-ffast-math is not seen"
#endif
shared int a??(THREADS??);
"""
TWICE = """#include <upc.h>
shared [2] int a[4 * THREADS] = {6};
"""
# C23: marks between the digits of a number.
DIGITS = """#include <upc.h>
shared [1'0] int a[THREADS * 2'0];
int main(void) {
  return upc_blocksizeof(a) != 10 || 1'000 != 0x3'e8 || 0b1'0 != 2;
}
"""
# In the older C a definition with `inline` alone can be called from everywhere.
INLINE = """#include <upc.h>
#include <stdio.h>
inline int twice(int x) { return 2 * x; }
int main(void) {
  printf("sum %d\\n", twice(THREADS));
  return 0;
}
"""
BERKELEY = """#include <upc.h>
#if !defined(__BERKELEY_UPC__) || __BERKELEY_UPC__ * 100 + __BERKELEY_UPC_MINOR__ < 216
# error "an old version, or none"
#endif
#if !defined(__BERKELEY_UPC_RUNTIME__) || !__BERKELEY_UPC_RUNTIME_RELEASE__
# error "no run-time library"
#endif
int main(void) {
  int i;
  forall (i = 0; i < THREADS; i++; i) bupc_poll();
  return 0;
}
"""
NEAR = """#include <upc.h>
#include "near.h"
int x = near;
"""
# Two files that both define a private variable, as compilers allowed.
COMMON = """#include <upc.h>
#include <stdio.h>
int counter;
int main(void) {
  counter++;
  printf("sum %d\\n", THREADS * counter);
  return 0;
}
"""
# C behind the pragma, also in a header that is included there; UPC in one of ours.
C_HEADER = """struct text { int strict; };
extern void eat(struct text *shared, int THREADS);
"""
C_CODE = """#include <upc.h>
static shared int common;
#pragma upc c_code
#include "c.h"
#include <upc_collective.h>
int f(int shared) { return shared + 1; }
#pragma upc upc_code
#include "upc.uph"
int g(void) { return common + more; }
"""
C_MAIN = """int part(void);
#include <stdio.h>
void bupc_init(int *, char ***);
int main(int argc, char **argv) {
  bupc_init(&argc, &argv);
  printf("sum %d\\n", part());
  return 0;
}
"""


def run(folder, *command):
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"{' '.join(command)}: {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def expect(folder, program, value):
    out = run(folder, TOMBOLO, "run", "-n", "3", program)
    if out.count(f"sum {value}") != 3:
        sys.exit(f"{program}: expected 'sum {value}' three times: {out}")


def older_options(folder):
    """Options of older drivers and launchers; warnings and levels that the translator knows."""
    run(folder, TOMBOLO, "upcc", "-T=3", "-network=udp", "-Wc,-O1", "-uses-threads", "m.upc",
        "x/m.c", "-o", "fixed")
    out = run(folder, TOMBOLO, "upcrun", "-q", "-shared-heap", "64MB", "-c", "2", "./fixed")
    out += run(folder, TOMBOLO, "upcrun", "-np", "3", "-bind-threads", "both")
    if out.count("sum 78") != 6:
        sys.exit(f"upcrun: {out}")
    shown = run(folder, TOMBOLO, "upcrun", "-t", "-n", "2", "./both", "-n", "7")
    if shown != "tombolo run -n 2 -- ./both -n 7\n":
        sys.exit(f"upcrun -t: {shown}")
    if subprocess.run([TOMBOLO, "upcrun", "./both"], cwd=folder, capture_output=True,
                      check=False).returncode != 2:
        sys.exit("upcrun without -n started a program for any number of threads")
    (Path(folder) / "old.upc").write_text(OLD)
    run(folder, TOMBOLO, "upcc", "-ansi", "-O0", "-w", "old.upc", "-o", "old")
    expect(folder, "./old", 3)
    (Path(folder) / "options.upc").write_text(OPTIONS)
    run(folder, TOMBOLO, "upcc", "-c", "-ffast-math", "--param", "ggc-min-expand=10", "-trigraphs",
        "-w", "options.upc")
    command = [TOMBOLO, "upcc", "-c", "old.upc"]
    for option, code in ("-Wall", 0), ("-Werror", 1), ("-pedantic-errors", 1):
        env = dict(os.environ, UPCC_FLAGS=option)
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False,
                                env=env)
        if result.returncode != code or "block sizes need a cast" not in result.stderr:
            sys.exit(f"{option}: {result.returncode}\n{result.stderr}")


def vendors(folder):
    """Options of the compilers of GNU UPC, Cray and IBM; dependencies."""
    for options in (["-h", "upc", "-X", "3"], ["-hupc", "-X3"], ["-fupc-threads-3", "-fupc-debug"],
                    ["-qupc=threads=3", "-qarch=auto"]):
        run(folder, TOMBOLO, "upcc", *options, "-shared-heap", "64MB", "m.upc", "x/m.c", "-lupc",
            "-o", "vendor")
        expect(folder, "./vendor", 12 * 11 // 2 + 12)
        if subprocess.run([TOMBOLO, "run", "-n", "2", "./vendor"], cwd=folder, check=False,
                          capture_output=True).returncode == 0:
            sys.exit(f"{options}: the number of threads is not fixed")
    if not run(folder, TOMBOLO, "upcc", "-MM", "m.upc").startswith("m.o: m.upc"):
        sys.exit("-MM: no dependencies")


def fails(folder, *command):
    """What a command that must fail says."""
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode == 0:
        sys.exit(f"{' '.join(command)}: it succeeded")
    return result.stderr


def definitions(folder):
    """Two initialised definitions; versions of C; where headers are looked for; --berkeley."""
    (folder / "twice.upc").write_text(TWICE)
    said = fails(folder, TOMBOLO, "upcc", "m.upc", "x/m.c", "twice.upc", "-o", "two")
    for text in "multiple definition of `a'", "the object of x/m.c", "the object of twice.upc":
        if text not in said:
            sys.exit(f"two initialised definitions: no '{text}'\n{said}")
    (folder / "inline.upc").write_text(INLINE)
    run(folder, TOMBOLO, "upcc", "-O0", "-std=gnu89", "inline.upc", "-o", "inline")
    expect(folder, "./inline", 6)
    (folder / "digits.upc").write_text(DIGITS)
    run(folder, TOMBOLO, "upcc", "-std=gnu2x", "digits.upc", "-o", "digits")
    run(folder, TOMBOLO, "run", "./digits")
    (folder / "x" / "near.h").write_text("enum { near = 3 };\n")
    (folder / "x" / "near.upc").write_text(NEAR)
    run(folder, TOMBOLO, "upcc", "-c", "x/near.upc", "-o", "near.o")
    (folder / "x" / "math.h").write_text("# error not the system's math.h\n")
    (folder / "x" / "near.h").write_text("static shared int there; enum { near = 3 };\n")
    for line in "#include <near.h>", "#include <math.h>\n#include <near.h>":
        (folder / "x" / "near.upc").write_text(NEAR.replace('#include "near.h"', line))
        run(folder, TOMBOLO, "upcc", "-c", "x/near.upc", "-o", "near.o")
    (folder / "x" / "c.h").write_text(C_HEADER)
    (folder / "x" / "upc.uph").write_text("static shared int more;\n")
    (folder / "x" / "c_code.c").write_text(C_CODE)
    run(folder, TOMBOLO, "upcc", "-c", "x/c_code.c", "-o", "c_code.o")
    (folder / "berkeley.upc").write_text(BERKELEY)
    fails(folder, TOMBOLO, "upcc", "-c", "berkeley.upc")
    command = [TOMBOLO, "upcc", "--berkeley", "-c", "-Werror", "berkeley.upc"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode or result.stderr.count("note: 'forall' is taken for upc_forall") != 1:
        sys.exit(f"--berkeley: {result.returncode}\n{result.stderr}")
    (folder / "common.upc").write_text(COMMON)
    (folder / "x" / "common.c").write_text("int counter;\n")
    fails(folder, TOMBOLO, "upcc", "common.upc", "x/common.c", "-o", "common")
    run(folder, TOMBOLO, "upcc", "--berkeley", "common.upc", "x/common.c", "-o", "common")
    expect(folder, "./common", 3)


def preprocessed(folder):
    """What -E and -save-temps write can be compiled, under the names of C compilers, too."""
    text = run(folder, TOMBOLO, "upcc", "-E", "m.upc")
    (folder / "part.i").write_text(run(folder, TOMBOLO, "upcc", "-E", "x/m.c"))
    for name in "again.i", "again.upci":
        (folder / name).write_text(text)
        run(folder, TOMBOLO, "upcc", "-O2", name, "part.i", "-o", "again")
        expect(folder, "./again", 12 * 11 // 2 + 12)
    (folder / "other.txt").write_text(text)
    run(folder, TOMBOLO, "upcc", "-x", "cpp-output", "-c", "other.txt")
    run(folder, TOMBOLO, "upcc", "-E", "again.i", "-o", "twice.i")
    run(folder, TOMBOLO, "upcc", "-save-temps", "-c", "twice.i")
    run(folder, TOMBOLO, "upcc", "twice.o", "other.o", "part.i", "-o", "again",
        "-Wl,--allow-multiple-definition")
    expect(folder, "./again", 12 * 11 // 2 + 12)


def is_clang():
    """Whether the C compiler is clang."""
    command = [CC, "-dM", "-E", "-x", "c", "/dev/null"]
    return "__clang__" in subprocess.run(command, capture_output=True, text=True, check=True).stdout


def columns(folder):
    """What the C compiler finds is named by its line and column in the source."""
    (Path(folder) / "wrong.upc").write_text(WRONG)
    command = [TOMBOLO, "upcc", "-O2", "-c", "wrong.upc"]
    if not is_clang():  # which counts bytes by default
        command.append("-Wc,-fdiagnostics-column-unit=byte")
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    lines = WRONG.split("\n")
    for text in "first", "second", "third", "*i", "fourth":
        line = next(i for i, content in enumerate(lines) if text in content)
        place = f"wrong.upc:{line + 1}:{lines[line].index(text) + 1}: error:"
        if place not in result.stderr:
            sys.exit(f"no message at {place}\n{result.stderr}")
    for text in "= 300", "<< 40":
        line = next(i for i, content in enumerate(lines) if text in content)
        if f"\nwrong.upc:{line + 1}:" not in result.stderr:
            sys.exit(f"no warning in line {line + 1}\n{result.stderr}")


def operators(folder):
    """upc1 names the operator that is wrong, not the same sign within another operator."""
    (Path(folder) / "signs.upc").write_text(SIGNS)
    said = fails(folder, TOMBOLO, "upcc", "-c", "signs.upc")
    lines = SIGNS.split("\n")
    for text in "+ a /* first */", "* 2 /* second */":
        line = next(i for i, content in enumerate(lines) if text in content)
        place = f"signs.upc:{line + 1}:{lines[line].index(text) + 1}: error:"
        if place not in said:
            sys.exit(f"no message at {place}\n{said}")


def without_main(folder):
    """What the linker says is put into UPC's words: no main, two, objects of both pointers."""
    (folder / "part.upc").write_text(PART)
    (folder / "one.upc").write_text(EMPTY)
    (folder / "two.upc").write_text(EMPTY)
    run(folder, TOMBOLO, "upcc", "--pointers=wide", "-c", "part.upc", "-o", "wide.o")
    for command, texts in (
        ("part.upc", ("no UPC source or object of the program has a function main",)),
        ("one.upc two.upc", ("multiple definition of `main'", "the object of two.upc")),
        ("one.upc wide.o", ("were compiled with --pointers=wide, and this command links without",)),
        ("nosuch.o", ("nosuch.o",)),
    ):
        said = fails(folder, TOMBOLO, "upcc", *command.split(), "-o", "none")
        if "upcr_" in said or any(text not in said for text in texts):
            sys.exit(f"{command}: not as it should be\n{said}")


def usage(folder):
    """Wrong command lines; where the lists of headers go that make reads."""
    for command, text in (
        ("-O2 -o x", "no input files"),
        ("one.upc -o", "the name of the file is missing"),
        ("-c one.upc two.upc -o x.o", "one file for what becomes of 2 sources"),
    ):
        said = fails(folder, TOMBOLO, "upcc", *command.split())
        if text not in said:
            sys.exit(f"{command}: no '{text}'\n{said}")
    for options, path, target in (
        ("-MMD -c one.upc", "one.d", "one.o:"),
        ("-MD -c x/m.c -o x/other.o", "x/other.d", "x/other.o:"),
        ("-MMD -MF named.d -c one.upc", "named.d", "one.o:"),
        ("-MMD one.upc -o program", "one.d", "one.o:"),
    ):
        run(folder, TOMBOLO, "upcc", *options.split())
        if target not in (folder / path).read_text():
            sys.exit(f"{options}: {path} has no '{target}'")
        (folder / path).unlink()
    if (folder / "one.o").stat().st_size > 10000:  # 60 KB with all functions of the headers
        sys.exit("without -O, one.o has functions that nobody calls")


def interrupted(folder):
    """^C leaves nothing in the folder for temporary files."""
    (folder / "slow").write_text("#!/bin/sh\necho ready\nexec sleep 60\n")
    (folder / "slow").chmod(0o755)
    (folder / "kept").mkdir()
    with subprocess.Popen(
        [TOMBOLO, "upcc", "--compiler=./slow", "-c", "one.upc"],
        cwd=folder,
        env=os.environ | {"TMPDIR": str(folder / "kept")},
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as upcc:
        upcc.stdout.readline()
        os.killpg(upcc.pid, signal.SIGINT)
        code = upcc.wait(20)
    left = list((folder / "kept").iterdir())
    if not code or left:
        sys.exit(f"interrupted: exit code {code}, left: {left}")


def undeclared(folder):
    """A function of a header that is not included is named with the header, as a warning."""
    (Path(folder) / "names.upc").write_text(UNDECLARED)
    command = [TOMBOLO, "upcc", "-c", "names.upc"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    for text in (
        "names.upc:4:3: warning: 'upc_all_broadcast' is not declared: #include <upc_collective.h>",
        "names.upc:5:3: warning: 'upc_ticks_now' is not declared: #include <upc_tick.h>",
    ):
        if text not in result.stderr or result.returncode:
            sys.exit(f"no '{text}': {result.returncode}\n{result.stderr}")
    (Path(folder) / "unknown.upc").write_text(UNKNOWN)
    said = fails(folder, TOMBOLO, "upcc", "-c", "unknown.upc")
    if "#include" in said or "UPC_CASTABLE_NONE" not in said:
        sys.exit(f"a name that no header declares: {said}")


def openmp(folder):
    """A pragma stands in front of its statement, not within what the statement becomes."""
    (Path(folder) / "openmp.upc").write_text(OPENMP)
    for level in "-O0", "-O2":
        command = [TOMBOLO, "upcc", level, "-fopenmp", "-c", "openmp.upc"]
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if result.returncode or result.stderr:
            sys.exit(f"-fopenmp {level}: {result.returncode}\n{result.stderr}")


def main():
    signals.by_default()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "x").mkdir()
        (folder / "m.upc").write_text(MAIN)
        (folder / "x" / "m.c").write_text(PART)
        (folder / "c.cxx.c").write_text(C_MAIN)
        run(folder, TOMBOLO, "upcc", "m.upc", "x/m.c", "-o", "./both")
        expect(folder, "./both", 12 * 11 // 2 + 12)
        run(folder, TOMBOLO, "upcc", "-c", "-O2", "m.upc")
        run(folder, TOMBOLO, "upcc", "-trans", "x/m.c", "-o", "part.trans.c")
        run(folder, TOMBOLO, "upcc", "m.o", "part.trans.c", "-o", "./apart")
        expect(folder, "./apart", 12 * 11 // 2 + 12)
        run(folder, CC, "-c", "c.cxx.c", "-o", "main.o")
        run(folder, TOMBOLO, "upcc", "-network=smp", "-extern-main", "main.o", "x/m.c", "-o", "./c")
        expect(folder, "./c", 12)
        older_options(folder)
        vendors(folder)
        columns(folder)
        operators(folder)
        without_main(folder)
        usage(folder)
        interrupted(folder)
        undeclared(folder)
        openmp(folder)
        definitions(folder)
        preprocessed(folder)
        (folder / "void.upc").write_text(VOID_MAIN)
        run(folder, TOMBOLO, "upcc", "-O2", "void.upc", "-o", "void")
        expect(folder, "./void", 3) # its status is 0
    print("driver: ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
