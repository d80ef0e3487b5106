# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of PyTorch, CuPy and other libraries, as far as collectives and puts take them.

What offers DLPack and lies in host memory is used without a copy. Arrays of a device are copied to
the host and back by their own library (CuPy's get and set, PyTorch's cpu and copy_), unless they
lie in a device segment of this process, which calls reach by themselves. The result of
a collective is an array of the same library, on the same device. Calls that do not wait cannot copy
it to a device afterwards, so they refuse arrays of a device outside a device segment.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeGuard

import numpy as np

from . import _core, _memory
from ._memory import DeviceMemory


def is_array(value: object) -> TypeGuard[np.ndarray[Any, Any]]:
    """Whether this is an array of NumPy."""
    return isinstance(value, np.ndarray)


def is_foreign(value: Any) -> bool:
    """Whether this is an array of another library."""
    return not isinstance(value, np.ndarray) and hasattr(value, "__dlpack_device__")


def on_host(value: Any) -> bool:
    """Whether its memory is the host's."""
    return bool(value.__dlpack_device__()[0] == _memory.CPU)


def library(value: Any) -> Any:
    """The module that the array's class comes from."""
    return sys.modules[type(value).__module__.partition(".")[0]]


def to_host(value: Any) -> np.ndarray[Any, Any]:
    """The array's elements as a NumPy array: its memory if that is the host's, else a copy."""
    if on_host(value):
        try:
            return np.asarray(value) if hasattr(value, "__array__") else np.from_dlpack(value)
        except (RuntimeError, TypeError) as error:  # PyTorch: it requires grad, or is a bfloat16
            raise TypeError(
                f"{type(value).__name__}: {error}; give a view or a copy that NumPy can have"
            ) from error
    if hasattr(value, "get") and hasattr(value, "set"):  # CuPy
        return np.asarray(value.get())
    if hasattr(value, "cpu") and hasattr(value, "copy_"):  # PyTorch
        return np.asarray(value.detach().cpu())
    raise TypeError(f"{type(value).__name__} on a device: copy it to the host first")


def host(value: Any) -> Any:
    """An array of another library as one of NumPy; anything else as it is."""
    return to_host(value) if is_foreign(value) else value


def fill(value: Any, result: np.ndarray[Any, Any]) -> None:
    """Writes elements into an array of another library, which is on a device."""
    if hasattr(value, "get") and hasattr(value, "set"):
        value.set(result)
    else:
        value.copy_(library(value).from_numpy(result))


def like(value: Any, result: Any) -> Any:
    """A result as an array of the library, and on the device, of `value`."""
    if not isinstance(result, np.ndarray):
        return result
    module = library(value)
    if not on_host(value) and hasattr(value, "get") and hasattr(value, "set"):
        with value.device:
            return module.asarray(result)
    made = module.from_dlpack(result)
    return made if on_host(value) else made.to(value.device)


def like_all(value: Any, parts: list[np.ndarray[Any, Any]]) -> list[Any]:
    """Results as arrays of the library of `value`, if it is one of another library."""
    if not is_foreign(value) or isinstance(value, DeviceMemory):
        return list(parts)
    return [like(value, part) for part in parts]


def direct(value: Any) -> np.ndarray[Any, Any] | None:
    """Addresses of a contiguous array that lies in a device segment of this process."""
    memory = _memory.inside(value) if is_foreign(value) else None
    if memory is None or not memory._array.flags.c_contiguous:
        return None
    array: np.ndarray[Any, Any] = memory._array
    return array


def place(value: Any) -> np.ndarray[Any, Any]:
    """The memory of an array, for a call that does not wait: nothing is copied."""
    array = direct(value)
    if array is not None:
        return array
    if not on_host(value):
        raise TypeError(
            f"{type(value).__name__} on a device: calls whose names end in _nb take arrays of the "
            "host and of device segments; use the call that waits"
        )
    return to_host(value)


def give(future: _core.Future[Any], dest: Any, src: Any, out: Any) -> _core.Future[Any]:
    """The future with `out`, or with `dest` as an array of the library of `src`, as its result."""
    if is_foreign(out):
        future._give(out)
    elif out is None and is_foreign(src) and not isinstance(src, DeviceMemory):
        future._give(like(src, dest))
    return future


def run(call: Callable[[Any, Any], Any], src: Any, out: Any) -> Any:
    """call(src, out) with NumPy arrays in place of both; the result is again of their library.

    What lies in a device segment goes as an array of its addresses: the library copies by itself.
    """
    source = direct(src)
    if source is None:
        source = to_host(src) if is_foreign(src) else src
    if not is_foreign(out):
        result = call(source, out)
        return result if out is not None or isinstance(src, DeviceMemory) else like(src, result)
    place = direct(out)
    if place is not None:
        call(source, place)
        return out
    if on_host(out):
        call(source, to_host(out))
    else:
        room = source if src is out else to_host(out)
        call(room if src is out else source, room)
        fill(out, room)
    return out
