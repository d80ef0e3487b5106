# SPDX-License-Identifier: BSD-3-Clause
"""A parameter server: workers fit a line to their own data, rank 0 keeps the parameters.

    python -m tombolo run -n 4 parameter_server.py [ROUNDS]

Workers read the parameters by a get, without the server's doing, and send gradients as messages,
which the server applies as they come. With one rank, that rank is both. A read may meet a write: a
race on purpose, which `--check races` reports.
"""

import sys

import numpy as np

import tombolo

TRUE = np.array([2.0, -3.0])
RATE = 0.05
state = {"gradients": 0}


def apply(gradient):
    """Runs on the server for each message."""
    parameters.local[...] -= RATE * gradient
    state["gradients"] += 1


job = tombolo.init()
parameters = job.zeros(2)  # the others may go on, and send, before this rank does


def work(rounds, rng):
    for _ in range(rounds):
        now = parameters.get(0)
        x = rng.normal(size=50)
        y = TRUE[0] * x + TRUE[1] + rng.normal(scale=0.1, size=50)
        wrong = now[0] * x + now[1] - y
        gradient = np.array([(wrong * x).mean(), wrong.mean()])
        job.call(0, apply, gradient).wait()  # at most one message of each worker is in flight


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    workers = max(1, job.size - 1)
    if job.rank > 0 or job.size == 1:
        work(rounds, np.random.default_rng(job.rank))
    while job.rank == 0 and state["gradients"] < rounds * workers:
        job.poll(0.1)
    job.barrier()
    found = parameters.get(0)
    assert np.abs(found - TRUE).max() < 0.2, found
    if job.rank == 0:
        print(f"slope {found[0]:.2f}, offset {found[1]:.2f} after {state['gradients']} gradients")
    job.barrier()


main()
