# SPDX-License-Identifier: BSD-3-Clause
"""Lists of regions, notifications with tags, semaphores, and blocks of different lengths."""

import pickle

import numpy as np
import pytest

import tombolo

job = tombolo.init()
me, size = job.rank, job.size
right, left = (me + 1) % size, (me - 1) % size


def test_lists():
    a = job.zeros((6, 8), np.int32)
    indices = [1, (slice(3, 6, 2), slice(0, 8, 3)), (0, 7), (2, slice(0, 0)), (2, slice(5, 2, -1))]
    values = [np.arange(8) + me, [[1, 2, 3], [4, 5, 6]], 9 + me, [], [7, 8, 9]]
    a.put_list(right, indices, values)
    job.barrier()
    want = np.zeros((6, 8), np.int32)
    for index, value in zip(indices, values):
        want[index] = value
    want[1] += left - me
    want[0, 7] += left - me
    assert (a.local == want).all()
    got = a.get_list(right, [*indices, None])
    assert [g.shape for g in got] == [(8,), (2, 3), (), (0,), (3,), (6, 8)]
    assert (got[0] == np.arange(8) + me).all() and got[4].tolist() == [7, 8, 9]
    assert got[1].tolist() == [[1, 2, 3], [4, 5, 6]] and got[5][0, 7] == 9 + me
    assert a.get_list(right, []) == [] and a.put_list_nb(right, [], []).wait() is None
    with pytest.raises(ValueError, match="2 indices, but 1 values"):
        a.put_list(right, [0, 1], [0])
    with pytest.raises(TypeError, match=r"get_list: indices is 5; give a list, as \[5\]"):
        a.get_list(0, 5)
    with pytest.raises(TypeError, match=r"put_list: values is 1.5; give a list, as \[1.5\]"):
        a.put_list(0, [1], 1.5)
    with pytest.raises(IndexError):
        a.get_list(right, [6])
    job.barrier()
    a.free()


def test_tags():
    a = job.zeros((4, 50))
    pair = job.notification(left, 7, 2)
    other = job.notification(tag=8)
    a.put_notify(right, 0, np.full(50, me + 1), 7)
    a.put_notify(right, (slice(None), 1), [1, 2, 3, 4], 7)  # strided
    assert pair.wait(30) == (left, 7, 0) and pair.done()
    assert a.local[0, 3] == left + 1 and a.local[:, 1].tolist() == [1, 2, 3, 4]
    job.barrier()
    assert not other.done()
    with pytest.raises(TimeoutError, match="no notification within 0.01 s"):
        other.wait(0.01)
    with pytest.raises(RuntimeError, match="wait for it first"):
        other.start()
    job.barrier()
    assert (a.get_notify(right, 0, 8)[2:] == me + 1).all()
    assert other.wait(30) == tombolo.Notice(left, 8, 400)
    a.get_notify(right, (slice(None), 1), 8)
    other.start()
    assert other.wait(30).source == left
    with pytest.raises(ValueError, match="tag is -1"):
        a.put_notify(right, 0, 0.0, -1)
    with pytest.raises(IndexError, match=f"source is {size}; the team has"):
        job.notification(size)
    job.barrier()
    a.free()


def test_semaphores():
    a = job.zeros((3, 40))
    full, once = job.semaphore(), job.semaphore(boolean=True)
    names = job.allgather_object(full.name)
    assert pickle.loads(pickle.dumps(names[right]))._name == names[right]._name
    assert not full.try_wait() and f"of rank {me}>" in repr(full.name)
    job.barrier()
    for turn in range(5):
        a.put_post(right, 0, np.full(40, turn + me), names[right])
        a.put_post(right, (slice(None), 5), turn, names[right], 2)
        full.wait(3, timeout=30)
        assert a.local[0, 4] == turn + left and a.local[:, 5].tolist() == [turn] * 3
        job.barrier()
    names[right].post(4)
    full.wait(timeout=30)
    full.wait(2, timeout=30)
    full.wait(timeout=30)
    assert not full.try_wait()
    once.post()
    once.post()
    assert once.try_wait() and not once.try_wait()
    with pytest.raises(TimeoutError, match="no post within 0.01 s"):
        full.wait(timeout=0.01)
    if size > 1:
        with pytest.raises(ValueError, match="give a semaphore of the target"):
            a.put_post(right, 0, 0.0, full.name)
    job.barrier()
    a.free()


def test_blocks_of_different_lengths():
    mine = np.arange(2 * (me + 1)).reshape(me + 1, 2) + 100 * me
    everyone = [np.arange(2 * (r + 1)).reshape(r + 1, 2) + 100 * r for r in range(size)]

    def same(got, want):
        return len(got) == len(want) and all((g == w).all() for g, w in zip(got, want))

    assert same(job.allgatherv(mine), everyone)
    root = size - 1
    got = job.gatherv(mine, root)
    assert (got is None) == (me != root) and (got is None or same(got, everyone))
    got = job.scatterv(everyone if me == root else None, root)
    assert got.dtype == mine.dtype and (got == mine).all()
    parts = [np.full(me + 2 * r, 10 * me + r, np.float32) for r in range(size)]
    want = [np.full(r + 2 * me, 10 * r + me, np.float32) for r in range(size)]
    assert same(job.alltoallv(parts), want) and job.alltoallv(parts)[0].dtype == np.float32
    with pytest.raises(ValueError, match=f"must be a list of {size} arrays"):
        job.alltoallv(parts + parts)
    with pytest.raises(ValueError, match="at least one axis"):
        job.allgatherv(1)
    if size > 1:
        with pytest.raises(ValueError, match="the array of rank . has another type"):
            job.allgatherv(mine if me else mine.astype(float))


def test_futures_of_all_collectives():
    rows = np.arange(size * 2).reshape(size, 2) + 100 * me
    out = np.empty(2, rows.dtype)
    futures = [
        job.scan_nb(np.array([me + 1])), job.exscan_nb(np.array([me + 1])),
        job.reduce_scatter_nb(rows), job.gather_nb(rows[0]), job.alltoall_nb(rows),
        job.scatter_nb(rows if me == 0 else None, out),
    ]  # fmt: skip
    upto, below, reduced, gathered, turned, scattered = [f.wait() for f in futures]
    assert upto[0] == sum(range(1, me + 2)) and below[0] == sum(range(1, me + 1))
    assert (reduced == size * (np.arange(2) + 2 * me) + 100 * sum(range(size))).all()
    assert (gathered is None) == (me != 0)
    assert me or (gathered[:, 0] == 100 * np.arange(size)).all()
    assert (turned == np.array([np.arange(2) + 2 * me + 100 * r for r in range(size)])).all()
    assert scattered is out and (out == np.arange(2) + 2 * me).all()


def test_hosts():
    team = job.split_hosts()
    assert all(team.is_near(r) for r in range(team.size)) and team.rank == job.host_rank
    team.free()
