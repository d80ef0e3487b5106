#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""study/compare/cells.py: verdicts, what programs print, a side that fails, the page's table."""

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "study/compare"))
import cells  # noqa: E402
import cells_table  # noqa: E402
from budget import Budget, parser_for  # noqa: E402
from cells_table import Cell, judge  # noqa: E402

RATIO = Cell("g", "a figure", "ours", ("one", "other"), 0.5)
TEAM = """figure team barrier_4ranks bytes=0 unit=ns floor=by-hand target=1.5 better=less
x 3100 1100 2100
f 4500 4500 4500
figure team barrier_turn_4ranks bytes=0 unit=ns floor=turn target=1.5 better=less
x 3000 1000 2000
f 4000 4000 4000
figure team split_destroy_4ranks bytes=0 unit=ns floor=handoff target=20 better=less
x 3000
f 100
figure team switches_barrier_4ranks bytes=0 unit=count better=less
x 3
end 3
"""


def options(*words):
    parser = parser_for("", 20)
    return parser.parse_args(words)


class Verdicts(unittest.TestCase):
    def test_best_peer_of_each_round(self):
        found = judge(RATIO, {"g": {"ours": [1, 2, 9], "one": [2, 9, 9], "other": [9, 8, 10]}})
        self.assertEqual((found["found"], found["met"], found["rounds"]), (0.5, True, 3))
        self.assertEqual((found["least"], found["most"]), (0.25, 1.0))

    def test_just_over(self):
        found = judge(RATIO, {"g": {"ours": [1.01], "one": [2]}})
        self.assertIs(found["met"], False)

    def test_limit_in_time(self):
        cell = Cell("g", "", "ours", (), 0.15)
        self.assertIs(judge(cell, {"g": {"ours": [0.1, 0.15, 0.2]}})["met"], True)
        self.assertIs(judge(cell, {"g": {"ours": [0.16]}})["met"], False)

    def test_not_measured(self):
        for figures in ({}, {"g": {"ours": [1]}}, {"g": {"one": [1]}},
                        {"g": {"ours": [None], "one": [1]}}):
            self.assertIs(judge(RATIO, figures)["met"], None, figures)

    def test_a_round_without_a_peer(self):
        found = judge(RATIO, {"g": {"ours": [1, 1], "one": [None, 4]}})
        self.assertEqual((found["found"], found["rounds"]), (0.25, 1))

    def test_peers_are_of_the_same_group(self):
        self.assertIs(judge(RATIO, {"g": {"ours": [1]}, "h": {"one": [1]}})["met"], None)


class Reading(unittest.TestCase):
    def test_team(self):
        self.assertEqual(cells.read_team(4)(TEAM), {"barrier_4": 2, "turn 4": 4, "split": 3})

    def test_first(self):
        found = cells.read_first("noise\nfirst 100 300 steady 150\nby hand 130\n")
        self.assertEqual(found, {"first": 0.2, "settled": 0.15, "message by hand": 0.13})

    def test_ops(self):
        text = "put_overhead 32768 0.2 0.1 0.3\nmessage_latency 16384 1.5 1 2\n"
        self.assertEqual(cells.read_ops("mpi ")(text), {"mpi put_overhead 32768": 0.2,
                                                        "mpi message_trip 16384": 3})

    def test_growth(self):
        stamps = " ".join(str(n * 10**9) for n in range(2, 18))
        text = f"at 0 {stamps} 1000\nend 20000000000\nclock 1000000000 20500000000\n"
        self.assertEqual(cells.read_growth(text), {"grow start": 7, "grow end": 0.5})

    def test_words_of_languages(self):
        text = "figure upc put_n bytes=8 unit=ns better=less\nx 3 2 4\nf 2 2 2\nend 1\n"
        self.assertEqual(cells.read_language("upc")(text), {"upc put_n": 3, "C of upc put_n": 2})

    def test_hosts(self):
        text = "barrier 0 12.5\nallreduce 1024 33.25\n"
        self.assertEqual(cells.read_levels("hand", 8)(text),
                         {"hand barrier 0 8": 12.5, "hand allreduce 1024 8": 33.25})

    def test_rows_differ(self):
        for cell in cells_table.CELLS:
            self.assertGreater(cell.wanted, 0)
        self.assertEqual(len({c.what + str(c.peers) for c in cells_table.CELLS}),
                         len(cells_table.CELLS))


class Turns(unittest.TestCase):
    def test_a_side_that_fails_is_named_and_left_out(self):
        sides = [cells.Side("good", ["echo", "3"], lambda text: {"ours": float(text.split()[0])}),
                 cells.Side("bad", ["false"], lambda text: {"one": float(text.split()[1])}),
                 cells.Side("empty", ["true"], lambda text: {"two": float(text.split()[9])}),
                 cells.Side("cut", ["true"], cells.read_python_peers("three"))]
        budget = Budget(options())
        with contextlib.redirect_stdout(io.StringIO()) as said, \
                contextlib.redirect_stderr(io.StringIO()):
            figures = cells.measure("g", sides, 2, budget)
        self.assertEqual(figures["ours"], [3, 3])
        self.assertEqual(set(budget.unfinished), {"bad", "empty", "cut"})
        self.assertEqual(said.getvalue().count("... bad"), 1)


    def test_a_figure_that_nobody_prints_is_named(self):
        sides = [cells.Side("one", ["echo", "3"], lambda text: {"pingpong_1_1": float(text)})]
        budget = Budget(options())
        with contextlib.redirect_stderr(io.StringIO()), mock.patch.object(
                cells, "one_turn", lambda side, _: {"pingpong_1_1": 3.0}):
            cells.measure("sleepers", sides, 2, budget)
        self.assertEqual([who.split(" in ")[0] for who in budget.unfinished],
                         [f"round trip to {n} threads" for n in (2, 3, 4)])


class Page(unittest.TestCase):
    def test_adopt_and_check(self):
        records = [judge(RATIO, {"g": {"ours": [1], "one": [4]}}), judge(RATIO, {})]
        data = {"about": {"date": "2026-11-26", "revision": "abc", "machine": "m", "load": "1"},
                "handoff_ns": None, "rounds": 1, "records": records}
        with tempfile.TemporaryDirectory() as folder:
            page, kept, raw = (Path(folder) / name for name in ("page", "kept", "raw"))
            page.write_text("before\n" + "".join(cells.MARK) + "after\n")
            raw.write_text(json.dumps(data))
            with mock.patch.multiple(cells, PAGE=page, KEPT=kept), \
                    contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(cells.check(), 0)
                cells.adopt(raw)
                self.assertEqual(cells.check(), 0)
                text = page.read_text()
                self.assertIn("| a figure | 1 us | 4 us | 0.25 | <= 0.5 | met |", text)
                self.assertIn("not measured |", text)
                self.assertTrue(text.startswith("before\n") and text.endswith("after\n"))
                page.write_text(text.replace("0.25", "0.20"))
                self.assertEqual(cells.check(), 1)


if __name__ == "__main__":
    unittest.main()
