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
    with pytest.raises((TypeError, RuntimeError), match="grad"):
        job.allreduce(torch.ones(2, requires_grad=True))
    job.barrier()
