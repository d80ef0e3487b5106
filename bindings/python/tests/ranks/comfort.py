# SPDX-License-Identifier: BSD-3-Clause
"""Contexts, callbacks, executors, sent values, distributed arrays, and types of collectives."""

import asyncio
import gc
import sys
import time
import warnings

import numpy as np
import pytest

import tombolo

job = tombolo.init()
me, size = job.rank, job.size
right, left = (me + 1) % size, (me - 1) % size


def double(x):
    return 2 * x


def who():
    return job.rank


def slow(x):
    time.sleep(0.01)
    return x * x


def fail():
    raise KeyError("no")


def test_contexts():
    with tombolo.init() as same, same.trace("region"):
        assert same is job
    with job.split(me % 2, -me) as team:
        assert team.call(0, who).wait() == team.job_rank(0)
        for r in range(team.size):
            team.send_object(r, (me, r))
        got = sorted(team.recv_message() for _ in range(team.size))
        assert [m.source for m in got] == list(range(team.size))
        assert [m.value for m in got] == [(team.job_rank(m.source), team.rank) for m in got]
        team.barrier()
    with pytest.raises(KeyError), job:
        raise KeyError
    job.barrier()


def test_lambdas_travel_with_cloudpickle():
    k = 5
    try:
        import cloudpickle  # noqa: F401
    except ModuleNotFoundError:
        with pytest.raises(TypeError, match="only if the package cloudpickle is installed"):
            job.call(right, lambda x: x + k, 2)
    else:
        assert job.call(right, lambda x: x + k, 2).wait() == 7
    hidden, sys.modules["cloudpickle"] = sys.modules.get("cloudpickle"), None
    with pytest.raises(TypeError, match="lambda.*cloudpickle"):
        job.send(right, lambda: 1)
    del sys.modules["cloudpickle"]
    if hidden is not None:
        sys.modules["cloudpickle"] = hidden
    job.barrier()


def test_callbacks_and_as_completed():
    seen = []
    call = job.call(right, double, 4)
    call.add_done_callback(lambda future: seen.append(future.wait()))
    assert call.wait() == 8
    a = job.zeros(3)
    for _ in range(3):
        put = a.put_nb(right, 0, 1)
        put.add_done_callback(seen.append)
        put.wait()
    assert seen[0] == 8 and len(seen) == 4 and seen[3] is put
    with pytest.raises(TypeError, match="cannot be called"):
        put.add_done_callback(3)
    calls = [job.call(r, double, r) for r in range(size)]
    assert sorted(c.wait() for c in tombolo.as_completed(calls)) == [2 * r for r in range(size)]
    never = tombolo.Future()
    with pytest.raises(TimeoutError, match="1 futures are not complete"):
        list(tombolo.as_completed([never], 0.02))
    never._abandon()
    assert str(tombolo.Future[int]).endswith("Future[int]")
    job.barrier()


def test_executor():
    for root in range(min(size, 2)):
        with job.executor(root) as pool:
            assert (pool is not None) == (me == root)
            if pool is not None:
                assert list(pool.map(slow, range(20))) == [i * i for i in range(20)]
                ranks = {pool.submit(who).result() for _ in range(3)}
                assert size == 1 or root not in ranks
                with pytest.raises(KeyError):
                    pool.submit(fail).result()
        if pool is not None:
            with pytest.raises(RuntimeError, match="shut down"):
                pool.submit(who)
    job.barrier()


def test_values_by_tag():
    data = np.arange(1000) + me
    job.send_object(right, "second", tag=2)
    job.send_object(right, data, tag=1)
    assert (job.recv_object(left, 1) == np.arange(1000) + left).all()
    assert job.recv_message(tag=2) == (left, 2, "second")
    with pytest.raises(TimeoutError, match="no value has come after .* tag 3, rank None"):
        job.recv_object(tag=3, timeout=0.01)
    job.barrier()


def test_cancelled_task_is_not_forgotten():
    if size == 1:
        return  # a barrier of one is complete at once

    async def main():
        task = asyncio.ensure_future(wait_for_barrier())
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def wait_for_barrier():
        await job.barrier_nb()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if me == 0:
            asyncio.run(main())
            gc.collect()
        else:
            time.sleep(0.05)
            job.barrier()
    job.barrier()


def test_arrays_say_what_they_are():
    a = job.zeros((2, 3))
    assert (a.ndim, a.size, a.nbytes, a.T.shape) == (2, 6, 48, (3, 2))
    assert repr(a) == f"<tombolo.Array: rank {me} of {size}, shape (2, 3), float64>"
    assert str(a).endswith("[[0. 0. 0.]\n [0. 0. 0.]]")
    with pytest.raises(ValueError, match="op is 'foo'; give one of add sub"):
        a.fetch("foo", 0, (0, 0))
    a.free()
    if size > 1:
        with pytest.raises(ValueError, match="bytes of (int16|float16).*of (int16|float16)"):
            job.zeros(3, "i2" if me else "f2")


@pytest.mark.parametrize("dtype", ["f2", "m8[s]", "M8[s]", "?", "c16", ">i4"])
def test_types_of_collectives(dtype):
    kind = np.dtype(dtype)
    mine = np.array([me, size - me]).astype(kind)
    whole = job.allgather(mine)
    assert whole.dtype == kind and (whole[:, 0] == np.arange(size).astype(kind)).all()
    if kind.kind not in "c":
        assert (job.allreduce(mine, "max") == whole.max(axis=0)).all()
    if kind.kind not in "Mb":
        got = job.allreduce(mine, "sum")
        assert got.dtype == kind and (got == whole.sum(axis=0).astype(kind)).all()
    if kind.kind == "M":
        with pytest.raises(TypeError, match="op 'sum' is not defined for dtype datetime64"):
            job.allreduce(mine)
    job.barrier()


def test_structured_types():
    kind = np.dtype([("key", "f8"), ("rank", "i4")])

    def least(x, y):
        return np.where(x["key"] <= y["key"], x, y)

    mine = np.array([((me - 1) ** 2, me)], kind)
    found = job.allreduce(mine, least)
    assert found["rank"][0] == min(1, size - 1)
    with pytest.raises(TypeError, match="not defined for dtype"):
        job.allreduce(mine, "min")
    job.barrier()


@pytest.mark.parametrize("rows", [3, 7, 16])
def test_distributed_array(rows):
    whole = np.arange(rows * 4.0).reshape(rows, 4)
    d = job.dist((rows, 4), halo=1 if rows >= size else 0)
    d.fill(whole)
    job.barrier()
    assert [d.owner(i) for i in d.rows] == [me] * len(d.rows)
    keys = [slice(None), slice(None, None, -1), slice(1, -1, 2), slice(5, 0, -2), slice(2, 2), 1]
    for key in [*keys, -1, (slice(0, 3), 2), (0, slice(1, 3)), ..., (..., 1), (2, 3)]:
        assert np.array_equal(d[key], whole[key]), key
    assert (d.sum(), d.min(), d.max()) == (whole.sum(), whole.min(), whole.max())
    assert d.mean() == pytest.approx(whole.mean())
    assert np.array_equal(d.reduce("sum", 0), whole.sum(axis=0))
    assert (d.gather(0) is None) == (me != 0) and np.array_equal(d.gather(None), whole)
    if d.halo:
        d.exchange_halo()
        begin, end = max(d.rows.start - 1, 0), min(d.rows.stop + 1, rows)
        skip = d.rows.start == 0
        assert np.array_equal(d.with_halo[skip : skip + end - begin], whole[begin:end])
        d.exchange_halo(periodic=True)
        assert np.array_equal(d.with_halo[0], whole[d.rows.start - 1])
        assert np.array_equal(d.with_halo[-1], whole[d.rows.stop % rows])
    job.barrier()
    if me == 0:
        d[::-2] = -whole[::-2]
        d[1, 2] = 99
    job.barrier()
    whole[::-2] = -whole[::-2]
    whole[1, 2] = 99
    assert np.array_equal(d.local, whole[d.rows.start : d.rows.stop])
    d.free()
