#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# ft.py: NAS FT on Tombolo and on MPI.
#
# Our schedules (study/apps/ft), its three forms in UPC (ft-upc), the same transforms and layouts
# with MPI_Alltoall and with non-blocking point-to-point (ft_mpi.c) on each MPI that is installed,
# and FFTW's own transform over MPI (ft_fftw_mpi.c; needs libfftw3-mpi-dev, which Debian builds for
# Open MPI). All in alternation on this machine; net.py --ft runs the same on four hosts. Each run
# verifies itself, else it does not count. A side that is not installed or does not end in time is
# named.
#   study/compare/ft.py [--build build] [--ranks 2] [--class A] [--grid TYxTZ] [--rounds 5]
#                       [--json FILE]
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from budget import Budget, parser_for
from compare import HERE, PEERS, ROOT

FT = ROOT / "study" / "apps" / "ft"
OURS = ("packed", "collective", "slabs-blocking", "slabs", "slabs-signal")
THEIRS = ("alltoall", "p2p")
UPC = ("bulk", "nb", "signal")


def compile_mpi(folder):
    """Compiles FT for each MPI. Returns {side: program}; side "fftw": FFTW's own transform."""
    flags = [f"-I{ROOT}/study", f"-I{ROOT}/include"]
    shared = [s for s in sorted(FT.glob("*.c")) if s.name not in ("comm.c", "exchange.c")]
    programs = {}
    for side, (compiler, launcher) in PEERS.items():
        if not shutil.which(compiler) or not shutil.which(launcher[0]):
            print(f"{side}: not installed, left out ({compiler}, {launcher[0]})", file=sys.stderr)
            continue
        programs[side] = folder / f"ft-{side}"
        # MPICH declares that MPI_STATUSES_IGNORE is an array.
        subprocess.run([compiler, "-O2", "-g", "-Wno-stringop-overflow", *flags,
                        HERE / "ft_mpi.c", *shared, "-lfftw3", "-lm", "-o", programs[side]],
                       check=True)
    if "openmpi" not in programs:
        return programs
    command = [PEERS["openmpi"][0], "-O2", "-g", *flags, HERE / "ft_fftw_mpi.c", FT / "problem.c",
               FT / "layout.c", "-lfftw3_mpi", "-lfftw3", "-lm", "-o", folder / "ft-fftw"]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        print("fftw: FFTW's transform over MPI is left out (libfftw3-mpi-dev)", file=sys.stderr)
    else:
        programs["fftw"] = folder / "ft-fftw"
    return programs


def ways_of(programs, build):
    """{name: (side, program, schedule)} of all variants."""
    ways = {f"tombolo {s}": ("tombolo", build / "bench" / "ft", s) for s in OURS}
    upc = build / "bench" / "ft-upc"
    if upc.exists():
        ways.update({f"tombolo UPC {s}": ("tombolo", upc, s) for s in UPC})
    else:
        print("UPC: not built, left out (ft-upc)", file=sys.stderr)
    for side, program in programs.items():
        if side == "fftw":
            ways["openmpi fftw"] = ("openmpi", program, None)
            continue
        ways.update({f"{side} {s}": (side, program, s) for s in THEIRS})
    return ways


def arguments(schedule, options, report):
    """Arguments of the program: ft's options, or the class alone for FFTW's transform."""
    if schedule is None:
        return [options.ft_class]
    grid = ["--grid", options.grid] if options.grid else []
    return ["--class", options.ft_class, "--schedule", schedule, *grid, "--warmup", "--json",
            report]


def found_in(schedule, text, report):
    """(time, detail) of a run that printed `text`, or (None, None) if it is not verified. detail:
    the phases (means over the ranks), and number and bytes of the puts of a rank, all and in the
    exchanges of rows and of columns."""
    if "VERIFIED" not in text or "NOT VERIFIED" in text or "FAILED" in text:
        return None, None
    if schedule is None:
        return float(text.split()[0]), None
    run = json.loads(report.read_text())["runs"][0]
    return run["seconds"], {"phases": {k: v["mean"] for k, v in run["phases"].items()},
                            "puts": run["puts_per_rank"], "bytes": run["put_bytes_per_rank"],
                            **{name: list(run[name].values()) for name in ("rows", "columns")
                               if name in run}}


def measure(ways, options, folder, run, budget):
    """run(side, way, command after the launcher): its output. Returns {way: [seconds]}, saved after
    each run. A side that has failed is not run again."""
    report = folder / "ft.json"
    seconds, failed, runs = {way: [] for way in ways}, set(), {way: [] for way in ways}
    for _ in range(options.rounds):
        for way, (side, program, schedule) in ways.items():
            if way in failed:
                continue
            report.unlink(missing_ok=True)
            text = run(side, way, [program, *arguments(schedule, options, report)])
            value, detail = found_in(schedule, text, report)
            if detail:
                runs[way].append((value, detail))
            if value is None:
                failed.add(way)
            else:
                seconds[way].append(value)
            budget.save({"rounds": options.rounds, "class": options.ft_class,
                         "ranks": options.ranks, "grid": options.grid, "seconds": seconds,
                         "records": medians_of(seconds),
                         "details": {w: of_middle(found) for w, found in runs.items() if found}})
    return seconds


def of_middle(found):
    """The detail of the run whose time is nearest to the median. found: [(seconds, detail)]."""
    middle = statistics.median(value for value, _ in found)
    return min(found, key=lambda one: abs(one[0] - middle))[1]


def medians_of(seconds):
    return {way: statistics.median(values) for way, values in seconds.items() if values}


def show(seconds):
    """Prints medians and spreads. Returns the medians."""
    medians = medians_of(seconds)
    for way, value in sorted(medians.items(), key=lambda item: item[1]):
        spread = f"{min(seconds[way]):.3f}..{max(seconds[way]):.3f}"
        print(f"{way:<24}{value:>9.3f} s   {spread}")
    return medians


def verdict(medians, over_packed, over_mpi):
    """Prints the ratios that have a target."""
    ours = [v for way, v in medians.items() if way.startswith("tombolo")]
    peers = [v for way, v in medians.items() if not way.startswith("tombolo")]
    rows = [("slabs over packed", medians.get("tombolo packed"), medians.get("tombolo slabs"),
             over_packed),
            ("our best over Open MPI's alltoall", medians.get("openmpi alltoall"),
             min(ours, default=None), over_mpi),
            ("our best over the best MPI", min(peers, default=None), min(ours, default=None), None)]
    for name, slow, fast, wanted in rows:
        if slow and fast:
            mark = "" if not wanted else (f", target {wanted}: "
                                          f"{'ok' if slow / fast >= wanted else 'MISSED'}")
            print(f"{name}: {slow / fast:.2f}{mark}")


def run_here(options, budget):
    """A function that runs one side on this machine."""
    launchers = {"tombolo": [options.build / "bin" / "tombolo", "run"]}
    launchers.update({side: launcher for side, (_, launcher) in PEERS.items()})

    def run(side, way, command):
        text, code = budget.run(way, [*launchers[side], "-n", options.ranks, *command],
                                errors=subprocess.STDOUT)
        if code:
            print(f"{way}: exit code {code}: {text[-800:]}", file=sys.stderr)
        return text

    return run


def main():
    parser = parser_for("NAS FT on Tombolo and on MPI, one machine.", 120)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--class", dest="ft_class", default="A")
    parser.add_argument("--grid", help="process grid TYxTZ (default: ft's choice; FFTW: 1-D)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each side, in alternation")
    options = parser.parse_args()
    options.build = options.build.resolve()
    budget = Budget(options)  # compiling counts
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ways = ways_of(compile_mpi(folder), options.build)
        medians = show(measure(ways, options, folder, run_here(options, budget), budget))
    verdict(medians, None, None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
