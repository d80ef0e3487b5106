#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""study/compare/sim.py: costs that explain what was measured, and rows that are simulated again.

Needs $TOMBOLO. Skipped (77) where the simulator is not built.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOMBOLO = os.environ["TOMBOLO"]
ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "study/compare"))
import sim  # noqa: E402  pylint: disable=wrong-import-position
import sim_apps  # noqa: E402  pylint: disable=wrong-import-position


class Costs(unittest.TestCase):
    """study/compare/sim.py: costs that explain what was measured."""

    def test_explain(self):
        counts = [(7, 6000, 1200), (56, 80, 40), (24, 54, 64)]
        costs = (9e-6, 3e-6, 30e-6)
        seconds = [sum(n * c for n, c in zip(row, costs)) for row in counts]
        for found, cost in zip(sim.explain(counts, seconds), costs):
            self.assertAlmostEqual(found / cost, 1, 3)
        # No cost is below 0: what fits best without it.
        found = sim.explain([(1, 0), (1, 1)], [2, 1])
        self.assertEqual(found[1], 0)
        self.assertAlmostEqual(found[0], 1.2, 6)

    def test_replay(self):
        """study/compare/sim.py --replay: rows of a file are simulated again from what it has
        measured, without a lab."""
        data = json.loads((ROOT / "study/data/simreal.json").read_text())
        rows = [row for row in data["collectives"] if row["ranks"] == 8 and row["bytes"] == 8]
        with tempfile.TemporaryDirectory() as name:
            kept, again = Path(name) / "kept.json", Path(name) / "again.json"
            kept.write_text(json.dumps({"records": rows,
                                        "measured": data["measured"]["collectives"]}))
            done = subprocess.run(
                [sys.executable, ROOT / "study/compare/sim.py", "--replay", kept, "--json", again,
                 "--build", Path(TOMBOLO).resolve().parent.parent],
                text=True, stdout=subprocess.PIPE, check=True)
            found = json.loads(again.read_text())["records"]
        self.assertEqual([row["real_s"] for row in found], [row["real_s"] for row in rows])
        for row in found:
            self.assertGreater(row["simulated_s"], 0.003)  # the links' delay
            self.assertIn(f"{row['simulated_s'] * 1e3:9.3f} ms", done.stdout)

    def test_points(self):
        """sim_apps.py: costs of messages and packets, where that of a sleep is known."""
        found = sim_apps.costs([sim.Use(n, n * 2e-6 + f * 1e-5 + s * 1.5e-5, s, f * 3e-6 + w * 5e-6,
                                        w, f) for n, f, s, w in (
                                            (1024, 124, 110, 120), (448, 900, 800, 460),
                                            (64, 96, 190, 90))], 1.5e-5)
        self.assertEqual((found.host_s_per_byte, found.host_s_per_sleep), (0, 1.5e-5))
        for name, value in (("host_s_per_message", 2e-6), ("host_s_per_frame", 1e-5),
                            ("line_s_per_frame", 3e-6), ("line_s_per_sleep", 5e-6)):
            self.assertAlmostEqual(getattr(found, name) / value, 1, 2, name)


if __name__ == "__main__":
    if subprocess.run([TOMBOLO, "sim", "--help"], stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL, check=False).returncode == 127:
        print("skipped: the simulator is not built (package libsimgrid-dev)")
        sys.exit(77)
    unittest.main()
