#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# timeout: 600
"""Runs the conformance programs with their ranks on several hosts.

Usage: suite.py [options]    hosts of a lab (lab.py), reached by ssh
       suite.py --pretend    hosts that are only pretended (TOMBOLO_PLACES); needs no root;
                             --launcher hydra or openmpi: by MPI's launcher
The programs, their arguments, settings and expectations are those that ctest has. Each is run with
the number of ranks that was asked for, or, where it does not support that, with the largest one
below that it has. Prints what failed and `N passed, N failed, N skipped`; 77: nothing could be run.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from confine import SKIP, confine, skip  # noqa: E402
from lab import Lab, build_folder  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "launch"))
from harness import LAUNCHERS, clean_environment  # noqa: E402

PLAIN = re.compile(r"^(conformance\.\w+(?:\.\w+)?)\.n(\d+)$")  # a run without settings of its own
ANY_RANKS = {2, 3, 4, 7}  # a program that is tested with these can run with any number
OUTPUT_LINES = 30  # of a failed run that are shown
AGENT_S = 15  # within which agents of hosts have to answer, as of TOMBOLO_SSH_TIMEOUT
# What is left out, with the reason: on any hosts, on hosts of a lab, by MPI's launcher, with the
# conduit udp, where sends are refused at random.
ON_ONE_HOST = {
    "coll_many": "judges processor time, which waits for other hosts take too",
    "core_dump": "counts the mappings of ranks of one host",
    "coll_mismatch": "calls are compared through memory that ranks of one host share",
    "coll_user_calls": "communicates in a reduction, which works in memory of one host alone",
    "mk_cuda": "counts the copies that ranks of one host save each other",
}
ON_ONE_MACHINE = {
    source.stem: "its ranks also talk through a socket of one machine"
    for source in Path(__file__).resolve().parent.parent.glob("conformance/*/*.c")
    if "oob_open" in source.read_text()
}
BY_MPI = {
    "coll_refused": "forbids process_vm_readv, by which MPI libraries copy on one machine",
    "notify_dropped": "starts `tombolo run` itself",
}
BY_SHM = {
    "coll_refused": "forbids process_vm_readv, by which the provider copies",
    "far_sleep": "the provider does not say what to wait for",
    "rma_immediate": "expects that nothing ends before the target polls; the provider gets alone",
}
BY_RXD = {"far_sleep": "the provider sends again by timers of its own, for which it is polled"}


@dataclass
class Run:
    """One program with one number of ranks."""

    name: str
    command: list
    environment: dict
    ranks: int
    timeout: float


def read_tests(select):
    """{name: {ranks: Run}} of the programs that ctest knows and whose name matches."""
    if not (build_folder() / "CTestTestfile.cmake").exists():
        sys.exit(f"suite: no build tree at {build_folder()}: make build, or set TMB_BUILD")
    command = ["ctest", "--test-dir", str(build_folder()), "--show-only=json-v1"]
    done = subprocess.run([*command, "-L", "^conformance$"], capture_output=True, check=True)
    found = {}
    for test in json.loads(done.stdout)["tests"]:
        match = PLAIN.match(test["name"])
        command = test.get("command", [])
        if not match or not re.search(select, match[1].split(".", 1)[1]) or "-n" not in command:
            continue
        values = {p["name"]: p["value"] for p in test["properties"]}
        environment = dict(word.split("=", 1) for word in values.get("ENVIRONMENT", []))
        ranks = int(match[2])
        run = Run(match[1], command, environment, ranks, float(values.get("TIMEOUT", 60)))
        found.setdefault(match[1], {})[ranks] = run
    return found


def refuse_missing(runs):
    """Ends here where programs are not built, with the command that builds them."""
    names = [run.command[run.command.index("--") + 1] for run in runs if "--" in run.command]
    missing = [name for name in names if not Path(name).exists()]
    if missing:
        sys.exit(f"suite: {len(missing)} of {len(runs)} programs are not built, as {missing[0]}: "
                 f"cmake --build {build_folder()} --target all nightly")


def choose(runs, ranks):
    """The run with `ranks` ranks, or the largest below it; None if all of them have one rank."""
    if ranks in runs:
        return runs[ranks]
    if ANY_RANKS <= set(runs):
        model = runs[max(ANY_RANKS)]
        return Run(model.name, model.command, model.environment, ranks, model.timeout)
    fitting = [n for n in runs if 1 < n <= ranks]
    return runs[max(fitting)] if fitting else None


def place(ranks, hosts, placement):
    """Host of each rank."""
    if placement == "cyclic":
        return [rank % hosts for rank in range(ranks)]
    if placement == "uneven":  # one rank on each host but the first
        few = min(hosts, ranks) - 1
        return [0] * (ranks - few) + list(range(1, few + 1))
    return [rank * min(hosts, ranks) // ranks for rank in range(ranks)]


def set_option(command, name, value):
    """Replaces the value of an option of `tombolo run`."""
    at = command.index(name)
    return [*command[: at + 1], value, *command[at + 2 :]]


def by_launcher(run, options, environment, seconds):
    """The command line by MPI's launcher, and what it adds to the environment."""
    program = run.command[run.command.index("--") + 1 :]
    words = ["timeout", "-k", "5", f"{seconds:.0f}", *LAUNCHERS[options.launcher], str(run.ranks)]
    changed = {k: v for k, v in environment.items() if os.environ.get(k) != v}
    return [*words, *program], clean_environment(**changed)


def prepare(run, options):
    """The command line and the environment of a run on its hosts."""
    host_of = place(run.ranks, options.hosts, options.placement)
    command = set_option(run.command, "-n", str(run.ranks))
    environment = {**os.environ, **run.environment}
    environment.update(word.replace("%3B", ";").split("=", 1) for word in options.set)
    environment["TOMBOLO_CONDUIT"] = options.conduit
    seconds = run.timeout * options.time_factor
    command = set_option(command, "--timeout", f"{seconds:.0f}")
    if options.pretend:
        environment["TOMBOLO_PLACES"] = ",".join(map(str, host_of))
        if options.launcher:
            return *by_launcher(run, options, environment, seconds), seconds
        return command, environment, seconds
    environment.pop("TOMBOLO_PLACES", None)  # its hosts are those of the lab
    environment.setdefault("TOMBOLO_SSH_TIMEOUT", f"{AGENT_S * max(options.time_factor, 1):g}")
    words = ",".join(f"host{h}" for h in host_of)
    at = command.index("-n")
    return [*command[:at], "--hosts", words, *command[at:]], environment, seconds


def perform(run, options, lab):
    """Runs it. Returns its exit code and output."""
    command, environment, seconds = prepare(run, options)
    words = lab.hosts[0].command(command) if lab else command
    try:
        done = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=seconds + 30)
        return done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as error:
        return 124, (error.stdout or b"").decode(errors="replace") + "\nsuite: no end"


def report(run, code, text, seconds):
    """One line for a run, and what it said when it failed."""
    word = "passed" if code == 0 else "skipped" if code == SKIP else f"FAILED ({code})"
    print(f"{run.name:<45} {run.ranks:>3} ranks {seconds:>7.2f} s  {word}", flush=True)
    if code not in (0, SKIP):
        lines = text.strip().splitlines()
        print("    " + "\n    ".join(lines[-OUTPUT_LINES:]), flush=True)


def run_all(runs, options, lab):
    """Runs all, a few at a time. Returns how many passed, failed and were skipped."""
    counts = [0, 0, 0]

    def one(run):
        start = time.monotonic()
        code, text = perform(run, options, lab)
        report(run, code, text, time.monotonic() - start)
        counts[0 if code == 0 else 2 if code == SKIP else 1] += 1

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(one, runs))
    return counts


def reason(name, options):
    """Why a program is left out; empty if it is not."""
    program = name.split(".")[1].removesuffix("_debug")
    tables = [ON_ONE_HOST]
    tables += [] if options.pretend else [ON_ONE_MACHINE]
    tables += [BY_MPI] if options.launcher else []
    tables += [BY_SHM] if "TOMBOLO_OFI_PROVIDER=shm" in options.set else []
    tables += [BY_RXD] if any("ofi_rxd" in setting for setting in options.set) else []
    return next((table[program] for table in tables if program in table), "")


def parse_options():
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--pretend", action="store_true",
                        help="use hosts pretended by TOMBOLO_PLACES, no lab")
    parser.add_argument("--launcher", choices=sorted(LAUNCHERS), help="with --pretend")
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--ranks", type=int, default=4, help="ranks of the whole job")
    parser.add_argument("--placement", choices=("blocks", "cyclic", "uneven"), default="blocks")
    parser.add_argument("--conduit", default="udp")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE",
                        help="a setting of the programs; %%3B stands for a semicolon")
    parser.add_argument("--select", default=".", help="regular expression over names")
    parser.add_argument("--part", default="1/1", metavar="K/N", help="run part K of N of the tests")
    parser.add_argument("--jobs", type=int, default=2, help="number of tests that run at a time")
    parser.add_argument("--time-factor", type=float, default=1,
                        help="factor on time limits, also on that of agents")
    parser.add_argument("--family", choices=("4", "6", "46"), default="4")
    parser.add_argument("--mtu", type=int, default=1500)
    parser.add_argument("--rails", type=int, default=1)
    parser.add_argument("--rate")
    parser.add_argument("--wire", help="settings of tests/net/wire by commas")
    return parser.parse_args()


def main():
    options = parse_options()
    if options.launcher and not shutil.which(LAUNCHERS[options.launcher][0]):
        skip(f"{LAUNCHERS[options.launcher][0]} is not installed")
    found = read_tests(options.select)
    runs, left_out = [], []
    for name, by_ranks in sorted(found.items()):
        run = choose(by_ranks, options.ranks)
        if run is None or reason(name, options):
            left_out.append(name.split(".", 1)[1])
        else:
            runs.append(run)
    k, n = map(int, options.part.split("/"))
    runs = runs[k - 1 :: n]
    if not runs:
        skip("no program is chosen")
    refuse_missing(runs)
    if options.pretend:
        counts = run_all(runs, options, None)
    else:
        confine()
        settings = None if options.wire is None else [w for w in options.wire.split(",") if w]
        with Lab(options.hosts, options.rails, options.family, options.mtu, options.rate, settings,
                 sshd=True) as lab:
            counts = run_all(runs, options, lab)
            left = lab.leftovers()
            if left:
                print(f"left behind: {left}")
                counts[1] += 1
    print(f"left out: {' '.join(left_out) or 'none'}")
    print(f"{counts[0]} passed, {counts[1]} failed, {counts[2]} skipped")
    sys.exit(1 if counts[1] else 0 if counts[0] else SKIP)


if __name__ == "__main__":
    main()
