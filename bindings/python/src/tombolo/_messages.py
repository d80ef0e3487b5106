# SPDX-License-Identifier: BSD-3-Clause
"""Functions that run on other ranks, one way or with an answer, and values with tags.

A function travels by name, as pickle does it, so both ranks must have imported the same module;
functions of the main program work, because all ranks run the same one. Lambdas, nested functions
and what else has no name travel by value if the package cloudpickle is there. Handlers run from
polls and waits of the rank's program, one after another; while one waits, others may run. A handler
may put, get, send and call, and wait for those; it must not wait for a collective.
"""

from __future__ import annotations

import importlib
import itertools
import pickle
import threading
import time
import traceback
from collections.abc import Callable, Container
from typing import Any, NamedTuple, SupportsIndex

from . import _core, _errors

SEND, CALL, ANSWER, ERROR, ENDED, LOST = 0, 1, 2, 3, 4, 5
POLL_S = 0.01  # between two looks for what another thread has received

_numbers = itertools.count(1)
_waiting: dict[int, tuple[_core.Future[Any], int]] = {}  # number of a call: its future, and target
_on_lost: list[Callable[[int, _errors.Peer], Any]] = []  # at most one
_local = threading.local()
_world: list[_core.Team] = []  # the team of all ranks, once the job has started


def join(world: _core.Team) -> None:
    """The job has started."""
    _world[:] = [world]


def sender() -> int:
    """Rank that sent the message whose handler runs on this thread."""
    rank = getattr(_local, "sender", None)
    if rank is None:
        raise RuntimeError("sender: no handler is running on this thread")
    return int(rank)


def dumps(value: Any) -> bytes:
    """A value as bytes for pickle.loads, by cloudpickle where pickle cannot."""
    try:
        return pickle.dumps(value, protocol=5)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        try:
            cloudpickle: Any = importlib.import_module("cloudpickle")
        except ModuleNotFoundError:
            raise TypeError(
                f"{error}; lambdas, nested functions and local classes travel to other ranks only "
                "if the package cloudpickle is installed on all of them"
            ) from error
        made: bytes = cloudpickle.dumps(value, protocol=5)
        return made


def check_function(function: Callable[..., Any]) -> None:
    """Refuses here what the other rank could not call."""
    if not callable(function):
        raise TypeError(f"function is {function!r}; give a function, then its arguments")


def send(rank: SupportsIndex, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """Sends a message without an answer."""
    check_function(function)
    payload = dumps((function, args))
    _core.send(rank.__index__(), SEND, next(_numbers), payload)


def call(
    rank: SupportsIndex, function: Callable[..., Any], args: tuple[Any, ...]
) -> _core.Future[Any]:
    """Sends a message with an answer."""
    check_function(function)
    payload = dumps((function, args))
    number = next(_numbers)
    future: _core.Future[Any] = _core.Future()
    target = rank.__index__()
    if 0 <= target < _world[0].size and _core.policy(None) and _core.peer(target)[1]:
        error = _errors.LostError(f"call: rank {target} is lost", target)
        future._resolve(None, error)
        return future
    _waiting[number] = (future, target)
    try:
        _core.send(target, CALL, number, payload)
    except BaseException:
        del _waiting[number]
        future._resolve(None, None)
        future.done()
        raise
    return future


def dispatch(kind: int, source: int, number: int, payload: bytes) -> None:
    """Handles one message; called by the extension from polls and waits."""
    if kind == LOST:
        lose(source)
    elif kind >= ANSWER:
        resolve(kind, source, number, payload)
    elif kind == SEND:
        try:
            run(source, payload)
        except Exception as error:
            _errors.end_with(error, _world[0].rank, f"in a message from rank {source}:\n")
    else:
        answer(source, number, payload)


def run(source: int, payload: bytes) -> Any:
    """Runs the function of a message."""
    before = getattr(_local, "sender", None)
    _local.sender = source
    try:
        function, args = load(payload)
        return function(*args)
    finally:
        _local.sender = before


def load(payload: bytes) -> Any:
    """The function of a message and its arguments. A program may wait before it defines it."""
    try:
        return pickle.loads(payload)
    except AttributeError as error:
        error.add_note(
            f"Rank {_world[0].rank} knows no such name, or not yet: messages run in every wait, so "
            "define their functions before the first one."
        )
        raise


def answer(source: int, number: int, payload: bytes) -> None:
    """Runs a call, and sends its result or its exception back."""
    try:
        reply, kind = dumps(run(source, payload)), ANSWER
    except Exception as error:
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        reply, kind = pickle.dumps((describe(error), text), protocol=5), ERROR
    _core.send(source, kind, number, reply)


def describe(error: Exception) -> Exception | None:
    """The exception if it can be sent, else None."""
    try:
        copy = pickle.loads(pickle.dumps(error, protocol=5))
    except Exception:
        return None
    return copy if isinstance(copy, Exception) else None


def resolve(kind: int, source: int, number: int, payload: bytes) -> None:
    """Completes the future of a call."""
    future, _ = _waiting.pop(number)
    if kind == ANSWER:
        try:
            future._resolve(pickle.loads(payload), None)
        except Exception as error:
            future._resolve(None, error)
        return
    if kind == ENDED:
        text = f"rank {source} has ended; it runs no functions any more"
        future._resolve(None, _errors.RemoteError(text))
        return
    raised, text = pickle.loads(payload)
    remote = _errors.RemoteError(f"on rank {source}:\n{text}")
    if raised is not None:
        raised.__cause__ = remote
    future._resolve(None, raised or remote)


def set_on_lost(function: Callable[[int, _errors.Peer], Any] | None) -> None:
    """Sets the function that gets lost ranks."""
    _on_lost[:] = [] if function is None else [function]


def lose(rank: int) -> None:
    """A rank is lost: calls to it get no answer any more."""
    for number, (future, target) in list(_waiting.items()):
        if target == rank:
            del _waiting[number]
            future._resolve(None, _errors.LostError(f"call: rank {rank} is lost", rank))
    for function in _on_lost:
        function(rank, _errors.peer(rank))


# ---- values with tags, in the order in which they came
class Message(NamedTuple):
    """A value, the rank that has sent it, and its tag."""

    source: int
    tag: int
    value: Any


_box_lock = threading.Lock()
_box: list[Message] = []  # values that wait to be taken; under the lock


def deliver(tag: int, value: Any) -> None:
    """Keeps a value that has come; runs as the function of a message."""
    with _box_lock:
        _box.append(Message(sender(), tag, value))


def find(members: Container[int], source: int | None, tag: int | None) -> Message | None:
    """Takes the first message that fits."""
    with _box_lock:
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
            asked = f"tag {tag}, rank {source} (None: any)"
            raise TimeoutError(f"no value has come after {timeout} s: {asked}")
        _core.poll(POLL_S)
    return found
