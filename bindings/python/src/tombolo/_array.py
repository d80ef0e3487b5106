# SPDX-License-Identifier: BSD-3-Clause
"""Arrays that every rank of a team has a part of, and signals.

`a[rank, index] = value` puts, `a[rank, index]` gets, both with what NumPy calls basic indexing;
`a.local` is this rank's part as a NumPy array without a copy. The forms that end in `_nb` return a
Future. Everything that moves data is in the extension (src/ext).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, Any, SupportsIndex, Union

import numpy as np

from . import _batch, _core, _foreign, _memory, _watch

if TYPE_CHECKING:
    from ._job import Team
    from ._notify import SemaphoreName
    from ._space import Space

Index = Union[
    SupportsIndex, slice, EllipsisType, None, tuple[Any, ...], list[Any], np.ndarray[Any, Any]
]
Ranks = Union[SupportsIndex, Sequence[int], np.ndarray[Any, Any]]

OPS = {
    "add": 1 << 3,
    "sub": 1 << 4,
    "mult": 1 << 5,
    "min": 1 << 6,
    "max": 1 << 7,
    "inc": 1 << 8,
    "dec": 1 << 9,
    "and": 1 << 0,
    "or": 1 << 1,
    "xor": 1 << 2,
}
FETCHING = 1 << 16  # operations from here on return what was there
OP_SET, OP_SWAP, OP_FCAS, OP_GET = 1 << 10, 1 << 26, 1 << 27, 1 << 28
COMPARE = {"==": 0, "!=": 1, ">": 2, ">=": 3, "<": 4, "<=": 5}
SIGNAL_SET, SIGNAL_ADD = 0, 1
NOTHING = np.empty(0, np.uint64)  # the data of a signal without any


def operation(name: str) -> int:
    """Number of an atomic operation."""
    if name not in OPS:
        raise ValueError(f"op is {name!r}; give one of {' '.join(OPS)}")
    return OPS[name]


def pieces(packed: np.ndarray[Any, Any], shapes: list[tuple[int, ...]]) -> list[Any]:
    """Consecutive pieces of an array as arrays of these shapes, without a copy."""
    ends = np.cumsum([math.prod(s) for s in shapes])
    return [packed[end - math.prod(s) : end].reshape(s) for s, end in zip(shapes, ends)]


class Array(_core.Array):
    """An array of which each member of a team has a part; made by `Team.zeros` and `Team.empty`."""

    __slots__ = ("team", "_space")
    team: Team
    _space: Space

    @property
    def local(self) -> np.ndarray[Any, Any]:
        """This rank's part: a NumPy array that shows the memory itself."""
        part: np.ndarray[Any, Any] = np.asarray(memoryview(self))
        return _watch.shown(part) if _watch.ON else part

    @property
    def ndim(self) -> int:
        """Axes of each rank's part."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Elements of each rank's part."""
        return math.prod(self.shape)

    @property
    def T(self) -> np.ndarray[Any, Any]:
        """This rank's part with its axes in reverse order, without a copy."""
        return self.local.T

    def at(self, rank: SupportsIndex) -> np.ndarray[Any, Any]:
        """The part of another rank, without a copy; BufferError when it is on another host."""
        part: np.ndarray[Any, Any] = np.asarray(memoryview(self._peer(rank)))
        return _watch.shown(part) if _watch.ON else part

    def put(self, rank: SupportsIndex, index: Index, value: Any) -> None:
        """Puts value into the part of a rank; returns when the data are there."""
        self._put(rank, index, value).wait()

    def put_nb(self, rank: SupportsIndex, index: Index, value: Any) -> _core.Future[Any]:
        """Puts value without waiting; it must not change before the future is complete."""
        return self._put(rank, index, value)

    def get(self, rank: SupportsIndex, index: Index = None, out: Any = None) -> Any:
        """Gets elements of a rank as a new NumPy array, one as a number, or into `out`."""
        if _foreign.is_foreign(out):
            inside = _memory.inside(out)
            if inside is None:
                return _foreign.run(lambda s, o: self._get(rank, index, o).wait(), None, out)
            self._get(rank, index, inside).wait()
            return out
        return self._get(rank, index, out).wait()

    def get_nb(
        self, rank: SupportsIndex, index: Index = None, out: Any = None
    ) -> _core.Future[Any]:
        """Gets elements without waiting: the future's result is the array or number."""
        if _foreign.is_foreign(out):
            inside = _memory.inside(out)
            future = self._get(rank, index, _foreign.place(out) if inside is None else inside)
            return _foreign.give(future, None, None, out)
        return self._get(rank, index, out)

    def put_signal_nb(
        self,
        rank: SupportsIndex,
        index: Index,
        value: Any,
        signals: Signals,
        i: Index = 0,
        *,
        add: int | None = None,
        set: int | None = None,
    ) -> _core.Future[Any]:
        """Puts value, then adds to, or sets, signal i of that rank once the data are there."""
        if add is not None and set is not None:
            raise TypeError("put_signal: give add= or set=, not both")
        if set is not None:
            return self._put_signal(rank, index, value, signals, i, SIGNAL_SET, set)
        number = 1 if add is None else add
        return self._put_signal(rank, index, value, signals, i, SIGNAL_ADD, number)

    def put_signal(
        self,
        rank: SupportsIndex,
        index: Index,
        value: Any,
        signals: Signals,
        i: Index = 0,
        *,
        add: int | None = None,
        set: int | None = None,
    ) -> None:
        """Puts value and changes the signal, and waits until both are there."""
        self.put_signal_nb(rank, index, value, signals, i, add=add, set=set).wait()

    # ---- lists of regions
    @staticmethod
    def _listed(call: str, what: str, items: Any) -> list[Any]:
        """The items of an argument that is a sequence; TypeError where it is none."""
        try:
            return list(items)
        except TypeError:
            raise TypeError(f"{call}: {what} is {items!r}; give a list, as [{items!r}]") from None

    def _shapes(self, indices: Sequence[Index]) -> list[tuple[int, ...]]:
        """Shapes of regions, as NumPy has them; nothing is allocated."""
        whole = np.broadcast_to(np.empty((), np.uint8), self.shape)
        return [whole[... if index is None else index].shape for index in indices]

    def put_list_nb(
        self, rank: SupportsIndex, indices: Sequence[Index], values: Sequence[Any]
    ) -> _core.Future[Any]:
        """Puts values[k] into index k of a rank, all by one operation; values may change then."""
        keys = self._listed("put_list", "indices", indices)
        given = self._listed("put_list", "values", values)
        if len(keys) != len(given):
            raise ValueError(f"put_list: {len(keys)} indices, but {len(given)} values")
        shapes = self._shapes(keys)
        packed = np.empty(sum(math.prod(s) for s in shapes), self.dtype)
        for piece, value in zip(pieces(packed, shapes), given):
            piece[...] = _foreign.host(value)
        return self._put_list(rank, keys, packed)

    def put_list(
        self, rank: SupportsIndex, indices: Sequence[Index], values: Sequence[Any]
    ) -> None:
        """Puts values[k] into index k of a rank, and waits until the data are there."""
        self.put_list_nb(rank, indices, values).wait()

    def get_list(self, rank: SupportsIndex, indices: Sequence[Index]) -> list[Any]:
        """Gets the elements of several indices of a rank, all by one operation."""
        keys = self._listed("get_list", "indices", indices)
        shapes = self._shapes(keys)
        packed = np.empty(sum(math.prod(s) for s in shapes), self.dtype)
        self._get_list(rank, keys, packed).wait()
        return pieces(packed, shapes)

    # ---- with a notification, or a post of a semaphore
    def put_notify_nb(
        self, rank: SupportsIndex, index: Index, value: Any, tag: int
    ) -> _core.Future[Any]:
        """Puts value, then notifies that rank with a tag once the data are there."""
        return self._put_notify(rank, index, value, tag)

    def put_notify(self, rank: SupportsIndex, index: Index, value: Any, tag: int) -> None:
        """Puts value, notifies that rank with a tag, and waits until the data are there."""
        self._put_notify(rank, index, value, tag).wait()

    def get_notify(self, rank: SupportsIndex, index: Index, tag: int, out: Any = None) -> Any:
        """Gets elements, then notifies their owner with a tag once they have been read."""
        return self._get_notify(rank, index, out, tag).wait()

    def put_post(
        self, rank: SupportsIndex, index: Index, value: Any, name: SemaphoreName, n: int = 1
    ) -> None:
        """Puts value, then posts a semaphore of that rank n times once the data are there."""
        self._put_post(rank, index, value, name._name, n).wait()

    # ---- lists, arrays and masks as indices; called by the extension
    def _put_elements_of(self, rank: Any, index: Any, value: Any) -> _core.Future[Any]:
        return _batch.put(self, rank, index, value)

    def _get_elements_of(self, rank: Any, index: Any, out: Any = None) -> _core.Future[Any]:
        return _batch.get(self, rank, index, out)

    def _atomic_many(self, op: int, rank: Any, index: Any, a: Any, b: Any) -> Any:
        return _batch.atomics(self, op, rank, index, a, b, op >= FETCHING)

    # ---- atomic operations on an element, or on many
    def atomic(self, op: str, rank: Ranks, index: Index, value: Any = None) -> None:
        """Changes elements: op is add sub mult min max inc dec, and or xor on integers."""
        self._atomic(operation(op), rank, index, value, None)

    def fetch(self, op: str, rank: Ranks, index: Index, value: Any = None) -> Any:
        """Changes elements, and returns what they were before."""
        return self._atomic(operation(op) << 16, rank, index, value, None)

    def add(self, rank: Ranks, index: Index, value: Any) -> None:
        """Adds to elements, atomically; arrays of ranks, places and values are broadcast."""
        self._atomic(1 << 3, rank, index, value, None)

    def fetch_add(self, rank: Ranks, index: Index, value: Any) -> Any:
        """Adds to elements, atomically; returns what they were before."""
        return self._atomic(1 << 19, rank, index, value, None)

    def load(self, rank: Ranks, index: Index) -> Any:
        """Reads an element atomically."""
        return self._atomic(OP_GET, rank, index, None, None)

    def store(self, rank: Ranks, index: Index, value: Any) -> None:
        """Writes an element atomically."""
        self._atomic(OP_SET, rank, index, value, None)

    def swap(self, rank: Ranks, index: Index, value: Any) -> Any:
        """Writes an element atomically; returns what it was before."""
        return self._atomic(OP_SWAP, rank, index, value, None)

    def compare_swap(self, rank: Ranks, index: Index, expected: Any, value: Any) -> Any:
        """Writes value if the element is `expected`; returns what it was before."""
        return self._atomic(OP_FCAS, rank, index, expected, value)

    def free(self) -> None:
        """Gives the memory back; collective over the team, after a barrier of its own."""
        self._space.free(self)

    def __len__(self) -> int:
        return self.team.size

    def __iter__(self) -> Any:
        raise TypeError("iterate over a.local, or over a.get(rank)")

    def __repr__(self) -> str:
        state = "freed" if self.freed else f"shape {self.shape}, {self.dtype}"
        where = f"rank {self.team.rank} of {self.team.size}"
        return f"<tombolo.{type(self).__name__}: {where}, {state}>"

    def __str__(self) -> str:
        if self.freed or self._space.device is not None:
            return repr(self)
        return f"{self!r}\n{self.local}"


class Signals(Array):
    """Words that other ranks' puts change and this rank waits for; made by `Team.signals`."""

    __slots__ = ()

    def signal(
        self,
        rank: SupportsIndex,
        i: Index = 0,
        *,
        add: int | None = None,
        set: int | None = None,
    ) -> None:
        """Changes a signal of a rank, without data."""
        self.put_signal(rank, slice(0, 0), NOTHING, self, i, add=add, set=set)

    def wait(
        self, i: Index = 0, compare: str = ">=", value: int = 1, timeout: float | None = None
    ) -> int:
        """Waits until this rank's signal i compares so; returns its value."""
        if compare not in COMPARE:
            raise ValueError(f"compare is {compare!r}; give one of {' '.join(COMPARE)}")
        return self._signal_wait(i, COMPARE[compare], value, timeout)

    def consume(self, i: Index = 0, n: int = 1, timeout: float | None = None) -> int:
        """Waits until signal i is at least n, then subtracts n; returns what is left."""
        return self._signal_consume(i, n, timeout)

    def wait_some(self, start: int = 0, timeout: float | None = None) -> tuple[int, int]:
        """Waits for any signal that is not zero, sets it to zero; returns its index and value."""
        return self._signal_some(start, timeout)
