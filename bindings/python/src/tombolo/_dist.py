# SPDX-License-Identifier: BSD-3-Clause
"""One array whose first axis is divided over the ranks of a team, in blocks, with halos.

A rank owns rows `d.rows`; `d.local` shows them, `d.with_halo` also the copies of the neighbours'
rows beside them. `d[i:j, ...]` gets from whichever ranks own the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeGuard

import numpy as np

from . import _core, _foreign
from ._collectives import SHORT, UFUNCS, Op
from ._files import Files

if TYPE_CHECKING:
    from ._job import Team
    from ._space import Shape


def ends(rows: range, own: range) -> tuple[int, int]:
    """Positions in `rows` of the first and the last row that `own` has; (0, -1): none."""
    if not rows or not own:
        return 0, -1
    low, high = (own[0], own[-1]) if rows.step > 0 else (own[-1], own[0])
    first = max(0, -(-(low - rows.start) // rows.step))
    return first, min(len(rows) - 1, (high - rows.start) // rows.step)


def is_tuple(key: object) -> TypeGuard[tuple[Any, ...]]:
    """Whether a key names places along several axes."""
    return isinstance(key, tuple)


class DistArray(Files):
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
        items = key if is_tuple(key) else (key,)
        if items and items[0] is Ellipsis:
            items = (slice(None), *items) if len(items) <= self.ndim else items[1:]
        first: Any = items[0] if items else slice(None)
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

    def _place(self, index: SupportsIndex) -> tuple[int, int]:
        """The owner of a row, and its position in the owner's part."""
        row = range(self.shape[0])[index]
        rank = self.owner(row)
        return rank, row - self.rows_of(rank).start + self.halo

    def __getitem__(self, key: Any) -> Any:
        first, rest = self._split(key)
        if isinstance(first, slice):
            rows = range(self.shape[0])[first]
            like = np.broadcast_to(np.empty((), self.dtype), (1, *self.shape[1:]))
            shape = like[(slice(None), *rest)].shape[1:]
            out = np.empty((len(rows), *shape), self.dtype)
            waits: list[_core.Future[Any]] = []
            for rank, part, place in self._blocks(rows):
                waits.append(self._parts.get_nb(rank, (part, *rest), out[place]))
            for wait in waits:
                wait.wait()
            return out
        rank, at = self._place(first)
        return self._parts.get(rank, (at, *rest))

    def __setitem__(self, key: Any, value: Any) -> None:
        first, rest = self._split(key)
        if not isinstance(first, slice):
            rank, at = self._place(first)
            self._parts.put(rank, (at, *rest), value)
            return
        rows = range(self.shape[0])[first]
        like = np.broadcast_to(np.empty((), self.dtype), (1, *self.shape[1:]))
        shape = (len(rows), *like[(slice(None), *rest)].shape[1:])
        source = np.broadcast_to(np.asarray(_foreign.host(value), self.dtype), shape)
        waits: list[_core.Future[Any]] = []
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
        waits: list[_core.Future[Any]] = []
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
        source = np.asarray(_foreign.host(whole))
        if source.shape != self.shape:
            raise ValueError(f"fill: shape {source.shape}; the array has {self.shape}")
        self.local[...] = source[self.rows.start : self.rows.stop]

    def free(self) -> None:
        """Gives the memory back; collective."""
        self._parts.free()
