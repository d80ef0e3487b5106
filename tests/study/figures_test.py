#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every figure of the study: its texts can be read, its sentence is whole, a part alone is enough.

Drawn from small data of each kind; in `make test-all` also from the kept JSON of study/data.
In `make test` study.kept_figures compares those drawings with the kept ones, of which
`make figures` has said that they can be read. Skipped (77) without Matplotlib.
"""

import json
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "study"), str(ROOT / "study/compare")]
import figures  # noqa: E402
import ft as ft_study  # noqa: E402
import kept  # noqa: E402
import plots  # noqa: E402
import report  # noqa: E402
import study  # noqa: E402

SIZES = (8, 4096, 4 << 20)
KINDS = ("put", "get", "signal", "message", "broadcast", "allreduce", "exchange")


def row(name, size, place=None, **sides):
    """A row of series.py; sides: {side: median}."""
    one = {"name": name, "bytes": size, "sides": {s: [v, 0.9 * v, 1.1 * v] for s, v in
                                                 sides.items()},
           "rounds": {s: [v, 1.05 * v] for s, v in sides.items()}}
    return {**one, "place": place} if place else one


def hidden(place):
    sides = {"thread": 0.8, "openmpi": 0.1} | ({} if place == "smp" else {"no thread": 0.2})
    return [row(f"{kind}_overlap", size, place, **sides) for kind in KINDS for size in SIZES]


def ft(*ways):
    phases = {"fft": 1.0, "evolve": 0.2, "movement": 0.5, "communication": 0.3,
              "synchronisation": 0.2}
    return {"class": "A", "rounds": 2, "seconds": {w: [2.2, 2.3] for w in ways},
            "details": {w: {"phases": phases, "puts": 10, "bytes": 1 << 20, "rows": [4, 1 << 19],
                            "columns": [6, 1 << 19]} for w in ways}}


SMALL = {
    "overlap": {"rounds": 2, "records": hidden("smp") + hidden("udp") + hidden("ofi")},
    "overlapnet": {"rounds": 2, "records": hidden("udp, 1gbit")},
    "silent": {"rounds": 2, "records": [
        {"operation": name, "conduit": c, "us": [20.0, 21.0], "stolen": [10.0, 12.0]}
        for name in ("put 8 B", "64 puts of 8 B") for c in ("udp", "ofi")]},
    "start": {"rounds": 2, "records": [
        {"panel": panel, "line": line, "ranks": n, "unit": "s", "values": [0.1 * n, 0.2 * n]}
        for panel in ("start", "memory") for line in ("Tombolo", "Open MPI", "MPICH")
        for n in (1, 4, 16)]},
    "ft1": ft("tombolo packed", "tombolo collective", "tombolo slabs", "tombolo UPC nb",
              "openmpi alltoall"),
    "ft2d": ft("tombolo packed", "tombolo slabs", "mpich p2p"),
    "ft": ft("tombolo slabs-signal"),
    "hosts": {"rounds": 2, "records": [
        {"panel": panel, "line": line, "ranks": n, "values": [v, 1.2 * v]}
        for panel, lines in (("pipeline 400 x 400", ("barrier", "signal", "Open MPI two-sided")),
                             ("hydro 96 x 96 cells, Fortran", ("Fortran: event",)))
        for line, v in zip(lines, (3e-3, 1e-3, 2e-3)) for n in (2, 4, 8)]},
    "fetchadd": {"rounds": 2, "records": [
        {"panel": panel, "line": line, "ranks": n, "unit": "/s", "values": [1e6 * n, 2e6 * n]}
        for panel in ("one hot word", "one hot word, udp, loopback")
        for line in ("Tombolo", "Open MPI") for n in (2, 4)]},
    "upc": {"rounds": 2, "records": [
        row("message_latency", size, "smp: shared memory", openmpi=2.0)
        for size in (1, *SIZES)] + [
        row(f"{way}_latency", size, "smp: shared memory", upc=1.0)
        for way in ("strict", "fence", "semaphore", "signal") for size in (8, 1 << 20)]},
    "forms": {"rounds": 2, "jobs": [{"ranks": n, "records": [
        row("barrier", 0, default=1.0, openmpi=2.0),
        *(row(kind, size, default=1.0, **{"openmpi all": 2.0, "mpich all": 300.0})
          for kind in ("broadcast", "allreduce", "exchange") for size in (8, 65536))]}
        for n in (2, 4, 8)]},
    "coll4": {"ranks": 4, "rounds": 2, "records": [
        {"collective": "broadcast", "bytes": 8, "samples": {"openmpi": [5.0], "mpich": [7.0]}}]},
    "simreal": {"rounds": "2,3", "collectives": [
        {"collective": "broadcast", "bytes": 8, "ranks": n, "real_s": 1e-3, "simulated_s": 1.1e-3}
        for n in (8, 64)], "applications": [
        {"application": "hydro", "way": "signal", "ranks": n, "real_s": 1e-3,
         "simulated_s": 1.5e-3} for n in (8, 64)]},
}
WANTED = ("overlap", "silent", "start", "ft", "hosts", "fetchadd", "upc", "barrier", "collectives",
          "collectives-ranks", "sim-real")


class Figures(unittest.TestCase):
    """Of kept data and of small data."""

    def check(self, data):
        """Names of the figures that these data give."""
        names = []
        for figure, one in figures.all_shown(data):
            with self.subTest(figure=figure.name):
                drawn = plots.figure(figure.title, *one.panels)
                self.assertEqual(plots.problems(drawn), [])
                self.assertRegex(one.says, r"\.$")
                self.assertNotRegex(one.says, r"None|nan| , |\.\.")
                self.assertTrue(all(len(r) == len(one.heads) for r in one.rows), one.rows)
                facts = dict(report.facts_of(figure, data))
                self.assertTrue({"repeat", "raw JSON", "machine", "mode", "spread"} <= set(facts))
            names.append(figure.name)
        return names

    @unittest.skipUnless("TMB_TEST_WHOLE" in os.environ, "study.kept_figures draws the same")
    def test_kept(self):
        self.assertGreater(len(self.check(figures.load(ROOT / "study/data"))), 13)

    def test_small(self):
        names = self.check(SMALL)
        self.assertEqual(set(WANTED) - set(names), set())

    def test_one_part_alone(self):
        """A part whose others are missing is drawn all the same."""
        for part in SMALL.keys() - {"coll4"}:  # which stands beside forms only
            self.assertTrue(self.check({part: SMALL[part]}), part)

    def test_failed(self):
        """A figure whose data are not as they should be takes no other along."""
        failed = []
        broken = {**SMALL, "start": {"records": [{}]}}
        names = [f.name for f, _ in figures.all_shown(broken, lambda f, _: failed.append(f.name))]
        self.assertEqual(failed, ["start"])
        self.assertEqual(set(WANTED) - {"start"} - set(names), set())

    def test_compared(self):
        """The table of the page names every figure that is known, and links what is drawn."""
        kept = figures.load(ROOT / "study/data")
        shown = figures.all_shown(kept)
        page = report.figures_page(shown, kept, "figures")
        named = {name for _, *kinds in report.COMPARED for names in kinds for name in names}
        known = {f.name for f in figures.FIGURES} | {n for n in kept if n.startswith("sim-")}
        self.assertEqual(named ^ known, set())
        for figure, _ in shown:
            self.assertIn(f"[{figure.name}](#{report.anchor(figure.title)})", page)

    def test_lines(self):
        """What stands beside ours has the same range, and one point for each number of ranks."""
        shown = {f.name: one for f, one in figures.all_shown(SMALL)}
        for name, points in shown["upc"].panels[0].series.items():
            self.assertEqual((points[0][0], points[-1][0]), (8, 4096 if "MPI" in name else 1 << 20))
        for panel in shown["collectives-ranks"].panels:
            self.assertEqual([p[0] for p in panel.series["Open MPI"]], [2, 4, 8], panel.title)
        self.assertEqual([p.title for p in shown["fetchadd"].panels],
                         ["one hot word", "one hot word, udp, loopback"])
        self.assertIn("8 hosts: signal", shown["hosts"].says)

    def test_packed(self):
        """What is kept of many runs draws the same as all of them."""
        def more(values):
            return [f * v for v in values for f in (1, 1.07, 0.9)] if isinstance(
                values[0], float) else [kept.packed(v) for v in values]

        with mock.patch.object(kept, "five", more):
            runs = kept.packed(SMALL)
        few = kept.packed(runs)
        self.assertLess(len(json.dumps(few)), len(json.dumps(runs)))
        self.assertEqual(kept.packed(few), few)
        self.assertEqual([(f.name, one) for f, one in figures.all_shown(few)],
                         [(f.name, one) for f, one in figures.all_shown(runs)])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "hosts.json"
            kept.keep(path, few["hosts"])
            self.assertEqual(json.loads(path.read_text()), few["hosts"])
            self.assertEqual(len(path.read_text().splitlines()),
                             len(few["hosts"]["records"]) + 4)

    def test_runs_of_points(self):
        """A point has as many runs as it has values; five stands for more."""
        part = {"rounds": 5, "records": [{"values": [1.0] * 9}, {"values": [1.0, 2.0]},
                                         {"rounds": {"a": [1.0] * 5, "b": [3.0]}}]}
        self.assertEqual(kept.runs_of_points(part), {5: 2, 2: 1, 1: 1})
        self.assertEqual(kept.runs_of_points(kept.packed(part)), kept.runs_of_points(part))
        self.assertEqual(report.runs_text([part]),
                         "5 or more (2 of 4 points), 2 (1 of 4 points), 1 (1 of 4 points)")
        self.assertEqual(report.runs_text([{"seconds": {"a": [1.0] * 6}}]), "5 or more")

    def test_middle(self):
        """Phases are shown of the run nearest to the median."""
        runs = [(1.0, "first"), (3.0, "last"), (1.2, "middle")]
        self.assertEqual(ft_study.of_middle(runs), "middle")

    def test_sentences(self):
        said = {f.name: one.says for f, one in figures.all_shown(SMALL)}
        self.assertIn("of collectives: 2 of 2; applications: 0 of 2", said["sim-real"])
        self.assertIn("82 % (20 % without the conduit's thread)", said["overlap"])
        self.assertIn("Of 16 ranks one needs", said["start"])
        self.assertIn("the exchange as a collective takes as long as slabs", said["ft"])


if __name__ == "__main__":
    if plots.missing():
        print(f"skipped: {plots.missing()}")
        sys.exit(77)
    unittest.main()
