# SPDX-License-Identifier: BSD-3-Clause
"""Every collective, on numbers, arrays, lists and objects; also as futures.

    python -m tombolo run -n 4 collectives.py
"""

import numpy as np
import tombolo

job = tombolo.init()
me, size = job.rank, job.size
everyone = np.arange(size)


def reductions():
    """One result of all values, or of the ranks up to this one."""
    assert job.allreduce(me) == everyone.sum()
    assert job.allreduce([me, -me], "max").tolist() == [size - 1, 0]
    total = job.reduce(me, root=0)
    assert total == everyone.sum() if me == 0 else total is None
    assert job.scan(1) == me + 1 and job.exscan(1) == me
    assert job.reduce_scatter(np.ones(size)) == size
    last = job.allreduce(np.array([me]), lambda left, right: right)  # keeps the order of ranks
    assert last[0] == size - 1


def rows():
    """Ranks are the rows of what is gathered, scattered and exchanged."""
    data = np.array([10.0, 20.0]) if me == 0 else np.zeros(2)
    assert job.bcast(data)[1] == 20
    assert job.allgather([me, 7]).tolist() == [[r, 7] for r in range(size)]
    gathered = job.gather(me)
    assert me != 0 or gathered.ravel().tolist() == everyone.tolist()
    mine = np.empty(3)
    job.scatter(np.arange(3.0 * size).reshape(size, 3) if me == 0 else None, mine)
    assert mine.tolist() == [3 * me, 3 * me + 1, 3 * me + 2]
    assert job.alltoall(np.full((size, 2), me))[:, 0].tolist() == everyone.tolist()


def of_different_lengths():
    """Rank r has r + 1 elements."""
    ramp = np.full(me + 1, me)
    assert [len(part) for part in job.allgatherv(ramp)] == [r + 1 for r in range(size)]
    parts = job.gatherv(ramp)
    assert me != 0 or len(parts[-1]) == size
    mine = job.scatterv([np.zeros(r + 1) for r in range(size)] if me == 0 else None)
    assert len(mine) == me + 1
    assert [len(p) for p in job.alltoallv([ramp] * size)] == [r + 1 for r in range(size)]


def objects():
    """Anything that pickle knows."""
    assert job.bcast_object({"step": 1} if me == 0 else None) == {"step": 1}
    assert job.allgather_object(str(me))[-1] == str(size - 1)


def in_background():
    """Begun by all ranks in the same order; any number at a time."""
    ones, mine = np.ones(size), np.empty(1)
    futures = [
        job.bcast_nb(np.array([me])), job.allreduce_nb(me), job.reduce_nb(me),
        job.scan_nb(1), job.exscan_nb(1), job.reduce_scatter_nb(ones), job.allgather_nb(me),
        job.gather_nb(me), job.scatter_nb(ones[:, None] if me == 0 else None, mine),
        job.alltoall_nb(ones),
    ]  # fmt: skip
    done = job.barrier_nb()
    results = [future.wait() for future in futures]
    done.wait()
    assert results[1] == everyone.sum() and results[3] == me + 1 and mine[0] == 1


for part in (reductions, rows, of_different_lengths, objects, in_background):
    part()
if me == 0:
    print(f"collectives on {size} ranks")
