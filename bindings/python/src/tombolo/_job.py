# SPDX-License-Identifier: BSD-3-Clause
"""The job and its teams: arrays, collectives, messages.

`init()` starts the process's part in the job, or returns it. Every method that is called collective
must be called by all members of the team, in the same order.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex, TypeVar, Union

import numpy as np

from . import _aio, _core, _errors, _messages
from ._array import Array, Signals
from ._collectives import TYPES, Collectives, coerce, type_code
from ._errors import Peer
from ._heap import Heap
from ._notify import Notification, Semaphore

Shape = Union[SupportsIndex, Sequence[SupportsIndex]]
A = TypeVar("A", bound=Array)


class Block:
    """A part of the heap; reports to its team when nothing uses it any more."""

    __slots__ = ("offset", "nbytes", "number", "team", "__weakref__")

    def __init__(self, team: Team, number: int, offset: int, nbytes: int) -> None:
        self.team = weakref.ref(team)
        self.number = number
        self.offset = offset
        self.nbytes = nbytes

    def __del__(self) -> None:
        team = self.team()
        if team is not None:
            team._drop(self.number)


class Team(Collectives):
    """An ordered set of ranks. `rank` is this process's number in it, `size` their count."""

    def __init__(self, core: _core.Team, heap: Heap) -> None:
        self._core = core
        self._heap = heap
        self._bases = core.bases()
        self._blocks: dict[int, tuple[int, int]] = {}  # number: offset and bytes, of live arrays
        self._dropped: set[int] = set()
        self._made = 0
        self._domains: dict[int, int] = {}
        self.rank: int = core.rank
        self.size: int = core.size

    def __repr__(self) -> str:
        return f"<tombolo.{type(self).__name__}: rank {self.rank} of {self.size}>"

    # ---- teams
    def split(self, color: int, key: int = 0) -> Team | None:
        """Makes a team of the members that give the same color, ordered by key; collective.

        Returns None to a member whose color is negative.
        """
        self.barrier()  # unlike the library's call it can be interrupted
        core = self._core.split(color, key)
        return None if core is None else Team(core, self._heap)

    def split_hosts(self) -> Team:
        """One team for each host; collective. Its members can reach each other's memory."""
        team = self.split(_core.place()[2], self.rank)
        assert team is not None
        return team

    def shrink(self) -> Team:
        """A team of the members that are left; collective over those, which agree on it.

        See `Job.report_failures`. This team stays as it is.
        """
        return Team(_core.shrink(self._core), self._heap)

    def free(self) -> None:
        """Ends the team; collective. Its arrays can no longer be used."""
        self.barrier()
        self._core.free()

    def job_rank(self, rank: SupportsIndex) -> int:
        """Rank in the job of a member."""
        return self._core.jobrank(rank)

    @property
    def handle(self) -> int:
        """The team's gex_TM_t as a number, for C libraries in this process (ctypes, cffi)."""
        return self._core.handle

    def is_near(self, rank: SupportsIndex) -> bool:
        """Whether a member's memory is mapped here, so that `Array.at` shows it."""
        return self._core.near(rank)

    def barrier(self) -> None:
        """Waits until all members are here; collective. Handlers of messages run meanwhile."""
        self._core.barrier().wait()

    def barrier_nb(self) -> _core.Future:
        """The same without waiting."""
        return self._core.barrier()

    # ---- arrays
    def _drop(self, number: int) -> None:
        if number in self._blocks:
            self._dropped.add(number)

    def _recycle(self) -> bool:
        """Frees what all members have dropped; collective. Returns whether there was anything."""
        mine = np.zeros(self._made + 1, np.uint8)
        mine[list(self._dropped)] = 1
        everywhere = self.allreduce(mine, "min")
        numbers = np.flatnonzero(everywhere)
        for number in numbers:
            self._dropped.discard(int(number))
            offset, nbytes = self._blocks.pop(int(number))
            self._heap.free(offset, nbytes)
        return len(numbers) > 0

    def _place(self, nbytes: int, code: int) -> tuple[int, Any]:
        """Finds room for a part on every member; collective. Returns offset, and all offsets."""
        for again in (True, False):
            offset = self._heap.alloc(nbytes)
            mine = [-1 if offset is None else offset, nbytes, code, self._heap.largest()]
            table = self.allgather(np.array(mine, np.int64))
            for rank, row in enumerate(table):
                if row[1] != nbytes or row[2] != code:
                    self._undo(offset, nbytes)
                    raise ValueError(
                        f"rank {self.rank} asks for {nbytes} bytes of type code {code}, rank "
                        f"{rank} for {row[1]} of {row[2]}; give the same shape and dtype on all "
                        "ranks"
                    )
            if (table[:, 0] >= 0).all():
                assert offset is not None
                return offset, table[:, 0]
            self._undo(offset, nbytes)
            if not again or not self._recycle():
                break
        full = int(np.flatnonzero(table[:, 0] < 0)[0])
        raise MemoryError(
            f"no room for {nbytes} bytes in the heap of rank {full}: the largest free range has "
            f"{table[full, 3]}; free arrays, or give init(heap_bytes=...) more than "
            f"{self._heap.size}"
        )

    def _undo(self, offset: int | None, nbytes: int) -> None:
        if offset is not None:
            self._heap.free(offset, nbytes)

    def _domain(self, dt: int) -> int:
        """Domain of the atomics of a type; made at the first array of it, by all members."""
        if dt and dt not in self._domains:
            self._domains[dt] = _core.domain(self._core, dt)
        return self._domains.get(dt, 0)

    def _make(self, cls: type[A], shape: Shape, dtype: Any, zero: bool) -> A:
        kind = np.dtype(dtype)
        if kind.hasobject:
            raise TypeError(f"dtype {kind}: arrays of Python objects cannot be shared")
        sizes = (shape,) if isinstance(shape, SupportsIndex) else tuple(shape)
        dims = tuple(int(n.__index__()) for n in sizes)
        if any(n < 0 for n in dims):
            raise ValueError(f"shape {dims}: no axis may be negative")
        nbytes = math.prod(dims) * kind.itemsize
        dt = TYPES.get(type_code(kind), 0) if kind.isnative else 0
        offset, offsets = self._place(nbytes, dt * 1000 + ord(kind.kind))
        old = self._heap.dirty(offset, nbytes)
        number = self._made
        self._made += 1
        self._blocks[number] = (offset, nbytes)
        if zero:
            _core.clear(self._heap.base + offset, old)
        addresses = [base + int(off) for base, off in zip(self._bases, offsets)]
        form = memoryview(np.empty(0, kind).data).format
        array: A = cls(
            self._core,
            addresses,
            dims,
            kind.itemsize,
            form,
            kind.kind,
            kind,
            Block(self, number, offset, nbytes),
            self._domain(dt),
            dt,
        )
        array.team = self
        if zero:
            self.barrier()
        return array

    def empty(self, shape: Shape, dtype: Any = float) -> Array:
        """An array with a part of that shape on each member, not initialised; collective."""
        return self._make(Array, shape, dtype, False)

    def zeros(self, shape: Shape, dtype: Any = float) -> Array:
        """The same, set to zero everywhere before it returns; collective."""
        return self._make(Array, shape, dtype, True)

    def array(self, part: Any) -> Array:
        """An array whose part here is a copy of `part`, of one shape on all; collective."""
        source = np.asarray(part)
        made = self.empty(source.shape, source.dtype)
        made.local[...] = source
        self.barrier()
        return made

    def signals(self, count: int = 1) -> Signals:
        """`count` signals on each member, all zero; collective."""
        return self._make(Signals, count, np.uint64, True)

    def notification(
        self, source: SupportsIndex | None = None, tag: int | None = None, count: int = 1
    ) -> Notification:
        """A request for `count` notifications from a member with a tag; None: any. Local."""
        return Notification(self._core, source, tag, count)

    def _free(self, array: Array) -> None:
        if array.freed:
            raise ValueError("the array has been freed before")
        self.barrier()
        block = array._block
        array._release()
        self._dropped.discard(block.number)
        offset, nbytes = self._blocks.pop(block.number)
        self._heap.free(offset, nbytes)

class Job(Team):
    """The team of all ranks, and what belongs to the process."""

    @property
    def heap_bytes(self) -> int:
        """Bytes of this rank's heap."""
        return self._heap.size

    @property
    def host_rank(self) -> int:
        """Number of this rank among those of its host."""
        return _core.place()[0]

    @property
    def hosts(self) -> int:
        """How many hosts the job has."""
        return _core.place()[3]

    def send(self, rank: SupportsIndex, function: Callable[..., Any], *args: Any) -> None:
        """Runs function(*args) on a rank, from a poll or wait of its program; does not wait."""
        _messages.send(rank, function, args)

    def call(self, rank: SupportsIndex, function: Callable[..., Any], *args: Any) -> _core.Future:
        """The same with an answer: the future's result is what the function returns."""
        return _messages.call(rank, function, args)

    @property
    def sender(self) -> int:
        """Rank that sent the message whose handler runs now."""
        return _messages.sender()

    def semaphore(self, boolean: bool = False) -> Semaphore:
        """A semaphore of this rank, empty; boolean: a post to a full one changes nothing. Local."""
        return Semaphore(boolean)

    # ---- ranks that are lost
    def report_failures(self, report: bool = True) -> None:
        """From now on the end of a rank does not end the job; collective (False: local, at once).

        An operation that meets a lost rank raises LostError. Nothing may be under way. The guide is
        docs/FAILURE.md.
        """
        _core.policy(report)

    @property
    def reports_failures(self) -> bool:
        """Whether losses are reported; False: the end of a rank ends the job."""
        return _core.policy(None)

    def on_lost(self, function: Callable[[int, Peer], Any] | None) -> None:
        """Calls function(rank, peer) once for each rank that is lost, from a wait or poll.

        What it raises leaves that wait.
        """
        _messages.set_on_lost(function)

    def peer(self, rank: SupportsIndex) -> Peer:
        """What has become of a rank."""
        state, is_lost, code, signal = _core.peer(rank.__index__())
        return Peer(("alive", "stopped", "failed")[state], bool(is_lost), code, signal)

    def lost(self) -> list[int]:
        """The ranks that are lost, in rising order."""
        return _core.lost()

    def poll(self, seconds: float = 0.0) -> bool:
        """Runs progress and handlers; with a time, sleeps so long or until something happens."""
        return _core.poll(seconds)

    def quiet(self) -> int:
        """Futures made before now need no wait; returns how many there are."""
        return _core.quiet()

    def exit(self, code: int = 0) -> None:
        """Ends the whole job at once with this code."""
        _core.end_job(code)


_JOB: list[Job] = []


def init(heap_bytes: int | None = None) -> Job:
    """Starts this process's part in the job; collective the first time, later returns the same.

    heap_bytes: memory for arrays on each rank; None: what the library permits. Memory that is not
    used costs nothing.
    """
    if _JOB:
        return _JOB[0]
    if heap_bytes is not None and heap_bytes <= 0:
        raise ValueError(f"heap_bytes is {heap_bytes}; give None, or a number of bytes above 0")
    _core.hooks(
        np.empty,
        coerce,
        _messages.dispatch,
        _errors.forgotten,
        _aio.iterate,
        lambda data, dtype: np.frombuffer(data, dtype)[0],
        _errors.place,
        _errors.lost,
    )
    core = _core.start(heap_bytes or 0)
    base, size = _core.heap()
    _JOB.append(Job(core, Heap(base, size)))
    _errors.install(core.rank)
    return _JOB[0]


def job() -> Job:
    """The job of this process, started if need be."""
    return init()
