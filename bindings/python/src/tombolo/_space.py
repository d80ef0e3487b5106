# SPDX-License-Identifier: BSD-3-Clause
"""Memory that arrays of a team are made in: the heap of the host, or of a device.

A Space finds a range for each array on every member (collective), and takes back what has been
freed, or what all members have dropped. Team and Device have one each. A Heap knows which parts of
this rank's segment are in use. Each rank has its own; an array has the places of all members'
parts, so the heaps of several ranks need not agree. First fit, in units of a cache line. Memory
that was never used is zero already, so that large arrays cost nothing before they are written.
"""

from __future__ import annotations

import bisect
import math
import operator
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar, Union

import numpy as np

from . import _core
from ._array import Array
from ._collectives import TYPES, type_code

if TYPE_CHECKING:
    from ._job import Team

Shape = Union[SupportsIndex, Sequence[SupportsIndex]]
A = TypeVar("A", bound=Array)
UNIT = 64  # bytes; parts begin at multiples of it
MOST = (1 << 63) - 1  # bytes that members can tell each other; no heap has as many


class Heap:
    """Free ranges of [0, size), sorted by offset."""

    def __init__(self, base: int, size: int) -> None:
        self.base = base
        self.size = size
        self.offsets = [0]
        self.lengths = [size]
        self.used_up_to = 0

    def alloc(self, nbytes: int) -> int | None:
        """Offset of a free range of that many bytes, or None when there is none."""
        need = max(UNIT, (nbytes + UNIT - 1) // UNIT * UNIT)
        for i, length in enumerate(self.lengths):
            if length >= need:
                offset = self.offsets[i]
                if length == need:
                    del self.offsets[i], self.lengths[i]
                else:
                    self.offsets[i] += need
                    self.lengths[i] -= need
                return offset
        return None

    def dirty(self, offset: int, nbytes: int) -> int:
        """How many of the first bytes of a new range may hold old data; marks the range used."""
        old = max(0, min(self.used_up_to - offset, nbytes))
        self.used_up_to = max(self.used_up_to, offset + nbytes)
        return old

    def free(self, offset: int, nbytes: int) -> None:
        """Gives a range back, and joins it with its neighbours."""
        length = max(UNIT, (nbytes + UNIT - 1) // UNIT * UNIT)
        i = bisect.bisect_left(self.offsets, offset)
        self.offsets.insert(i, offset)
        self.lengths.insert(i, length)
        for k in (i, i - 1):
            if 0 <= k < len(self.offsets) - 1:
                if self.offsets[k] + self.lengths[k] == self.offsets[k + 1]:
                    self.lengths[k] += self.lengths[k + 1]
                    del self.offsets[k + 1], self.lengths[k + 1]

    def largest(self) -> int:
        """Bytes of the largest free range."""
        return max(self.lengths, default=0)


def dtype_code(kind: np.dtype[Any]) -> int:
    """A number for the kind and size of an element."""
    return kind.itemsize * 256 + ord(kind.kind)


def dtype_name(code: int) -> str:
    """The dtype of a number of dtype_code, as NumPy prints it where it has one."""
    size, kind = divmod(code, 256)
    try:
        return str(np.dtype(f"{chr(kind)}{size}"))
    except TypeError:
        return f"elements of {size} bytes"


class Block:
    """A part of the heap; reports to its space when nothing uses it any more."""

    __slots__ = ("offset", "nbytes", "number", "space", "__weakref__")

    def __init__(self, space: Space, number: int, offset: int, nbytes: int) -> None:
        self.space = weakref.ref(space)
        self.number = number
        self.offset = offset
        self.nbytes = nbytes

    def __del__(self) -> None:
        space = self.space()
        if space is not None:
            space.drop(self.number)


class Space:
    """Arrays of a team in one memory."""

    remedy: str = "init(heap_bytes=...)"  # what gives more of it

    def __init__(
        self, team: Team, heap: Heap, bases: list[int], device: _core.Device | None = None
    ) -> None:
        self.team = team
        self.heap = heap
        self.bases = bases  # addresses of the members' memory
        self.device = device  # None: host
        self.ordinal = 0  # of the device
        self.blocks: dict[int, tuple[int, int]] = {}  # number: offset and bytes, of live arrays
        self.dropped: set[int] = set()
        self.made = 0
        self.domains: dict[int, int] = {}

    def drop(self, number: int) -> None:
        """Nothing here uses an array any more."""
        if number in self.blocks:
            self.dropped.add(number)

    def recycle(self) -> bool:
        """Frees what all members have dropped; collective. Returns whether there was anything."""
        mine = np.zeros(self.made + 1, np.uint8)
        mine[list(self.dropped)] = 1
        everywhere = self.team.allreduce(mine, "min")
        numbers = np.flatnonzero(everywhere)
        for number in numbers:
            self.dropped.discard(int(number))
            offset, nbytes = self.blocks.pop(int(number))
            self.heap.free(offset, nbytes)
        return len(numbers) > 0

    def place(self, nbytes: int, kind: np.dtype[Any]) -> tuple[int, Any]:
        """Finds room for a part on every member; collective. Returns offset, and all offsets."""
        for again in (True, False):
            offset = self.heap.alloc(nbytes)
            code = dtype_code(kind)
            asked = min(nbytes, MOST)
            mine = [-1 if offset is None else offset, asked, code, self.heap.largest()]
            table = self.team.allgather(np.array(mine, np.int64))
            for rank, row in enumerate(table):
                if row[1] != asked or row[2] != code:
                    self.undo(offset, nbytes)
                    raise ValueError(
                        f"rank {self.team.rank} asks for {nbytes} bytes of {kind}, rank {rank} for "
                        f"{row[1]} of {dtype_name(int(row[2]))}; give the same shape and dtype on "
                        "all ranks"
                    )
            if (table[:, 0] >= 0).all():
                assert offset is not None
                return offset, table[:, 0]
            self.undo(offset, nbytes)
            if not again or not self.recycle():
                break
        full = int(np.flatnonzero(table[:, 0] < 0)[0])
        raise MemoryError(
            f"no room for {nbytes} bytes in the heap of rank {full}: the largest free range has "
            f"{table[full, 3]}; free arrays, or give {self.remedy} more than {self.heap.size}"
        )

    def undo(self, offset: int | None, nbytes: int) -> None:
        """Gives back a range for which another member has no room."""
        if offset is not None:
            self.heap.free(offset, nbytes)

    def _domain(self, dt: int) -> int:
        """Domain of the atomics of a type; made at the first array of it, by all members."""
        if self.device is not None:
            return 0  # devices have none
        if dt and dt not in self.domains:
            self.domains[dt] = _core.domain(self.team._core, dt)
        return self.domains.get(dt, 0)

    def make(self, cls: type[A], shape: Shape, dtype: Any, zero: bool) -> A:
        """A new array; collective."""
        kind = np.dtype(dtype)
        if kind.hasobject:
            raise TypeError(f"dtype {kind}: arrays of Python objects cannot be shared")
        if kind.kind in "mM":
            raise TypeError(
                f"dtype {kind}: NumPy gives no buffer of dates; share int64, whose parts "
                f"a.local.view({kind.str[1:]!r}) shows as dates"
            )
        try:
            sizes = (shape,) if isinstance(shape, SupportsIndex) else tuple(shape)
            dims = tuple(operator.index(n) for n in sizes)
        except TypeError:
            raise TypeError(f"shape is {shape!r}; give an integer or a tuple of them") from None
        if any(n < 0 for n in dims):
            raise ValueError(f"shape {dims}: no axis may be negative")
        nbytes = math.prod(dims) * kind.itemsize
        dt = TYPES.get(type_code(kind), 0) if kind.isnative else 0
        offset, offsets = self.place(nbytes, kind)
        old = self.heap.dirty(offset, nbytes)
        number = self.made
        self.made += 1
        self.blocks[number] = (offset, nbytes)
        if zero and self.device is None:
            _core.clear(self.heap.base + offset, old)
        addresses = [base + int(off) for base, off in zip(self.bases, offsets)]
        form = memoryview(np.empty(0, kind).data).format
        array: A = cls(
            self.team._core,
            addresses,
            dims,
            kind.itemsize,
            form,
            kind.kind,
            kind,
            Block(self, number, offset, nbytes),
            self._domain(dt),
            dt,
            self.device,
        )
        array.team = self.team
        array._space = self
        if zero and self.device is not None:
            array.put(self.team.rank, None, np.zeros(dims, kind))
        if zero:
            self.team.barrier()
        return array

    def free(self, array: Array) -> None:
        """Ends an array; collective."""
        if array.freed:
            raise ValueError("the array has been freed before")
        self.team.barrier()
        block = array._block
        array._release()
        self.dropped.discard(block.number)
        offset, nbytes = self.blocks.pop(block.number)
        self.heap.free(offset, nbytes)
