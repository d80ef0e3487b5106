#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of install_deps.sh with stand-ins for Debian's programs: what it installs and prints."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).with_name("install_deps.sh")
# In another language than English apt-cache translates what it prints.
POLICY = """
word=Candidate
[ "$LC_ALL" = C ] || word=Installationskandidat
shift
for name in "$@"; do
  [ "$name" = gfortran-11 ] || printf '%s:\\n  Installed: (none)\\n  %s: 1.0\\n' "$name" "$word"
done
"""


class Installs(unittest.TestCase):
    """No package is installed, and apt-get writes down how it is called."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.calls = self.folder / "calls"
        for name in ("bash", "env", "cat", "grep", "awk", "mktemp", "rm"):
            (self.folder / name).symlink_to(shutil.which(name))
        self.stand_in("dpkg-query", "exit 1")
        self.stand_in("apt-cache", POLICY)
        self.stand_in("apt-get", f'echo "$@" >>"{self.calls}"')

    def stand_in(self, name, text):
        """A program of this name, of the shell."""
        (self.folder / name).write_text(f"#!{shutil.which('bash')}\n{text}\n")
        (self.folder / name).chmod(0o755)

    def run_as(self, user, **settings):
        """The script's exit code and output, as this user."""
        self.stand_in("id", f"echo {user}")
        env = {"PATH": str(self.folder), "LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de", **settings}
        done = subprocess.run([self.folder / "bash", SCRIPT], env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=60, check=False)
        return done.returncode, done.stdout

    def test_a_german_root_installs_what_the_system_has(self):
        self.run_as(0, TESTS="1")
        called = self.calls.read_text()
        self.assertIn(" update ", called)
        self.assertRegex(called, r" install .*\bcmake\b.* gfortran-13 ")
        self.assertNotIn("gfortran-11", called)

    def test_without_sudo_root_is_asked(self):
        code, said = self.run_as(1000)
        self.assertEqual(code, 1, said)
        self.assertFalse(self.calls.exists())
        self.assertIn("there is no sudo. First run, as root:", said)
        self.assertIn("\n    apt-get install -y --no-install-recommends build-essential ", said)
        self.assertIn("nothing can be built without these packages: build-essential ", said)

    def test_the_command_names_what_the_system_has(self):
        for policy, wanted in ((POLICY, "gfortran gfortran-13 libopen"), ("", "gfortran libopen")):
            self.stand_in("apt-cache", f'echo asked >>"{self.calls}"\n{policy}')
            self.assertIn(wanted, self.run_as(1000, TESTS="1")[1].partition("install -y")[2])
            self.assertEqual(self.calls.read_text(), "asked\n")  # it takes seconds, so once
            self.calls.unlink()

    def test_with_a_password_the_command_is_printed(self):
        self.stand_in("sudo", "exit 1")
        code, said = self.run_as(1000)
        self.assertEqual(code, 1, said)
        self.assertIn("\n    sudo apt-get install -y ", said)

    def test_sudo_without_a_password_installs(self):
        self.stand_in("sudo", '[ "$1" != -n ] || shift; [ "$1" = true ] || exec "$@"')
        self.stand_in("true", "")
        self.run_as(1000)
        self.assertIn(" install ", self.calls.read_text())


if __name__ == "__main__":
    unittest.main()
