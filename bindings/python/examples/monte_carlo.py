# SPDX-License-Identifier: BSD-3-Clause
"""Pi by throwing darts: each rank throws its own, one reduction adds the hits.

    python -m tombolo run -n 4 monte_carlo.py [DARTS]
"""

import math
import sys

import numpy as np

import tombolo


def hits(count, seed):
    """How many of `count` random points of the unit square lie in the quarter circle."""
    rng = np.random.default_rng(seed)
    found = 0
    while count > 0:
        batch = min(count, 1 << 16)
        x, y = rng.random((2, batch))
        found += int(np.count_nonzero(x * x + y * y < 1))
        count -= batch
    return found


def main():
    job = tombolo.init()
    darts = int(sys.argv[1]) if len(sys.argv) > 1 else 400_000
    mine = darts // job.size + (job.rank < darts % job.size)
    found = job.allreduce(hits(mine, seed=[2026, job.rank]))
    pi = 4 * found / darts
    error = 4 * math.sqrt(found / darts * (1 - found / darts) / darts)
    if job.rank == 0:
        print(f"pi is {pi:.5f}, standard error {error:.5f}, {darts} darts on {job.size} ranks")
    assert abs(pi - math.pi) < 6 * error


main()
