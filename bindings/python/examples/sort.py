# SPDX-License-Identifier: BSD-3-Clause
"""Sample sort: numbers travel straight to their place, by puts of slices.

    python -m tombolo run -n 4 sort.py [NUMBERS]
"""

import sys

import numpy as np

import tombolo


def splitters(job, mine):
    """size - 1 numbers that divide all numbers into about equal parts."""
    step = max(1, len(mine) // (8 * job.size))
    sample = np.sort(job.allgather(mine[::step][: 8 * job.size]).ravel())
    return sample[len(sample) // job.size :: len(sample) // job.size][: job.size - 1]


def sort(job, mine):
    """The part of this rank of all numbers, sorted. `mine`: equally many on all ranks, sorted."""
    bounds = np.searchsorted(mine, splitters(job, mine))
    pieces = np.split(mine, bounds)
    counts = job.allgather(np.array([len(p) for p in pieces]))  # [from, to]
    begin = np.cumsum(counts, axis=0) - counts  # where each rank's piece begins in the target
    room = job.empty(int(counts.sum(axis=0).max()), mine.dtype)
    puts = []
    for k in range(job.size):
        to = (job.rank + k) % job.size
        at = int(begin[job.rank, to])
        puts.append(room.put_nb(to, slice(at, at + len(pieces[to])), pieces[to]))
    for put in puts:
        put.wait()
    job.barrier()
    return np.sort(room.local[: counts[:, job.rank].sum()], kind="stable")


def main():
    job = tombolo.init()
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    rng = np.random.default_rng([1, job.rank])
    mine = np.sort(rng.integers(0, 1 << 40, count // job.size))
    result = sort(job, mine)
    assert (np.diff(result) >= 0).all()
    ends = job.allgather_object((result[:1].tolist(), result[-1:].tolist(), len(result)))
    if job.rank == 0:
        edges = [x for first, last, _ in ends for x in first + last]
        assert edges == sorted(edges) and sum(n for *_, n in ends) == len(mine) * job.size
        print(f"{len(mine) * job.size} numbers sorted on {job.size} ranks: {[n for *_, n in ends]}")
    total = job.allreduce(int(result.sum())) == job.allreduce(int(mine.sum()))
    assert total


main()
