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
fails. Neighbouring stages with the same word in `beside` run at the same time. While they run,
stages with this word in `under` run one after the other, at low priority; their output comes at the
end. A test that fails is run once more, alone: it counts as the second run says, and both outcomes
are shown. Which test needed its second run, and when, is kept in TREE/second-runs.txt: such a test
has a bug. More than SECOND_MOST of them in one run are a failure.
At the end stands a table of the stages: results, wall-clock time, processor time; of stages that
ran at the same time, the sum of their tests' times. Then the tests that took longest, and each test
that failed, with the end of what it printed. The last line is `N passed, N failed` with `, N
skipped` where there are any, cases that a program skips among them; the exit code is 1 when
something failed.
"""

import argparse
import itertools
import multiprocessing
import os
import pickle
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ASAN_ENV = {
    "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=1:detect_stack_use_after_return=0",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
}
# Where threads are stopped follows from the seed (src/base/preempt.c); another one in every run.
# A rank ends by gasnet_exit wherever it is, so what its client still holds is no leak.
PREEMPT_SEED = os.environ.get("TMB_PREEMPT_SEED", str(int(time.time())))
PREEMPT_ENV = {"TMB_PREEMPT_SEED": PREEMPT_SEED}
ASAN_JOB_ENV = {
    **ASAN_ENV,
    "ASAN_OPTIONS": ASAN_ENV["ASAN_OPTIONS"] + ":detect_leaks=0",
    **PREEMPT_ENV,
}
TSAN_ENV = {"TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1"}

CLANG_OLDEST = 14
MOST_TESTS = 100000  # ctest takes a part without an end, begun behind the last test, for all
UNDER_NICE = 10  # priority of stages that run under others
SPARE = 1  # compilers more than processors, and tests under others: each waits a part of the time
SECOND_MOST = 3  # tests that may need their second run
END_LINES = 8  # of what a test that failed has printed
END_TESTS = 12  # so many of them are shown
LONGEST = 6  # tests that took most time are named
OUTPUT_BYTES = 1 << 17  # of a test that passed are in its report: the end says how many cases ran
# Cases that one program has skipped, and that have passed there, as cmocka (1.1.5 and 1.1.7),
# unittest and pytest print them, and tests/lib/jobs.py, with a letter for each.
CASES_SKIPPED = re.compile(
    r"^\[  SKIPPED \] (?:\S+: )?(\d+) test\(s\), listed|^OK \(.*?skipped=(\d+)"
    r"|\b(\d+) skipped\b.* in [\d.]+s|^(s)kipped \(.*\) \S+ [\d.]+ s$",
    re.M,
)
CASES_PASSED = re.compile(
    r"^\[  PASSED  \] (?:\S+: )?([1-9]\d*) test|^Ran (\d+) tests? in"
    r"|\b([1-9]\d*) passed\b.* in [\d.]+s|^(o)k \S+ [\d.]+ s$",
    re.M,
)


@dataclass
class Stage:
    """One build, or the tests of a label; `preset` names the tree (CMakePresets.json)."""

    name: str
    preset: str
    label: str = ""  # empty: a build
    also: str = ""  # a second label that the tests must have
    env: tuple = ()
    select: tuple = ()  # options of ctest that choose among the tests of the label
    beside: str = ""  # runs together with its neighbours that have the same word here
    waits: float = 1  # its tests wait a part of the time: so many times as many run at once
    under: str = ""  # runs while the stages with this word in `beside` leave processors idle
    target: str = ""  # of a build: what is built beside `all`


SANITIZER_STAGES = (
    Stage("build-asan", "asan-ubsan", under="tests"),
    Stage("asan-unit", "asan-ubsan", "unit", env=tuple(ASAN_ENV.items()), under="tests"),
    Stage(
        "asan-conformance",
        "asan-ubsan",
        "conformance|inside|shmem",
        env=tuple(ASAN_JOB_ENV.items()),
        under="tests",
    ),
    Stage("build-tsan", "tsan", under="tests"),
    Stage(
        "tsan-par",
        "tsan",
        "unit|conformance|inside|multi",
        "PAR",
        env=tuple(TSAN_ENV.items()),
        under="tests",
    ),
)
# Tests that wait most of the time (net, fault) begin first, for they last longest and ctest begins
# with these; those that compute fill their gaps. What is left of the processors builds and runs the
# trees of the sanitizers. A test that fails beside others has a bug: it depends on time.
STAGES = (
    Stage("build", "dev", target="study"),
    Stage("lint", "dev", "lint", beside="tests", waits=2),
    Stage("unit", "dev", "unit", beside="tests", waits=2),
    Stage("conformance", "dev", "conformance", beside="tests", waits=2),
    Stage("far", "dev", "far", beside="tests", waits=2),
    Stage("inside", "dev", "inside", beside="tests", waits=2),
    Stage("examples", "dev", "examples", beside="tests", waits=2),
    Stage("bench", "dev", "bench", beside="tests", waits=2),
    Stage("study", "dev", "study", beside="tests", waits=2),
    Stage("fortran", "dev", "fortran", beside="tests", waits=2),
    Stage("prif", "dev", "prif", beside="tests", waits=2),
    Stage("multi", "dev", "multi", beside="tests", waits=2),
    Stage("fault", "dev", "fault", beside="tests", waits=2),
    Stage("net", "dev", "net", beside="tests", waits=2),
    Stage("upc", "dev", "upc", beside="tests", waits=2),
    Stage("shmem", "dev", "shmem", beside="tests", waits=2),
    Stage("python", "dev", "python", beside="tests", waits=2),
    Stage("fortran-asan", "dev", "fortran-asan", env=tuple(ASAN_JOB_ENV.items()), under="tests"),
    *SANITIZER_STAGES,
    Stage("install", "dev", "install", under="tests"),
    Stage("compile", "dev", "compile", under="tests"),
    Stage("fuzz", "dev", "fuzz", under="tests"),
)
CHECK_STAGES = (
    Stage("build", "dev"),
    Stage("lint", "dev", "lint", "check", beside="check", waits=1.5),
    Stage("unit", "dev", "unit", "check", beside="check", waits=1.5),
    Stage("conformance", "dev", "conformance", "check", beside="check", waits=1.5),
)
NET_STAGES = (
    Stage("build", "dev"),
    Stage("net", "dev", "net"),
    Stage("net-whole", "dev", "net-whole"),
)
PREEMPT_STAGES = (
    Stage("build-preempt", "preempt"),
    Stage("preempt", "preempt", "conformance|inside|fault", env=tuple(PREEMPT_ENV.items())),
)
# Programs of coarray Fortran and PRIF, of the tree dev, with the library whose threads stop at
# random: all locks and publications of their run-time libraries are in it.
PREEMPT_FORTRAN = Stage(
    "preempt-fortran",
    "dev",
    "fortran|prif",
    env=(*PREEMPT_ENV.items(), ("LD_LIBRARY_PATH", str(ROOT / "build-preempt" / "lib"))),
    select=("-R", "^(fortran|prif)[.](atomics|collectives|events|failed|lost|notified|order|pairs"
            "|sync|synchronise|teams)[.]"),
)
CROSS = ("aarch64", "riscv64")  # presets for other processors, whose programs QEMU runs
CROSS_STAGES = (
    Stage("litmus", "dev", "litmus"),
    Stage("build-aarch64", "aarch64"),
    Stage("aarch64", "aarch64", "unit|conformance|fortran|upc"),
    Stage("build-riscv64", "riscv64"),
    Stage("riscv64", "riscv64", "unit|conformance|fortran|upc"),
)
# Everything compiled by clang, and tests run. Those of `compile` that choose compilers
# themselves are left to the tree dev.
CLANG_STAGES = (
    Stage("build-clang", "clang"),
    Stage(
        "clang",
        "clang",
        "unit|conformance|inside|upc|compile",
        select=("-E", "^compile[.](abi|bits32|musl|release)$"),
    ),
)
ALL_STAGES = (
    STAGES
    + PREEMPT_STAGES
    + (PREEMPT_FORTRAN,)
    + CLANG_STAGES
    + CROSS_STAGES
    + (NET_STAGES[-1], Stage("seeds", "dev", "seeds"), Stage("chroot", "dev", "chroot"))
)
DAILY = ("-LE", "^nightly$")  # options of ctest: what `make test` and `make check` leave out
TREES = {
    "dev": "build",
    "asan-ubsan": "build-asan",
    "tsan": "build-tsan",
    "preempt": "build-preempt",
    "clang": "build-clang",
    "aarch64": "build-aarch64",
    "riscv64": "build-riscv64",
}


@dataclass
class Count:
    """Results of one stage, or of all."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    ends: dict = field(default_factory=dict)  # test that failed -> the end of what it printed
    why: dict = field(default_factory=dict)  # test that was skipped -> the last line it printed
    second: int = 0  # tests that passed only when run again
    test_s: float = 0  # sum of the times of the tests
    longest: list = field(default_factory=list)  # (time in seconds, test) of LONGEST tests

    def add(self, other):
        """Adds another count to this one."""
        self.ends.update(other.ends)
        self.why.update(other.why)
        self.longest = sorted(self.longest + other.longest, reverse=True)[:LONGEST]
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.second += other.second
        self.test_s += other.test_s

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


def cross_prefix(processor):
    """What to put before a program to run those of another processor; None, with the reason
    printed, where they cannot be compiled or run."""
    emulate = ["bash", "scripts/emulate.sh", processor]
    for command in (["bash", "scripts/cross_deps.sh", processor], emulate + ["true"]):
        if subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, check=False).returncode:
            return None
    return emulate


def has_clang():
    """Whether there is a clang that compiles the library: CLANG_OLDEST or later. It is the one that
    cmake/toolchains/clang.cmake finds."""
    if any(shutil.which(f"clang-{version}") for version in range(CLANG_OLDEST, CLANG_OLDEST + 9)):
        return True
    if not shutil.which("clang"):
        return False
    asked = subprocess.run(["clang", "-dumpversion"], capture_output=True, text=True, check=False)
    return int(asked.stdout.split(".")[0] or 0) >= CLANG_OLDEST


def build(stage, jobs, everything, prefix=()):
    """Configures and builds a tree with warnings as errors; counts as one test. The programs that
    only `make test-all` runs are built where `everything` is wanted.

    A new tree compiles by ccache where that is installed. What a source includes is learnt from the
    compiler, not by preprocessing it first: a seventh of the time of an empty cache.
    """
    if shutil.which("ccache"):
        os.environ.setdefault("CCACHE_DEPEND", "1")
        os.environ.setdefault("CMAKE_C_COMPILER_LAUNCHER", "ccache")
        os.environ.setdefault("CMAKE_CXX_COMPILER_LAUNCHER", "ccache")
    targets = ["all", *filter(None, [stage.target, "nightly" if everything else ""])]
    ok = run_quietly(["cmake", "--preset", stage.preset, "-DTMB_WERROR=ON"]) and run_quietly(
        [*prefix, "cmake", "--build", TREES[stage.preset], "-j", str(jobs), "--target", *targets]
    )
    return Count(passed=int(ok), failed=int(not ok))


def skipped_within(printed):
    """How many cases a program has skipped, and whether it has run another one."""
    def total(pattern):
        found = [number for groups in pattern.findall(printed) for number in groups if number]
        return sum(int(number) if number.isdigit() else 1 for number in found)

    skipped, ran = total(CASES_SKIPPED), total(CASES_PASSED)
    if re.search(r"^Ran \d+ tests? in", printed, re.M):
        ran -= skipped  # unittest counts them, too
    return skipped, ran > 0


def read_report(path):
    """Counts the cases of a JUnit report of ctest by label, which is a test's name up to a dot.

    A program that has skipped some of its cases is passed, and each of these cases is skipped; one
    that has skipped all is skipped.
    """
    counts = {}
    if not path.exists():
        return counts
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        count = counts.setdefault(case.get("name").split(".")[0], Count())
        took = float(case.get("time") or 0)
        count.add(Count(test_s=took, longest=[(took, case.get("name"))]))
        status = case.get("status")
        printed = (case.findtext("system-out") or "").rstrip().split("\n")
        within, ran = skipped_within("\n".join(printed))
        if status == "run":
            count.passed += ran or not within
            count.skipped += within
            if within:
                reasons = [line for line in printed if re.match(r"(?i)skip(ped)?(: | \()", line)]
                count.why[case.get("name")] = ": ".join([f"{within} of its cases", *reasons[:1]])
        elif status == "fail":
            count.failed += 1
            count.ends[case.get("name")] = printed[-END_LINES:]
        else:
            count.skipped += 1
            count.why[case.get("name")] = printed[-1]
    return counts


def sum_of(counts):
    """One count of several."""
    total = Count()
    for count in counts:
        total.add(count)
    return total


def run_ctest(stage, jobs, prefix, choice=(), only=None):
    """Runs the tests of a stage's labels that `choice` (options of ctest) leaves, or of these the
    tests `only`. Returns a count for each label. No test is a failure, except in one part of
    several."""
    tree = ROOT / TREES[stage.preset]
    if not (tree / "CTestTestfile.cmake").exists():
        say(f"{stage.name}: there is no build tree {tree.name}")
        return {stage.name: Count(failed=1)}
    report = tree / f"report-{stage.name.replace(' ', '-')}.xml"
    report.unlink(missing_ok=True)
    folder = tree
    if stage.under:  # two calls of ctest in one folder would write the same files
        folder = tree / "under"
        folder.mkdir(exist_ok=True)
        (folder / "CTestTestfile.cmake").write_text(f'include("{tree}/CTestTestfile.cmake")\n')
    command = prefix + ["ctest", "--test-dir", str(folder), "-j", str(jobs), "--output-on-failure"]
    command += ["--output-junit", str(report), "-L", f"^({stage.label})$"]
    command += ["--test-output-size-passed", str(OUTPUT_BYTES)]
    if stage.also:
        command += ["-L", f"^{stage.also}$"]
    command += [*stage.select, *choice]
    if only:
        command += ["-R", "^(" + "|".join(re.escape(name) for name in only) + ")$"]
    environment = {**os.environ, **dict(stage.env)}
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, env=environment, check=False)
    counts = read_report(report)
    for name, why in sum_of(counts.values()).why.items():
        say(f"skipped: {name}: {why or 'it says no reason'}")
    if not counts and "-I" not in choice:
        say(f"{stage.name}: no test was run")
        counts[stage.name] = Count(failed=1)
    elif done.returncode and not sum_of(counts.values()).failed:
        say(f"{stage.name}: ctest failed with code {done.returncode}")
        counts[stage.name] = Count(failed=1)
    return counts


def run_again(stage, prefix, counts):
    """Runs the tests that failed once more, alone, and corrects the counts of their labels."""
    first = sum_of(counts.values()).ends
    again = sum_of(run_ctest(stage, 1, prefix, only=first).values()).ends
    for name in sorted(first):
        count = counts[name.split(".")[0]]
        if name in again:
            count.ends[name] = [*again[name], f"again: ctest --test-dir {TREES[stage.preset]} "
                                f"-R '^{re.escape(name)}$' --output-on-failure"]
            continue
        count.passed, count.failed = count.passed + 1, count.failed - 1
        count.second += 1
        count.ends[f"{name} (passed when run again, alone)"] = count.ends.pop(name)
        with (ROOT / TREES[stage.preset] / "second-runs.txt").open("a", encoding="utf-8") as log:
            log.write(f"{time.strftime('%Y-%m-%d %H:%M')} {name}\n")
    return counts


def run_stage(stage, jobs, choice):
    """Runs one stage, or several as one. Returns a count for each label; one for a build.

    Stages of the thread sanitizer are skipped where its run-time does not start.
    """
    prefix = []
    if ("TMB_PREEMPT_SEED", PREEMPT_SEED) in stage.env:
        say(f"{stage.name}: TMB_PREEMPT_SEED={PREEMPT_SEED}")
    if stage.preset == "tsan":
        prefix = tsan_prefix()
        if prefix is None:
            say(f"{stage.name}: skipped: programs under the thread sanitizer do not start here")
            return {stage.name: Count(skipped=1)}
    if stage.preset == "clang" and not has_clang():
        say(f"{stage.name}: skipped: no clang {CLANG_OLDEST} or later (package clang-19)")
        return {stage.name: Count(skipped=1)}
    if stage.preset in CROSS:
        prefix = cross_prefix(stage.preset)
        if prefix is None:
            return {stage.name: Count(skipped=1)}
    if not stage.label:
        return {stage.name: build(stage, jobs + SPARE, choice != DAILY, prefix)}
    at_once = int(jobs * stage.waits) + (SPARE if stage.under else 0)
    counts = run_ctest(stage, at_once, prefix, choice)
    return run_again(stage, prefix, counts) if sum_of(counts.values()).ends else counts


def as_one(stages):
    """Neighbouring stages that run at the same time, as one stage."""
    if len(stages) == 1:
        return stages[0]
    label = "|".join(stage.label for stage in stages)
    return replace(stages[0], name=stages[0].beside, label=label)


def processor_s():
    """Processor time, in seconds, of all processes that have ended under this one."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_timed(stages, jobs, choice):
    """Runs stages at the same time. Returns their count and their lines in the table."""
    stage = as_one(stages)
    say(f"\n==== {stage.name}" + (f": {stage.label}" if len(stages) > 1 else ""))
    start, used = time.monotonic(), processor_s()
    counts = run_stage(stage, jobs, choice)
    wall, used = time.monotonic() - start, processor_s() - used
    total = sum_of(counts.values())
    lines = [table_line(stage.name, total, f"{wall:.0f} s", f"{used:.0f} s")]
    if len(stages) > 1:
        lines += [table_line("  " + n, c, f"({c.test_s:.0f} s)", "") for n, c in counts.items()]
    return total, lines


def run_under(stages, jobs, choice, log, results):
    """Runs stages one after the other at low priority, in a process of its own. What they print
    goes to the file `log`, their count and their lines of the table to the file `results`."""
    os.nice(UNDER_NICE)
    sys.stdout = open(os.dup(log.fileno()), "w", encoding="utf-8")
    os.dup2(log.fileno(), 1)
    os.dup2(log.fileno(), 2)
    total, lines = Count(), []
    for stage in stages:
        count, rows = run_timed([stage], jobs, choice)
        total.add(count)
        lines += rows
    pickle.dump((total, lines), results)
    results.flush()


def run_group(stages, under, jobs, choice):
    """Runs stages at the same time, and under them others. Returns their count and lines."""
    if not under:
        return run_timed(stages, jobs, choice)
    with tempfile.TemporaryFile() as log, tempfile.TemporaryFile() as results:
        below = multiprocessing.Process(
            target=run_under, args=(under, jobs, choice, log, results)
        )
        sys.stdout.flush()
        below.start()
        total, lines = run_timed(stages, jobs, choice)
        below.join()
        log.seek(0)
        say(log.read().decode(errors="replace"))
        results.seek(0)
        if below.exitcode:
            count, rows = Count(failed=1), []
            say(f"{under[0].name} and what follows ended with code {below.exitcode}")
        else:
            count, rows = pickle.load(results)
    total.add(count)
    return total, lines + rows


def table_line(name, count, wall, used):
    """One line of the table of stages."""
    results = f"{count.passed:7}{count.failed:7}{count.skipped:8}"
    return f"  {name:19}{results}{wall:>10}{used:>10}".rstrip()


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
    kind.add_argument("--check", action="store_true", help="run the stages of `make check`")
    kind.add_argument("--all", action="store_true", help="run all stages, as `make test-all`")
    kind.add_argument("--net", action="store_true", help="run only the tests on several hosts")
    parser.add_argument("--part", type=part_of, metavar="K/N", help="with --all: run part K of N")
    parser.add_argument("--only", action="append", metavar="STAGE", help="run this stage only")
    parser.add_argument("--list", action="store_true", help="print the stages and stop")
    parser.add_argument("--jobs", type=int, default=2,
                        help="number of tests and compilers that run at a time")
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
    if choice != DAILY:
        os.environ["TMB_TEST_WHOLE"] = "1"  # scripts leave nothing out
    total, lines = Count(), []
    start, used = time.monotonic(), processor_s()
    if options.only:
        stages = [stage for stage in stages if stage.name in options.only]
    groups = {stage.beside for stage in stages}
    upper = [stage for stage in stages if not stage.under or stage.under not in groups]
    for name, several in itertools.groupby(upper, lambda stage: stage.beside or stage.name):
        under = [stage for stage in stages if stage.under == name]
        count, rows = run_group(list(several), under, options.jobs, choice)
        total.add(count)
        lines += rows
    wall, used = time.monotonic() - start, processor_s() - used
    lines.append(table_line("all", total, f"{wall:.0f} s", f"{used:.0f} s"))
    say("\n  stage               passed failed skipped      wall processor\n" + "\n".join(lines))
    if total.longest:
        say("\n  longest: " + ", ".join(f"{name} {took:.1f} s" for took, name in total.longest))
    say("")
    show_failures(total)
    if total.second > SECOND_MOST:
        say(f"{total.second} tests needed a second run; at most {SECOND_MOST} may")
        total.failed += 1
    say(str(total))
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
