# SPDX-License-Identifier: BSD-3-Clause
"""Atomic operations on one element, and on many at a time.

    python -m tombolo run -n 4 atomics.py
"""

import numpy as np
import tombolo

ROUNDS = 50


def every_operation(a, rank):
    """On elements that only this rank changes; forms that fetch give the value before."""
    a.store(rank, 0, 12)
    assert a.load(rank, 0) == 12
    assert a.swap(rank, 0, 5) == 12
    assert a.compare_swap(rank, 0, 5, 6) == 5  # 6, because it was 5
    a.atomic("mult", rank, 0, 7)
    a.atomic("inc", rank, 0)
    assert a.fetch("max", rank, 0, 100) == 43
    assert a.fetch_add(rank, 0, -1) == 100 and a[rank, 0] == 99


def lock(job, a):
    """A lock on rank 0: the rank that turns 0 into 1 has it."""
    taken, data = 1, 2
    for _ in range(5):
        while a.compare_swap(0, taken, 0, 1) != 0:
            job.poll()
        a[0, data] = a[0, data] + 1  # one rank at a time
        a.store(0, taken, 0)
    job.barrier()
    assert a[0, data] == 5 * job.size


def histogram(job, bins):
    """Each rank adds many numbers to bins that all ranks share, by one call."""
    numbers = np.random.default_rng(job.rank).integers(0, 10 * job.size, 1000)
    bins.add(numbers // 10, numbers % 10, 1)  # ten bins on each rank
    job.barrier()
    assert job.allreduce(bins.local.sum()) == 1000 * job.size


def main():
    job = tombolo.init()
    a = job.zeros(4, np.int64)
    every_operation(a, (job.rank + 1) % job.size)
    job.barrier()
    a.local[:] = 0
    job.barrier()
    lock(job, a)
    for _ in range(ROUNDS):
        a.add(0, 3, 2)
    job.barrier()
    assert a[0, 3] == 2 * ROUNDS * job.size
    histogram(job, job.zeros(10, np.int64))
    if job.rank == 0:
        print(f"{ROUNDS} rounds of atomics on {job.size} ranks")


main()
