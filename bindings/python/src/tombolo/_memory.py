# SPDX-License-Identifier: BSD-3-Clause
"""Parts of device segments as objects that other libraries understand, and the way back.

DeviceMemory names memory of this rank on a device, by DLPack and by `__cuda_array_interface__`, so
that CuPy, PyTorch and JAX work on it without a copy. `inside` recognises an array of such a library
that lies in a device segment of this process. Inside is a NumPy array with addresses of the device:
it computes shapes and slices, and its elements are never touched.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core

CPU, CUDA = 1, 2  # DLPack's numbers of devices
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}  # DLPack's numbers of types
KINDS = {code: kind for kind, code in CODES.items()}
NO_WAIT = -1  # DLPack: the producer does not synchronise

segments: list[tuple[int, int, _core.Device, int]] = []  # begin, end, device, ordinal


class Phantom:
    """What NumPy makes an array of addresses from; `owner` lives as long as such arrays."""

    def __init__(self, address: int, like: dict[str, Any], owner: Any) -> None:
        self.owner = owner
        self.__array_interface__ = {**like, "data": (address, False), "version": 3}


class DeviceMemory(_core.Memory):
    """Memory of this rank on a device: for other libraries, and as a value or `out` of calls.

    Slices are again DeviceMemory, without a copy. The data of puts and gets are there when the call
    returns; synchronise the streams of a library before a put reads what its kernels write.
    """

    ordinal: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return tuple(self._array.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy type of the elements."""
        kind: np.dtype[Any] = self._array.dtype
        return kind

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return int(self._array.nbytes)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self._array.__array_interface__, "version": 3}

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, self.ordinal

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
            raise BufferError("memory of a device is exported without a copy, on its device")
        array = self._array
        code = CODES.get(array.dtype.kind)
        if code is None or not array.dtype.isnative:
            raise BufferError(f"DLPack has no type {array.dtype}")
        steps = [stride // array.itemsize for stride in array.strides]
        address = array.__array_interface__["data"][0]
        bits, versioned = array.itemsize * 8, max_version is not None and max_version[0] >= 1
        return _core.dlpack(
            self, address, array.shape, steps, code, bits, CUDA, self.ordinal, versioned
        )

    def __getitem__(self, index: Any) -> DeviceMemory:
        part = self._array[index if isinstance(index, tuple) else (index, ...)]
        if not np.may_share_memory(part, self._array) and part.size:
            raise IndexError(f"index {index!r}: give integers, slices or ...")
        return memory(self._device, part, self.ordinal)

    def __len__(self) -> int:
        return len(self._array)

    def get(self) -> np.ndarray[Any, Any]:
        """A copy of the elements in host memory."""
        made = np.empty(self.shape, self.dtype)
        self._copy(made, False)
        return made

    def set(self, value: Any) -> None:
        """Copies elements from host memory; value is broadcast and converted."""
        source = np.broadcast_to(np.asarray(value, self.dtype), self.shape)
        self._copy(np.ascontiguousarray(source), True)

    def __array__(self, *unused: Any, **options: Any) -> Any:
        raise TypeError("the memory is on a device; get() makes a NumPy array of it")

    def __repr__(self) -> str:
        return f"<tombolo.DeviceMemory: shape {self.shape}, {self.dtype}, device {self.ordinal}>"


def memory(device: _core.Device, array: Any, ordinal: int) -> DeviceMemory:
    """DeviceMemory of an array of addresses."""
    made: DeviceMemory = DeviceMemory(device, array)
    made.ordinal = ordinal
    return made


def describe(value: Any) -> tuple[Any, int, dict[str, Any], int]:
    """Reads DLPack of an array on a device: capsule, address, interface for NumPy, ordinal."""
    capsule = value.__dlpack__(stream=NO_WAIT)
    address, shape, steps, code, bits, lanes, _, ordinal = _core.undlpack(capsule)
    if code not in KINDS or bits % 8 or lanes != 1:
        raise TypeError(f"{type(value).__name__}: elements of DLPack type {code}, {bits} bits")
    dtype = np.dtype(f"{KINDS[code]}{bits // 8}")
    strides = None if steps is None else tuple(step * dtype.itemsize for step in steps)
    return capsule, address, {"shape": shape, "typestr": dtype.str, "strides": strides}, ordinal


def inside(value: Any) -> DeviceMemory | None:
    """An array of a device as DeviceMemory, if it lies in a segment of this process."""
    if isinstance(value, DeviceMemory):
        return value
    if not segments or value.__dlpack_device__()[0] == CPU:
        return None
    address, form = describe(value)[1:3]
    array = np.asarray(Phantom(address, form, value))
    reach = [(n - 1) * step for n, step in zip(array.shape, array.strides)]
    low = address + sum(step for step in reach if step < 0)
    high = address + sum(step for step in reach if step > 0) + array.itemsize
    for begin, end, device, ordinal in segments:
        if begin <= low and high <= end:
            return memory(device, array, ordinal)
    return None
