# SPDX-License-Identifier: BSD-3-Clause
"""The job and its teams: arrays, collectives, messages.

`init()` starts the process's part in the job, or returns it. Every method that is called collective
must be called by all members of the team, in the same order.
"""

from __future__ import annotations

import math
import pickle
import weakref
from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex, TypeVar, Union

import numpy as np

from . import _aio, _core, _errors, _foreign, _messages
from ._array import Array, Signals
from ._heap import Heap

Shape = Union[SupportsIndex, Sequence[SupportsIndex]]
A = TypeVar("A", bound=Array)
Op = Union[str, Callable[[Any, Any], Any]]

BROADCAST, REDUCE, ALLREDUCE, SCATTER, GATHER = 0, 1, 2, 3, 4
ALLGATHER, EXCHANGE, REDUCE_SCATTER, SCAN, EXSCAN = 5, 6, 7, 8, 9
DT_USER = 1 << 6
TYPES = {"i4": 1 << 0, "u4": 1 << 1, "i8": 1 << 2, "u8": 1 << 3, "f4": 1 << 4, "f8": 1 << 5}
OPS = {
    "and": 1 << 0,
    "or": 1 << 1,
    "xor": 1 << 2,
    "sum": 1 << 3,
    "prod": 1 << 5,
    "min": 1 << 6,
    "max": 1 << 7,
}
SHORT = {"sum": OPS["sum"], "prod": OPS["prod"], "min": OPS["min"], "max": OPS["max"]}
OF_BOOL = {"min": "and", "max": "or", "and": "and", "or": "or", "xor": "xor"}


def type_code(dtype: np.dtype[Any]) -> str:
    """Kind and bytes of an element, as in f8."""
    return f"{dtype.kind}{dtype.itemsize}"


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


class Team:
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

    def _free(self, array: Array) -> None:
        if array.freed:
            raise ValueError("the array has been freed before")
        self.barrier()
        block = array._block
        array._release()
        self._dropped.discard(block.number)
        offset, nbytes = self._blocks.pop(block.number)
        self._heap.free(offset, nbytes)

    # ---- collectives
    def _start(
        self, kind: int, root: SupportsIndex, dst: Any, src: Any, nbytes: int, how: Any = None
    ) -> _core.Future:
        dt, count, op, function = how if how else (0, 0, 0, None)
        core = self._core
        return _core.collective(core, kind, root, dst, src, nbytes, dt, count, op, function)

    def _how(self, src: np.ndarray[Any, Any], op: Op, count: int) -> tuple[Any, ...]:
        """Type, count, operator and function of a collective that combines values."""
        if callable(op):
            dtype = src.dtype
            names = getattr(op, "__name__", repr(op))

            def combine(left: memoryview, right: memoryview) -> None:
                y = np.frombuffer(right, dtype)
                result = op(np.frombuffer(left, dtype), y)
                if np.shape(result) != y.shape:
                    raise ValueError(f"{names} returned shape {np.shape(result)}, not {y.shape}")
                y[...] = result

            return DT_USER, count, 0, combine
        if op not in OPS:
            raise ValueError(f"op is {op!r}; give one of {' '.join(OPS)}, or a function")
        code = type_code(src.dtype)
        if not src.dtype.isnative:
            raise TypeError(f"dtype {src.dtype}: convert to the byte order of this machine")
        if code == "b1":
            if op not in OF_BOOL:
                raise TypeError(f"op {op} of bool: convert to a type of numbers")
            return DT_USER, count, OPS[OF_BOOL[op]], "u1"
        if code in TYPES and not (code[0] == "f" and op in ("and", "or", "xor")):
            return TYPES[code], count, OPS[op], None
        if code == "f2":
            raise TypeError("float16: convert to float32")
        return DT_USER, count, OPS[op], code

    def _combine_nb(
        self, kind: int, src: Any, op: Op, out: Any, root: SupportsIndex = 0, parts: int = 1
    ) -> _core.Future:
        source = contiguous(src)
        shape = source.shape
        if parts > 1 or kind == REDUCE_SCATTER:
            if not shape or shape[0] != parts:
                raise ValueError(f"src has shape {shape}; its first axis must be {parts}")
            shape = shape[1:]
        writes = kind != REDUCE or self.rank == root.__index__()
        dest = destination(out, shape, source.dtype) if writes else None
        how = self._how(source, op, math.prod(shape))
        if math.prod(shape) == 0:
            raise ValueError("src is empty; a reduction needs at least one element")
        return self._start(kind, root, dest, source, source.dtype.itemsize, how)

    def bcast_nb(self, data: Any, root: SupportsIndex = 0) -> _core.Future:
        """Sends the root's array into everybody's `data`, in place."""
        if not isinstance(data, np.ndarray):
            raise TypeError("bcast: data must be a NumPy array; for other objects: bcast_object")
        if not data.flags.c_contiguous:
            raise ValueError("bcast: data must be contiguous")
        source = data if self.rank == root.__index__() else None
        return self._start(BROADCAST, root, data, source, data.nbytes)

    def bcast(self, data: Any, root: SupportsIndex = 0) -> Any:
        """Sends the root's array into everybody's `data`, in place, and returns it."""
        if _foreign.is_foreign(data):
            return _foreign.run(lambda s, o: self.bcast(o, root), data, data)
        return self.bcast_nb(data, root).wait()

    def allreduce_nb(self, src: Any, op: Op = "sum", out: Any = None) -> _core.Future:
        """Combines the members' arrays element by element; all get the result."""
        return self._combine_nb(ALLREDUCE, src, op, out)

    def allreduce(self, src: Any, op: Op = "sum", out: Any = None) -> Any:
        """The same; a number gives a number. op: sum prod min max and or xor, or a function."""
        if type(src) is np.ndarray:
            code = SHORT.get(op)  # type: ignore[arg-type]
            if code is not None:
                dst = np.empty_like(src) if out is None else out
                result = _core.allreduce(self._core, dst, src, code)
                if result is not NotImplemented:
                    return result
        elif _foreign.is_foreign(src):
            return _foreign.run(lambda s, o: self.allreduce(s, op, o), src, out)
        return plain(src, self._combine_nb(ALLREDUCE, src, op, out).wait())

    def reduce_nb(
        self, src: Any, op: Op = "sum", root: SupportsIndex = 0, out: Any = None
    ) -> _core.Future:
        """Combines as allreduce; the result is the root's, None elsewhere."""
        return self._combine_nb(REDUCE, src, op, out, root)

    def reduce(self, src: Any, op: Op = "sum", root: SupportsIndex = 0, out: Any = None) -> Any:
        """Combines as allreduce; the result is the root's, None elsewhere."""
        if _foreign.is_foreign(src):
            return _foreign.run(lambda s, o: self.reduce(s, op, root, o), src, out)
        return plain(src, self.reduce_nb(src, op, root, out).wait())

    def scan(self, src: Any, op: Op = "sum", out: Any = None) -> Any:
        """Combines the arrays of ranks 0 to this one."""
        if _foreign.is_foreign(src):
            return _foreign.run(lambda s, o: self.scan(s, op, o), src, out)
        return plain(src, self._combine_nb(SCAN, src, op, out).wait())

    def exscan(self, src: Any, op: Op = "sum", out: Any = None) -> Any:
        """Combines the arrays of the ranks below; rank 0 gets zeros, or `out` as it was."""
        if out is None:
            out = np.zeros_like(contiguous(src))
        return plain(src, self._combine_nb(EXSCAN, src, op, out).wait())

    def reduce_scatter(self, src: Any, op: Op = "sum", out: Any = None) -> Any:
        """Combines arrays of shape (size, ...); rank r gets row r of the result."""
        return self._combine_nb(REDUCE_SCATTER, src, op, out, 0, self.size).wait()

    def allgather_nb(self, src: Any, out: Any = None) -> _core.Future:
        """Everybody gets the arrays of all as rows of one."""
        source = contiguous(src)
        dest = destination(out, (self.size, *source.shape), source.dtype)
        return self._start(ALLGATHER, 0, dest, source, source.nbytes)

    def allgather(self, src: Any, out: Any = None) -> Any:
        """Everybody gets the arrays of all as rows of one."""
        if _foreign.is_foreign(src):
            return _foreign.run(self.allgather, src, out)
        return self.allgather_nb(src, out).wait()

    def gather(self, src: Any, root: SupportsIndex = 0, out: Any = None) -> Any:
        """The root gets the arrays of all as rows of one; None elsewhere."""
        if _foreign.is_foreign(src):
            return _foreign.run(lambda s, o: self.gather(s, root, o), src, out)
        source = contiguous(src)
        dest = None
        if self.rank == root.__index__():
            dest = destination(out, (self.size, *source.shape), source.dtype)
        return self._start(GATHER, root, dest, source, source.nbytes).wait()

    def scatter(self, src: Any, out: Any, root: SupportsIndex = 0) -> Any:
        """Row r of the root's src goes into `out` of rank r, which is returned."""
        source = None
        if self.rank == root.__index__():
            source = contiguous(src)
            if source.shape != (self.size, *out.shape) or source.dtype != out.dtype:
                raise ValueError(
                    f"src has shape {source.shape} and type {source.dtype}; out needs "
                    f"{(self.size, *out.shape)} and {out.dtype}"
                )
        return self._start(SCATTER, root, out, source, out.nbytes).wait()

    def alltoall(self, src: Any, out: Any = None) -> Any:
        """Row j of rank i's src becomes row i of rank j's result."""
        if _foreign.is_foreign(src):
            return _foreign.run(self.alltoall, src, out)
        source = contiguous(src)
        if not source.shape or source.shape[0] != self.size:
            raise ValueError(f"src has shape {source.shape}; its first axis must be {self.size}")
        dest = destination(out, source.shape, source.dtype)
        return self._start(EXCHANGE, 0, dest, source, source.nbytes // self.size).wait()

    # ---- any object
    def bcast_object(self, value: Any, root: SupportsIndex = 0) -> Any:
        """The root's object, on all members; sent with pickle."""
        is_root = self.rank == root.__index__()
        data = pickle.dumps(value, protocol=5) if is_root else b""
        length = self.bcast(np.array([len(data)], np.int64), root)
        block = np.frombuffer(data, np.uint8).copy() if is_root else np.empty(length[0], np.uint8)
        self.bcast(block, root)
        return value if is_root else pickle.loads(block.tobytes())

    def allgather_object(self, value: Any) -> list[Any]:
        """The objects of all members, in the order of ranks; sent with pickle."""
        data = np.frombuffer(pickle.dumps(value, protocol=5), np.uint8)
        lengths = self.allgather(np.array([len(data)], np.int64))[:, 0]
        padded = np.zeros(int(lengths.max()), np.uint8)
        padded[: len(data)] = data
        table = self.allgather(padded)
        return [pickle.loads(row[:n].tobytes()) for row, n in zip(table, lengths)]


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

    def poll(self, seconds: float = 0.0) -> bool:
        """Runs progress and handlers; with a time, sleeps so long or until something happens."""
        return _core.poll(seconds)

    def quiet(self) -> int:
        """Futures made before now need no wait; returns how many there are."""
        return _core.quiet()

    def exit(self, code: int = 0) -> None:
        """Ends the whole job at once with this code."""
        _core.end_job(code)


def contiguous(value: Any) -> np.ndarray[Any, Any]:
    """The value as a contiguous NumPy array, without a copy where it is one."""
    source = value if isinstance(value, np.ndarray) else np.asarray(value)
    if source.dtype.hasobject:
        raise TypeError(f"{type(value).__name__}: collectives need numbers; see allgather_object")
    return source if source.flags.c_contiguous else np.ascontiguousarray(source)


def destination(out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """`out` if it fits, or a new array."""
    if out is None:
        return np.empty(shape, dtype)
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != dtype:
        raise ValueError(f"out must be a NumPy array of shape {shape} and type {dtype}")
    if not out.flags.c_contiguous:
        raise ValueError("out must be contiguous")
    return out


def coerce(value: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """What is put, as an array of the target's type."""
    return np.asarray(_foreign.to_host(value) if _foreign.is_foreign(value) else value, dtype)


def plain(src: Any, result: Any) -> Any:
    """A number for a number."""
    if isinstance(src, (bool, int, float, complex)) and result is not None:
        return result.item()
    return result


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
    )
    core = _core.start(heap_bytes or 0)
    base, size = _core.heap()
    _JOB.append(Job(core, Heap(base, size)))
    _errors.install(core.rank)
    return _JOB[0]


def job() -> Job:
    """The job of this process, started if need be."""
    return init()
