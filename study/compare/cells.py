#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# cells.py: regression watch: figures that were once slower than a peer, with their targets.
#
# `make cells`, `make study PART=cells`. Runs small measuring programs of ours and of the MPI
# libraries in alternation, group by group, and prints a line a figure: ours, the best peer, their
# ratio (median over the rounds, least and most), the target, and whether it is met.
# cells_table.py has the rows. Less than 5 minutes; a peer that is missing or does not end is named.
#   study/compare/cells.py [GROUP...] [--build build] [--rounds 5] [--json FILE]
#   study/compare/cells.py --show FILE | --adopt FILE | --check
# --show prints the table of a JSON file again. --adopt keeps FILE as study/data/cells.json
# and writes its table into study/RESULTS.md; --check compares the two. Groups: first, medium, ops,
# sizes, barrier, sleepers, team, coll, hosts, shmem, udp, ofi, threads, python, growth (1024
# ranks).
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import cells_table
import growth
import net
import series
import waits
from budget import Budget, compile_ours, parser_for
from compare import HERE, PEERS, ROOT, processors

sys.path.insert(0, str(HERE.parent))
import kept as store  # noqa: E402

KEPT = ROOT / "study" / "data" / "cells.json"
PAGE = ROOT / "study" / "RESULTS.md"
MARK = ("<!-- cells: written by study/compare/cells.py --adopt -->\n", "<!-- end of cells -->\n")
GROUPS = tuple(dict.fromkeys(cell.group for cell in cells_table.CELLS))
ALL_S = 270  # seconds for all groups
# Operations of a sample. MPICH spins: each takes milliseconds where ranks outnumber processors.
MPI_BARRIERS = {"openmpi": 50, "mpich": 2}
COLL = re.compile(r"^(broadcast|allgather|exchange) 4096 ([\d.]+)$", re.M)
LEVEL = re.compile(r"^(\w+) (\d+) ([\d.]+)$", re.M)
TRIP = re.compile(r"^round_trip 0 ([\d.]+)$", re.M)
WAIT = re.compile(r"^wait (\w+) ([\d.]+) ([\d.]+) ", re.M)
SEVERAL = re.compile(r"^(put|message|long) (\d+) (\d) ([\d.]+)$", re.M)
SHORT = re.compile(r"^(round_trip|flood|put) \d+ ([\d.]+)$", re.M)
FIGURE = re.compile(r"^figure (\S+) (\S+) bytes=(\d+).*\nx (.*)\n(?:f (.*)\n)?", re.M)


@dataclass
class Side:
    """One program of a group. read: makes {figure: value} of what it prints."""
    who: str
    words: list
    read: object
    environment: dict = field(default_factory=dict)


# ---- output of the programs


def bench_figures(text):
    """{(name, bytes): (median ns, floor's median ns or None)} of a measuring program."""
    found = {}
    for _, name, size, values, floors in FIGURE.findall(text):
        middle = [statistics.median(map(float, part.split())) if part else None
                  for part in (values, floors)]
        found[name, int(size)] = tuple(middle)
    return found


def us(ns):
    return None if ns is None else ns / 1e3


def read_handoff(text):
    return {"hand-off": us(bench_figures(text)["short_rtt", 0][1])}


def read_first(text):
    words = next(line for line in text.splitlines() if line.startswith("first")).split()
    chunks, settled = words[1:words.index("steady")], words[-1]
    hand = re.search(r"^by hand (\S+)$", text, re.M)[1]
    return {"first": us(statistics.mean(map(float, chunks))), "settled": us(float(settled)),
            "message by hand": us(float(hand))}


def read_medium(copies):
    def read(text):
        out = {}
        for (name, size), (ours, floor) in bench_figures(text).items():
            out[f"{name} {size}"], out[f"{copies} {size}"] = us(ours), us(floor)
        return out
    return read


def read_ops(prefix):
    """Starts of puts, and messages there and back."""
    def read(text):
        out = {}
        for name, size, median, *_ in series.ROW.findall(text):
            if name == "put_overhead":
                out[f"{prefix}{name} {size}"] = float(median)
            elif name == "message_latency":
                out[f"{prefix}message_trip {size}"] = 2 * float(median)
        return out
    return read


def read_team(ranks):
    def read(text):
        found, out = bench_figures(text), {}
        for (name, _), (ours, floor) in found.items():
            if name == f"barrier_turn_{ranks}ranks":
                out[f"barrier_{ranks}"], out[f"turn {ranks}"] = us(ours), us(floor)
            elif name == f"split_destroy_{ranks}ranks":
                out["split"] = us(ours)
        return out
    return read


def read_barrier(name):
    return lambda text: {name: float(series.ROW.findall(text)[0][2])}


def read_threads(scale):
    return lambda text: {name: ours * scale for (name, _), (ours, _) in bench_figures(text).items()}


def read_coll(prefix):
    return lambda text: {prefix + kind: float(value) for kind, value in COLL.findall(text)}


def read_shmem(prefix):
    return lambda text: {f"{prefix}{name} {size}": float(value)
                         for name, size, value in LEVEL.findall(text)}


def read_gaps(text):
    return {name: us(ours) for (name, _), (ours, _) in bench_figures(text).items()}


def read_shorts(who):
    return lambda text: {f"{who} {name}": float(us) for name, us in SHORT.findall(text)}


def read_streams(prefix):
    """Long puts, and the same bytes by bare UDP."""
    def read(text):
        out = {}
        for (name, size), (ours, floor) in bench_figures(text).items():
            if name == "put_stream":
                out[f"{prefix}stream {size}"] = us(ours)
                out[f"bare UDP {prefix}stream {size}"] = us(floor)
        return out
    return read


def read_several(conduit):
    return lambda text: {f"{conduit} {kind} {size} to {peers}": float(value)
                         for kind, size, peers, value in SEVERAL.findall(text)}


def read_waits(ranks):
    """Waits of a language, and those of the C calls that do the same."""
    def read(text):
        out = {}
        for name, ours, beside in WAIT.findall(text):
            out[f"{name} {ranks}"], out[f"C of {name} {ranks}"] = float(ours), float(beside)
        return out
    return read


def read_trip(name):
    return lambda text: {name: float(TRIP.findall(text)[0])}


def read_any(text):
    """Words and arrays whose size is in a variable; their floors are memcpy."""
    out = {}
    for (name, size), (ours, floor) in bench_figures(text).items():
        figure = name if size == 8 else f"{name} {size}"
        out[figure], out[f"memcpy {figure}"] = ours, floor
    return out


def read_language(language):
    """The words of a language, and the same in C where the program has it."""
    def read(text):
        out = {}
        for (name, size), (ours, beside) in bench_figures(text).items():
            if size == 8:
                out[f"{language} {name}"], out[f"C of {language} {name}"] = ours, beside
        return out
    return read


def read_python(text):
    found = json.loads(re.findall(r"^figures (.*)$", text, re.M)[0])
    names = {"python put": "put 8 B", "python get": "get 8 B", "python call": "empty call"}
    return {figure: 1e9 * found[name] for figure, name in names.items()}


def read_levels(who, ranks):
    return lambda text: {f"{who} {kind} {size} {ranks}": float(value)
                         for kind, size, value in LEVEL.findall(text)}


def read_levels_of(who):
    return lambda text: {f"{who} {kind} {size}": float(value)
                         for kind, size, value in LEVEL.findall(text)}


def read_python_peers(who):
    """Figures of bindings/python/bench/compare.py."""
    def read(text):
        found = json.loads(re.search(r"^figures (.*)$", text, re.M)[1])
        return {f"{who} {name}": seconds * 1e6 for name, seconds in found.items()}
    return read


def read_growth(text):
    """Start and end of a job; one_turn adds the clock before and after it."""
    begin, done = map(int, re.search(r"^clock (\d+) (\d+)$", text, re.M).groups())
    ranks = [list(map(int, stamps.split())) for _, stamps, _ in growth.LINE.findall(text)]
    barrier = 2 * growth.STEPS.index("first barrier")
    return {"grow start": (max(r[barrier] for r in ranks) - begin) / 1e9,
            "grow end": (done - max(map(int, growth.END.findall(text)))) / 1e9}


# ---- programs


class Programs:
    """Compiles the programs once; `mpi` names the libraries that are installed."""

    def __init__(self, folder, build):
        self.folder, self.build = folder, build
        self.mpi = net.compile_sides(folder, build, "ops", [HERE / "ops_mpi.c"],
                                     ["-Wno-stringop-overflow"])
        self.run = [build / "bin" / "tombolo", "run"]

    def ours(self, source):
        program = self.folder / Path(source).stem
        if not program.exists():
            compile_ours(self.build, HERE / source, program, "-DGASNET_SEQ")
        return program

    def theirs(self, source):
        """{library: (launcher without -n, program)}"""
        if source == "ops_mpi.c":
            programs = self.mpi
        else:
            programs = net.compile_sides(self.folder, self.build, Path(source).stem,
                                         [HERE / source], [])
        return {name: (PEERS[name][1], program) for name, program in programs.items()}

    def bench(self, name, ranks, *words, bind=True):
        """A measuring program of the build tree."""
        bound = ["--bind"] if bind and processors(ranks) else []
        program = self.build / "bench" / f"tombolo-bench-{name}"
        return [*self.run, "-n", ranks, *bound, "--", program, *words]


def sides_of(group, p):
    """The sides of a group, in the order in which they take turns."""
    hand = Side("hand-off", p.bench("am", 2, "--mode", "short_rtt", "--runs", 31), read_handoff)
    if group == "first":
        return [Side("first", p.bench("first", 2, bind=False), read_first)]
    if group == "medium":
        rows = (("medium_return", "copies"), ("medium_flood_read", "stream"),
                ("medium_both_read", "turns", "--sample-us", 1000))
        return [hand, *[Side(name, p.bench("am", 2, "--mode", name, "--runs", 31, *longer),
                             read_medium(copies)) for name, copies, *longer in rows]]
    if group == "sleepers":
        return [hand, Side("sleepers", p.bench("threads", 2, "--mode", "trips", "--quick", "--runs",
                                               21, bind=False), read_threads(1e-3))]
    if group == "threads":
        return [Side("threads", p.bench("threads", 2, "--mode", "rates", "--runs", 5, bind=False),
                     read_threads(1))]
    if group == "growth":
        return [Side("growth", [*p.run, "-n", 1024, p.ours("growth_gex.c"), 10], read_growth)]
    sides = {"ops": ops_sides, "udp": udp_sides, "ofi": ofi_sides, "coll": coll_sides,
             "hosts": hosts_sides, "sizes": sizes_sides, "shmem": shmem_sides,
             "python": python_sides, "waits": waits_sides}.get(group)
    if sides:
        return sides(p)
    return team_sides(p, (4,) if group == "team" else (4, 16))


def ops_sides(p):
    bind = ["--bind"] if processors(2) else []
    sides = [Side("tombolo", [*p.run, *bind, "-n", 2, p.ours("ops_gex.c"), "cells"], read_ops(""))]
    for name, (launcher, program) in p.theirs("ops_mpi.c").items():
        place = [*launcher[:-2], launcher[-2], "core" if bind else "none"]
        sides.append(Side(name, [*place, "-n", 2, program, "cells"], read_ops(f"{name} ")))
    return sides


def coll_sides(p):
    cpus = processors(2)
    sides = [Side("tombolo", [*p.run, "-n", 2, p.ours("coll_gex.c"), cpus, 4096], read_coll(""))]
    return sides + [Side(name, [*launcher, "-n", 2, program, cpus, 4096], read_coll(f"{name} "))
                    for name, (launcher, program) in p.theirs("coll_mpi.c").items()]


def sizes_sides(p):
    """Words whose size the compiler does not know."""
    sides = [Side("C", p.bench("p2p", 2, "--mode", "any", "--runs", 21), read_any)]
    for language in ("shmem", "upc", "fortran"):
        if (p.build / "bench" / f"tombolo-bench-{language}").exists():
            sides.append(Side(language, p.bench(language, 2, "--runs", 21),
                              read_language(language)))
    script = ROOT / "bindings" / "python" / "bench" / "compare.py"
    package = {"PYTHONPATH": str(p.build / "python")}
    sides.append(Side("python", [*p.run, "--bind", "-n", 2, waits.PYTHON, script, "--as",
                                 "tombolo"], read_python, package))
    return sides


def hosts_sides(p):
    """Two pretended hosts. MPICH is left out: where ranks outnumber processors it spins."""
    sides, far = [], {"TOMBOLO_PLACES": "2", "TOMBOLO_CONDUIT": "udp"}
    mpi = p.theirs("levels_mpi.c").get("openmpi")
    for n in (*cells_table.HOSTS_RANKS, cells_table.HOSTS_BARRIER):
        for who in ("library", "hand"):
            sides.append(Side(f"{who}, {n} ranks", [*p.run, "-n", n, p.ours("levels_gex.c"), who],
                              read_levels(who, n), far))
        if mpi:
            sides.append(Side(f"openmpi, {n} ranks",
                              [*net.launchers(None, n, p.build)["openmpi"], mpi[1]],
                              read_levels("openmpi", n), {"OMPI_MCA_mpi_yield_when_idle": "1"}))
    return sides + blocks_sides(p)


def blocks_sides(p):
    """Long exchanges over two pretended hosts, by processor time."""
    n, sides = cells_table.BLOCKS_RANKS, []
    for conduit in ("udp", "ofi"):
        sides.append(Side(f"{conduit}, long blocks", [*p.run, "-n", n, p.ours("blocks_gex.c")],
                          read_levels_of(f"{conduit} long"),
                          {"TOMBOLO_PLACES": "2", "TOMBOLO_CONDUIT": conduit}))
    mpi = p.theirs("blocks_mpi.c").get("openmpi")
    if mpi:
        sides.append(Side("openmpi, long blocks",
                          [*net.launchers(None, n, p.build)["openmpi"], mpi[1]],
                          read_levels_of("openmpi long"), {"OMPI_MCA_mpi_yield_when_idle": "1"}))
    return sides


def waits_sides(p):
    """Barriers, events and sums of languages, each beside C in its own process."""
    sides, package = [], {"PYTHONPATH": str(p.build / "python")}
    for language, command in waits.compile_all(p.build, p.folder).items():
        sides += [Side(f"{language}, {n} ranks", [*p.run, "-n", n, "--", *command], read_waits(n),
                       package) for n in cells_table.WAITS_RANKS]
    return sides


def shmem_sides(p):
    """One program by our oshcc and by that of Open MPI, where it is installed."""
    sides, source = [], HERE / "shmem_ops.c"
    peer = shutil.which("oshcc")
    bind = ["--bind"] if processors(2) else []
    for who, compiler, run in (
            ("tombolo", p.build / "bin" / "oshcc", [*p.run, *bind]),
            ("oshmem", peer, [*PEERS["openmpi"][1][:-1], "core" if bind else "none"])):
        program = p.folder / f"shmem-{who}"
        made = compiler and subprocess.run([compiler, "-O2", "-w", source, "-o", program],
                                           stderr=subprocess.DEVNULL, check=False)
        if not made or made.returncode:
            print(f"cells: {who}: no oshcc that compiles: it is left out", file=sys.stderr)
            continue
        prefix = "" if who == "tombolo" else f"{who} "
        sides.append(Side(who, [*run, "-n", 2, program], read_shmem(prefix)))
    return sides


def team_sides(p, counts):
    sides = []
    for n in counts:
        sides.append(Side(f"{n} ranks", p.bench("team", n, "--runs", 21, "--quick", bind=False),
                          read_team(n)))
        if len(counts) == 1:
            sides += split_sides(p, n)
            continue
        for name, (launcher, program) in p.theirs("forms_mpi.c").items():
            words = [*launcher, "-n", n, program, MPI_BARRIERS[name]]
            sides.append(Side(f"{name}, {n} ranks", words,
                              read_barrier(f"{name} barrier_{n}"),
                              {"OMPI_MCA_mpi_yield_when_idle": "1"}))
    return sides


def split_sides(p, n):
    """Splits beside MPI_Comm_split. MPICH is left out: it spins."""
    sides = [Side(f"library, {n} ranks", [*p.run, "-n", n, p.ours("levels_gex.c"), "library"],
                  read_levels("library", n))]
    mpi = p.theirs("levels_mpi.c").get("openmpi")
    if mpi:
        sides.append(Side(f"openmpi, {n} ranks", [*mpi[0], "-n", n, mpi[1]],
                          read_levels("openmpi", n), {"OMPI_MCA_mpi_yield_when_idle": "1"}))
    return sides


def udp_sides(p):
    far = {"TOMBOLO_PLACES": "cyclic:2", "TOMBOLO_CONDUIT": "udp"}
    sides = [Side("gaps", p.bench("loggp", 2, "--mode", "far-gaps", "--runs", 31), read_gaps, far),
             Side("tombolo", [*p.run, "-n", 2, p.ours("net_gex.c"), "trips"],
                  read_trip("udp round_trip"), far),
             Side("streams", p.bench("net", 2, "--mode", "stream"), read_streams(""), far),
             Side("open streams", p.bench("net", 2, "--mode", "stream"), read_streams("open "),
                  {**far, "TOMBOLO_UDP_AUTH": "header"}),
             several_side(p, "udp")]
    return sides + bare_side(p, "net_udp.c", "bare UDP") + tcp_sides(p)


def several_side(p, conduit):
    """Rank 0 to one of three others, and to all of them in turn."""
    n = cells_table.SEVERAL_PEERS + 1
    return Side(f"{conduit}, several peers", [*p.run, "-n", n, p.ours("several_gex.c")],
                read_several(conduit),
                {"TOMBOLO_PLACES": f"cyclic:{n}", "TOMBOLO_CONDUIT": conduit})


def bare_side(p, source, who, *libraries):
    """A program without a launcher, that prints a round trip; none where it does not compile."""
    program = p.folder / Path(source).stem
    made = subprocess.run(["cc", "-O2", HERE / source, "-o", program, *libraries],
                          stderr=subprocess.DEVNULL)
    if made.returncode == 0:
        return [Side(who, [program], read_trip(f"{who} round_trip"))]
    print(f"cells: {source} does not compile: {who} itself is left out", file=sys.stderr)
    return []


def tcp_sides(p, what="trips"):
    """The MPI libraries over TCP. what: of net_loop.h."""
    starts = net.launchers(None, 2, p.build)
    return [Side(name, [*starts[name], program, what], read_shorts(name))
            for name, (_, program) in p.theirs("net_mpi.c").items()]


def ofi_sides(p):
    """The conduit, and libfabric itself, by the provider over TCP that both take."""
    far = {"TOMBOLO_PLACES": "2", "TOMBOLO_CONDUIT": "ofi"}
    sides = [Side("ofi", [*p.run, "-n", 2, p.ours("net_gex.c"), "shorts"],
                  read_shorts("ofi"), far), several_side(p, "ofi")]
    return sides + bare_side(p, "net_ofi.c", "libfabric", "-lfabric") + tcp_sides(p, "shorts")


def python_sides(p):
    """The Python binding, and mpi4py on Open MPI: its wheel does not find the MPICH of Debian.

    Where mpi4py is missing, pip installs it in the build tree.
    """
    site = p.build / "python-optional" / "mpi4py"
    there = {"PYTHONPATH": f"{p.build / 'python'}:{site}"}
    ask = {"capture_output": True, "env": {**os.environ, **there}}
    work = [waits.PYTHON, ROOT / "bindings/python/bench/compare.py", "--part", "collective", "--as"]
    bind = ["--bind"] if processors(2) else []
    sides = [Side("tombolo", [*p.run, *bind, "-n", 2, "--", *work, "tombolo"],
                  read_python_peers("tombolo"), there)]
    if subprocess.run([waits.PYTHON, "-c", "import mpi4py"], **ask, check=False).returncode:
        fetch = [waits.PYTHON, "-m", "pip", "install", "-q", "--target", site, "mpi4py"]
        subprocess.run(fetch, **ask, check=False)
    if "openmpi" in p.mpi:
        place = [*PEERS["openmpi"][1][:-1], "core" if bind else "none"]
        words = [*place, "-n", 2, *work, "mpi4py"]
        sides.append(Side("mpi4py", words, read_python_peers("mpi4py"), there))
    return sides


# ---- measuring


def one_turn(side, budget):
    """{figure: value} of one run; empty if it failed, which the budget has named."""
    begin = time.monotonic_ns()
    text, code = budget.run(side.who, side.words, side.environment, errors=subprocess.DEVNULL)
    text += f"clock {begin} {time.monotonic_ns()}\n"
    try:
        return side.read(text)
    except (LookupError, ValueError, StopIteration, AttributeError, TypeError) as error:
        if code == 0:
            budget.done.discard(side.who)
            budget.miss(side.who, f"prints no figures ({type(error).__name__})")
        return {}


def measure(group, sides, rounds, budget):
    """{figure: [value or None of each round]}; a side that has failed is not run again."""
    figures, failed = {}, set()
    for turn in range(rounds):
        for side in sides:
            if side.who in failed:
                continue
            budget.note = f" ({group}, round {turn + 1} of {rounds})"
            for name, value in one_turn(side, budget).items():
                values = figures.setdefault(name, [])
                values += [None] * (turn - len(values)) + [value]
            if side.who in budget.unfinished:
                failed.add(side.who)
    name_absent(group, figures, failed, budget)
    return figures


def name_absent(group, figures, failed, budget):
    """Prints the cells without a figure, although no program failed."""
    for cell in cells_table.CELLS:
        if not failed and cell.group == group and cell.ours not in figures:
            budget.miss(cell.what, f"no program prints '{cell.ours}'")


def about():
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo")
                  if line.startswith("model name")), "?")
    revision = subprocess.run(["sh", "-c", "git describe --always --dirty"], cwd=ROOT, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.strip()
    return {"date": time.strftime("%Y-%m-%d", time.gmtime()), "revision": revision or "?",
            "machine": f"{model}, {len(os.sched_getaffinity(0))} processors, kernel "
                       f"{os.uname().release}", "load": f"{os.getloadavg()[0]:.1f}"}


def measure_all(options):
    """Measures the named groups; prints and keeps the results after each."""
    budget, figures, facts, begin = Budget(options), {}, about(), time.monotonic()
    data = {}
    with tempfile.TemporaryDirectory() as folder:
        programs = Programs(Path(folder), options.build.resolve())
        for group in options.groups:
            figures[group] = measure(group, sides_of(group, programs), options.rounds, budget)
            hands = [v for f in figures.values() for v in f.get("hand-off", ()) if v]
            data = {"about": facts, "rounds": options.rounds, "figures": figures,
                    "handoff_ns": 1e3 * statistics.median(hands) if hands else None,
                    "seconds": round(time.monotonic() - begin),
                    "records": cells_table.judge_all(figures, options.groups)}
            budget.save(data)
    print(f"\n{cells_table.text_table(data['records'])}; {data['seconds']} s")
    for who, why in budget.unfinished.items():
        print(f"not measured: {who}: {why}")
    return 0


def parts_of(page):
    """(before, section, after) of the text of study/RESULTS.md."""
    before, _, rest = page.partition(MARK[0])
    section, found, after = rest.partition(MARK[1])
    if not found:
        sys.exit(f"cells: {PAGE} has no lines {MARK[0].strip()} and {MARK[1].strip()}")
    return before, section, after


def adopt(path):
    data = json.loads(path.read_text())
    before, _, after = parts_of(PAGE.read_text())
    store.keep(KEPT, data)
    PAGE.write_text(before + MARK[0] + cells_table.markdown(data) + MARK[1] + after)
    print(f"cells: {KEPT}, {PAGE}: {cells_table.summary(data['records'])}")
    return 0


def check():
    kept = cells_table.markdown(json.loads(KEPT.read_text())) if KEPT.exists() else ""
    if parts_of(PAGE.read_text())[1] == kept:
        return 0
    print(f"cells: the table of {PAGE} is not that of {KEPT}: run cells.py --adopt {KEPT}")
    return 1


def main():
    parser = parser_for("Each figure that was behind a peer once, beside that peer.", 20)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"{', '.join(GROUPS)} (all)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each side, in alternation")
    parser.add_argument("--show", type=Path, metavar="FILE", help="print the table of a JSON file")
    parser.add_argument("--adopt", type=Path, metavar="FILE",
                        help="write the table of a JSON file into study/RESULTS.md")
    parser.add_argument("--check", action="store_true", help="exit with 1 if page and JSON differ")
    options = parser.parse_args()
    options.budget = options.budget or (None if options.groups else ALL_S)
    options.groups = options.groups or list(GROUPS)
    wrong = set(options.groups) - set(GROUPS)
    if wrong:
        parser.error(f"no group {', '.join(sorted(wrong))}: expected {', '.join(GROUPS)}")
    if options.check:
        return check()
    if options.adopt:
        return adopt(options.adopt)
    if options.show:
        print(cells_table.text_table(json.loads(options.show.read_text())["records"]))
        return 0
    return measure_all(options)


if __name__ == "__main__":
    sys.exit(main())
