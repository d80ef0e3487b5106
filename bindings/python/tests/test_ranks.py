# SPDX-License-Identifier: BSD-3-Clause
"""The tests of ranks/, all files in one job: on 1, 2 and 4 ranks near, on 2 and 4 over udp."""

import pytest

FILES = ["basics", "collectives", "onesided", "notices", "messages", "foreign"]


PLACES = [(1, "near"), (2, "near"), (4, "near"), (2, "far"), (4, "far")]


@pytest.mark.parametrize("n, where", PLACES)
def test_ranks(ranks, n, where):
    done = ranks(n, "ranks/run.py", *(f"ranks/{name}.py" for name in FILES), where=where)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("tests on") == len(FILES), done.stdout
