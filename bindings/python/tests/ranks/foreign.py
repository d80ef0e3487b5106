# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of other libraries: PyTorch where it is installed, and stand-ins for arrays of a device.

The stand-ins keep their elements where only their own methods reach them, as CuPy and PyTorch do
with those of a device, so that what this checks is which methods are called, and what comes back.
"""

import importlib.util
import sys
import types

import numpy as np
import pytest

import tombolo

job = tombolo.init()
me, size = job.rank, job.size
right, left = (me + 1) % size, (me - 1) % size


class Place:
    """A device of the stand-in for CuPy, as a context."""

    current = None

    def __enter__(self):
        Place.current = self

    def __exit__(self, *unused):
        Place.current = None


class LikeCuPy:
    """What CuPy's arrays offer: get, set, device; no conversion by NumPy."""

    def __init__(self, elements, device):
        self._elements = np.array(elements)
        self.device = device

    def __dlpack_device__(self):
        return (2, 0)

    def __array__(self, *unused):
        raise TypeError("implicit conversion to a NumPy array is not allowed")

    def get(self):
        return self._elements.copy()

    def set(self, elements):
        assert elements.shape == self._elements.shape and elements.dtype == self._elements.dtype
        self._elements[...] = elements


LikeCuPy.__module__ = "like_cupy"
sys.modules["like_cupy"] = types.SimpleNamespace(
    asarray=lambda elements: LikeCuPy(elements, Place.current)
)


class LikeTorch:
    """Arrays in host memory, with DLPack and without the buffer protocol."""

    def __init__(self, elements):
        self.elements = elements

    def __dlpack_device__(self):
        return self.elements.__dlpack_device__()

    def __dlpack__(self, **options):
        return self.elements.__dlpack__(**options)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.elements, dtype)


LikeTorch.__module__ = "like_torch"
sys.modules["like_torch"] = types.SimpleNamespace(
    from_dlpack=lambda elements: LikeTorch(np.from_dlpack(elements))
)


def test_host_arrays():
    x = LikeTorch(np.arange(6.0).reshape(2, 3) + me)
    total = job.scan(x)
    assert type(total) is LikeTorch
    assert (total.elements == (me + 1) * np.arange(6.0).reshape(2, 3) + sum(range(me + 1))).all()
    out = LikeTorch(np.zeros((2, 3)))
    assert job.reduce(x, "max", 0, out) is out and (me or out.elements[1, 2] == 5.0 + size - 1)
    rows = job.alltoall(LikeTorch(np.full((size, 2), me)))
    assert (rows.elements[:, 0] == np.arange(size)).all()
    data = LikeTorch(np.full(2, me))
    assert job.bcast(data, 0) is data and not data.elements.any()
    a = job.zeros((2, 3))
    a[right] = x
    job.barrier()
    assert a.get(right, out=out) is out and (out.elements == x.elements).all()
    job.barrier()


def test_host_arrays_without_waiting():
    x = LikeTorch(np.arange(6.0).reshape(2, 3) + me)
    total = job.allreduce_nb(x).wait()
    assert type(total) is LikeTorch
    assert (total.elements == size * np.arange(6.0).reshape(2, 3) + sum(range(size))).all()
    out = LikeTorch(np.zeros((2, 3)))
    assert job.scan_nb(x, "max", out).wait() is out and (out.elements == x.elements).all()
    below = job.exscan_nb(x, "max").wait()
    assert (below.elements == (x.elements - 1 if me else 0)).all()
    rows = job.alltoall_nb(LikeTorch(np.full((size, 2), me))).wait()
    assert (rows.elements[:, 1] == np.arange(size)).all()
    assert (job.allgather_nb(x).wait().elements[left] == x.elements - me + left).all()
    row = job.reduce_scatter_nb(LikeTorch(np.ones((size, 2)))).wait()
    assert row.elements.tolist() == [size] * 2
    root = size - 1
    got = job.gather_nb(x, root).wait()
    assert got is None if me != root else type(got) is LikeTorch
    part = LikeTorch(np.zeros(2))
    table = LikeTorch(np.arange(2.0 * size).reshape(size, 2)) if me == root else None
    assert job.scatter_nb(table, part, root).wait() is part
    assert part.elements.tolist() == [2 * me, 2 * me + 1]
    data = LikeTorch(np.full(2, me))
    assert job.bcast_nb(data, root).wait() is data and (data.elements == root).all()
    with pytest.raises(ValueError, match=r"out has .*; give \(2, 3\)"):
        job.allreduce_nb(x, out=part)


def test_host_arrays_of_different_lengths():
    mine = LikeTorch(np.full((me + 1, 2), me))
    for got in job.allgatherv(mine), job.gatherv(mine, 0):
        for rank, part in enumerate(got or []):
            assert type(part) is LikeTorch and (part.elements == np.full((rank + 1, 2), rank)).all()
    got = job.alltoallv([LikeTorch(np.full(r, me)) for r in range(size)])
    assert [part.elements.tolist() for part in got] == [[r] * me for r in range(size)]


def test_host_arrays_in_puts_and_gets():
    a, x = job.array(LikeTorch(np.arange(6.0).reshape(2, 3))), LikeTorch(np.full((2, 3), 9.0 + me))
    out = LikeTorch(np.zeros((2, 3)))
    assert a.get_nb(right, out=out).wait() is out and (out.elements == a.local).all()
    job.barrier()
    a.put_nb(right, (slice(None), slice(None, None, -1)), x).wait()
    job.barrier()
    assert (a.local == 9 + left).all()
    few = LikeTorch(np.zeros(2))
    assert a.get(right, (1, [0, 2]), few) is few and few.elements.tolist() == [9 + me] * 2
    job.barrier()
    a[right, 0, [2, 0]] = LikeTorch(np.array([1.0, 2.0]))
    a.add(right, (1, [0, 1]), LikeTorch(np.array([1.0, 2.0])))
    job.barrier()
    assert a.local.tolist() == [[2, 9 + left, 1], [10 + left, 11 + left, 9 + left]]
    d = job.dist(2 * size)
    d[2 * right : 2 * right + 2] = few
    job.barrier()
    assert d.local.tolist() == [9 + left] * 2
    d.fill(LikeTorch(np.arange(2.0 * size)))
    assert d.local.tolist() == [2 * me, 2 * me + 1]
    job.barrier()
    d.free()
    a.free()


def test_device_arrays_wait():
    """A call that does not wait cannot copy its result to a device later."""
    x = LikeCuPy(np.arange(4.0), Place())
    a = job.zeros(4)
    for call in (
        lambda: job.allreduce_nb(x),
        lambda: job.bcast_nb(x),
        lambda: job.allgather_nb(np.zeros(4), out=x),
        lambda: a.get_nb(right, out=x),
    ):
        with pytest.raises(TypeError, match="LikeCuPy on a device: .* use the call that wait"):
            call()
    part = np.zeros(4)
    table = LikeCuPy(np.arange(4.0 * size).reshape(size, 4), x.device) if me == 0 else None
    assert job.scatter(table, part) is part and (part == np.arange(4.0) + 4 * me).all()
    a.put_nb(right, None, x).wait()
    job.barrier()
    assert a.local.tolist() == [0, 1, 2, 3]
    job.barrier()


def test_device_arrays_in_collectives():
    place = Place()
    x = LikeCuPy(np.arange(4.0) + me, place)
    total = job.allreduce(x)
    assert type(total) is LikeCuPy and total.device is place
    assert (total.get() == size * np.arange(4.0) + sum(range(size))).all()
    rows = job.allgather(x)
    assert rows.get().shape == (size, 4) and (rows.get()[left] == np.arange(4.0) + left).all()
    out = LikeCuPy(np.zeros(4), place)
    assert job.allreduce(x, "max", out=out) is out
    assert (out.get() == np.arange(4.0) + size - 1).all()
    data = LikeCuPy(np.full(3, me), place)
    assert job.bcast(data, size - 1) is data and (data.get() == size - 1).all()
    got = job.gather(x, 0)
    assert (got is None) == (me != 0)


def test_device_arrays_in_puts():
    a = job.zeros(4)
    a[right, 1:3] = LikeCuPy([5.0, 6.0], Place())
    job.barrier()
    assert a.local.tolist() == [0, 5, 6, 0]
    job.barrier()


def test_unknown_device_arrays():
    class Other:
        def __dlpack_device__(self):
            return (7, 0)

    with pytest.raises(TypeError, match="Other on a device: copy it to the host first"):
        job.allreduce(Other())


def test_torch():
    if importlib.util.find_spec("torch") is None:
        return
    import torch

    x = torch.arange(6, dtype=torch.float32).reshape(2, 3) + me
    total = job.allreduce(x)
    assert isinstance(total, torch.Tensor) and total.dtype == torch.float32
    assert torch.equal(total, size * torch.arange(6).reshape(2, 3) + float(sum(range(size))))
    out = torch.empty(2, 3)
    assert job.allreduce(x, out=out) is out and torch.equal(out, total)
    data = torch.full((3,), float(me))
    assert job.bcast(data, 0) is data and data.tolist() == [0, 0, 0]
    assert job.allgather(torch.tensor([me])).tolist() == [[r] for r in range(size)]
    a = job.zeros((2, 3), np.float32)
    a[right] = x
    job.barrier()
    assert torch.equal(torch.from_numpy(a.local), x - me + left)  # torch on the memory itself
    assert a.get(right, out=out) is out and torch.equal(out, x)
    job.barrier()
    a.put_nb(right, (slice(None), slice(0, 2)), x.T[1:].T + 1).wait()  # a tensor with strides
    job.barrier()
    assert a.get_nb(me, out=out).wait() is out and torch.equal(out[:, :2], x[:, 1:] - me + left + 1)
    wide = torch.zeros(4, 6)
    a.get(me, out=wide[1:3, ::2])  # into one with strides
    assert torch.equal(wide[1:3, ::2], out)
    future = job.allreduce_nb(x, out=out)
    assert future.wait() is out and torch.equal(out, total)
    assert torch.equal(job.allreduce_nb(x).wait(), total)
    assert job.reduce(torch.tensor([True, me > 0]), "min", 0) is None or me == 0
    assert [len(t) for t in job.allgatherv(torch.zeros(me))] == list(range(size))
    swapped = job.alltoallv([torch.full((2,), me) for _ in range(size)])
    assert torch.equal(torch.stack(swapped)[:, 0], torch.arange(size))
    part = torch.zeros(2, dtype=torch.int64)
    whole = torch.arange(2 * size).reshape(size, 2) if me == 0 else None
    assert job.scatter(whole, part) is part and part.tolist() == [2 * me, 2 * me + 1]
    half = job.allreduce(torch.full((3,), 0.5, dtype=torch.float16), "max")
    assert half.dtype == torch.float16 and half.tolist() == [0.5] * 3
    sent = job.bcast_object({"weights": x} if me == 0 else None)["weights"]
    assert torch.equal(sent, x - me)
    for bad in torch.ones(2, requires_grad=True), torch.ones(2, dtype=torch.bfloat16):
        with pytest.raises(TypeError, match="Tensor: .*(grad|BFloat16).*give a view or a copy"):
            job.allreduce(bad)
    job.barrier()
