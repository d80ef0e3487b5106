# SPDX-License-Identifier: BSD-3-Clause
"""Runs jobs for the tests: `ranks(n, words..., where=)` is `python -m tombolo run -n n words`.

TMB_BUILD names the build tree. Programs of ranks are in ranks/ and programs/.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("TMB_BUILD", HERE.parents[2] / "build"))
FAR = {"TOMBOLO_CONDUIT": "udp", "TOMBOLO_PLACES": "cyclic:2"}  # as on two hosts
TIMEOUT_S = 60


def environment(where="near", **more):
    """Environment of a job: near (shared memory), or far (udp between two pretended hosts)."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("TOMBOLO", "PYTHON"))}
    env["PYTHONPATH"] = os.environ.get("TMB_PYTHONPATH", str(BUILD / "python"))
    return {**env, **(FAR if where == "far" else {}), **more}


def command(n, *words):
    """The command line of a job."""
    words = [str(HERE / w) if str(w).endswith(".py") else str(w) for w in words]
    run = [sys.executable, "-m", "tombolo", "run", "-n", str(n), "--timeout", str(TIMEOUT_S)]
    return [*run, *words]


@pytest.fixture
def ranks():
    """Runs a job; returns its CompletedProcess, with both outputs in stdout."""

    def run(n, *words, where="near", **more):
        return subprocess.run(
            command(n, *words),
            env=environment(where, **more),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_S + 15,
            check=False,
        )

    return run
