#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs everything that `make test` promises, stage by stage, and ends with the totals.

Usage: run_tests.py [--check | --all [--part K/N] | --net] [--only STAGE]... [--list] [--jobs N]
Without an option it makes the runs of `make test`: all but those with the label "nightly", which
cmake/TmbSelect.cmake gives. `--all`, of `make test-all`, makes every run; `--part K/N` makes each
N-th of them, from number K on, so that N parts together are all. `--check`, of `make check`, runs
lint, the unit tests without the long sweeps and each conformance program once. `--net`, of
`make test-net`, makes all runs on several hosts.
A stage is a build or the tests of one ctest label in one build tree. A test stage that runs no test
fails. A test of a stage that depends on time (several hosts, processes that die) and fails is run
once more, alone: it counts as the second run says, and both outcomes are shown. Which test needed
its second run, and when, is kept in TREE/second-runs.txt: such a test has a bug.
At the end stands a table of the stages: results, wall-clock time, processor time. Then each test
that failed, with the end of what it printed. The last line is `N passed, N failed` with
`, N skipped` where there are any; the exit code is 1 when something failed.
"""

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ASAN_ENV = {
    "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=1:detect_stack_use_after_return=0",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
}
# A rank ends by gasnet_exit wherever it is, so what its client still holds is no leak.
ASAN_JOB_ENV = {**ASAN_ENV, "ASAN_OPTIONS": ASAN_ENV["ASAN_OPTIONS"] + ":detect_leaks=0"}
TSAN_ENV = {"TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1"}
# Where threads are stopped follows from this (src/base/preempt.c); another one in every run.
PREEMPT_SEED = os.environ.get("TMB_PREEMPT_SEED", str(int(time.time())))
PREEMPT_ENV = {"TMB_PREEMPT_SEED": PREEMPT_SEED}


MOST_TESTS = 100000  # ctest takes a part without an end, begun behind the last test, for all
END_LINES = 8  # of what a test that failed has printed
END_TESTS = 12  # so many of them are shown


@dataclass
class Stage:
    """One build, or the tests of a label; `preset` names the tree (CMakePresets.json)."""

    name: str
    preset: str
    label: str = ""  # empty: a build
    also: str = ""  # a second label that the tests must have
    env: tuple = ()
    select: tuple = ()  # options of ctest that choose among the tests of the label
    timed: bool = False  # its tests depend on time: one that fails is run once more, alone
    waits: int = 1  # its tests wait most of the time: so many times as many run at once


STAGES = (
    Stage("build", "dev"),
    Stage("lint", "dev", "lint"),
    Stage("unit", "dev", "unit"),
    Stage("compile", "dev", "compile"),
    Stage("conformance", "dev", "conformance"),
    Stage("far", "dev", "far", waits=2),
    Stage("inside", "dev", "inside"),
    Stage("multi", "dev", "multi", timed=True),
    Stage("fault", "dev", "fault", timed=True, waits=2),
    Stage("net", "dev", "net", timed=True),
    Stage("fuzz", "dev", "fuzz"),
    Stage("examples", "dev", "examples"),
    Stage("bench", "dev", "bench"),
    Stage("fortran", "dev", "fortran"),
    Stage("fortran-asan", "dev", "fortran-asan", env=tuple(ASAN_JOB_ENV.items())),
    Stage("upc", "dev", "upc"),
    Stage("python", "dev", "python", timed=True),
    Stage("install", "dev", "install"),
    Stage("build-asan", "asan-ubsan"),
    Stage("asan-unit", "asan-ubsan", "unit", env=tuple(ASAN_ENV.items())),
    Stage("asan-conformance", "asan-ubsan", "conformance|inside", env=tuple(ASAN_JOB_ENV.items())),
    Stage("build-tsan", "tsan"),
    Stage("tsan-par", "tsan", "unit|conformance|inside|multi", "PAR", env=tuple(TSAN_ENV.items())),
    Stage("build-preempt", "preempt"),
    Stage(
        "preempt-par",
        "preempt",
        "conformance|inside|fault",
        "PAR",
        env=tuple(PREEMPT_ENV.items()),
    ),
    Stage(
        "preempt-seq",
        "preempt",
        "conformance|inside",
        "SEQ",
        env=tuple(PREEMPT_ENV.items()),
    ),
)
CHECK_STAGES = (
    Stage("build", "dev"),
    Stage("lint", "dev", "lint"),
    Stage("unit", "dev", "unit"),
    Stage("conformance", "dev", "conformance", "check"),
)
NET_STAGES = (
    Stage("build", "dev"),
    Stage("net", "dev", "net", timed=True),
    Stage("net-whole", "dev", "net-whole"),
)
ALL_STAGES = STAGES + (NET_STAGES[-1], Stage("seeds", "dev", "seeds"))
DAILY = ("-LE", "^nightly$")  # options of ctest: what `make test` and `make check` leave out
TREES = {
    "dev": "build",
    "asan-ubsan": "build-asan",
    "tsan": "build-tsan",
    "preempt": "build-preempt",
}


@dataclass
class Count:
    """Results of one stage, or of all."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    ends: dict = field(default_factory=dict)  # test that failed -> the end of what it printed

    def add(self, other):
        """Adds another count to this one."""
        self.ends.update(other.ends)
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self):
        text = f"{self.passed} passed, {self.failed} failed"
        return text + (f", {self.skipped} skipped" if self.skipped else "")


def say(text):
    """Prints a line at once, also when the output goes to a file."""
    print(text, flush=True)


def run_quietly(command):
    """Runs a command; shows its output only when it fails. Returns whether it succeeded."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode:
        say(done.stdout.decode(errors="replace"))
    return done.returncode == 0


def tsan_prefix():
    """What to put before a program under the thread sanitizer here; None when it cannot run.

    Kernels with many random bits in mmap addresses stop gcc 12's run-time before main.
    """
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "t.c", Path(folder) / "t"
        source.write_text("int main(void) { return 0; }\n")
        command = ["cc", "-fsanitize=thread", str(source), "-o", str(program)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return None
        prefixes = [[]] + ([["setarch", "-R"]] if shutil.which("setarch") else [])
        for prefix in prefixes:
            runs = [
                subprocess.run(prefix + [str(program)], capture_output=True, check=False)
                for _ in range(5)
            ]
            if all(run.returncode == 0 for run in runs):
                return prefix
    return None


def build(stage, jobs, everything):
    """Configures and builds a tree with warnings as errors; counts as one test. The programs that
    only `make test-all` runs are built where `everything` is wanted.

    A new tree compiles by ccache where that is installed.
    """
    if shutil.which("ccache"):
        os.environ.setdefault("CMAKE_C_COMPILER_LAUNCHER", "ccache")
        os.environ.setdefault("CMAKE_CXX_COMPILER_LAUNCHER", "ccache")
    targets = ["all", "nightly"] if everything else ["all"]
    ok = run_quietly(["cmake", "--preset", stage.preset, "-DTMB_WERROR=ON"]) and run_quietly(
        ["cmake", "--build", TREES[stage.preset], "-j", str(jobs), "--target", *targets]
    )
    return Count(passed=int(ok), failed=int(not ok))


def read_report(path):
    """Counts the cases of a JUnit report of ctest."""
    count = Count()
    if not path.exists():
        return count
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        status = case.get("status")
        if status == "run":
            count.passed += 1
        elif status == "fail":
            count.failed += 1
            printed = (case.findtext("system-out") or "").rstrip().split("\n")
            count.ends[case.get("name")] = printed[-END_LINES:]
        else:
            count.skipped += 1
    return count


def run_ctest(stage, jobs, prefix, choice=(), only=None):
    """Runs the tests of a stage's labels that `choice` (options of ctest) leaves, or of these the
    tests `only`. No test is a failure, except in one part of several."""
    tree = ROOT / TREES[stage.preset]
    if not (tree / "CTestTestfile.cmake").exists():
        say(f"{stage.name}: there is no build tree {tree.name}")
        return Count(failed=1)
    report = tree / f"report-{stage.name}.xml"
    report.unlink(missing_ok=True)
    command = prefix + ["ctest", "--test-dir", str(tree), "-j", str(jobs), "--output-on-failure"]
    command += ["--output-junit", str(report), "-L", f"^({stage.label})$"]
    if stage.also:
        command += ["-L", f"^{stage.also}$"]
    command += [*stage.select, *choice]
    if only:
        command += ["-R", "^(" + "|".join(re.escape(name) for name in only) + ")$"]
    environment = {**os.environ, **dict(stage.env)}
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, env=environment, check=False)
    count = read_report(report)
    if count.passed + count.failed + count.skipped == 0 and "-I" not in choice:
        say(f"{stage.name}: no test was run")
        count.failed += 1
    elif done.returncode and not count.failed:
        say(f"{stage.name}: ctest failed with code {done.returncode}")
        count.failed += 1
    return count


def run_again(stage, prefix, first):
    """Runs the tests that failed once more, alone. Returns the count with what that has changed."""
    again = run_ctest(stage, 1, prefix, only=first.ends)
    for name in first.ends.keys() - again.ends.keys():
        again.ends[f"{name} (passed when run again, alone)"] = first.ends[name]
        with (ROOT / TREES[stage.preset] / "second-runs.txt").open("a", encoding="utf-8") as log:
            log.write(f"{time.strftime('%Y-%m-%d %H:%M')} {name}\n")
    return Count(first.passed + again.passed, again.failed, first.skipped, again.ends)


def run_stage(stage, jobs, choice):
    """Runs one stage; thread-sanitizer stages are skipped where its run-time does not start."""
    prefix = []
    if stage.env == tuple(PREEMPT_ENV.items()):
        say(f"{stage.name}: TMB_PREEMPT_SEED={PREEMPT_SEED}")
    if stage.preset == "tsan":
        prefix = tsan_prefix()
        if prefix is None:
            say(f"{stage.name}: skipped: programs under the thread sanitizer do not start here")
            return Count(skipped=1)
    if not stage.label:
        return build(stage, jobs, choice != DAILY)
    count = run_ctest(stage, jobs * stage.waits, prefix, choice)
    return run_again(stage, prefix, count) if stage.timed and count.ends else count


def processor_s():
    """Processor time, in seconds, of all processes that have ended under this one."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_timed(stage, jobs, choice):
    """Runs one stage. Returns its count and its line in the table of stages."""
    say(f"\n==== {stage.name}")
    start, used = time.monotonic(), processor_s()
    count = run_stage(stage, jobs, choice)
    wall, used = time.monotonic() - start, processor_s() - used
    return count, table_line(stage.name, count, wall, used)


def table_line(name, count, wall_s, used_s):
    """One line of the table of stages."""
    return (
        f"  {name:17}{count.passed:7}{count.failed:7}{count.skipped:8}"
        f"{wall_s:8.0f} s{used_s:10.0f} s"
    )


def show_failures(total):
    """Prints the tests that failed, each with the end of what it printed."""
    for name, end in sorted(total.ends.items())[:END_TESTS]:
        say(f"failed: {name}\n" + "\n".join(f"  | {line[:200]}" for line in end))
    if len(total.ends) > END_TESTS:
        say(f"failed: {len(total.ends) - END_TESTS} more")


def part_of(text):
    """The options of ctest for part K/N, which is `text`: each N-th test from number K on."""
    match = re.fullmatch(r"([1-9][0-9]*)/([1-9][0-9]*)", text)
    if not match or int(match[1]) > int(match[2]):
        raise argparse.ArgumentTypeError(f"{text} is no part K/N with K from 1 to N, such as 2/5")
    return ("-I", f"{match[1]},{MOST_TESTS},{match[2]}")


def read_options():
    """The command line: options, the stages to run, and what chooses among their tests."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--check", action="store_true", help="what `make check` runs")
    kind.add_argument("--all", action="store_true", help="what `make test-all` runs: everything")
    kind.add_argument("--net", action="store_true", help="the tests on several hosts only")
    parser.add_argument("--part", type=part_of, metavar="K/N", help="of --all: part K of N")
    parser.add_argument("--only", action="append", metavar="STAGE", help="run this stage only")
    parser.add_argument("--list", action="store_true", help="print the stages and stop")
    parser.add_argument("--jobs", type=int, default=2, help="tests and compilers at a time")
    options = parser.parse_args()
    if options.part and not options.all:
        parser.error("--part is of --all")
    stages, choice = STAGES, DAILY
    if options.check:
        stages, choice = CHECK_STAGES, DAILY
    elif options.net:
        stages, choice = NET_STAGES, ()
    elif options.all:
        stages, choice = ALL_STAGES, options.part or ()
    names = [stage.name for stage in stages]
    unknown = set(options.only or ()) - set(names)
    if unknown:
        parser.error(f"no stage {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    return options, stages, choice


def main():
    options, stages, choice = read_options()
    if options.list:
        print("\n".join(stage.name for stage in stages))
        return 0
    total, lines = Count(), []
    start, used = time.monotonic(), processor_s()
    for stage in stages:
        if options.only and stage.name not in options.only:
            continue
        count, line = run_timed(stage, options.jobs, choice)
        total.add(count)
        lines.append(line)
    lines.append(table_line("all", total, time.monotonic() - start, processor_s() - used))
    say("\n  stage             passed failed skipped   wall-clock  processor\n" + "\n".join(lines))
    say("")
    show_failures(total)
    say(str(total))
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
