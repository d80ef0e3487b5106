# SPDX-License-Identifier: BSD-3-Clause
"""Ranks as the workers of concurrent.futures, joblib and Dask: prime numbers below a limit.

    python -m tombolo run -n 4 pools.py [LIMIT]

Rank 0 gives the tasks; the other ranks run them. joblib and Dask take part if they are installed.
"""

import importlib.util
import sys

import numpy as np

import tombolo

BLOCK = 5000


def primes(begin):
    """How many primes there are from begin to begin + BLOCK."""
    numbers = np.arange(max(begin, 2), begin + BLOCK)
    prime = np.ones(len(numbers), bool)
    for d in range(2, int((begin + BLOCK) ** 0.5) + 1):
        prime &= (numbers % d != 0) | (numbers == d)
    return int(prime.sum())


def by_futures(pool, begins):
    return sum(pool.map(primes, begins))


# book: joblib
def by_joblib(pool, begins):
    from joblib import Parallel, delayed

    with pool.joblib():
        return sum(Parallel()(delayed(primes)(begin) for begin in begins))
# book: end


# book: dask
def by_dask(pool, begins):
    import dask

    counts = [dask.delayed(primes)(begin) for begin in begins]
    return dask.delayed(sum)(counts).compute(scheduler=pool)
# book: end


def main():
    job = tombolo.init()
    begins = range(0, int(sys.argv[1]) if len(sys.argv) > 1 else 40000, BLOCK)
    ways = {"joblib": by_joblib, "dask": by_dask}
    found = {}
    with job.executor() as pool:
        if pool is not None:  # rank 0
            found["futures"] = by_futures(pool, begins)
            for name, way in ways.items():
                if importlib.util.find_spec(name):
                    found[name] = way(pool, begins)
    if job.rank == 0:
        assert set(found.values()) == {sum(map(primes, begins))}, found
        print(f"{found['futures']} primes by {', '.join(found)} on {job.size} ranks")


main()
