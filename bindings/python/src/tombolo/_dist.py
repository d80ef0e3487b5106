# SPDX-License-Identifier: BSD-3-Clause
"""One array whose first axis is divided over the ranks of a team, in blocks, with halos.

A rank owns rows `d.rows`; `d.local` shows them, `d.with_halo` also the copies of the neighbours'
rows beside them. `d[i:j, ...]` gets from whichever ranks own the rows.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from ._collectives import SHORT, UFUNCS, Op

if TYPE_CHECKING:
    from ._job import Team
    from ._space import Shape


open_memmap: Any = np.lib.format.open_memmap  # NumPy has no types for it


def ends(rows: range, own: range) -> tuple[int, int]:
    """Positions in `rows` of the first and the last row that `own` has; (0, -1): none."""
    if not rows or not own:
        return 0, -1
    low, high = (own[0], own[-1]) if rows.step > 0 else (own[-1], own[0])
    first = max(0, -(-(low - rows.start) // rows.step))
    return first, min(len(rows) - 1, (high - rows.start) // rows.step)


class DistArray:
    """An array of `shape`, in blocks of rows; made by `Team.dist`, collective.

    Members with lower ranks own one row more where the rows do not divide evenly.
    """

    def __init__(self, team: Team, shape: Shape, dtype: Any, halo: int) -> None:
        dims = (shape,) if isinstance(shape, SupportsIndex) else tuple(shape)
        self.shape = tuple(int(n.__index__()) for n in dims)
        if not self.shape:
            raise ValueError("shape (): a distributed array needs at least one axis")
        least = self.shape[0] // team.size
        if halo < 0 or (halo > least and team.size > 1):
            raise ValueError(
                f"halo {halo} of {self.shape[0]} rows on {team.size} ranks: give 0 to {least}, "
                "the rows of the smallest block"
            )
        self.team = team
        self.dtype = np.dtype(dtype)
        self.halo = halo
        most = -(-self.shape[0] // team.size)
        self._parts = team.zeros((most + 2 * halo, *self.shape[1:]), self.dtype)

    # ---- what is where
    def rows_of(self, rank: SupportsIndex) -> range:
        """Rows that a member owns."""
        each, more = divmod(self.shape[0], self.team.size)
        r = rank.__index__()
        begin = r * each + min(r, more)
        return range(begin, begin + each + (r < more))

    @property
    def rows(self) -> range:
        """Rows that this rank owns."""
        return self.rows_of(self.team.rank)

    @property
    def local(self) -> np.ndarray[Any, Any]:
        """This rank's rows, without a copy."""
        return self._parts.local[self.halo : self.halo + len(self.rows)]

    @property
    def with_halo(self) -> np.ndarray[Any, Any]:
        """This rank's rows and the halos before and behind them, without a copy."""
        return self._parts.local[: len(self.rows) + 2 * self.halo]

    @property
    def ndim(self) -> int:
        """Axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Elements on all ranks."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """Bytes of the elements on all ranks."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        where = f"rows {self.rows.start} to {self.rows.stop} of rank {self.team.rank}"
        return f"<tombolo.DistArray: shape {self.shape}, {self.dtype}, {where}>"

    # ---- put and get of any rows
    def _split(self, key: Any) -> tuple[Any, tuple[Any, ...]]:
        items = key if isinstance(key, tuple) else (key,)
        if items and items[0] is Ellipsis:
            items = (slice(None), *items) if len(items) <= self.ndim else items[1:]
        first = items[0] if items else slice(None)
        return first, items[1:]

    def _blocks(self, rows: range) -> Iterator[tuple[int, slice, slice]]:
        """Ranks that own some of the rows: the slice of their part, and that of the result."""
        for rank in range(self.team.size):
            own = self.rows_of(rank)
            first, last = ends(rows, own)
            if first > last:
                continue
            begin = rows[first] - own.start + self.halo
            end = rows[last] - own.start + self.halo
            stop = end + (1 if rows.step > 0 else -1)
            part = slice(begin, None if stop < 0 else stop, rows.step)
            yield rank, part, slice(first, last + 1)

    def __getitem__(self, key: Any) -> Any:
        first, rest = self._split(key)
        if isinstance(first, slice):
            rows = range(self.shape[0])[first]
            like = np.broadcast_to(np.empty((), self.dtype), (1, *self.shape[1:]))
            shape = like[(slice(None), *rest)].shape[1:]
            out = np.empty((len(rows), *shape), self.dtype)
            waits = []
            for rank, part, place in self._blocks(rows):
                waits.append(self._parts.get_nb(rank, (part, *rest), out[place]))
            for wait in waits:
                wait.wait()
            return out
        row = range(self.shape[0])[first]
        rank = self.owner(row)
        at = row - self.rows_of(rank).start + self.halo
        return self._parts.get(rank, (at, *rest))

    def __setitem__(self, key: Any, value: Any) -> None:
        first, rest = self._split(key)
        if not isinstance(first, slice):
            row = range(self.shape[0])[first]
            rank = self.owner(row)
            at = row - self.rows_of(rank).start + self.halo
            self._parts.put(rank, (at, *rest), value)
            return
        rows = range(self.shape[0])[first]
        like = np.broadcast_to(np.empty((), self.dtype), (1, *self.shape[1:]))
        shape = (len(rows), *like[(slice(None), *rest)].shape[1:])
        source = np.broadcast_to(np.asarray(value, self.dtype), shape)
        waits = []
        for rank, part, place in self._blocks(rows):
            waits.append(self._parts.put_nb(rank, (part, *rest), source[place]))
        for wait in waits:
            wait.wait()

    def owner(self, row: SupportsIndex) -> int:
        """The member that owns a row."""
        each, more = divmod(self.shape[0], self.team.size)
        r = range(self.shape[0])[row.__index__()]
        wide = more * (each + 1)
        return r // (each + 1) if r < wide else more + (r - wide) // each

    # ---- together
    def exchange_halo(self, periodic: bool = False) -> None:
        """Copies the neighbours' rows into the halos; collective.

        periodic: the first and the last member are neighbours; else their outer halos stay.
        """
        team, n, h = self.team, len(self.rows), self.halo
        if h == 0:
            return
        team.barrier()
        waits = []
        before, behind = team.rank - 1, team.rank + 1
        if before >= 0 or periodic:
            r = before % team.size
            end = len(self.rows_of(r)) + h
            waits.append(self._parts.put_nb(r, slice(end, end + h), self._parts.local[h : 2 * h]))
        if behind < team.size or periodic:
            r = behind % team.size
            waits.append(self._parts.put_nb(r, slice(0, h), self._parts.local[n : n + h]))
        for wait in waits:
            wait.wait()
        team.barrier()

    def reduce(self, op: Op = "sum", axis: int | None = None) -> Any:
        """Combines all elements, or those along axis 0, on all members; collective.

        op: sum prod min max. With axis=0 the result has the shape of a row.
        """
        if op not in SHORT or axis not in (None, 0):
            names = " ".join(SHORT)
            raise ValueError(f"reduce({op!r}, axis={axis}): op is one of {names}, axis None or 0")
        function = UFUNCS[str(op)]
        if self.size == 0 or self.shape[0] < self.team.size:
            whole = self.gather(None)
            return function.reduce(whole if axis == 0 else whole.ravel(), axis=0)
        mine = function.reduce(self.local, axis=0)
        if axis is None:
            mine = function.reduce(np.asarray(mine).ravel())
        result = self.team.allreduce(np.asarray(mine), op)
        return result[()] if axis is None else result

    def sum(self) -> Any:
        """The sum of all elements; collective."""
        return self.reduce("sum")

    def min(self) -> Any:
        """The least element; collective."""
        return self.reduce("min")

    def max(self) -> Any:
        """The largest element; collective."""
        return self.reduce("max")

    def mean(self) -> Any:
        """The mean of all elements; collective."""
        return self.reduce("sum") / self.size

    def gather(self, root: SupportsIndex | None = 0) -> Any:
        """The whole array as a NumPy array, on the root, or on all members (None); collective."""
        self.team.barrier()
        here = root is None or self.team.rank == root.__index__()
        whole = self[:] if here else None
        self.team.barrier()
        return whole

    def fill(self, whole: Any) -> None:
        """Takes this rank's rows out of an array of the whole shape."""
        source = np.asarray(whole)
        if source.shape != self.shape:
            raise ValueError(f"fill: shape {source.shape}; the array has {self.shape}")
        self.local[...] = source[self.rows.start : self.rows.stop]

    def free(self) -> None:
        """Gives the memory back; collective."""
        self._parts.free()

    # ---- files; the folder is one that all members see
    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file of numpy.save, every member its rows; collective."""
        failed = None
        if self.team.rank == 0:
            try:
                open_memmap(path, "w+", self.dtype, self.shape)
            except OSError as error:
                failed = str(error)
        failed = self.team.bcast_object(failed)
        if failed is not None:
            raise OSError(failed)
        if len(self.rows) and self.size:
            target = open_memmap(path, "r+")
            target[self.rows.start : self.rows.stop] = self.local
            target.flush()
        self.team.barrier()

    @classmethod
    def load(cls, team: Team, path: str | os.PathLike[str], halo: int = 0) -> DistArray:
        """Reads a file of numpy.save, every member its rows; collective."""
        source = np.load(path, mmap_mode="r")
        made = cls(team, source.shape, source.dtype, halo)
        made.local[...] = source[made.rows.start : made.rows.stop]
        team.barrier()
        return made

    def save_hdf5(self, path: str | os.PathLike[str], name: str = "data") -> None:
        """Writes a dataset of an HDF5 file, the members in turn (package h5py); collective."""
        import h5py  # type: ignore[import-untyped,import-not-found,unused-ignore]

        for turn in range(self.team.size):
            if turn == self.team.rank:
                with h5py.File(path, "w" if turn == 0 else "r+") as file:
                    if turn == 0:
                        file.create_dataset(name, self.shape, self.dtype)
                    file[name][self.rows.start : self.rows.stop] = self.local
            self.team.barrier()

    def save_zarr(self, path: str | os.PathLike[str]) -> None:
        """Writes a Zarr array, a chunk for each member's rows (package zarr); collective."""
        import zarr  # type: ignore[import-untyped,import-not-found,unused-ignore]

        most = max(1, len(self.rows_of(0)))
        chunks = (most, *self.shape[1:])
        if self.team.rank == 0:
            zarr.open(str(path), mode="w", shape=self.shape, chunks=chunks, dtype=self.dtype)
        for turn in range(self.team.size):
            self.team.barrier()
            if turn == self.team.rank and len(self.rows):
                target = zarr.open(str(path), mode="r+")
                target[self.rows.start : self.rows.stop] = self.local
        self.team.barrier()
