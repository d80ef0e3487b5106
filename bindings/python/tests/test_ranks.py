# SPDX-License-Identifier: BSD-3-Clause
"""The tests of ranks/, all files in one job: on 1, 2 and 4 ranks near, on 2 and 4 over udp."""

import pytest
from conftest import BUILD

FILES = ["basics", "collectives", "onesided", "notices", "messages", "foreign", "devices"]


PLACES = [(1, "near"), (2, "near"), (4, "near"), (2, "far"), (4, "far")]


@pytest.mark.parametrize("n, where", PLACES)
def test_ranks(ranks, n, where):
    sim = {"TOMBOLO_MK_PLUGIN": str(BUILD / "tests/plugin/libtombolo-mk-sim.so")}
    files = [f"ranks/{name}.py" for name in FILES]
    done = ranks(n, "ranks/run.py", *files, where=where, **sim)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("tests on") == len(FILES), done.stdout
