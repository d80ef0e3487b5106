#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# ops.py: overhead, gap and latency of single operations by size, two ranks.
#
# Put, get, message and put with signal of Tombolo beside MPI's two-sided and one-sided calls, bare
# TCP sockets and libfabric (fi_pingpong); and put + flag, semaphore and message as ways to hand
# over data. Near: one host's shared memory; --far: two ranks that share none, over loopback.
# ops_loop.h defines each figure; overlap.py measures overlap. All sides run in alternation. A side
# that is not installed, or exceeds --timeout, is named; its printed rows count.
#   study/compare/ops.py [--build build] [--far | --lab [--rate 1gbit]] [--rounds 3] [--json FILE]
import functools
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import net
import series
from budget import Budget, compile_ours, parser_for
from compare import HERE, installed_peers, processors
from lab import Lab, confine

FAR = {"openmpi": ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "osc", "pt2pt"]}
PORT = 47592  # of fi_pingpong, on loopback
FI_ROW = re.compile(r"^(\d+)([kM]?)\s+.*\s([\d.]+)\s+[\d.]+\s*$", re.M)
FI_SIZES = (8, 64, 512, 4096, 32768, 262144)


def compile_all(folder, build, far, conduit="udp", quick=False):
    """{side: command}"""
    bound, few = processors(2) != "", ["few"] if far or quick else []
    ours = compile_ours(build, HERE / "ops_gex.c", folder / "ops-gex")
    sides = {"tombolo": [build / "bin" / "tombolo", "run", *(["--bind"] if bound else []), "-n",
                         "2", ours, *few]}
    for name, compiler, launcher in installed_peers():
        if far and (name == "mpich") != (conduit == "mpi"):
            print(f"{name}: left out: not the transport of the conduit {conduit} on one host",
                  file=sys.stderr)
            continue
        program = folder / f"ops-{name}"
        subprocess.run([compiler, "-O2", "-Wno-stringop-overflow", HERE / "ops_mpi.c", "-o",
                        program], check=True)
        how = [launcher[-2], "core" if bound else "none", *(FAR.get(name, []) if far else [])]
        # MPICH's target does not see what one-sided calls have written here, see apps.py.
        sides[name] = [*launcher[:-2], *how, "-n", "2", program,
                       *(["two-sided"] if name == "mpich" else []), *few]
    if not far:
        program = folder / "ops-copy"
        subprocess.run(["cc", "-O2", HERE / "ops_copy.c", "-o", program], check=True)
        sides["memcpy"] = [program, *few]
    if far and conduit == "udp":
        program = folder / "ops-tcp"
        subprocess.run(["cc", "-O2", HERE / "ops_tcp.c", "-o", program], check=True)
        sides["tcp"] = [program]
        if shutil.which("fi_pingpong"):
            sides["libfabric"] = ["fi_pingpong", "-p", "tcp", "-e", "rdm"]
        else:
            print("libfabric: no fi_pingpong (package libfabric-bin), left out", file=sys.stderr)
    return sides


def between_hosts(folder, build, lab, ours, *what):
    """{side: (command, settings)} between the two hosts of a lab; ours: {side: settings}."""
    programs = {name: next(Path(word) for word in command if str(word).startswith(str(folder)))
                for name, command in compile_all(folder, build, False).items()}
    starts = net.launchers(["host0", "host1"], 2, build)
    home = {"HOME": str(lab.ssh.accounts["root"][1])}

    def command(side, *words):
        whole = [*starts[side], programs[side], "few", *what, *words]
        if side == "openmpi":
            whole[1:1] = ["--mca", "osc", "pt2pt"]
        return lab.hosts[0].command([str(word) for word in whole])

    sides = {side: (command("tombolo"), {**home, "TOMBOLO_CONDUIT": "udp", **settings})
             for side, settings in ours.items()}
    # MPICH's target does not see what one-sided calls have written here, see apps.py.
    sides.update({name: (command(name, *(["two-sided"] if name == "mpich" else [])), home)
                  for name in ("openmpi", "mpich") if name in programs})
    return sides


def pingpong(command, budget):
    """libfabric's own round trips, halved, as rows message_latency."""
    rows = {}
    for size in FI_SIZES:
        words = ["-I", "500" if size <= 4096 else "50", "-S", str(size), "-m", "msg"]
        server = subprocess.Popen([*command, *words, "-B", str(PORT)], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        time.sleep(0.2)
        try:
            text, _ = budget.run(f"libfabric, {size} B",
                                 [*command, *words, "-P", str(PORT), "127.0.0.1"],
                                 errors=subprocess.DEVNULL)
            found = FI_ROW.search(text)
            if found:
                us = float(found[3])
                rows["message_latency", size] = (us, us, us)
        finally:
            server.kill()
            server.wait()
    if not rows:
        print("libfabric: fi_pingpong printed nothing", file=sys.stderr)
    return rows


def measure(sides, options, budget):
    """sides: {side: (command, settings)}. Shows the records, and saves them after each run."""
    rows = {}
    for _ in range(options.rounds):
        for side, (command, settings) in sides.items():
            new = (pingpong(command, budget) if side == "libfabric" else
                   series.run(side, command, budget, settings))
            series.merge(rows, side, new)
            records = series.records(rows, list(sides))
            budget.save({"rounds": options.rounds, "far": options.far or options.lab,
                         "records": records})
    series.show(records, list(sides))


def main():
    parser = parser_for("Single operations by size.", 30)
    parser.add_argument("--far", action="store_true", help="ranks that share no memory")
    parser.add_argument("--conduit", default="udp",
                        help="conduit of the far ranks: udp, ofi or mpi")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each side, in alternation")
    parser.add_argument("--lab", action="store_true",
                        help="measure between two hosts of a lab; needs root")
    parser.add_argument("--rate", default="1gbit", help="rate of the lab's links, as tc writes it")
    options = parser.parse_args()
    build, budget = options.build.resolve(), Budget(options)
    budget.share = 1 / 4  # a run has many rows, and there are few sides
    if options.lab:
        confine()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.lab:
            with Lab(hosts=2, rate=options.rate, sshd=True) as lab:
                budget.after_miss = functools.partial(net.sweep, lab)
                measure(between_hosts(folder, build, lab, {"tombolo": {}}), options, budget)
        else:
            environment = {"TOMBOLO_PLACES": "2", "TOMBOLO_CONDUIT": options.conduit,
                           "TOMBOLO_MPI": "mpich"} if options.far else {}
            measure({side: (command, environment) for side, command in compile_all(
                folder, build, options.far, options.conduit, options.quick).items()},
                options, budget)
    return 0


if __name__ == "__main__":
    sys.exit(main())
