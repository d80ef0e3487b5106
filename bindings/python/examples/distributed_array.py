# SPDX-License-Identifier: BSD-3-Clause
"""A distributed NumPy array: one global index space, blocks of rows on the ranks, files.

    python -m tombolo run -n 4 distributed_array.py

Global rows are read and written from any rank, NumPy's functions run on the local block, halos hold
the neighbours' rows, and sums are collective. HDF5 and Zarr take part if they are installed.
"""

import importlib.util
import os
import shutil
import tempfile

import numpy as np

import tombolo


def smooth(d):
    """Each row becomes the mean of itself and its two neighbours, in a ring."""
    d.exchange_halo(periodic=True)
    d.local[...] = (d.with_halo[:-2] + d.with_halo[1:-1] + d.with_halo[2:]) / 3
    d.team.barrier()


def check_files(job, d):
    """Saves and loads; returns the kinds of files. All ranks write and read their own rows."""
    folder = job.bcast_object(tempfile.mkdtemp() if job.rank == 0 else None)
    kinds = {"npy": (d.save, tombolo.DistArray.load)}
    if importlib.util.find_spec("h5py"):
        kinds["h5"] = d.save_hdf5, tombolo.DistArray.load_hdf5
    if importlib.util.find_spec("zarr"):
        kinds["zarr"] = d.save_zarr, tombolo.DistArray.load_zarr
    for kind, (save, load) in kinds.items():
        path = os.path.join(folder, f"rows.{kind}")
        save(path)
        assert np.array_equal(load(job, path).local, d.local)
    job.barrier()
    if job.rank == 0:
        shutil.rmtree(folder)
    return list(kinds)


def check_places(job):
    """Where rows are; a whole array on all ranks becomes a distributed one."""
    d = job.dist((10, 2), dtype="int32")
    assert d.ndim == 2 and d.nbytes == 80
    assert d.rows == d.rows_of(job.rank) and d.owner(9) == job.size - 1
    d.fill(np.arange(20).reshape(10, 2))
    assert d.sum() == 190
    d.free()


def main():
    job = tombolo.init()
    check_places(job)
    n = 1000
    d = job.dist((n, 3), halo=1)
    if job.rank == job.size - 1:  # one rank writes rows of all ranks
        d[:] = np.arange(n)[:, None]
        d[n // 3 : n // 2] = 7
        d[5] = [1, 2, 3]
    job.barrier()
    model = np.repeat(np.arange(n, dtype=float)[:, None], 3, axis=1)
    model[n // 3 : n // 2] = 7
    model[5] = [1, 2, 3]
    assert np.array_equal(d[::-2], model[::-2]) and np.array_equal(d[5], [1, 2, 3])
    job.barrier()
    smooth(d)
    model = (np.roll(model, 1, 0) + model + np.roll(model, -1, 0)) / 3
    assert np.allclose(d[100:900, 1], model[100:900, 1])
    assert np.isclose(d.sum(), model.sum()) and np.allclose(d.reduce("max", axis=0), model.max(0))
    kinds = check_files(job, d)
    if job.rank == 0:
        print(f"{n} rows on {job.size} ranks, mean {model.mean():.3f}; files: {', '.join(kinds)}")
    job.barrier()


main()
