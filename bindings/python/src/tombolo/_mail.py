# SPDX-License-Identifier: BSD-3-Clause
"""Values that were sent to this rank and wait to be taken, in the order in which they came."""

from __future__ import annotations

import threading
import time
from collections.abc import Container
from typing import Any, NamedTuple

from . import _core, _messages

POLL_S = 0.01  # between two looks for what another thread has received


class Message(NamedTuple):
    """A value, the rank that has sent it, and its tag."""

    source: int
    tag: int
    value: Any


_lock = threading.Lock()
_box: list[Message] = []  # under the lock


def deliver(tag: int, value: Any) -> None:
    """Keeps a value that has come; runs as the function of a message."""
    with _lock:
        _box.append(Message(_messages.sender(), tag, value))


def find(members: Container[int], source: int | None, tag: int | None) -> Message | None:
    """Takes the first message that fits."""
    with _lock:
        for i, message in enumerate(_box):
            fits = message.source == source if source is not None else message.source in members
            if fits and tag in (None, message.tag):
                return _box.pop(i)
    return None


def take(
    members: Container[int], source: int | None, tag: int | None, timeout: float | None
) -> Message:
    """Waits for a message from a rank of the job, or from any of `members`, and takes it."""
    until = None if timeout is None else time.monotonic() + timeout
    while (found := find(members, source, tag)) is None:
        if until is not None and time.monotonic() > until:
            raise TimeoutError(f"no value with tag {tag} from rank {source} after {timeout} s")
        _core.poll(POLL_S)
    return found
