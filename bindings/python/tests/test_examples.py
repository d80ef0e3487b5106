# SPDX-License-Identifier: BSD-3-Clause
"""The examples: each checks its own result. On 1 rank, and in turn on 4 near and on 2 over udp; in
`make test-all` on all of these."""

import os
import re
import struct

import pytest
from conftest import BUILD, HERE

DRIVER = BUILD / "tests/plugin/cuda"  # without a device, but for the device that it pretends
EXAMPLES = sorted(p.stem for p in (HERE.parent / "examples").glob("*.py"))
PLACES = [(4, "near"), (2, "far")]
RUNS = [(name, 1, "near") for name in EXAMPLES]
RUNS += [(name, *place) for i, name in enumerate(EXAMPLES) for k, place in enumerate(PLACES)
         if i % 2 == k or "TMB_TEST_WHOLE" in os.environ]  # fmt: skip


@pytest.mark.parametrize("name, n, where", RUNS)
def test_example(ranks, name, n, where):
    env = {"LD_LIBRARY_PATH": str(DRIVER)} if name == "device" else {}
    done = ranks(n, f"../examples/{name}.py", where=where, **env)
    assert done.returncode == 0, done.stdout
    lines = [line for line in done.stdout.splitlines() if not line.startswith("tombolo: rank")]
    assert len(lines) == 1 and re.search("ranks|gradients", lines[0]), done.stdout


def test_animation(ranks, tmp_path):
    path = tmp_path / "plate.png"
    done = ranks(2, "../examples/halo.py", "--steps", 20, "--animate", path)
    assert done.returncode == 0, done.stdout
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG") and data.count(b"fcTL") == 5 and data.count(b"fdAT") == 4
    width, height = struct.unpack(">II", data[16:24])
    assert (width, height) == (256, 384)
