# SPDX-License-Identifier: BSD-3-Clause
"""A distributed NumPy array: one global index space, blocks of rows on the ranks.

    python -m tombolo run -n 4 distributed_array.py

`Distributed` is a small class over tombolo.Array: global rows are read and written from any rank,
NumPy's functions run on the local block, and sums are collective. It is meant to be copied.
"""

import numpy as np

import tombolo


class Distributed:
    """Rows 0..n-1 of a global array; rank r holds rows [r * block, (r + 1) * block)."""

    def __init__(self, team, shape, dtype=float):
        self.team = team
        self.shape = tuple(shape)
        self.block = -(-self.shape[0] // team.size)
        self.parts = team.zeros((self.block, *self.shape[1:]), dtype)

    @property
    def rows(self):
        """The global rows of this rank."""
        first = min(self.team.rank * self.block, self.shape[0])
        return range(first, min(first + self.block, self.shape[0]))

    @property
    def local(self):
        """This rank's rows, without a copy."""
        return self.parts.local[: len(self.rows)]

    def _pieces(self, rows):
        """(rank, slice of its part, slice of the result) for a slice of global rows."""
        start, stop, step = rows.indices(self.shape[0])
        if step != 1:
            raise IndexError("rows: only slices with step 1")
        for rank in range(start // self.block, -(-max(stop, start) // self.block)):
            first = rank * self.block
            lo, hi = max(start, first), min(stop, first + self.block)
            yield rank, slice(lo - first, hi - first), slice(lo - start, hi - start)

    def __getitem__(self, rows):
        if isinstance(rows, int):
            return self.parts[rows // self.block, rows % self.block]
        start, stop, _ = rows.indices(self.shape[0])
        result = np.empty((max(0, stop - start), *self.shape[1:]), self.parts.dtype)
        gets = [self.parts.get_nb(r, part, result[to]) for r, part, to in self._pieces(rows)]
        for get in gets:
            get.wait()
        return result

    def __setitem__(self, rows, value):
        if isinstance(rows, int):
            self.parts[rows // self.block, rows % self.block] = value
            return
        start, stop, _ = rows.indices(self.shape[0])
        values = np.broadcast_to(value, (max(0, stop - start), *self.shape[1:]))
        for rank, part, source in self._pieces(rows):
            self.parts[rank, part] = values[source]

    def apply(self, function):
        """self = function(self), element by element; collective."""
        self.local[...] = function(self.local)
        self.team.barrier()

    def sum(self):
        """Sum of all elements; collective."""
        return self.team.allreduce(float(self.local.sum()))


def main():
    job = tombolo.init()
    n = 1000
    a = Distributed(job, (n, 3))
    if job.rank == job.size - 1:  # one rank writes rows of all ranks
        a[:] = np.arange(n)[:, None]
        a[n // 3 : n // 2] = 7
        a[5] = [1, 2, 3]
    job.barrier()
    model = np.repeat(np.arange(n, dtype=float)[:, None], 3, axis=1)
    model[n // 3 : n // 2] = 7
    model[5] = [1, 2, 3]
    assert np.array_equal(a[:], model) and np.array_equal(a[100:900], model[100:900])
    assert np.array_equal(a[5], [1, 2, 3])
    job.barrier()
    a.apply(np.sqrt)
    assert np.isclose(a.sum(), np.sqrt(model).sum())
    if job.rank == 0:
        print(f"{n} rows on {job.size} ranks, the sum of roots is {np.sqrt(model).sum():.3f}")
    job.barrier()


main()
