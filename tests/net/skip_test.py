#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The test network where it cannot work: skipped, with the reason, and without a trace; cases of a
test that there are none of: refused."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LAB = str(Path(__file__).resolve().parent / "lab.py")
IS_ROOT = os.geteuid() == 0


def run(*options, **environment):
    """Runs a command in a lab. Returns its code and output. Skips where no lab can be made."""
    words = [sys.executable, LAB, *options, "--", "echo", "it ran"]
    done = subprocess.run(words, capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})
    here = "no namespace|the root folder" + ("" if "PATH" in environment else "|no program")
    if re.match(f"skipped: ({here})", done.stdout):
        raise unittest.SkipTest(done.stdout)
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


class Suite(unittest.TestCase):
    """suite.py without programs: one line, with the command that builds them."""

    def run_suite(self, tree):
        words = [sys.executable, str(Path(LAB).with_name("suite.py")), "--pretend"]
        done = subprocess.run(words, capture_output=True, text=True, check=False,
                              env={**os.environ, "TMB_BUILD": str(tree)})
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        return done.stderr

    def test_no_tree(self):
        self.assertRegex(self.run_suite("/nowhere"), "^suite: no build tree at /nowhere: make")

    def test_not_built(self):
        test = ("add_test(conformance.some.n2 /bin/true -n 2 --timeout 60 -- /nowhere/some)\n"
                "set_tests_properties(conformance.some.n2 PROPERTIES LABELS conformance)\n")
        with tempfile.TemporaryDirectory() as tree:
            Path(tree, "CTestTestfile.cmake").write_text(test, encoding="utf-8")
            said = self.run_suite(tree)
        self.assertRegex(said, "^suite: 1 of 1 programs are not built, as /nowhere/some: cmake")


class Cases(unittest.TestCase):
    """Which cases of a test run."""

    def test_skipped_case(self):
        lines = ("import sys, unittest", "import jobs", "jobs.TOMBOLO = jobs.VICTIM = '/bin/true'",
                 "def lacks(): raise unittest.SkipTest('no sshd')", "def works(): pass",
                 "sys.argv[1:] = []", "jobs.run_cases([{}])")
        for cases, code, said in (("lacks", 77, r"^skipped \(no sshd\) lacks [\d.]+ s\n$"),
                                  ("works, lacks", 0, r"^ok works .*\nskipped \(no sshd\) lacks")):
            done = subprocess.run([sys.executable, "-c", "\n".join(lines).format(cases)],
                                  capture_output=True, text=True, check=False,
                                  cwd=Path(LAB).parent.parent / "lib")
            self.assertEqual((done.returncode, done.stderr), (code, ""))
            self.assertRegex(done.stdout, said)

    def test_unknown_case(self):
        ends = Path(LAB).parent.parent / "fault/ends.py"
        for words in (["nosuch"], ["kill_one", "nosuch"]):
            done = subprocess.run([sys.executable, ends, *words], capture_output=True, text=True,
                                  check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, "no case is called 'nosuch'; there are: .*kill_one/run")


if __name__ == "__main__":
    unittest.main()
