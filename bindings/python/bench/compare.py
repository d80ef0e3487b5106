# SPDX-License-Identifier: BSD-3-Clause
"""Measures the binding beside its floors and mpi4py: compare.py [--rounds N] [--json FILE].

Each round runs two ranks of Tombolo and two of mpi4py in turn, each rank bound to a core. A figure
is the median over the rounds of a rank's best of several loops (all-reduce of 1 MiB: the median of
single calls); ratios are of figures of the same round. Floors are measured by the same process in
turn: a copy by NumPy for slices, the C call by ctypes for collectives. mpi4py (package
python3-mpi4py, with mpirun) is left out by name where it is missing.
"""

import argparse
import ctypes
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

import numpy as np

MIB = 1 << 20
SMALL = 20_000  # repetitions of operations of 8 bytes
LARGE = 60  # and of 1 MiB
BEST_OF = 7
HERE = os.path.abspath(__file__)


def best(function, repetitions):
    """Seconds of one call: the best of BEST_OF loops."""
    times = []
    for _ in range(BEST_OF):
        begin = time.perf_counter()
        for _ in range(repetitions):
            function()
        times.append((time.perf_counter() - begin) / repetitions)
    return min(times)


def alternately(functions, repetitions):
    """Seconds of one call of several functions, measured in turn: name -> seconds."""
    times = {name: [] for name in functions}
    for _ in range(BEST_OF):
        for name, function in functions.items():
            begin = time.perf_counter()
            for _ in range(repetitions):
                function()
            times[name].append((time.perf_counter() - begin) / repetitions)
    return {name: min(values) for name, values in times.items()}


def call_by_call(functions, repetitions):
    """Median of single calls, of each function in turn: name -> seconds. For calls of ms."""
    times = {name: [] for name in functions}
    for _ in range(repetitions):
        for name, function in functions.items():
            begin = time.perf_counter()
            function()
            times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(values) for name, values in times.items()}


def loop_cost():
    """Seconds of an empty call in these loops."""
    return best(lambda: None, SMALL)


class OfTombolo:
    """What is measured, with Tombolo."""

    def __init__(self):
        import tombolo

        self.job = tombolo.init()
        self.rank, self.size = self.job.rank, self.job.size
        self.array = self.job.zeros(MIB // 8)
        self.counter = self.job.zeros(8, np.int64)
        self.source = np.arange(MIB // 8, dtype=float)
        self.target = np.empty_like(self.source)
        self.barrier = self.job.barrier

    def c_allreduce(self, target, source):
        """The C call on the same team and buffers."""
        import tombolo._core

        library = ctypes.CDLL(tombolo._core.__file__)  # it holds a reference to libtombolo
        start = library.gex_Coll_ReduceToAllNB
        start.restype = ctypes.c_void_p
        wait = library.gexx_event_wait
        team = ctypes.c_void_p(self.job.handle)
        dst = ctypes.c_void_p(target.ctypes.data)
        src = ctypes.c_void_p(source.ctypes.data)
        count, size = ctypes.c_size_t(source.size), ctypes.c_size_t(8)

        def call():
            event = start(team, dst, src, 1 << 5, size, count, 1 << 3, None, None, 0)
            if event:
                wait(ctypes.c_void_p(event))

        return call

    def c_barrier(self):
        """The C call on the same team."""
        import tombolo._core

        call = ctypes.CDLL(tombolo._core.__file__).gex_Coll_BarrierBlocking
        return lambda: call(ctypes.c_void_p(self.job.handle), 0)

    def one_sided(self):
        """Rank 0 alone works; the other one waits in a barrier."""
        array, source, target = self.array, self.source, self.target

        def put_8():
            array[1, 5] = 1.5

        def get_8():
            return array[1, 5]

        def put_slice():
            array[1, :] = source

        def get_slice():
            array.get(1, out=target)

        def copy():
            target[:] = source

        found = {"put 8 B": best(put_8, SMALL), "get 8 B": best(get_8, SMALL)}
        found["fetch-and-add"] = best(lambda: self.counter.fetch_add(1, 0, 1), SMALL)
        slices = {"put 1 MiB": put_slice, "get 1 MiB": get_slice, "NumPy copy 1 MiB": copy}
        found.update(alternately(slices, LARGE))
        return found

    def collective(self):
        """Both ranks work."""
        job, source, target = self.job, self.source, self.target
        found = call_by_call(
            {
                "all-reduce 1 MiB": lambda: job.allreduce(source, out=target),
                "C all-reduce 1 MiB": self.c_allreduce(target, source),
            },
            BEST_OF * LARGE,
        )
        rows = np.ones((job.size, MIB // job.size))
        room = np.empty_like(rows)
        exchange = {
            "all-to-all 8 MiB": lambda: job.alltoall(rows, room),
            "all-to-all 8 MiB, new array": lambda: job.alltoall(rows),
        }
        found.update(call_by_call(exchange, BEST_OF * 8))
        small, out = np.ones(1), np.empty(1)
        found.update(
            alternately(
                {
                    "all-reduce 8 B": lambda: job.allreduce(small, out=out),
                    "C all-reduce 8 B": self.c_allreduce(out, small),
                    "barrier": job.barrier,
                    "C barrier": self.c_barrier(),
                },
                SMALL // 10,
            )
        )
        return found


class OfMpi:
    """The measurements with mpi4py: a window, and its upper-case calls on NumPy arrays."""

    def __init__(self):
        from mpi4py import MPI

        self.MPI = MPI
        self.comm = MPI.COMM_WORLD
        self.rank, self.size = self.comm.rank, self.comm.size
        self.window = MPI.Win.Allocate(MIB, 8, comm=self.comm)
        self.source = np.arange(MIB // 8, dtype=float)
        self.target = np.empty_like(self.source)
        self.barrier = self.comm.Barrier

    def one_sided(self):
        window, source, target, MPI = self.window, self.source, self.target, self.MPI
        small, word = np.array([1.5]), np.empty(1)
        one, old = np.ones(1, np.int64), np.empty(1, np.int64)
        window.Lock_all()

        def put_8():
            window.Put([small, MPI.DOUBLE], 1, 5)
            window.Flush(1)

        def get_8():
            window.Get([word, MPI.DOUBLE], 1, 5)
            window.Flush(1)

        def add():
            window.Fetch_and_op(one, old, 1, 0)
            window.Flush(1)

        def put_slice():
            window.Put([source, MPI.DOUBLE], 1)
            window.Flush(1)

        def get_slice():
            window.Get([target, MPI.DOUBLE], 1)
            window.Flush(1)

        found = {"put 8 B": best(put_8, SMALL // 10), "get 8 B": best(get_8, SMALL // 10)}
        found["fetch-and-add"] = best(add, SMALL // 10)
        found.update(alternately({"put 1 MiB": put_slice, "get 1 MiB": get_slice}, LARGE))
        window.Unlock_all()
        return found

    def collective(self):
        comm, source, target = self.comm, self.source, self.target
        small, out = np.ones(1), np.empty(1)
        reduce = {"all-reduce 1 MiB": lambda: comm.Allreduce(source, target)}
        found = call_by_call(reduce, BEST_OF * LARGE)
        rows = np.ones((comm.size, MIB // comm.size))
        room = np.empty_like(rows)
        exchange = {
            "all-to-all 8 MiB": lambda: comm.Alltoall(rows, room),
            "all-to-all 8 MiB, new array": lambda: comm.Alltoall(rows, np.empty_like(rows)),
        }
        found.update(call_by_call(exchange, BEST_OF * 8))
        found["all-reduce 8 B"] = best(lambda: comm.Allreduce(small, out), SMALL // 10)
        found["barrier"] = best(comm.Barrier, SMALL // 10)
        return found


def work(kind, part):
    """A rank: prints what it has measured as JSON, if it is rank 0; part: all or collective."""
    side = OfTombolo() if kind == "tombolo" else OfMpi()
    assert side.size == 2, f"{kind}: {side.size} ranks, not 2"
    found = {"empty call": loop_cost()}
    side.barrier()
    if side.rank == 0 and part == "all":
        found.update(side.one_sided())
    side.barrier()
    found.update(side.collective())
    side.barrier()
    if side.rank == 0:
        print("figures", json.dumps(found), flush=True)


def run(words, env):
    """Runs a job; returns its figures, or None and why there are none."""
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        if line.startswith("figures "):
            return json.loads(line[len("figures ") :]), None
    return None, (done.stderr.strip().splitlines() or ["no output"])[-1]


def peers():
    """name -> command line; and the lines about those that are missing."""
    python = [sys.executable, HERE, "--as"]
    launch = [sys.executable, "-m", "tombolo", "run", "--bind", "-n", "2"]
    found = {"tombolo": [*launch, *python, "tombolo"]}
    mpirun = shutil.which("mpirun")
    try:
        import mpi4py  # noqa: F401
    except ImportError:
        print("mpi4py: left out: it is not installed (package python3-mpi4py)")
        return found
    if not mpirun:
        print("mpi4py: left out: no mpirun")
        return found
    is_open = "open" in subprocess.getoutput(f"{mpirun} --version").lower()
    options = ["--oversubscribe"] if is_open else []
    options += ["--bind-to", "core"]
    found["mpi4py"] = [mpirun, *options, "-n", "2", *python, "mpi4py"]
    return found


def measure(rounds):
    """peer -> list of figures, one of each round."""
    env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    commands = peers()
    results = {name: [] for name in commands}
    for _ in range(rounds):
        for name, words in commands.items():
            figures, why = run(words, env)
            if figures is None:
                sys.exit(f"{name}: {why}")
            results[name].append(figures)
    return results


def report(results):
    """Prints the table, and what the targets say."""
    ours = results["tombolo"]
    theirs = results.get("mpi4py")
    title = f"us, median of {len(ours)} rounds"
    print(f"{title:24} {'tombolo':>10} {'mpi4py':>10} {'ratio':>7}")
    for name in ours[0]:
        mine = [r[name] for r in ours]
        line = f"{name:24} {statistics.median(mine) * 1e6:10.3f}"
        if theirs and name in theirs[0]:
            other = [r[name] for r in theirs]
            ratio = statistics.median(b / a for a, b in zip(mine, other))
            line += f" {statistics.median(other) * 1e6:10.3f} {ratio:7.2f}"
        print(line)
    put = statistics.median(r["put 8 B"] - r["empty call"] for r in ours) * 1e9
    copy = statistics.median(r["NumPy copy 1 MiB"] / r["put 1 MiB"] for r in ours)
    reduce = statistics.median(r["all-reduce 1 MiB"] / r["C all-reduce 1 MiB"] for r in ours)
    print(f"put of 8 bytes, less the loop: {put:.0f} ns (target: at most 300)")
    print(f"put of 1 MiB: {copy:.2f} x NumPy copy (target: at least 0.95)")
    print(f"all-reduce of 1 MiB: {reduce:.2f} x the C call (target: at most 1.05)")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", metavar="FILE",
                        help="write all figures of all rounds to this file")
    parser.add_argument("--as", dest="kind", choices=("tombolo", "mpi4py"), help=argparse.SUPPRESS)
    parser.add_argument("--part", choices=("all", "collective"), default="all",
                        help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.kind:
        work(options.kind, options.part)
        return
    results = measure(options.rounds)
    report(results)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"machine": os.uname(), "seconds": results}, file, indent=1)


main()
