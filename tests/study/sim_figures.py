#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The kept figures of the simulation: their texts can be read, equal data give equal drawings.

Skipped (77) without Matplotlib.
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "study"))
import plots  # noqa: E402
import sim_figures  # noqa: E402
import sim_specs  # noqa: E402

FOLDER = ROOT / "study"


class SimFigures(unittest.TestCase):
    """study/data/sim-*.json, study/published."""

    def test_readable(self):
        kept = sim_figures.kept(FOLDER / "data")
        self.assertGreater(len(kept), 10)
        for spec in kept:
            self.assertEqual(plots.problems(sim_figures.figure(spec)), [], spec["name"])
            self.assertTrue(spec["says"].endswith("."), spec["name"])
            self.assertTrue((FOLDER / "figures" / f"{spec['name']}.svg").exists(), spec["name"])

    def test_same_again(self):
        spec = sim_figures.kept(FOLDER / "data")[0]
        self.assertEqual(sim_figures.draw(spec), sim_figures.draw(spec))

    def test_page(self):
        page = (ROOT / "study/FIGURES_SIMULATION.md").read_text()
        self.assertEqual(page, sim_figures.markdown(sim_figures.kept(FOLDER / "data")),
                         "run study/sim_figures.py")

    def test_order(self):
        """A figure has its place among all, also when few are made."""
        orders = [spec["order"] for spec in sim_figures.kept(FOLDER / "data")]
        self.assertEqual(orders, sorted(set(orders)))
        self.assertIn(10 * list(sim_specs.FIGURES).index(sim_specs.links), orders)

    def test_only(self):
        """One set without an earlier run: what needs others is named, nothing is kept of it."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for program in ("bin/tombolo", "sim/sim"):
                (folder / program).parent.mkdir()
                (folder / program).write_text("#!/bin/sh\necho '{\"seconds\": 1}'\n")
                (folder / program).chmod(0o755)
            done = subprocess.run(
                [sys.executable, ROOT / "study/simulate.py", "--only", "machine", "--build", folder,
                 "--out", folder / "out", "--figures", folder / "figures"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("no figure links: needs --only links\n", done.stderr)
            self.assertTrue((folder / "out/simulation.html").exists())
            self.assertEqual(list((folder / "figures/data").iterdir()), [])

    def test_published(self):
        for name, value in sim_specs.published().items():
            self.assertGreater(value, 0, name)


if __name__ == "__main__":
    if plots.missing():
        print(f"skipped: {plots.missing()}")
        sys.exit(77)
    unittest.main()
