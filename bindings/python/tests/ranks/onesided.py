# SPDX-License-Identifier: BSD-3-Clause
"""Atomics, signals, futures of puts and gets, asyncio, and what is reported about futures."""

import asyncio
import gc
import warnings

import numpy as np
import pytest

import tombolo

job = tombolo.init()
me, size = job.rank, job.size
right, left = (me + 1) % size, (me - 1) % size


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8", "f4", "f8"])
def test_atomics(dtype):
    a = job.zeros(8, dtype)
    for _ in range(10):
        a.add(0, 0, 2)
        a.fetch_add(0, 1, 1)
        a.atomic("inc", 0, 2)
    a.atomic("max", 0, 3, me)
    job.barrier()
    assert [a.load(0, i) for i in range(4)] == [20 * size, 10 * size, 10 * size, size - 1]
    job.barrier()
    a.store(right, 4, 5)
    assert a.swap(right, 4, 6) == 5 and a.compare_swap(right, 4, 0, 9) == 6
    assert a.compare_swap(right, 4, 6, 7) == 6 and a.load(right, 4) == 7
    assert a.fetch("sub", right, 4, 3) == 7 and a.fetch("mult", right, 4, 2) == 4
    assert a.fetch("min", right, 4, 1) == 8 and a.local.dtype == np.dtype(dtype)
    if dtype[0] != "f":
        a.store(right, 5, 12)
        a.atomic("and", right, 5, 6)
        a.atomic("or", right, 5, 1)
        assert a.fetch("xor", right, 5, 3) == 5 and a.load(right, 5) == 6
    job.barrier()
    a.free()


def test_tickets():
    a = job.zeros(1, np.int64)
    mine = [a.fetch_add(0, 0, 1) for _ in range(50)]
    everyone = job.allgather(np.array(mine)).ravel()
    assert sorted(everyone) == list(range(50 * size))
    a.free()


def test_atomic_errors():
    a, b = job.zeros(2, np.int16), job.zeros(2, np.int32)
    with pytest.raises(TypeError, match="no atomics on dtype.'int16'"):
        a.add(0, 0, 1)
    with pytest.raises(OverflowError, match="32 bits"):
        b.add(0, 0, 1 << 40)
    with pytest.raises(ValueError, match="op is 'nand'; give one of"):
        b.atomic("nand", 0, 0, 1)
    job.barrier()


def test_put_signal_pipeline():
    a = job.zeros((4, 100))
    s, room = job.signals(4), job.signals(1)
    room.signal(left, add=4)
    for turn in range(12):
        slot = turn % 4
        room.consume()
        a.put_signal(right, slot, np.full(100, turn + me), s, slot)
        s.consume(slot)
        assert (a.local[slot] == turn + left).all()
        room.signal(left)
    job.barrier()


def test_signal_forms():
    a, s = job.zeros((3, 4)), job.signals(3)
    a.put_signal(right, (slice(None), 1), [1, 2, 3], s, 0, set=9)  # strided
    assert s.wait(0, "==", 9) == 9 and a.local[:, 1].tolist() == [1, 2, 3]
    assert s.wait(0, ">", 8) == 9 and s.wait(1, "==", 0) == 0 and s.wait(0, "!=", 1) == 9
    s.local[0] = 0
    job.barrier()
    s.signal(right, 2, add=5)
    assert s.wait_some() == (2, 5) and s.local[2] == 0
    with pytest.raises(TimeoutError, match="no signal within 0.01 s"):
        s.wait(1, timeout=0.01)
    with pytest.raises(TimeoutError):
        s.wait_some(timeout=0)
    with pytest.raises(ValueError, match="compare is '=>'"):
        s.wait(0, "=>", 1)
    with pytest.raises(TypeError, match="not both"):
        a.put_signal(right, 0, 1, s, add=1, set=1)
    with pytest.raises(TypeError, match="signals must come from"):
        a.put_signal(right, 0, 1, a)
    job.barrier()


def test_futures():
    a = job.zeros((2, 50_000))
    data = np.arange(50_000) + 0.5 + me
    puts = [a.put_nb(right, 0, data), a.put_nb(right, (1, slice(None, None, 2)), data[::2])]
    assert all(f.wait() is None for f in puts) and all(f.done() for f in puts)
    job.barrier()
    assert (a.local[0] == data - me + left).all() and not a.local[1, 1::2].any()
    gets = [a.get_nb(right, 0), a.get_nb(right, (1, slice(None, None, 2)))]
    while not gets[0].done():
        pass
    assert (gets[0].wait() == data).all() and (gets[1].wait(timeout=30) == data[::2]).all()
    assert "get, complete" in repr(gets[0])
    with pytest.raises(ValueError, match="give None, or seconds from 0"):
        gets[0].wait(-1)
    job.barrier()
    a.free()


def test_await():
    a = job.array(np.full(1000, float(me)))
    seen = []

    async def other():
        for i in range(5):
            seen.append(i)
            await asyncio.sleep(0)

    async def main():
        task = asyncio.create_task(other())
        got = await asyncio.gather(*(fetch(r) for r in range(size)))
        total = await job.allreduce_nb(np.array([1.0]))
        await job.barrier_nb()
        await task
        return got, total

    async def fetch(rank):
        return await a.get_nb(rank)

    got, total = asyncio.run(main())
    assert [g[999] for g in got] == list(range(size)) and total[0] == size and len(seen) == 5
    asyncio.run(main())  # a second event loop
    job.barrier()
    a.free()


def test_forgotten_futures_are_reported():
    a = job.zeros(10)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        a.put_nb(right, 0, 1.0)
        gc.collect()
        line = caught[0]
        assert len(caught) == 1 and issubclass(line.category, tombolo.ForgottenWait)
        assert "a put, which" in str(line.message) and "onesided" in line.filename
        a.put_nb(right, 0, 1.0).wait()
        future = a.get_nb(right)
        assert job.quiet() >= 1
        del future
        a[right, 0] = 2.0
        a.get(right)
        assert len(caught) == 1
    job.barrier()
    a.free()


def test_dropped_futures_keep_their_memory():
    a = job.zeros(100_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tombolo.ForgottenWait)
        for turn in range(20):
            a.put_nb(right, ..., np.full(100_000, float(turn)))  # the source is nobody's
            a.get_nb(right)
    job.barrier()
    a.put(right, ..., 1.0)
    job.barrier()
    assert a.local[0] == 1 and a.local[-1] == 1
    job.barrier()
    a.free()
