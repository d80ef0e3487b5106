# SPDX-License-Identifier: BSD-3-Clause
"""Tasks of unequal length on whichever rank is free, and a histogram that all ranks add to.

    python -m tombolo run -n 4 tasks.py [TASKS]
"""

import sys

import numpy as np

import tombolo

BINS = 32


def steps(n):
    """How many steps the Collatz sequence of n takes to 1."""
    count = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count


def on_ranks(job, numbers):
    """steps(n) of all numbers, on rank 0; None elsewhere. The other ranks compute."""
    with job.executor(root=0) as pool:
        if not isinstance(pool, tombolo.RankExecutor):
            return None
        tasks = [pool.submit(steps, n) for n in numbers]
        pool.shutdown(wait=True)
    return np.array([task.result() for task in tasks])


def main():
    job = tombolo.init()
    numbers = range(1, (int(sys.argv[1]) if len(sys.argv) > 1 else 200) + 1)
    lengths = job.bcast_object(on_ranks(job, numbers))
    bins = job.zeros(BINS, np.int64)
    mine = lengths[job.rank :: job.size]
    bins.add(0, mine % BINS, np.ones(len(mine), np.int64))
    job.send_object(0, len(mine), tag=int(mine.max(initial=0)))  # a value for rank 0, with a tag
    job.barrier()
    if job.rank == 0:
        messages = [job.recv_message() for _ in range(job.size)]
        assert {m.source for m in messages} == set(range(job.size))
        assert sum(m.value for m in messages) == len(lengths)
        assert max(m.tag for m in messages) == lengths.max()
        assert (bins.local == np.bincount(lengths % BINS, minlength=BINS)).all()
        print(f"{len(lengths)} sequences, the longest of {lengths.max()} steps, {job.size} ranks")
    assert lengths[26] == 111


main()
