#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A program that hangs costs a comparison its time, and nothing else: study/compare/budget.py.

What it has printed counts, what it has started ends with it, it is named in the JSON, the next one
runs; when the budget is spent, no further one is started."""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "study/compare"))
import apps  # noqa: E402
import budget as budgets  # noqa: E402
import caf_apps  # noqa: E402
import scaling  # noqa: E402
import starts  # noqa: E402
from budget import Budget, Series, add_options, in_rounds  # noqa: E402

# A launcher that does not end when it is asked to, and what it has started.
HANGS = "trap '' TERM; sleep 300 & echo $!; echo a row; wait; wait; sleep 300"


def options(*words):
    parser = ArgumentParser()
    add_options(parser, 60)
    return parser.parse_args(words)


def runs(pid):
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def shared_memory():
    """What a program that is cut off leaves in /dev/shm goes, and nothing of others."""
    if not Path("/dev/shm").is_dir():
        return
    with tempfile.NamedTemporaryFile(dir="/dev/shm", prefix="tmb_others.") as others:
        leaves = "f=/dev/shm/tmb_left.$$; exec 3>$f; echo $f; sleep 300"
        text, code = Budget(options("--timeout", "0.5")).run("leaves", ["sh", "-c", leaves])
        assert code is None and text.startswith("/dev/shm/tmb_left."), text
        assert not Path(text.strip()).exists(), "a file in /dev/shm is left"
        own = f"setsid sh -c {shlex.quote(leaves.replace('300', '2'))} & wait"  # as MPICH's ranks
        text, code = Budget(options("--timeout", "0.5")).run("leaves", ["sh", "-c", own])
        assert code is None and text.startswith("/dev/shm/tmb_left."), text
        assert not Path(text.strip()).exists(), "a file of another session in /dev/shm is left"
        assert Path(others.name).exists(), "somebody else's file in /dev/shm is removed"


def large_problems(folder):
    """A large problem is measured on the numbers of ranks that it names; one that does not fit into
    memory is named with what it needs."""
    study = scaling.Study("pipeline", Namespace(hosts=None), Budget(options()))
    panel, most = "32768 x 32768", scaling.available
    scaling.available = lambda: 1e12
    assert scaling.is_meant(study, panel, 2) and scaling.is_meant(study, "400 x 400", 8)
    assert not scaling.is_meant(study, panel, 8)
    scaling.available = lambda: 8e9
    assert not scaling.is_meant(study, panel, 2)
    scaling.available = most
    assert study.budget.unfinished == {
        f"{panel}, 2 ranks": "needs 9.9 GB of memory, 8.0 GB are available"}, \
        study.budget.unfinished


def slow_starts(_):
    """A start that took long is measured once, and twice as many ranks are not tried if they would
    not be done in time; that is said."""
    budget = Budget(options("--timeout", "40"))
    assert starts.is_due(0, {}, 1, budget, "a") and starts.is_due(1, {4: 1.0}, 4, budget, "a")
    assert not starts.is_due(1, {4: 6.0}, 4, budget, "a") and not budget.unfinished
    assert starts.is_due(0, {128: 19.0}, 256, budget, "a")
    assert not starts.is_due(0, {128: 21.0}, 256, budget, "b")
    assert budget.unfinished == {"b": "not run: 128 ranks took 21 s"}, budget.unfinished


def coarray_peers(folder):
    """An MPI without OpenCoarrays is named by what is missing, before anything is compiled; of one
    that does not compile the compiler's last line is said."""
    program = folder / "bench" / caf_apps.PROGRAMS["hydro"][0]
    program.parent.mkdir(parents=True)
    program.write_text("")
    (folder / "lib/x").mkdir(parents=True)
    (folder / "lib/x/libcaf_openmpi.so").write_text("")
    for name, text in (("mpifort.openmpi", "echo it is 'Error: no module' >&2; exit 1"),
                       ("mpifort.mpich", "echo called >&2"), ("mpirun.openmpi", "")):
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    code = ("import caf_apps, pathlib, sys; f = pathlib.Path(sys.argv[1]); "
            "caf_apps.LIBRARIES = f / 'lib'; "
            "print(*caf_apps.compile_all(f, f, ['hydro'], ['mpich', 'openmpi']))")
    done = subprocess.run([sys.executable, "-c", code, folder], text=True, capture_output=True,
                          cwd=ROOT / "study/compare", check=False,
                          env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["tombolo", "openmpi"], done.stdout
    assert "mpich: not installed, left out (libcaf_mpich.so" in done.stderr, done.stderr
    assert "openmpi: hydro not compiled, left out: it is Error: no module" in done.stderr
    assert "None" not in done.stderr and "called" not in done.stderr, done.stderr


def peers_one_by_one(folder):
    """Where ScaLAPACK is absent, the applications that need it are left out, and no others."""
    compiler = folder / "cc"
    compiler.write_text("#!/bin/sh\n"
                        "case \"$*\" in *scalapack*) echo 'no -lscalapack' >&2; exit 1;; esac\n")
    compiler.chmod(0o755)
    apps.PEERS = {"openmpi": (str(compiler), ["sh"]), "mpich": ("/no/such/mpicc", ["sh"])}
    sides = apps.compile_all(folder, folder, ["matmul", "pipeline", "cholesky", "tree"])
    assert list(sides) == ["tombolo", "openmpi"], sides
    assert list(sides["openmpi"][1]) == ["pipeline", "tree"], sides


def bounds():
    """The rate of computing alone is no way of ours. It limits the target where it is near the
    peers', and only there; problems without it have none."""
    def record(**rates):
        series = Series("matmul", ("1000", [], 1.0))
        for key, rate in rates.items():
            series.add(tuple(key.split("_", 1)), rate)
        return apps.record_of(series, Namespace(apps_crowded=True))
    words = '{"way": "get", "mflops": 90.0, "share": 0.75}\n'
    rows = apps.with_bound({"get": 90.0}, words)
    assert rows == {"get": 90.0, apps.BOUND: 120.0}, rows
    assert apps.with_bound({}, words) == {} and apps.with_bound({"a": 1}, "") == {"a": 1}
    near = record(**{"tombolo_get": 110.0, "upc_get": 114.0, f"tombolo_{apps.BOUND}": 120.0,
                     "openmpi_pdgemm": 100.0})
    assert near["ratio"] == 1.14 and near["target"] == 1.14 and round(near["bound"], 9) == 1.2, near
    assert near["of_bound"] == 0.95 and list(near["mflops"]) == [
        "tombolo get", "upc get", "openmpi pdgemm"], near
    far = record(**{"tombolo_get": 110.0, f"tombolo_{apps.BOUND}": 180.0, "openmpi_pdgemm": 100.0})
    assert far["target"] == apps.CROWDED and round(far["bound"], 9) == 1.8, far
    behind = record(**{"tombolo_get": 90.0, f"tombolo_{apps.BOUND}": 101.0, "mpich_mpi": 100.0})
    assert behind["target"] == 1.0, behind  # never less than the peer
    both = record(**{"tombolo_get": 110.0, f"tombolo_{apps.BOUND}": 120.0, "mpich_mpi": 100.0,
                     f"mpich_{apps.BOUND}": 125.0})
    assert both["ratio"] == 1.1 and both["bound"] == 1.25, both  # no way of the peer, either
    assert "bound" not in record(tombolo_get=110.0, openmpi_pdgemm=100.0)


def coarray_bounds():
    """The time of computing alone is no form. It limits the target where it is near the peer's, but
    no target is slower than the peer. Of each side the best form counts."""
    def record(**times):
        series = Series("hydro", "96^2", [], 1, 1, 0.8)
        for key, ms in times.items():
            series.add(tuple(key.split("_", 1)), ms)
        return caf_apps.record_of(series)
    near = record(**{"tombolo_all": 0.96, "tombolo_attached": 0.98,
                     f"tombolo_{caf_apps.BOUND}": 0.9, "openmpi_events": 1.0,
                     f"openmpi_{caf_apps.BOUND}": 0.855})
    assert near["ratio"] == 0.96 and near["target"] == 0.9, near
    assert round(near["bound"], 9) == 0.855 and list(near["ms"]) == [
        "tombolo all", "tombolo attached", "openmpi events"], near
    far = record(**{"tombolo_all": 0.6, f"tombolo_{caf_apps.BOUND}": 0.3, "openmpi_events": 1.0})
    assert far["target"] == 0.8 and far["of_bound"] == 0.5, far
    slow = record(**{"tombolo_all": 1.1, f"tombolo_{caf_apps.BOUND}": 1.0, "openmpi_all": 1.0})
    assert slow["target"] == 1.0, slow
    plain = record(tombolo_all=0.9, openmpi_all=1.0)
    assert plain["target"] == 0.8 and "bound" not in plain, plain
    budget = Budget(options("--timeout", "5"))
    printed = ["printf", "  computing alone  0.25000 ms an iteration\\n  events  0.50000 ms an "
               "iteration  1.0 MFlop/s  VERIFIED\\n"]
    rows = caf_apps.one_run("it", printed, budget)
    assert rows == {"events": 0.5, caf_apps.BOUND: 0.25}, rows


def busy_machine():
    """Programs that share one processor are not done in their limit because they wait for it: they
    get more, but not where the budget counts."""
    spin = "for i in 1 2 3; do timeout 1 sh -c 'while :; do :; done' & done; wait; echo done"
    command = ["taskset", "-c", str(min(os.sched_getaffinity(0))), "sh", "-c", spin]
    assert Budget(options("--timeout", "0.4")).run("spins", command) == ("done\n", 0)
    budget = Budget(options("--timeout", "0.4", "--budget", "60"))
    assert budget.run("spins", command)[1] is None, "more than the limit"


def main():
    bounds()
    busy_machine()
    coarray_bounds()
    for check in (peers_one_by_one, coarray_peers, large_problems, slow_starts):
        with tempfile.TemporaryDirectory() as folder:
            check(Path(folder))
    shared_memory()
    swept = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.json"
        budget = Budget(options("--timeout", "0.5", "--json", str(path)),
                        lambda: swept.append(1))
        text, code = budget.run("hangs", ["sh", "-c", HANGS])
        child, row = text.split("\n")[:2]
        assert code is None and row == "a row" and swept == [1], (text, code, swept)
        deadline = time.monotonic() + 5
        while runs(int(child)) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not runs(int(child)), "what the program has started still runs"
        assert budget.run("fine", ["echo", "$HOME"], {"HOME": "/"}) == ("$HOME\n", 0)
        assert budget.run("fails", ["false"], errors=subprocess.DEVNULL) == ("", 1)
        budget.save({"records": [1]})
        assert json.loads(path.read_text()) == {
            "records": [1], "cut": None,
            "unfinished": {"hangs": "not done after 0 s", "fails": "exit code 1"}}, path.read_text()
        budget = Budget(options("--budget", "2", "--json", str(path)))
        budget.run("first", ["sleep", "0.1"])
        time.sleep(2)
        mark = Path(folder) / "mark"
        assert budget.run("second", ["touch", mark]) == ("", None) and not mark.exists()
        assert budget.run("first", ["touch", mark]) == ("", None) and not mark.exists()
        budget.save({})
        said = json.loads(path.read_text())
        assert said["cut"] == 2 and list(said["unfinished"]) == ["second"], said
        # one that hangs has a share of the budget only; every problem is measured before any again
        budgets.SHARE_S = 0.2
        budget = Budget(options("--budget", "8", "--json", str(path)))
        begin = time.monotonic()
        budget.run("slow", ["sleep", "7"])
        assert 0.9 < time.monotonic() - begin < 6 and not budget.cut, budget.unfinished
        begin = time.monotonic()
        assert budget.run("at most", ["sleep", "7"], most=0.2)[1] is None
        assert time.monotonic() - begin < 3 and budget.longest() == 1, budget.longest()
        order, every = [], [Series("a"), Series("b")]
        in_rounds(every, 2, lambda series: order.append(series.about[0]), lambda: order.append("."))
        assert "".join(order) == "a.b.a.b.", order
        every[0].add("side", 1)
        every[0].add("side", 2)
        assert every[0].figures == {"side": [1, 2]}, every[0].figures
    print(f"budget: ended in time (process {os.getpid()})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
