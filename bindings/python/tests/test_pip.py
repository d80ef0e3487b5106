# SPDX-License-Identifier: BSD-3-Clause
"""pip builds the wheel in a fresh environment and installs it into another one, or says why not."""

import subprocess
import sys

import pytest
from conftest import HERE

ROOT = HERE.parents[2]
RECIPE = ROOT / "packaging/wheels.py"


def test_pip(tmp_path):
    done = subprocess.run(
        [sys.executable, RECIPE, "--out", tmp_path], capture_output=True, text=True, check=False
    )
    if done.returncode == 77:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(tmp_path.glob("tombolo-*-cp311-abi3-manylinux*.whl")), done.stdout


def test_pip_without_headers(tmp_path):
    """Where Python's headers are missing, the configuration that pip starts says so, and ends."""
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho no Python.h in /nowhere\nexit 1\n")
    python.chmod(0o755)
    words = ["cmake", "-G", "Ninja", "-S", ROOT, "-B", tmp_path / "b", "-DTMB_TESTS=OFF"]
    words += ["-DSKBUILD=2", f"-DPython_EXECUTABLE={python}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode, done.stdout
    for wanted in ("no Python.h in /nowhere", "python3-dev"):
        assert wanted in " ".join(done.stderr.split()), done.stderr  # CMake breaks lines
