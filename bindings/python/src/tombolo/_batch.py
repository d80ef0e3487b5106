# SPDX-License-Identifier: BSD-3-Clause
"""Many elements by one operation: lists, arrays and masks as indices.

Places are numbers of elements in a part, in C order. Elements of a near rank are NumPy's matter;
those of a far one go by one indexed transfer. Atomics are started together and awaited together.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from . import _core, _foreign

if TYPE_CHECKING:
    from ._array import Array


def places(array: Array, index: Any) -> np.ndarray[Any, Any]:
    """Numbers of the elements that an index names, with the shape that NumPy gives the result."""
    shape = array.shape
    key: Any = ... if index is None else index
    if isinstance(index, list):
        key = np.asarray(key, None if index else np.intp)
    if _foreign.is_array(key):
        if len(shape) == 1 and key.dtype.kind in "iu":
            return one_axis(key, shape[0])
        if key.ndim and key.dtype.kind not in "iub":
            raise IndexError(f"index of dtype {key.dtype}: give integers, or a mask of bool")
    total = np.zeros((), np.int64)
    step = 1
    for axis in range(len(shape) - 1, -1, -1):
        ahead = [1] * len(shape)
        ahead[axis] = shape[axis]
        line = np.arange(shape[axis], dtype=np.int64).reshape(ahead)
        total = total + np.broadcast_to(line, shape)[key] * step
        step *= shape[axis]
    return np.asarray(total, np.int64)


def one_axis(index: np.ndarray[Any, Any], length: int) -> np.ndarray[Any, Any]:
    """Integers along one axis; negative ones count from its end."""
    found = np.asarray(index, np.int64)
    low, high = (found.min(), found.max()) if found.size else (0, -1)
    if low < 0:
        found = np.where(found < 0, found + length, found)
    if low < -length or high >= length:
        bad = index[(found < 0) | (found >= length)].ravel()[0]
        raise IndexError(f"index {bad} is out of bounds for axis 0 with size {length}")
    return found


def complete(value: Any) -> _core.Future[Any]:
    """A future whose operation is over."""
    future: _core.Future[Any] = _core.Future()
    future._resolve(value, None)
    return future


def host_only(array: Array) -> None:
    """Refuses arrays on devices."""
    if array._space.device is not None:
        raise TypeError("lists and arrays as indices do not reach device memory; use slices")


def get(array: Array, rank: Any, index: Any, out: Any) -> _core.Future[Any]:
    """Gets elements as a new array, or into `out`."""
    host_only(array)
    if array.team.is_near(rank):
        got = array.at(rank)[index]
    elif out is None:
        where = places(array, index)
        packed = np.empty(where.shape, array.dtype)
        return array._get_elements(rank, np.ascontiguousarray(where).reshape(-1), packed)
    else:
        got = get(array, rank, index, None).wait()
    if out is None:
        return complete(got)
    _foreign.host(out)[...] = got
    return complete(out)


def put(array: Array, rank: Any, index: Any, value: Any) -> _core.Future[Any]:
    """Puts values, which are broadcast; the last one stays where an element is named twice."""
    host_only(array)
    source = _foreign.host(value)
    if array.team.is_near(rank):
        array.at(rank)[index] = source
        return complete(None)
    where = places(array, index)
    packed = np.ascontiguousarray(np.broadcast_to(np.asarray(source, array.dtype), where.shape))
    return array._put_elements(rank, np.ascontiguousarray(where).reshape(-1), packed)


def atomics(array: Array, op: int, rank: Any, index: Any, a: Any, b: Any, gives: bool) -> Any:
    """One atomic operation on each element; ranks, places and operands are broadcast.

    gives: whether the operation returns what the elements were.
    """
    where = places(array, index)
    ranks: np.ndarray[Any, Any]
    if isinstance(rank, (list, np.ndarray)):
        ranks = np.asarray(cast(Any, rank))
        if ranks.dtype.kind not in "iu":
            raise IndexError(f"ranks {rank!r}: give integers from 0 to {array.team.size - 1}")
    else:
        ranks = np.asarray(operator.index(rank))
    shape = np.broadcast_shapes(ranks.shape, where.shape)

    def column(values: Any, dtype: np.dtype[Any]) -> Any:
        if values is None:
            return None
        if isinstance(values, int) and dtype.kind in "iu":
            if not np.iinfo(dtype).min <= values <= np.iinfo(dtype).max:
                raise OverflowError(f"{values} does not fit the array's type, {dtype}")
            return np.full(1, values, dtype)
        given = np.asarray(_foreign.host(values))
        if given.dtype != dtype and not np.can_cast(given.dtype, dtype, "same_kind"):
            raise TypeError(f"values of dtype {given.dtype} for atomics on {dtype}")
        made = given.astype(dtype, copy=False)
        if made.size == 1:  # for all
            return made.reshape(-1)
        return np.ascontiguousarray(np.broadcast_to(made, shape)).reshape(-1)

    old = np.empty(shape, array.dtype) if gives else None
    flat = None if old is None else old.reshape(-1)
    future = array._atomic_batch(
        op,
        column(ranks, np.dtype(np.int64)),
        np.ascontiguousarray(np.broadcast_to(where, shape)).reshape(-1),
        column(a, array.dtype),
        column(b, array.dtype),
        flat,
    )
    future.wait()
    return old
