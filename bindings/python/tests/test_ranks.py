# SPDX-License-Identifier: BSD-3-Clause
"""The tests of ranks/, all files in one job: on 1, 2 and 4 ranks near, on 2 and 4 over udp."""

import pytest
from conftest import BUILD

FILES = ["basics", "collectives", "onesided", "notices", "messages", "foreign", "devices"]
FILES += ["batches", "comfort", "files", "pools"]


PLACES = [(1, "near"), (2, "near"), (4, "near"), (2, "far"), (4, "far")]


@pytest.mark.parametrize("n, where", PLACES)
def test_ranks(ranks, n, where):
    sim = {"TOMBOLO_TEST_MK_PLUGIN": str(BUILD / "tests/plugin/libtombolo-mk-sim.so")}
    files = [f"ranks/{name}.py" for name in FILES]
    done = ranks(n, "ranks/run.py", *files, where=where, **sim)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("tests on") == len(FILES), done.stdout


def test_cuda(ranks):
    """Devices by the CUDA plug-in, on a driver without a device (tests/plugin/cuda_mock.c)."""
    driver = BUILD / "tests/plugin/cuda/libcuda.so.1"
    if not driver.exists():
        pytest.skip("built without the CUDA plug-in (TMB_CUDA is OFF)")
    plugin = str(BUILD / "lib/libtombolo-mk-cuda.so")
    files = ["ranks/run.py", "ranks/devices.py"]
    done = ranks(2, *files, LD_LIBRARY_PATH=str(driver.parent), TOMBOLO_TEST_MK_PLUGIN=plugin)
    assert done.returncode == 0 and "devices.py: 6 tests on 2 ranks" in done.stdout, done.stdout
