# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in memory of devices. The devices are simulated (tests/plugin/mk_sim.c): any access but
copies of the plug-in ends the process, so what passes here has touched device memory in no other
way. Rank r uses device r % 2 + 1."""

import ctypes
import os

import numpy as np
import pytest

import tombolo
from tombolo import _core

job = tombolo.init()
me, size = job.rank, job.size
right, left = (me + 1) % size, (me - 1) % size
mine, wrong = me % 2 + 1, 99
gpu = job.device(mine, 1 << 20)


class Plugin(ctypes.Structure):
    """The first fields of struct gexx_mk_plugin (tombolo/mk_plugin.h)."""

    _pointers = ["name", "open", "close", "alloc", "free", "query", "copy_in", "copy_out", "copy"]
    _fields_ = [("version", ctypes.c_uint32), *((name, ctypes.c_void_p) for name in _pointers)]


class Library:
    """A library with arrays on the device, as CuPy: it allocates, and knows DLPack."""

    entry = ctypes.CDLL(os.environ["TOMBOLO_TEST_MK_PLUGIN"]).gexx_mk_plugin
    entry.restype = ctypes.POINTER(Plugin)
    plugin = entry().contents
    types = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    copy_in = ctypes.CFUNCTYPE(ctypes.c_int, *types)(plugin.copy_in)
    copy_out = ctypes.CFUNCTYPE(ctypes.c_int, *types)(plugin.copy_out)
    pointer = ctypes.POINTER(ctypes.c_void_p)
    alloc = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, pointer)(plugin.alloc)
    device = ctypes.c_void_p()
    args = (ctypes.c_uint64 * 8)(0, 1, mine)  # gex_MK_Create_args_t: flags, class, ordinal
    open_types = [ctypes.c_void_p, ctypes.c_uint32, pointer]
    assert ctypes.CFUNCTYPE(ctypes.c_int, *open_types)(plugin.open)(args, 0, device) == 0


class LikeCuPy:
    """An array of that library: of new memory, or of what another one offers."""

    def __init__(self, elements=None, dlpack=None, capsule=None):
        if capsule is not None:
            address, self.shape, self.strides, *_ = _core.undlpack(capsule)
            self.address, self.dtype, self.holds = address, dlpack, capsule
            return
        data = np.ascontiguousarray(elements)
        address = ctypes.c_void_p()
        assert Library.alloc(Library.device, data.nbytes, address) == 0
        assert Library.copy_in(Library.device, address, data.ctypes.data, data.nbytes) == 0
        self.shape, self.dtype, self.address = data.shape, data.dtype, address.value
        self.strides = [stride // data.itemsize for stride in data.strides]

    def __dlpack_device__(self):
        return (2, mine)

    def __dlpack__(self, stream=None):
        assert stream == -1
        bits = self.dtype.itemsize * 8
        return _core.dlpack(
            self, self.address, self.shape, self.strides, 2, bits, 2, mine, False
        )

    def get(self):
        data = np.empty(self.shape, self.dtype)
        assert Library.copy_out(Library.device, data.ctypes.data, self.address, data.nbytes) == 0
        return data

    def set(self, data):
        data = np.ascontiguousarray(data, self.dtype)
        assert Library.copy_in(Library.device, self.address, data.ctypes.data, data.nbytes) == 0


def test_put_and_get():
    d = gpu.zeros((4, 3))
    assert d.get(right).tolist() == np.zeros((4, 3)).tolist()
    job.barrier()
    d[right, 1] = [1.0, 2.0, 3.0]
    d[right, 2:, 1] = 7.5 + me
    d[right, 0, 0] = 4
    job.barrier()
    want = [[4, 0, 0], [1, 2, 3], [0, 7.5 + left, 0], [0, 7.5 + left, 0]]
    assert d.get(me).tolist() == want and d[me, 1, 2] == 3.0
    assert d[left, 1:3, ::2].tolist() == [[1, 3], [0, 0]]
    future = d.get_nb(me, (slice(None), 1))
    assert future.wait().tolist() == [0, 2, 7.5 + left, 7.5 + left]
    job.barrier()
    d.put_nb(right, 3, range(3)).wait()
    d.put_list(right, [(0, 1), 2], [8, np.ones(3, int)])
    job.barrier()
    assert [x.tolist() for x in d.get_list(me, [(0, 1), 2, 3])] == [8.0, [1, 1, 1], [0, 1, 2]]
    d.free()


def test_between_devices_and_hosts():
    d, e, h = gpu.zeros(1000), gpu.zeros((10, 100)), job.zeros(1000)
    d.put(me, None, np.arange(1000.0) + me)
    e[right] = d.local[:100]  # broadcast over rows
    h[right, 500:] = d.local[:500]
    job.barrier()
    assert (e.get(me) == np.arange(100.0) + left).all()
    assert (h.local[500:] == np.arange(500.0) + left).all() and not h.local[:500].any()
    assert d.get(right, slice(0, 400, 4), out=e.local[3]).shape == (100,)  # device to device
    assert (e.get(me, 3) == np.arange(0.0, 400.0, 4.0) + right).all()
    assert h.get(me, slice(500, 600), out=e.local[4]).get()[0] == left
    d.get_nb(right, slice(0, 100), out=e.local[5]).wait()
    assert (e.local.get()[5] == np.arange(100.0) + right).all()
    job.barrier()


def test_signals_and_refusals():
    d, s, h = gpu.zeros(8, np.int64), job.signals(2), job.zeros(8, np.int64)
    d.put_signal(right, slice(2, 4), [5, 6], s, 1, add=3)
    assert s.consume(1, 3, timeout=30) == 0 and d.get(me).tolist() == [0, 0, 5, 6, 0, 0, 0, 0]
    job.barrier()
    h.put_signal(right, None, d.local, s)
    s.wait(0, timeout=30)
    assert h.local.tolist() == [0, 0, 5, 6, 0, 0, 0, 0]
    for refused in [
        lambda: d.add(right, 0, 1),
        lambda: d.put_notify(right, 0, 1, 7),
        lambda: h.put_notify(right, None, d.local, 7),
        lambda: h.put(right, None, gpu_floats.local[:8]),
        lambda: np.asarray(d.local),
    ]:
        with pytest.raises(TypeError):
            refused()
    for refused in [lambda: d.at(right), lambda: memoryview(d), lambda: memoryview(d._peer(right))]:
        with pytest.raises(BufferError):
            refused()
    with pytest.raises(ValueError, match="does not fit"):
        d.put(right, slice(0, 3), d.local)
    with pytest.raises(RuntimeError, match="gex_MK_Create failed"):
        job.device(wrong)
    with pytest.raises(MemoryError, match="nbytes"):
        gpu.empty(1 << 20)


gpu_floats = gpu.zeros(8)


def test_collectives():
    d, out, host = gpu.array(np.arange(6.0) + me), gpu.zeros(6), np.zeros(6)
    total = size * np.arange(6.0) + sum(range(size))
    assert job.allreduce(d.local, out=out.local).shape == (6,)
    assert (out.get(me) == total).all()
    assert (job.allreduce(d.local) == total).all()  # without out: on the host
    assert (job.allreduce(d.local, "max", out=host) == np.arange(6.0) + size - 1).all()
    job.allreduce(d.local, np.add, out=out.local)
    assert (out.get(me) == total).all()
    job.allreduce(out.local, "sum", out=out.local)
    assert (out.get(me) == size * total).all()
    rows = gpu.zeros((size, 6))
    job.allgather(d.local, out=rows.local)
    assert (rows.get(me, right) == np.arange(6.0) + right).all()
    assert (job.alltoall(rows.local)[:, 0] == me).all()
    job.bcast(d.local[2:4], root=size - 1)
    assert d.get(me).tolist() == [me, me + 1, size + 1, size + 2, me + 4, me + 5]
    assert (job.scan(rows.local[0]) == (me + 1) * np.arange(6.0)).all()
    assert job.reduce_scatter(rows.local).tolist() == (size * (np.arange(6.0) + me)).tolist()
    part = gpu.zeros(6)
    job.scatter(rows.local if me == 0 else None, part.local)
    assert (part.get(me) == np.arange(6.0) + me).all()
    columns = gpu.zeros((6, 2)).local[:, 0]  # not contiguous: through the host
    assert job.allreduce(d.local, out=columns) is columns
    assert (columns.get() == job.allreduce(d.local)).all()


def test_dlpack_export():
    d = gpu.array(np.arange(12.0).reshape(3, 4))
    view = d.local[1:, ::2]
    assert view.__dlpack_device__() == (2, mine)
    for version, name in [(None, '"dltensor"'), ((1, 0), '"dltensor_versioned"')]:
        capsule = view.__dlpack__(max_version=version)
        assert name in repr(capsule)
        address, shape, strides, code, bits, lanes, kind, ordinal = _core.undlpack(capsule)
        assert (shape, strides, code, bits, lanes) == ((2, 2), (4, 2), 2, 64, 1)
        assert (kind, ordinal) == (2, mine)
        assert address == view.__cuda_array_interface__["data"][0] == gpu._space.heap.base + (
            d._block.offset + 32
        )
    theirs = LikeCuPy(dlpack=np.dtype(float), capsule=d.local.__dlpack__())  # no copy
    theirs.set(np.full((3, 4), 9.0))
    assert (d.get(me) == 9).all()
    job.allreduce(theirs, out=theirs)  # in our segment: by the library itself
    assert (d.get(me) == 9 * size).all()
    d[right] = theirs
    assert d.get(right, out=theirs) is theirs
    del capsule, view, theirs
    again = d.local
    with pytest.raises(BufferError, match="in use"):
        d.free()
    with pytest.raises(BufferError):
        again.__dlpack__(copy=True)
    del again
    d.free()
    with pytest.raises(BufferError):
        _ = d.local


def test_dlpack_import():
    theirs = LikeCuPy(np.arange(8.0) + 10 * me)
    d = job.device_array(theirs)  # their memory is our part, without a copy
    assert (d.get(right) == np.arange(8.0) + 10 * right).all()
    job.barrier()
    d[right, 2:4] = [-1.0, -2.0]
    job.barrier()
    assert theirs.get().tolist()[:5] == [10 * me, 10 * me + 1, -1, -2, 10 * me + 4]
    job.barrier()
    other = LikeCuPy(np.ones(8))  # in no segment: through the host
    d.put(right, None, other)
    job.barrier()
    assert (theirs.get() == 1).all()
    with pytest.raises(ValueError, match="not contiguous"):
        job.device_array(d.local[::2])
    with pytest.raises(TypeError, match="no capsule"):
        _core.undlpack(3)
