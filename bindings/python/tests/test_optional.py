# SPDX-License-Identifier: BSD-3-Clause
"""With the packages that the binding can use, by pip in the build tree: what it does with them, and
its types as mypy and pyright see them. Nightly; skipped without a registry of Python packages."""

import os
import subprocess
import sys

import pytest
from conftest import BUILD, HERE, environment

COMMON = ["numpy", "cloudpickle", "h5py", "joblib", "dask"]
SETS = {
    "zarr2": ["zarr<3", *COMMON],  # its numcodecs is older, too
    "zarr3": ["zarr>=3", *COMMON],
    "types": ["mypy", "basedpyright", "numpy"],
}
FILES = [f"ranks/{name}.py" for name in ("files", "pools", "comfort", "foreign")]


def installed(name):
    """PYTHONPATH with a set of packages, which are fetched once."""
    site = BUILD / "python-optional" / name
    if not (site / "complete").exists():
        words = [sys.executable, "-m", "pip", "install", "-q", "--target", site, *SETS[name]]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"pip cannot install {' '.join(SETS[name])}: {done.stderr.strip()[-300:]}")
        (site / "complete").touch()
    return f"{environment()['PYTHONPATH']}{os.pathsep}{site}"


@pytest.mark.parametrize("name", ["zarr2", "zarr3"])
def test_packages(ranks, name):
    path = installed(name)
    program = "import zarr, h5py, joblib, dask, cloudpickle; print(zarr.__version__)"
    env = environment(PYTHONPATH=path)
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    assert done.stdout.startswith(name[-1]), done.stdout + done.stderr
    for n, where in ((4, "near"), (2, "far")):
        done = ranks(n, "ranks/run.py", *FILES, where=where, PYTHONPATH=path)
        assert done.returncode == 0, done.stdout
        assert done.stdout.count("tests on") == len(FILES), done.stdout
    done = ranks(3, "../examples/pools.py", PYTHONPATH=path)
    assert "primes by futures, joblib, dask on 3 ranks" in done.stdout, done.stdout
    done = ranks(2, "../examples/distributed_array.py", PYTHONPATH=path)
    assert "files: npy, h5, zarr" in done.stdout, done.stdout


CHECKERS = [["mypy", "--cache-dir", os.devnull], ["basedpyright", "-p", "."]]


@pytest.mark.parametrize("words", CHECKERS)
def test_types(words):
    """pyproject.toml has the files and the settings: strict."""
    env = environment(PYTHONPATH=installed("types"))
    done = subprocess.run([sys.executable, "-m", *words], cwd=HERE.parent, env=env,
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
