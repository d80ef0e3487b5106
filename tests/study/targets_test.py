#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""study/targets.py: rows with a target, parts that a study lacks, reasons, the page's section."""

import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "study"))
import targets  # noqa: E402

TIME = {"tombolo": [2.0, "us", 0.9, 3.0], "upc": [2.5, "us", 2.5, 2.5],
        "openmpi": [2.0, "us", 1.0, 3.0], "mpich": [9.0, "us", 9.0, 9.0]}
RATE = {"tombolo a": [10.0, "M/s", 9.0, 13.0], "tombolo b": [8.0, "M/s", 8.0, 99.0],
        "openmpi": [10.0, "M/s", 1.0, 99.0]}
STUDY = {"date": "2026-01-02 03:04 UTC", "revision": "abc", "machine": "a machine", "mode": "fast",
         "load": "0.1", "cut": None}


def application(ratio, target):
    return {"application": "stencil", "problem": "small", "ratio": ratio, "target": target,
            "mflops": {"tombolo signal": [ratio], "openmpi mpi": [1.0]}}


class Rows(unittest.TestCase):
    def test_best_side_of_times_and_rates(self):
        self.assertEqual(targets.best(TIME, True)[0], "tombolo")
        self.assertEqual(targets.best(TIME, False)[0], "openmpi")
        self.assertEqual(targets.best(RATE, True)[0], "tombolo a")
        self.assertIsNone(targets.best({"copies": [1, "ns", 1, 1]}, True))

    def test_limits_have_a_direction(self):
        self.assertEqual(targets.wanted(["", {}, 2.0, 1.5, False]), "<= 1.5")
        self.assertEqual(targets.wanted(["", {}, 1.0, 1.5, False]), ">= 1.5")

    def test_at_edge(self):
        self.assertTrue(targets.at_edge(["", TIME, 1.0, 0.5, False]))  # 0.9 of 2.0
        self.assertFalse(targets.at_edge(["", TIME, 1.0, 0.4, False]))
        self.assertTrue(targets.at_edge(["", RATE, 1.0, 1.2, False]))  # 13 of 10
        self.assertFalse(targets.at_edge(["", RATE, 1.0, 1.4, False]))
        self.assertFalse(targets.at_edge(["", RATE, 0.7, 1.2, False]))  # no ratio of medians

    def test_computing_alone_is_part_of_the_reason(self):
        rate = ["pipeline large, computing alone 1.25", RATE, 1.0, 1.2, False]
        self.assertEqual(targets.bound_why(rate), "computing alone is 0.80 of our time")
        time = ["hydro 96^2, computing alone 0.90", TIME, 1.0, 0.9, False]
        self.assertEqual(targets.bound_why(time), "computing alone is 0.90 of our time")
        self.assertEqual(targets.bound_why(["hydro 96^2", TIME, 1.0, 0.9, False]), "")
        reasons = [{"parts": ["apps"], "what": "^pipeline", "why": "it rains"}]
        self.assertEqual(targets.why_text(reasons, "apps", rate),
                         "computing alone is 0.80 of our time; it rains; met in our best round")
        self.assertEqual(targets.why_text([], "apps", ["x", {}, None, 1.2, False]), "not known")


class Adopting(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        page, kept, why = (self.folder / n for n in ("page.md", "kept.json", "why.json"))
        page.write_text("before\n" + targets.MARK[0] + targets.MARK[1] + "after\n")
        why.write_text(json.dumps([{"parts": ["apps"], "what": "^stencil", "why": "it rains"}]))
        for name, path in (("PAGE", page), ("KEPT", kept), ("WHY", why)):
            patch = mock.patch.object(targets, name, path)
            patch.start()
            self.addCleanup(patch.stop)
        self.page, self.why = page, why

    def adopt(self, **parts):
        study = Path(tempfile.mkdtemp(dir=self.folder))
        for name, records in parts.items():
            (study / f"{name}.json").write_text(json.dumps({"records": records, "study": STUDY}))
        with contextlib.redirect_stdout(io.StringIO()):
            targets.adopt(study)
            self.assertEqual(targets.check(), 0)
        return self.page.read_text()

    def test_missed_with_reason(self):
        text = self.adopt(apps=[application(1.0, 1.2), application(2.0, 1.2)])
        self.assertTrue(text.startswith("before\n") and text.endswith("after\n"), text)
        self.assertIn("**1 targets met, 1 missed.**", text)
        self.assertIn("| 1 | >= 1.2 | it rains |", text)
        self.assertIn("2026-01-02, revision abc; a machine", text)

    def test_all_met(self):
        text = self.adopt(apps=[application(2.0, 1.2)])
        self.assertIn("**1 targets met, 0 missed.**", text)
        self.assertNotIn("it rains", text)

    def test_a_part_that_is_not_there_stays(self):
        self.adopt(apps=[application(1.0, 1.2)], apps4=[application(1.0, 1.2)])
        text = self.adopt(apps4=[application(2.0, 1.2)])
        self.assertIn("**1 targets met, 1 missed.**", text)

    def test_rows_without_target_are_left_out(self):
        text = self.adopt(apps=[application(1.0, 1.2) | {"ratio": None}])
        self.assertNotIn("stencil", text)

    def test_check_finds_an_old_page(self):
        self.adopt(apps=[application(1.0, 1.2)])
        self.why.write_text("[]")
        with contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertEqual(targets.check(), 1)
        self.assertIn("run study/targets.py", said.getvalue())


class Kept(unittest.TestCase):
    def test_reasons_name_parts(self):
        for reason in targets.load(targets.WHY, []):
            self.assertLessEqual(set(reason["parts"]), set(targets.known_parts()), reason)


if __name__ == "__main__":
    unittest.main()
