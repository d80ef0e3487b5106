# SPDX-License-Identifier: BSD-3-Clause
"""The job and its teams: arrays, collectives, messages.

`init()` starts the process's part in the job, or returns it. Every method that is called collective
must be called by all members of the team, in the same order.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from typing import Any, Self, SupportsIndex, TypeVar

import numpy as np

from . import _aio, _core, _errors, _foreign, _futures, _messages
from ._array import Array, Signals
from ._collectives import Collectives, coerce
from ._device import Device, DeviceArray, adopt
from ._dist import DistArray
from ._errors import Peer
from ._notify import Notification, Semaphore
from ._space import Heap, Shape, Space

T = TypeVar("T")


class Team(_core.TeamBase, Collectives):
    """An ordered set of ranks. `rank` is this process's number in it, `size` their count."""

    def __init__(self, core: _core.Team, heap: Heap) -> None:
        self._heap = heap
        self._space = Space(self, heap, core.bases())
        self.rank: int = core.rank
        self.size: int = core.size

    def __repr__(self) -> str:
        return f"<tombolo.{type(self).__name__}: rank {self.rank} of {self.size}>"

    # ---- teams
    def split(self, color: int, key: int = 0) -> Team | None:
        """Makes a team of the members that give the same color, ordered by key; collective.

        Returns None to a member whose color is negative.
        """
        self.barrier()  # unlike the library's call it can be interrupted
        core = self._core.split(color, key)
        return None if core is None else Team(core, self._heap)

    def split_hosts(self) -> Team:
        """One team for each host; collective. Its members can reach each other's memory."""
        team = self.split(_core.place()[2], self.rank)
        assert team is not None
        return team

    def shrink(self) -> Team:
        """A team of the members that are left; collective over those, which agree on it.

        See `Job.report_failures`. This team stays as it is.
        """
        return Team(_core.shrink(self._core), self._heap)

    def free(self) -> None:
        """Ends the team; collective. Its arrays can no longer be used."""
        self.barrier()
        self._core.free()

    def job_rank(self, rank: SupportsIndex) -> int:
        """Rank in the job of a member."""
        return self._core.jobrank(rank)

    @property
    def handle(self) -> int:
        """The team's gex_TM_t as a number, for C libraries in this process (ctypes, cffi)."""
        return self._core.handle

    def is_near(self, rank: SupportsIndex) -> bool:
        """Whether a member's memory is mapped here, so that `Array.at` shows it."""
        return self._core.near(rank)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *about: object) -> None:
        """Ends the team in good order; after an exception only leaves it."""
        if kind is None:
            self.free()

    # ---- messages
    def send(self, rank: SupportsIndex, function: Callable[..., Any], *args: Any) -> None:
        """Runs function(*args) on a rank, from a poll or wait of its program; does not wait."""
        _messages.send(self._core.jobrank(rank), function, args)

    def call(
        self, rank: SupportsIndex, function: Callable[..., T], *args: Any
    ) -> _core.Future[T]:
        """Runs function(*args) on a rank; the future's result is what it returns."""
        return _messages.call(self._core.jobrank(rank), function, args)

    def send_object(self, rank: SupportsIndex, value: Any, tag: int = 0) -> None:
        """Sends a value to a member, which takes it by recv_object; does not wait."""
        _messages.send(self._core.jobrank(rank), _messages.deliver, (tag, value))

    def recv_object(
        self,
        rank: SupportsIndex | None = None,
        tag: int | None = None,
        timeout: float | None = None,
    ) -> Any:
        """Waits for a value from a member with a tag, and takes the first; None: any.

        TimeoutError after `timeout` seconds.
        """
        return self.recv_message(rank, tag, timeout).value

    def recv_message(
        self,
        rank: SupportsIndex | None = None,
        tag: int | None = None,
        timeout: float | None = None,
    ) -> _messages.Message:
        """As recv_object, and says which member has sent the value, and its tag."""
        members = {self._core.jobrank(r): r for r in range(self.size)}
        source = None if rank is None else self._core.jobrank(rank)
        message = _messages.take(members, source, tag, timeout)
        return message._replace(source=members[message.source])

    def executor(self, root: SupportsIndex = 0) -> _futures.Serving:
        """A context in which the root has a concurrent.futures.Executor; collective.

        `with team.executor() as pool:` gives the executor to the root, whose tasks run on the other
        members. They serve until the root leaves the context, and get None.
        """
        number = self.bcast_object(_futures.new_number(self._core.jobrank(self.rank)), root)
        return _futures.Serving(self, root.__index__(), number)

    def barrier_nb(self) -> _core.Future[Any]:
        """A barrier without waiting."""
        return self._core.barrier()

    # ---- arrays
    def empty(self, shape: Shape, dtype: Any = float) -> Array:
        """An array with a part of that shape on each member, not initialised; collective."""
        return self._space.make(Array, shape, dtype, False)

    def zeros(self, shape: Shape, dtype: Any = float) -> Array:
        """An array that is zero everywhere before the call returns; collective."""
        return self._space.make(Array, shape, dtype, True)

    def array(self, part: Any) -> Array:
        """An array whose part here is a copy of `part`, of one shape on all; collective."""
        source = np.asarray(_foreign.host(part))
        made = self.empty(source.shape, source.dtype)
        made.local[...] = source
        self.barrier()
        return made

    def dist(self, shape: Shape, dtype: Any = float, halo: int = 0) -> DistArray:
        """One array of `shape` whose rows are divided over the members, all zero; collective.

        halo: rows of the neighbours that each member has copies of.
        """
        return DistArray(self, shape, dtype, halo)

    def signals(self, count: int = 1) -> Signals:
        """`count` signals on each member, all zero; collective."""
        return self._space.make(Signals, count, np.uint64, True)

    def device(self, ordinal: int = 0, nbytes: int = 64 << 20) -> Device:
        """Memory of a device for arrays, `nbytes` on each member; collective.

        ordinal: number of the device here; members may give different ones.
        """
        return Device(self, ordinal, 0, nbytes)

    def device_array(self, part: Any) -> DeviceArray:
        """An array whose part here is the memory of `part`, which is on a device; collective.

        part: contiguous, of CuPy, PyTorch or another library with DLPack, of one shape and type on
        all members. It costs an endpoint (GASNET_MAXEPS).
        """
        return adopt(self, part)

    def notification(
        self, source: SupportsIndex | None = None, tag: int | None = None, count: int = 1
    ) -> Notification:
        """A request for `count` notifications from a member with a tag; None: any. Local."""
        return Notification(self._core, source, tag, count)


class Job(Team):
    """The team of all ranks, and what belongs to the process."""

    @property
    def heap_bytes(self) -> int:
        """Bytes of this rank's heap."""
        return self._heap.size

    @property
    def host_rank(self) -> int:
        """Number of this rank among those of its host."""
        return _core.place()[0]

    @property
    def hosts(self) -> int:
        """How many hosts the job has."""
        return _core.place()[3]

    def __exit__(self, kind: type[BaseException] | None, *about: object) -> None:
        """Waits for all ranks; the job goes on until the program ends."""
        if kind is None:
            self.barrier()

    @contextlib.contextmanager
    def trace(self, name: str) -> Generator[None, None, None]:
        """A region with a name in a trace (`tombolo run --trace`), as long as the context."""
        if not isinstance(name, str):
            raise TypeError(f"trace: name is {name!r}; give a string")
        _core.trace(name)
        try:
            yield
        finally:
            _core.trace(None)

    @property
    def sender(self) -> int:
        """Rank that sent the message whose handler runs now."""
        return _messages.sender()

    def semaphore(self, boolean: bool = False) -> Semaphore:
        """A semaphore of this rank, empty; boolean: a post to a full one changes nothing. Local."""
        return Semaphore(boolean)

    # ---- ranks that are lost
    def report_failures(self, report: bool = True) -> None:
        """From now on the end of a rank does not end the job; collective (False: local, at once).

        An operation that meets a lost rank raises LostError. Nothing may be in flight. The guide is
        docs/FAILURE.md.
        """
        _core.policy(report)

    @property
    def reports_failures(self) -> bool:
        """Whether losses are reported; False: the end of a rank ends the job."""
        return _core.policy(None)

    def on_lost(self, function: Callable[[int, Peer], Any] | None) -> None:
        """Calls function(rank, peer) once for each rank that is lost, from a wait or poll.

        What it raises leaves that wait.
        """
        _messages.set_on_lost(function)

    def peer(self, rank: SupportsIndex) -> Peer:
        """What has become of a rank."""
        return _errors.peer(rank.__index__())

    def lost(self) -> list[int]:
        """The ranks that are lost, in rising order."""
        return _core.lost()

    def poll(self, seconds: float = 0.0) -> bool:
        """Runs progress and handlers; with a time, sleeps so long or until something happens."""
        return _core.poll(seconds)

    def quiet(self) -> int:
        """Futures made before now need no wait; returns how many there are."""
        return _core.quiet()

    def exit(self, code: int = 0) -> None:
        """Ends the whole job at once with this code; what this rank has printed is written."""
        if not isinstance(code, SupportsIndex):
            raise TypeError(f"exit: code is {code!r}; give an integer")
        _errors.flush()
        _core.end_job(code)


def first_element(data: bytes, dtype: Any) -> Any:
    """The number that the memory holds."""
    return np.frombuffer(data, dtype)[0]


_JOB: list[Job] = []


def init(heap_bytes: int | None = None) -> Job:
    """Starts this process's part in the job; collective the first time, later returns the same.

    heap_bytes: memory for arrays on each rank; None: what the library permits. Memory that is not
    used costs nothing. MemoryError where the system does not give it.
    """
    if _JOB:
        return _JOB[0]
    if heap_bytes is not None and not 0 < heap_bytes < 1 << 62:
        raise ValueError(f"heap_bytes is {heap_bytes}; give None, or a number of bytes above 0")
    _core.hooks(
        np.empty,
        coerce,
        _messages.dispatch,
        _errors.forgotten,
        _aio.iterate,
        first_element,
        _errors.place,
        _futures.watch,
        _errors.lost,
    )
    core = _core.start(heap_bytes or 0)
    _messages.join(core)
    base, size = _core.heap()
    _JOB.append(Job(core, Heap(base, size)))
    _errors.install(core.rank)
    return _JOB[0]


def job() -> Job:
    """The job of this process, started if need be."""
    return init()
