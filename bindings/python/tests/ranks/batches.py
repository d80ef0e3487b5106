# SPDX-License-Identifier: BSD-3-Clause
"""Lists, arrays and masks as indices of puts, gets and atomics."""

import numpy as np
import pytest

import tombolo

job = tombolo.init()
me, size = job.rank, job.size
right, left = (me + 1) % size, (me - 1) % size
KEYS = [
    [3, 1, 1],
    np.array([[0, 2], [-1, 3]]),
    (slice(1, 3), [0, 2]),
    ([0, 1], [3, 2]),
    (np.arange(4)[:, None], [1, 0]),
    np.eye(4, 5, dtype=bool),
    (..., [4, 0]),
    np.array([], int),
]


@pytest.mark.parametrize("key", KEYS)
def test_get_and_put_as_numpy(key):
    want = np.arange(20.0).reshape(4, 5)
    a = job.array(want + 100 * me)
    got = a[(right, *key)] if isinstance(key, tuple) else a[right, key]
    assert got.shape == want[key].shape and (got == want[key] + 100 * right).all()
    out = np.zeros((2, *got.shape))[0]
    assert a.get(right, key, out) is out and (out == got).all()
    assert (a.get_nb(right, key).wait() == got).all()
    job.barrier()
    want[key] = 7 + np.arange(want[key].size).reshape(want[key].shape)
    a.put(right, key, want[key] + 100 * me)
    job.barrier()
    assert (a.local[key] == want[key] + 100 * left).all()
    job.barrier()
    if isinstance(key, list):
        a[right, key] = -1
        job.barrier()
        assert (a.local[key] == -1).all()
    a.free()


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8", "f4", "f8"])
def test_add_many(dtype):
    a = job.zeros(50, dtype)
    rng = np.random.default_rng(me)
    where, ranks = rng.integers(0, 50, 300), rng.integers(0, size, 300)
    values = rng.integers(1, 9, 300).astype(dtype)
    a.add(ranks, where, values)
    job.barrier()
    want = np.zeros((size, 50), dtype)
    np.add.at(want, (ranks, where), values)
    assert (a.local == job.allreduce(want)[me]).all()
    job.barrier()
    a.free()


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8", "f8"])
def test_histogram(dtype):
    """Many samples in few elements; sums wrap around as those of the type do."""
    a = job.zeros((2, 8), dtype)
    rng = np.random.default_rng(me)
    where, ranks = rng.integers(0, 8, 5000), rng.integers(0, size, 5000)
    big = 2 if dtype == "f8" else np.iinfo(dtype).max // 3
    values = (rng.integers(-1 if dtype[0] != "u" else 0, 2, 5000) * big).astype(dtype)
    want = np.zeros((size, 2, 8), dtype)
    a.add(ranks, (1, where), values)  # a rank, a place and a value for each
    np.add.at(want, (ranks, 1, where), values)
    a.add(right, (0, where), 1)  # one rank and one value for all
    np.add.at(want, (right, 0, where), one := np.ones((), dtype))
    a.add(ranks, (0, 3), one)  # one place for all
    np.add.at(want, (ranks, 0, 3), one)
    job.barrier()
    assert (a.local == job.allgather(want).sum(axis=0, dtype=dtype)[me]).all()
    if dtype != "f8":
        with pytest.raises(OverflowError, match="does not fit the array's type, u?int"):
            a.add(right, (0, where), 1 << 70)
    with pytest.raises(IndexError, match="element 8 of rank|index .* is out of bounds"):
        a.add(right, (0, np.append(where, 8)), 1)
    with pytest.raises(IndexError, match=f"of rank {size}: parts have 16 elements"):
        a.add(np.append(ranks, size), (0, 0), 1)
    job.barrier()
    a.free()


def test_fetch_many():
    a = job.zeros((3, 100), np.int64)
    tickets = a.fetch_add(0, (1, np.zeros(40, int)), 1)
    assert tickets.shape == (40,) and tickets.dtype == np.int64
    assert sorted(job.allgather(tickets).ravel()) == list(range(40 * size))
    job.barrier()
    a.store(right, (2, slice(0, 10)), np.arange(10) + me)
    job.barrier()
    assert a.local[2, :10].tolist() == [left + i for i in range(10)]
    assert a.load(right, (2, [1, 0])).tolist() == [me + 1, me]
    job.barrier()
    assert a.compare_swap(me, (2, [0, 1]), [left, -5], 50).tolist() == [left, left + 1]
    assert a.local[2, :2].tolist() == [50, left + 1]
    job.barrier()
    assert a.swap(me, None, 3).shape == (3, 100) and (a.local == 3).all()
    assert (a.fetch("inc", me, [[0], [2]]) == 3).all() and a.local[1, 0] == 3
    job.barrier()
    a.free()


def test_refusals():
    a, b = job.zeros(5, np.int64), job.zeros(2, np.int16)
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 5"):
        a[right, [0, 5]]
    with pytest.raises(IndexError, match="index -6 is out of bounds"):
        a.add(right, [-6], 1)
    with pytest.raises(IndexError, match="element 0 of rank"):
        a.add([size], [0], 1)
    with pytest.raises(IndexError, match="give integers from 0 to"):
        a.add([0.5], [0], 1)
    with pytest.raises((IndexError, TypeError)):
        a[right, [0.5]]
    with pytest.raises(ValueError, match="broadcast|shape"):
        a.put(right, [0, 1], [1, 2, 3])
    with pytest.raises(ValueError, match="broadcast|shape"):
        a.add(right, [0, 1], [1, 2, 3])
    with pytest.raises(TypeError, match="float64 for atomics on int64"):
        a.add(right, [0, 1], 1.5)
    with pytest.raises(TypeError, match="no atomics on"):
        b.add(right, [0, 1], 1)
    job.barrier()
    a.free()
    b.free()
