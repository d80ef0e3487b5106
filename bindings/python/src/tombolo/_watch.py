# SPDX-License-Identifier: BSD-3-Clause
"""Arrays whose reads and writes the checker hears of, under `tombolo run --check races`.

Then `a.local` and `a.at(rank)` are of the class Watched, and so are views of them. What reads or
writes elements by an index, a universal function, or one of the methods and functions below
notifies the checker of exactly these elements. Everything else is not seen: what a function of
another library does with them, and what `np.asarray` gives.
"""

# The methods of ndarray have more forms than are declared here.
# pyright: reportIncompatibleMethodOverride=false

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _core

ON = "races" in os.environ.get("TOMBOLO_CHECK", "")


def plain(value: Any) -> Any:
    """The same elements, which are not watched."""
    return value.view(np.ndarray) if isinstance(value, Watched) else value


def shown(part: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same elements, watched."""
    return part.view(Watched)


def touch(value: Any, writes: bool = False, where: Any = None) -> None:
    """All elements, or those at these places, are accessed."""
    if not isinstance(value, Watched):
        return
    offsets = None if where is None else np.unique(np.ascontiguousarray(where, np.int64))
    _core.touch(plain(value), writes, offsets)


def places(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Where the elements are, in bytes from the first one."""
    found = np.zeros((), np.int64)
    for count, stride in zip(array.shape, array.strides):
        found = found[..., None] + np.arange(count, dtype=np.int64) * stride
    return found


def view_of(array: Any, key: Any) -> Any:
    """The part that an index names, if it is a view; else None."""
    parts: Any = key
    if not isinstance(key, tuple):
        parts = (key,)
    for part in parts:
        if part is None or part is Ellipsis or isinstance(part, slice):
            continue
        if isinstance(part, (bool, np.bool_)) or not hasattr(part, "__index__"):
            return None
        if isinstance(part, np.ndarray) and part.ndim:
            return None
    if not any(part is Ellipsis for part in parts):
        parts = (*parts, ...)
    return np.ndarray.__getitem__(array, parts)


def touch_index(array: Any, key: Any, writes: bool) -> None:
    """The elements that an index names are accessed."""
    if isinstance(key, str) or not isinstance(array, Watched):
        return  # a field of a structure: not seen
    view = view_of(array, key)
    if view is None:
        touch(array, writes, places(array)[plain(key)])
    else:
        touch(view, writes)


class Watched(np.ndarray[Any, Any]):
    """A part of an array, or a view of it."""

    def __getitem__(self, key: Any) -> Any:
        got = super().__getitem__(key)
        if not isinstance(got, Watched) or view_of(self, key) is None:
            touch_index(self, key, False)
            return plain(got)
        return got

    def __setitem__(self, key: Any, value: Any) -> None:
        touch(value)
        touch_index(self, key, True)
        plain(self)[plain(key)] = plain(value)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = (), **kwargs: Any
    ) -> Any:
        where = kwargs.get("where", True)
        if method == "at":
            touch_index(inputs[0], inputs[1], True)
            for value in inputs[2:]:
                touch(value)
        elif where is True:
            for value in inputs:
                touch(value)
            for value in out:
                touch(value, True)
        if out:
            kwargs["out"] = tuple(plain(value) for value in out)
        kwargs["where"] = plain(where)
        if where is True:
            del kwargs["where"]
        result = getattr(ufunc, method)(*(plain(value) for value in inputs), **kwargs)
        if not out:
            return result
        if len(out) == 1:
            return out[0]
        return tuple(r if o is None else o for r, o in zip(result, out))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func is np.copyto and len(args) == 2 and not kwargs:
            touch(args[1])
            touch(args[0], True)
            return func(plain(args[0]), plain(args[1]))
        if func not in READERS or kwargs.get("out") is not None:
            return super().__array_function__(func, types, args, kwargs)
        return func(*map(read, args), **{name: read(value) for name, value in kwargs.items()})

    def item(self, *args: Any) -> Any:
        """One element as a number."""
        where = places(self)
        if len(args) == 1 and not isinstance(args[0], tuple):
            where = where.reshape(-1)
        touch(self, False, where[args[0] if len(args) == 1 else args] if args else None)
        return plain(self).item(*args)

    def take(self, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Any:
        """Elements by their indices."""
        touch(self, False, places(self).take(plain(indices), axis, None, mode))
        touch(out, True)
        return plain(self).take(plain(indices), axis, plain(out), mode)

    def put(self, indices: Any, values: Any, mode: Any = "raise") -> None:
        """Writes elements by their indices."""
        touch(self, True, places(self).reshape(-1).take(plain(indices), None, None, mode))
        touch(values)
        plain(self).put(plain(indices), plain(values), mode)


def read(value: Any) -> Any:
    """What a function is called with that reads all of it."""
    if type(value) in (list, tuple):
        return type(value)([read(one) for one in value])
    touch(value)
    return plain(value)


def method(name: str, writes: bool) -> Callable[..., Any]:
    """A method of ndarray that reads all elements, or writes all of them."""

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        touch(self, writes)
        return getattr(plain(self), name)(*map(read, args), **kwargs)

    run.__name__ = name
    return run


READERS = {
    np.array_equal,
    np.array_str,
    np.array_repr,
    np.array2string,
    np.bincount,
    np.concatenate,
    np.copy,
    np.dot,
    np.einsum,
    np.histogram,
    np.inner,
    np.median,
    np.outer,
    np.percentile,
    np.save,
    np.savetxt,
    np.tensordot,
    np.vdot,
    np.where,
    np.linalg.inv,
    np.linalg.norm,
    np.linalg.solve,
}

for _name in (
    "__bool__ __complex__ __contains__ __copy__ __deepcopy__ __float__ __format__ __index__ __int__"
    " __reduce__ __repr__ __str__ argmax argmin argsort astype copy cumprod cumsum dot dump dumps"
    " flatten nonzero repeat tobytes tofile tolist trace"
).split():
    setattr(Watched, _name, method(_name, False))
for _name in "fill sort partition".split():
    setattr(Watched, _name, method(_name, True))
