# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of launchers share: where programs are, how each launcher is called, a run with
its output and time, and cases that say what failed."""

import os
import re
import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path

BUILD = Path(os.environ.get("TMB_BUILD", "build")).resolve()
TOMBOLO = os.environ.get("TOMBOLO", str(BUILD / "bin/tombolo"))
ENDS = str(BUILD / "tests/launch/ends")
# In the environment of all processes of this test: others have watchers of this tree, too.
MARK = ("TMBTEST_MARK", uuid.uuid4().hex)
os.environ[MARK[0]] = MARK[1]
LIMIT = 60  # seconds for one run on a loaded machine

LAUNCHERS = {
    "hydra": ["mpiexec.hydra", "-n"],
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca",
                "btl_base_warn_component_unused", "0", "-n"],
}
MPI_OF = {"hydra": "mpich", "openmpi": "openmpi"}


def is_late_mpi(launcher):
    """Whether the launcher's MPI starts in no process that uses PMIx: Open MPI 5."""
    if launcher != "openmpi" or not shutil.which("mpirun.openmpi"):
        return False
    said = subprocess.run(["mpirun.openmpi", "--version"], capture_output=True, text=True,
                          check=False)
    return int(re.search(r"(\d+)\.", said.stdout)[1]) >= 5


def skip(reason):
    print(f"SKIP: {reason}")
    sys.exit(77)


def need(command):
    if not shutil.which(command):
        skip(f"{command} is not installed")


def clean_environment(**settings):
    """Ours without what a launcher around the test has left, and the tombolo command in PATH."""
    foreign = ("PMI", "PMIX_", "OMPI_", "SLURM_", "HYD", "TOMBOLO_BOOT", "TOMBOLO_PLACES")
    env = {k: v for k, v in os.environ.items() if not k.startswith(foreign)}
    env.update(settings)
    env["PATH"] = str(BUILD / "bin") + os.pathsep + env["PATH"]
    return env


class Run:
    """One run of a command: `code`, `out` (both streams), `seconds`."""

    def __init__(self, command, **settings):
        self.command = command
        began = time.monotonic()
        # hydra notifies its agent of the end of its input, and dies of SIGPIPE where the program,
        # any program, has ended before: so the input stays open.
        stdin, keeps_it_open = os.pipe()
        try:
            done = subprocess.run(command, env=clean_environment(**settings), timeout=LIMIT,
                                  stdin=stdin, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, errors="replace")
            self.code, self.out = done.returncode, done.stdout
        except subprocess.TimeoutExpired as late:
            self.code, self.out = None, (late.stdout or b"").decode(errors="replace")
        finally:
            os.close(stdin)
            os.close(keeps_it_open)
        self.seconds = time.monotonic() - began

    def check(self, condition, what):
        if not condition:
            raise AssertionError(f"{what}\n  command: {' '.join(self.command)}\n  code: "
                                 f"{self.code}, {self.seconds:.1f} s\n  output:\n{self.out}")
        return self


def launch(launcher, ranks, *program, **settings):
    return Run([*LAUNCHERS[launcher], str(ranks), *program], **settings)


def shm_names():
    """Names in /dev/shm that are ours: other programs' come and go."""
    try:
        return {n for n in os.listdir("/dev/shm") if "tombolo" in n}
    except FileNotFoundError:
        return set()


def watchers():
    """Processes of `tombolo watch` that ranks of this test have started."""
    found, mark = [], "=".join(MARK).encode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path("/proc", pid, "cmdline").read_bytes().split(b"\0")
            marked = mark in Path("/proc", pid, "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[1:2] == [b"watch"] and marked:
            found.append(int(pid))
    return found


def run_cases(cases, words):
    """Run the functions whose names contain one of the words; exit code 0 if none fails."""
    failed = 0
    for case in cases:
        name = case.__name__
        if words and not any(w in name for w in words):
            continue
        try:
            case()
            print(f"ok {name}", flush=True)
        except AssertionError as why:
            failed += 1
            print(f"FAIL {name}: {why}", flush=True)
    sys.exit(1 if failed else 0)
