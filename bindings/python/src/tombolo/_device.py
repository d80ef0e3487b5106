# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in memory of devices (GPUs): every member of a team has a part on a device of its own.

`Team.device` makes a Device, whose `zeros` and `empty` make arrays; `Team.device_array` makes an
array of memory that another library has allocated. Puts, gets and collectives take both sides from
the host or from a device; how data move is in docs/MEMORY_KINDS.md.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from . import _core, _foreign, _memory
from ._array import Array
from ._memory import DeviceMemory
from ._space import UNIT, Heap, Shape, Space

if TYPE_CHECKING:
    from ._job import Team


class DeviceArray(Array):
    """An array whose parts are in device memory; made by `Device.zeros` and `Device.empty`.

    Puts and gets are those of Array. Atomics, tags and posts do not reach devices.
    """

    __slots__ = ("_shown",)
    _shown: weakref.ref[_memory.Phantom]

    @property
    def local(self) -> DeviceMemory:  # type: ignore[override]
        """This rank's part: memory of the device, for other libraries and as value or `out`."""
        if self.freed:
            raise BufferError("the array has been freed")
        shown = self._shown() if hasattr(self, "_shown") else None
        if shown is None:
            form = {"shape": self.shape, "typestr": self.dtype.str, "strides": None}
            shown = _memory.Phantom(self._space.heap.base + self._block.offset, form, self._block)
            self._shown = weakref.ref(shown)
        device = self._space.device
        assert device is not None
        return _memory.memory(device, np.asarray(shown), self._space.ordinal)

    def at(self, rank: SupportsIndex) -> np.ndarray[Any, Any]:
        """Memory of a device is not mapped: BufferError."""
        raise BufferError("parts in device memory are not mapped; use get(rank)")

    def free(self) -> None:
        """Gives the memory back; collective over the team, after a barrier of its own."""
        if not self.freed and hasattr(self, "_shown") and self._shown() is not None:
            raise BufferError("free: a.local is still in use; delete what came from it first")
        super().free()


class Device:
    """Memory of a device for arrays, with a part on each member; made by `Team.device`."""

    def __init__(self, team: Team, ordinal: int, address: int, nbytes: int) -> None:
        core, error = None, None
        try:
            core = _core.Device(ordinal, address, nbytes)
        except RuntimeError as failed:
            error = failed
        indices = team.allgather(np.array([core.index if core else -1], np.int64))[:, 0]
        if error is not None:
            raise error
        if (indices < 0).any():
            raise RuntimeError(f"rank {int(np.argmin(indices))} has no such device; see its error")
        assert core is not None
        bases = core.publish(team._core, indices.tolist())
        self._space = Space(team, Heap(core.address, nbytes), bases, core)
        self._space.ordinal = self.ordinal = ordinal
        self._space.remedy = "job.device(nbytes=...)"
        _memory.segments.append((core.address, core.address + nbytes, core, ordinal))

    def empty(self, shape: Shape, dtype: Any = float) -> DeviceArray:
        """An array with a part of that shape on each member, not initialised; collective."""
        return self._space.make(DeviceArray, shape, dtype, False)

    def zeros(self, shape: Shape, dtype: Any = float) -> DeviceArray:
        """An array that is zero everywhere before the call returns; collective."""
        return self._space.make(DeviceArray, shape, dtype, True)

    def array(self, part: Any) -> DeviceArray:
        """An array whose part here is a copy of `part`, of one shape on all; collective."""
        source = np.asarray(_foreign.host(part))
        made = self.empty(source.shape, source.dtype)
        made.put(self._space.team.rank, None, source)
        self._space.team.barrier()
        return made

    def __repr__(self) -> str:
        return f"<tombolo.Device {self.ordinal}: {self._space.heap.size} bytes>"


_adopted: list[Any] = []  # arrays whose memory is a segment; until the job ends


def adopt(team: Team, part: Any) -> DeviceArray:
    """See `Team.device_array`."""
    capsule, address, form, ordinal = _memory.describe(part)
    array = np.asarray(_memory.Phantom(address, form, capsule))
    if not array.flags.c_contiguous:
        raise ValueError(f"device_array: the {type(part).__name__} is not contiguous")
    _adopted.append((part, capsule))
    device = Device(team, ordinal, address, array.nbytes)
    device._space.heap = Heap(address, -(-array.nbytes // UNIT) * UNIT)
    return device._space.make(DeviceArray, array.shape, array.dtype, False)
