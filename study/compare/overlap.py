#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# overlap.py: the share of an operation that a computation hides, by size, two ranks.
#
# Put, get and put with signal, and broadcast, all-reduce and exchange, of Tombolo beside MPI's
# (ops_gex.c, ops_mpi.c with the argument "overlap"): in shared memory, and over loopback through
# the conduits udp and ofi, each with its progress thread and without. With --lab between two hosts
# (tests/net/lab.py; needs root) whose links have a rate: there a transfer takes time without using
# a processor. All sides run in alternation. A side that is not installed, or exceeds --timeout, is
# named; its printed rows count.
# JSON: records {name, bytes, place, sides: {side: [median, least, most]}}.
#   study/compare/overlap.py [--build build] [--rounds 3] [--lab [--rate 1gbit]] [--quick]
#                            [--json FILE]
import functools
import sys
import tempfile
from pathlib import Path

import net
import ops
import series
from budget import Budget, parser_for
from compare import ROOT

sys.path.insert(0, str(ROOT / "tests" / "net"))
from lab import Lab, confine  # noqa: E402

# place: {side: settings of our job}; MPI's sides run beside it, where it is not "ofi".
PLACES = {
    "smp": {"thread": {}},
    "udp": {"thread": {}, "no thread": {"TOMBOLO_PROGRESS_SHARE": "0"}},
    "ofi": {"thread": {}, "no thread": {"TOMBOLO_PROGRESS_SHARE": "0"}},
}


def sides_here(folder, build, place, quick):
    """{side: (command, settings)} on this machine."""
    far = place != "smp"
    where = {"TOMBOLO_PLACES": "2", "TOMBOLO_CONDUIT": place} if far else {}
    commands = ops.compile_all(folder, build, far, place, quick)
    sides = {side: ([*commands["tombolo"], "overlap"], {**where, **more})
             for side, more in PLACES[place].items()}
    if place != "ofi":
        sides.update({name: ([*commands[name], "overlap"], {}) for name in ("openmpi", "mpich")
                      if name in commands})
    return sides


def measure(sides, options, budget):
    """sides: {place: {side: (command, settings)}}. Returns the records, saved after each round."""
    rows, records = {place: {} for place in sides}, []
    for _ in range(options.rounds):
        for place, some in sides.items():
            for side, (command, settings) in some.items():
                series.merge(rows[place], side,
                             series.run(f"{side}, {place}", command, budget, settings))
        records = [{**r, "place": place} for place in sides
                   for r in series.records(rows[place], list(sides[place]))]
        budget.save({"rounds": options.rounds, "records": records})
    for place in sides:
        print(f"\n{place}: share hidden")
        series.show([r for r in records if r["place"] == place], list(sides[place]))


def main():
    parser = parser_for("The share of an operation that is hidden.", 30)
    parser.add_argument("--rounds", type=int, default=3, help="runs of each side, in alternation")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, without ofi")
    parser.add_argument("--lab", action="store_true",
                        help="measure between two hosts of a lab; needs root")
    parser.add_argument("--rate", default="1gbit", help="rate of the lab's links, as tc writes it")
    options = parser.parse_args()
    build = options.build.resolve()
    if options.lab:
        confine()
    budget = Budget(options)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.lab:
            with Lab(hosts=2, rate=options.rate, sshd=True) as lab:
                budget.after_miss = functools.partial(net.sweep, lab)
                budget.share = 1 / 4  # of the wire's time; there are few sides
                place = f"udp, {options.rate}"
                measure({place: ops.between_hosts(folder, build, lab, PLACES["udp"], "overlap")},
                        options, budget)
            return 0
        sides = {}
        for place in PLACES:
            if options.quick and place == "ofi":
                continue
            (folder / place).mkdir()
            sides[place] = sides_here(folder / place, build, place, options.quick)
        measure(sides, options, budget)
    return 0


if __name__ == "__main__":
    sys.exit(main())
