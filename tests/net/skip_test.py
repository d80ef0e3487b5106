#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The test network where it cannot work: skipped, with the reason, and without a trace."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

LAB = str(Path(__file__).resolve().parent / "lab.py")
IS_ROOT = os.geteuid() == 0


def run(*options, **environment):
    """Runs a command in a lab. Returns its code and output."""
    words = [sys.executable, LAB, *options, "--", "echo", "it ran"]
    done = subprocess.run(words, capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout


class Skip(unittest.TestCase):
    """What is missing is named."""

    def test_not_root(self):
        words = ["setpriv", "--reuid=65534", "--clear-groups"] if IS_ROOT else []
        words += ["python3", LAB, "--", "true"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, cwd="/")
        if IS_ROOT and "denied" in done.stderr:
            self.skipTest("nobody may not read this tree")
        self.assertEqual(done.returncode, 77)
        self.assertIn("skipped: not root", done.stdout)

    @unittest.skipUnless(IS_ROOT, "not root")
    def test_no_ip(self):
        self.assertEqual(run(PATH="/nowhere"), (77, "skipped: no program ip\n"))

    @unittest.skipUnless(IS_ROOT, "not root")
    def test_no_wire(self):
        code, text = run("--wire", "", TMB_BUILD="/nowhere")
        self.assertEqual(code, 77)
        self.assertRegex(text, "^skipped: no (/dev/net/tun|/nowhere/tests/net/wire)")


if __name__ == "__main__":
    unittest.main()
