# SPDX-License-Identifier: BSD-3-Clause
"""Arrays: local parts without a copy, puts and gets by index, strided shapes, conversions."""

import numpy as np
import pytest

import tombolo

job = tombolo.init()
me, size = job.rank, job.size
right, left = (me + 1) % size, (me - 1) % size


def test_job():
    assert 0 <= me < size
    assert tombolo.init() is job and tombolo.job() is job
    assert job.heap_bytes > 0 and 0 <= job.host_rank < size and 1 <= job.hosts <= size


def test_scalar_put_and_get():
    a = job.zeros(10)
    assert a.shape == (10,) and a.dtype == np.float64 and a.nbytes == 80 and len(a) == size
    assert not a.local.any()
    job.barrier()
    a[right, 3] = me + 0.5
    a[right, -1] = me
    job.barrier()
    assert a.local[3] == left + 0.5 and a.local[9] == left
    assert a[right, 3] == me + 0.5 and type(a[right, 3]) is float
    job.barrier()
    a.local[4] = 7  # the part is the memory, no copy
    job.barrier()
    assert a[right, 4] == 7
    a.free()


TYPES = ["i1", "u2", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", "?"]


@pytest.mark.parametrize("dtype", TYPES)
def test_types(dtype):
    a = job.zeros((2, 3), dtype)
    a[right, 1, 2] = 1
    a[right, 0, :] = np.array([1, 0, 1], dtype)
    job.barrier()
    assert a.local.dtype == np.dtype(dtype)
    assert (a.local == np.array([[1, 0, 1], [0, 0, 1]], dtype)).all()
    got = a[right, 1, 2]
    assert got == 1 and a[right].dtype == np.dtype(dtype)
    job.barrier()
    a.free()


def test_structured():
    kind = np.dtype([("x", "i4"), ("y", "f8")])
    a = job.zeros(4, kind)
    a[right, 1] = np.array((me, 2.5), kind)
    a[right, 2:4] = np.array([(1, 2.0), (3, 4.0)], kind)
    job.barrier()
    assert a.local[1]["x"] == left and a.local[1]["y"] == 2.5 and a.local[3]["y"] == 4.0
    assert a[right, 1]["x"] == me
    job.barrier()


def test_one_element_is_a_number():
    for dtype in np.float64, np.int64, np.uint64, np.float32, np.int8, np.complex128:
        a = job.array(np.arange(12).reshape(3, 4).astype(dtype))
        there = a[right, 1, 2]
        for got in (a.get(right, (1, 2)), a.get_nb(right, (1, 2)).wait()):
            assert got == 6 and type(got) is type(there), (dtype, got)
        future = a.get_nb(right, (2, 3))
        assert future.wait() == 11 and future.wait() == 11
        out = np.zeros((), dtype)
        assert a.get(right, (1, 2), out=out) is out and out == 6
        job.barrier()
    whole = job.array(np.array(5.0))  # without axes: the whole part is an array
    assert whole.get(right).shape == () and whole.get(right, ()) == 5.0
    job.barrier()


def test_every_index_is_as_numpy():
    rng = np.random.default_rng(1)
    model = rng.integers(0, 1000, (4, 5, 6))
    a = job.array(model)
    keys = [
        (0,), (-1,), (1, 2), (1, 2, 3), (-4, -5, -6), (slice(None),), (slice(1, 3),),
        (slice(None, None, 2), 3), (slice(None, None, -1),), (..., 2), (1, ..., 2),
        (slice(3, 0, -2), ...), (slice(2, 2),), (2, slice(-3, None), 5), (...,),
        (slice(0, 4), slice(4, 1, -1), slice(None, None, 3)),
    ]  # fmt: skip
    for key in keys:
        assert (np.asarray(a[(right, *key)]) == model[key]).all(), key
        assert np.shape(a.get(right, key)) == model[key].shape, key
        value = rng.integers(0, 1000, model[key].shape)
        job.barrier()
        a[(right, *key)] = value
        model[key] = value
        job.barrier()
        # every rank draws the same numbers, so the part is the model's
        assert (a.local == model).all(), key
        job.barrier()
    a.free()


def test_strided_sources_and_broadcast():
    a = job.zeros((6, 8), np.int32)
    source = np.arange(96, dtype=np.int32).reshape(12, 8)
    a[right] = source[::2]
    job.barrier()
    assert (a.local == source[::2]).all()
    job.barrier()
    a[right, :, ::2] = source[:6, ::-2]
    a[right, 1:3, 1::2] = 5  # one value for all
    a[right, 4, 1::2] = [1, 2, 3, 4]
    a[right, 0:6:5, 1] = np.array([[9], [8]], np.int32)[:, 0]
    job.barrier()
    want = source[::2].copy()
    want[:, ::2] = source[:6, ::-2]
    want[1:3, 1::2] = 5
    want[4, 1::2] = [1, 2, 3, 4]
    want[0:6:5, 1] = [9, 8]
    assert (a.local == want).all()
    assert (a[right, ::3, ::-1] == want[::3, ::-1]).all()
    job.barrier()
    a[right] = source[:1]  # a row for all rows
    job.barrier()
    assert (a.local == source[0]).all()
    out = np.empty((8, 6), np.int32)
    assert a.get(right, ..., out=out.T) is not None and (out.T == source[0]).all()
    job.barrier()
    a.free()


def test_converts():
    a = job.zeros(4, np.int64)
    a[right, 0] = np.int8(5)
    a[right, 1] = True
    a[right, 2:4] = np.array([1.0, 2.0], np.float32)
    job.barrier()
    assert a.local.tolist() == [5, 1, 1, 2]
    b = job.zeros(2, ">i4")
    b[right, :] = [1, 2]
    job.barrier()
    assert b.local.tolist() == [1, 2] and b[right, 1] == 2
    job.barrier()


def test_large():
    n = 300_000
    a = job.zeros(n)
    data = np.arange(n, dtype=float) + me
    a[right] = data
    a[right, ::2] = -data[::2]
    job.barrier()
    want = np.arange(n, dtype=float) + left
    want[::2] *= -1
    assert (a.local == want).all()
    assert (a[right] == np.where(np.arange(n) % 2, data, -data)).all()
    job.barrier()
    a.free()


def test_at():
    a = job.array(np.full(3, me))
    for rank in range(size):
        if job.is_near(rank):
            assert a.at(rank).tolist() == [rank] * 3
            assert a.at(rank).base is not None
        else:
            with pytest.raises(BufferError, match="another host"):
                a.at(rank)
    job.barrier()


def test_messages_name_what_is_wrong():
    a = job.zeros((2, 3))
    for key, kind, text in [
        ((size, 0, 0), IndexError, f"rank {size}; the team has ranks 0 to {size - 1}"),
        ((0, 2, 0), IndexError, "index 2 is out of bounds for axis 0 with size 2"),
        ((0, 0, 0, 0), IndexError, "too many indices: the array has 2 axes"),
        ((0, None), TypeError, "index None for axis 0"),
        ((0, ..., ...), IndexError, "only one ..."),
        ((), IndexError, "begins with the rank"),
        ((0, 1 << 80), IndexError, "cannot fit"),
        ("x", TypeError, f"rank is 'x'; give an integer from 0 to {size - 1}"),
    ]:
        with pytest.raises(kind, match=text.replace("...", r"\.\.\.")):
            a[key]
        with pytest.raises(kind):
            a[key] = 1
    with pytest.raises(ValueError, match=r"shape \(4,\) does not fit the index's shape \(3,\)"):
        a[0, 1] = np.zeros(4)
    with pytest.raises(ValueError, match="could not convert|float"):
        a[0, 1, 1] = "word"
    with pytest.raises(ValueError, match=r"out has shape \(4,\); give an array of shape \(3,\)"):
        a.get(0, 1, out=np.zeros(4))
    with pytest.raises(TypeError):
        del a[0, 1]
    with pytest.raises(TypeError, match="iterate over a.local"):
        list(a)
    with pytest.raises(TypeError, match="Python objects"):
        job.zeros(3, object)
    with pytest.raises(TypeError, match=r"share int64, whose parts a.local.view\('M8\[D\]'\)"):
        job.zeros(3, "M8[D]")
    b = job.zeros(3, np.int64)
    with pytest.raises(OverflowError):
        b[0, 0] = 1 << 70
    job.barrier()


def test_free_and_recycling():
    a = job.zeros(100)
    view = a.local
    with pytest.raises(BufferError, match="1 NumPy arrays show the memory"):
        a.free()
    del view
    a.free()
    assert a.freed
    for use in (lambda: a[0, 0], lambda: a.free(), lambda: a.get(0), lambda: a.local):
        with pytest.raises((ValueError, BufferError), match="freed"):
            use()
    # arrays that all ranks have dropped give their memory back when the heap is full
    third = job.heap_bytes // 3
    for _ in range(5):
        b = job.empty(third, np.uint8)
        b[right, 0] = 1
        job.barrier()
    with pytest.raises(MemoryError, match=f"no room for {3 * third} bytes in the heap of rank 0"):
        job.empty(3 * third, np.uint8)
    with pytest.raises(MemoryError, match="heap_bytes"):
        job.empty(job.heap_bytes + 1, np.uint8)
    del b
    # zeros are zero in memory that held other data
    c = job.empty(1000)
    c.local[...] = 1
    job.barrier()
    c.free()
    assert not job.zeros(2000).local.any()


def test_different_shapes_are_reported():
    if size == 1:
        return
    with pytest.raises(ValueError, match="give the same shape and dtype on all ranks"):
        job.zeros(10 + (me == 0))
    job.barrier()


@pytest.mark.parametrize("shape", [1 << 45, 1 << 62, 1 << 70, (1 << 40, 1 << 40)])
def test_more_than_the_heap(shape):
    """No size ends the process; all ranks get a MemoryError, and go on."""
    for make in (job.zeros, job.empty, job.dist):
        with pytest.raises(MemoryError, match="no room for .* bytes in the heap of rank 0"):
            make(shape)
    with pytest.raises(MemoryError):
        job.allgather(np.broadcast_to(np.zeros(1), (1 << 45,)))
    job.barrier()


def test_wrong_arguments_are_named():
    a, b, s = job.zeros(2), job.zeros(2, np.int64), job.signals(1)
    full, empty = job.semaphore(boolean=True), job.semaphore()
    for wrong, kind, text in [
        (lambda: b.add(0, 0, 2.5), TypeError, r"value is 2.5; atomics on .*int64.* take integers"),
        (lambda: b.store(0, 0, None), TypeError, "value is None"),
        (lambda: b.compare_swap(0, 0, 1, None), TypeError, "value is None"),
        (lambda: a.add(0, 0, "x"), TypeError, "value is 'x'; .* take numbers"),
        (lambda: a.atomic("xor", 0, 0, 1), TypeError, "atomics of integers, not of .*float64"),
        (lambda: a.fetch("and", [0], [0], 1), TypeError, "atomics of integers"),
        (lambda: s.wait(timeout="1"), TypeError, "timeout is '1'; give None, or seconds"),
        (lambda: s.wait(timeout=-0.5), ValueError, "timeout is -0.5; give None, or seconds"),
        (lambda: s.wait(value=-1), ValueError, "value is -1; give an integer of 64 bits"),
        (lambda: s.consume(n="x"), TypeError, "n is 'x'"),
        (lambda: s.signal(0, add=-1), ValueError, "the change of a signal is -1"),
        (lambda: empty.wait(timeout=-1), ValueError, "timeout is -1"),
        (lambda: empty.post(-1), ValueError, "n is -1; give an integer of 64 bits from 1"),
        (lambda: full.wait(2), ValueError, "n is 2; a boolean semaphore"),
        (lambda: full.try_wait(2), ValueError, "n is 2; a boolean semaphore"),
        (lambda: job.notification(tag=9999).wait(timeout=-1), ValueError, "timeout is -1"),
        (lambda: job.notification(count=0), ValueError, "count is 0; give a number from 1"),
        (lambda: job.notification(tag=-5), ValueError, "tag is -5; give None, or a number"),
        (lambda: job.split("red"), TypeError, "color is 'red', key 0; give integers"),
        (lambda: job.split(1 << 40), ValueError, "color is 1099511627776, key 0"),
        (lambda: job.send(0, 5), TypeError, "function is 5; give a function"),
        (lambda: job.call(0, "f"), TypeError, "function is 'f'; give a function"),
        (lambda: job.zeros("a"), TypeError, "shape is 'a'; give an integer or a tuple"),
        (lambda: job.zeros((2, 1.5)), TypeError, r"shape is \(2, 1.5\); give an integer"),
        (lambda: job.scatter(np.zeros((size, 1)), None), TypeError, "scatter: out is None; give"),
        (lambda: job.allgather(1.0, out=3), TypeError, "out is 3; give an array of shape"),
        (lambda: job.poll("a"), TypeError, "seconds is 'a'; give a number"),
        (lambda: job.exit("x"), TypeError, "code is 'x'; give an integer"),
        (lambda: a.get(0, out=np.zeros(2, "f4")), ValueError, "out has type .*float32.*; give"),
    ]:
        with pytest.raises(kind, match=text):
            wrong()
    with pytest.raises(TypeError, match="name is 5; give a string"), job.trace(5):
        pass
    b.atomic("inc", 0, 0)  # needs no value
    job.barrier()
    assert b.load(0, 0) == size
