#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of release.py in a repository of three files: what it writes, tags and refuses."""

import contextlib
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

import release

CHANGES = "# Changelog\n\n## Unreleased (1.2.3)\n\n### Added\n- A.\n\n## 1.2.2 (2020-01-01)\n- B.\n"
NAMES = ["SHA256SUMS", "tombolo-1.2.3-notes.md", "tombolo-1.2.3.spdx.json", "tombolo-1.2.3.tar.gz"]
WHO = {f"GIT_{who}_{what}": "test@localhost" for who in ("AUTHOR", "COMMITTER")
       for what in ("NAME", "EMAIL")}


class Releases(unittest.TestCase):
    """Each test has a repository of its own."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.kept, release.ROOT = release.ROOT, self.folder / "sources"
        release.ROOT.mkdir()
        os.environ.update(WHO)
        (release.ROOT / "CMakeLists.txt").write_text("project(tombolo VERSION 1.2.3 LANGUAGES C)\n")
        (release.ROOT / "CHANGELOG.md").write_text(CHANGES)
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "first")

    def tearDown(self):
        release.ROOT = self.kept

    def git(self, *words):
        """What git prints in the repository."""
        return subprocess.run(["git", "-C", release.ROOT, *words], check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    def make(self, *words, out="out"):
        """Runs the script. Returns the folder of what it has written."""
        kept, sys.argv = sys.argv, ["release.py", "--out", str(self.folder / out), *words]
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(release.main(), 0)
        finally:
            sys.argv = kept
        return self.folder / out

    def test_release(self):
        out = self.make()
        self.assertEqual(sorted(p.name for p in out.iterdir()), NAMES)
        for line in (out / "SHA256SUMS").read_text().splitlines():
            digest, name = line.split()
            self.assertEqual(hashlib.sha256((out / name).read_bytes()).hexdigest(), digest)
        notes = (out / NAMES[1]).read_text()
        self.assertEqual(notes, "# Tombolo 1.2.3\n\n### Added\n- A.\n")
        self.assertEqual(self.git("tag", "-l", "--format=%(contents)", "v1.2.3").strip(),
                         notes.strip())
        self.assertEqual(self.git("rev-list", "--count", "HEAD").strip(), "2")
        self.assertEqual(self.git("rev-parse", "v1.2.3^{commit}"), self.git("rev-parse", "HEAD"))
        with tarfile.open(out / NAMES[3]) as tar:
            self.assertEqual([m.name for m in tar if m.mode & 0o022], [])
            changes = tar.extractfile("tombolo-1.2.3/CHANGELOG.md").read().decode()
        self.assertRegex(changes, r"(?m)^## 1\.2\.3 \(\d{4}-\d\d-\d\d\)$")
        bill = json.loads((out / NAMES[2]).read_text())
        self.assertIn(bill["packages"][0]["checksums"][0]["checksumValue"],
                      (out / "SHA256SUMS").read_text())
        with self.assertRaisesRegex(SystemExit, "tag v1.2.3 is there: raise VERSION"):
            self.make()

    def test_dry_run(self):
        out, again = self.make("--dry-run"), self.make("--dry-run", out="again")
        for name in NAMES:
            self.assertEqual((out / name).read_bytes(), (again / name).read_bytes(), name)
        self.assertEqual(self.git("tag") + self.git("status", "--porcelain"), "")
        self.assertEqual((release.ROOT / "CHANGELOG.md").read_text(), CHANGES)

    def test_refusals(self):
        path = release.ROOT / "CHANGELOG.md"
        path.write_text(CHANGES.replace("1.2.3", "1.2.4"))
        with self.assertRaisesRegex(SystemExit, "not committed"):
            self.make()
        with self.assertRaisesRegex(SystemExit, "CHANGELOG.md has no part about 1.2.3"):
            self.make("--dry-run")
        self.assertEqual(self.git("tag"), "")


if __name__ == "__main__":
    if not shutil.which("git"):
        print("release_test.py: skipped: there is no git")
        sys.exit(77)
    sys.exit(unittest.main())
