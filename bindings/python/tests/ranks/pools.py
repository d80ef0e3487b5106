# SPDX-License-Identifier: BSD-3-Clause
"""Ranks as workers of joblib and Dask where these are installed; messages where they are not."""

import importlib.util
import sys
import time

import numpy as np
import pytest

import tombolo

job = tombolo.init()
me, size = job.rank, job.size


def has(name):
    return importlib.util.find_spec(name) is not None


counter = job.zeros(1, np.int64)
WAIT_S = 30


def where_and_square(x):
    """Waits until each worker has a task, so that tasks must run at the same time."""
    counter.add(0, 0, 1)
    end = time.monotonic() + WAIT_S
    while counter.load(0, 0) < max(1, size - 1):
        assert time.monotonic() < end, "the tasks do not run at the same time"
    return job.rank, x * x


def fail(x):
    raise KeyError(f"no {x}")


def add(x, y):
    return x + y


def begin():
    """Makes the next tasks of where_and_square wait for each other."""
    counter.store(me, 0, 0)
    job.barrier()


def test_joblib():
    if not has("joblib"):
        return
    from joblib import Parallel, delayed, effective_n_jobs

    begin()
    with job.executor() as pool:
        if pool is not None:
            with pool.joblib():
                assert effective_n_jobs(-1) == effective_n_jobs(99) == max(1, size - 1)
                got = Parallel()(delayed(where_and_square)(x) for x in range(40))
                assert [square for _, square in got] == [x * x for x in range(40)]
                # joblib itself runs the tasks of a single worker, here
                assert {place for place, _ in got} == (set(range(1, size)) if size > 2 else {0})
                with pytest.raises(KeyError, match="no 3"):
                    Parallel()(delayed(fail)(3) for _ in range(4))
                with pytest.raises(ValueError, match="n_jobs is 0"):
                    effective_n_jobs(0)
                k = 7  # a lambda travels by value: joblib has a copy of cloudpickle
                assert Parallel()(delayed(lambda x: x + k)(x) for x in range(3)) == [7, 8, 9]
                lazy = Parallel(return_as="generator")(delayed(abs)(-x) for x in range(20))
                assert list(lazy) == list(range(20))
            assert pool.submit(abs, -3).result() == 3
    job.barrier()


def test_without_joblib():
    hidden, sys.modules["joblib"] = sys.modules.get("joblib"), None
    with job.executor() as pool:
        if pool is not None:
            with pytest.raises(ModuleNotFoundError, match="RankExecutor.joblib needs the package "
                               "joblib, which .* does not have: pip install joblib"):
                pool.joblib()
    del sys.modules["joblib"]
    if hidden is not None:
        sys.modules["joblib"] = hidden
    job.barrier()


def test_dask():
    if not has("dask"):
        return
    import dask

    delayed = dask.delayed
    begin()
    with job.executor() as pool:
        if pool is not None:
            tasks = [delayed(where_and_square)(x) for x in range(12)]
            got = dask.compute(*tasks, scheduler=pool)
            assert [square for _, square in got] == [x * x for x in range(12)]
            assert {place for place, _ in got} == (set(range(1, size)) or {0})
            total = delayed(0)
            for task in tasks:
                total = delayed(add)(total, task[1])
            with dask.config.set(scheduler=pool):
                assert total.compute() == sum(x * x for x in range(12))
                with pytest.raises(KeyError, match="no 5"):
                    delayed(fail)(5).compute()
    job.barrier()
