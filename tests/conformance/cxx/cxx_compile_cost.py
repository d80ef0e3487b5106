#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 120
# nightly: yes
"""A hello with tombolo.hpp costs g++ at most twice and a half what standard headers cost it.

Measures memory that g++ allocates, by its -ftime-report: it grows with the work and does not depend
on the load. The yardstick includes <string>, <vector>, <memory>, <optional> and <tuple>, without
which no interface of this kind does. The mpi.h of Open MPI costs the yardstick and a half. Run
alone with the folder of an mpi.h, it prints processor times beside that.
"""
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3))
MOST = 2.5

HELLO = """
#include <tombolo.hpp>
#include <cstdio>
int main(int argc, char **argv) {
  return tombolo::run(argc, argv, [](tombolo::job &job) {
    std::printf("%u of %u\\n", job.rank(), job.size());
  });
}
"""
STANDARD = """
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>
#include <cstdio>
int main() { std::printf("0 of 1\\n"); }
"""
MPI = """
#include <mpi.h>
#include <cstdio>
int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::printf("%d of %d\\n", rank, size);
  MPI_Finalize();
}
"""


def compile_text(compiler, text, *options):
    """What the compiler prints."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "hello.cc")
        with open(source, "w", encoding="utf-8") as out:
            out.write(text)
        command = [compiler, "-std=c++17", "-DGASNET_SEQ=1", "-I", os.path.join(ROOT, "include"),
                   *options, "-c", source, "-o", source + ".o"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stderr


def memory(compiler, text):
    """KiB that g++ allocates for its data while it compiles; None of another compiler."""
    report = compile_text(compiler, text, "-O0", "-ftime-report")
    total = re.search(r"^ *TOTAL *:.*?(\d+)([kM]?)(?: +\(.*)?$", report, re.MULTILINE)
    return int(total[1]) * {"": 1 / 1024, "k": 1, "M": 1024}[total[2]] if total else None


def seconds(compiler, text, *options):
    """Processor time, the best of five."""
    best = float("inf")
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        compile_text(compiler, text, *options)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def main():
    compiler = os.environ.get("CXX", "g++").split()[-1]
    if not shutil.which(compiler):
        print(f"skipped: no {compiler}")
        return 77
    hello, standard = memory(compiler, HELLO), memory(compiler, STANDARD)
    if not hello or not standard:
        print(f"skipped: {compiler} does not report its memory")
        return 77
    print(f"hello: {hello / 1024:.0f} MiB, standard headers: {standard / 1024:.0f} MiB")
    for folder in sys.argv[1:]:
        for level in ("-O0", "-O2"):
            ours, mpi = (seconds(compiler, text, level, "-I", folder) for text in (HELLO, MPI))
            print(f"{level}: hello {ours:.2f} s, with mpi.h {mpi:.2f} s, {ours / mpi:.2f} x")
    if hello <= MOST * standard:
        return 0
    print(f"tombolo.hpp costs {hello / standard:.2f} x the standard headers, {MOST} are allowed; "
          "find the header or the code that is not a template, by -ftime-report")
    return 1


if __name__ == "__main__":
    sys.exit(main())
