# SPDX-License-Identifier: BSD-3-Clause
"""pip builds the wheel in a fresh environment, and installs it into another one."""

import subprocess
import sys

import pytest
from conftest import HERE

RECIPE = HERE.parents[2] / "packaging/wheels.py"


def test_pip(tmp_path):
    done = subprocess.run(
        [sys.executable, RECIPE, "--out", tmp_path], capture_output=True, text=True, check=False
    )
    if done.returncode == 77:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(tmp_path.glob("tombolo-*-cp311-abi3-manylinux*.whl")), done.stdout
