# SPDX-License-Identifier: BSD-3-Clause
"""`await` of a Future in asyncio.

One pump for each event loop polls the library while futures are awaited: at once while things
happen, after growing pauses (at most PAUSE_MAX_S) while nothing does. Other tasks run meanwhile.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Generator
from typing import Any

from . import _core

BUSY_POLLS = 200  # vain polls before the first pause
PAUSE_MIN_S = 0.00005
PAUSE_MAX_S = 0.001

_pumps: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Pump] = weakref.WeakKeyDictionary()


class Pump:
    """What one event loop awaits."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = weakref.ref(loop)
        self.waiting: list[tuple[_core.Future[Any], asyncio.Future[None]]] = []
        self.vain = 0

    def add(self, future: _core.Future[Any]) -> asyncio.Future[None]:
        """An asyncio future that is done when `future` is."""
        loop = asyncio.get_running_loop()
        mine: asyncio.Future[None] = loop.create_future()
        self.waiting.append((future, mine))
        if len(self.waiting) == 1:
            self.vain = 0
            loop.call_soon(self.turn)
        return mine

    def turn(self) -> None:
        """Polls once, completes what is done, and comes again while anything is awaited."""
        loop = self.loop()
        if loop is None:
            return
        left: list[tuple[_core.Future[Any], asyncio.Future[None]]] = []
        for future, mine in self.waiting:
            if mine.cancelled():
                continue
            try:
                done = future.done()
            except BaseException as error:
                mine.set_exception(error)
                continue
            if done:
                mine.set_result(None)
            else:
                left.append((future, mine))
        self.vain = 0 if len(left) < len(self.waiting) else self.vain + 1
        self.waiting = left
        if not left:
            return
        if self.vain < BUSY_POLLS:
            loop.call_soon(self.turn)
        else:
            loop.call_later(min(PAUSE_MAX_S, PAUSE_MIN_S * (self.vain - BUSY_POLLS)), self.turn)


def iterate(future: _core.Future[Any]) -> Generator[Any, None, Any]:
    """The iterator behind `await future`."""
    if not future.done():
        loop = asyncio.get_running_loop()
        pump = _pumps.get(loop)
        if pump is None:
            pump = _pumps[loop] = Pump(loop)
        try:
            yield from pump.add(future)
        except BaseException:  # the task was cancelled: it will not wait for the future any more
            future._abandon()
            raise
    return future.wait()
