#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The kept figures of the simulation: their texts can be read, equal data give equal drawings.

Skipped (77) without Matplotlib.
"""

import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import plots  # noqa: E402
import sim_figures  # noqa: E402
import sim_specs  # noqa: E402

FOLDER = ROOT / "docs/figures"


class SimFigures(unittest.TestCase):
    """docs/figures/data/sim-*.json, bench/published."""

    def test_readable(self):
        kept = sim_figures.kept(FOLDER / "data")
        self.assertGreater(len(kept), 10)
        for spec in kept:
            self.assertEqual(plots.problems(sim_figures.figure(spec)), [], spec["name"])
            self.assertTrue(spec["says"].endswith("."), spec["name"])
            self.assertTrue((FOLDER / f"{spec['name']}.svg").exists(), spec["name"])

    def test_same_again(self):
        spec = sim_figures.kept(FOLDER / "data")[0]
        self.assertEqual(sim_figures.draw(spec), sim_figures.draw(spec))

    def test_page(self):
        page = (ROOT / "docs/FIGURES_SIMULATION.md").read_text()
        self.assertEqual(page, sim_figures.markdown(sim_figures.kept(FOLDER / "data")),
                         "run bench/sim_figures.py")

    def test_published(self):
        for name, value in sim_specs.published().items():
            self.assertGreater(value, 0, name)


if __name__ == "__main__":
    if plots.missing():
        print(f"skipped: {plots.missing()}")
        sys.exit(77)
    unittest.main()
