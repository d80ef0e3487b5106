# SPDX-License-Identifier: BSD-3-Clause
"""Distributed arrays in files: of NumPy, and of h5py and zarr where these are installed."""

import contextlib
import importlib.util
import os
import shutil
import sys
import tempfile

import numpy as np
import pytest

import tombolo

job = tombolo.init()
me, size = job.rank, job.size
SHAPES = [(3, 4), (7,), (16, 3, 2), (8, 0)]  # fewer rows than ranks, uneven, even, empty


def has(name):
    return importlib.util.find_spec(name) is not None


@contextlib.contextmanager
def folder():
    """A folder that all ranks see; removed at the end."""
    path = job.bcast_object(tempfile.mkdtemp() if me == 0 else None)
    yield path
    job.barrier()
    if me == 0:
        shutil.rmtree(path)


@contextlib.contextmanager
def without(name):
    """Makes imports of a package fail."""
    hidden, sys.modules[name] = sys.modules.get(name), None
    yield
    del sys.modules[name]
    if hidden is not None:
        sys.modules[name] = hidden


def example(shape, dtype):
    """A distributed array, and the same as an array of NumPy."""
    whole = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    d = job.dist(shape, dtype)
    d.fill(whole)
    job.barrier()
    return d, whole


def check_again(again, whole):
    """What has been loaded, with a halo where there are rows enough."""
    assert again.dtype == whole.dtype and again.shape == whole.shape
    assert np.array_equal(again.local, whole[again.rows.start : again.rows.stop])
    again.free()


@pytest.mark.parametrize("shape", SHAPES)
def test_numpy(shape):
    d, whole = example(shape, "f8")
    with folder() as path:
        name = os.path.join(path, "d.npy")
        d.save(name)
        assert np.array_equal(np.load(name), whole)
        check_again(tombolo.DistArray.load(job, name), whole)
    d.free()


@pytest.mark.parametrize("shape", SHAPES)
def test_hdf5(shape):
    if not has("h5py"):
        return
    import h5py

    d, whole = example(shape, "f4")
    with folder() as path:
        name = os.path.join(path, "d.h5")
        d.save_hdf5(name, "grid")
        with h5py.File(name, "r") as file:
            assert np.array_equal(file["grid"][()], whole) and file["grid"].dtype == "f4"
        job.barrier()
        check_again(tombolo.DistArray.load_hdf5(job, name, "grid"), whole)
        with pytest.raises(KeyError, match="other"):
            tombolo.DistArray.load_hdf5(job, name, "other")
    d.free()


@pytest.mark.parametrize("shape", SHAPES)
def test_zarr(shape):
    if not has("zarr"):
        return
    import zarr

    d, whole = example(shape, "i4")
    with folder() as path:
        name = os.path.join(path, "d.zarr")
        d.save_zarr(name)
        stored = zarr.open(name, mode="r")
        assert np.array_equal(stored[...], whole) and stored.dtype == np.dtype("i4")
        assert stored.chunks[0] == max(1, -(-shape[0] // size))
        check_again(tombolo.DistArray.load_zarr(job, name), whole)
    d.free()


def test_halo_of_loaded():
    d, whole = example((4 * size, 2), "f8")
    with folder() as path:
        name = os.path.join(path, "d.npy")
        d.save(name)
        again = tombolo.DistArray.load(job, name, halo=1)
        again.exchange_halo(periodic=True)
        assert np.array_equal(again.with_halo[0], whole[4 * me - 1])
        again.free()
    d.free()


def test_all_raise_where_one_fails():
    """The folder does not exist: rank 0 says so, and nobody waits for it."""
    d, _ = example((5,), "f8")
    calls = [d.save, lambda path: tombolo.DistArray.load(job, path)]
    if has("h5py"):
        calls += [d.save_hdf5, lambda path: tombolo.DistArray.load_hdf5(job, path)]
    for call in calls:
        with pytest.raises(OSError, match="(?i)no such file|nowhere"):
            call("/nowhere/d.npy")
    job.barrier()
    d.free()


@pytest.mark.parametrize("name, kind", [("h5py", "hdf5"), ("zarr", "zarr")])
def test_without_package(name, kind):
    """A package that one rank lacks: it names the package, the others name the rank."""
    d, _ = example((5,), "f8")
    for lacking in range(min(size, 2)):
        with contextlib.ExitStack() as stack:
            if me == lacking or not has(name):
                stack.enter_context(without(name))
            for what, call in (
                (f"save_{kind}", lambda: getattr(d, f"save_{kind}")("unused")),
                (f"load_{kind}", lambda: getattr(tombolo.DistArray, f"load_{kind}")(job, "unused")),
            ):
                said = f"{what} needs the package {name}, which .* does not have: pip install"
                kind_of = OSError if has(name) and me != lacking else ModuleNotFoundError
                with pytest.raises(kind_of, match=said):
                    call()
    d.free()
