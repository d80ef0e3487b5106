#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# net.py: Tombolo between hosts beside the MPI libraries that are installed, over TCP.
#
# Two hosts of a lab (tests/net/lab.py; needs root) joined by a veth pair and a bridge, or with
# --loopback this machine, where no side uses shared memory: round trip, flood, all-reduce, streams.
# With --ft: NAS FT on four hosts whose links have a rate (--rate 1gbit, the kernel's token bucket):
# our schedules, those in UPC and MPI's (ft.py). With --apps: applications on such hosts (apps.py;
# default matmul and cholesky, in C and UPC, beside ScaLAPACK). All sides run in alternation;
# medians over the rounds. A peer that is not installed, or not done within --timeout, is named.
# With --fair: which share of a link of --rate a transfer of ours gets beside one of TCP (CUBIC), of
# the build tree that TMB_BUILD names (tests/net/fair_test.py).
#   study/compare/net.py [--build build] [--loopback | --ft | --apps | --fair] [--rounds 5]
#                        [--json FILE] [APP...]
import argparse
import contextlib
import functools
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import apps
import blas
import ft
from budget import Budget, compile_ours, parser_for
from compare import HERE, ROOT

sys.path.insert(0, str(ROOT / "tests" / "net"))
from fair_test import share  # noqa: E402
from lab import Lab, confine  # noqa: E402

ROW = re.compile(r"^([a-z_]+) (\d+) ([\d.]+)$", re.M)
OPENMPI = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none",
           "--mca", "pml", "ob1", "--mca", "btl", "tcp,self"]
MPICH = ["mpirun.mpich", "-bind-to", "none", "-genv", "MPIR_CVAR_NOLOCAL", "1", "-genv",
         "UCX_TLS", "tcp,self", "-genv", "FI_PROVIDER", "tcp"]  # over UCX, or over libfabric
SWEEP_S = 5  # for what is left on the hosts to end
# round trip: at most half of a peer's; the rest for comparison
TARGETS = {("round_trip", 0): 0.5}


def launchers(hosts, ranks, build):
    """{side: command before the program}; hosts: names, or None for this machine."""
    n = str(ranks)
    ours = [build / "bin" / "tombolo", "run"]
    if hosts:
        names = ",".join(hosts)
        network = ["--mca", "btl_tcp_if_include", "10.77.0.0/24",
                   "--mca", "oob_tcp_if_include", "10.77.0.0/24"]
        return {"tombolo": [*ours, "--hosts", names, "-n", n],
                "openmpi": [*OPENMPI, *network, "--host", names, "-n", n],
                "mpich": [*MPICH, "-iface", "eth0", "-hosts", names, "-n", n]}
    return {"tombolo": [*ours, "-n", n], "openmpi": [*OPENMPI, "-n", n],
            "mpich": [*MPICH, "-n", n]}


def compile_sides(folder, build, name, mpi_sources, flags):
    """Compiles the program of each MPI. Returns {side: program}."""
    programs = {}
    for side in ("openmpi", "mpich"):
        if not shutil.which(f"mpicc.{side}") or not shutil.which(f"mpirun.{side}"):
            print(f"{side}: not installed, left out", file=sys.stderr)
            continue
        programs[side] = folder / f"{name}-{side}"
        command = [f"mpicc.{side}", "-O2", "-g", *mpi_sources, "-o", programs[side], *flags]
        subprocess.run(list(map(str, command)), check=True)
    return programs


def sweep(lab):
    """Kills and reaps the processes that a run has left on the hosts after a time-out. A killed
    launcher leaves processes that would slow down the next runs. This script is process 1 of its
    namespace and so must reap them: a host ends only when all of its processes are reaped."""
    until = time.monotonic() + SWEEP_S
    while time.monotonic() < until:
        left = [pid for host in lab.hosts for pid, words in host.processes() if "sshd" not in words]
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not left:
            return
        time.sleep(0.05)


def one_run(who, command, lab, budget):
    """Runs one side once. Returns its output, or "" after a message."""
    command = [str(c) for c in command]
    environment = {"TOMBOLO_CONDUIT": "udp"}
    if lab:
        environment["HOME"] = str(lab.ssh.accounts["root"][1])
        command = lab.hosts[0].command(command)
        budget.after_miss = functools.partial(sweep, lab)
    else:
        environment["TOMBOLO_PLACES"] = "2"
    text, code = budget.run(who, command, environment, errors=subprocess.STDOUT)
    if code:
        print(f"{who}: exit code {code}: {text[-1500:]}", file=sys.stderr)
    return "" if code or code is None else text


def show(rows, sides):
    """Prints medians and ratios to the better peer. Returns them as records."""
    records = []
    print(f"{'':<12}{'bytes':>9}" + "".join(f"{s + ' us':>14}" for s in sides) + "   ratio  target")
    for key in dict.fromkeys(key for rows_of in rows.values() for key in rows_of):
        medians = {s: statistics.median(rows[s][key]) for s in sides if rows[s].get(key)}
        peers = [m for s, m in medians.items() if s != "tombolo"]
        ratio = medians["tombolo"] / min(peers) if peers and "tombolo" in medians else None
        wanted = TARGETS.get(key)
        cells = "".join(f"{medians[s]:>14.2f}" if s in medians else f"{'-':>14}" for s in sides)
        verdict = f"{ratio:>8.2f}" if ratio else ""
        if ratio and wanted:
            verdict += f"  <= {wanted} {'ok' if ratio <= wanted else 'OVER'}"
        print(f"{key[0]:<12}{key[1]:>9}{cells}{verdict}")
        records.append({"name": key[0], "bytes": key[1], "us": medians, "ratio": ratio,
                        "target": wanted,
                        "samples": {s: rows[s][key] for s in sides if rows[s].get(key)}})
    return records


def compare_pairs(folder, options, lab, budget):
    """Two ranks; saves the records."""
    build = options.build.resolve()
    programs = {"tombolo": compile_ours(build, HERE / "net_gex.c", folder / "net-gex")}
    programs.update(compile_sides(folder, build, "net", [HERE / "net_mpi.c"], []))
    starts = launchers(["host0", "host1"] if lab else None, 2, build)
    rows = {side: {} for side in programs}
    budget.share = 0.3  # a run has many rows, and there are few sides
    for _ in range(options.rounds):
        for side, program in programs.items():
            text = one_run(side, [*starts[side], program], lab, budget)
            for name, size, us in ROW.findall(text):
                rows[side].setdefault((name, int(size)), []).append(float(us))
        budget.save({"rounds": options.rounds, "records": show(rows, list(programs))})


def compare_ft(folder, options, lab, budget):
    """NAS FT on four hosts; saves the records."""
    build = options.build.resolve()
    starts = launchers([f"host{h}" for h in range(4)], 4, build)
    ways = ft.ways_of(ft.compile_mpi(folder), build)

    def run(side, way, command):
        return one_run(way, [*starts[side], *command], lab, budget)

    ft.verdict(ft.show(ft.measure(ways, options, folder, run, budget)), 1.2, 1.4)


def compare_apps(folder, options, lab, budget):
    """Applications on four hosts; saves the records."""
    build = options.build.resolve()
    names = options.app or list(apps.ROUTINES)
    starts = launchers([f"host{h}" for h in range(4)], 4, build)
    sides = {side: (starts[side][:-2], programs)
             for side, (_, programs) in apps.compile_all(folder, build, names).items()}
    apps.add_upc(sides, build, names)

    def run(side, who, command, _):
        text = one_run(who, command, lab, budget)
        return apps.rows_of(side, command, 0, text) if text else {}

    options.apps_crowded = True
    options.blas = blas.say_kernel()
    apps.measure_all(sides, names, options, run, budget)


def compare_fair(options, budget):
    """Shares of one link; saves the record."""
    parts = [share(options.rate, 8)[0] for _ in range(options.rounds)]
    part = statistics.median(parts)
    verdict = "ok" if 0.35 <= part <= 0.65 else "OUTSIDE"
    print(f"share of {options.rate} beside TCP: {part:.2f}  0.35 to 0.65 {verdict}")
    budget.save({"rounds": options.rounds,
                 "records": [{"name": "share", "rate": options.rate, "part": part, "all": parts}]})


def main():
    parser = parser_for("Tombolo between hosts beside MPI over TCP.", 120)
    parser.add_argument("--loopback", action="store_true",
                        help="two ranks of this machine that share no memory")
    parser.add_argument("--ft", action="store_true", help="NAS FT on four hosts")
    parser.add_argument("--apps", action="store_true", help="applications on four hosts")
    parser.add_argument("--fair", action="store_true", help="share of a link beside TCP")
    parser.add_argument("--ranks", type=int, default=4, help=argparse.SUPPRESS)
    apps.add_options(parser)
    parser.add_argument("app", nargs="*", metavar="APP", help="application of --apps")
    parser.add_argument("--ft-class", default="A")
    parser.add_argument("--grid", help="process grid TYxTZ with --ft (default: ft's choice)")
    parser.add_argument("--rate", default="1gbit", help="rate of the links, as tc writes it")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each side, in alternation")
    options = parser.parse_args()
    if not options.loopback:
        confine()
    budget = Budget(options)
    with tempfile.TemporaryDirectory() as name:
        if options.ft:
            with Lab(4, rate=options.rate, sshd=True) as lab:
                compare_ft(Path(name), options, lab, budget)
        elif options.apps:
            with Lab(4, rate=options.rate, sshd=True) as lab:
                compare_apps(Path(name), options, lab, budget)
        elif options.fair:
            compare_fair(options, budget)
        elif options.loopback:
            compare_pairs(Path(name), options, None, budget)
        else:
            with Lab(2, sshd=True) as lab:
                compare_pairs(Path(name), options, lab, budget)
    return 0


if __name__ == "__main__":
    sys.exit(main())
