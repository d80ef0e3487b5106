# SPDX-License-Identifier: BSD-3-Clause
"""Callbacks of futures, futures in the order of their completion, and ranks as an executor.

Callbacks run from waits and polls of the program, in the thread that finds the future complete.
"""

from __future__ import annotations

import concurrent.futures
import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from . import _core
from ._errors import package

if TYPE_CHECKING:
    from ._job import Team

POLL_S = 0.01  # longest sleep of a rank that serves

_lock = threading.Lock()
_watched: list[tuple[_core.Future[Any], Callable[[_core.Future[Any]], Any]]] = []  # under the lock
_looking = threading.local()


def watch(
    future: _core.Future[Any] | None = None,
    function: Callable[[_core.Future[Any]], Any] | None = None,
) -> None:
    """Adds a callback; without arguments runs those whose future is complete."""
    if future is not None and function is not None:
        with _lock:
            _watched.append((future, function))
            _core.watched(len(_watched))
    if getattr(_looking, "now", False):
        return  # a callback, or the test of a future, polls
    _looking.now = True
    try:
        while (found := take()) is not None:
            found[1](found[0])
    finally:
        _looking.now = False


def take() -> tuple[_core.Future[Any], Callable[[_core.Future[Any]], Any]] | None:
    """Removes one callback whose future is complete."""
    with _lock:
        waiting = list(_watched)
    for pair in waiting:
        if pair[0].done():
            with _lock:
                if pair in _watched:
                    _watched.remove(pair)
                    _core.watched(len(_watched))
                    return pair
    return None


def as_completed(
    futures: Iterable[_core.Future[Any]], timeout: float | None = None
) -> Iterator[_core.Future[Any]]:
    """The futures in the order in which they are found complete; TimeoutError after `timeout`."""
    left = list(futures)
    until = None if timeout is None else time.monotonic() + timeout
    while left:
        done = [future for future in left if future.done()]
        left = [future for future in left if future not in done]
        yield from done
        if left and not done:
            if until is not None and time.monotonic() > until:
                raise TimeoutError(f"{len(left)} futures are not complete after {timeout} s")
            _core.poll(POLL_S)


def apply(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Runs a task on a rank."""
    return function(*args, **kwargs)


Number = tuple[int, int]  # of an executor: rank of its root in the job, and a count there

_numbers = itertools.count()
_ends: set[Number] = set()  # executors that have ended


def new_number(rank: int) -> Number:
    """A number that no other executor has."""
    return rank, next(_numbers)


def end(number: Number) -> None:
    """Tells a rank that serves that the executor is shut down."""
    _ends.add(number)


class RankExecutor(concurrent.futures.Executor):
    """Runs tasks on the other ranks of a team, on this one if it is alone; from `Team.executor`.

    A task goes to the rank with the fewest tasks. Functions and values travel as those of `call`.
    Dask takes it as a scheduler: `x.compute(scheduler=pool)`.
    """

    def __init__(self, team: Team, number: Number) -> None:
        self._team = team
        self._number = number
        self._tasks = {r: 0 for r in range(team.size) if r != team.rank} or {team.rank: 0}
        self._changed = threading.Condition()
        self._over = False
        self._poller: threading.Thread | None = None

    @property
    def workers(self) -> int:
        """How many ranks run tasks."""
        return len(self._tasks)

    _max_workers = workers  # the name under which Dask looks for it

    def joblib(self) -> Any:
        """A context in which `joblib.Parallel` runs its tasks here (package joblib)."""
        package("joblib", "RankExecutor.joblib")
        from . import _joblib

        return _joblib.context(self)

    def submit(
        self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> concurrent.futures.Future[Any]:
        """Starts fn(*args, **kwargs) on a rank."""
        with self._changed:
            if self._over:
                raise RuntimeError("the executor is shut down; it takes no tasks")
            rank = min(self._tasks, key=lambda r: self._tasks[r])
            self._tasks[rank] += 1
            if self._poller is None:
                self._poller = threading.Thread(target=self._poll, daemon=True)
                self._poller.start()
            self._changed.notify_all()
        task: concurrent.futures.Future[Any] = concurrent.futures.Future()
        task.set_running_or_notify_cancel()
        try:
            call = self._team.call(rank, apply, fn, args, kwargs)
        except BaseException:
            self._less(rank)
            raise
        call.add_done_callback(lambda future: self._finish(rank, task, future))
        return task

    def _less(self, rank: int) -> None:
        with self._changed:
            self._tasks[rank] -= 1
            self._changed.notify_all()

    def _finish(
        self, rank: int, task: concurrent.futures.Future[Any], future: _core.Future[Any]
    ) -> None:
        self._less(rank)
        try:
            value = future.wait()
        except BaseException as error:
            task.set_exception(error)
        else:
            task.set_result(value)

    def _poll(self) -> None:
        """Polls while tasks are out, so that the program may wait for them in any way."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._over or any(self._tasks.values()))
                if not any(self._tasks.values()):
                    return
            _core.poll(POLL_S)
            watch()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Takes no more tasks; waits for those that run, and lets the other ranks go on."""
        with self._changed:
            first, self._over = not self._over, True
            self._changed.notify_all()
        if wait and self._poller is not None:
            self._poller.join()
        if first:
            for rank in range(self._team.size):
                if rank != self._team.rank:
                    self._team.send(rank, end, self._number)


class Serving:
    """What `Team.executor` returns: a context in which one rank has an executor."""

    def __init__(self, team: Team, root: int, number: Number) -> None:
        self._team, self._root, self._number = team, root, number
        self._executor: RankExecutor | None = None

    def __enter__(self) -> RankExecutor | None:
        if self._team.rank == self._root:
            self._executor = RankExecutor(self._team, self._number)
            return self._executor
        while self._number not in _ends:
            _core.poll(POLL_S)
        _ends.discard(self._number)
        return None

    def __exit__(self, *about: object) -> None:
        if self._executor is not None:
            self._executor.shutdown()
