# SPDX-License-Identifier: BSD-3-Clause
"""The heap: which parts of this rank's segment are in use.

Each rank has its own list; an array has the places of all members' parts, so the lists of
several ranks need not agree. First fit, in units of a cache line. Memory that was never used is
zero already, so that large arrays cost nothing before they are written.
"""

from __future__ import annotations

import bisect

UNIT = 64  # bytes; parts begin at multiples of it


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
