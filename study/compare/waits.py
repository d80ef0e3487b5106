#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# waits.py: waiting in each language beside waiting in C, also with more ranks than processors.
#
# Compiles bench/waits for coarrays, UPC, C++ and Python. In each process samples of the language
# alternate with samples of the C calls that do the same, on the same ranks; a row is the median of
# both and of the ratios of neighbouring samples, over the rounds. All rows are taken quiet, then
# beside busy processes. What cannot be compiled here is named and left out. The lock of UPC is
# fair, that of C is not: its row shows what the order costs.
#   study/compare/waits.py [--build build] [--ranks 2,4,8,32] [--rounds 3] [--busy 2]
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE = ROOT / "bench" / "waits"
WANTED = 1.2
PYTHON = "/usr/bin/python3"  # that which the package is built for


def compile_all(build, folder):
    """Compiles what can be. Returns {name: command}."""
    tool, library = build / "bin" / "tombolo", folder / "pair.so"
    paths = [f"-I{SOURCE}", f"-I{ROOT}/include", f"-I{build}/include"]
    link = [f"-L{build}/lib", "-ltombolo", f"-Wl,-rpath,{build}/lib"]
    pair = [library, f"-Wl,-rpath,{folder}"]
    subprocess.run(["cc", "-O3", "-fPIC", "-shared", "-DGASNET_SEQ=1", *paths, SOURCE / "pair.c",
                    "-o", library, *link], check=True)
    words = {
        "fortran": [tool, "fc", "-O3", "-J", folder, SOURCE / "waits.f90"],
        "upc": [tool, "upcc", "-O3", f"-I{SOURCE}", SOURCE / "waits.upc"],
        "cxx": ["c++", "-std=c++17", "-O3", "-DGASNET_SEQ=1", *paths, SOURCE / "waits.cc", *link],
    }
    where = "import sysconfig; print(sysconfig.get_path('include'))"
    include = subprocess.run([PYTHON, "-c", where], capture_output=True, text=True,
                             check=False).stdout.strip()
    words["bare.so"] = ["cc", "-O3", "-fPIC", "-shared", f"-I{include}", SOURCE / "bare.c"]
    sides = {}
    for name, command in words.items():
        done = subprocess.run([*command, *pair, "-o", folder / name], capture_output=True,
                              text=True, check=False)
        if done.returncode:
            print(f"{name}: left out: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        elif name == "bare.so":
            sides["python"] = [PYTHON, SOURCE / "waits_of_python.py", library, folder]
        else:
            sides[name] = [folder / name]
    return sides


def one_run(build, ranks, command, timeout):
    """{row: (ours, C, ratio)} of one run; empty, with a line, where it does not end well."""
    environment = {**os.environ, "PYTHONPATH": str(build / "python")}
    words = [build / "bin" / "tombolo", "run", "-n", ranks, "--timeout", timeout, "--", *command]
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False,
                          env=environment)
    if done.returncode:
        print(f"{command[0]}: exit code {done.returncode}", file=sys.stderr)
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("wait ")]
    return {row[1]: tuple(map(float, row[2:5])) for row in rows}


def table(found, load):
    """Prints the rows of one number of ranks."""
    for row, runs in found.items():
        ours, peer, ratio = (statistics.median(column) for column in zip(*runs))
        least, most = min(run[2] for run in runs), max(run[2] for run in runs)
        print(f"{load:<6}{row[0]:>5} {row[1]:<16}{ours:>11.2f}{peer:>11.2f}{ratio:>7.2f}"
              f"  {least:.2f} to {most:.2f}{'' if ratio <= WANTED else '  above ' + str(WANTED)}")


def main():
    parser = argparse.ArgumentParser(description="Waits of languages beside those of C.")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build tree")
    parser.add_argument("--ranks", default="2,4,8,32", help="numbers of ranks")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each program")
    parser.add_argument("--busy", type=int, default=2, help="busy processes of the second part")
    parser.add_argument("--timeout", type=int, default=60, help="seconds for one run")
    options = parser.parse_args()
    build = options.build.resolve()
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors; times in us")
    print(f"{'':<6}{'ranks':>5} {'wait':<16}{'ours':>11}{'C':>11}{'ratio':>7}")
    with tempfile.TemporaryDirectory() as folder:
        sides = compile_all(build, Path(folder))
        for busy in sorted({0, options.busy}):  # --busy 0: the quiet part alone
            spin = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
                    for _ in range(busy)]
            try:
                for ranks in map(int, options.ranks.split(",")):
                    found = {}
                    for _ in range(options.rounds):
                        for command in sides.values():
                            for row, run in one_run(build, ranks, command,
                                                    options.timeout).items():
                                found.setdefault((ranks, row), []).append(run)
                    table(found, "busy" if busy else "quiet")
            finally:
                for process in spin:
                    process.kill()
    print(f"load {os.getloadavg()[0]:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
