# SPDX-License-Identifier: BSD-3-Clause
"""Semaphores, and requests for notifications with tags.

A semaphore belongs to the rank that made it, which waits; every rank that has its name may post. A
put or get with a tag tells the other rank, which takes the notification by a request that matches.
"""

from __future__ import annotations

from typing import NamedTuple, SupportsIndex

from . import _core

BOOLEAN, INTEGER = 0x01, 0x02
MANY_PRODUCERS, MANY_CONSUMERS = 0x08, 0x20


class SemaphoreName:
    """The name of a semaphore: pickle it, send it, post with it on any rank."""

    __slots__ = ("_name",)

    def __init__(self, name: bytes) -> None:
        self._name = name

    def __reduce__(self) -> tuple[type[SemaphoreName], tuple[bytes]]:
        return SemaphoreName, (self._name,)

    def __repr__(self) -> str:
        return f"<tombolo.SemaphoreName of rank {int.from_bytes(self._name[8:12], 'little')}>"

    def post(self, n: int = 1) -> None:
        """Adds n; what this thread has put before is there when the owner sees it."""
        _core.post(self._name, n)


class Semaphore:
    """A semaphore of this rank, empty at first; made by `Job.semaphore`.

    Keep it while others may post.
    """

    __slots__ = ("_core", "name", "_most")

    def __init__(self, boolean: bool) -> None:
        kind = BOOLEAN if boolean else INTEGER
        self._core = _core.Semaphore(kind | MANY_PRODUCERS | MANY_CONSUMERS)
        self.name = SemaphoreName(self._core.name())
        self._most = 1 if boolean else None

    def post(self, n: int = 1) -> None:
        """Adds n."""
        self.name.post(n)

    def wait(self, n: int = 1, timeout: float | None = None) -> None:
        """Waits until n can be taken, and takes them; TimeoutError after `timeout` seconds."""
        if self._most is not None and n > self._most:
            raise ValueError(f"n is {n}; a boolean semaphore never has more than 1")
        self._core.wait(n, timeout)

    def try_wait(self, n: int = 1) -> bool:
        """Takes n if they are there; returns whether they were."""
        try:
            self.wait(n, 0)
        except TimeoutError:
            return False
        return True


class Notice(NamedTuple):
    """What the last notification of a request said."""

    source: int
    tag: int
    nbytes: int


class Notification:
    """A request for notifications of puts and gets with a tag; made by `Team.notification`.

    It is started at once. After a wait, `start()` makes it wait for the next ones.
    """

    __slots__ = ("_core",)

    def __init__(
        self, team: _core.Team, source: SupportsIndex | None, tag: int | None, count: int
    ) -> None:
        rank = -1 if source is None else source.__index__()
        self._core = _core.Notification(team, rank, -1 if tag is None else tag, count)
        self._core.start()

    def start(self) -> None:
        """Takes notifications again; RuntimeError while it does already."""
        self._core.start()

    def wait(self, timeout: float | None = None) -> Notice:
        """Waits for `count` of them; returns source, tag and bytes of the last."""
        return Notice(*self._core.wait(timeout))

    def done(self) -> bool:
        """Whether they have come."""
        try:
            self._core.wait(0)
        except TimeoutError:
            return False
        return True
