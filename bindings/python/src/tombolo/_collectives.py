# SPDX-License-Identifier: BSD-3-Clause
"""The collectives of a team: on arrays, numbers, other libraries' arrays, and any object.

`Collectives` is a base of Team. Every method is called by all members, in the same order. Blocks of
different lengths have methods of their own, which end in v: they exchange the lengths first.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex, Union

import numpy as np

from . import _core, _foreign, _memory, _messages
from ._core import Future
from ._core import Team as CoreTeam

Op = Union[str, Callable[[Any, Any], Any]]

BROADCAST, REDUCE, ALLREDUCE, SCATTER, GATHER = 0, 1, 2, 3, 4
ALLGATHER, EXCHANGE, REDUCE_SCATTER, SCAN, EXSCAN = 5, 6, 7, 8, 9
V_SCATTER, V_GATHER, V_ALLGATHER, V_EXCHANGE = 0, 1, 2, 3
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
BITS, ORDERED = ("and", "or", "xor"), ("and", "or", "xor", "min", "max")
BY_EXTENSION = ("i1", "u1", "i2", "u2", "c8", "c16")
UFUNCS: dict[str, np.ufunc] = {
    "sum": np.add,
    "prod": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
OF_BOOL = {"min": "and", "max": "or", "and": "and", "or": "or", "xor": "xor"}


def type_code(dtype: np.dtype[Any]) -> str:
    """Kind and bytes of an element, as in f8."""
    return f"{dtype.kind}{dtype.itemsize}"


class Collectives:
    """What members of a team do together."""

    _core: CoreTeam
    rank: int
    size: int

    def _start(
        self, kind: int, root: SupportsIndex, dst: Any, src: Any, nbytes: int, how: Any = None
    ) -> Future[Any]:
        dt, count, op, function = how if how else (0, 0, 0, None)
        core = self._core
        return _core.collective(core, kind, root, dst, src, nbytes, dt, count, op, function)

    def _how(self, src: np.ndarray[Any, Any], op: Op, count: int) -> tuple[Any, ...]:
        """Type, count, operator and function of a collective that combines values."""
        if callable(op):
            return DT_USER, count, 0, combiner(op, src.dtype)
        if op not in OPS:
            raise ValueError(f"op is {op!r}; give one of {' '.join(OPS)}, or a function")
        code = type_code(src.dtype)
        if code == "b1":
            if op not in OF_BOOL:
                raise TypeError(f"op {op} of bool: convert to a type of numbers")
            return DT_USER, count, OPS[OF_BOOL[op]], "u1"
        if code in TYPES and src.dtype.isnative and not (code[0] == "f" and op in BITS):
            return TYPES[code], count, OPS[op], None
        if code in BY_EXTENSION and src.dtype.isnative and not (code[0] == "c" and op in ORDERED):
            return DT_USER, count, OPS[op], code
        return DT_USER, count, 0, combiner(ufunc(op, src.dtype), src.dtype)

    def _combine_nb(
        self, kind: int, src: Any, op: Op, out: Any, root: SupportsIndex = 0, parts: int = 1
    ) -> Future[Any]:
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
        future = self._start(kind, root, dest, source, source.dtype.itemsize, how)
        return _foreign.give(future, dest, src, out)

    def bcast_nb(self, data: Any, root: SupportsIndex = 0) -> Future[Any]:
        """Sends the root's array into everybody's `data`, in place."""
        array = _foreign.place(data) if _foreign.is_foreign(data) else data
        if not _foreign.is_array(array):
            raise TypeError("bcast: data must be an array; for other objects: bcast_object")
        if not array.flags.c_contiguous:
            raise ValueError("bcast: data must be contiguous")
        source = array if self.rank == root.__index__() else None
        future = self._start(BROADCAST, root, array, source, array.nbytes)
        return _foreign.give(future, None, None, data)

    def bcast(self, data: Any, root: SupportsIndex = 0) -> Any:
        """Sends the root's array into everybody's `data`, in place, and returns it."""
        if _foreign.is_foreign(data):
            return _foreign.run(lambda s, o: self.bcast(o, root), data, data)
        return self.bcast_nb(data, root).wait()

    def allreduce_nb(self, src: Any, op: Op = "sum", out: Any = None) -> Future[Any]:
        """Combines the members' arrays element by element; all get the result."""
        return self._combine_nb(ALLREDUCE, src, op, out)

    def allreduce(self, src: Any, op: Op = "sum", out: Any = None) -> Any:
        """Combines arrays or numbers for all. op: sum prod min max and or xor, or a function."""
        if src.__class__ is np.ndarray:
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
    ) -> Future[Any]:
        """Combines as allreduce; the result is the root's, None elsewhere."""
        return self._combine_nb(REDUCE, src, op, out, root)

    def reduce(self, src: Any, op: Op = "sum", root: SupportsIndex = 0, out: Any = None) -> Any:
        """Combines as allreduce; the result is the root's, None elsewhere."""
        if _foreign.is_foreign(src):
            return _foreign.run(lambda s, o: self.reduce(s, op, root, o), src, out)
        return plain(src, self.reduce_nb(src, op, root, out).wait())

    def scan_nb(self, src: Any, op: Op = "sum", out: Any = None) -> Future[Any]:
        """Combines the arrays of ranks 0 to this one."""
        return self._combine_nb(SCAN, src, op, out)

    def scan(self, src: Any, op: Op = "sum", out: Any = None) -> Any:
        """Combines the arrays of ranks 0 to this one."""
        if _foreign.is_foreign(src):
            return _foreign.run(lambda s, o: self.scan(s, op, o), src, out)
        return plain(src, self._combine_nb(SCAN, src, op, out).wait())

    def exscan(self, src: Any, op: Op = "sum", out: Any = None) -> Any:
        """Combines the arrays of the ranks below; rank 0 gets zeros, or `out` as it was."""
        if _foreign.is_foreign(src):
            return _foreign.run(lambda s, o: self.exscan(s, op, o), src, out)
        return plain(src, self.exscan_nb(src, op, out).wait())

    def exscan_nb(self, src: Any, op: Op = "sum", out: Any = None) -> Future[Any]:
        """Combines the arrays of the ranks below; rank 0 gets zeros, or `out` as it was."""
        if out is None:
            out = np.zeros_like(contiguous(src))
            return _foreign.give(self._combine_nb(EXSCAN, src, op, out), out, src, None)
        return self._combine_nb(EXSCAN, src, op, out)

    def reduce_scatter(self, src: Any, op: Op = "sum", out: Any = None) -> Any:
        """Combines arrays of shape (size, ...); rank r gets row r of the result."""
        if _foreign.is_foreign(src):
            return _foreign.run(lambda s, o: self.reduce_scatter(s, op, o), src, out)
        return self.reduce_scatter_nb(src, op, out).wait()

    def reduce_scatter_nb(self, src: Any, op: Op = "sum", out: Any = None) -> Future[Any]:
        """Combines arrays of shape (size, ...); rank r gets row r of the result."""
        return self._combine_nb(REDUCE_SCATTER, src, op, out, 0, self.size)

    def allgather_nb(self, src: Any, out: Any = None) -> Future[Any]:
        """Everybody gets the arrays of all as rows of one."""
        source = contiguous(src)
        dest = destination(out, (self.size, *source.shape), source.dtype)
        future = self._start(ALLGATHER, 0, dest, source, source.nbytes)
        return _foreign.give(future, dest, src, out)

    def allgather(self, src: Any, out: Any = None) -> Any:
        """Everybody gets the arrays of all as rows of one."""
        if _foreign.is_foreign(src):
            return _foreign.run(self.allgather, src, out)
        return self.allgather_nb(src, out).wait()

    def gather(self, src: Any, root: SupportsIndex = 0, out: Any = None) -> Any:
        """The root gets the arrays of all as rows of one; None elsewhere."""
        if _foreign.is_foreign(src):
            return _foreign.run(lambda s, o: self.gather(s, root, o), src, out)
        return self.gather_nb(src, root, out).wait()

    def gather_nb(self, src: Any, root: SupportsIndex = 0, out: Any = None) -> Future[Any]:
        """The root gets the arrays of all as rows of one; None elsewhere."""
        source = contiguous(src)
        dest = None
        if self.rank == root.__index__():
            dest = destination(out, (self.size, *source.shape), source.dtype)
        future = self._start(GATHER, root, dest, source, source.nbytes)
        return _foreign.give(future, dest, src, out)

    def scatter(self, src: Any, out: Any, root: SupportsIndex = 0) -> Any:
        """Row r of the root's src goes into `out` of rank r, which is returned."""
        if _foreign.is_foreign(out) or _foreign.is_foreign(src):
            return _foreign.run(lambda s, o: self.scatter(s, o, root), src, out)
        return self.scatter_nb(src, out, root).wait()

    def scatter_nb(self, src: Any, out: Any, root: SupportsIndex = 0) -> Future[Any]:
        """Row r of the root's src goes into `out` of rank r, which is the result."""
        source, dest = None, _foreign.place(out) if _foreign.is_foreign(out) else out
        if not _foreign.is_array(dest):
            raise TypeError(f"scatter: out is {out!r}; give an array for this rank's row")
        if self.rank == root.__index__():
            source = contiguous(src)
            if source.shape != (self.size, *dest.shape) or source.dtype != dest.dtype:
                raise ValueError(
                    f"src has shape {source.shape} and type {source.dtype}; out needs "
                    f"{(self.size, *dest.shape)} and {dest.dtype}"
                )
        future = self._start(SCATTER, root, dest, source, dest.nbytes)
        return _foreign.give(future, None, None, out)

    def alltoall(self, src: Any, out: Any = None) -> Any:
        """Row j of rank i's src becomes row i of rank j's result."""
        if _foreign.is_foreign(src):
            return _foreign.run(self.alltoall, src, out)
        return self.alltoall_nb(src, out).wait()

    def alltoall_nb(self, src: Any, out: Any = None) -> Future[Any]:
        """Row j of rank i's src becomes row i of rank j's result."""
        source = contiguous(src)
        if not source.shape or source.shape[0] != self.size:
            raise ValueError(f"src has shape {source.shape}; its first axis must be {self.size}")
        dest = destination(out, source.shape, source.dtype)
        future = self._start(EXCHANGE, 0, dest, source, source.nbytes // self.size)
        return _foreign.give(future, dest, src, out)

    # ---- blocks of different lengths
    def _blocks_of(
        self, kind: int, dst: list[int], src: list[int], data: Any, like: Any, root: int = 0
    ) -> list[Any]:
        """Moves blocks of dst[r] and src[r] rows; returns those that arrive, as views of one array.

        data: what is sent, contiguous, or None; like: an array with the type and the further axes.
        """
        row = math.prod(like.shape[1:]) * like.dtype.itemsize
        table = np.zeros((4, self.size), np.uintp)
        for at, rows in ((0, dst), (2, src)):
            table[at] = np.array(rows, np.uintp) * row
            table[at + 1, 1:] = np.cumsum(table[at])[:-1]
        ends = np.cumsum(dst)
        result = np.empty((int(ends[-1]), *like.shape[1:]), like.dtype)
        _core.collective_v(self._core, kind, root, result, data, table).wait()
        return [result[end - n : end] for n, end in zip(dst, ends)]

    def _rows(self, src: Any, name: str) -> np.ndarray[Any, Any]:
        """The array of a member, which has at least one axis."""
        source = contiguous(_foreign.host(src))
        if not source.shape:
            raise ValueError(f"{name}: src is a number; give an array of at least one axis")
        return source

    def _lengths(self, source: np.ndarray[Any, Any], name: str) -> list[int]:
        """Rows of each member's array; the further axes and the type must agree."""
        row = np.dtype(source.dtype).num * 1_000_003 + hash(source.shape[1:]) % 1_000_003
        table = self.allgather(np.array([len(source), row], np.int64))
        if (table[:, 1] != row).any():
            other = int(np.flatnonzero(table[:, 1] != row)[0])
            raise ValueError(
                f"{name}: the array of rank {other} has another type or shape than "
                f"{source.dtype} and (n, {', '.join(map(str, source.shape[1:]))})"
            )
        return [int(n) for n in table[:, 0]]

    def allgatherv(self, src: Any) -> list[Any]:
        """Everybody gets the arrays of all; their first axes may have different lengths."""
        source = self._rows(src, "allgatherv")
        lengths = self._lengths(source, "allgatherv")
        got = self._blocks_of(V_ALLGATHER, lengths, [0] * self.size, source, source)
        return _foreign.like_all(src, got)

    def gatherv(self, src: Any, root: SupportsIndex = 0) -> list[Any] | None:
        """The root gets the arrays of all, as allgatherv; None elsewhere."""
        source = self._rows(src, "gatherv")
        lengths = self._lengths(source, "gatherv")
        mine, end = [0] * self.size, root.__index__()
        mine[self.rank] = len(source)
        dst = lengths if self.rank == end else [0] * self.size
        got = self._blocks_of(V_GATHER, dst, mine, source, source, end)
        return _foreign.like_all(src, got) if self.rank == end else None

    def scatterv(self, src: Sequence[Any] | None, root: SupportsIndex = 0) -> Any:
        """Array r of the root's list goes to rank r, which gets it; others give None."""
        end, plan, whole = root.__index__(), None, None
        if self.rank == end:
            parts = self._parts(src, "scatterv")
            plan = ([len(p) for p in parts], parts[0].shape[1:], parts[0].dtype)
            whole = np.concatenate(parts)
        lengths, rest, dtype = self.bcast_object(plan, end)
        like, data = np.empty((0, *rest), dtype), whole
        mine = [0] * self.size
        mine[self.rank] = lengths[self.rank]
        return self._blocks_of(V_SCATTER, mine, lengths, data, like, end)[self.rank]

    def alltoallv(self, src: Sequence[Any]) -> list[Any]:
        """Array j of rank i's list becomes array i of rank j's result."""
        parts = self._parts(src, "alltoallv")
        send = [len(p) for p in parts]
        whole = np.concatenate(parts)
        self._lengths(whole, "alltoallv")
        receive = [int(n) for n in self.alltoall(np.array(send, np.int64).reshape(-1, 1))[:, 0]]
        got = self._blocks_of(V_EXCHANGE, receive, send, whole, whole)
        return _foreign.like_all(src[0], got)

    def _parts(self, src: Sequence[Any] | None, name: str) -> list[np.ndarray[Any, Any]]:
        """The arrays that are sent, one for each member, of one type and one shape of rows."""
        if src is None or len(src) != self.size:
            raise ValueError(f"{name}: src must be a list of {self.size} arrays, one for each rank")
        parts = [self._rows(part, name) for part in src]
        for part in parts:
            if part.dtype != parts[0].dtype or part.shape[1:] != parts[0].shape[1:]:
                raise ValueError(f"{name}: all arrays must have one type and differ in axis 0 only")
        return parts

    # ---- any object
    def bcast_object(self, value: Any, root: SupportsIndex = 0) -> Any:
        """The root's object, on all members; sent with pickle."""
        is_root = self.rank == root.__index__()
        data = _messages.dumps(value) if is_root else b""
        length = self.bcast(np.array([len(data)], np.int64), root)
        block = np.frombuffer(data, np.uint8).copy() if is_root else np.empty(length[0], np.uint8)
        self.bcast(block, root)
        return value if is_root else pickle.loads(block.tobytes())

    def allgather_object(self, value: Any) -> list[Any]:
        """The objects of all members, in the order of ranks; sent with pickle."""
        data = np.frombuffer(_messages.dumps(value), np.uint8)
        lengths = self.allgather(np.array([len(data)], np.int64))[:, 0]
        padded = np.zeros(int(lengths.max()), np.uint8)
        padded[: len(data)] = data
        table = self.allgather(padded)
        return [pickle.loads(row[:n].tobytes()) for row, n in zip(table, lengths)]


def ufunc(op: str, dtype: np.dtype[Any]) -> np.ufunc:
    """NumPy's function for an operation, if its result has the type of the elements."""
    function = UFUNCS[op]
    sample = np.ones(1, dtype)
    try:
        if function(sample, sample).dtype == dtype.newbyteorder("="):
            return function
    except TypeError:  # NumPy has none for this type
        pass
    raise TypeError(
        f"op {op!r} is not defined for dtype {dtype}; give another, or a function of two arrays"
    )


def combiner(op: Callable[[Any, Any], Any], dtype: np.dtype[Any]) -> Callable[..., None]:
    """What the extension calls with two memories; the second one receives the result."""
    name = getattr(op, "__name__", repr(op))

    def combine(left: memoryview, right: memoryview) -> None:
        y = np.frombuffer(right, dtype)
        result = op(np.frombuffer(left, dtype), y)
        if np.shape(result) != y.shape:
            raise ValueError(f"{name} returned shape {np.shape(result)}, not {y.shape}")
        y[...] = result

    return combine


def contiguous(value: Any) -> np.ndarray[Any, Any]:
    """The value as a contiguous NumPy array, without a copy where it is one."""
    if _foreign.is_array(value):
        source = value
    else:
        source = _foreign.place(value) if _foreign.is_foreign(value) else np.asarray(value)
    if source.dtype.hasobject:
        raise TypeError(f"{type(value).__name__}: collectives need numbers; see allgather_object")
    return source if source.flags.c_contiguous else np.ascontiguousarray(source)


def destination(out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """`out` if it fits, or a new array."""
    if out is None:
        return np.empty(shape, dtype)
    if _foreign.is_foreign(out):
        out = _foreign.place(out)
    if not _foreign.is_array(out):
        raise TypeError(f"out is {out!r}; give an array of shape {shape} and type {dtype}")
    if out.shape != shape or out.dtype != dtype:
        raise ValueError(
            f"out has shape {out.shape} and type {out.dtype}; give {shape} and {dtype}"
        )
    if not out.flags.c_contiguous:
        raise ValueError("out must be contiguous")
    return out


def coerce(value: Any, dtype: np.dtype[Any]) -> Any:
    """What is put, as an array of the target's type; what lies in a device segment as it is."""
    if _foreign.is_foreign(value) and not _foreign.on_host(value):
        inside = _memory.inside(value)
        if inside is not None:
            return inside
    return np.asarray(_foreign.host(value), dtype)


def plain(src: Any, result: Any) -> Any:
    """A number for a number."""
    if isinstance(src, (bool, int, float, complex)) and result is not None:
        return result.item()
    return result
